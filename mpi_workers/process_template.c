/*
 * Expands command templates.
 */
#include "mpi_workers/process_template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 128

static int find_number(const tri_facts *f, const char *name, int64_t *value)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"rank", f->rank},
                   {"world_size", f->world_size},
                   {"local_rank", f->local_rank},
                   {"local_world_size", f->local_world_size},
                   {"group_rank", f->group_rank},
                   {"n_hosts", f->n_hosts},
                   {"run", f->run},
                   {"trial", f->trial},
                   {"resource", f->resource},
                   {"rung", f->rung},
                   {"attempt", f->attempt},
                   {"epoch", f->epoch},
                   {"master_port", f->master_port},
                   {"resume_step", f->resume_step}};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *value = numbers[i].value;
            return 1;
        }
    }
    return 0;
}

static const char *find_text(const tri_facts *f, const char *name)
{
    const struct {
        const char *name, *text;
    } texts[] = {{"master_addr", f->master_addr},
                 {"resource_unit", f->resource_unit},
                 {"study_dir", f->study_dir},
                 {"checkpoint_dir", f->checkpoint_dir},
                 {"resume_dir", f->resume_dir},
                 {"hosts", f->hosts},
                 {"host_slots", f->host_slots},
                 {"host_file", f->host_file},
                 {"scratch", f->scratch},
                 {"device", f->device}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].name) == 0) {
            return texts[i].text ? texts[i].text : "";
        }
    }
    return NULL;
}

const char *tri_fact_text(const tri_facts *f, const char *name, char *buf,
                          size_t bytes)
{
    int64_t number;

    if (find_number(f, name, &number)) {
        snprintf(buf, bytes, "%lld", (long long)number);
        return buf;
    }
    if (strcmp(name, "seed") == 0) {
        snprintf(buf, bytes, "%llu", (unsigned long long)f->seed);
        return buf;
    }
    return find_text(f, name);
}

void tri_value_plain(tri_value v, char *buf, size_t bytes)
{
    buf[0] = 0;
    if (v.type == TRI_WORD) {
        snprintf(buf, bytes, "%s", v.u.word);
    } else if (v.type != TRI_INACTIVE) {
        tri_value_print(v, buf, bytes);
    }
}

static int is_fact(const char *name)
{
    const char *const *names = tri_study_facts();

    for (int i = 0; names[i]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is_param(const tri_space *space, const char *name)
{
    for (int i = 0; i < tri_space_n_params(space); i++) {
        if (strcmp(tri_space_param(space, i)->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

typedef struct text { /* grows */
    char *data;
    size_t bytes, room;
    int inactive; /* a placeholder was */
} text;

static tri_status append(text *t, const char *from, size_t bytes)
{
    if (t->bytes + bytes + 1 > t->room) {
        size_t room = 2 * t->room + bytes + 64;
        char *grown = realloc(t->data, room);

        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
        }
        t->data = grown;
        t->room = room;
    }
    memcpy(t->data + t->bytes, from, bytes);
    t->bytes += bytes;
    t->data[t->bytes] = 0;
    return TRI_OK;
}

/* What placeholder `name` stands for, in buf or elsewhere; *inactive is set
 * where that is nothing.  Without facts: only whether it is known. */
static tri_status value_of(const char *name, const tri_study *study,
                           const tri_config *config, const tri_facts *facts,
                           char *buf, size_t bytes, const char **value,
                           int *inactive)
{
    tri_value v;

    buf[0] = 0;
    *value = buf;
    if (is_fact(name)) {
        *value = facts ? tri_fact_text(facts, name, buf, bytes) : buf;
        *value = *value ? *value : "";
        return TRI_OK;
    }
    if (!is_param(study->space, name)) {
        return TRI_FAIL(TRI_EINVAL,
                        "command: unknown placeholder {%s}: it is neither a "
                        "parameter nor one of rank, world_size, local_rank, "
                        "run, trial, resource, study_dir, ... (a brace of the "
                        "command's own is written twice: {{)",
                        name);
    }
    if (facts) {
        TRI_TRY(tri_space_lookup(study->space, config, name, &v));
        tri_value_plain(v, buf, bytes);
        *inactive |= v.type == TRI_INACTIVE;
    }
    return TRI_OK;
}

/* One placeholder, *at behind its brace; leaves *at behind the closing one. */
static tri_status expand_one(const char **at, const tri_study *study,
                             const tri_config *config, const tri_facts *facts,
                             text *out)
{
    const char *end = strchr(*at, '}');
    char name[NAME_BYTES];
    char buf[4096];
    const char *value;
    size_t bytes = end ? (size_t)(end - *at) : 0;

    if (!end) {
        return TRI_FAIL(TRI_EINVAL,
                        "command: '{%.40s' is not closed (a brace of the "
                        "command's own is written twice: {{)",
                        *at);
    }
    if (bytes >= sizeof name) {
        bytes = sizeof name - 1;
    }
    memcpy(name, *at, bytes);
    name[bytes] = 0;
    TRI_TRY(value_of(name, study, config, facts, buf, sizeof buf, &value,
                     &out->inactive));
    *at = end + 1;
    return append(out, value, strlen(value));
}

static tri_status expand(const char *at, const tri_study *study,
                         const tri_config *config, const tri_facts *facts,
                         text *out)
{
    TRI_TRY(append(out, "", 0));
    while (*at) {
        size_t plain = strcspn(at, "{}");

        TRI_TRY(append(out, at, plain));
        at += plain;
        if (at[0] && at[1] == at[0]) {
            TRI_TRY(append(out, at, 1));
            at += 2;
        } else if (*at == '{') {
            at++;
            TRI_TRY(expand_one(&at, study, config, facts, out));
        } else if (*at == '}') {
            TRI_TRY(append(out, at++, 1));
        }
    }
    return TRI_OK;
}

tri_status tri_template_expand(const char *from, const tri_study *study,
                               const tri_config *config, const tri_facts *facts,
                               char **out)
{
    text t = {0};
    tri_status st = expand(from, study, config, facts, &t);

    if (st != TRI_OK) {
        free(t.data);
        return st;
    }
    *out = t.data;
    return TRI_OK;
}

/* ---- commands ----------------------------------------------------------- */

void tri_template_argv_free(char **argv)
{
    for (int i = 0; argv && argv[i]; i++) {
        free(argv[i]);
    }
    free(argv);
}

/* Take back the elements of the last group where one of them was inactive.
 * `first` is its first element; returns how many elements stay. */
static int close_group(char **argv, int first, int n, int inactive)
{
    while (inactive && n > first) {
        free(argv[--n]);
        argv[n] = NULL;
    }
    return n;
}

static tri_status fill_argv(const tri_study *study, const tri_config *config,
                            const tri_facts *facts, char **argv)
{
    const tri_process_spec *spec = &study->model.u.process;
    int n = 0;
    int first = 0;
    int inactive = 0;

    for (int i = 0; i < spec->n_argv; i++) {
        text t = {0};
        tri_status st;

        if (i > 0 && spec->argv_group[i] != spec->argv_group[i - 1]) {
            first = n = close_group(argv, first, n, inactive);
            inactive = 0;
        }
        st = expand(spec->argv[i], study, config, facts, &t);
        argv[n++] = t.data;
        TRI_TRY(st);
        inactive |= t.inactive;
    }
    close_group(argv, first, n, inactive);
    return TRI_OK;
}

static tri_status fill_shell(const tri_study *study, const tri_config *config,
                             const tri_facts *facts, char **argv)
{
    argv[0] = strdup("/bin/sh");
    argv[1] = argv[0] ? strdup("-c") : NULL;
    if (!argv[1]) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    return tri_template_expand(study->model.u.process.argv[0], study, config,
                               facts, &argv[2]);
}

tri_status tri_template_argv(const tri_study *study, const tri_config *config,
                             const tri_facts *facts, char ***out)
{
    const tri_process_spec *spec = &study->model.u.process;
    char **argv = calloc((size_t)spec->n_argv + 3, sizeof *argv);
    tri_status st;

    if (!argv) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    st = spec->shell ? fill_shell(study, config, facts, argv)
                     : fill_argv(study, config, facts, argv);
    if (st != TRI_OK) {
        tri_template_argv_free(argv);
        return st;
    }
    *out = argv;
    return TRI_OK;
}

tri_status tri_template_check(const char *from, const tri_study *study)
{
    text t = {0};
    tri_status st = expand(from, study, NULL, NULL, &t);

    free(t.data);
    return st;
}

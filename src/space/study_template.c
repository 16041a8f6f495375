/*
 * Templates of a process: what they may name beside the parameters of the
 * space.  They are filled in by whoever runs them.
 */
#include "src/space/study_priv.h"

#include <string.h>

/* ---- facts -------------------------------------------------------------- */

static const char *const facts[] = {"rank",
                                    "world_size",
                                    "local_rank",
                                    "local_world_size",
                                    "group_rank",
                                    "n_hosts",
                                    "run",
                                    "trial",
                                    "resource",
                                    "resource_unit",
                                    "rung",
                                    "attempt",
                                    "epoch",
                                    "seed",
                                    "master_addr",
                                    "master_port",
                                    "hosts",
                                    "host_slots",
                                    "host_file",
                                    "device",
                                    "study_dir",
                                    "scratch",
                                    "checkpoint_dir",
                                    "resume_dir",
                                    "resume_step",
                                    NULL};

const char *const *tri_study_facts(void)
{
    return facts;
}

/* Beside those: what else has a TRIREME_NAME, or may come to have one. */
static const char *const taken[] = {"fd",     "fd_inode",   "checkpoint",
                                    "config", "deadline",   "machine_class",
                                    "log",    "parameters", "version"};

/* As their TRIREME_NAMEs are: without regard to capitals. */
static int same_letters(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        char x = *a >= 'A' && *a <= 'Z' ? (char)(*a - 'A' + 'a') : *a;

        if (x != *b) {
            return 0;
        }
    }
    return *a == *b;
}

int tri_study_is_fact(const char *name)
{
    int i;

    for (i = 0; facts[i]; i++) {
        if (same_letters(name, facts[i])) {
            return 1;
        }
    }
    for (i = 0; i < TRI_COUNT_OF(taken); i++) {
        if (same_letters(name, taken[i])) {
            return 1;
        }
    }
    return 0;
}

/* ---- templates ---------------------------------------------------------- */

static tri_status unknown_name(const tri_reader *r, const tri_yaml *at,
                               const char *name)
{
    const tri_space *s = r->study->space;
    const char *names[TRI_COUNT_OF(facts) + 1000], *near;
    int i, n = 0;

    for (i = 0; i < tri_space_n_params(s) && n < 1000; i++) {
        names[n++] = tri_space_param(s, i)->name;
    }
    for (i = 0; facts[i]; i++) {
        names[n++] = facts[i];
    }
    near = tri_closest(name, names, n);
    return tri_reader_place(
            at, TRI_FAIL(TRI_EUNKNOWN,
                         "unknown placeholder {%s}: it is neither a parameter "
                         "nor one of rank, world_size, local_rank, run, trial, "
                         "resource, study_dir, ...%s%s%s (a brace of the "
                         "command's own is written twice: {{)",
                         name, near ? "; did you mean \"" : "",
                         near ? near : "", near ? "\"?" : ""));
}

static int is_fact(const char *name)
{
    int i;

    for (i = 0; facts[i]; i++) {
        if (strcmp(name, facts[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The next placeholder of a template, *text behind it.  [out] `name`.  Returns
 * 0 where there is none, -1 where it is not closed. */
static int next_name(const char **text, char *name, size_t bytes)
{
    const char *at = *text, *end;
    size_t n;

    for (;; at++) {
        at += strcspn(at, "{}");
        if (!*at) {
            return 0;
        }
        if (at[1] == at[0]) {
            at++;
        } else if (*at == '{') {
            break;
        }
    }
    end = strchr(at, '}');
    if (!end) {
        return -1;
    }
    n = (size_t)(end - at) - 1;
    n = n < bytes ? n : bytes - 1;
    memcpy(name, at + 1, n);
    name[n] = '\0';
    *text = end + 1;
    return 1;
}

/* What a fact needs elsewhere in the file to be more than nothing. */
static tri_status check_fact(const tri_reader *r, const tri_yaml *at,
                             const char *name)
{
    if (strcmp(name, "scratch") == 0 &&
        !tri_yaml_get(tri_yaml_get(r->root, "model"), "scratch")) {
        return tri_reader_place(at, TRI_FAIL(TRI_EINVAL,
                                             "{scratch} needs the key "
                                             "model.scratch, which names it"));
    }
    if (strcmp(name, "host_file") == 0 && !r->study->model.u.process.leader) {
        return tri_reader_place(
                at, TRI_FAIL(TRI_EINVAL,
                             "{host_file} needs launch: leader; else every "
                             "rank starts a process by itself"));
    }
    return TRI_OK;
}

/* Whether all placeholders of the template `at` are known.  [out] `inactive`:
 * one that may be inactive, NULL if there is none. */
static tri_status check_template(const tri_reader *r, const tri_yaml *at,
                                 const char **inactive)
{
    const char *text = at->text;
    char name[128];
    int found, p;

    *inactive = NULL;
    while ((found = next_name(&text, name, sizeof name)) > 0) {
        p = tri_space_find(r->study->space, name);
        if (p < 0 && !is_fact(name)) {
            return unknown_name(r, at, name);
        }
        TRI_TRY(check_fact(r, at, name));
        if (p >= 0 && tri_space_param(r->study->space, p)->when &&
            !is_fact(name)) {
            *inactive = tri_space_param(r->study->space, p)->name;
        }
    }
    if (found < 0) {
        return tri_reader_place(
                at, TRI_FAIL(TRI_EPARSE,
                             "the brace of \"%.60s\" is not closed (a brace "
                             "of the command's own is written twice: {{)",
                             text));
    }
    return TRI_OK;
}

/* "--bucket" and then "{bucket}", of which only the second is left out. */
static int is_flag(const tri_yaml *e)
{
    return e && e->kind == TRI_YAML_SCALAR && e->text[0] == '-' &&
           !strchr(e->text, '=');
}

static tri_status check_argument(tri_reader *r, const tri_yaml *at,
                                 const tri_yaml *before, int first)
{
    const char *name;

    TRI_TRY(check_template(r, at, &name));
    if (name && first) {
        return tri_reader_place(
                at, TRI_FAIL(TRI_EINVAL,
                             "model.command: the program's name cannot depend "
                             "on \"%s\", which may be inactive",
                             name));
    }
    if (name && is_flag(before) && at->text[0] != '-') {
        return tri_reader_note(
                r, 0,
                "line %d: where \"%s\" is inactive, \"%.60s\" is left out of "
                "the command but \"%.60s\" before it is not; put it with its "
                "flag in a list to leave out both",
                at->line, name, at->text, before->text);
    }
    return TRI_OK;
}

static tri_status check_command(tri_reader *r, const tri_yaml *list)
{
    const tri_yaml *e, *item, *before = NULL;

    for (e = list->first; e; before = e, e = e->next) {
        if (e->kind == TRI_YAML_SCALAR) {
            TRI_TRY(check_argument(r, e, before, !before));
        }
        for (item = e->kind == TRI_YAML_LIST ? e->first : NULL; item;
             item = item->next) {
            TRI_TRY(check_argument(r, item, NULL, !before));
        }
    }
    return TRI_OK;
}

/* Keys whose values are one template each. */
static tri_status check_texts(const tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {"cwd", "scratch"};
    const tri_yaml *e;
    const char *name;
    int i;

    for (i = 0; i < TRI_COUNT_OF(keys); i++) {
        e = tri_yaml_get(m, keys[i]);
        if (e) {
            TRI_TRY(check_template(r, e, &name));
        }
    }
    e = tri_yaml_get(m, "scratch");
    if (e && strstr(e->text, "{scratch}")) {
        return tri_reader_wrong(e, "model.scratch",
                                "a folder that does not name itself");
    }
    e = tri_yaml_get(m, "env");
    for (e = e ? e->first : NULL; e; e = e->next) {
        TRI_TRY(check_template(r, e, &name));
    }
    return TRI_OK;
}

tri_status tri_study_check_templates(tri_reader *r)
{
    const tri_yaml *m = tri_yaml_get(r->root, "model");
    const tri_yaml *command = tri_yaml_get(m, "command"), *e;
    const char *name;

    if (r->study->model.kind != TRI_MODEL_PROCESS) {
        return TRI_OK;
    }
    if (!r->study->model.u.process.shell) {
        TRI_TRY(check_command(r, command));
    } else {
        e = command->kind == TRI_YAML_LIST ? command->first : command;
        TRI_TRY(check_template(r, e, &name));
    }
    return check_texts(r, m);
}

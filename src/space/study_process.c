/*
 * The model kind `process`: a command of templates, its environment and its
 * metrics.  What templates name is checked against the space; they are filled
 * in by whoever runs them.
 */
#include "src/space/study_priv.h"

#include <string.h>

static const char *const facts[] = {
        "rank",  "world_size",  "local_rank",  "local_world_size", "run",
        "trial", "resource",    "rung",        "attempt",          "epoch",
        "seed",  "master_addr", "master_port", "study_dir",        NULL};

const char *const *tri_study_facts(void)
{
    return facts;
}

/* Beside those: TRIREME_FD, and what is to come. */
static const char *const taken[] = {"fd", "checkpoint", "scratch"};

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

/* ---- the command ------------------------------------------------------- */

static tri_status add_argument(const tri_yaml *at, int group, const char **argv,
                               int *groups, int *n)
{
    if (at->kind != TRI_YAML_SCALAR) {
        return tri_reader_wrong(at, "model.command", "a text");
    }
    argv[*n] = at->text;
    groups[(*n)++] = group;
    return TRI_OK;
}

/* Elements, each of them a text or a list of texts. */
static tri_status add_elements(const tri_yaml *list, const char **argv,
                               int *groups, int *n)
{
    const tri_yaml *e, *item;
    int group = 0;

    for (e = list->first; e; e = e->next, group++) {
        if (e->kind != TRI_YAML_LIST) {
            TRI_TRY(add_argument(e, group, argv, groups, n));
        } else if (e->n == 0) {
            return tri_reader_wrong(e, "model.command",
                                    "at least one argument in a list");
        }
        for (item = e->kind == TRI_YAML_LIST ? e->first : NULL; item;
             item = item->next) {
            TRI_TRY(add_argument(item, group, argv, groups, n));
        }
    }
    return TRI_OK;
}

static int count_arguments(const tri_yaml *list)
{
    const tri_yaml *e;
    int n = 0;

    for (e = list->first; e; e = e->next) {
        n += e->kind == TRI_YAML_LIST ? e->n : 1;
    }
    return n;
}

static tri_status read_list(tri_reader *r, const tri_yaml *at,
                            tri_process_spec *p)
{
    size_t n = (size_t)count_arguments(at) + 1;
    const char **argv = tri_pile_alloc(r->pile, n * sizeof *argv);
    int *groups = tri_pile_alloc(r->pile, n * sizeof *groups);

    if (!argv || !groups) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    p->argv = argv;
    p->argv_group = groups;
    return add_elements(at, argv, groups, &p->n_argv);
}

/* Argument templates; with `shell` one text will do. */
static tri_status read_command(tri_reader *r, const tri_yaml *m,
                               tri_process_spec *p)
{
    const tri_yaml *at = tri_yaml_get(m, "command");

    if (!at) {
        return tri_reader_wrong(m, "model.command", "a list of arguments");
    }
    if (p->shell) {
        TRI_TRY(tri_reader_texts(r, at, "model.command", &p->argv, &p->n_argv));
    } else if (at->kind == TRI_YAML_LIST) {
        TRI_TRY(read_list(r, at, p));
    } else {
        return tri_reader_wrong(at, "model.command",
                                "a list of arguments (or shell: true)");
    }
    if (p->n_argv == 0 || (p->shell && p->n_argv != 1)) {
        return tri_reader_wrong(at, "model.command",
                                p->shell ? "one text for the shell"
                                         : "at least one argument");
    }
    return TRI_OK;
}

/* ---- the other keys ---------------------------------------------------- */

static tri_status read_metrics(tri_reader *r, const tri_yaml *m,
                               tri_process_spec *p)
{
    static const char *const keys[] = {"patterns"};
    const tri_yaml *at = tri_yaml_get(m, "metrics");

    if (!at) {
        return TRI_OK;
    }
    TRI_TRY(tri_reader_keys(at, "model.metrics", keys, 1));
    return tri_reader_pairs(r, tri_yaml_get(at, "patterns"),
                            "model.metrics.patterns", &p->metrics.patterns,
                            &p->metrics.n_patterns);
}

static tri_status read_process_lists(tri_reader *r, const tri_yaml *m,
                                     tri_process_spec *p)
{
    const tri_yaml *devices = tri_yaml_get(m, "devices");

    TRI_TRY(tri_reader_pairs(r, tri_yaml_get(m, "env"), "model.env", &p->env,
                             &p->n_env));
    TRI_TRY(tri_reader_texts(r, tri_yaml_get(m, "keep_env"), "model.keep_env",
                             &p->keep_env, &p->n_keep_env));
    return tri_reader_texts(r, devices, "model.devices", &p->devices.map,
                            &p->devices.n_map);
}

/* What is read and used by nothing; where going without would change what is
 * measured, the study cannot be run. */
static tri_status note_unbuilt(tri_reader *r, const tri_process_spec *p)
{
    const struct {
        int is_given, keeps_from_running;
        const char *name, *instead;
    } keys[] = {
            {p->leader, 1, "launch: leader", ""},
            {p->setup.text != NULL, 1, "setup",
             "; put it into the command with shell: true"},
            {p->devices.n_map > 0, 1, "devices", ""},
            {p->metrics.n_patterns > 0, 1, "metrics.patterns",
             "; print JSON lines on standard output"},
            {p->log.dir != NULL, 0, "log_dir",
             "; of what the processes write, the end of standard error of "
             "failed runs is kept"},
            {p->scratch != NULL, 0, "scratch",
             "; all processes start in the working folder"},
            {p->resume, 0, "resume: checkpoint",
             "; each run starts the process afresh"},
    };
    int i;

    for (i = 0; i < TRI_COUNT_OF(keys); i++) {
        if (keys[i].is_given) {
            TRI_TRY(tri_reader_note(r, keys[i].keeps_from_running,
                                    "model.%s is read, but not built yet%s",
                                    keys[i].name, keys[i].instead));
        }
    }
    return TRI_OK;
}

tri_status tri_study_read_process(tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {
            "kind",    "command",  "shell", "launch",  "setup",
            "env",     "keep_env", "cwd",   "devices", "log_dir",
            "scratch", "metrics",  "resume"};
    static const char *const launches[] = {"ranks", "leader"};
    static const char *const resumes[] = {"none", "checkpoint"};
    tri_process_spec p;

    memset(&p, 0, sizeof p);
    TRI_TRY(tri_reader_keys(m, "model", keys, TRI_COUNT_OF(keys)));
    TRI_TRY(tri_reader_bool(tri_yaml_get(m, "shell"), "model.shell", &p.shell));
    TRI_TRY(read_command(r, m, &p));
    TRI_TRY(tri_reader_name(tri_yaml_get(m, "launch"), "model.launch", launches,
                            2, &p.leader));
    TRI_TRY(tri_reader_name(tri_yaml_get(m, "resume"), "model.resume", resumes,
                            2, &p.resume));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "setup"), "model.setup",
                            &p.setup.text));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "cwd"), "model.cwd", &p.cwd));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "log_dir"), "model.log_dir",
                            &p.log.dir));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "scratch"), "model.scratch",
                            &p.scratch));
    TRI_TRY(read_process_lists(r, m, &p));
    TRI_TRY(read_metrics(r, m, &p));
    r->study->model.u.process = p;
    return note_unbuilt(r, &p);
}

/* ---- templates --------------------------------------------------------- */

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
    e = tri_yaml_get(m, "env");
    for (e = e ? e->first : NULL; e; e = e->next) {
        TRI_TRY(check_template(r, e, &name));
    }
    return TRI_OK;
}

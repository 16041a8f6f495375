/*
 * The model kind `process`: its keys, and the command.
 */
#include "src/space/study_priv.h"

#include <string.h>

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

/* ---- the whole ---------------------------------------------------------- */

/* What is not a map or list with a form of its own. */
static tri_status read_plain(const tri_yaml *m, tri_process_spec *p)
{
    static const char *const launches[] = {"ranks", "leader"};
    static const char *const resumes[] = {"none", "checkpoint"};

    TRI_TRY(tri_reader_name(tri_yaml_get(m, "launch"), "model.launch", launches,
                            2, &p->leader));
    TRI_TRY(tri_reader_name(tri_yaml_get(m, "resume"), "model.resume", resumes,
                            2, &p->resume));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "cwd"), "model.cwd", &p->cwd));
    return tri_reader_text(tri_yaml_get(m, "scratch"), "model.scratch",
                           &p->scratch);
}

tri_status tri_study_read_process(tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {
            "kind",    "command",  "shell", "launch",  "setup",
            "env",     "keep_env", "cwd",   "devices", "log_dir",
            "scratch", "metrics",  "resume"};
    tri_process_spec p;

    memset(&p, 0, sizeof p);
    TRI_TRY(tri_reader_keys(m, "model", keys, TRI_COUNT_OF(keys)));
    TRI_TRY(tri_reader_bool(tri_yaml_get(m, "shell"), "model.shell", &p.shell));
    TRI_TRY(read_command(r, m, &p));
    TRI_TRY(read_plain(m, &p));
    TRI_TRY(tri_study_read_process_keys(r, m, &p));
    r->study->model.u.process = p;
    return TRI_OK;
}

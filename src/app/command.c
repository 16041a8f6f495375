/*
 * What speaks against the command of a study of processes, as far as this host
 * can tell before anything runs.  Other hosts may have what is missing here,
 * and templates are known only once they are filled in: this is a note, no
 * error.
 */
#include "src/app/app.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- texts -------------------------------------------------------------- */

/* `template` with {study_dir} filled in; returns 0 where it has another
 * placeholder, or a brace of its own. */
static int expand(const tri_study *study, const char *template, char *buf,
                  size_t bytes)
{
    static const char fact[] = "{study_dir}";
    const char *rest = template;
    char folder[PATH_MAX] = "";

    if (strncmp(template, fact, sizeof fact - 1) == 0) {
        rest += sizeof fact - 1;
        tri_study_resolve(study, ".", folder, sizeof folder);
    }
    return !strpbrk(rest, "{}") &&
           (size_t)snprintf(buf, bytes, "%s%s", folder, rest) < bytes;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static int ends_in(const char *text, const char *end)
{
    size_t n = strlen(text);
    size_t m = strlen(end);

    return n > m && strcmp(text + n - m, end) == 0;
}

/* ---- files -------------------------------------------------------------- */

/* The folder that a process is in, "" where that is the present one; returns 0
 * where it is not known. */
static int find_folder(const tri_study *study, char *buf, size_t bytes)
{
    const char *cwd = study->model.u.process.cwd;
    char path[PATH_MAX];

    buf[0] = '\0';
    if (!cwd) {
        return 1;
    }
    if (!expand(study, cwd, path, sizeof path)) {
        return 0;
    }
    tri_study_resolve(study, path, buf, bytes);
    return 1;
}

static int is_file(const char *folder, const char *name, int mode)
{
    char path[2 * PATH_MAX];
    struct stat s;

    snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : folder,
             *name == '/' || !*folder ? "" : "/", name);
    return stat(path, &s) == 0 && !S_ISDIR(s.st_mode) &&
           access(path, mode) == 0;
}

/* The program of that name in PATH, into buf; returns 0 where there is none. */
static int find_in_path(const char *name, char *buf, size_t bytes)
{
    const char *path = getenv("PATH");
    size_t n;

    for (path = path ? path : "/usr/bin:/bin"; *path; path += n + !!path[n]) {
        n = strcspn(path, ":");
        snprintf(buf, bytes, "%.*s/%s", n ? (int)n : 1, n ? path : ".", name);
        if (is_file("", buf, X_OK)) {
            return 1;
        }
    }
    return 0;
}

/* ---- the program -------------------------------------------------------- */

/* Whether the processes' PATH is this one's. */
static int has_our_path(const tri_process_spec *p)
{
    int ours = !p->setup.text;

    for (int i = 0; i < p->n_env; i++) {
        ours &= strcmp(p->env[i].key, "PATH") != 0;
    }
    return ours;
}

int tri_app_program(const tri_study *study, char *buf, size_t bytes)
{
    const tri_process_spec *p = &study->model.u.process;
    char name[PATH_MAX];

    return study->model.kind == TRI_MODEL_PROCESS && !p->shell &&
           has_our_path(p) && expand(study, p->argv[0], name, sizeof name) &&
           !strchr(name, '/') && find_in_path(name, buf, bytes);
}

static int note_program(const tri_study *study, const char *folder,
                        const char *program, char *buf, size_t bytes)
{
    char found[PATH_MAX];

    if (strchr(program, '/')) {
        if (is_file(folder, program, X_OK)) {
            return 0;
        }
        snprintf(buf, bytes, "model.command: '%s' %s%s%s on this host", program,
                 is_file(folder, program, F_OK) ? "cannot be executed"
                                                : "is not there",
                 *folder && *program != '/' ? ", seen from " : "",
                 *program != '/' ? folder : "");
        return 1;
    }
    if (!has_our_path(&study->model.u.process) ||
        find_in_path(program, found, sizeof found)) {
        return 0;
    }
    snprintf(buf, bytes, "model.command: no '%s' in PATH on this host%s%s",
             program,
             is_file(folder, program, X_OK) ? "; a program that lies here is "
                                              "written ./"
                                            : "",
             is_file(folder, program, X_OK) ? program : "");
    return 1;
}

/* ---- its script --------------------------------------------------------- */

/* Programs that run a script, and how it is told among their arguments: the
 * first that is no option, or the first that ends in .py. */
static const struct {
    const char *name;
    int is_first;
} runners[] = {{"python", 1},     {"bash", 1},      {"perl", 1},
               {"Rscript", 1},    {"julia", 1},     {"torchrun", 0},
               {"accelerate", 0}, {"deepspeed", 0}, {"mpirun", 0},
               {"mpiexec", 0},    {"srun", 0}};

static const char *find_script(const tri_process_spec *p, const char *program)
{
    int is_first = -1;

    for (size_t i = 0; i < sizeof runners / sizeof *runners; i++) {
        if (starts_with(base_name(program), runners[i].name)) {
            is_first = runners[i].is_first;
        }
    }
    for (int i = 1; i < p->n_argv && is_first >= 0; i++) {
        const char *word = p->argv[i];

        if (strcmp(word, "-W") == 0 || strcmp(word, "-X") == 0) {
            i++; /* python's, with a value */
        } else if (strcmp(word, "-m") == 0 || strcmp(word, "-c") == 0 ||
                   strcmp(word, "-e") == 0) {
            is_first = 0; /* a module or a text; its script may follow */
        } else if (is_first ? *word != '-' : ends_in(word, ".py")) {
            return word;
        }
    }
    return NULL;
}

static int note_script(const tri_study *study, const char *folder,
                       const char *program, char *buf, size_t bytes)
{
    const char *script = find_script(&study->model.u.process, program);
    char beside[PATH_MAX];
    char path[PATH_MAX];

    if (!script || !expand(study, script, path, sizeof path) ||
        is_file(folder, path, F_OK)) {
        return 0;
    }
    tri_study_resolve(study, path, beside, sizeof beside);
    snprintf(buf, bytes, "model.command: '%s' is not there on this host%s%s%s",
             path,
             *path == '/' ? ""
             : *folder    ? ", seen from "
                          : ", seen from the present folder",
             *path == '/' ? "" : folder,
             is_file("", beside, F_OK)
                     ? "; beside the study file it is: write {study_dir}/ "
                       "before it"
                     : "");
    return 1;
}

/* ---- the whole ---------------------------------------------------------- */

int tri_app_command_note(const tri_study *study, char *buf, size_t bytes)
{
    const tri_process_spec *p = &study->model.u.process;
    char folder[PATH_MAX];
    char program[PATH_MAX];
    struct stat s;

    if (study->model.kind != TRI_MODEL_PROCESS ||
        !find_folder(study, folder, sizeof folder)) {
        return 0;
    }
    if (*folder && (stat(folder, &s) != 0 || !S_ISDIR(s.st_mode))) {
        snprintf(buf, bytes,
                 "model.cwd: the folder '%s' is not there on this "
                 "host",
                 folder);
        return 1;
    }
    return !p->shell && expand(study, p->argv[0], program, sizeof program) &&
           (note_program(study, folder, program, buf, bytes) ||
            note_script(study, folder, program, buf, bytes));
}

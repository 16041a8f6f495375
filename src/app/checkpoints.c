/*
 * What speaks against the folder that a study keeps its checkpoints in, as far
 * as this host can tell before anything runs.
 */
#include "src/app/app.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Of statfs: what is kept in memory. */
#define TMPFS_TYPE 0x01021994
#define RAMFS_TYPE 0x858458f6

static int keeps_any(const tri_study *study)
{
    return study->objective.learned ||
           strcmp(study->checkpoints.policy, "always") == 0;
}

/* The engine saves its trainings by itself, where anything goes on from it. */
static int is_built_in(const tri_study *study)
{
    return (study->model.kind == TRI_MODEL_GPT ||
            study->model.kind == TRI_MODEL_DLRM ||
            study->model.kind == TRI_MODEL_MLP) &&
           keeps_any(study);
}

static int may_save(const tri_study *study)
{
    int is_process = study->model.kind == TRI_MODEL_PROCESS;
    int can = is_process ? study->model.u.process.resume : is_built_in(study);

    return can && strcmp(study->checkpoints.policy, "never") != 0;
}

/* Cut `path` to what there is of it; returns whether that is all. */
static int find_existing(char *path)
{
    int whole = 1;

    while (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        char *slash = strrchr(path, '/');

        whole = 0;
        if (!slash) {
            memcpy(path, ".", 2);
        } else {
            slash[slash == path] = '\0';
        }
    }
    return whole;
}

static int is_under(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

/* What kind of place that is, where it is one host's alone; else NULL. */
static const char *local_kind(const char *existing)
{
    char real[PATH_MAX];
    struct statfs fs;

    if (statfs(existing, &fs) == 0 &&
        ((unsigned long)fs.f_type == TMPFS_TYPE ||
         (unsigned long)fs.f_type == RAMFS_TYPE)) {
        return "in this host's memory, and is lost when it restarts";
    }
    if (realpath(existing, real) &&
        (is_under(real, "/tmp") || is_under(real, "/var/tmp"))) {
        return "a temporary folder, which mostly is one host's own";
    }
    return NULL;
}

int tri_app_checkpoints_note(const tri_study *study, char *buf, size_t bytes)
{
    const char *dir = study->checkpoints.dir;
    char path[PATH_MAX];
    const char *kind;
    struct stat s;
    int whole;

    if (!may_save(study)) {
        return 0;
    }
    if (!keeps_any(study)) {
        snprintf(buf, bytes,
                 "model.resume: checkpoint has no effect: what is measured is "
                 "a rate, and checkpoints.policy is auto");
        return 1;
    }
    tri_study_resolve(study, dir, path, sizeof path);
    whole = find_existing(path);
    kind = local_kind(path);
    if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode) || access(path, W_OK) != 0) {
        snprintf(buf, bytes,
                 "checkpoints.dir: '%s' cannot be %s: a study that runs here "
                 "ends with status 1",
                 dir, whole ? "written" : "made");
    } else if (kind) {
        snprintf(buf, bytes,
                 "checkpoints.dir: '%s' is %s: a trial that goes on on another "
                 "host could not reach its checkpoint",
                 dir, kind);
    } else if (!whole) {
        snprintf(buf, bytes,
                 "checkpoints.dir: '%s' is not there yet; it will be made",
                 dir);
    } else {
        return 0;
    }
    return 1;
}

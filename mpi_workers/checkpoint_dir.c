/*
 * Names in the folder of checkpoints, and the claim on them.
 */
#include "mpi_workers/checkpoint_dir.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/tree.h"
#include "mpi_workers/trial_kind.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a study's name as much as goes into a file's. */
#define STUDY_BYTES "120"
#define LOOK_S      0.05

static const char heading[] = "checkpoints of the study in this record:";

int tri_checkpoint_may_be(const tri_study *study)
{
    const tri_trial_ops *ops = tri_trial_kind(study->model.kind);

    return ops && ops != &tri_trial_synthetic && ops->save &&
           (!ops->saves || ops->saves(study)) &&
           strcmp(study->checkpoints.policy, "never") != 0 &&
           (study->objective.learned ||
            strcmp(study->checkpoints.policy, "always") == 0);
}

/* ---- names --------------------------------------------------------------- */

void tri_checkpoint_name(const tri_study *study, int64_t run, int attempt,
                         int epoch, char *name, size_t bytes)
{
    snprintf(name, bytes, "%." STUDY_BYTES "s.r%lld.a%d.e%d.ckpt", study->name,
             (long long)run, attempt, epoch);
}

/* A letter and a number, *at behind it. */
static int take_number(const char **at, const char *before)
{
    size_t n = strlen(before);
    size_t digits;

    if (strncmp(*at, before, n) != 0) {
        return 0;
    }
    digits = strspn(*at + n, "0123456789");
    *at += n + digits;
    return digits > 0;
}

int tri_checkpoint_is_name(const tri_study *study, const char *name)
{
    char start[160];
    size_t n;

    snprintf(start, sizeof start, "%." STUDY_BYTES "s", study->name);
    n = strlen(start);
    if (strncmp(name, start, n) != 0) {
        return 0;
    }
    name += n;
    if (!take_number(&name, ".r") || !take_number(&name, ".a") ||
        !take_number(&name, ".e") || strncmp(name, ".ckpt", 5) != 0) {
        return 0;
    }
    name += 5;
    if (strncmp(name, TRI_PART, sizeof TRI_PART - 1) == 0) {
        name += sizeof TRI_PART - 1;
    }
    return !*name || strcmp(name, TRI_GONE) == 0;
}

void tri_checkpoint_path(const tri_study *study, const char *name, char *path,
                         size_t bytes)
{
    char within[PATH_MAX];
    char found[PATH_MAX];
    char here[PATH_MAX];

    snprintf(within, sizeof within, "%s%s%s", study->checkpoints.dir,
             name[0] ? "/" : "", name);
    tri_study_resolve(study, within, found, sizeof found);
    if (found[0] == '/' || !getcwd(here, sizeof here)) {
        snprintf(path, bytes, "%s", found);
    } else {
        snprintf(path, bytes, "%s/%s", here, found);
    }
}

/* ---- the claim ----------------------------------------------------------- */

static void claim_path(const tri_study *study, char *path, size_t bytes)
{
    char name[200];

    snprintf(name, sizeof name, "%." STUDY_BYTES "s.ckpt.claim", study->name);
    tri_checkpoint_path(study, name, path, bytes);
}

/* A line without its end; 0 where there is none. */
static int read_line(FILE *f, char *buf, int bytes)
{
    if (!fgets(buf, bytes, f)) {
        return 0;
    }
    buf[strcspn(buf, "\n")] = 0;
    return 1;
}

/* What a claim says; 0 where there is none. */
static int read_claim(const char *path, char record[PATH_MAX], double *opened_s)
{
    FILE *f = fopen(path, "re");
    char line[PATH_MAX];
    int whole;

    if (!f) {
        return 0;
    }
    whole = read_line(f, line, sizeof line) && read_line(f, record, PATH_MAX) &&
            read_line(f, line, sizeof line) &&
            sscanf(line, "%lf", opened_s) == 1;
    fclose(f);
    return whole;
}

static tri_status write_claim(const char *path, const char *record,
                              double opened_s)
{
    char temporary[PATH_MAX + 16];
    FILE *f;
    int good;

    snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
    f = fopen(temporary, "we");
    good = f && fprintf(f, "%s\n%s\n%.6f\n", heading, record, opened_s) > 0;
    if (f) {
        good = fclose(f) == 0 && good;
    }
    if (!good || rename(temporary, path) != 0) {
        int error = errno;

        unlink(temporary);
        return TRI_FAIL(TRI_EINVAL,
                        "checkpoints.dir: '%s' cannot be written: %s", path,
                        strerror(error));
    }
    return TRI_OK;
}

tri_status tri_checkpoint_claim(const tri_study *study, const char *record,
                                double opened_s,
                                int (*exists)(const char *path))
{
    char path[PATH_MAX];
    char other[PATH_MAX];
    double when;

    claim_path(study, path, sizeof path);
    if (tri_tree_make_parents(path) != 0) {
        return TRI_FAIL(TRI_EINVAL, "checkpoints.dir: '%s' cannot be made: %s",
                        study->checkpoints.dir, strerror(errno));
    }
    if (read_claim(path, other, &when) && strcmp(other, record) != 0 &&
        exists(other)) {
        return TRI_FAIL(TRI_EINVAL,
                        "checkpoints.dir: the checkpoints of '%s' in '%s' are "
                        "those of %s; give this study another name or another "
                        "checkpoints.dir, or remove that file",
                        study->name, study->checkpoints.dir, other);
    }
    return write_claim(path, record, opened_s);
}

int tri_checkpoint_sees(const tri_study *study, double opened_s, double limit_s)
{
    double end = tri_now() + limit_s;
    char path[PATH_MAX];
    char record[PATH_MAX];
    double when;

    claim_path(study, path, sizeof path);
    for (;;) {
        /* as it was printed */
        if (read_claim(path, record, &when) && when > opened_s - 1e-5 &&
            when < opened_s + 1e-5) {
            return 1;
        }
        if (tri_now() >= end) {
            return 0;
        }
        tri_sleep(LOOK_S);
    }
}

void tri_checkpoint_disclaim(const tri_study *study)
{
    char path[PATH_MAX];

    claim_path(study, path, sizeof path);
    unlink(path);
}

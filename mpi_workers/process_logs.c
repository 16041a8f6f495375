/*
 * Keeps the log files of processes to a number of runs.
 */
#include "mpi_workers/process_logs.h"

#include "mpi_workers/tree.h"
#include "trireme/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Removed at a time, so that a start never waits long. */
#define MOST_AT_ONCE 64

typedef struct written {
    int64_t trial, run;
    int attempt, rank;
} written;

typedef struct list { /* by run */
    written *at;
    int n, room;
} list;

static list good, failing; /* of this rank's process */
static int was_warned;     /* that there is no directory for them */

static void name_file(const tri_study *study, const written *w, char *path,
                      size_t bytes)
{
    char within[PATH_MAX];

    snprintf(within, sizeof within, "%s/%lld.%lld.%d.%d.log",
             study->model.u.process.log.dir, (long long)w->trial,
             (long long)w->run, w->attempt, w->rank);
    tri_study_resolve(study, within, path, bytes);
}

/* Remove the first files of `l` until `n` are left, or the run `last` of the
 * first is to stay. */
static void shorten(const tri_study *study, list *l, int n, int64_t last)
{
    char path[PATH_MAX];
    int gone = 0;

    while (gone < MOST_AT_ONCE && l->n - gone > n && l->at[gone].run <= last) {
        name_file(study, &l->at[gone++], path, sizeof path);
        unlink(path);
    }
    if (gone > 0) {
        l->n -= gone;
        memmove(l->at, l->at + gone, (size_t)l->n * sizeof *l->at);
    }
}

static int is_same(const written *a, const written *b)
{
    return a->trial == b->trial && a->run == b->run &&
           a->attempt == b->attempt && a->rank == b->rank;
}

static void add(list *l, const written *w)
{
    if (l->n > 0 && is_same(&l->at[l->n - 1], w)) {
        return; /* started again, on another port */
    }
    if (l->n == l->room) {
        int room = 2 * l->room + 16;
        written *grown = realloc(l->at, (size_t)room * sizeof *grown);

        if (!grown) {
            return; /* it stays */
        }
        l->at = grown;
        l->room = room;
    }
    l->at[l->n++] = *w;
}

static written written_by(const tri_facts *facts)
{
    return (written){facts->trial, facts->run, facts->attempt, facts->rank};
}

int tri_logs_begin(const tri_study *study, const tri_facts *facts, char *path,
                   size_t bytes)
{
    int keep = study->model.u.process.log.keep;
    written w = written_by(facts);

    if (!study->model.u.process.log.dir) {
        return 0;
    }
    if (keep > 0) {
        shorten(study, &good, 0, facts->run - keep);
        shorten(study, &failing, keep, INT64_MAX);
    }
    name_file(study, &w, path, bytes);
    if (tri_tree_make_parents(path) != 0) {
        if (!was_warned) {
            TRI_LOG(TRI_LOG_WARN,
                    "no log '%s', nor others in its directory, which cannot "
                    "be made: %s",
                    path, strerror(errno));
        }
        was_warned = 1;
        return 0;
    }
    was_warned = 0;
    return 1;
}

void tri_logs_end(const tri_study *study, const tri_facts *facts, int failed)
{
    written w = written_by(facts);

    if (!study->model.u.process.log.dir) {
        return;
    }
    if (failed && good.n > 0 && is_same(&good.at[good.n - 1], &w)) {
        good.n--;
    }
    add(failed ? &failing : &good, &w);
}

void tri_logs_forget(void)
{
    free(good.at);
    free(failing.at);
    good = failing = (list){0};
    was_warned = 0;
}

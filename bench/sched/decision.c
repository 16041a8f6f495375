/*
 * The cost of a decision of every scheduler at 10^3 and at 10^6 trials.
 *
 * Verified before it is timed: at 10^3 trials every decision of asha is
 * compared with a plain search through all results; of the others (their
 * rules are tests/sched's subject), that every configuration that went on had
 * its result in the rung below.
 *
 * Units.  A decision is one peek, take and result: what a finished run costs
 * the scheduler.  ns is nanoseconds of this thread's CPU time, the mean over
 * the second half of the trials (so that the history has the size that the
 * case names).  `limit_ns` is what the project promises: 1 us at 10^3 trials, 5
 * us at 10^6.  `ratio` compares with the same scheduler at 10^3: a decision is
 * O(log n), so it may double, and cache misses cost as much again and more.
 */
#include "trireme/rng.h"
#include "trireme/sched.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RUNGS 5

static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double score(int64_t trial, int rung)
{
    tri_rng rng = tri_rng_stream(1, (uint64_t)trial, TRI_RNG_TEST);

    return tri_rng_unit(&rng) + 0.1 / (1 + rung);
}

static const tri_sched_kind kinds[] = {
        TRI_SCHED_ASHA,  TRI_SCHED_ASHA_STOP, TRI_SCHED_ASHA_DELAYED,
        TRI_SCHED_SHA,   TRI_SCHED_HYPERBAND, TRI_SCHED_ASYNC_HYPERBAND,
        TRI_SCHED_PASHA, TRI_SCHED_NONE};

static tri_sched *make(tri_sched_kind kind)
{
    tri_sched_settings s = {.kind = kind, .min = 1, .max = 256, .eta = 4};
    tri_sched *out = NULL;

    s.brackets = kind != TRI_SCHED_SHA && kind != TRI_SCHED_HYPERBAND;
    return tri_sched_create(&s, &out) == TRI_OK ? out : NULL;
}

/* One decision; returns whether it was a new configuration, -1 on trouble. */
static int decide(tri_sched *s, int64_t next, tri_job *job)
{
    int64_t trial;

    tri_sched_peek(s, 1, job);
    trial = job->kind == TRI_JOB_NEW ? next : job->trial;
    if (tri_sched_take(s, job, trial) != TRI_OK ||
        tri_sched_result(s, trial, job->rung, TRI_RESULT_OK,
                         score(trial, job->rung)) != TRI_OK) {
        return -1;
    }
    return job->kind == TRI_JOB_NEW;
}

typedef struct plain {
    double *score[RUNGS];
    char *done[RUNGS], *gone[RUNGS];
    int64_t n;
} plain;

/* The best not promoted of the best floor(n/4), highest rung first; -1. */
static int64_t plain_next(const plain *p, int *rung)
{
    for (int k = RUNGS - 2; k >= 0; k--) {
        int64_t n = 0, best = -1;

        for (int64_t t = 0; t < p->n; t++) {
            n += p->done[k][t];
            if (p->done[k][t] && !p->gone[k][t] &&
                (best < 0 || p->score[k][t] < p->score[k][best])) {
                best = t;
            }
        }
        if (best >= 0) {
            int64_t place = 0;

            for (int64_t t = 0; t < p->n; t++) {
                place += p->done[k][t] && p->score[k][t] < p->score[k][best];
            }
            if (place < n / 4) {
                *rung = k;
                return best;
            }
        }
    }
    return -1;
}

static int verify_asha(int64_t trials)
{
    tri_sched *s = make(TRI_SCHED_ASHA);
    plain p = {.n = 0};
    int ok = s != NULL;

    for (int k = 0; k < RUNGS; k++) {
        p.score[k] = calloc((size_t)trials, sizeof **p.score);
        p.done[k] = calloc((size_t)trials, 1);
        p.gone[k] = calloc((size_t)trials, 1);
    }
    while (ok && p.n < trials) {
        int rung = -1;
        int64_t want = plain_next(&p, &rung), trial;
        tri_job job;
        int is_new = decide(s, p.n, &job);

        ok = is_new == (want < 0) &&
             (is_new || (job.trial == want && job.rung == rung + 1));
        trial = is_new ? p.n++ : job.trial;
        if (!is_new) {
            p.gone[job.rung - 1][trial] = 1;
        }
        p.score[job.rung][trial] = score(trial, job.rung);
        p.done[job.rung][trial] = 1;
    }
    for (int k = 0; k < RUNGS; k++) {
        free(p.score[k]);
        free(p.done[k]);
        free(p.gone[k]);
    }
    tri_sched_destroy(s);
    return ok;
}

/* Every run is of a fresh trial or one rung above its trial's last. */
static int verify(tri_sched_kind kind, int64_t trials)
{
    tri_sched *s = make(kind);
    int *rung = calloc((size_t)trials, sizeof *rung);
    int64_t created = 0;
    int ok = s && rung;
    tri_job job;

    while (ok && created < trials) {
        int is_new = decide(s, created, &job);

        ok = is_new >= 0 && (is_new || (job.trial < created &&
                                        rung[job.trial] == job.rung - 1));
        if (ok) {
            rung[is_new ? created : job.trial] = job.rung;
            created += is_new;
        }
    }
    free(rung);
    tri_sched_destroy(s);
    return ok;
}

/* Mean cost over the second half; what the scores cost is taken off. */
static double measure(tri_sched_kind kind, int64_t trials, int64_t *decisions)
{
    tri_sched *s = make(kind);
    int64_t created = 0, n = 0;
    double start = 0, spent, sum = 0;
    tri_job job;

    while (s && created < trials) {
        int is_new;

        if (created == trials / 2 && start <= 0) {
            start = cpu_ns();
            n = 0;
        }
        is_new = decide(s, created, &job);
        if (is_new < 0) {
            return NAN;
        }
        created += is_new;
        n++;
    }
    spent = cpu_ns() - start;
    start = cpu_ns();
    for (int64_t i = 0; i < n; i++) {
        sum += score(i, 0);
    }
    spent -= cpu_ns() - start;
    tri_sched_destroy(s);
    *decisions = n;
    return sum > 0 ? spent / (double)n : NAN;
}

typedef struct size {
    int64_t trials;
    int repeats; /* so that each takes a while */
    double limit_ns;
} size;

static int measure_kind(tri_sched_kind kind, int is_last)
{
    static const size sizes[] = {{1000, 200, 1000}, {1000000, 1, 5000}};
    double first = NAN;
    int ok = 1;

    for (int i = 0; i < 2; i++) {
        int64_t n = 0;
        double ns = 0;

        for (int k = 0; k < sizes[i].repeats; k++) {
            ns += measure(kind, sizes[i].trials, &n) / sizes[i].repeats;
        }
        first = i ? first : ns;
        ok = ok && ns <= sizes[i].limit_ns;
        printf("  {\"scheduler\": \"%s\", \"trials\": %lld, "
               "\"verified\": true, \"decisions\": %lld, \"ns\": %.0f, "
               "\"limit_ns\": %.0f, \"ratio\": %.2f}%s\n",
               tri_sched_name(kind), (long long)sizes[i].trials, (long long)n,
               ns, sizes[i].limit_ns, ns / first, i && is_last ? "" : ",");
    }
    return ok;
}

int main(void)
{
    const size_t n = sizeof kinds / sizeof kinds[0];
    int ok = 1;

    for (size_t i = 0; i < n; i++) {
        if (!verify(kinds[i], 1000) || !verify_asha(1000)) {
            fprintf(stderr, "%s decides what it may not\n",
                    tri_sched_name(kinds[i]));
            return 1;
        }
    }
    printf("[\n");
    for (size_t i = 0; i < n; i++) {
        ok &= measure_kind(kinds[i], i == n - 1);
    }
    printf("]\n");
    return ok ? 0 : 1;
}

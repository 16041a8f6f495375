/*
 * What a proposal costs.
 *
 *   bench_search_proposals [RECORDS [PARAMETERS]]
 *
 * With many records: of a smooth function they grow one by one, as in a study;
 * for each new one the thinker is asked for one proposal, refits of its
 * hyper-parameters included: ms a proposal, over the last quarter of the
 * records.  Then it is asked for 16 at once.
 *
 * With many candidates: ms a decision among all of a million valid
 * configurations, by a hundred records, for each predictor that `auto` may
 * choose; what it learns is in it.
 *
 * One thread.  Each proposal is checked to be valid and new.  Times are CPU
 * times.  Prints JSON; limits are those of the project (20 ms, 200 ms).
 */
#include "trireme/num.h"
#include "trireme/predict.h"
#include "trireme/think.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of the million: so many parameters, values of each, records, decisions. */
#define GRID_PARAMS  6
#define GRID_VALUES  10
#define GRID_RECORDS 100
#define DECISIONS    8

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, tri_error_last()->sentence);
    exit(1);
}

/* A space of `n` parameters of one domain. */
static tri_study *make_study(const char *predictor, int n, const char *domain)
{
    char text[4096];
    size_t at;
    tri_study *study;

    at = (size_t)snprintf(text, sizeof text,
                          "study: bench\nmodel: {kind: synthetic}\nsearch: "
                          "{proposer: acquisition, predictor: %s, "
                          "random_share: 0}\nobjective: {minimize: loss}\n"
                          "resource: {unit: steps, min: 1, max: 1}\nspace:\n",
                          predictor);
    for (int i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "  p%d: %s\n", i,
                               domain);
    }
    if (tri_study_parse(text, at, "bench.yaml", NULL, NULL, &study) != TRI_OK) {
        die("study");
    }
    return study;
}

/* ---- a study ------------------------------------------------------------ */

typedef struct run {
    tri_study *study;
    tri_thinker *thinker;
    tri_record *records;
    uint64_t *tried;
    int n, n_params;
    int64_t questions;
} run;

/* Takes the study; room for `records`. */
static void run_init(run *r, tri_study *study, int records)
{
    *r = (run){.study = study, .n_params = tri_space_n_params(study->space)};
    r->records = calloc((size_t)records + 1, sizeof *r->records);
    r->tried = calloc((size_t)records + 1, sizeof *r->tried);
    if (!r->records || !r->tried ||
        tri_thinker_create(study, 1, NULL, 0, &r->thinker) != TRI_OK) {
        die("thinker");
    }
}

static void run_fini(run *r)
{
    for (int i = 0; i < r->n; i++) {
        free((void *)r->records[i].config);
    }
    tri_thinker_destroy(r->thinker);
    tri_study_destroy(r->study);
    free(r->records);
    free(r->tried);
}

/* In [0, 1]. */
static double share_of(const tri_value *v)
{
    return v->type == TRI_INT ? (double)(v->u.i - 1) / (GRID_VALUES - 1)
                              : v->u.d;
}

static double truth(const tri_config *c, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        double d = share_of(&c[i]) - 0.3 - 0.04 * i;

        sum += d * d / (1 + i);
    }
    return 0.1 + sum + 0.05 * sin(20 * share_of(&c[0]));
}

static void add(run *r, const char *text)
{
    tri_config *c = calloc((size_t)r->n_params, sizeof *c);

    if (!c || tri_space_parse(r->study->space, text, c) != TRI_OK ||
        !tri_space_valid(r->study->space, c, NULL)) {
        die("a proposal is not valid");
    }
    r->tried[r->n] = tri_space_hash(r->study->space, c);
    for (int i = 0; i < r->n; i++) {
        if (r->tried[i] == r->tried[r->n]) {
            die("a proposal is not new");
        }
    }
    r->records[r->n] = (tri_record){.config = c,
                                    .trial = r->n,
                                    .resource = 1,
                                    .objective = truth(c, r->n_params),
                                    .peak_bytes = NAN,
                                    .ranks = 1};
    r->n++;
}

static void add_random(run *r, int n)
{
    tri_rng rng = tri_rng_stream(7, 0, TRI_RNG_TEST);
    tri_config *c = calloc((size_t)r->n_params, sizeof *c);
    char text[4096];

    while (c && n-- > 0) {
        if (tri_space_sample(r->study->space, &rng, c) != TRI_OK) {
            die("sample");
        }
        tri_space_print(r->study->space, c, text, sizeof text);
        add(r, text);
    }
    free(c);
}

/* CPU seconds of an answer. */
static double ask(run *r, int wanted, tri_ev_proposals *out)
{
    tri_snapshot s = {.number = ++r->questions,
                      .wanted = wanted,
                      .n_records = r->n,
                      .records = r->records,
                      .n_tried = r->n,
                      .tried = r->tried,
                      .resource = 1,
                      .base = 1,
                      .max_ranks = 1};
    double start = now_s();

    if (tri_thinker_answer(r->thinker, &s, NULL, out) != TRI_OK ||
        out->n_list != wanted) {
        die("answer");
    }
    return now_s() - start;
}

/* ---- what is measured --------------------------------------------------- */

typedef struct growth { /* ms: a proposal, the longest, each of 16 */
    double mean, longest, each;
} growth;

static growth measure_growth(int records, int params)
{
    int from = records - records / 4; /* most are random, and not timed */
    growth g = {0};
    tri_ev_proposals p;
    run r;

    run_init(&r, make_study("gp", params, "{float: [0.0, 1.0]}"), records);
    add_random(&r, from);
    ask(&r, 1, &p);
    while (r.n < records) {
        double ms = 1e3 * ask(&r, 1, &p);

        g.mean += ms / (records - from);
        g.longest = fmax(ms, g.longest);
        add(&r, p.list[0].config);
    }
    g.each = 1e3 * ask(&r, 16, &p) / 16;
    run_fini(&r);
    return g;
}

/* The mean of a few decisions, after one that is not counted: it enumerates. */
static double measure_million(const char *predictor)
{
    tri_ev_proposals p;
    double sum = 0;
    char domain[64];
    run r;

    snprintf(domain, sizeof domain, "{int: [1, %d]}", GRID_VALUES);
    run_init(&r, make_study(predictor, GRID_PARAMS, domain),
             GRID_RECORDS + DECISIONS);
    add_random(&r, GRID_RECORDS);
    ask(&r, 1, &p);
    for (int i = 0; i < DECISIONS; i++) {
        add(&r, p.list[0].config);
        sum += ask(&r, 1, &p);
    }
    run_fini(&r);
    return 1e3 * sum / DECISIONS;
}

int main(int argc, char **argv)
{
    static const char *const predictors[] = {"gp", "trees", "mlp"};
    int records = argc > 1 ? atoi(argv[1]) : 1000;
    int params = argc > 2 ? atoi(argv[2]) : 10;
    growth g;

    openblas_set_num_threads(1);
    g = measure_growth(records, params);
    printf("{\"records\": %d, \"parameters\": %d, \"ms_a_proposal\": %.2f, "
           "\"ms_longest\": %.1f, \"ms_each_of_16\": %.2f, "
           "\"limit_ms_a_proposal\": 20",
           records, params, g.mean, g.longest, g.each);
    for (int i = 0; i < 3; i++) {
        printf(", \"million_ms_%s\": %.0f", predictors[i],
               measure_million(predictors[i]));
        fflush(stdout);
    }
    printf(", \"limit_million_ms\": 200}\n");
    return 0;
}

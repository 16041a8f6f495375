/*
 * What a proposal costs with a model of many records.
 *
 *   bench_search_proposals [RECORDS [PARAMETERS]]
 *
 * Records of a smooth function grow one by one, as in a study; for each new one
 * the thinker is asked for one proposal, refits of its hyper-parameters
 * included: ms a proposal, over the last quarter of the records.  Then it is
 * asked for 16 at once, and all of a million valid configurations are screened
 * by a model of 100 records.  One thread.  Verified first: each proposal is
 * valid and new.  Times are CPU times.  Prints JSON; limits are those of the
 * project (20 ms, 200 ms).
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

#define SCREENED 1000000

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

/* A space of `n` float parameters: nothing can be enumerated. */
static tri_study *make_study(int n)
{
    char text[4096];
    size_t at;
    tri_study *study;

    at = (size_t)snprintf(text, sizeof text,
                          "study: bench\nmodel: {kind: synthetic}\nsearch: "
                          "{proposer: acquisition, predictor: gp, "
                          "random_share: 0}\nobjective: {minimize: loss}\n"
                          "resource: {unit: steps, min: 1, max: 1}\nspace:\n");
    for (int i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "  p%d: {float: [0.0, 1.0]}\n", i);
    }
    if (tri_study_parse(text, at, "bench.yaml", NULL, NULL, &study) != TRI_OK) {
        die("study");
    }
    return study;
}

static double truth(const tri_config *c, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        double d = c[i].u.d - 0.3 - 0.04 * i;

        sum += d * d / (1 + i);
    }
    return 0.1 + sum + 0.05 * sin(20 * c[0].u.d);
}

typedef struct run {
    tri_study *study;
    tri_thinker *thinker;
    tri_record *records;
    uint64_t *tried;
    int n, n_params;
    int64_t questions;
} run;

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

static double screen_s(run *r, int n)
{
    int w = r->n_params;
    double *x = malloc((size_t)(n * w) * sizeof *x);
    double *y = malloc((size_t)n * sizeof *y);
    float *all = malloc((size_t)SCREENED * (size_t)w * sizeof *all);
    float *mean = malloc(2 * (size_t)SCREENED * sizeof *mean);
    tri_encoding *e;
    tri_samples s = {.n = n, .width = w, .x = x, .y = y};
    tri_model *m;
    tri_rng rng = tri_rng_stream(1, 0, TRI_RNG_TEST);
    double start;

    if (!x || !y || !all || !mean ||
        tri_encoding_create(r->study->space, &e) != TRI_OK) {
        die("screening");
    }
    for (int i = 0; i < n; i++) {
        tri_encode(e, r->records[i].config, x + i * w);
        y[i] = r->records[i].objective;
    }
    for (int64_t i = 0; i < (int64_t)SCREENED * w; i++) {
        all[i] = (float)tri_rng_unit(&rng);
    }
    if (tri_predictor_gp.fit(e, &s, 1, NULL, &m) != TRI_OK) {
        die("fit");
    }
    memset(mean, 0, 2 * (size_t)SCREENED * sizeof *mean);
    start = now_s();
    tri_predictor_gp.screen(m, all, SCREENED, 1, mean, mean + SCREENED);
    start = now_s() - start;
    tri_predictor_gp.destroy(m);
    tri_encoding_destroy(e);
    free(x);
    free(y);
    free(all);
    free(mean);
    return start;
}

int main(int argc, char **argv)
{
    int records = argc > 1 ? atoi(argv[1]) : 1000;
    int params = argc > 2 ? atoi(argv[2]) : 10;
    run r = {.n_params = params};
    tri_rng rng = tri_rng_stream(7, 0, TRI_RNG_TEST);
    tri_config *c = calloc((size_t)params, sizeof *c);
    char text[4096];
    tri_ev_proposals p;
    double sum = 0;
    double most = 0;
    int from = records - records / 4;
    double batch, screened;

    openblas_set_num_threads(1);
    r.study = make_study(params);
    r.records = calloc((size_t)records + 1, sizeof *r.records);
    r.tried = calloc((size_t)records + 1, sizeof *r.tried);
    if (!c || !r.records || !r.tried ||
        tri_thinker_create(r.study, 1, NULL, 0, &r.thinker) != TRI_OK) {
        die("thinker");
    }
    while (r.n < from) { /* most are random: only the last quarter is timed */
        if (tri_space_sample(r.study->space, &rng, c) != TRI_OK) {
            die("sample");
        }
        tri_space_print(r.study->space, c, text, sizeof text);
        add(&r, text);
    }
    ask(&r, 1, &p);
    while (r.n < records) {
        double s = ask(&r, 1, &p);

        sum += s;
        most = s > most ? s : most;
        add(&r, p.list[0].config);
    }
    batch = ask(&r, 16, &p);
    screened = screen_s(&r, 100);
    printf("{\"records\": %d, \"parameters\": %d, \"ms_a_proposal\": %.2f, "
           "\"ms_longest\": %.1f, \"ms_each_of_16\": %.2f, "
           "\"limit_ms_a_proposal\": 20, \"screen_million_ms\": %.0f, "
           "\"limit_screen_ms\": 200}\n",
           records, params, 1e3 * sum / (records - from), 1e3 * most,
           1e3 * batch / 16, 1e3 * screened);
    for (int i = 0; i < r.n; i++) {
        free((void *)r.records[i].config);
    }
    tri_thinker_destroy(r.thinker);
    tri_study_destroy(r.study);
    free(r.records);
    free(r.tried);
    free(c);
    return 0;
}

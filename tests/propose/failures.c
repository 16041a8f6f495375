/*
 * What fails: that it is learned, that it is avoided, and that what is worse
 * than a known failure is not tried.
 */
#include "tests/tri_cmocka.h"

#include "src/propose/think_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 110
#define PARAMS   5
#define SEEDS    2
/* Failures after which nearly all is to run. */
#define FREE 10

/* Five powers of two; what a rank needs is a product of their powers. */
static const char text[] = "study: failures\n"
                           "seed: 9\n"
                           "model: {kind: synthetic}\n"
                           "space:\n"
                           "  dp: {int: [1, 64], log2: true}\n"
                           "  tp: {int: [1, 8], log2: true}\n"
                           "  pp: {int: [1, 16], log2: true}\n"
                           "  micro: {int: [1, 32], log2: true}\n"
                           "  zero: {int: [0, 3]}\n"
                           "objective: {maximize: score}\n"
                           "search: {proposer: acquisition, predictor: gp}\n";

typedef struct story {
    tri_study *study;
    tri_thinker *thinker;
    int n, n_failed;
    int after, failed_after; /* launches once FREE failures were known */
    tri_record records[LAUNCHES];
    uint64_t tried[LAUNCHES];
    tri_config configs[LAUNCHES][PARAMS];
} story;

/* About half of all are above 0. */
static double memory(const tri_config *c)
{
    double dp = log2((double)c[0].u.i);
    double tp = log2((double)c[1].u.i);
    double pp = log2((double)c[2].u.i);
    double micro = log2((double)c[3].u.i);
    double zero = (double)c[4].u.i;

    return 1.2 + micro - tp - 0.8 * pp - 0.25 * zero * (1 + dp / 6);
}

/* More for what needs more, so that the best lies where failures begin. */
static double rate(const tri_config *c)
{
    double dp = log2((double)c[0].u.i);

    return 1000 / (1 + exp(-memory(c))) + 20 * dp - 6 * dp * dp -
           15 * (double)c[4].u.i;
}

static void begin(story *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    assert_int_equal(tri_study_parse(text, strlen(text), "failures", NULL, NULL,
                                     &s->study),
                     TRI_OK);
    assert_int_equal(tri_thinker_create(s->study, seed, NULL, 0, &s->thinker),
                     TRI_OK);
}

static void end(story *s)
{
    tri_thinker_destroy(s->thinker);
    tri_study_destroy(s->study);
}

static void ask(story *s, tri_ev_proposals *out)
{
    tri_snapshot snapshot = {.number = s->n + 1,
                             .wanted = 1,
                             .n_records = s->n,
                             .records = s->records,
                             .n_tried = s->n,
                             .tried = s->tried,
                             .resource = 1,
                             .base = 1,
                             .max_ranks = 1};

    assert_int_equal(tri_thinker_answer(s->thinker, &snapshot, NULL, out),
                     TRI_OK);
}

static void run(story *s, const tri_config *c)
{
    int fails = memory(c) > 0;

    s->tried[s->n] = tri_space_hash(s->study->space, c);
    memmove(s->configs[s->n], c, sizeof s->configs[0]);
    s->records[s->n] = (tri_record){.config = s->configs[s->n],
                                    .trial = s->n,
                                    .resource = 1,
                                    .objective = fails ? NAN : rate(c),
                                    .peak_bytes = NAN,
                                    .failed = fails ? TRI_REASON_OOM_DEVICE
                                                    : TRI_REASON_NONE,
                                    .ranks = 1};
    s->n++;
    if (s->n_failed >= FREE) {
        s->after++;
        s->failed_after += fails;
    }
    s->n_failed += fails;
}

/* Whether c is `bad` but for more micro-batches, and fewer parts. */
static int is_worse(const tri_config *c, const tri_config *bad)
{
    return c[0].u.i == bad[0].u.i && c[1].u.i <= bad[1].u.i &&
           c[2].u.i <= bad[2].u.i && c[3].u.i >= bad[3].u.i &&
           c[4].u.i == bad[4].u.i;
}

static void nearly_all_run_after_ten_failures(void **state)
{
    int after = 0;
    int failed = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        story s;

        begin(&s, seed);
        while (s.n < LAUNCHES) {
            tri_ev_proposals out;
            tri_config c[PARAMS];

            ask(&s, &out);
            assert_int_equal(out.n_list, 1);
            assert_int_equal(
                    tri_space_parse(s.study->space, out.list[0].config, c),
                    TRI_OK);
            run(&s, c);
        }
        print_message("seed %d: %d of %d failed, %d of the %d after the "
                      "tenth\n",
                      (int)seed, s.n_failed, s.n, s.failed_after, s.after);
        after += s.after;
        failed += s.failed_after;
        end(&s);
    }
    assert_true(after > 0);
    assert_true(failed <= 0.05 * after);
}

/* After enough of both no proposal is worse than what failed; and what is
 * believed of those is 0. */
static void what_is_worse_than_a_failure_is_not_tried(void **state)
{
    tri_rng rng = tri_rng_stream(3, 0, TRI_RNG_TEST);
    tri_config c[PARAMS];
    story s;
    int dominated = 0;

    (void)state;
    begin(&s, 7);
    while (s.n < 80) {
        assert_int_equal(tri_space_sample(s.study->space, &rng, c), TRI_OK);
        run(&s, c);
    }
    for (int i = 0; i < 20; i++) {
        tri_ev_proposals out;

        ask(&s, &out);
        assert_int_equal(tri_space_parse(s.study->space, out.list[0].config, c),
                         TRI_OK);
        for (int k = 0; k < s.n; k++) {
            assert_false(s.records[k].failed && is_worse(c, s.configs[k]));
        }
        run(&s, c);
    }
    for (int i = 0; i < 300; i++) {
        tri_belief b;

        assert_int_equal(tri_space_sample(s.study->space, &rng, c), TRI_OK);
        assert_int_equal(tri_thinker_believe(s.thinker, c, 1, &b), TRI_OK);
        if (b.p_feasible <= 0) {
            dominated++;
            assert_true(memory(c) > 0);
        }
    }
    print_message("%d of 300 are known to fail\n", dominated);
    assert_true(dominated > 0);
    end(&s);
}

/* What may be risked, after `n` random launches, each in `order`. */
static double risk_of(const story *s, const int *order)
{
    tri_record records[LAUNCHES];
    tri_snapshot snapshot = {.wanted = 1, .n_records = s->n};
    tri_encoding *e;
    tri_knowledge k;
    tri_labels labels;
    tri_feasibility *f;
    double risk;

    for (int i = 0; i < s->n; i++) {
        records[i] = s->records[order[i]];
    }
    snapshot.records = records;
    assert_int_equal(tri_encoding_create(s->study->space, &e), TRI_OK);
    assert_int_equal(tri_knowledge_init(&k, e, &snapshot, 0, 1), TRI_OK);
    labels = (tri_labels){.n = k.n_labels,
                          .n_own = k.n_own,
                          .x = k.label_x,
                          .failed = k.failed,
                          .peak = k.peak};
    assert_int_equal(tri_feasibility_fit(e, &labels, NULL, &f), TRI_OK);
    assert_int_equal(tri_risk(f, e, &snapshot, 1, &risk), TRI_OK);
    tri_feasibility_destroy(f);
    tri_knowledge_fini(&k);
    tri_encoding_destroy(e);
    return risk;
}

/* A snapshot lists failures after all results: launches after the tenth failure
 * are told by the trials' numbers.  Those that ran pay for a risk. */
static void what_may_be_risked_goes_by_trials(void **state)
{
    tri_rng rng = tri_rng_stream(5, 0, TRI_RNG_TEST);
    tri_config c[PARAMS];
    int in_turn[LAUNCHES], failures_last[LAUNCHES];
    int n = 0;
    story s;

    (void)state;
    begin(&s, 1);
    while (s.n < 90) {
        assert_int_equal(tri_space_sample(s.study->space, &rng, c), TRI_OK);
        if (s.n_failed < FREE || !(memory(c) > 0)) {
            run(&s, c);
        }
    }
    for (int i = 0; i < s.n; i++) {
        in_turn[i] = i;
    }
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < s.n; i++) {
            if ((s.records[i].failed != 0) == kind) {
                failures_last[n++] = i;
            }
        }
    }
    print_message("%d launches, %d after the tenth failure: risk %g and %g\n",
                  s.n, s.after, risk_of(&s, in_turn),
                  risk_of(&s, failures_last));
    assert_true(risk_of(&s, in_turn) > 0.3);
    assert_true(risk_of(&s, in_turn) == risk_of(&s, failures_last));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(nearly_all_run_after_ten_failures),
            cmocka_unit_test(what_is_worse_than_a_failure_is_not_tried),
            cmocka_unit_test(what_may_be_risked_goes_by_trials),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Strategies that make configurations of their own keep to what may be risked:
 * after ten failures nearly all that they launch runs.
 */
#include "trireme/think.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 120
#define PARAMS   4
#define SEEDS    2
#define FREE     10

static const char format[] = "study: caution\n"
                             "seed: 9\n"
                             "model: {kind: synthetic}\n"
                             "space:\n"
                             "  tp: {int: [1, 8], log2: true}\n"
                             "  pp: {int: [1, 64], log2: true}\n"
                             "  micro: {int: [1, 64], log2: true}\n"
                             "  zero: {int: [0, 3]}\n"
                             "objective: {maximize: score}\n"
                             "search: {proposer: %s, predictor: gp}\n";

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
    return log2((double)c[2].u.i) - log2((double)c[0].u.i) -
           0.8 * log2((double)c[1].u.i) - 0.3 * (double)c[3].u.i + 1.2;
}

/* More for what needs more, so that parents lie where failures begin. */
static double rate(const tri_config *c)
{
    return 1000 / (1 + exp(-memory(c))) - 15 * (double)c[3].u.i;
}

static void run(story *s, const char *text)
{
    tri_config *c = s->configs[s->n];
    int fails;

    assert_int_equal(tri_space_parse(s->study->space, text, c), TRI_OK);
    fails = memory(c) > 0;
    s->tried[s->n] = tri_space_hash(s->study->space, c);
    s->records[s->n] = (tri_record){.config = c,
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

static void tell(const char *proposer, uint64_t seed, int *after, int *failed)
{
    char text[1024];
    story *s = calloc(1, sizeof *s);

    assert_non_null(s);
    snprintf(text, sizeof text, format, proposer);
    assert_int_equal(tri_study_parse(text, strlen(text), "caution", NULL, NULL,
                                     &s->study),
                     TRI_OK);
    assert_int_equal(tri_thinker_create(s->study, seed, NULL, 0, &s->thinker),
                     TRI_OK);
    while (s->n < LAUNCHES) {
        tri_snapshot q = {.number = s->n + 1,
                          .wanted = 1,
                          .n_records = s->n,
                          .records = s->records,
                          .n_tried = s->n,
                          .tried = s->tried,
                          .resource = 1,
                          .base = 1,
                          .max_ranks = 1};
        tri_ev_proposals p;

        assert_int_equal(tri_thinker_answer(s->thinker, &q, NULL, &p), TRI_OK);
        assert_int_equal(p.n_list, 1);
        run(s, p.list[0].config);
    }
    print_message("%s, seed %d: %d of %d failed, %d of the %d after the "
                  "tenth\n",
                  proposer, (int)seed, s->n_failed, s->n, s->failed_after,
                  s->after);
    *after += s->after;
    *failed += s->failed_after;
    tri_thinker_destroy(s->thinker);
    tri_study_destroy(s->study);
    free(s);
}

static void nearly_all_run_after_ten_failures(void **state)
{
    static const char *const names[] = {"evolution", "reinforce"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        int after = 0;
        int failed = 0;

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            tell(names[i], seed, &after, &failed);
        }
        assert_true(after > 0);
        assert_true(failed <= 0.05 * after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(nearly_all_run_after_ten_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Whose place is whose: shares hold of what is started, not of what is listed.
 */
#include "trireme/think.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST   128
#define PARAMS 2
#define EARLY  60

typedef struct story {
    tri_study *study;
    tri_thinker *thinker;
    tri_record early[EARLY];
    tri_config early_configs[EARLY][PARAMS];
    tri_warm_records warm;
    int n;
    tri_record records[MOST];
    uint64_t tried[MOST];
    tri_config configs[MOST][PARAMS];
    char rules[MOST][16];
    int64_t number;
} story;

static double cost(const tri_config *c)
{
    double x = (double)c[0].u.i / 63 - 0.7;
    double y = (double)c[1].u.i / 63 - 0.2;

    return x * x + 2 * y * y + 0.3 * sin(9 * x) * sin(7 * y) + 1;
}

static story *begin(const char *search, int n_early)
{
    char text[512];
    story *s = calloc(1, sizeof *s);

    assert_non_null(s);
    snprintf(text, sizeof text,
             "study: turns\n"
             "model: {kind: synthetic}\n"
             "space:\n"
             "  x: {int: [0, 63]}\n"
             "  y: {int: [0, 63]}\n"
             "objective: {minimize: score}\n"
             "search: %s\n",
             search);
    assert_int_equal(
            tri_study_parse(text, strlen(text), "t", NULL, NULL, &s->study),
            TRI_OK);
    for (int i = 0; i < n_early; i++) {
        tri_rng rng = tri_rng_stream(3, (uint64_t)i, TRI_RNG_TEST);
        tri_config *c = s->early_configs[i];

        assert_int_equal(tri_space_sample(s->study->space, &rng, c), TRI_OK);
        s->early[i] = (tri_record){.config = c,
                                   .trial = -1,
                                   .resource = 1,
                                   .objective = cost(c),
                                   .peak_bytes = NAN,
                                   .ranks = 1};
    }
    s->warm = (tri_warm_records){
            .source = "early.h5", .n = n_early, .records = s->early};
    assert_int_equal(
            tri_thinker_create(s->study, 5, &s->warm, n_early > 0, &s->thinker),
            TRI_OK);
    return s;
}

static void end(story *s)
{
    tri_thinker_destroy(s->thinker);
    tri_study_destroy(s->study);
    free(s);
}

static void start(story *s, const tri_proposal *p)
{
    tri_config *c = s->configs[s->n];

    assert_int_equal(tri_space_parse(s->study->space, p->config, c), TRI_OK);
    snprintf(s->rules[s->n], sizeof s->rules[0], "%s", p->rule);
    s->tried[s->n] = tri_space_hash(s->study->space, c);
    s->records[s->n] = (tri_record){.config = c,
                                    .trial = s->n,
                                    .resource = 1,
                                    .objective = cost(c),
                                    .peak_bytes = NAN,
                                    .ranks = 1};
    s->n++;
}

/* `wanted` are proposed each time, of which `starts` are started before the
 * next question; the last `running` have no result yet. */
static void go_on(story *s, int trials, int wanted, int starts, int running)
{
    const tri_config *pending[MOST];

    while (s->n < trials) {
        int n_pending = s->n < running ? s->n : running;
        tri_ev_proposals out;
        tri_snapshot snapshot = {.number = ++s->number,
                                 .wanted = wanted,
                                 .n_records = s->n - n_pending,
                                 .records = s->records,
                                 .n_pending = n_pending,
                                 .pending = pending,
                                 .n_tried = s->n,
                                 .tried = s->tried,
                                 .resource = 1,
                                 .base = 1,
                                 .max_ranks = 1};

        for (int i = 0; i < n_pending; i++) {
            pending[i] = s->records[s->n - n_pending + i].config;
        }
        assert_int_equal(tri_thinker_answer(s->thinker, &snapshot, NULL, &out),
                         TRI_OK);
        assert_int_equal(out.n_list, wanted);
        for (int i = 0; i < starts && s->n < trials; i++) {
            start(s, &out.list[i]);
        }
    }
}

static void go(story *s, int trials, int wanted, int starts)
{
    go_on(s, trials, wanted, starts, 0);
}

static int count(const story *s, const char *rule, int from)
{
    int n = 0;

    for (int i = from; i < s->n; i++) {
        n += strcmp(s->rules[i], rule) == 0;
    }
    return n;
}

static void the_share_of_random_is_kept(void **state)
{
    static const double shares[] = {0, 0.1, 0.5, 1};
    static const int starts[] = {1, 2, 3, 8};

    (void)state;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            char search[80];
            story *s;
            int all, random;

            snprintf(search, sizeof search, "{predictor: gp, random_share: %g}",
                     shares[i]);
            s = begin(search, 0);
            go(s, 56, 8, starts[k]);
            random = count(s, "random", 0);
            all = random + count(s, "ei", 0);
            printf("share %g, %d started of 8: %d of %d random\n", shares[i],
                   starts[k], random, all);
            assert_true(all >= 48);
            assert_true(fabs(random - shares[i] * all) <= 2);
            end(s);
        }
    }
}

/* The first is; then each third, and no two beside each other. */
static void earlier_studies_have_a_third_of_the_first(void **state)
{
    static const int starts[] = {1, 2, 3, 8};

    (void)state;
    for (int k = 0; k < 4; k++) {
        story *s = begin("{predictor: gp}", EARLY);

        go(s, starts[k] < 3 ? 3 : 4, 8, starts[k]);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(strcmp(s->rules[i], "warm") == 0, i % 3 == 0);
        }
        end(s);
    }
}

static double distance(const tri_config *a, const tri_config *b)
{
    return hypot((double)(a[0].u.i - b[0].u.i), (double)(a[1].u.i - b[1].u.i));
}

/* From each other and from the rest, although each is of another answer. */
static void what_is_tried_on_trust_differs(void **state)
{
    story *s = begin("{predictor: gp}", EARLY);

    (void)state;
    go_on(s, 10, 8, 1, 10);
    assert_int_equal(count(s, "warm", 0), 4);
    for (int i = 3; i < s->n; i += 3) {
        assert_string_equal(s->rules[i], "warm");
        for (int k = 0; k < i; k++) {
            assert_true(distance(s->configs[i], s->configs[k]) >= 2);
        }
    }
    end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_share_of_random_is_kept),
            cmocka_unit_test(earlier_studies_have_a_third_of_the_first),
            cmocka_unit_test(what_is_tried_on_trust_differs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

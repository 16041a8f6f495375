/*
 * Odd records: the answers that think.h promises, of every predictor and
 * strategy.
 */
#include "trireme/think.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST   64
#define TRIALS 30
#define PARAMS 5

static const char format[] = "study: odd\n"
                             "model: {kind: synthetic}\n"
                             "space:\n"
                             "  x: {int: [0, 15]}\n"
                             "  kind: {choice: [a, b, c]}\n"
                             "  y: {int: [1, 64], log2: true}\n"
                             "  z: {int: [0, 4], when: kind == b}\n"
                             "  same: 3\n"
                             "objective: {minimize: score}\n"
                             "search: %s\n";

/* All that a user can ask for; the rule that shows it at work. */
static const struct {
    const char *search, *rule, *model;
} searches[] = {
        {"{predictor: gp}", "ei", "gp"},
        {"{predictor: trees}", "ei", "trees"},
        {"{predictor: mlp}", "ei", "mlp"},
        {"{predictor: mlp-squared}", "ei", "mlp-squared"},
        {"auto", "ei", NULL},
        {"{predictor: gp, acquisition: ucb}", "ucb", "gp"},
        {"{predictor: trees, acquisition: thompson}", "thompson", "trees"},
        {"{predictor: gp, acquisition: thompson}", "thompson", "gp"},
        {"{proposer: evolution, predictor: gp}", "evolution", "gp"},
        {"{proposer: reinforce, predictor: gp}", "reinforce", "gp"},
        {"{proposer: reinforce, predictor: trees}", "reinforce", "trees"}};

#define N_SEARCHES (int)(sizeof searches / sizeof searches[0])

typedef struct story {
    tri_study *study;
    tri_thinker *thinker;
    int n;
    tri_record records[MOST];
    uint64_t tried[MOST];
    tri_config configs[MOST][PARAMS];
    int64_t number;
    int64_t top; /* resource to predict at; 0: that of new trials */
    int n_of_rule, n_spread, n_random, n_news;
    char news[2048], hyper[1024], model[32];
} story;

typedef void answer_fn(tri_record *r, int i);

static story *begin(int search)
{
    story *s = calloc(1, sizeof *s);
    char text[1024];

    assert_non_null(s);
    snprintf(text, sizeof text, format, searches[search].search);
    assert_int_equal(
            tri_study_parse(text, strlen(text), "odd", NULL, NULL, &s->study),
            TRI_OK);
    assert_int_equal(tri_thinker_create(s->study, 7, NULL, 0, &s->thinker),
                     TRI_OK);
    return s;
}

static void end(story *s)
{
    tri_thinker_destroy(s->thinker);
    tri_study_destroy(s->study);
    free(s);
}

/* The proposal becomes a trial, of which `answer` says what it measured. */
static void take(story *s, const tri_proposal *p, answer_fn *answer,
                 const char *rule)
{
    tri_record *r = &s->records[s->n];
    tri_config *c = s->configs[s->n];

    assert_int_equal(tri_space_parse(s->study->space, p->config, c), TRI_OK);
    assert_true(tri_space_valid(s->study->space, c, NULL));
    s->tried[s->n] = tri_space_hash(s->study->space, c);
    for (int i = 0; i < s->n; i++) {
        assert_true(s->tried[i] != s->tried[s->n]);
    }
    if (!isnan(p->predicted)) {
        assert_false(isnan(p->lo) || isnan(p->hi));
        assert_true(p->lo <= p->hi);
    }
    if (!isnan(p->p_feasible)) {
        assert_true(p->p_feasible >= 0 && p->p_feasible <= 1);
    }
    s->n_of_rule += strcmp(p->rule, rule) == 0;
    s->n_spread += strcmp(p->rule, "spread") == 0;
    s->n_random += strcmp(p->rule, "random") == 0;
    *r = (tri_record){.config = c,
                      .trial = s->n,
                      .resource = 1,
                      .objective = NAN,
                      .peak_bytes = NAN,
                      .ranks = 1};
    answer(r, s->n++);
}

static void ask(story *s, int wanted, answer_fn *answer, const char *rule)
{
    tri_ev_proposals out;
    tri_snapshot snapshot = {.number = ++s->number,
                             .wanted = wanted,
                             .n_records = s->n,
                             .records = s->records,
                             .n_tried = s->n,
                             .tried = s->tried,
                             .resource = s->top > 0 ? s->top : 1,
                             .base = 1,
                             .max_ranks = 1};

    assert_int_equal(tri_thinker_answer(s->thinker, &snapshot, NULL, &out),
                     TRI_OK);
    assert_int_equal(out.n_list, wanted);
    snprintf(s->hyper, sizeof s->hyper, "%s", out.hyper);
    snprintf(s->model, sizeof s->model, "%s", out.model);
    if (tri_thinker_news(s->thinker)) {
        size_t n = strlen(s->news);

        s->n_news++;
        snprintf(s->news + n, sizeof s->news - n, "%s\n",
                 tri_thinker_news(s->thinker));
    }
    for (int i = 0; i < out.n_list; i++) {
        take(s, &out.list[i], answer, rule);
    }
}

static story *tell(int search, answer_fn *answer)
{
    story *s = begin(search);

    while (s->n < TRIALS) {
        ask(s, 5, answer, searches[search].rule);
    }
    return s;
}

static double smooth(const tri_record *r)
{
    const tri_config *c = r->config;

    return 1 + pow((double)c[0].u.i - 9, 2) / 20 +
           0.3 * fabs(log2((double)c[2].u.i) - 4) +
           (strcmp(c[1].u.word, "b") == 0 ? 0 : 0.7);
}

/* Whether the model is the one that was asked for, or any. */
static void assert_model(const story *s, int search)
{
    if (searches[search].model) {
        assert_string_equal(s->model, searches[search].model);
    } else {
        assert_string_not_equal(s->model, "none");
    }
}

static int is_auto(int search)
{
    return searches[search].model == NULL;
}

static int is_evolution(int search)
{
    return strcmp(searches[search].rule, "evolution") == 0;
}

/* ---- nothing to learn from ---------------------------------------------- */

static void always_five(tri_record *r, int i)
{
    (void)i;
    r->objective = 5;
}

static void all_equal(void **state)
{
    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        story *s = tell(k, always_five);

        assert_string_equal(s->model, "none");
        assert_non_null(strstr(s->hyper, "results are equal"));
        assert_int_equal(s->n_news, 1);
        assert_non_null(strstr(s->news, "results are equal"));
        if (!is_evolution(k)) {
            assert_int_equal(s->n_spread, TRIALS);
        }
        end(s);
    }
}

/* All equal for a while, then not: it is said, and a model leads. */
static void equal_then_not(tri_record *r, int i)
{
    r->objective = i < 9 ? 5 : smooth(r);
}

static void all_equal_at_first(void **state)
{
    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        story *s = tell(k, equal_then_not);

        assert_model(s, k);
        assert_int_equal(s->n_news, is_auto(k) ? 3 : 2);
        assert_non_null(strstr(s->news, "learned from now"));
        assert_true(!is_auto(k) == !strstr(s->news, "predictor auto is "));
        assert_true(is_auto(k) == !strstr(s->news, ", as the study says"));
        assert_true(s->n_of_rule >= 8);
        end(s);
    }
}

static void always_fails(tri_record *r, int i)
{
    (void)i;
    r->failed = 3;
}

static void all_failed(void **state)
{
    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        story *s = tell(k, always_fails);

        assert_string_equal(s->model, "none");
        assert_non_null(strstr(s->hyper, "that ended failed"));
        assert_int_equal(s->n_news, 1);
        assert_non_null(strstr(s->news, "that ended failed"));
        if (!is_evolution(k)) {
            assert_int_equal(s->n_spread, TRIALS);
        }
        end(s);
    }
}

/* No value although they ran; the first is spread out, not random. */
static void not_a_number(tri_record *r, int i)
{
    r->objective = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
}

static void no_finite_value(void **state)
{
    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        story *s = tell(k, not_a_number);

        assert_string_equal(s->model, "none");
        if (!is_evolution(k)) {
            assert_int_equal(s->n_spread, TRIALS);
        }
        end(s);
    }
}

/* Where runs may be stopped early the first are drawn by chance. */
static void first_of_a_ladder(void **state)
{
    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        story *s = begin(k);

        s->top = 9;
        for (int i = 0; i < 2; i++) {
            ask(s, 2, equal_then_not, "");
        }
        assert_string_equal(s->model, "none");
        if (!is_evolution(k)) {
            assert_int_equal(s->n_random, 4);
            assert_non_null(strstr(s->hyper, "drawn at random"));
        }
        end(s);
    }
}

static void one_record(void **state)
{
    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        story *s = begin(k);

        ask(s, 1, equal_then_not, "");
        ask(s, 1, equal_then_not, "");
        assert_string_equal(s->model, "none");
        assert_non_null(strstr(s->hyper, "too few results yet: 1,"));
        assert_int_equal(s->n_news, 0);
        end(s);
    }
}

/* ---- little, or much, to learn from ------------------------------------- */

static void some_not_a_number(tri_record *r, int i)
{
    r->objective = i % 4 == 1   ? NAN
                   : i % 4 == 2 ? (i % 8 == 2 ? INFINITY : -INFINITY)
                                : smooth(r);
}

static void twelve_decades(tri_record *r, int i)
{
    (void)i;
    r->objective = pow(10, 4 * (smooth(r) - 2.5));
}

static void of_both_signs(tri_record *r, int i)
{
    (void)i;
    r->objective = (smooth(r) - 2) * 1e200;
}

static void tiny(tri_record *r, int i)
{
    (void)i;
    r->objective = 1e300 + 1e290 * smooth(r);
}

/* Whatever the scale, the model leads and comes near the best. */
static void any_scale(void **state)
{
    static answer_fn *const answers[] = {some_not_a_number, twelve_decades,
                                         of_both_signs, tiny};

    (void)state;
    for (int a = 0; a < 4; a++) {
        for (int k = 0; k < N_SEARCHES; k++) {
            story *s = tell(k, answers[a]);
            double best = INFINITY;

            for (int i = 0; i < s->n; i++) {
                best = fmin(best, smooth(&s->records[i]));
            }
            printf("%d %s: best %.2f, %d by its rule\n", a, searches[k].search,
                   best, s->n_of_rule);
            assert_model(s, k);
            assert_true(s->n_of_rule >= 10);
            assert_true(best < 2.2); /* of all the median is 4 */
            end(s);
        }
    }
}

/* Nothing but noise: auto says so, and draws half at random. */
static void noise(tri_record *r, int i)
{
    tri_rng rng = tri_rng_stream(3, (uint64_t)i, TRI_RNG_TEST);

    r->objective = tri_rng_normal(&rng);
}

static void no_order(void **state)
{
    story *s = NULL;

    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        if (is_auto(k)) {
            s = tell(k, noise);
        }
    }
    assert_non_null(s);
    while (s->n + 5 <= MOST) {
        ask(s, 5, noise, "ei");
    }
    printf("%s%d of %d at random\n", s->news, s->n_random, s->n);
    assert_non_null(strstr(s->news, "no better than chance"));
    assert_true(s->n_random >= 12);
    end(s);
}

/* ---- records that repeat or do not vary --------------------------------- */

static void answer_of(story *s, tri_ev_proposals *out)
{
    tri_snapshot snapshot = {.number = ++s->number,
                             .wanted = 8,
                             .n_records = s->n,
                             .records = s->records,
                             .n_tried = s->n,
                             .tried = s->tried,
                             .resource = 1,
                             .base = 1,
                             .max_ranks = 1};

    assert_int_equal(tri_thinker_answer(s->thinker, &snapshot, NULL, out),
                     TRI_OK);
    assert_int_equal(out->n_list, 8);
}

/* n records, configuration i is `of(i)`, as assignments. */
static void fill(story *s, int n, void (*of)(int i, char *buf, size_t bytes))
{
    for (int i = 0; i < n; i++) {
        char text[128];
        tri_config *c = s->configs[i];

        of(i, text, sizeof text);
        assert_int_equal(tri_space_parse(s->study->space, text, c), TRI_OK);
        s->tried[i] = tri_space_hash(s->study->space, c);
        s->records[i] = (tri_record){.config = c,
                                     .trial = i,
                                     .resource = 1,
                                     .peak_bytes = NAN,
                                     .ranks = 1};
        s->records[i].objective = smooth(&s->records[i]);
        s->n++;
    }
}

static void six_of_them(int i, char *buf, size_t bytes)
{
    snprintf(buf, bytes, "x=%d kind=a y=8", i % 6);
}

/* Each of six configurations seven times, with results that differ. */
static void duplicates(void **state)
{
    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        story *s = begin(k);
        tri_ev_proposals out;

        fill(s, 42, six_of_them);
        for (int i = 0; i < s->n; i++) {
            s->records[i].objective += 0.01 * (i % 5);
        }
        answer_of(s, &out);
        for (int i = 0; i < out.n_list; i++) {
            assert_false(isnan(out.list[i].predicted));
            assert_true(isfinite(out.list[i].lo) && isfinite(out.list[i].hi));
        }
        end(s);
    }
}

/* One configuration, again and again, with results that contradict. */
static void the_same(int i, char *buf, size_t bytes)
{
    (void)i;
    snprintf(buf, bytes, "x=4 kind=c y=2");
}

static void contradiction(void **state)
{
    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        story *s = begin(k);
        tri_ev_proposals out;

        fill(s, 12, the_same);
        for (int i = 0; i < s->n; i++) {
            s->records[i].objective = i % 2 ? 1 : 1e6;
        }
        answer_of(s, &out);
        end(s);
    }
}

static void word_stays(int i, char *buf, size_t bytes)
{
    snprintf(buf, bytes, "x=%d kind=c y=%d", i % 16, 1 << i % 7);
}

/* A parameter that no record varies: the others are learned of. */
static void never_varies(void **state)
{
    (void)state;
    for (int k = 0; k < N_SEARCHES; k++) {
        story *s = begin(k);
        tri_ev_proposals out;

        fill(s, 30, word_stays);
        answer_of(s, &out);
        assert_string_not_equal(out.model, "none");
        for (int i = 0; i < out.n_list; i++) {
            assert_false(isnan(out.list[i].predicted));
        }
        end(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_equal),
                                       cmocka_unit_test(all_equal_at_first),
                                       cmocka_unit_test(all_failed),
                                       cmocka_unit_test(no_finite_value),
                                       cmocka_unit_test(first_of_a_ladder),
                                       cmocka_unit_test(one_record),
                                       cmocka_unit_test(any_scale),
                                       cmocka_unit_test(duplicates),
                                       cmocka_unit_test(contradiction),
                                       cmocka_unit_test(never_varies),
                                       cmocka_unit_test(no_order)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

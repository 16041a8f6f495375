/*
 * Earlier studies: what helps is used from the first question on, what misleads
 * is found out by a handful of results, and both are said.
 */
#include "trireme/think.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST   64
#define PARAMS 3
#define EARLY  80
#define FILES  3

static const char text[] = "study: transfer\n"
                           "model: {kind: synthetic}\n"
                           "space:\n"
                           "  x: {int: [0, 31]}\n"
                           "  y: {int: [0, 15]}\n"
                           "  kind: {choice: [a, b]}\n"
                           "objective: {maximize: score}\n"
                           "search: {predictor: gp}\n"
                           "memory: 8 GiB\n";

typedef struct early { /* an earlier study */
    tri_record records[EARLY];
    tri_config configs[EARLY][PARAMS];
} early;

typedef struct story {
    tri_study *study;
    tri_thinker *thinker;
    early files[FILES];
    tri_warm_records warm[FILES];
    int n_warm;
    int n, n_warm_rule, n_news;
    tri_record records[MOST];
    uint64_t tried[MOST];
    tri_config configs[MOST][PARAMS];
    int64_t number;
    char hyper[1024], news[1024];
    double memory;
} story;

static double score(const tri_config *c)
{
    double x = ((double)c[0].u.i - 23) / 8;
    double y = ((double)c[1].u.i - 4) / 4;

    return 100 / (1 + x * x + y * y + 0.3 * x * y) *
           (strcmp(c[2].u.word, "b") == 0 ? 1 : 0.8);
}

static story *begin(void)
{
    story *s = calloc(1, sizeof *s);

    assert_non_null(s);
    assert_int_equal(
            tri_study_parse(text, strlen(text), "t", NULL, NULL, &s->study),
            TRI_OK);
    return s;
}

static void end(story *s)
{
    tri_thinker_destroy(s->thinker);
    tri_study_destroy(s->study);
    free(s);
}

/* An earlier study of n random configurations, all at 4 units. */
static early *add_file(story *s, const char *name, int n)
{
    early *f = &s->files[s->n_warm];

    for (int i = 0; i < n; i++) {
        tri_rng rng =
                tri_rng_stream((uint64_t)s->n_warm, (uint64_t)i, TRI_RNG_TEST);
        tri_config *c = f->configs[i];

        assert_int_equal(tri_space_sample(s->study->space, &rng, c), TRI_OK);
        f->records[i] = (tri_record){.config = c,
                                     .trial = -1,
                                     .resource = 4,
                                     .objective = score(c),
                                     .peak_bytes = NAN,
                                     .ranks = 1};
    }
    s->warm[s->n_warm++] =
            (tri_warm_records){.source = name, .n = n, .records = f->records};
    return f;
}

static void take(story *s, const tri_proposal *p)
{
    tri_config *c = s->configs[s->n];

    assert_int_equal(tri_space_parse(s->study->space, p->config, c), TRI_OK);
    s->n_warm_rule += strcmp(p->rule, "warm") == 0;
    s->tried[s->n] = tri_space_hash(s->study->space, c);
    for (int i = 0; i < s->n; i++) {
        assert_true(s->tried[i] != s->tried[s->n]);
    }
    s->records[s->n] = (tri_record){.config = c,
                                    .trial = s->n,
                                    .resource = 16,
                                    .objective = score(c),
                                    .peak_bytes = 1e9,
                                    .ranks = 1};
    s->n++;
}

static void ask(story *s, int wanted)
{
    tri_ev_proposals out;
    tri_snapshot snapshot = {.number = ++s->number,
                             .wanted = wanted,
                             .n_records = s->n,
                             .records = s->records,
                             .n_tried = s->n,
                             .tried = s->tried,
                             .resource = 16,
                             .base = 1,
                             .max_ranks = 1,
                             .memory_bytes = s->memory};

    if (!s->thinker) {
        assert_int_equal(tri_thinker_create(s->study, 5, s->warm, s->n_warm,
                                            &s->thinker),
                         TRI_OK);
    }
    assert_int_equal(tri_thinker_answer(s->thinker, &snapshot, NULL, &out),
                     TRI_OK);
    assert_int_equal(out.n_list, wanted);
    snprintf(s->hyper, sizeof s->hyper, "%s", out.hyper);
    if (tri_thinker_news(s->thinker)) {
        s->n_news++;
        snprintf(s->news, sizeof s->news, "%s", tri_thinker_news(s->thinker));
    }
    for (int i = 0; i < out.n_list; i++) {
        take(s, &out.list[i]);
    }
}

/* Trials, one by one, until one is within 1 % of the best; MOST: none. */
static int trials_to_best(story *s)
{
    while (s->n < MOST) {
        ask(s, 1);
        if (s->records[s->n - 1].objective >= 99) {
            return s->n;
        }
    }
    return MOST;
}

static int without(void)
{
    story *s = begin();
    int n = trials_to_best(s);

    assert_null(strstr(s->hyper, "earlier"));
    end(s);
    return n;
}

static void what_helps_is_used(void **state)
{
    story *s = begin();
    early *f = add_file(s, "old.h5", EARLY);
    int n, alone = without();

    (void)state;
    for (int i = 0; i < EARLY; i++) { /* another machine, another unit */
        f->records[i].objective *= 3e5;
    }
    ask(s, 1);
    assert_int_equal(s->n_warm_rule, 1);
    assert_int_equal(s->n_news, 1);
    assert_non_null(strstr(s->news, "old.h5: 80 results trusted"));
    assert_true(s->records[0].objective > 80);
    n = s->records[0].objective >= 99 ? 1 : trials_to_best(s);
    printf("%d trials, %d without\n", n, alone);
    assert_true(n <= alone / 2);
    while (s->n < 12) {
        ask(s, 1);
    }
    assert_non_null(strstr(s->hyper, "old.h5: used (tau "));
    end(s);
}

/* A first question that is not answered leaves nothing half learned. */
static void a_wish_to_end_is_heard(void **state)
{
    tri_cancel cancel = {0};
    story *s = begin(), *ended = begin();
    tri_ev_proposals out;
    tri_snapshot snapshot = {.number = 1,
                             .wanted = 1,
                             .resource = 16,
                             .base = 1,
                             .max_ranks = 1};

    (void)state;
    add_file(s, "old.h5", EARLY);
    add_file(ended, "old.h5", EARLY);
    assert_int_equal(tri_thinker_create(ended->study, 5, ended->warm, 1,
                                        &ended->thinker),
                     TRI_OK);
    tri_cancel_ask(&cancel);
    assert_int_equal(
            tri_thinker_answer(ended->thinker, &snapshot, &cancel, &out),
            TRI_OK);
    assert_int_equal(out.n_list, 0);
    while (s->n < 8) {
        ask(s, 1);
        ask(ended, 1);
        assert_int_equal(s->tried[s->n - 1], ended->tried[s->n - 1]);
    }
    assert_string_equal(s->hyper, ended->hyper);
    assert_true(s->n_warm_rule > 0);
    end(ended);
    end(s);
}

static void upside_down(story *s)
{
    early *f = add_file(s, "wrong.h5", EARLY);

    for (int i = 0; i < EARLY; i++) {
        f->records[i].objective = 101 - f->records[i].objective;
    }
}

static void what_misleads_is_found_out(void **state)
{
    story *s = begin();
    int n, alone = without();

    (void)state;
    upside_down(s);
    n = trials_to_best(s);
    printf("%d trials, %d without\n", n, alone);
    assert_true(n <= alone + 4);
    assert_true(s->n_warm_rule <= 2);
    assert_non_null(strstr(s->hyper, "wrong.h5: not used (tau -"));
    assert_non_null(strstr(s->hyper, "does not order"));
    end(s);
}

/* Files that contradict each other: the right one is used. */
static void of_two_the_right_one(void **state)
{
    story *s = begin();

    (void)state;
    upside_down(s);
    add_file(s, "right.h5", EARLY);
    while (s->n < 10) {
        ask(s, 1);
    }
    assert_non_null(strstr(s->hyper, "wrong.h5: not used"));
    assert_non_null(strstr(s->hyper, "right.h5: used"));
    end(s);
}

/* A file of noise, once there are results to try it by. */
static void noise_is_of_no_use(void **state)
{
    story *s = begin();
    early *f = add_file(s, "noise.h5", EARLY);
    int used = 0;

    (void)state;
    for (int i = 0; i < EARLY; i++) {
        tri_rng rng = tri_rng_stream(77, (uint64_t)i, TRI_RNG_TEST);

        f->records[i].objective = tri_rng_normal(&rng);
    }
    while (s->n < 40) {
        ask(s, 1);
        used += s->n > 10 && strstr(s->hyper, "noise.h5: used") != NULL;
    }
    printf("used in %d of 30 answers\n", used);
    assert_true(used <= 6);
    end(s);
}

/* No value to learn from: few, all equal, all failed, not finite, none. */
static void nothing_in_it(void **state)
{
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        story *s = begin();
        early *f = add_file(s, "poor.h5", kind == 0 ? 2 : kind == 4 ? 0 : 30);

        for (int i = 0; i < s->warm[0].n; i++) {
            f->records[i].objective = kind == 1   ? 4
                                      : kind == 2 ? NAN
                                      : kind == 3 ? INFINITY
                                                  : score(f->configs[i]);
            f->records[i].failed = kind == 2 ? 3 : 0;
        }
        ask(s, 1);
        assert_int_equal(s->n_warm_rule, 0);
        assert_non_null(strstr(s->news, "poor.h5: not used: "));
        assert_non_null(strstr(s->news, kind == 1 ? "equal" : "too few"));
        assert_true(trials_to_best(s) < 2 * without());
        end(s);
    }
}

/* What failed there is avoided until it runs here. */
static void failures_that_do_not_happen_here(void **state)
{
    story *s = begin();
    early *f = add_file(s, "failed.h5", EARLY);

    (void)state;
    for (int i = 0; i < EARLY; i++) { /* where it is best */
        f->records[i].failed = f->configs[i][0].u.i > 15 ? 3 : 0;
        f->records[i].objective =
                f->records[i].failed ? NAN : f->records[i].objective;
    }
    assert_true(trials_to_best(s) <= without() + 6);
    end(s);
}

/* Peaks of a model that is far larger do not forbid all. */
static void peaks_of_another_model(void **state)
{
    story *s = begin();
    early *f = add_file(s, "large.h5", EARLY);
    int at;

    (void)state;
    s->memory = 8e9;
    for (int i = 0; i < EARLY; i++) {
        f->records[i].peak_bytes = 60e9 + 1e9 * (double)f->configs[i][0].u.i;
    }
    at = trials_to_best(s);
    assert_true(at <= without());
    while (s->n < at + 3) {
        ask(s, 1);
    }
    assert_non_null(strstr(s->hyper, "not its memory peaks"));
    end(s);
}

static void many_at_once(void **state)
{
    story *s = begin();

    (void)state;
    add_file(s, "old.h5", EARLY);
    ask(s, 30);
    assert_int_equal(s->n_warm_rule, 10);
    end(s);
}

static void the_same_again(void **state)
{
    story *a = begin();
    story *b = begin();

    (void)state;
    upside_down(a);
    add_file(a, "right.h5", EARLY);
    upside_down(b);
    add_file(b, "right.h5", EARLY);
    for (int i = 0; i < 8; i++) {
        ask(a, 3);
        ask(b, 3);
        assert_string_equal(a->hyper, b->hyper);
    }
    assert_memory_equal(a->tried, b->tried, (size_t)a->n * sizeof *a->tried);
    end(a);
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_wish_to_end_is_heard),
            cmocka_unit_test(what_helps_is_used),
            cmocka_unit_test(what_misleads_is_found_out),
            cmocka_unit_test(of_two_the_right_one),
            cmocka_unit_test(noise_is_of_no_use),
            cmocka_unit_test(nothing_in_it),
            cmocka_unit_test(failures_that_do_not_happen_here),
            cmocka_unit_test(peaks_of_another_model),
            cmocka_unit_test(many_at_once),
            cmocka_unit_test(the_same_again)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

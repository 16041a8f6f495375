/*
 * Studies whose search is evolution or reinforce: what their thinker answers.
 */
#include "trireme/think.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST   256
#define PARAMS 8

static const char format[] = "study: strategies\n"
                             "seed: 9\n"
                             "model: {kind: synthetic}\n"
                             "space:\n"
                             "  x: {int: [0, 7]}\n"
                             "  kind: {choice: [a, b]}\n"
                             "  y: {int: [0, 4], when: kind == b}\n"
                             "  z: {int: [3, 6]}\n"
                             "constraints: [x + z <= 12]\n"
                             "objective: {%s: score}\n"
                             "search: {proposer: %s, predictor: gp}\n";

typedef struct story {
    tri_study *study;
    tri_thinker *thinker;
    int n;
    tri_record records[MOST];
    uint64_t tried[MOST];
    tri_config configs[MOST][PARAMS];
    int64_t number;
    char rules[MOST][16];
} story;

static void begin(story *s, const char *proposer, const char *sense)
{
    char text[1024];

    memset(s, 0, sizeof *s);
    snprintf(text, sizeof text, format, sense, proposer);
    assert_int_equal(tri_study_parse(text, strlen(text), "strategies", NULL,
                                     NULL, &s->study),
                     TRI_OK);
    assert_true(tri_study_thinks(s->study));
    assert_int_equal(tri_thinker_create(s->study, 4, NULL, 0, &s->thinker),
                     TRI_OK);
}

static void end(story *s)
{
    tri_thinker_destroy(s->thinker);
    tri_study_destroy(s->study);
}

/* Best where x and z are 5 and kind is b with y = 2; x = 0 fails. */
static double cost(const tri_config *c)
{
    double x = (double)c[0].u.i - 5;
    double z = (double)c[3].u.i - 5;
    double y = c[2].type == TRI_INACTIVE ? 4 : fabs((double)c[2].u.i - 2);

    return x * x + y + 0.5 * z * z;
}

static void take(story *s, const tri_proposal *p, double sign)
{
    const tri_space *space = s->study->space;
    tri_config *c = s->configs[s->n];
    uint64_t hash;

    assert_int_equal(tri_space_parse(space, p->config, c), TRI_OK);
    assert_true(tri_space_valid(space, c, NULL));
    hash = tri_space_hash(space, c);
    for (int i = 0; i < s->n; i++) {
        assert_true(s->tried[i] != hash);
    }
    s->tried[s->n] = hash;
    snprintf(s->rules[s->n], sizeof s->rules[0], "%s", p->rule);
    s->records[s->n] = (tri_record){.config = c,
                                    .trial = s->n,
                                    .resource = 1,
                                    .objective = sign * cost(c),
                                    .peak_bytes = NAN,
                                    .ranks = 1};
    if (c[0].u.i == 0) {
        s->records[s->n].objective = NAN;
        s->records[s->n].failed = 3;
    }
    s->n++;
}

/* Ask until `trials` were taken or nothing comes. */
static void go(story *s, int trials, int wanted, double sign)
{
    while (s->n < trials) {
        tri_ev_proposals out;
        tri_snapshot snapshot = {.number = ++s->number,
                                 .wanted = wanted,
                                 .n_records = s->n,
                                 .records = s->records,
                                 .n_tried = s->n,
                                 .tried = s->tried,
                                 .resource = 1,
                                 .base = 1,
                                 .max_ranks = 1};

        assert_int_equal(tri_thinker_answer(s->thinker, &snapshot, NULL, &out),
                         TRI_OK);
        if (out.n_list == 0) {
            break;
        }
        for (int i = 0; i < out.n_list; i++) {
            take(s, &out.list[i], sign);
        }
    }
}

static int count_rule(const story *s, const char *rule)
{
    int n = 0;

    for (int i = 0; i < s->n; i++) {
        n += strcmp(s->rules[i], rule) == 0;
    }
    return n;
}

static double best(const story *s)
{
    double least = INFINITY;

    for (int i = 0; i < s->n; i++) {
        if (!s->records[i].failed) {
            least = fmin(least, cost(s->configs[i]));
        }
    }
    return least;
}

/* Few trials of a few hundred lead to the best, whatever the sense. */
static void each_strategy_leads(void **state)
{
    static const char *const names[] = {"evolution", "reinforce"};
    static const char *const senses[] = {"minimize", "maximize"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        story *s = malloc(sizeof *s);

        begin(s, names[i / 2], senses[i % 2]);
        go(s, 80, 5, i % 2 ? -1 : 1);
        printf("%s, %s: best %.1f\n", names[i / 2], senses[i % 2], best(s));
        assert_true(count_rule(s, names[i / 2]) >= 50);
        assert_true(best(s) <= 1.5);
        end(s);
        free(s);
    }
}

static void the_same_seed_gives_the_same(void **state)
{
    static const char *const names[] = {"evolution", "reinforce"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        story *a = malloc(sizeof *a);
        story *b = malloc(sizeof *b);

        begin(a, names[i], "minimize");
        begin(b, names[i], "minimize");
        go(a, 32, 8, 1);
        go(b, 32, 8, 1);
        assert_int_equal(a->n, b->n);
        assert_memory_equal(a->tried, b->tried,
                            (size_t)a->n * sizeof *a->tried);
        end(a);
        end(b);
        free(a);
        free(b);
    }
}

static void a_small_space_is_exhausted(void **state)
{
    static const char *const names[] = {"evolution", "reinforce"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        story *s = malloc(sizeof *s);

        begin(s, names[i], "minimize");
        assert_true(tri_space_count(s->study->space) < MOST);
        go(s, MOST, 64, 1);
        assert_int_equal(s->n, tri_space_count(s->study->space));
        end(s);
        free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(each_strategy_leads),
            cmocka_unit_test(the_same_seed_gives_the_same),
            cmocka_unit_test(a_small_space_is_exhausted)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The compute thread: questions and answers, a stop in the midst of thought, a
 * thinker that cannot think.
 */
#include "src/net/thinking.h"

#include "mpi_workers/pause.h"
#include "tests/tri_cmocka.h"
#include "trireme/ctl.h"
#include "trireme/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
        "study: t\nmodel: {kind: synthetic}\n"
        "space: {x: {int: [0, 999]}, y: {float: [0, 1]}}\n"
        "objective: {minimize: loss}\nresource: {min: 1, max: 9, eta: 3}\n";

static int n_warnings;

static void note(void *ctx, tri_log_level level, int rank, const char *line)
{
    (void)ctx;
    (void)rank;
    (void)line;
    n_warnings += level == TRI_LOG_WARN;
}

static tri_study *study(void)
{
    tri_study *s = NULL;

    assert_int_equal(
            tri_study_parse(text, strlen(text), "t.yaml", NULL, NULL, &s),
            TRI_OK);
    return s;
}

/* `n` results of a bowl. */
static tri_snapshot *question(const tri_study *s, int64_t number, int n)
{
    tri_snapshot *q = calloc(1, sizeof *q);
    tri_record *records = calloc((size_t)n + 1, sizeof *records);
    uint64_t *tried = calloc((size_t)n + 1, sizeof *tried);
    int n_params = tri_space_n_params(s->space);

    *q = (tri_snapshot){.number = number,
                        .wanted = 4,
                        .n_records = n,
                        .records = records,
                        .n_tried = n,
                        .tried = tried,
                        .resource = 9,
                        .base = 1,
                        .max_ranks = 1};
    for (int i = 0; i < n; i++) {
        tri_rng rng = tri_rng_stream(1, (uint64_t)i, TRI_RNG_TEST);
        tri_config *c = calloc((size_t)n_params, sizeof *c);

        assert_int_equal(tri_space_sample(s->space, &rng, c), TRI_OK);
        tried[i] = tri_space_hash(s->space, c);
        records[i] = (tri_record){.config = c,
                                  .trial = i,
                                  .resource = 9,
                                  .objective = fabs((double)c[0].u.i - 300) +
                                               c[1].u.d,
                                  .peak_bytes = NAN,
                                  .ranks = 1};
    }
    return q;
}

static void wait_for(tri_thinking *t, tri_ev_proposals *out)
{
    for (int i = 0; !tri_thinking_take(t, out); i++) {
        assert_true(i < 60000);
        tri_sleep(0.001);
    }
}

static void questions_and_answers(void **state)
{
    tri_study *s = study();
    tri_thinking *t;
    tri_ev_proposals p;

    (void)state;
    assert_int_equal(tri_thinking_start(s, 1, NULL, 0, &t), TRI_OK);
    assert_int_equal(tri_thinking_take(t, &p), 0); /* nothing was asked */
    for (int i = 1; i <= 5; i++) {
        tri_config c[2];

        tri_thinking_ask(t, question(s, i, 4 * i));
        wait_for(t, &p);
        assert_int_equal(p.snapshot, i);
        assert_true(p.fit_s >= 0);
        assert_int_equal(p.n_list, 4);
        assert_int_equal(tri_space_parse(s->space, p.list[0].config, c),
                         TRI_OK);
        assert_int_equal(tri_thinking_take(t, &p), 0); /* told once */
    }
    assert_true(tri_thinking_stop(t, 60));
    assert_true(tri_thinking_stop(NULL, 0));
    assert_int_equal(tri_thinking_take(NULL, &p), 0);
    tri_study_destroy(s);
}

/* Who sleeps until an answer is there is woken. */
static void answers_ring(void **state)
{
    tri_study *s = study();
    tri_bell_offer offer;
    tri_bell *bell = tri_bell_make(1, &offer);
    tri_thinking *t;
    tri_ev_proposals p;

    (void)state;
    assert_non_null(bell);
    assert_int_equal(tri_thinking_start(s, 1, NULL, 0, &t), TRI_OK);
    tri_thinking_rings(t, bell);
    for (int i = 1; i <= 3; i++) {
        tri_thinking_ask(t, question(s, i, 4));
        while (!tri_bell_wait(bell, 3600)) {
        }
        assert_int_equal(tri_thinking_take(t, &p), 1);
    }
    assert_true(tri_thinking_stop(t, 60));
    tri_bell_close(bell);
    tri_study_destroy(s);
}

/* With nothing asked, with an answer not taken, in the midst of one. */
static void stopped_at_any_time(void **state)
{
    tri_study *s = study();
    tri_thinking *t;

    (void)state;
    for (int i = 0; i < 6; i++) {
        assert_int_equal(tri_thinking_start(s, 1, NULL, 0, &t), TRI_OK);
        if (i > 0) {
            tri_thinking_ask(t, question(s, 1, 60));
            tri_sleep(0.002 * i);
        }
        assert_true(tri_thinking_stop(t, 60));
    }
    tri_study_destroy(s);
}

static void one_that_cannot_think(void **state)
{
    tri_study *s = study();
    tri_thinking *t;
    tri_ev_proposals p;

    (void)state;
    s->search.predictor = "tea leaves";
    n_warnings = 0;
    assert_int_equal(tri_thinking_start(s, 1, NULL, 0, &t), TRI_OK);
    for (int i = 1; i <= 3; i++) {
        tri_thinking_ask(t, question(s, i, 3));
        wait_for(t, &p);
        assert_int_equal(p.snapshot, i);
        assert_int_equal(p.n_list, 0);
        assert_non_null(strstr(p.hyper, "tea leaves"));
    }
    assert_int_equal(n_warnings, 1); /* said once */
    assert_true(tri_thinking_stop(t, 60));
    tri_study_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(questions_and_answers),
                                       cmocka_unit_test(answers_ring),
                                       cmocka_unit_test(stopped_at_any_time),
                                       cmocka_unit_test(one_that_cannot_think)};

    tri_log_setup(note, NULL, TRI_LOG_WARN, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

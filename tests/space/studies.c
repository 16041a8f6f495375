/*
 * The study reader: every key and default of the manual, and units.  What it
 * refuses is in study_errors.c.
 */
#include "tests/tri_cmocka.h"
#include "trireme/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char head[] =
        "study: t\n"
        "model: {kind: gpt, layers: 4, hidden: 128, heads: 4, sequence: 64,"
        " vocab: 256, data: builtin}\n";
static const char tail[] = "objective: {minimize: step_s}\n";

static tri_study *read_ok(const char *text)
{
    tri_study *s = NULL;
    tri_status st =
            tri_study_parse(text, strlen(text), "dir/t.yaml", NULL, NULL, &s);

    if (st != TRI_OK) {
        const tri_error *e = tri_error_last();
        print_error("%d:%d: %s\nin\n%s\n", e->line, e->column, e->sentence,
                    text);
    }
    assert_int_equal(st, TRI_OK);
    return s;
}

static tri_study *read_with(const char *space, const char *more)
{
    char text[8192];

    snprintf(text, sizeof text, "%sspace: %s\n%s%s", head, space, tail, more);
    return read_ok(text);
}

/* The manual's example. */
static const char example[] =
        "study: gpt-laptop\n"
        "seed: 7\n"
        "model: {kind: gpt, layers: 4, hidden: 128, heads: 4, sequence: 64, "
        "vocab: 256, data: builtin}\n"
        "space:\n"
        "  dp: {int: [1, 8]}\n"
        "  tp: {choice: [1, 2, 4]}\n"
        "  pp: {choice: [1, 2, 4]}\n"
        "  micro_batch: {int: [1, 32], log2: true}\n"
        "  zero: {choice: [0, 1, 2, 3]}\n"
        "  schedule: {choice: [gpipe, 1f1b, interleaved], when: pp > 1}\n"
        "  recompute: {choice: [none, selective, full]}\n"
        "  global_batch: 64\n"
        "constraints: [global_batch % (dp * micro_batch) == 0]\n"
        "features: {bubble: (pp - 1) / (global_batch / (dp * micro_batch) + pp "
        "- 1)}\n"
        "ranks: dp * tp * pp\n"
        "objective: {maximize: tokens_per_s, subject_to: [peak_bytes <= 2 "
        "GiB], compare: total}\n"
        "baseline: {dp: 2, tp: 1, pp: 1, micro_batch: 8, zero: 0, recompute: "
        "none}\n"
        "start: []\n"
        "resource: {unit: steps, min: 4, max: 64, eta: 4}\n"
        "scheduler: asha\n"
        "search: auto\n"
        "budget: {trials: 200, runs: 1000, time: 10 min}\n"
        "finals: {top: 3, repeats: 5}\n"
        "measure: {precision: 1 %, min_steps: 5}\n"
        "memory: auto\n"
        "exclusive: none\n"
        "timeouts: {startup: 60 s, progress: auto, grace: 10 s}\n"
        "checkpoints: {policy: auto, dir: ., shared: true, max_bytes: 50 GiB}\n"
        "failures: {max_attempts: 4}\n"
        "optimizer: {lr: 0.001, weight_decay: 0.01, clip: 1.0, betas: [0.9, "
        "0.95]}\n";

static void the_manuals_example(void **state)
{
    tri_study *s = read_ok(example);
    tri_measured m = {100, 2, 0.5, 3, NAN, 1e9, 1e9};
    const char *text = NULL;
    char buf[200];
    double bubble;

    (void)state;
    assert_string_equal(s->name, "gpt-laptop");
    assert_int_equal(s->seed, 7);
    assert_int_equal(s->model.u.gpt.ffn, 512);
    assert_true(s->has_baseline);
    tri_space_print(s->space, s->baseline, buf, sizeof buf);
    assert_string_equal(buf,
                        "dp=2 tp=1 pp=1 micro_batch=8 zero=0 recompute=none");
    assert_int_equal(tri_space_raw(s->space), 8 * 3 * 3 * 6 * 4 * 3 * 3);
    assert_int_equal(tri_space_n_features(s->space), 1);
    assert_string_equal(tri_space_feature_name(s->space, 0), "bubble");
    assert_int_equal(tri_space_feature(s->space, s->baseline, 0, &bubble),
                     TRI_OK);
    assert_true(bubble == 0);
    assert_int_equal(s->objective.n_subject_to, 1);
    assert_true(tri_study_subject_to(s, &m, &text));
    m.peak_bytes = 3e9;
    assert_false(tri_study_subject_to(s, &m, &text));
    assert_string_equal(text, "peak_bytes <= 2 GiB");
    assert_true(tri_study_objective(s, &m, 4) == 100);
    assert_int_equal(s->n_unbuilt, 0);
    assert_int_equal(s->n_notes, 0);
    tri_study_destroy(s);
}

static void defaults(void **state)
{
    tri_study *s = read_with("{dp: {int: [1, 2]}}", "");

    (void)state;
    assert_int_equal(s->seed, 0);
    assert_false(s->has_baseline);
    assert_int_equal(s->n_start, 0);
    assert_int_equal(s->resource.unit, TRI_UNIT_STEPS);
    assert_int_equal(s->resource.min, 4);
    assert_int_equal(s->resource.max, 64);
    assert_int_equal(s->resource.eta, 4);
    assert_int_equal(s->scheduler.kind, TRI_SCHED_ASHA);
    assert_int_equal(s->scheduler.bracket, 0);
    assert_int_equal(s->scheduler.brackets, 1);
    assert_string_equal(s->search.proposer, "auto");
    assert_string_equal(s->search.predictor, "auto");
    assert_true(s->search.random_share == 0.1);
    assert_int_equal(s->budget.trials, 200);
    assert_int_equal(s->budget.runs, 1000);
    assert_true(s->budget.time_s == 600);
    assert_int_equal(s->finals.top, 3);
    assert_int_equal(s->finals.repeats, 5);
    assert_true(s->measure.precision == 0.01);
    assert_int_equal(s->measure.min_steps, 5);
    assert_int_equal(s->memory_bytes, 0);
    assert_string_equal(s->exclusive, "none");
    assert_true(s->timeouts.startup_s == 60 && s->timeouts.progress_s == 0 &&
                s->timeouts.grace_s == 10);
    assert_string_equal(s->checkpoints.policy, "auto");
    assert_string_equal(s->checkpoints.dir, ".");
    assert_true(s->checkpoints.shared);
    assert_true(s->checkpoints.max_bytes == 50ull << 30);
    assert_int_equal(s->failures.max_attempts, 4);
    assert_true(s->optimizer.lr == 0.001 && s->optimizer.weight_decay == 0.01 &&
                s->optimizer.clip == 1 && s->optimizer.beta1 == 0.9 &&
                s->optimizer.beta2 == 0.95);
    tri_study_destroy(s);
}

static void keys_of_the_search(void **state)
{
    tri_study *s = read_with(
            "{dp: {int: [1, 2]}}",
            "resource: {unit: tokens, min: 1000}\n"
            "scheduler: {kind: asha-delayed, bracket: 1, brackets: 2}\n"
            "search: {proposer: quasi, random_share: 25 %}\n"
            "budget: {time: 90s}\nfinals: none\nmemory: 3 GiB\n"
            "measure: {precision: 0.02, min_steps: 9}\n"
            "timeouts: {startup: 2 min, progress: 45}\n"
            "checkpoints: {policy: never, dir: ck, shared: false, max_bytes: 1 "
            "MB}\nfailures: {max_attempts: 2}\n"
            "optimizer: {lr: 1e-4, betas: [0.8, 0.99]}\nseed: 12\n");

    (void)state;
    assert_int_equal(s->resource.unit, TRI_UNIT_TOKENS);
    assert_int_equal(s->resource.min, 1000);
    assert_int_equal(s->resource.max, 0); /* unbounded */
    assert_int_equal(s->scheduler.kind, TRI_SCHED_ASHA_DELAYED);
    assert_int_equal(s->scheduler.bracket, 1);
    assert_int_equal(s->scheduler.brackets, 2);
    assert_string_equal(s->search.proposer, "quasi");
    assert_true(s->search.random_share == 0.25);
    assert_int_equal(s->budget.trials, TRI_UNLIMITED);
    assert_int_equal(s->budget.runs, TRI_UNLIMITED);
    assert_true(s->budget.time_s == 90);
    assert_int_equal(s->finals.top, 0);
    assert_true(s->memory_bytes == 3ull << 30);
    assert_true(s->measure.precision == 0.02 && s->measure.min_steps == 9);
    assert_true(s->timeouts.startup_s == 120 && s->timeouts.progress_s == 45);
    assert_string_equal(s->checkpoints.policy, "never");
    assert_false(s->checkpoints.shared);
    assert_true(s->checkpoints.max_bytes == 1000000);
    assert_int_equal(s->failures.max_attempts, 2);
    assert_true(s->optimizer.lr == 1e-4 && s->optimizer.beta2 == 0.99 &&
                s->optimizer.clip == 1);
    assert_int_equal(s->seed, 12);
    tri_study_destroy(s);
}

static void seconds_have_units(void **state)
{
    tri_study *s = read_with("{dp: {int: [1, 2]}}",
                             "resource: {min: 30 s, unit: seconds, max: 10 "
                             "min}\n");

    (void)state;
    assert_int_equal(s->resource.unit, TRI_UNIT_SECONDS);
    assert_int_equal(s->resource.min, 30);
    assert_int_equal(s->resource.max, 600);
    tri_study_destroy(s);
}

static void domains(void **state)
{
    tri_study *s = read_with(
            "{a: {int: [2, 10], step: 3}, b: {int: [3, 40], log2: true},"
            " c: {choice: [1, 2.5, word, \"3\", true]},"
            " d: {float: [1e-4, 1], log: true}, e: 4 MiB, f: fixed, g: 1.5,"
            " h: {int: [1, 3], when: a > 2}}",
            "");
    const tri_param *p;
    tri_value v;

    (void)state;
    assert_int_equal(tri_space_count(s->space), -1);
    assert_true(isinf(tri_space_raw(s->space)));
    p = tri_space_param(s->space, 0);
    assert_int_equal(p->domain.n_values, 3);
    assert_int_equal(p->domain.values[2].u.i, 8);
    p = tri_space_param(s->space, 1);
    assert_int_equal(p->domain.n_values, 4); /* 4 8 16 32 */
    assert_int_equal(p->domain.values[0].u.i, 4);
    p = tri_space_param(s->space, 2);
    assert_int_equal(p->domain.values[1].type, TRI_REAL);
    assert_int_equal(p->domain.values[2].type, TRI_WORD);
    assert_int_equal(p->domain.values[3].type, TRI_WORD);
    assert_int_equal(p->domain.values[4].type, TRI_BOOL);
    assert_int_equal(tri_space_lookup(s->space, NULL, "bucket", &v), TRI_OK);
    assert_int_equal(v.u.i, 4 << 20); /* the engine's default */
    p = tri_space_param(s->space, 4);
    assert_int_equal(p->domain.kind, TRI_DOMAIN_CONST);
    assert_int_equal(p->domain.values[0].u.i, 4 << 20);
    assert_non_null(tri_space_param(s->space, 7)->when);
    tri_study_destroy(s);
}

static void schedulers(void **state)
{
    tri_study *s = read_with("{dp: {int: [1, 2]}}",
                             "resource: {min: 1, max: 9, eta: 3}\n"
                             "scheduler: {kind: sha, n: 27, bracket: 1}\n");

    (void)state;
    assert_int_equal(s->scheduler.kind, TRI_SCHED_SHA);
    assert_int_equal(s->scheduler.n, 27);
    assert_int_equal(s->scheduler.bracket, 1);
    assert_int_equal(s->scheduler.brackets, 0); /* any number in progress */
    tri_study_destroy(s);
    s = read_with("{dp: {int: [1, 2]}}", "scheduler: {kind: hyperband, "
                                         "brackets: 1}\n");
    assert_int_equal(s->scheduler.kind, TRI_SCHED_HYPERBAND);
    assert_int_equal(s->scheduler.brackets, 1);
    tri_study_destroy(s);
}

static void what_is_not_built_is_said(void **state)
{
    tri_study *s = read_with("{dp: {int: [1, 2]}, threads: {choice: [1, 2]}}",
                             "exclusive: node\n"
                             "search: {proposer: evolution, predictor: gp}\n");
    tri_why why;

    (void)state;
    assert_int_equal(s->n_unbuilt, 0);
    assert_int_equal(s->n_notes, 1);
    assert_string_equal(s->exclusive, "node");
    assert_int_equal(tri_space_count(s->space), 2);
    assert_int_equal(tri_space_why(s->space, "dp=2,threads=2", &why), TRI_OK);
    assert_false(why.valid);
    assert_string_equal(why.rule, "not built yet: threads");
    assert_int_equal(why.line, 0);
    tri_study_destroy(s);
}

static void built_in_rules_by_name(void **state)
{
    static const struct {
        const char *set, *rule;
    } rows[] = {
            {"dp=1,tp=3", "heads % tp"},
            {"pp=8", "layers >= pp"},
            {"dp=3", "global_batch % (dp * micro_batch)"},
            {"zero=1", "zero needs dp > 1"},
            {"zero=2,dp=2,pp=2", "zero >= 2 needs pp = 1"},
            {"virtual=2", "virtual needs pp > 1"},
            {"virtual=2,pp=2", "virtual needs interleaved"},
            {"virtual=3,pp=2,schedule=interleaved", "layers % (pp * virtual)"},
            {"pp=3,schedule=interleaved", "micro-batches % pp"},
            {"sequence_parallel=true", "sequence_parallel needs tp > 1"},
            {"overlap=poke", "overlap needs dp > 1"},
            {"overlap=shm,zero=3,dp=2", "overlap of gradients in parts"},
            {"threads=2", "not built yet: threads"},
            {"gemm=own", "not built yet: gemm"},
    };
    tri_study *s = read_with("{dp: {int: [1, 2]}, global_batch: 16}", "");
    tri_layout l;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(tri_study_layout_parse(s, rows[i].set, &l),
                         TRI_EINFEASIBLE);
        if (!strstr(tri_error_last()->sentence, rows[i].rule)) {
            print_error("%s: %s\n", rows[i].set, tri_error_last()->sentence);
        }
        assert_non_null(strstr(tri_error_last()->sentence, rows[i].rule));
    }
    assert_int_equal(tri_study_layout_parse(s, "dp=2,tp=2 pp=2", &l), TRI_OK);
    assert_int_equal(l.dp * l.tp * l.pp, 8);
    assert_int_equal(l.global_batch, 16);
    assert_int_equal(l.micro_batch, 1);
    assert_int_equal(l.schedule, 1);
    assert_int_equal(l.bucket_bytes, 4 << 20);
    assert_string_equal(l.gemm, "blas");
    assert_int_equal(tri_study_layout_parse(s, "global_batch=12,dp=3", &l),
                     TRI_OK);
    assert_int_equal(l.global_batch, 12);
    assert_int_equal(tri_study_layout_parse(s, "dpp=2", &l), TRI_EUNKNOWN);
    assert_int_equal(tri_study_layout_parse(s, "dp=0", &l), TRI_ERANGE);
    assert_int_equal(tri_study_layout_parse(s, "dp", &l), TRI_EPARSE);
    assert_int_equal(tri_study_layout_parse(s, "dp=1,tp=2 dp=2", &l),
                     TRI_EEXIST);
    assert_int_equal(tri_study_layout_parse(s, "tp=2,micro_batch=2,tp=2", &l),
                     TRI_EEXIST);
    tri_study_destroy(s);
}

static void layouts_of_configurations(void **state)
{
    tri_study *s = read_with("{dp: {int: [1, 2]}, pp: {choice: [1, 2]},"
                             " schedule: {choice: [gpipe], when: pp > 1},"
                             " micro_batch: 2}",
                             "");
    tri_config c[4];
    tri_layout l;

    (void)state;
    assert_int_equal(tri_space_parse(s->space, "dp=2 pp=1", c), TRI_OK);
    assert_int_equal(tri_study_layout(s, c, &l), TRI_OK);
    assert_int_equal(l.schedule, 1);     /* inactive: the default */
    assert_int_equal(l.global_batch, 4); /* the smallest that is allowed */
    assert_int_equal(tri_space_parse(s->space, "dp=2 pp=2", c), TRI_OK);
    assert_int_equal(tri_study_layout(s, c, &l), TRI_OK);
    assert_int_equal(l.schedule, 0);
    tri_study_destroy(s);
}

static void ranks_are_those_of_the_layout(void **state)
{
    tri_study *s = read_with("{dp: {int: [1, 4]}, tp: {choice: [1, 2]}}",
                             "ranks: dp * 2\n");
    int lo, hi;

    (void)state;
    assert_int_equal(tri_space_count(s->space), 4); /* tp is 2 */
    tri_space_rank_range(s->space, &lo, &hi);
    assert_int_equal(lo, 2);
    assert_int_equal(hi, 8);
    tri_study_destroy(s);
}

static void conditions_on_parameters(void **state)
{
    tri_study *s = read_with("{x: {int: [1, 8]}}", "");
    tri_measured m = {NAN, NAN, NAN, 2, NAN, 100, NAN};
    tri_config c = {TRI_INT, {.i = 3}};
    char text[1024];

    (void)state;
    tri_study_destroy(s);
    snprintf(text, sizeof text,
             "%sspace: {x: {int: [1, 8]}}\nobjective: {minimize: loss, "
             "subject_to: [peak_bytes <= x * 40, step_s < 1]}\n",
             head);
    s = read_ok(text);
    assert_int_equal(s->objective.n_subject_to, 2);
    assert_false(tri_study_admits(s, &c, &m, NULL)); /* step_s: unmeasured */
    m.step_s = 0.5;
    assert_true(tri_study_admits(s, &c, &m, NULL));
    c.u.i = 2;
    assert_false(tri_study_admits(s, &c, &m, NULL));
    assert_true(tri_study_subject_to(s, &m, NULL));
    tri_study_destroy(s);
}

static void edits_at_a_resume(void **state)
{
    static const struct {
        const char *space, *more, *frozen;
        int changed;
    } rows[] = {
            {"{dp: {int: [1, 2]}, x: 3}", "", NULL, 0},
            {"{x: 3, dp:   {int: [1, 2]}}", "# a comment\n", NULL, 0},
            {"{dp: {int: [1, 4]}, x: 3}", "", NULL, 1},
            {"{dp: {int: [1, 2]}, x: 3}", "budget: {trials: 3}\n", NULL, 1},
            {"{dp: {int: [1, 2]}, x: 3}", "finals: none\n", NULL, 1},
            {"{dp: {int: [1, 2]}, x: 4}", "", "space.x", 1},
            {"{dp: {int: [1, 2]}}", "", "space.x", 1},
            {"{dp: {int: [1, 2]}, x: 3, y: 2}", "", "space.y", 1},
            {"{dp: {choice: [1, 2]}, x: 3}", "", "space.dp", 1},
            {"{dp: {int: [1, 2], when: x > 2}, x: 3}", "", "space.dp", 1},
            {"{dp: {int: [1, 2]}, x: 3}", "seed: 4\n", "seed", 1},
            {"{dp: {int: [1, 2]}, x: 3}", "resource: {min: 5}\n", "resource",
             1},
    };
    tri_study *a = read_with("{dp: {int: [1, 2]}, x: 3}", ""), *b;
    char text[1024];
    size_t i;
    int changed;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *key;
        b = read_with(rows[i].space, rows[i].more);
        key = tri_study_frozen_difference(a, b, &changed);
        if (rows[i].frozen) {
            assert_non_null(key);
            assert_string_equal(key, rows[i].frozen);
        } else {
            assert_null(key);
        }
        assert_int_equal(changed, rows[i].changed);
        tri_study_destroy(b);
    }
    snprintf(text, sizeof text, "%.*s6%sspace: {dp: {int: [1, 2]}, x: 3}\n%s",
             (int)(strchr(head, '4') - head), head, strchr(head, '4') + 1,
             tail);
    b = read_ok(text);
    assert_string_equal(tri_study_frozen_difference(a, b, &changed),
                        "model.layers");
    tri_study_destroy(b);
    tri_study_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_manuals_example),
            cmocka_unit_test(defaults),
            cmocka_unit_test(keys_of_the_search),
            cmocka_unit_test(seconds_have_units),
            cmocka_unit_test(domains),
            cmocka_unit_test(schedulers),
            cmocka_unit_test(what_is_not_built_is_said),
            cmocka_unit_test(built_in_rules_by_name),
            cmocka_unit_test(layouts_of_configurations),
            cmocka_unit_test(ranks_are_those_of_the_layout),
            cmocka_unit_test(conditions_on_parameters),
            cmocka_unit_test(edits_at_a_resume)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

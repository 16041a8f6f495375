/*
 * A plugin on three ranks, without a controller: every way to end leaves all
 * ranks with the same status, and a group that is usable at once.
 */
#include "mpi_workers/group.h"
#include "mpi_workers/trial_kind.h"
#include "mpi_workers/wait.h"

#include "tests/tri_cmocka.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tri_trial_ops *const ops = &tri_trial_plugin;
static tri_study *study;
static MPI_Comm group;
static int rank, size;
static char warned[256];

static void note_log(void *ctx, tri_log_level level, int r, const char *line)
{
    (void)ctx;
    (void)r;
    if (level <= TRI_LOG_INFO) {
        snprintf(warned, sizeof warned, "%s", line);
    }
}

static void read_study(const char *library, const char *objective)
{
    char text[1024];

    tri_study_destroy(study);
    snprintf(text, sizeof text,
             "study: p\n"
             "model: {kind: plugin, library: %s, options: {o: 1.5}}\n"
             "space:\n"
             "  x: {int: [0, 9]}\n"
             "  way: {choice: [good, echo, open-fails, open-one, dups, talks,"
             " nan, bare, sizeless, backwards, one, code, diverges, comm, ends,"
             " ends-one, ends-late, crashes, open-aborts, strays, far, mute, "
             "saves-not]}\n"
             "objective: {%s}\n"
             "resource: {unit: steps, min: 4}\n",
             library, objective);
    assert_int_equal(
            tri_study_parse(text, strlen(text), "p", NULL, NULL, &study),
            TRI_OK);
}

/* ---- one trial --------------------------------------------------------- */

static tri_trial *open_way(const char *way, const char *checkpoint,
                           int64_t first)
{
    static tri_config config[2];
    char text[64];
    tri_trial_setup setup = {.study = study,
                             .config = config,
                             .comm = group,
                             .run = 5,
                             .resource = 4,
                             .target_step = 5,
                             .warmup_steps = 1,
                             .first_step = first,
                             .checkpoint = checkpoint};
    tri_trial *t = NULL;

    snprintf(text, sizeof text, "x=2 way=%s", way);
    assert_int_equal(tri_space_parse(study->space, text, config), TRI_OK);
    assert_int_equal(ops->open(&setup, &t), TRI_OK);
    assert_non_null(t);
    return t;
}

/* Step to the target, or until something is the matter. */
static tri_status go(tri_trial *t, tri_step *s)
{
    memset(s, 0, sizeof *s);
    while (s->step < 5 && !s->ended && s->word == TRI_WORD_ON) {
        tri_step now;

        TRI_TRY(ops->step(t, TRI_WORD_ON, &now));
        *s = now;
    }
    return TRI_OK;
}

/* All ranks have the same, and the group still works. */
static void expect_same(tri_status st)
{
    int32_t in[2] = {(int32_t)st, -(int32_t)st};
    int32_t out[2];

    assert_int_equal(MPI_Allreduce(in, out, 2, MPI_INT32_T, MPI_MIN, group),
                     MPI_SUCCESS);
    assert_int_equal(out[0], -out[1]);
    assert_int_equal(tri_group_agree(group, TRI_OK, 10), TRI_OK);
}

static void expect_failure(const char *way, tri_status st, tri_reason reason,
                           const char *said)
{
    tri_trial *t = open_way(way, NULL, 0);
    tri_step s;
    tri_status got = go(t, &s);

    if (got != st ||
        (st != TRI_OK && !strstr(tri_error_last()->sentence, said))) {
        print_error("%s: %s: %s\n", way, tri_status_name(got),
                    tri_error_last()->sentence);
    }
    assert_int_equal(got, st);
    assert_non_null(strstr(tri_error_last()->sentence, said));
    assert_int_equal(ops->reason(t), reason);
    ops->close(t);
    expect_same(got);
}

/* ---- tests ------------------------------------------------------------- */

static void a_trial_is_stepped(void **state)
{
    tri_trial *t = open_way("good", NULL, 0);
    tri_step s;

    (void)state;
    for (int64_t i = 1; i <= 5; i++) {
        assert_int_equal(ops->step(t, TRI_WORD_ON, &s), TRI_OK);
        assert_true(s.completed && s.step == i && !s.ended);
        assert_int_equal(s.word, TRI_WORD_ON);
        assert_true(s.samples == 8 && s.tokens == 100);
        assert_true(s.loss == 100.0 / (double)(i + 2));
        assert_true(isnan(s.own)); /* it is not the objective */
        assert_true(s.step_s >= 0 && s.step_s < 10);
        assert_int_equal(s.bytes, 1000 + (uint64_t)size - 1);
        assert_true(s.rss_bytes > 100000);
    }
    ops->retarget(t, 6, 16, 17); /* in place */
    assert_int_equal(ops->step(t, rank == 0 ? TRI_WORD_STOP : 0, &s), TRI_OK);
    assert_true(s.step == 5 && !s.completed); /* no step more */
    assert_int_equal(s.word, TRI_WORD_STOP);
    ops->close(t);
    ops->close(NULL);
    expect_same(TRI_OK);
}

static void every_failure_is_the_trials_own(void **state)
{
    (void)state;
    expect_failure("echo", TRI_EINFEASIBLE, TRI_REASON_INFEASIBLE,
                   "open failed on rank 0: x:i2 way:techo o:r1.5");
    expect_failure("open-fails", TRI_EINFEASIBLE, TRI_REASON_INFEASIBLE,
                   "open failed on rank 0: not with this x");
    expect_failure("open-one", TRI_ETRIAL, TRI_REASON_OOM_DEVICE,
                   "open failed on rank 2: memory of a device");
    expect_failure("one", TRI_ETRIAL, TRI_REASON_BAD_EXIT,
                   "run_until failed on rank 2: trouble ahead");
    expect_failure("code", TRI_ETRIAL, TRI_REASON_BAD_EXIT, "returned 77");
    expect_failure("diverges", TRI_EDIVERGED, TRI_REASON_DIVERGED, "bounds");
    expect_failure("nan", TRI_ENAN, TRI_REASON_NONE, "of step 3 is not");
    expect_failure("mute", TRI_ETRIAL, TRI_REASON_NONE,
                   "without a report of step 1");
    expect_failure("bare", TRI_ETRIAL, TRI_REASON_NONE,
                   "never reported a loss");
    expect_failure("sizeless", TRI_ETRIAL, TRI_REASON_NONE, "struct_bytes 0");
    expect_failure("backwards", TRI_ETRIAL, TRI_REASON_NONE,
                   "step 1 came after a later one");
    expect_failure("ends", TRI_ETRIAL, TRI_REASON_NONE, "after 2 of 4 steps");
    expect_failure("ends-one", TRI_ETRIAL, TRI_REASON_BAD_EXIT,
                   "on some ranks of the trial, not on all");
}

static void what_is_no_failure(void **state)
{
    tri_step s;
    tri_trial *t = open_way("ends-late", NULL, 0);

    (void)state;
    assert_int_equal(go(t, &s), TRI_OK);
    assert_int_equal(s.step, 5);
    assert_int_equal(ops->step(t, TRI_WORD_ON, &s), TRI_OK);
    assert_true(s.ended && !s.completed && s.step == 5);
    ops->close(t);
    t = open_way("far", NULL, 0);
    assert_int_equal(ops->step(t, TRI_WORD_ON, &s), TRI_OK);
    assert_int_equal(s.step, 4);
    ops->close(t);
    for (int i = 0; i < 3; i++) { /* what is not received reaches nobody */
        t = open_way("strays", NULL, 0);
        assert_int_equal(go(t, &s), TRI_OK);
        ops->close(t);
        expect_same(TRI_OK);
    }
    warned[0] = 0;
    t = open_way("talks", NULL, 0);
    assert_non_null(strstr(warned, "the plugin: all is well"));
    ops->close(t);
}

static void forgotten_duplicates_are_counted(void **state)
{
    tri_step s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        tri_trial *t = open_way("dups", NULL, 0);

        warned[0] = 0;
        assert_int_equal(go(t, &s), TRI_OK);
        ops->close(t);
        if (rank == 0) {
            assert_non_null(strstr(warned, "left 2 duplicates"));
        }
    }
    warned[0] = 0;
    ops->close(open_way("good", NULL, 0));
    assert_string_equal(warned, "");
}

static void a_broken_group_is_left_alone(void **state)
{
    tri_trial *t = open_way("comm", NULL, 0);
    tri_step s;

    (void)state;
    assert_int_equal(go(t, &s), TRI_ECOMM);
    assert_int_equal(ops->reason(t), TRI_REASON_RENDEZVOUS);
    ops->close(t); /* waits for nobody */
}

/* Steps that take no time are asked for by the few, but never past the target,
 * and singly while the trial warms up. */
static void short_steps_are_asked_for_together(void **state)
{
    tri_step s = {0};
    tri_trial *t;
    int calls = 0;

    (void)state;
    read_study(TRI_PLUGINS "/ways.so", "minimize: step_s");
    t = open_way("good", NULL, 0);
    ops->retarget(t, 6, 1000, 1001);
    while (s.step < 1001) {
        assert_int_equal(ops->step(t, TRI_WORD_ON, &s), TRI_OK);
        assert_true(s.samples == 8 && s.tokens == 100);
        assert_true(s.step_s >= 0 && s.step_s < 10);
        calls++;
    }
    assert_int_equal(s.step, 1001);
    assert_true(calls < 900 && calls > 1001 / 64);
    ops->close(t);
    expect_same(TRI_OK);
}

static void own_metrics(void **state)
{
    tri_step s;
    tri_trial *t;

    (void)state;
    read_study(TRI_PLUGINS "/ways.so", "maximize: score");
    t = open_way("good", NULL, 0);
    assert_int_equal(go(t, &s), TRI_OK);
    assert_true(rank > 0 || s.own == 2005);
    ops->close(t);
    expect_failure("bare", TRI_ETRIAL, TRI_REASON_NONE, "never reported score");
}

/* ---- checkpoints ------------------------------------------------------- */

static void a_checkpoint_is_gone_on_from(void **state)
{
    char path[] = "/tmp/trireme-plugin-saved-XXXXXX";
    tri_saved saved = {0, 0};
    tri_trial *t = open_way("good", NULL, 0);
    tri_step s;

    (void)state;
    if (rank == 0) {
        int fd = mkstemp(path);

        assert_true(fd >= 0);
        close(fd);
        unlink(path);
    }
    MPI_Bcast(path, (int)sizeof path, MPI_BYTE, 0, group);
    assert_true(ops->saves(study));
    assert_int_equal(go(t, &s), TRI_OK);
    assert_int_equal(ops->save(t, path, 0, &saved), TRI_OK);
    assert_int_equal(saved.step, 5);
    assert_true(rank > 0 || saved.bytes == 2);
    ops->close(t);
    t = open_way("good", path, 5);
    assert_int_equal(ops->step(t, TRI_WORD_ON, &s), TRI_OK);
    assert_int_equal(s.step, 6);
    ops->close(t);
    MPI_Barrier(group);
    unlink(path);
    expect_failure("good", TRI_OK, TRI_REASON_NONE, "");
}

static void a_checkpoint_that_is_none(void **state)
{
    tri_saved saved = {0, 0};
    tri_trial *t = open_way("saves-not", NULL, 0);
    tri_step s;
    tri_status st;

    (void)state;
    assert_int_equal(go(t, &s), TRI_OK);
    st = ops->save(t, "/tmp/trireme-plugin-nothing", 0, &saved);
    assert_int_equal(st, rank == 0 ? TRI_ETRIAL : TRI_OK);
    if (rank == 0) {
        assert_non_null(strstr(tri_error_last()->sentence, "cannot be read"));
    }
    ops->close(t);
    t = open_way("good", NULL, 0);
    assert_int_equal(go(t, &s), TRI_OK);
    assert_int_equal(ops->save(t, "/no/such/folder/x", 0, &saved), TRI_ETRIAL);
    assert_non_null(strstr(tri_error_last()->sentence, "no room for it"));
    ops->close(t);
    read_study(TRI_PLUGINS "/ways_unsaved.so", "minimize: loss");
    assert_false(ops->saves(study));
}

static void a_library_that_cannot_be_loaded(void **state)
{
    (void)state;
    read_study(TRI_PLUGINS "/no_close.so", "minimize: loss");
    expect_failure("good", TRI_EINVAL, TRI_REASON_IMPORT_ERROR,
                   "has no function trireme_trial_close");
}

/* The last one: the process of the last rank is damaged from then on. */
static void a_crash_is_told(void **state)
{
    tri_trial *t;
    tri_step s;
    tri_trial_setup setup = {.study = study, .comm = group};

    (void)state;
    read_study(TRI_PLUGINS "/ways.so", "minimize: loss");
    tri_wait_attend(NULL, NULL);
    t = open_way("crashes", NULL, 0);
    assert_int_equal(go(t, &s), TRI_EPEER);
    assert_non_null(strstr(tri_error_last()->sentence,
                           "crashed in run_until on rank 2: signal 11"));
    assert_int_equal(tri_wait_silent(), size - 1);
    ops->close(t); /* waits for nobody */
    tri_wait_attend(NULL, NULL);
    setup.study = study;
    assert_int_equal(ops->open(&setup, &t), TRI_EPEER);
    assert_non_null(strstr(tri_error_last()->sentence, "is damaged"));
    assert_int_equal(tri_wait_silent(), size - 1);
    expect_same(TRI_EPEER);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_trial_is_stepped),
            cmocka_unit_test(every_failure_is_the_trials_own),
            cmocka_unit_test(what_is_no_failure),
            cmocka_unit_test(forgotten_duplicates_are_counted),
            cmocka_unit_test(a_broken_group_is_left_alone),
            cmocka_unit_test(short_steps_are_asked_for_together),
            cmocka_unit_test(own_metrics),
            cmocka_unit_test(a_checkpoint_is_gone_on_from),
            cmocka_unit_test(a_checkpoint_that_is_none),
            cmocka_unit_test(a_library_that_cannot_be_loaded),
            cmocka_unit_test(a_crash_is_told),
    };
    int provided;
    int failed;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &group);
    MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &size);
    tri_log_setup(note_log, NULL, TRI_LOG_INFO, rank);
    read_study(TRI_PLUGINS "/ways.so", "minimize: loss");
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    tri_study_destroy(study);
    if (failed) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_free(&group);
    MPI_Finalize();
    return failed;
}

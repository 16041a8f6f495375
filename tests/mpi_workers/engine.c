/*
 * The engine as a kind of trial: a study and a layout in, steps out; data
 * that cannot be used is everyone's error with the path in it.
 */
#include "mpi_workers/mesh.h"
#include "mpi_workers/trainer.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static tri_study study_of(const char *data)
{
    return (tri_study){.name = "test",
                       .seed = 7,
                       .path = "/nowhere/study.yaml",
                       .model = {.kind = TRI_MODEL_GPT,
                                 .u.gpt = {.layers = 2,
                                           .hidden = 32,
                                           .heads = 4,
                                           .sequence = 32,
                                           .vocab = 256,
                                           .ffn = 128,
                                           .tied = 1,
                                           .data = data}},
                       .optimizer = {.lr = 0.01,
                                     .weight_decay = 0.01,
                                     .clip = 1,
                                     .beta1 = 0.9,
                                     .beta2 = 0.95}};
}

static tri_trial_setup setup_of(const tri_study *study, int dp, int tp)
{
    return (tri_trial_setup){.study = study,
                             .layout = {.dp = dp,
                                        .tp = tp,
                                        .pp = 1,
                                        .virtual_stages = 1,
                                        .micro_batch = 2,
                                        .global_batch = 8,
                                        .schedule = 1,
                                        .threads = 1},
                             .comm = MPI_COMM_WORLD,
                             .target_step = -1};
}

/* Real text is learned, and both layouts see the same losses. */
static void builtin_text(void **state)
{
    tri_study study = study_of("builtin");
    double losses[2][8];
    int i, k;

    (void)state;
    for (k = 0; k < 2; k++) {
        tri_trial_setup s = setup_of(&study, k ? 1 : 2, k ? 2 : 1);
        tri_trial *t = NULL;
        tri_step step;

        assert_int_equal(tri_trial_engine.open(&s, &t), TRI_OK);
        for (i = 0; i < 8; i++) {
            assert_int_equal(tri_trial_engine.step(t, rank ? 0 : i, &step),
                             TRI_OK);
            assert_int_equal(step.step, i + 1);
            assert_true(step.tokens == 8 * 32);
            assert_int_equal(step.word, i);
            losses[k][i] = step.loss;
        }
        tri_trial_engine.close(t);
    }
    assert_true(fabs(losses[0][0] - log(256)) < 0.3);
    assert_true(losses[0][7] < 0.8 * losses[0][0]);
    for (i = 0; i < 8; i++) {
        assert_true(fabs(losses[0][i] - losses[1][i]) < 1e-3);
    }
    assert_int_equal(tri_trainers_alive() + tri_mesh_alive(), 0);
}

static void missing_file(void **state)
{
    tri_study study = study_of("no-such-text");
    tri_trial_setup s = setup_of(&study, 2, 1);
    tri_trial *t = NULL;

    (void)state;
    assert_int_equal(tri_trial_engine.open(&s, &t), TRI_EDATA);
    assert_non_null(
            strstr(tri_error_last()->sentence, "/nowhere/no-such-text"));
    assert_null(t);
}

/* One sequence needs a byte more than its length. */
static void short_file(void **state)
{
    char path[] = "/tmp/tri-engine-XXXXXX";
    int fd = mkstemp(path);
    tri_study study = study_of(path);
    tri_trial_setup s = setup_of(&study, 2, 1);
    tri_trial *t = NULL;
    char bytes[33];

    (void)state;
    assert_true(fd >= 0);
    memset(bytes, 'a', sizeof bytes);
    assert_int_equal(write(fd, bytes, 32), 32);
    assert_int_equal(tri_trial_engine.open(&s, &t), TRI_EDATA);
    assert_null(t);
    assert_int_equal(write(fd, bytes, 1), 1);
    MPI_Barrier(MPI_COMM_WORLD);
    assert_int_equal(tri_trial_engine.open(&s, &t), TRI_OK);
    tri_trial_engine.close(t);
    close(fd);
    unlink(path);
}

static void texts_that_differ(void **state)
{
    char path[] = "/tmp/tri-engine-XXXXXX";
    int fd = mkstemp(path);
    tri_study study = study_of(path);
    tri_trial_setup s = setup_of(&study, 2, 1);
    tri_trial *t = NULL;
    char bytes[100];

    (void)state;
    assert_true(fd >= 0);
    memset(bytes, rank ? 'a' : 'b', sizeof bytes);
    assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(tri_trial_engine.open(&s, &t), TRI_EDATA);
    assert_non_null(strstr(tri_error_last()->sentence, "not the same"));
    close(fd);
    unlink(path);
}

static void directory_is_no_text(void **state)
{
    tri_study study = study_of("/tmp");
    tri_trial_setup s = setup_of(&study, 2, 1);
    tri_trial *t = NULL;

    (void)state;
    assert_int_equal(tri_trial_engine.open(&s, &t), TRI_EDATA);
    assert_non_null(strstr(tri_error_last()->sentence, "/tmp"));
}

static void over_quota(void **state)
{
    tri_study study = study_of("builtin");
    tri_trial_setup s = setup_of(&study, 2, 1);
    tri_trial *t = NULL;

    (void)state;
    s.quota_bytes = 100000;
    assert_int_equal(tri_trial_engine.open(&s, &t), TRI_EOOM);
    s.quota_bytes = 0;
    assert_int_equal(tri_trial_engine.open(&s, &t), TRI_OK);
    tri_trial_engine.close(t);
    tri_trial_engine.close(NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(builtin_text),
            cmocka_unit_test(missing_file),
            cmocka_unit_test(short_file),
            cmocka_unit_test(texts_that_differ),
            cmocka_unit_test(directory_is_no_text),
            cmocka_unit_test(over_quota),
    };
    int failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed != 0;
}

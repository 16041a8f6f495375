/*
 * Who else has this process's parent, and is alive.  The parent is a process
 * of the test's own, so that nobody else's children count.
 */
#include "mpi_workers/kin.h"
#include "tests/tri_cmocka.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_OTHERS 3

/* Children that wait to be killed. */
static pid_t sleeper(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        for (;;) {
            pause();
        }
    }
    return pid;
}

/* In a child of the test's process that has N_OTHERS siblings. */
static int right(const pid_t *others)
{
    const pid_t stranger = getppid(); /* it has another parent */
    const pid_t none[2] = {0, others[1]};

    return tri_kin_others(NULL, 0) == N_OTHERS &&
           tri_kin_others(others, 1) == N_OTHERS - 1 &&
           tri_kin_others(others, N_OTHERS) == 0 &&
           tri_kin_others(none, 2) == N_OTHERS - 1 &&
           tri_kin_others(&stranger, 1) == -1;
}

static int in_child(int (*is_right)(const pid_t *), const pid_t *others)
{
    pid_t pid = fork();
    int status = 1;

    if (pid == 0) {
        _exit(is_right(others) ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* One of them has ended, and nobody has asked for it. */
static int right_after(const pid_t *others)
{
    return tri_kin_others(NULL, 0) == N_OTHERS - 1 &&
           tri_kin_others(others, N_OTHERS) == 0;
}

static void test_others(void **state)
{
    pid_t others[N_OTHERS];
    siginfo_t info;

    (void)state;
    if (access("/proc/self/task", R_OK) != 0) {
        skip();
    }
    for (int i = 0; i < N_OTHERS; i++) {
        others[i] = sleeper();
        assert_true(others[i] > 0);
    }
    assert_true(in_child(right, others));
    kill(others[2], SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)others[2], &info, WEXITED | WNOWAIT),
                     0);
    assert_true(in_child(right_after, others));
    for (int i = 0; i < N_OTHERS; i++) {
        kill(others[i], SIGKILL);
        assert_int_equal(waitpid(others[i], NULL, 0), others[i]);
    }
}

static void test_expected(void **state)
{
    (void)state;
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    assert_int_equal(tri_kin_expected(), 0);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "5", 1);
    assert_int_equal(tri_kin_expected(), 5);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "-1", 1);
    assert_int_equal(tri_kin_expected(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_others),
            cmocka_unit_test(test_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

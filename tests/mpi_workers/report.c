/*
 * What a user's program says through trireme/report.h is what trireme hears,
 * on the descriptor and on standard output; what it asks has the study's
 * values, or its own defaults outside trireme.
 */
#include "trireme/report.h"

#include "mpi_workers/metrics.h"
#include "tests/tri_cmocka.h"

#include <fcntl.h>

#define MOST_LINES 16

static tri_metric_line lines[MOST_LINES];
static int n_lines;

static void on_line(void *ctx, const tri_metric_line *line)
{
    (void)ctx;
    assert_true(n_lines < MOST_LINES);
    lines[n_lines++] = *line;
}

/* What a trial's process has in its environment, and more. */
static void enter(int fd)
{
    char text[32];
    struct stat found;

    setenv("TRIREME_RUN", "3", 1);
    snprintf(text, sizeof text, "%d", fd);
    setenv("TRIREME_FD", text, 1);
    if (fstat(fd, &found) == 0) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)found.st_ino);
        setenv("TRIREME_FD_INODE", text, 1);
    }
}

static void leave(void)
{
    static const char *const names[] = {
            "RUN",           "FD",          "FD_INODE",   "RESOURCE",
            "RESOURCE_UNIT", "LR",          "RESUME_DIR", "CHECKPOINT_DIR",
            "FAST",          "RESUME_STEP", "BATCH"};
    char name[64];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "TRIREME_%s", names[i]);
        unsetenv(name);
    }
}

static void hear(int fd, tri_stream stream)
{
    static char bytes[65536];
    tri_metrics *m;
    ssize_t n = read(fd, bytes, sizeof bytes);

    n_lines = 0;
    assert_true(n > 0);
    assert_int_equal(tri_metrics_create("f1 \"score\"", &m), TRI_OK);
    tri_metrics_hear(m, stream, bytes, (size_t)n, on_line, NULL);
    assert_int_equal(tri_metrics_garbled(m), 0);
    tri_metrics_destroy(m);
}

static void say_all(void)
{
    char sentence[400];

    memset(sentence, 'x', sizeof sentence - 1);
    sentence[sizeof sentence - 1] = 0;
    memcpy(sentence, "no \"room\"\n\\", 11);
    assert_true(trireme_report(7, "loss", 0.1, "tokens", 4096.0, "f1 \"score\"",
                               1e-300, NULL));
    assert_true(trireme_report(0, "loss", NAN, NULL));
    assert_true(trireme_saved(7));
    assert_true(trireme_failure("oom-device", sentence));
    assert_true(trireme_failure("nan", NULL));
}

static void check_all(void)
{
    assert_int_equal(n_lines, 5);
    assert_true(lines[0].step == 7 && lines[0].loss == 0.1);
    assert_true(lines[0].tokens == 4096 && lines[0].own == 1e-300);
    assert_true(lines[1].step == -1 && lines[1].has_loss);
    assert_true(isnan(lines[1].loss));
    assert_int_equal(lines[2].checkpoint, 7);
    assert_string_equal(lines[3].failure, "oom-device");
    assert_memory_equal(lines[3].sentence, "no \"room\" \\xxx", 14);
    assert_string_equal(lines[4].failure, "nan");
    assert_string_equal(lines[4].sentence, "");
}

static void through_the_descriptor(void **state)
{
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    enter(fds[1]);
    say_all();
    hear(fds[0], TRI_STREAM_FD);
    check_all();
    close(fds[0]);
    close(fds[1]);
    leave();
}

/* A descriptor of that number which is another one is left alone. */
static void through_standard_output(void **state)
{
    int fds[2];
    int other[2];
    int kept = dup(STDOUT_FILENO);
    char byte;

    (void)state;
    fflush(stdout);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(pipe(other), 0);
    dup2(fds[1], STDOUT_FILENO);
    enter(other[1]);
    setenv("TRIREME_FD_INODE", "1", 1);
    printf("half a line ");
    say_all();
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(fds[1]);
    hear(fds[0], TRI_STREAM_OUT);
    check_all();
    close(fds[0]);
    fcntl(other[0], F_SETFL, O_NONBLOCK);
    assert_int_equal(read(other[0], &byte, 1), -1);
    close(other[0]);
    close(other[1]);
    leave();
}

static void outside_nothing_is_said(void **state)
{
    (void)state;
    leave();
    assert_false(trireme_is_active());
    assert_false(trireme_report(1, "loss", 1.0, NULL));
    assert_false(trireme_saved(1));
    assert_true(trireme_real("lr", 0.1) == 0.1);
    assert_int_equal(trireme_last_step(100), 100);
    assert_int_equal(trireme_first_step(), 1);
    assert_null(trireme_checkpoint_dir());
    assert_null(trireme_resume_dir());
    leave();
}

/* As in a line that `best --emit` writes. */
static void values_alone_are_read(void **state)
{
    (void)state;
    leave();
    setenv("TRIREME_LR", "0.5", 1);
    setenv("TRIREME_RESOURCE", "180", 1);
    assert_true(trireme_real("lr", 0.1) == 0.5);
    assert_int_equal(trireme_last_step(100), 180);
    assert_false(trireme_report(1, "loss", 1.0, NULL));
    setenv("TRIREME_RESOURCE_UNIT", "tokens", 1);
    assert_int_equal(trireme_last_step(100), 100);
    leave();
}

static void what_is_asked(void **state)
{
    (void)state;
    enter(1);
    setenv("TRIREME_LR", "1e-05", 1);
    setenv("TRIREME_FAST", "true", 1);
    setenv("TRIREME_BATCH", "", 1); /* inactive */
    setenv("TRIREME_RESOURCE", "23", 1);
    setenv("TRIREME_RESUME_DIR", "/a b", 1);
    setenv("TRIREME_RESUME_STEP", "13", 1);
    setenv("TRIREME_CHECKPOINT_DIR", "/c", 1);
    assert_true(trireme_real("lr", 0.1) == 1e-05);
    assert_int_equal(trireme_int("fast", 0), 1);
    assert_int_equal(trireme_int("batch", 8), 8);
    assert_string_equal(trireme_text("lr", "x"), "1e-05");
    assert_int_equal(trireme_last_step(100), 23);
    assert_int_equal(trireme_first_step(), 14);
    assert_string_equal(trireme_resume_dir(), "/a b");
    assert_string_equal(trireme_checkpoint_dir(), "/c");
    assert_false(trireme_is_stopping());
    raise(SIGTERM);
    assert_true(trireme_is_stopping());
    setenv("TRIREME_RESOURCE_UNIT", "seconds", 1);
    assert_true(trireme_last_step(100) == LONG_MAX);
    leave();
}

/* Many long names: what does not fit is left out, and the line is whole. */
static void long_reports_are_whole(void **state)
{
    char name[3000];
    int fds[2];

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(pipe(fds), 0);
    enter(fds[1]);
    assert_true(trireme_report(9, name, 1.0, name, 2.0, name, 3.0, "loss", 4.0,
                               NULL));
    hear(fds[0], TRI_STREAM_FD);
    assert_true(n_lines == 1 && lines[0].step == 9 && lines[0].loss == 4);
    close(fds[0]);
    close(fds[1]);
    leave();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(through_the_descriptor),
            cmocka_unit_test(through_standard_output),
            cmocka_unit_test(outside_nothing_is_said),
            cmocka_unit_test(values_alone_are_read),
            cmocka_unit_test(what_is_asked),
            cmocka_unit_test(long_reports_are_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

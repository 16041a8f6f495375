/*
 * Signals: USR1 drains, INT ends at once; both resume to an end, and nothing
 * that was recorded is lost.
 */
#include "tests/net/harness.h"

#include "mpi_workers/pause.h"
#include "tests/tri_cmocka.h"

#include <signal.h>
#include <string.h>

static const char study[] =
        "study: drained\nseed: 9\n"
        "model: {kind: synthetic, cost: 0.01}\n"
        "space: {x: {int: [0, 63]}}\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 2, max: 32, eta: 4}\n"
        "search: random\n"
        "budget: {trials: 20}\nfinals: {top: 2, repeats: 2}\n";

typedef struct trigger {
    int signo;
    int sent;
    double sent_s;
    int64_t finished; /* results when it was sent */
} trigger;

static void send_signal(void *ctx, const tri_ctl *ctl)
{
    trigger *t = ctx;
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    if (!t->sent && p.finished >= 6 && p.running > 0) {
        t->sent = 1;
        t->finished = p.finished;
        t->sent_s = tri_now();
        raise(t->signo);
    }
}

static void check_results_kept(const tri_ctl *ctl, const tri_ctl *before)
{
    for (int64_t i = 0; i < tri_ctl_n_runs(before); i++) {
        tri_run_view a;
        tri_run_view b;

        tri_ctl_run(before, i, &a);
        tri_ctl_run(ctl, i, &b);
        assert_int_equal(a.trial, b.trial);
        if (a.status == TRI_RUN_FINISHED && a.state == TRI_RUN_ENDED) {
            assert_int_equal(b.status, TRI_RUN_FINISHED);
            assert_true(a.objective == b.objective);
        }
    }
}

static void finish(tri_tuned *broken)
{
    tri_tuned t = tri_case_tune(study, tri_case_file(), 1, NULL, NULL);
    tri_progress p;

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    tri_ctl_progress(t.ctl, &p);
    assert_int_equal(p.trials, 20);
    assert_int_equal(p.epoch, 2);
    assert_int_equal(p.failed, 0);
    check_results_kept(t.ctl, broken->ctl);
    tri_case_verify(tri_case_file(), 20 * 3);
    tri_tuned_fini(&t);
    tri_tuned_fini(broken);
}

static void usr1_drains(void)
{
    trigger at = {.signo = SIGUSR1};
    tri_tuned t = tri_case_tune(study, tri_case_file(), 0, send_signal, &at);
    tri_progress p;

    assert_int_equal(t.st, TRI_OK);
    assert_true(at.sent);
    assert_int_equal(t.end.status, 3);
    assert_true(t.end.resumable);
    tri_ctl_progress(t.ctl, &p);
    assert_int_equal(p.running, 0);
    assert_true(p.finished >= at.finished);
    finish(&t);
}

static void int_ends_at_once(void)
{
    trigger at = {.signo = SIGINT};
    tri_tuned t = tri_case_tune(study, tri_case_file(), 0, send_signal, &at);

    print_message("left %.3f s after the signal\n", tri_now() - at.sent_s);
    assert_int_equal(t.st, TRI_OK);
    assert_true(at.sent);
    assert_int_equal(t.end.status, 3);
    assert_true(t.end.resumable);
    finish(&t);
}

static void on_signal(int signo)
{
    /* made for it; NOLINTNEXTLINE(bugprone-signal-handler) */
    tri_net_signal(signo);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {
            {"usr1_drains", 2, usr1_drains},
            {"int_ends_at_once", 2, int_ends_at_once},
    };

    signal(SIGUSR1, on_signal);
    signal(SIGINT, on_signal);
    return tri_cases_run(argc, argv, cases, 2);
}

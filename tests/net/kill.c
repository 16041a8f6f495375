/*
 * One worker is killed (-9) at a moment of a study that has others left: its
 * run is done again by them, it alone is struck, nothing fails, and the study
 * ends by itself.  And one that is only stopped for a while is not struck.
 * Runs wait at the gate (gate.h) until they were hit.
 *
 *   kill idle|member|leader|saving|finals|paused|stopped
 *   kill stop20|stop90        with the limits as they are: by hand
 *
 * Needs a launcher that outlives a rank's end, whose status says nothing then.
 */
#include "tests/net/gate.h"
#include "tests/net/harness.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/watchdog.h"
#include "src/net/watch.h"
#include "tests/tri_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int pids[16];
static int victim, other; /* ranks; 0: not yet */
static int64_t hit;       /* the run that was hit, -1: none */

#define ENGINE(n)                                                              \
    "study: killed\nseed: 2\n"                                                 \
    "model: {kind: gpt, layers: 2, hidden: 32, heads: 4, sequence: 32,\n"      \
    "  vocab: 256}\n"                                                          \
    "space: {dp: {choice: [1, 2, 3]}, tp: {choice: [1, 2]},\n"                 \
    "  pp: {choice: [1, 2]}, micro_batch: {choice: [1, 2]},\n"                 \
    "  global_batch: {choice: [12, 24]}}\n"                                    \
    "constraints: [dp * tp * pp == " #n "]\nranks: dp * tp * pp\n"             \
    "objective: {minimize: loss}\n"                                            \
    "resource: {unit: steps, min: 60, max: 60}\n"                              \
    "search: random\n"

static const char engine[] = ENGINE(2) "budget: {trials: 6}\nfinals: none\n";

static const char with_finals[] =
        "study: killed\nseed: 2\n"
        "model: {kind: synthetic, cost: 0.02}\n"
        "space: {x: {int: [0, 63]}}\nranks: 2\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 20, max: 20}\n"
        "search: random\n"
        "budget: {trials: 4}\nfinals: {top: 2, repeats: 2}\n";

/* Three of the four are in use. */
static const char one_idle[] = "study: killed\nseed: 2\n"
                               "model: {kind: synthetic, cost: 0.02}\n"
                               "space: {x: {int: [0, 63]}}\nranks: 3\n"
                               "objective: {minimize: loss}\n"
                               "resource: {unit: steps, min: 20, max: 20}\n"
                               "search: random\n"
                               "budget: {trials: 6}\nfinals: none\n";

/* Saves itself when it is told to, says so, and is not done before a rank was
 * killed. */
static const char saves[] =
        "study: killed\nseed: 2\n"
        "model:\n"
        "  kind: process\n"
        "  shell: true\n"
        "  resume: checkpoint\n"
        "  command:\n"
        "    - |\n"
        "      step=0\n"
        "      [ -n \"$TRIREME_RESUME_DIR\" ] &&\n"
        "        read -r step < $TRIREME_RESUME_DIR/state\n"
        "      while [ $step -lt $TRIREME_RESOURCE ]; do step=$((step+1))\n"
        "        echo \"{{\\\"step\\\": $step, \\\"loss\\\": {x}}}\"\n"
        "        sleep 0.05; done\n"
        "      if [ {rank} = 0 ]; then\n"
        "        touch {study_dir}/saving.{run}; n=0\n"
        "        until [ -e {study_dir}/struck ] || [ $n = 400 ]; do\n"
        "          n=$((n+1)); sleep 0.05; done; sleep 0.5\n"
        "        echo $step > $TRIREME_CHECKPOINT_DIR/state; fi\n"
        "space: {x: {int: [0, 63]}}\nranks: 2\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 2, max: 8, eta: 4}\n"
        "search: random\n"
        "budget: {trials: 6}\nfinals: none\n"
        "timeouts: {startup: 20 s, grace: 2 s}\n"
        "checkpoints: {dir: kept}\n";

/* ---- when --------------------------------------------------------------- */

static int is_at_work(const tri_run_view *v, tri_phase phase)
{
    return v->state == TRI_RUN_RUNNING && v->phase == phase && v->reports > 1 &&
           v->n_ranks > 1;
}

/* A run at work in `phase`; -1: none. */
static int64_t at_work(const tri_ctl *ctl, tri_phase phase)
{
    for (int64_t i = tri_ctl_n_runs(ctl) - 1; i >= 0; i--) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        if (is_at_work(&v, phase)) {
            return i;
        }
    }
    return -1;
}

/* Where the study's file is. */
static void beside(const char *name, int run, char *path, size_t bytes)
{
    const char *file = tri_case_file();
    int n = (int)(strrchr(file, '/') + 1 - file);

    snprintf(path, bytes, run < 0 ? "%.*s%s" : "%.*s%s.%d", n, file, name, run);
}

static int member_of(const tri_ctl *ctl, int64_t run, int at)
{
    tri_run_view v;

    tri_ctl_run(ctl, run, &v);
    return v.ranks[at < 0 ? v.n_ranks - 1 : at];
}

static int idle_rank(const tri_ctl *ctl)
{
    for (int i = 0; i < tri_ctl_n_ranks(ctl); i++) {
        tri_rank_view r;

        tri_ctl_rank(ctl, i, &r);
        if (r.run < 0 && r.state == TRI_RANK_UP) {
            return r.rank;
        }
    }
    return 0;
}

static void end_member(const tri_ctl *ctl, tri_phase phase, int at)
{
    hit = at_work(ctl, phase);
    if (hit >= 0) {
        victim = member_of(ctl, hit, at);
        kill(pids[victim], SIGKILL);
        tri_gate_open();
    }
}

static void end_idle(void *ctx, const tri_ctl *ctl)
{
    (void)ctx;
    if (!victim && at_work(ctl, TRI_PHASE_SEARCH) >= 0 && idle_rank(ctl)) {
        victim = idle_rank(ctl);
        kill(pids[victim], SIGKILL);
        tri_gate_open();
    }
}

static void end_in_training(void *ctx, const tri_ctl *ctl)
{
    if (!victim) {
        end_member(ctl, TRI_PHASE_SEARCH, *(const int *)ctx);
    }
}

static void end_in_finals(void *ctx, const tri_ctl *ctl)
{
    (void)ctx;
    if (!victim) {
        end_member(ctl, TRI_PHASE_FINALS, -1);
    }
}

/* The process that saves itself waits for a file. */
static void say_struck(void)
{
    char path[200];
    FILE *f;

    beside("struck", -1, path, sizeof path);
    f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void end_saving(void *ctx, const tri_ctl *ctl)
{
    (void)ctx;
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl) && !victim; i++) {
        char path[200];

        beside("saving", (int)i, path, sizeof path);
        if (access(path, F_OK) == 0) {
            hit = i;
            victim = member_of(ctl, i, -1);
            kill(pids[victim], SIGKILL);
            say_struck();
        }
    }
}

typedef struct pausing {
    double s;
    int also_idle;
} pausing;

/* Stop one in training for a while and, if asked to, one that is idle. */
static void stop(void *ctx, const tri_ctl *ctl)
{
    const pausing *p = ctx;

    if (victim) {
        return;
    }
    hit = at_work(ctl, TRI_PHASE_SEARCH);
    if (hit < 0 || (p->also_idle && !idle_rank(ctl))) {
        return;
    }
    victim = member_of(ctl, hit, -1);
    other = p->also_idle ? idle_rank(ctl) : 0;
    kill(pids[victim], SIGSTOP);
    if (other) {
        kill(pids[other], SIGSTOP);
    }
    tri_gate_open();
    if (fork() == 0) {
        tri_sleep(p->s);
        kill(pids[victim], SIGCONT);
        if (other) {
            kill(pids[other], SIGCONT);
        }
        _exit(0);
    }
}

/* ---- then ---------------------------------------------------------------- */

/* All is measured, nothing failed; returns how many runs were lost, each with
 * the victim to blame. */
static int check(const tri_tuned *t, int trials)
{
    tri_progress p;
    int n = 0;

    assert_int_equal(t->st, TRI_OK);
    assert_true(victim > 0);
    assert_int_equal(t->end.status, 0);
    tri_ctl_progress(t->ctl, &p);
    assert_int_equal(p.trials, trials);
    assert_int_equal(p.failed, 0);
    for (int64_t i = 0; i < tri_ctl_n_runs(t->ctl); i++) {
        tri_run_view v;

        tri_ctl_run(t->ctl, i, &v);
        if (v.status == TRI_RUN_LOST) {
            n++;
            assert_int_equal(v.reason, TRI_REASON_RANK_LOST);
            assert_int_equal(v.outcome.lost_rank, victim);
            assert_int_equal(i, hit);
        } else {
            assert_int_equal(v.status, TRI_RUN_FINISHED);
        }
    }
    return n;
}

static void check_struck(const tri_ctl *ctl, int rank)
{
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    assert_int_equal(p.ranks_lost, rank > 0);
    assert_int_equal(p.ranks_struck, 0);
    for (int i = 0; i < tri_ctl_n_ranks(ctl); i++) {
        tri_rank_view r;

        tri_ctl_rank(ctl, i, &r);
        assert_int_equal(r.state != TRI_RANK_UP, r.rank == rank);
    }
}

/* `holds`: the phase whose runs wait for the kill, -1: none. */
static void run_killed(const char *text, int holds, int trials, int lost,
                       void (*view)(void *, const tri_ctl *), void *ctx)
{
    double start = tri_now();
    tri_tuned t;

    hit = -1;
    tri_gate_close(holds);
    t = tri_case_tune(text, tri_case_file(), 0, view, ctx);
    assert_true(t.end.must_exit);
    assert_int_equal(check(&t, trials), lost);
    check_struck(t.ctl, victim);
    print_message("rank %d of run %d killed; ended after %.1f s\n", victim,
                  (int)hit, tri_now() - start);
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), trials);
}

static void idle(void)
{
    run_killed(one_idle, TRI_PHASE_SEARCH, 6, 0, end_idle, NULL);
}

static void member(void)
{
    int at = -1;

    run_killed(engine, TRI_PHASE_SEARCH, 6, 1, end_in_training, &at);
}

static void leader(void)
{
    int at = 0;

    run_killed(engine, TRI_PHASE_SEARCH, 6, 1, end_in_training, &at);
}

static void saving(void)
{
    run_killed(saves, -1, 6, 0, end_saving, NULL); /* its result stands */
}

static void finals(void)
{
    run_killed(with_finals, TRI_PHASE_FINALS, 4, 1, end_in_finals, NULL);
}

#define LIMITS(progress)                                                       \
    "timeouts: {startup: 60 s, progress: " progress "}\n"                      \
    "budget: {trials: 4}\nfinals: none\n"

/* One in training, and one that is idle beside it. */
static void stop_for(double s, int struck)
{
    pausing both = {s, 1};
    tri_tuned t;

    hit = -1;
    tri_gate_close(TRI_PHASE_SEARCH);
    t = tri_case_tune(ENGINE(3) LIMITS("30 s"), tri_case_file(), 0, stop,
                      &both);
    assert_int_equal(check(&t, 4), 0);
    assert_int_equal(t.end.must_exit, struck);
    check_struck(t.ctl, struck ? other : -1);
    while (waitpid(-1, NULL, 0) > 0) {
    }
    tri_tuned_fini(&t);
}

/* Shorter than anybody is judged by. */
static void paused(void)
{
    stop_for(5, 0);
}

/* Longer than an idle rank may be silent (15 s, here 3), shorter than a run may
 * make no progress. */
static void stopped(void)
{
    tri_watch_silent_s = 3;
    stop_for(7, 1);
}

/* The same by the limits as they are.  By hand: the idle one was lost after
 * 15 s, the other's run went on, and the study ended 2 s after it could. */
static void stop20(void)
{
    stop_for(20, 1);
}

/* Longer than a run may make no progress: it is done by others.  By hand:
 * struck some 40 s after it was stopped, the study ended 3 s later, and the
 * rank left by itself when it was woken. */
static void stop90(void)
{
    double start = tri_now();
    pausing one = {90, 0};
    tri_tuned t;

    hit = -1;
    tri_gate_close(TRI_PHASE_SEARCH);
    t = tri_case_tune(ENGINE(2) LIMITS("auto"), tri_case_file(), 0, stop, &one);
    print_message("rank %d stopped; ended after %.1f s\n", victim,
                  tri_now() - start);
    assert_int_equal(check(&t, 4), 1);
    assert_true(t.end.must_exit);
    for (int i = 0; i < tri_ctl_n_ranks(t.ctl); i++) {
        tri_rank_view r;

        tri_ctl_rank(t.ctl, i, &r);
        assert_int_equal(r.state != TRI_RANK_UP, r.rank == victim);
    }
    kill(pids[victim], SIGCONT);
    tri_tuned_fini(&t);
}

static const tri_case cases[] = {
        {"idle", 1, idle},       {"member", 1, member}, {"leader", 1, leader},
        {"saving", 1, saving},   {"finals", 1, finals}, {"paused", 1, paused},
        {"stopped", 1, stopped}, {"stop20", 1, stop20}, {"stop90", 1, stop90},
};

/* As src/app does. */
static void leave(void)
{
    _exit(0);
}

int main(int argc, char **argv)
{
    int provided;
    int pid = getpid();

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (tri_watchdog_open(leave) != TRI_OK || tri_gate_init() != TRI_OK) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            return tri_cases_run(argc, argv, &cases[i], 1);
        }
    }
    fprintf(stderr, "usage: kill PHASE\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

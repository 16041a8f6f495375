/*
 * Checkpoints of process trials: what a promoted, a continued and an
 * interrupted run go on from, what is not gone on from, and what is removed.
 * The trainer keeps a file of every step that it really did.
 */
#include "tests/net/harness.h"

#include "mpi_workers/checkpoint_dir.h"
#include "tests/tri_cmocka.h"

#include <dirent.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A step adds x to the loss, which is what is saved.  How it saves:
 *   end     at its last step, and at TERM
 *   line    every tenth step, and says so
 *   never   not at all
 *   again   as at the end, but it never goes on from anything
 *   half    begins to, and is killed by it
 *   whole   at its last step; it does not heed TERM
 *   torn    as at the end, but what cannot be read: it fails with it
 *   late    at TERM, after forty steps more
 */
static const char trainer[] =
        "  kind: process\n"
        "  shell: true\n"
        "  resume: checkpoint\n"
        "  env: {MARK: trireme-net-checkpoint}\n"
        "  command:\n"
        "    - |\n"
        "      save() {{ echo $step $loss > $TRIREME_CHECKPOINT_DIR/state; }}\n"
        "      one() {{ step=$((step+1)); loss=$((loss+{x}))\n"
        "        echo $step >> {study_dir}/steps.{trial}\n"
        "        echo \"{{\\\"step\\\": $step, \\\"loss\\\": $loss,\"\\\n"
        "          \"\\\"samples\\\": 10}}\"; }}\n"
        "      stop() {{ [ {how} = whole ] && return\n"
        "        [ {how} = half ] && {{ save; kill -9 $$; }}\n"
        "        [ {how} = late ] && {{ to=$((step+40))\n"
        "          while [ $step -lt $to ]; do one; done; save; }}\n"
        "        [ {how} = end ] && save; exit 0; }}\n"
        "      trap stop TERM\n"
        "      step=0; loss=0\n"
        "      [ -n \"$TRIREME_RESUME_DIR\" -a {how} != again ] &&\n"
        "        read -r step loss < $TRIREME_RESUME_DIR/state\n"
        "      echo from {run} {attempt} {rank} $step $TRIREME_RESUME_STEP \\\n"
        "        >> {study_dir}/steps.{trial}\n"
        "      [ {how} = torn -a -n \"$TRIREME_RESUME_DIR\" ] && exit 3\n"
        "      while [ $step -lt $TRIREME_RESOURCE ]; do\n"
        "        one\n"
        "        if [ {how} = line -a $((step%10)) = 0 ]; then save\n"
        "          echo \"{{\\\"checkpoint\\\": $step}}\"; fi\n"
        "        sleep 0.0{nap}\n"
        "      done\n"
        "      case {how} in end|again|whole|torn) save ;; esac\n"
        "      [ {how} = half ] && {{ save; exit 3; }}\n"
        "      [ {how} = line ] && sleep 1000\n"
        "      exit 0\n";

static const char rest[] = "objective: {minimize: loss}\n"
                           "search: random\n"
                           "timeouts: {startup: 20 s, grace: 2 s}\n"
                           "checkpoints: {dir: kept}\n";

static tri_tuned tune(const char *head, int resume,
                      void (*view)(void *, const tri_ctl *), void *ctx)
{
    char text[6000];

    snprintf(text, sizeof text, "%smodel:\n%s%s", head, trainer, rest);
    return tri_case_tune(text, tri_case_file(), resume, view, ctx);
}

/* ---- what is found in the case's folder --------------------------------- */

static const char *in_folder(const char *name)
{
    static char path[400];
    char file[200];

    snprintf(file, sizeof file, "%s", tri_case_file());
    snprintf(path, sizeof path, "%s/%s", dirname(file), name);
    return path;
}

/* How many names in the folder of checkpoints end as `end` does. */
static int n_kept(const char *end)
{
    DIR *d = opendir(in_folder("kept"));
    const struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d))) {
        size_t bytes = strlen(e->d_name);

        n += bytes >= strlen(end) &&
             strcmp(e->d_name + bytes - strlen(end), end) == 0;
    }
    if (d) {
        closedir(d);
    }
    return n;
}

typedef struct start { /* a line "from" of a trial's file */
    int run, attempt, rank, step, told;
} start;

/* The starts of a trial's processes, and how many steps they did in all. */
static int starts_of(int64_t trial, start *list, int most, int *n_steps)
{
    char name[64];
    char line[100];
    FILE *f;
    int n = 0;

    *n_steps = 0;
    snprintf(name, sizeof name, "steps.%d", (int)trial);
    f = fopen(in_folder(name), "r");
    while (f && fgets(line, sizeof line, f)) {
        start *s = &list[n];

        if (n < most &&
            sscanf(line, "from %d %d %d %d %d", &s->run, &s->attempt, &s->rank,
                   &s->step, &s->told) == 5) {
            print_message("trial %d: %s", (int)trial, line);
            n++;
        } else {
            ++*n_steps;
        }
    }
    if (f) {
        fclose(f);
    }
    return n;
}

static int64_t highest_rung(const tri_ctl *ctl, int rung)
{
    tri_trial_view t;

    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_ctl_trial(ctl, i, &t);
        if (t.top_rung == rung) {
            return i;
        }
    }
    return -1;
}

/* The results are those of one long run. */
static void check_results(const tri_ctl *ctl)
{
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;
        tri_trial_view t;
        tri_value x;
        int64_t last;

        tri_ctl_run(ctl, i, &r);
        tri_ctl_trial(ctl, r.trial, &t);
        assert_int_equal(
                tri_space_lookup(tri_ctl_study(ctl)->space, t.config, "x", &x),
                TRI_OK);
        last = r.outcome.steps_done;
        if (r.status == TRI_RUN_FINISHED) {
            int64_t tenth = (r.resource + 9) / 10;
            double mean = (double)last - (double)(tenth - 1) / 2;

            assert_int_equal(last, r.resource + 3);
            assert_true(r.objective == mean * (double)x.u.i);
        }
    }
}

/* Every trial did each of its steps once, though its runs were several. */
static void check_steps_once(const tri_ctl *ctl)
{
    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_trial_view t;
        start list[8] = {0};
        int n_steps;

        tri_ctl_trial(ctl, i, &t);
        starts_of(i, list, 8, &n_steps);
        assert_int_equal(n_steps, t.top_rung == 2   ? 83
                                  : t.top_rung == 1 ? 43
                                                    : 23);
    }
}

/* ---- cases -------------------------------------------------------------- */

/* Rungs of 20, 40 and 80 steps.  Promoted in place or not, nothing is done
 * twice, and nothing is left at the end. */
static void promotion_goes_on(void)
{
    tri_tuned t = tune("study: promoted\nseed: 5\n"
                       "space: {x: {int: [1, 8]}, how: end, nap: 1}\n"
                       "resource: {unit: steps, min: 20, max: 80, eta: 2}\n"
                       "budget: {trials: 6}\nfinals: none\n",
                       0, NULL, NULL);

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_true(highest_rung(t.ctl, 2) >= 0);
    check_results(t.ctl);
    check_steps_once(t.ctl);
    assert_int_equal(n_kept(".ckpt"), 0);
    assert_int_equal(n_kept(""), 2); /* . and .. */
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), 6 * 3);
}

/* What lines say counts, though the process never ends: 20 of 23 steps. */
static void lines_say_what_is_saved(void)
{
    tri_tuned t = tune("study: said\nseed: 5\n"
                       "space: {x: {int: [1, 8]}, how: line, nap: 1}\n"
                       "resource: {unit: steps, min: 20, max: 40, eta: 2}\n"
                       "budget: {trials: 2}\nfinals: none\n",
                       0, NULL, NULL);
    start list[8] = {0};
    int n_steps;
    int64_t best = highest_rung(t.ctl, 1);

    assert_int_equal(t.st, TRI_OK);
    assert_true(best >= 0);
    assert_int_equal(starts_of(best, list, 8, &n_steps), 2);
    assert_int_equal(list[1].step, 20);
    assert_int_equal(n_steps, 23 + 23);
    tri_tuned_fini(&t);
}

/* The processes hear by TERM that a rung is done, and go on from there to where
 * one long run would have been. */
static void a_counted_resource_goes_on(void)
{
    tri_tuned t = tune("study: counted\nseed: 5\n"
                       "space: {x: {int: [1, 8]}, how: end, nap: 5}\n"
                       "resource: {unit: samples, min: 100, max: 200, eta: 2}\n"
                       "budget: {trials: 2}\nfinals: none\n",
                       0, NULL, NULL);
    start list[8] = {0};
    int n_steps;
    int64_t best = highest_rung(t.ctl, 1);
    tri_run_view r;

    assert_int_equal(t.st, TRI_OK);
    assert_true(best >= 0);
    assert_int_equal(starts_of(best, list, 8, &n_steps), 2);
    assert_in_range(list[1].step, 13, 18);
    tri_ctl_run(t.ctl, tri_ctl_n_runs(t.ctl) - 1, &r);
    assert_int_equal(r.rung, 1);
    assert_int_equal(r.outcome.steps_done, 23);
    tri_tuned_fini(&t);
}

/* One that begins again although it was given a checkpoint: what it does once
 * more is passed over, and it has the result of one long run. */
static void steps_again_are_passed_over(void)
{
    tri_tuned t = tune("study: again\nseed: 5\n"
                       "space: {x: {int: [1, 8]}, how: again, nap: 1}\n"
                       "resource: {unit: steps, min: 20, max: 40, eta: 2}\n"
                       "budget: {trials: 2}\nfinals: none\n",
                       0, NULL, NULL);
    start list[8] = {0};
    int n_steps;
    int64_t best = highest_rung(t.ctl, 1);

    assert_int_equal(t.st, TRI_OK);
    assert_true(best >= 0);
    check_results(t.ctl);
    assert_int_equal(starts_of(best, list, 8, &n_steps), 2);
    assert_int_equal(list[1].told, 23);
    assert_int_equal(list[1].step, 0);
    assert_int_equal(n_steps, 23 + 43);
    tri_tuned_fini(&t);
}

/* Nothing saved, half saved, or not to be saved: each run starts afresh. */
static void afresh(const char *head)
{
    tri_tuned t = tune(head, 0, NULL, NULL);

    assert_int_equal(t.st, TRI_OK);
    for (int64_t i = 0; i < tri_ctl_n_trials(t.ctl); i++) {
        start list[8] = {0};
        int n_steps;
        int n = starts_of(i, list, 8, &n_steps);

        assert_true(n > 0);
        for (int j = 0; j < n; j++) {
            assert_int_equal(list[j].step, 0);
        }
    }
    assert_int_equal(n_kept(".ckpt"), 0);
    tri_tuned_fini(&t);
}

static void without_a_checkpoint(void)
{
    afresh("study: unsaved\nseed: 5\n"
           "space: {x: {int: [1, 8]}, how: {choice: [never, half]}, nap: 1}\n"
           "constraints: [(x > 4) == (how == never)]\n"
           "resource: {unit: steps, min: 4, max: 8, eta: 2}\n"
           "budget: {trials: 4}\nfinals: none\n");
}

/* A throughput run pays its rung in full, and none asks it to save itself. */
static void throughput_starts_afresh(void)
{
    char text[6000];
    tri_tuned t;
    start list[8] = {0};
    int n_steps;

    snprintf(text, sizeof text,
             "study: rate\nseed: 5\nmodel:\n%s"
             "space: {x: {int: [1, 8]}, how: end, nap: 1}\n"
             "resource: {unit: steps, min: 4, max: 8, eta: 2}\n"
             "objective: {minimize: step_s}\nsearch: random\n"
             "budget: {trials: 3}\nfinals: none\n"
             "measure: {min_steps: 1000}\n"
             "timeouts: {startup: 20 s, grace: 2 s}\n",
             trainer);
    t = tri_case_tune(text, tri_case_file(), 0, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_true(starts_of(highest_rung(t.ctl, 1), list, 8, &n_steps) >= 2);
    assert_int_equal(list[1].step, 0);
    assert_int_equal(n_steps, 7 + 11);
    tri_tuned_fini(&t);
}

/* Nothing was done from it, so the next attempt starts afresh. */
static void one_that_cannot_be_read(void)
{
    tri_tuned t = tune("study: torn\nseed: 5\n"
                       "space: {x: {int: [1, 8]}, how: torn, nap: 1}\n"
                       "resource: {unit: steps, min: 20, max: 40, eta: 2}\n"
                       "budget: {trials: 2}\nfinals: none\n",
                       0, NULL, NULL);
    start list[8] = {0};
    int n_steps;
    int64_t best = highest_rung(t.ctl, 1);

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_true(best >= 0);
    check_results(t.ctl);
    assert_int_equal(starts_of(best, list, 8, &n_steps), 3);
    assert_int_equal(list[1].told, 23);
    assert_int_equal(list[2].told, 0);
    assert_int_equal(n_steps, 23 + 43);
    assert_int_equal(n_kept(".ckpt"), 0);
    tri_tuned_fini(&t);
}

/* What it did after TERM is more than the next rung has: that is judged by what
 * a run afresh does. */
static void far_beyond_the_next_rung(void)
{
    tri_tuned t = tune("study: late\nseed: 5\n"
                       "space: {x: {int: [1, 8]}, how: late, nap: 2}\n"
                       "resource: {unit: samples, min: 100, max: 200, eta: 2}\n"
                       "budget: {trials: 2}\nfinals: none\n",
                       0, NULL, NULL);
    start list[8] = {0};
    int n_steps;
    int64_t best = highest_rung(t.ctl, 1);
    tri_run_view r;

    assert_int_equal(t.st, TRI_OK);
    assert_true(best >= 0);
    assert_int_equal(starts_of(best, list, 8, &n_steps), 2);
    assert_int_equal(list[1].told, 0);
    tri_ctl_run(t.ctl, tri_ctl_n_runs(t.ctl) - 1, &r);
    assert_int_equal(r.outcome.steps_done, 23);
    assert_int_equal(n_kept(".ckpt"), 0);
    tri_tuned_fini(&t);
}

/* ---- drained and resumed ------------------------------------------------ */

typedef struct trigger {
    int sent;
} trigger;

/* Once a run is well on its way. */
static void drain_in_the_middle(void *ctx, const tri_ctl *ctl)
{
    trigger *t = ctx;
    tri_run_view r;

    for (int64_t i = 0; !t->sent && i < tri_ctl_n_runs(ctl); i++) {
        tri_ctl_run(ctl, i, &r);
        if (r.state == TRI_RUN_RUNNING && r.reports >= 3) {
            t->sent = 1;
            raise(SIGUSR1);
        }
    }
}

static const char one_rung[] =
        "study: drained\nseed: 5\n"
        "space: {x: {int: [1, 8]}, how: end, nap: 3, n: 3}\nranks: n\n"
        "resource: {unit: steps, min: 40, max: 40, eta: 2}\n"
        "budget: {trials: 1}\nfinals: none\n";

static void plant(const char *name)
{
    char path[500];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", in_folder("kept"), name);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/%s/state", in_folder("kept"), name);
    f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void a_drained_run_goes_on(void)
{
    trigger at = {0};
    tri_tuned t = tune(one_rung, 0, drain_in_the_middle, &at);
    tri_run_view r;
    start list[8] = {0};
    int n_steps;

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 3);
    tri_ctl_run(t.ctl, 0, &r);
    assert_int_equal(r.status, TRI_RUN_INTERRUPTED);
    assert_string_equal(r.outcome.checkpoint, "drained.r0.a0.e1.ckpt");
    assert_true(r.outcome.checkpoint_step > 0);
    assert_true(r.outcome.checkpoint_bytes > 0);
    assert_int_equal(n_kept(".ckpt"), 1);
    tri_tuned_fini(&t);
    /* of a run that was killed, of one being removed, and of others */
    plant("drained.r7.a0.e1.ckpt");
    plant("drained.r8.a0.e1.ckpt.gone");
    plant("drained.r9.a0.ckpt");
    plant("drained2.r9.a0.e1.ckpt");
    t = tune(one_rung, 1, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    tri_ctl_run(t.ctl, 1, &r);
    assert_int_equal(r.status, TRI_RUN_FINISHED);
    assert_int_equal(r.outcome.steps_done, 43);
    assert_int_equal(starts_of(0, list, 8, &n_steps), 6);
    assert_true(list[3].step > 0);
    assert_int_equal(n_kept(".e1.ckpt"), 1); /* the other study's */
    assert_int_equal(n_kept(".r9.a0.ckpt"), 1);
    assert_int_equal(n_kept(".gone"), 0);
    tri_tuned_fini(&t);
}

/* Told to drain, it does all that it was to do, and saves that: so it has a
 * result, and is promoted from there after the resume. */
static void a_drained_run_finishes(void)
{
    static const char head[] =
            "study: whole\nseed: 5\n"
            "space: {x: {int: [1, 8]}, how: whole, nap: 2}\n"
            "objective: {minimize: loss}\nsearch: random\n"
            "timeouts: {startup: 20 s, grace: 20 s}\n"
            "checkpoints: {dir: kept}\n"
            "resource: {unit: steps, min: 20, max: 40, eta: 2}\n"
            "budget: {trials: 2}\nfinals: none\nmodel:\n";
    trigger at = {0};
    char text[6000];
    tri_tuned t;
    start list[8] = {0};
    int n_steps;

    snprintf(text, sizeof text, "%s%s", head, trainer);
    t = tri_case_tune(text, tri_case_file(), 0, drain_in_the_middle, &at);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 3);
    for (int64_t i = 0; i < tri_ctl_n_runs(t.ctl); i++) {
        tri_run_view r;

        tri_ctl_run(t.ctl, i, &r);
        assert_int_equal(r.status, TRI_RUN_FINISHED);
    }
    check_results(t.ctl);
    tri_tuned_fini(&t);
    t = tri_case_tune(text, tri_case_file(), 1, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_true(highest_rung(t.ctl, 1) >= 0);
    check_results(t.ctl);
    for (int64_t i = 0; i < tri_ctl_n_trials(t.ctl); i++) {
        tri_trial_view trial;

        tri_ctl_trial(t.ctl, i, &trial);
        starts_of(i, list, 8, &n_steps);
        assert_int_equal(n_steps, trial.top_rung == 1 ? 43 : 23);
    }
    assert_int_equal(n_kept(".ckpt"), 0);
    tri_tuned_fini(&t);
}

/* Killed while it saved itself: that is no checkpoint, and is removed. */
static void a_half_written_one_is_not_used(void)
{
    static const char half[] =
            "study: halved\nseed: 5\n"
            "space: {x: {int: [1, 8]}, how: half, nap: 3}\n"
            "resource: {unit: steps, min: 40, max: 40, eta: 2}\n"
            "budget: {trials: 1}\nfinals: none\n";
    trigger at = {0};
    tri_tuned t = tune(half, 0, drain_in_the_middle, &at);
    tri_run_view r;
    start list[8] = {0};
    int n_steps;

    assert_int_equal(t.end.status, 3);
    tri_ctl_run(t.ctl, 0, &r);
    assert_int_equal(r.status, TRI_RUN_INTERRUPTED);
    assert_string_equal(r.outcome.checkpoint, "");
    assert_int_equal(n_kept(""), 2);
    tri_tuned_fini(&t);
    t = tune(half, 1, NULL, NULL);
    assert_int_equal(t.end.status, 0);
    assert_int_equal(starts_of(0, list, 8, &n_steps), 2);
    assert_int_equal(list[1].step, 0);
    tri_tuned_fini(&t);
}

/* Somebody made room: the run starts afresh, and the log says so. */
static void a_checkpoint_that_is_gone(void)
{
    trigger at = {0};
    tri_tuned t = tune(one_rung, 0, drain_in_the_middle, &at);
    char command[600];
    tri_run_view r;
    start list[8] = {0};
    int n_steps;

    assert_int_equal(t.end.status, 3);
    tri_tuned_fini(&t);
    assert_int_equal(n_kept(".ckpt"), 1);
    snprintf(command, sizeof command, "rm -r %s/*.ckpt", in_folder("kept"));
    assert_int_equal(system(command), 0);
    t = tune(one_rung, 1, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    tri_ctl_run(t.ctl, 1, &r);
    assert_int_equal(r.status, TRI_RUN_FINISHED);
    assert_int_equal(r.outcome.steps_done, 43);
    assert_int_equal(starts_of(0, list, 8, &n_steps), 6);
    assert_int_equal(list[3].step, 0);
    tri_tuned_fini(&t);
}

/* ---- the folder ---------------------------------------------------------- */

/* Rank 2 is on another host, which has a folder of that name of its own. */
static void a_folder_that_others_do_not_see(void)
{
    static const char blind[] =
            "study: blind\nseed: 5\n"
            "model: {kind: process, command: [sh], resume: checkpoint}\n"
            "space: {x: {int: [1, 8]}}\n"
            "objective: {minimize: loss}\n"
            "checkpoints: {dir: /proc/self/cwd/kept}\n";
    tri_tuned t;

    assert_int_equal(chdir(in_folder(".")), 0);
    t = tri_case_tune(blind, tri_case_file(), 0, NULL, NULL);
    assert_int_equal(t.st, TRI_EINVAL);
    print_message("%s\n", tri_error_last()->sentence);
    assert_non_null(strstr(tri_error_last()->sentence,
                           "checkpoints.dir: '/proc/self/cwd/kept'"));
    assert_non_null(strstr(tri_error_last()->sentence, "not seen by far:"));
    assert_int_equal(n_kept(""), 2);
    assert_int_equal(chdir("/"), 0);
}

/* Two studies of one name would take each other's checkpoints. */
static void a_folder_of_another_study(void)
{
    char other[500];
    tri_tuned t;
    FILE *f;

    snprintf(other, sizeof other, "%s", in_folder("other.h5"));
    f = fopen(other, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(mkdir(in_folder("kept"), 0777), 0);
    f = fopen(in_folder("kept/drained.ckpt.claim"), "w");
    assert_non_null(f);
    fprintf(f, "claim\n%s\n1.0\n", other);
    fclose(f);
    t = tune(one_rung, 0, NULL, NULL);
    assert_int_equal(t.st, TRI_EINVAL);
    print_message("%s\n", tri_error_last()->sentence);
    assert_non_null(strstr(tri_error_last()->sentence, other));
    assert_int_equal(n_kept(".claim"), 1);
}

static void on_signal(int signo)
{
    /* made for it; NOLINTNEXTLINE(bugprone-signal-handler) */
    tri_net_signal(signo);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {
            {"promotion_goes_on", 1, promotion_goes_on},
            {"lines_say_what_is_saved", 1, lines_say_what_is_saved},
            {"a_counted_resource_goes_on", 1, a_counted_resource_goes_on},
            {"steps_again_are_passed_over", 1, steps_again_are_passed_over},
            {"without_a_checkpoint", 1, without_a_checkpoint},
            {"throughput_starts_afresh", 1, throughput_starts_afresh},
            {"one_that_cannot_be_read", 1, one_that_cannot_be_read},
            {"far_beyond_the_next_rung", 1, far_beyond_the_next_rung},
            {"a_drained_run_goes_on", 2, a_drained_run_goes_on},
            {"a_drained_run_finishes", 2, a_drained_run_finishes},
            {"a_half_written_one_is_not_used", 2,
             a_half_written_one_is_not_used},
            {"a_checkpoint_that_is_gone", 2, a_checkpoint_that_is_gone},
            {"a_folder_that_others_do_not_see", 1,
             a_folder_that_others_do_not_see},
            {"a_folder_of_another_study", 1, a_folder_of_another_study},
    };
    int provided;
    int rank;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2) {
        setenv("TRIREME_HOST_NAME", "far", 1);
    }
    if (chdir("/") != 0) {
        return 1;
    }
    signal(SIGUSR1, on_signal);
    return tri_cases_run(argc, argv, cases, 14);
}

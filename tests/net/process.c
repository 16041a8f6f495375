/*
 * Process trials that end well, fail, hang, print garbage, are killed, and
 * leave grandchildren; nothing of them is left at the end.
 */
#include "tests/net/harness.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each way of ending, as a shell script; MARK is in their environment, so that
 * survivors can be found. */
static const char study[] =
        "study: processes\nseed: 1\n"
        "model:\n"
        "  kind: process\n"
        "  shell: true\n"
        "  env: {MARK: trireme-net-process}\n"
        "  command:\n"
        "    - |\n"
        "      say() {{ echo \"{{\\\"step\\\": $1, \\\"loss\\\": $2}}\"; }}\n"
        "      steps() {{ i=0; while [ $i -lt $TRIREME_RESOURCE ]; do\n"
        "        i=$((i+1)); say $i $1; sleep 0.01; done; }}\n"
        "      case {how} in\n"
        "      good) [ $RANK = 1 ] || steps 1.$WORLD_SIZE ;;\n"
        "      fails) echo trouble ahead >&2; exit 1 ;;\n"
        "      hangs) say 1 2; sleep 1000 ;;\n"
        "      garbage) head -c 300000 /dev/urandom; echo;\n"
        "        echo '{{\"step\": oops'; exit 0 ;;\n"
        "      killed) kill -9 $$ ;;\n"
        "      family) sleep 1000 & steps 3 ;;\n"
        "      one) [ $RANK = 1 ] && exit 7; sleep 1000 ;;\n"
        "      nan) say 1 NaN; sleep 1000 ;;\n"
        "      missing) exec /no/such/trainer ;;\n"
        "      daemon) setsid sh -c 'trap \"\" HUP TERM; exec sleep 1000' &\n"
        "        (setsid sleep 1000 >/dev/null 2>&1 &)\n"
        "        steps 4; sleep 1000 ;;\n"
        "      short) say 1 2; exit 0 ;;\n"
        "      other) echo '{{\"step\": 5, \"foo\": 1}}' ;;\n"
        "      mute) sleep 1000 ;;\n"
        "      far) echo '{{\"step\": 1000001, \"loss\": 1}}' ;;\n"
        "      deaf) [ $RANK = 1 ] && trap '' TERM; steps 6; sleep 1000 ;;\n"
        "      port) f={study_dir}/port.$MASTER_PORT; : > $f\n"
        "        if [ $(echo {study_dir}/port.* | wc -w) -lt 3 ]; then\n"
        "          echo 'bind: Address already in use' >&2; exit 1; fi\n"
        "        steps 8 ;;\n"
        "      open) printf '{{\"step\": 5, \"loss\": 5}}' ;;\n"
        "      esac\n"
        "space:\n"
        "  how: {choice: [good, fails, hangs, garbage, killed, family, one, "
        "nan, missing, daemon, short, other, mute, far, open, deaf, port]}\n"
        "  n: {choice: [1, 2]}\n"
        "constraints: [\"(how in ['one', 'good', 'deaf']) == (n == 2)\"]\n"
        "ranks: n\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 2, max: 2, eta: 2}\n"
        "search: random\n"
        "budget: {trials: 17}\nfinals: none\n"
        "timeouts: {startup: 5 s, progress: 1 s, grace: 0.2 s}\n";

static int64_t find(const tri_ctl *ctl, const char *how, tri_trial_view *out)
{
    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_value v;

        tri_ctl_trial(ctl, i, out);
        assert_int_equal(tri_space_lookup(tri_ctl_study(ctl)->space,
                                          out->config, "how", &v),
                         TRI_OK);
        if (strcmp(v.u.word, how) == 0) {
            return i;
        }
    }
    print_error("no trial with %s\n", how);
    assert_true(0);
    return -1;
}

/* The last run of a trial. */
static tri_run_view last_run(const tri_ctl *ctl, int64_t trial)
{
    tri_run_view v;

    for (int64_t i = tri_ctl_n_runs(ctl) - 1; i >= 0; i--) {
        tri_ctl_run(ctl, i, &v);
        if (v.trial == trial) {
            return v;
        }
    }
    assert_true(0);
    return v;
}

/* How many processes carry the mark. */
static int survivors(void)
{
    FILE *f = popen("grep -lz '^MARK=trireme-net-process' /proc/[0-9]*/environ "
                    "2>/dev/null | wc -l",
                    "r");
    int n = -1;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &n), 1);
    pclose(f);
    return n;
}

static void check_failed(const tri_ctl *ctl, const char *how, tri_reason reason,
                         const char *said)
{
    tri_trial_view t = {0};
    tri_run_view r = last_run(ctl, find(ctl, how, &t));

    if (t.state != TRI_TRIAL_FAILED || t.reason != reason ||
        !strstr(r.outcome.sentence, said)) {
        print_error("%s: state %d, %s: %s\n", how, (int)t.state,
                    tri_reason_name(t.reason), r.outcome.sentence);
    }
    assert_int_equal(t.state, TRI_TRIAL_FAILED);
    assert_int_equal(t.reason, reason);
    assert_non_null(strstr(r.outcome.sentence, said));
    assert_true(isnan(t.objective));
}

static void check_good(const tri_ctl *ctl)
{
    tri_trial_view t;
    tri_run_view r = last_run(ctl, find(ctl, "good", &t));

    assert_int_equal(r.status, TRI_RUN_FINISHED);
    assert_true(r.objective == 1.2); /* two ranks */
    assert_true(r.outcome.steps_done >= 2 && r.outcome.steps_done <= 5);
    assert_true(r.outcome.rss_bytes > 0);
    r = last_run(ctl, find(ctl, "family", &t));
    assert_int_equal(r.status, TRI_RUN_FINISHED);
    assert_true(r.objective == 3);
    r = last_run(ctl, find(ctl, "daemon", &t));
    assert_int_equal(r.status, TRI_RUN_FINISHED);
    assert_true(r.objective == 4);
    r = last_run(ctl, find(ctl, "deaf", &t)); /* one rank ignores TERM */
    assert_int_equal(r.status, TRI_RUN_FINISHED);
    assert_true(r.objective == 6);
    r = last_run(ctl, find(ctl, "port", &t)); /* the third one is free */
    assert_int_equal(r.status, TRI_RUN_FINISHED);
    assert_int_equal(r.attempt, 0);
    assert_true(r.objective == 8);
    r = last_run(ctl, find(ctl, "open", &t)); /* its last line has no end */
    assert_int_equal(r.status, TRI_RUN_FINISHED);
    assert_true(r.objective == 5);
}

static void every_end(void)
{
    tri_tuned t = tri_case_tune(study, tri_case_file(), 0, NULL, NULL);
    tri_trial_view failing;
    tri_run_view r;

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_int_equal(tri_ctl_n_trials(t.ctl), 17);
    check_good(t.ctl);
    check_failed(t.ctl, "fails", TRI_REASON_BAD_EXIT, "trouble ahead");
    check_failed(t.ctl, "hangs", TRI_REASON_HUNG,
                 " in 1 s (timeouts.progress)");
    check_failed(t.ctl, "mute", TRI_REASON_HUNG,
                 "nothing was reported in 5 s (timeouts.startup)");
    check_failed(t.ctl, "short", TRI_REASON_BAD_EXIT,
                 "ended with status 0 after 1 of 2 steps");
    check_failed(t.ctl, "other", TRI_REASON_BAD_EXIT,
                 "no line had \"loss\"; they had step, foo");
    check_failed(t.ctl, "far", TRI_REASON_BAD_EXIT,
                 "step 1000001 is far beyond");
    check_failed(t.ctl, "garbage", TRI_REASON_BAD_EXIT, "without a metric");
    check_failed(t.ctl, "killed", TRI_REASON_KILLED, "killed by signal 9");
    r = last_run(t.ctl, find(t.ctl, "killed", &failing));
    assert_int_equal(r.status, TRI_RUN_LOST); /* by whom is not known */
    assert_int_equal(r.outcome.reason, TRI_REASON_KILLED);
    assert_int_equal(r.attempt, 1); /* at the second time it is the trial's */
    check_failed(t.ctl, "one", TRI_REASON_BAD_EXIT, "rank 1 ended");
    check_failed(t.ctl, "nan", TRI_REASON_NAN, "not a number");
    check_failed(t.ctl, "missing", TRI_REASON_IMPORT_ERROR, "not found");
    r = last_run(t.ctl, find(t.ctl, "fails", &failing));
    assert_int_equal(r.attempt, 1); /* tried twice */
    assert_int_equal(r.outcome.stderr_tail.bytes, strlen("trouble ahead\n"));
    tri_tuned_fini(&t);
    assert_int_equal(survivors(), 0);
    tri_case_verify(tri_case_file(), 17);
}

/* Rank 1 reports: tokens in the warm-up only, never, or for too few steps. */
static void rates_that_are_not_measured(void)
{
    static const char rates[] =
            "study: rates\nseed: 1\n"
            "model:\n"
            "  kind: process\n"
            "  shell: true\n"
            "  command: |\n"
            "      [ $RANK = 0 ] && exit 0\n"
            "      i=0; while [ $i -lt {steps} ]; do i=$((i+1))\n"
            "      [ {how} = early -a $i -gt 1 ] && key=a || key={how}\n"
            "      [ $key = early ] && key=tokens\n"
            "      echo \"{{\\\"step\\\": $i, \\\"$key\\\": 50}}\"; done\n"
            "space:\n"
            "  how: {choice: [early, b, tokens]}\n"
            "  steps: {choice: [20, 40, 50]}\n"
            "constraints: [(how == tokens) == (steps == 20), "
            "(how == b) == (steps == 40)]\n"
            "ranks: 2\n"
            "objective: {maximize: tokens_per_s}\n"
            "resource: {unit: steps, min: 30, max: 30}\n"
            "search: random\nbudget: {trials: 3}\nfinals: none\n"
            "measure: {min_steps: 100}\n"
            "timeouts: {grace: 0.2 s}\n";
    tri_tuned t = tri_case_tune(rates, tri_case_file(), 0, NULL, NULL);

    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(tri_ctl_n_trials(t.ctl), 3);
    check_failed(t.ctl, "early", TRI_REASON_BAD_EXIT,
                 "tokens_per_s was not measured: after the warm-up");
    check_failed(t.ctl, "b", TRI_REASON_BAD_EXIT,
                 "no line had \"tokens\", which the objective needs; they had "
                 "step, b");
    check_failed(t.ctl, "tokens", TRI_REASON_BAD_EXIT,
                 "the process of rank 1 ended with status 0 after 20 of 30 "
                 "steps");
    tri_tuned_fini(&t);
    tri_case_verify(tri_case_file(), 3);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {
            {"every_end", 1, every_end},
            {"rates_that_are_not_measured", 1, rates_that_are_not_measured},
    };

    return tri_cases_run(argc, argv, cases, 2);
}

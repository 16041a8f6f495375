/*
 * What is learned does not depend on timing: a trainer of the user's own that
 * does the same each time scores the same each time, however its lines come.
 */
#include "tests/net/harness.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rungs of 20, 40, 80 and 100 steps, each done afresh by whoever is promoted,
 * in place or not, and the best again in the finals.
 *   paced  pauses of its own, of another length each time
 *   flood  all lines at once
 *   rare   a metric every 30 steps
 *   late   a metric without a step, well after the last one
 *   two    both ranks report; the lowest counts
 *   long   goes on beyond its resource, at last with a bad loss
 */
static const char trainer[] =
        "model:\n"
        "  kind: process\n"
        "  shell: true\n"
        "  command:\n"
        "    - |\n"
        "      nap() {{ read -r x < /proc/sys/kernel/random/uuid;\n"
        "        case $x in [0-3]*) sleep 0.02 ;; [4-6]*) sleep 0.005 ;;\n"
        "        esac; }}\n"
        "      say() {{ echo \"{{\\\"step\\\": $1, \\\"loss\\\": $2}}\"; }}\n"
        "      own() {{ echo \"{{\\\"score\\\": $1}}\"; }}\n"
        "      upto() {{ i=0; while [ $i -lt $1 ]; do\n"
        "        i=$((i+1)); say $i $((i+$2)); done; }}\n"
        "      n=$TRIREME_RESOURCE\n"
        "      case {how} in\n"
        "      paced) i=0; while [ $i -lt $n ]; do i=$((i+1)); nap;\n"
        "        say $i $((i+1000)); own $i; done ;;\n"
        "      flood) upto $n 2000; own $i ;;\n"
        "      rare) i=0; while [ $i -lt $n ]; do i=$((i+1));\n"
        "        say $i $((i+3000)); [ $((i%30)) = 1 ] && own $i; done; nap "
        ";;\n"
        "      late) upto $n 4000; nap; sleep 0.1; own 7; nap; own 8 ;;\n"
        "      two) f={study_dir}/begun.{run}; case $RANK in\n"
        "        0) say 1 5001; own 0; : > $f; sleep 0.2; upto $n 5000 ;;\n"
        "        1) say 1 1; own 1; while [ ! -e $f ]; do sleep 0.01; done;\n"
        "          sleep 0.1; upto $((2*n)) 7000; own 1 ;; esac ;;\n"
        "      long) own 9; upto $((n*3)) 6000; own 10; say 99999 NaN; nap;\n"
        "        exit 1 ;;\n"
        "      esac\n"
        "space:\n"
        "  how: {choice: [paced, flood, rare, late, two, long]}\n"
        "  n: {choice: [1, 2]}\n"
        "constraints: [\"(how == 'two') == (n == 2)\"]\n"
        "ranks: n\n"
        "resource: {unit: steps, min: 20, max: 100, eta: 2}\n"
        "search: random\n"
        "budget: {trials: 6}\nfinals: {top: 6, repeats: 3}\n"
        "timeouts: {startup: 20 s, progress: 20 s, grace: 0.2 s}\n";

static tri_tuned tune(const char *objective)
{
    char text[4096];
    tri_tuned t;

    snprintf(text, sizeof text, "study: learned\nseed: 3\nobjective: {%s}\n%s",
             objective, trainer);
    t = tri_case_tune(text, tri_case_file(), 0, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    assert_int_equal(tri_ctl_n_trials(t.ctl), 6);
    return t;
}

/* What the trainer's lines say by the rule of measure.h. */
static double mean_after_offset(int64_t resource, double offset)
{
    int64_t window = (resource + 9) / 10;

    return offset + (double)(resource + 3) - (double)(window - 1) / 2;
}

static double expected_loss(const char *how, int64_t resource)
{
    static const char *const names[] = {"paced", "flood", "rare",
                                        "late",  "two",   "long"};

    for (int i = 0; i < 6; i++) {
        if (strcmp(how, names[i]) == 0) {
            return mean_after_offset(resource, 1000 * (i + 1));
        }
    }
    return NAN;
}

static double expected_score(const char *how, int64_t resource)
{
    if (strcmp(how, "paced") == 0) {
        return mean_after_offset(resource, 0);
    }
    if (strcmp(how, "flood") == 0) {
        return (double)(resource + 3);
    }
    if (strcmp(how, "rare") == 0) { /* at 1, 31, 61 and 91 */
        int64_t before = (resource + 2) / 30 * 30;

        return (double)(before + 1);
    }
    if (strcmp(how, "long") == 0) {
        return 9;
    }
    return strcmp(how, "late") == 0 ? 8 : 0;
}

/* Every finished run scored what is expected; how many there were. */
static int check_runs(const tri_ctl *ctl, int64_t a_step,
                      double (*expected)(const char *how, int64_t resource))
{
    int n = 0;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;
        tri_trial_view t;
        tri_value how;

        tri_ctl_run(ctl, i, &r);
        tri_ctl_trial(ctl, r.trial, &t);
        assert_int_equal(tri_space_lookup(tri_ctl_study(ctl)->space, t.config,
                                          "how", &how),
                         TRI_OK);
        if (r.status == TRI_RUN_FINISHED) {
            print_message("run %d %s: %g of %d steps\n", (int)i, how.u.word,
                          r.objective, (int)r.outcome.steps_done);
            assert_true(r.objective == expected(how.u.word, r.resource));
            assert_int_equal(r.outcome.steps_done, r.resource / a_step + 3);
            n++;
        }
    }
    return n;
}

/* The repeats agree, so their interval is a point. */
static void check_finals(const tri_ctl *ctl, int at_least)
{
    tri_standing best[6];
    int n = tri_ctl_top(ctl, best, 6);
    int finals = 0;

    for (int i = 0; i < n; i++) {
        if (best[i].repeats == 3) {
            assert_true(best[i].lo == best[i].objective);
            assert_true(best[i].hi == best[i].objective);
            finals++;
        }
    }
    assert_true(finals >= at_least);
}

static void loss(void)
{
    tri_tuned t = tune("minimize: loss");

    /* all at the first rung, three of them at the next, finals of some */
    assert_true(check_runs(t.ctl, 1, expected_loss) >= 6 + 3 + 3);
    check_finals(t.ctl, 1);
    tri_tuned_fini(&t);
}

static void own_metric(void)
{
    tri_tuned t = tune("maximize: score");

    assert_true(check_runs(t.ctl, 1, expected_score) >= 6 + 3 + 3);
    check_finals(t.ctl, 1);
    tri_tuned_fini(&t);
}

/* The resource counted: ten samples a step. */
static const char counted[] =
        "study: counted\nseed: 4\nobjective: {maximize: score}\n"
        "model:\n"
        "  kind: process\n"
        "  shell: true\n"
        "  command:\n"
        "    - |\n"
        "      i=0; while [ $i -lt 60 ]; do i=$((i+1));\n"
        "        echo \"{{\\\"step\\\": $i, \\\"samples\\\": 10}}\";\n"
        "        [ {how} = at-once ] || sleep 0.0{how};\n"
        "        echo \"{{\\\"score\\\": $i}}\"; done\n"
        "space: {how: {choice: [at-once, \"01\", \"02\", \"03\"]}}\n"
        "resource: {unit: samples, min: 100, max: 200, eta: 2}\n"
        "search: random\n"
        "budget: {trials: 4}\nfinals: {top: 2, repeats: 3}\n"
        "timeouts: {startup: 20 s, progress: 20 s, grace: 0.2 s}\n";

static double expected_counted(const char *how, int64_t resource)
{
    (void)how;
    return mean_after_offset(resource / 10, 0);
}

static void counted_resource(void)
{
    tri_tuned t = tri_case_tune(counted, tri_case_file(), 0, NULL, NULL);

    assert_int_equal(t.st, TRI_OK);
    assert_true(check_runs(t.ctl, 10, expected_counted) >= 4 + 2 + 6);
    check_finals(t.ctl, 2);
    tri_tuned_fini(&t);
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {
            {"loss", 1, loss},
            {"own_metric", 1, own_metric},
            {"counted_resource", 1, counted_resource},
    };

    return tri_cases_run(argc, argv, cases, 3);
}

/*
 * What is told of slow ranks (trireme/slow.h) while it happens.
 */
#include "src/net/driver.h"

#include "trireme/log.h"
#include "trireme/slow.h"

#include <stdio.h>
#include <string.h>

/* Whether it is measured again for its host's sake only. */
static int is_first(const tri_driver *d, const tri_run_view *v)
{
    tri_trial_view t;

    tri_ctl_trial(d->ctl, v->trial, &t);
    return v->phase == TRI_PHASE_SEARCH && t.top_rung < 0;
}

static void say_run(const tri_driver *d, const tri_run_view *v)
{
    char hosts[128];

    tri_ctl_run_hosts(d->ctl, v->run, hosts, sizeof hosts);
    if (v->slow == TRI_SLOW_SUSPECT && is_first(d, v)) {
        TRI_LOG_JOB(TRI_LOG_INFO,
                    "run %lld on %s is measured again elsewhere: it is the "
                    "first by which that can be compared with other hosts",
                    (long long)v->run, hosts);
    } else if (v->slow == TRI_SLOW_SUSPECT) {
        TRI_LOG_JOB(TRI_LOG_INFO,
                    "run %lld on %s is slower than trial %lld was on other "
                    "ranks: it is measured again elsewhere",
                    (long long)v->run, hosts, (long long)v->trial);
    } else if (v->slow == TRI_SLOW_FLAGGED) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "run %lld on %s was slow for its ranks: trial %lld is "
                    "faster elsewhere, and the run is flagged",
                    (long long)v->run, hosts, (long long)v->trial);
    }
}

/* "3 ranks of h1" for those that have been benched since the last time. */
static void say_benched(tri_driver *d, int n)
{
    char first[64] = "";
    char others[32] = "";
    int rank = 0;
    int n_new = 0;

    for (int i = 0; i < tri_ctl_n_ranks(d->ctl); i++) {
        tri_rank_view v;

        tri_ctl_rank(d->ctl, i, &v);
        if (v.state != TRI_RANK_BENCHED || d->peers[v.rank].is_benched ||
            d->peers[v.rank].gone) {
            continue;
        }
        d->peers[v.rank].is_benched = 1;
        if (n_new++ == 0) {
            rank = v.rank;
            snprintf(first, sizeof first, "%s", v.host);
        }
    }
    if (n_new > 1) {
        snprintf(others, sizeof others, " and %d more", n_new - 1);
    }
    if (n_new > 0) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "rank %d (%s)%s: slow %d times, benched, %d in all; they "
                    "are used only by groups that are larger than all others "
                    "together",
                    rank, first, others, TRI_SLOW_FLAGS, n);
    }
}

void tri_driver_say_slow(tri_driver *d)
{
    const int64_t *list;
    int n = tri_ctl_changed_runs(d->ctl, &list);
    tri_progress p;

    for (int i = 0; i < n; i++) {
        tri_run_view v;

        tri_ctl_run(d->ctl, list[i], &v);
        if (v.slow != TRI_SLOW_NOT) {
            say_run(d, &v);
        }
    }
    tri_ctl_progress(d->ctl, &p);
    if (p.ranks_benched > d->n_benched) {
        say_benched(d, p.ranks_benched);
    }
    d->n_benched = p.ranks_benched;
}

/*
 * trireme sim --plan: a table of virtual clusters, one line a size.
 */
#include "src/app/sim_plan.h"

#include "src/app/app.h"

#include <inttypes.h>
#include <math.h>

#define SIZES 32
#define MOST  32 /* ranks, where the configurations need fewer */

/* What a search takes on a number of ranks. */
typedef struct plan_row {
    int ranks;
    double virtual_s, first_s, rank_seconds; /* first_s: at the top rung; NaN */
    int64_t runs, configurations, at_top;
    tri_app_ending end;
} plan_row;

/* The highest rung that any run was at: the top, unless the study ended before
 * or has none. */
static int highest_rung(const tri_sim_result *r)
{
    int top = 0;

    for (int64_t i = 0; i < r->n_history; i++) {
        top = r->history[i].rung > top ? r->history[i].rung : top;
    }
    return top;
}

static tri_status simulate(const tri_study *study, const tri_curve *source,
                           const tri_sim_settings *set, int top, plan_row *out)
{
    tri_sim_settings sized = *set;
    tri_ctl *ctl = NULL;
    tri_sim_result r;

    sized.workers = out->ranks;
    TRI_TRY(tri_sim_run(study, source, &sized, &r, &ctl));
    out->end = tri_app_ending_of(ctl);
    tri_ctl_destroy(ctl);
    out->virtual_s = r.virtual_s;
    out->rank_seconds = r.rank_seconds;
    out->runs = r.evaluations;
    out->configurations = r.distinct;
    out->first_s = NAN;
    out->at_top = 0;
    top = top > 0 ? top - 1 : highest_rung(&r);
    for (int64_t i = r.n_history - 1; i >= 0; i--) {
        if (r.history[i].rung >= top) {
            out->first_s = r.history[i].virtual_s;
            out->at_top++;
        }
    }
    tri_sim_result_fini(&r);
    return TRI_OK;
}

static double busy(const plan_row *r)
{
    return r->virtual_s > 0 ? r->rank_seconds / (r->virtual_s * r->ranks) : NAN;
}

static void print_json(const plan_row *rows, int n)
{
    json_t *o = json_object();
    json_t *list = json_array();

    for (int i = 0; i < n; i++) {
        const plan_row *r = &rows[i];
        json_t *row = json_object();

        json_object_set_new(row, "ranks", json_integer(r->ranks));
        json_object_set_new(row, "virtual_s", tri_app_json_real(r->virtual_s));
        json_object_set_new(row, "first_s", tri_app_json_real(r->first_s));
        json_object_set_new(row, "rank_seconds",
                            tri_app_json_real(r->rank_seconds));
        json_object_set_new(row, "busy", tri_app_json_real(busy(r)));
        json_object_set_new(row, "runs", json_integer(r->runs));
        json_object_set_new(row, "configurations",
                            json_integer(r->configurations));
        json_object_set_new(row, "at_top", json_integer(r->at_top));
        json_object_set_new(row, "ended_by",
                            r->end.by[0] ? json_string(r->end.by)
                                         : json_null());
        json_object_set_new(row, "finals_s",
                            tri_app_json_real(r->end.finals_s));
        json_array_append_new(list, row);
    }
    json_object_set_new(o, "plan", list);
    tri_app_json_print(o);
}

static void print_text(const plan_row *rows, int n)
{
    static const char *const heads[] = {
            "ranks",    "time",           "first at top", "rank-seconds",
            "busy",     "configurations", "at top",       "runs",
            "ended by", "finals"};
    tri_app_table *t = tri_app_table_create("rrrrrrrrlr");
    char buf[32];

    for (size_t i = 0; t && i < sizeof heads / sizeof heads[0]; i++) {
        tri_app_table_cell(t, heads[i]);
    }
    for (int i = 0; t && i < n; i++) {
        const plan_row *r = &rows[i];

        tri_app_table_int(t, r->ranks);
        tri_app_table_cell(t, tri_app_duration(r->virtual_s, buf, sizeof buf));
        tri_app_table_cell(
                t, isnan(r->first_s)
                           ? "-"
                           : tri_app_duration(r->first_s, buf, sizeof buf));
        tri_app_table_number(t, r->rank_seconds);
        snprintf(buf, sizeof buf, "%.0f %%", 100 * busy(r));
        tri_app_table_cell(t, buf);
        tri_app_table_int(t, r->configurations);
        tri_app_table_int(t, r->at_top);
        tri_app_table_int(t, r->runs);
        tri_app_table_cell(t, r->end.by[0] ? r->end.by : "-");
        tri_app_table_cell(t, r->end.finals ? tri_app_duration(r->end.finals_s,
                                                               buf, sizeof buf)
                                            : "-");
    }
    if (t) {
        tri_app_table_print(t, stdout);
    }
    tri_app_table_destroy(t);
}

static int top_rung(const tri_study *study)
{
    tri_sched_settings set = tri_sched_settings_of(study);
    tri_sched *sched = NULL;
    int n;

    if (tri_sched_create(&set, &sched) != TRI_OK) {
        return 0;
    }
    n = tri_sched_n_rungs(sched);
    tri_sched_destroy(sched);
    return n;
}

tri_status tri_app_sim_plan(const tri_study *study, const tri_curve *source,
                            const tri_sim_settings *set, int most, int json)
{
    plan_row rows[SIZES];
    int lo, hi, n = 0;
    int64_t ranks = 1;

    tri_space_rank_range(study->space, &lo, &hi);
    while (ranks < lo) {
        ranks *= 2;
    }
    if (most == 0) {
        most = hi > MOST ? hi : MOST;
    }
    if (ranks > most) {
        return TRI_FAIL(TRI_EINVAL,
                        "a plan of up to %d ranks: the smallest configuration "
                        "needs %d",
                        most, lo);
    }
    for (; ranks <= most && n < SIZES; ranks *= 2, n++) {
        rows[n].ranks = (int)ranks;
        TRI_TRY(simulate(study, source, set, top_rung(study), &rows[n]));
    }
    if (json) {
        print_json(rows, n);
    } else {
        print_text(rows, n);
    }
    return TRI_OK;
}

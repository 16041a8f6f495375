/*
 * The front of the objective against ranks.  Reads a controller and nothing
 * else.
 */
#include "src/app/app.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Numbers of ranks that are told apart. */
#define MAX_COUNTS 4096

/* [out] owned list of the best of each number of ranks, *n of them; NULL. */
static tri_standing *best_by_ranks(const tri_ctl *ctl, int *n)
{
    tri_standing *list = calloc(MAX_COUNTS, sizeof *list);

    *n = list ? tri_ctl_by_ranks(ctl, list, MAX_COUNTS) : 0;
    return list;
}

static int is_better(const tri_ctl *ctl, double a, double b)
{
    return tri_ctl_study(ctl)->objective.maximize ? a > b : a < b;
}

/* Those that are better than all on fewer ranks; returns how many. */
static int keep_front(const tri_ctl *ctl, tri_standing *list, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++) {
        if (isfinite(list[i].objective) &&
            (kept == 0 ||
             is_better(ctl, list[i].objective, list[kept - 1].objective))) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

/* Whether the interval of `s` is all better than that of `before`. */
static int is_sure(const tri_ctl *ctl, const tri_standing *s,
                   const tri_standing *before)
{
    int up = tri_ctl_study(ctl)->objective.maximize;
    double worst = up ? s->lo : s->hi;
    double best = up ? before->hi : before->lo;

    return isfinite(worst) && isfinite(best) && is_better(ctl, worst, best);
}

static int has_intervals(const tri_standing *a, const tri_standing *b)
{
    return isfinite(a->lo) && isfinite(a->hi) && isfinite(b->lo) &&
           isfinite(b->hi);
}

json_t *tri_app_front_json(const tri_ctl *ctl)
{
    json_t *a = json_array();
    int n = 0;
    tri_standing *list = best_by_ranks(ctl, &n);

    n = keep_front(ctl, list, n);
    for (int i = 0; i < n; i++) {
        json_t *o = tri_app_standing_one_json(ctl, &list[i]);
        const tri_standing *before = i > 0 ? &list[i - 1] : NULL;

        json_object_set_new(o, "gain",
                            before ? tri_app_json_real(list[i].objective /
                                                       before->objective)
                                   : json_null());
        json_object_set_new(
                o, "sure",
                before && has_intervals(&list[i], before)
                        ? json_boolean(is_sure(ctl, &list[i], before))
                        : json_null());
        json_array_append_new(a, o);
    }
    free(list);
    return a;
}

static void print_row(tri_app_table *t, const tri_ctl *ctl,
                      const tri_standing *s, const tri_standing *before)
{
    char buf[1024];
    char amount[40];

    tri_app_table_int(t, s->ranks);
    tri_app_table_int(t, s->trial);
    tri_app_table_number(t, s->objective);
    tri_app_table_cell(t, tri_app_interval(s->lo, s->hi, buf, sizeof buf));
    tri_app_amount(tri_ctl_study(ctl), s->resource, amount, sizeof amount);
    snprintf(buf, sizeof buf, s->finals ? "%d x %s" : "%.0d%s",
             s->finals ? s->repeats : 0, amount);
    tri_app_table_cell(t, buf);
    if (before) {
        snprintf(buf, sizeof buf, "x %.4g%s", s->objective / before->objective,
                 is_sure(ctl, s, before) ? "" : " ?");
    }
    tri_app_table_cell(t, before ? buf : "");
    tri_app_table_cell(t, tri_app_config_brief(ctl, s->trial, buf, sizeof buf));
}

void tri_app_front_print(const tri_ctl *ctl, FILE *out)
{
    static const char *const heads[] = {"ranks",        "trial",    NULL,
                                        "95 %",         "measured", "gain",
                                        "configuration"};
    tri_app_table *t = tri_app_table_create("rrrlrll");
    int n = 0;
    tri_standing *list = best_by_ranks(ctl, &n);
    int counts = n;

    n = keep_front(ctl, list, n);
    for (int i = 0; t && i < 7; i++) {
        tri_app_table_cell(
                t, heads[i] ? heads[i]
                            : tri_app_objective_unit(tri_ctl_study(ctl)));
    }
    for (int i = 0; t && i < n; i++) {
        print_row(t, ctl, &list[i], i > 0 ? &list[i - 1] : NULL);
    }
    if (t && counts > 1 && n == 1) {
        fprintf(out,
                "\nwhat more ranks give: nothing; of %d numbers of ranks the "
                "best is on %d\n",
                counts, list[0].ranks);
    } else if (t && counts > 1) {
        fprintf(out,
                "\nwhat more ranks give: %d of %d numbers of ranks are better "
                "than all that are smaller\n",
                n, counts);
        tri_app_table_print(t, out);
    }
    free(list);
    tri_app_table_destroy(t);
}

char *tri_app_front_counts(const tri_ctl *ctl, char *buf, size_t bytes)
{
    int n = 0;
    tri_standing *list = best_by_ranks(ctl, &n);
    size_t used = 0;

    buf[0] = '\0';
    for (int i = 0; i < n && used < bytes; i++) {
        used += (size_t)snprintf(buf + used, bytes - used, "%s%d",
                                 i == 0       ? ""
                                 : i + 1 == n ? " and "
                                              : ", ",
                                 list[i].ranks);
    }
    free(list);
    return buf;
}

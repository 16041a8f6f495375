/*
 * Results of earlier studies as rows of an open event: read from their files,
 * matched to this study's space by the names and values of parameters.
 *
 * A parameter that is a constant there may have any value here that it is a
 * constant of, too: that is what makes it another model.  One that varies there
 * and is not of this space leaves its rows out: nobody could say which of its
 * values this study stands for.
 */
#include "trireme/log.h"
#include "trireme/store.h"
#include "trireme/think.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 20000 /* of all files, in one event */

/* A study whose results are brought here. */
typedef struct from {
    const tri_study *study, *here;
    const char *source, *machine_class;
} from;

void tri_warm_fini(tri_warm *w)
{
    for (int i = 0; i < w->n; i++) {
        free((void *)w->rows[i].config);
        free((void *)w->rows[i].source);
        free((void *)w->rows[i].machine_class);
    }
    free(w->rows);
    *w = (tri_warm){0};
}

static int is_constant(const tri_space *s, const char *name)
{
    for (int i = 0; i < tri_space_n_params(s); i++) {
        if (strcmp(tri_space_param(s, i)->name, name) == 0) {
            return tri_space_param(s, i)->domain.kind == TRI_DOMAIN_CONST;
        }
    }
    return 1; /* of another kind, or none of its */
}

static int is_there(const tri_space *s, const char *name)
{
    for (int i = 0; i < tri_space_n_params(s); i++) {
        if (strcmp(tri_space_param(s, i)->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether every parameter that varies there is one here; [out] *name: of the
 * first that is not. */
static int is_expressible(const tri_space *there, const tri_space *here,
                          const char **name)
{
    for (int i = 0; i < tri_space_n_params(there); i++) {
        *name = tri_space_param(there, i)->name;
        if (!is_constant(there, *name) && !is_there(here, *name)) {
            return 0;
        }
    }
    return 1;
}

/* "name=value" of what the configuration says of our parameters. */
static int write_assignments(const tri_space *there, const tri_config *c,
                             const tri_space *here, char *buf, size_t bytes)
{
    size_t at = 0;

    buf[0] = 0;
    for (int i = 0; i < tri_space_n_params(here); i++) {
        const char *name = tri_space_param(here, i)->name;
        char text[512];
        tri_value v;

        if (tri_space_lookup(there, c, name, &v) != TRI_OK) {
            tri_error_clear(); /* ours alone: it may have one value only */
            continue;
        }
        if (v.type == TRI_INACTIVE ||
            (is_constant(here, name) && is_constant(there, name))) {
            continue;
        }
        if (tri_value_print(v, text, sizeof text) >= sizeof text ||
            at + strlen(name) + strlen(text) + 3 > bytes) {
            return 0;
        }
        at += (size_t)snprintf(buf + at, bytes - at, "%s%s=%s", at ? " " : "",
                               name, text);
    }
    return 1;
}

/* Read a configuration of that study in our space: its canonical text, NULL
 * where it is none of ours. */
static char *translate(const tri_space *there, const tri_config *c,
                       const tri_space *here)
{
    char given[8192], none[1];
    tri_config *ours =
            calloc((size_t)tri_space_n_params(here) + 1, sizeof *ours);
    char *text = NULL;

    if (ours && write_assignments(there, c, here, given, sizeof given) &&
        tri_space_parse(here, given, ours) == TRI_OK &&
        tri_space_valid(here, ours, NULL)) {
        size_t n = tri_space_print(here, ours, none, sizeof none) + 1;

        text = malloc(n);
        if (text) {
            tri_space_print(here, ours, text, n);
        }
    }
    tri_error_clear();
    free(ours);
    return text;
}

static tri_status add_row(tri_warm *w, const from *f, const tri_record *r,
                          char *config, double objective)
{
    tri_warm_row *row;

    if (w->n == w->room) {
        int room = w->room ? 2 * w->room : 256;
        tri_warm_row *grown = realloc(w->rows, (size_t)room * sizeof *grown);

        if (!grown) {
            free(config);
            return TRI_FAIL(TRI_ENOMEM, "no memory for %d earlier results",
                            room);
        }
        w->rows = grown;
        w->room = room;
    }
    row = &w->rows[w->n++];
    *row = (tri_warm_row){.config = config,
                          .resource = r->resource,
                          .objective = objective,
                          .peak_bytes = r->peak_bytes,
                          .failed = r->failed,
                          .machine_class = strdup(f->machine_class),
                          .source = strdup(f->source)};
    return row->machine_class && row->source
                   ? TRI_OK
                   : TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
}

/* As this study compares it: of all ranks, or of each. */
static double compared(const tri_study *there, const tri_study *here,
                       const tri_record *r)
{
    if (there->objective.per_rank == here->objective.per_rank) {
        return r->objective;
    }
    return here->objective.per_rank ? r->objective / r->ranks
                                    : r->objective * r->ranks;
}

/* Order of two objectives; no number comes last and equals itself. */
static int by_number(double a, double b)
{
    return isnan(a) || isnan(b) ? !!isnan(a) - !!isnan(b) : (a > b) - (a < b);
}

/* The source before them that has the rows mine[n_mine] too; NULL. */
static const char *same_as(const tri_warm_row *rows, int n,
                           const tri_warm_row *mine, int n_mine)
{
    for (int i = 0; i + n_mine <= n; i++) {
        int k = 0;

        while (k < n_mine && strcmp(rows[i + k].source, rows[i].source) == 0 &&
               strcmp(rows[i + k].config, mine[k].config) == 0 &&
               rows[i + k].resource == mine[k].resource &&
               by_number(rows[i + k].objective, mine[k].objective) == 0 &&
               rows[i + k].failed == mine[k].failed) {
            k++;
        }
        if (k == n_mine) {
            return rows[i].source;
        }
    }
    return NULL;
}

static void forget_last(tri_warm *w, int n)
{
    while (w->n > n) {
        tri_warm_row *row = &w->rows[--w->n];

        free((void *)row->config);
        free((void *)row->source);
        free((void *)row->machine_class);
    }
}

/* The first `n` of its records that are of this space. */
static tri_status take_rows(const from *f, const tri_snapshot *s, int n,
                            tri_warm *w)
{
    for (int i = 0; i < n && w->n < ROWS_MOST; i++) {
        char *config = translate(f->study->space, s->records[i].config,
                                 f->here->space);

        if (config) {
            TRI_TRY(add_row(w, f, &s->records[i], config,
                            compared(f->study, f->here, &s->records[i])));
        }
    }
    return TRI_OK;
}

/* What can be used of a snapshot of that study. */
static tri_status add_records(const from *f, const tri_snapshot *s, tri_warm *w)
{
    const char *name = "";
    int before = w->n;
    int usable = is_expressible(f->study->space, f->here->space, &name)
                         ? s->n_records
                         : 0;

    TRI_TRY(take_rows(f, s, usable, w));
    TRI_LOG_JOB(w->n > before ? TRI_LOG_INFO : TRI_LOG_WARN,
                "%s: %d results read, %d are of configurations of this space",
                f->source, s->n_records, w->n - before);
    if (usable < s->n_records) {
        TRI_LOG_JOB(TRI_LOG_WARN, "%s: its parameter %s is not in this space",
                    f->source, name);
    }
    return TRI_OK;
}

tri_status tri_warm_take(const tri_ctl *ctl, const char *source,
                         const tri_study *here, tri_warm *w)
{
    const from f = {tri_ctl_study(ctl), here, source,
                    tri_ctl_machine_class(ctl)};
    tri_snapshot *s = NULL;
    tri_status st;

    TRI_TRY(tri_ctl_snapshot(ctl, 0, 1, &s));
    st = add_records(&f, s, w);
    tri_snapshot_destroy(s);
    return st;
}

/* Whether what it measured is what this study measures. */
static tri_status check_alike(const tri_study *here, const tri_study *there,
                              const char *path)
{
    if (strcmp(there->objective.name, here->objective.name) != 0 ||
        there->objective.maximize != here->objective.maximize) {
        return TRI_FAIL(TRI_EINVAL,
                        "--warm %s: its objective is to %s %s, not to %s %s",
                        path,
                        there->objective.maximize ? "maximize" : "minimize",
                        there->objective.name,
                        here->objective.maximize ? "maximize" : "minimize",
                        here->objective.name);
    }
    if (there->resource.unit != here->resource.unit) {
        return TRI_FAIL(TRI_EINVAL, "--warm %s: its resource is in %s, not %s",
                        path, tri_unit_name(there->resource.unit),
                        tri_unit_name(here->resource.unit));
    }
    return TRI_OK;
}

/* The path that names the file from everywhere, to be freed. */
static char *whole_path(const char *path)
{
    char *whole = realpath(path, NULL);

    return whole ? whole : strdup(path);
}

static int is_known(const tri_warm_row *rows, int n, const char *whole)
{
    for (int i = 0; i < n; i++) {
        int same = strcmp(rows[i].source, whole) == 0;

        if (!same &&
            (i == 0 || strcmp(rows[i].source, rows[i - 1].source) != 0)) {
            char *other = realpath(rows[i].source, NULL);

            same = other && strcmp(other, whole) == 0;
            free(other);
        }
        if (same) {
            return 1;
        }
    }
    return 0;
}

/* The same results under two names count once. */
static void drop_repeats(tri_warm *w, int before, const tri_warm_row *known,
                         int n_known, const char *path)
{
    const tri_warm_row *mine = w->rows + before;
    int n = w->n - before;
    const char *other = NULL;

    if (n > 0) {
        other = same_as(known, n_known, mine, n);
        other = other ? other : same_as(w->rows, before, mine, n);
    }
    if (other) {
        TRI_LOG_JOB(TRI_LOG_INFO, "%s: the same results as in %s", path, other);
        forget_last(w, before);
    }
}

static int by_result(const void *a, const void *b)
{
    const tri_warm_row *x = a, *y = b;
    int order = strcmp(x->config, y->config);

    order = order ? order
                  : (x->resource > y->resource) - (x->resource < y->resource);
    order = order ? order : x->failed - y->failed;
    return order ? order : by_number(x->objective, y->objective);
}

/* Leave out the rows from `before` on that are among `own`'s, sorted. */
static void drop_own(tri_warm *w, int before, const tri_warm *own,
                     const char *path)
{
    int n = w->n - before;
    int kept = before;

    for (int i = before; i < w->n; i++) {
        tri_warm_row row = w->rows[i];

        if (!bsearch(&row, own->rows, (size_t)own->n, sizeof row, by_result)) {
            w->rows[i] = w->rows[kept];
            w->rows[kept++] = row;
        }
    }
    forget_last(w, kept);
    if (kept < before + n) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "%s: %d of these are this study's own results, left out",
                    path, before + n - kept);
    }
}

/* A study's own record, or a copy of it, is no earlier study: what it holds
 * would count twice. */
static tri_status leave_own(const tri_ctl *own, const tri_study *here,
                            const char *path, int before, tri_warm *w)
{
    const from f = {tri_ctl_study(own), here, "", ""};
    tri_warm rows = {0};
    tri_snapshot *s = NULL;
    tri_status st;

    TRI_TRY(tri_ctl_snapshot(own, 0, 1, &s));
    st = take_rows(&f, s, s->n_records, &rows);
    tri_snapshot_destroy(s);
    if (st == TRI_OK && rows.n > 0) {
        qsort(rows.rows, (size_t)rows.n, sizeof *rows.rows, by_result);
        drop_own(w, before, &rows, path);
    }
    tri_warm_fini(&rows);
    return st;
}

static tri_status read_file(const char *path, const char *whole,
                            const tri_study *here, tri_warm *w)
{
    tri_history *history = NULL;
    tri_ctl *ctl = NULL;
    tri_status st;

    TRI_TRY(tri_history_read(path, &history));
    st = tri_history_replay(history, &ctl, NULL);
    tri_history_destroy(history);
    if (st == TRI_OK && tri_ctl_study(ctl)) {
        st = check_alike(here, tri_ctl_study(ctl), path);
        if (st == TRI_OK) {
            st = tri_warm_take(ctl, whole, here, w);
        }
    }
    tri_ctl_destroy(ctl);
    return st;
}

static tri_status read_new(const char *path, const char *whole,
                           const tri_study *here, const tri_ctl *own,
                           tri_warm *w)
{
    const tri_warm_row *known = NULL;
    int n_known = own ? tri_ctl_warm(own, &known) : 0;
    int before = w->n;

    if (is_known(known, n_known, whole) || is_known(w->rows, w->n, whole)) {
        TRI_LOG_JOB(TRI_LOG_INFO, "%s was read before", path);
        return TRI_OK;
    }
    TRI_TRY(read_file(path, whole, here, w));
    drop_repeats(w, before, known, n_known, path);
    return own && tri_ctl_study(own) && w->n > before
                   ? leave_own(own, here, path, before, w)
                   : TRI_OK;
}

tri_status tri_warm_read(const char *path, const tri_study *here,
                         const tri_ctl *own, tri_warm *w)
{
    char *whole = whole_path(path);
    tri_status st;

    if (!whole) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a path");
    }
    st = read_new(path, whole, here, own, w);
    free(whole);
    return st;
}

/*
 * Results of earlier studies as rows of an open event: read from their files,
 * matched to this study's space by the names and values of parameters.
 *
 * A parameter that is a constant there may have any value here that it is a
 * constant of, too: that is what makes it another model.  One that varies there
 * and is not of this space leaves its rows out: nobody could say which of its
 * values this study stands for.
 */
#include "src/net/driver.h"

#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 20000 /* of all files, in one event */

/* A study whose results are brought here. */
typedef struct from {
    const tri_study *study;
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

/* What can be used of a snapshot of that study. */
static tri_status add_records(const tri_driver *d, const from *f,
                              const tri_snapshot *s, tri_warm *w)
{
    const tri_study *here = d->study;
    const char *name = "";
    int before = w->n, left_out = 0;
    int usable = is_expressible(f->study->space, here->space, &name)
                         ? s->n_records
                         : 0;

    for (int i = 0; i < usable && w->n < ROWS_MOST; i++) {
        char *config =
                translate(f->study->space, s->records[i].config, here->space);

        if (!config) {
            left_out++;
            continue;
        }
        TRI_TRY(add_row(w, f, &s->records[i], config,
                        compared(f->study, here, &s->records[i])));
    }
    TRI_LOG_JOB(w->n > before ? TRI_LOG_INFO : TRI_LOG_WARN,
                "%s: %d of %d results are of use here", f->source,
                w->n - before, s->n_records);
    if (usable < s->n_records) {
        TRI_LOG_JOB(TRI_LOG_WARN, "%s: its parameter %s is not in this space",
                    f->source, name);
    } else if (left_out > 0) {
        TRI_LOG_JOB(TRI_LOG_INFO,
                    "%s: %d results are of configurations that are not in "
                    "this space",
                    f->source, left_out);
    }
    return TRI_OK;
}

static tri_status take_study(const tri_driver *d, const tri_ctl *ctl,
                             const from *f, tri_warm *w)
{
    tri_snapshot *s = NULL;
    tri_status st;

    TRI_TRY(tri_ctl_snapshot(ctl, 0, 1, &s));
    st = add_records(d, f, s, w);
    tri_snapshot_destroy(s);
    return st;
}

/* Whether what it measured is what this study measures. */
static tri_status check_alike(const tri_driver *d, const tri_study *there,
                              const char *path)
{
    const tri_study *here = d->study;

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

static tri_status read_file(const tri_driver *d, const char *path, tri_warm *w)
{
    tri_history *history = NULL;
    tri_ctl *ctl = NULL;
    tri_status st;

    TRI_TRY(tri_history_read(path, &history));
    st = tri_history_replay(history, &ctl, NULL);
    tri_history_destroy(history);
    if (st == TRI_OK && tri_ctl_study(ctl)) {
        const from f = {tri_ctl_study(ctl), path, tri_ctl_machine_class(ctl)};

        st = check_alike(d, f.study, path);
        if (st == TRI_OK) {
            st = take_study(d, ctl, &f, w);
        }
    }
    tri_ctl_destroy(ctl);
    return st;
}

static int was_read(const tri_driver *d, const char *path)
{
    const tri_warm_row *rows;
    int n = tri_ctl_warm(d->ctl, &rows);

    for (int i = 0; i < n; i++) {
        if (strcmp(rows[i].source, path) == 0) {
            return 1;
        }
    }
    return 0;
}

/* What this study measured on machines of another class. */
static tri_status take_own(const tri_driver *d, const char *machine_class,
                           tri_warm *w)
{
    const char *before = tri_ctl_machine_class(d->ctl);
    const from f = {tri_ctl_study(d->ctl), d->settings->output, before};

    if (!f.study || !*before || !*machine_class ||
        strcmp(before, machine_class) == 0) {
        return TRI_OK;
    }
    return take_study(d, d->ctl, &f, w);
}

tri_status tri_driver_read_warm(const tri_driver *d, const char *machine_class,
                                tri_warm *out)
{
    if (!tri_driver_may_think(d)) {
        if (d->settings->n_warm > 0) {
            TRI_LOG_JOB(TRI_LOG_WARN,
                        "--warm is of no use to a search that is %s",
                        d->study->search.proposer);
        }
        return TRI_OK;
    }
    TRI_TRY(take_own(d, machine_class, out));
    for (int i = 0; i < d->settings->n_warm; i++) {
        const char *path = d->settings->warm[i];

        if (was_read(d, path)) {
            TRI_LOG_JOB(TRI_LOG_INFO, "%s was read by an earlier opening",
                        path);
        } else {
            TRI_TRY(read_file(d, path, out));
        }
    }
    return TRI_OK;
}

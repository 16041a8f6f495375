/*
 * Results of earlier studies, and of this one on other machine classes, that
 * openings bring along.  The controller keeps them for the thinker; nothing
 * else looks at them.
 */
#include "src/ctl/state.h"

#include "trireme/think.h"

#include <stdlib.h>
#include <string.h>

static tri_status keep_row(tri_ctl *ctl, const tri_warm_row *from,
                           tri_warm_row *to)
{
    *to = *from;
    to->config = tri_keep_text(&ctl->keep, from->config);
    to->machine_class = tri_keep_text(&ctl->keep, from->machine_class);
    to->source = tri_keep_text(&ctl->keep, from->source);
    if (!to->config || !to->machine_class || !to->source) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
    }
    return TRI_OK;
}

tri_status tri_ctl_keep_warm(tri_ctl *ctl, const tri_ev_open *ev)
{
    size_t n = (size_t)ctl->n_warm + (size_t)(ev->n_warm > 0 ? ev->n_warm : 0);
    tri_warm_row *grown;

    if (ev->n_warm <= 0) {
        return TRI_OK;
    }
    grown = realloc(ctl->warm, n * sizeof *grown);
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %zu earlier results", n);
    }
    ctl->warm = grown;
    for (int i = 0; i < ev->n_warm; i++) {
        TRI_TRY(keep_row(ctl, &ev->warm[i], &ctl->warm[ctl->n_warm]));
        ctl->n_warm++;
    }
    return TRI_OK;
}

int tri_ctl_warm(const tri_ctl *ctl, const tri_warm_row **out)
{
    *out = ctl->warm;
    return ctl->n_warm;
}

/* ---- for the thinker ---------------------------------------------------- */

void tri_warm_records_destroy(tri_warm_records *list, int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < list[i].n; k++) {
            free((void *)list[i].records[k].config);
        }
        free((void *)list[i].records);
    }
    free(list);
}

static int same_source(const tri_warm_row *a, const tri_warm_row *b)
{
    return strcmp(a->source, b->source) == 0 &&
           strcmp(a->machine_class, b->machine_class) == 0;
}

/* One more record of `to`, unless the row is not of this space. */
static tri_status add(const tri_space *space, const tri_warm_row *row,
                      tri_warm_records *to)
{
    tri_record *r = (tri_record *)&to->records[to->n];
    tri_config *c = calloc((size_t)tri_space_n_params(space) + 1, sizeof *c);

    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
    }
    *r = (tri_record){.config = c,
                      .trial = -1,
                      .resource = row->resource,
                      .objective = row->objective,
                      .peak_bytes = row->peak_bytes,
                      .failed = row->failed};
    if (tri_space_parse(space, row->config, c) != TRI_OK ||
        !tri_space_valid(space, c, NULL) ||
        tri_space_ranks(space, c, &r->ranks) != TRI_OK) {
        tri_error_clear();
        free(c);
        return TRI_OK;
    }
    to->n++;
    return TRI_OK;
}

/* Of rows[n], which share a source. */
static tri_status collect(const tri_space *space, const char *machine_class,
                          const tri_warm_row *rows, int n,
                          tri_warm_records *out)
{
    out->records = calloc((size_t)n, sizeof *out->records);
    out->source = rows[0].source;
    out->same_class = strcmp(rows[0].machine_class, machine_class) == 0;
    if (!out->records) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
    }
    for (int i = 0; i < n; i++) {
        TRI_TRY(add(space, &rows[i], out));
    }
    return TRI_OK;
}

tri_status tri_warm_records_create(const tri_study *study,
                                   const char *machine_class,
                                   const tri_warm_row *rows, int n_rows,
                                   tri_warm_records **out, int *n)
{
    tri_warm_records *list = calloc((size_t)n_rows + 1, sizeof *list);
    int count = 0;

    if (!list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for earlier results");
    }
    for (int at = 0; at < n_rows;) {
        int from = at;
        tri_status st;

        while (at < n_rows && same_source(&rows[from], &rows[at])) {
            at++;
        }
        st = collect(study->space, machine_class, rows + from, at - from,
                     &list[count++]);
        if (st != TRI_OK) {
            tri_warm_records_destroy(list, count);
            return st;
        }
    }
    *out = list;
    *n = count;
    return TRI_OK;
}

tri_status tri_ctl_warm_records(const tri_ctl *ctl, tri_warm_records **out,
                                int *n)
{
    return tri_warm_records_create(ctl->study, ctl->machine_class, ctl->warm,
                                   ctl->n_warm, out, n);
}

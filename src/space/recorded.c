/*
 * The list of recorded results: rows by assignments, points of rows.  Knows
 * nothing of the files that they come from.
 */
#include "trireme/recorded.h"

#include "src/space/pile.h"

#include <assert.h>
#include <stdlib.h>

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for recorded results");
}

void tri_recorded_init(tri_recorded *r, const tri_study *study)
{
    *r = (tri_recorded){.study = study,
                        .n_params = tri_space_n_params(study->space)};
}

void tri_recorded_fini(tri_recorded *r)
{
    free(r->configs);
    free(r->points);
    r->configs = NULL;
    r->points = NULL;
    r->n_rows = r->n_points = 0;
}

/* Room for one more configuration. */
static tri_status grow_rows(tri_recorded *r)
{
    tri_config *grown =
            tri_grow(r->configs, (size_t)r->n_rows, &r->row_capacity,
                     ((size_t)r->n_params + 1) * sizeof *grown);

    if (!grown) {
        return no_memory();
    }
    r->configs = grown;
    return TRI_OK;
}

tri_status tri_recorded_add_row(tri_recorded *r, const char *config, int *used)
{
    tri_status st;

    TRI_TRY(grow_rows(r));
    st = tri_space_parse(r->study->space, config,
                         r->configs + r->n_rows * r->n_params);
    if (st == TRI_ERANGE) { /* outside a domain */
        tri_error_clear();
        r->outside++;
        *used = 0;
        return TRI_OK;
    }
    if (st == TRI_OK) {
        r->n_rows++;
        *used = 1;
    }
    return st;
}

tri_status tri_recorded_add(tri_recorded *r, int64_t resource, double objective,
                            int failed)
{
    tri_recorded_point *grown = tri_grow(r->points, (size_t)r->n_points,
                                         &r->point_capacity, sizeof *grown);

    assert(r->n_rows > 0 && resource >= 1);
    if (!grown) {
        return no_memory();
    }
    r->points = grown;
    grown[r->n_points++] =
            (tri_recorded_point){r->n_rows - 1, resource, objective, failed, 0};
    return TRI_OK;
}

void tri_recorded_took(tri_recorded *r, double unit_s)
{
    assert(r->n_points > 0 && unit_s >= 0);
    r->points[r->n_points - 1].unit_s = unit_s;
}

tri_status tri_recorded_not_empty(const tri_recorded *r, const char *path)
{
    if (r->n_points > 0) {
        return TRI_OK;
    }
    return TRI_FAIL(TRI_EEMPTY,
                    "%.200s records no configuration of study '%.60s' (%lld "
                    "were read)",
                    path, r->study->name, (long long)r->outside);
}

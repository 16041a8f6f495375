/*
 * Curve sources: what a run of a synthetic or table study, or one answered by
 * recorded results, measures and how long it lasts.  Noise, straggling and
 * failures are drawn by run, so that the same run answers the same wherever it
 * is asked.  Knows nothing of the cluster that the run is on.
 */
#include "trireme/curve.h"

#include "src/sim/recorded.h"
#include "src/sim/synthetic.h"

#include <math.h>
#include <stdlib.h>

/* Spaces up to this size are gone through for an optimum per rank. */
#define ENUMERATION_MAX ((int64_t)1 << 20)
/* Seconds of a run of a table without curves. */
#define TABLE_RUN_S 1.0

struct tri_curve {
    const tri_study *study;
    /* the source: one of them, the others NULL */
    tri_synthetic *synthetic;
    const tri_table *table;
    tri_results *recorded;
    double cost_s;
};

static double direction(const tri_study *study)
{
    return study->objective.maximize ? -1 : 1;
}

/* ---- values ---------------------------------------------------------- */

static int64_t row_of(const tri_curve *c, const tri_config *config)
{
    int64_t row;

    if (tri_space_index(c->study->space, config, &row) != TRI_OK ||
        row >= c->table->n_rows) {
        return -1;
    }
    return row;
}

static double row_value(const tri_table *t, int64_t row, int64_t resource)
{
    int64_t point = resource < 1 ? 1 : resource;

    if (row < 0 || t->failed[row]) {
        return NAN;
    }
    point = point < t->n_points ? point : t->n_points;
    return t->objective[row * t->n_points + point - 1];
}

double tri_curve_value(const tri_curve *c, const tri_config *config,
                       int64_t resource)
{
    double value;

    if (c->recorded != NULL) {
        tri_results_at(c->recorded, config, resource, &value);
        return value;
    }
    if (c->table != NULL) {
        return row_value(c->table, row_of(c, config), resource);
    }
    return direction(c->study) *
           tri_synthetic_loss(c->synthetic, config, resource);
}

/* ---- runs ------------------------------------------------------------ */

static double straggling(uint64_t seed, int64_t run, double s)
{
    tri_rng rng;

    if (!(s > 0)) {
        return 1;
    }
    rng = tri_rng_stream(seed, (uint64_t)run, TRI_RNG_STRAGGLE);
    return 1 + s * fabs(tri_rng_normal(&rng));
}

static double noisy(double value, uint64_t seed, int64_t run, double noise)
{
    tri_rng rng;

    if (!(noise > 0)) {
        return value;
    }
    rng = tri_rng_stream(seed, (uint64_t)run, TRI_RNG_NOISE);
    return value * (1 + noise * tri_rng_normal(&rng));
}

static void synthetic_at(const tri_curve *c, const tri_config *config,
                         uint64_t hash, int64_t run, int64_t from, int64_t to,
                         tri_curve_point *out)
{
    const tri_synthetic_spec *spec = &c->study->model.u.synthetic;
    uint64_t seed = c->study->seed;
    tri_rng rng;

    out->duration_s = c->cost_s * (double)(to - from) *
                      straggling(seed, run, spec->straggle);
    out->failed = out->final_failure = 0;
    if (spec->fail > 0) {
        rng = tri_rng_stream(seed, (uint64_t)run, TRI_RNG_FAIL);
        out->failed = tri_rng_unit(&rng) < spec->fail;
    }
    if (out->failed) {
        out->objective = NAN;
        out->duration_s *= tri_rng_unit(&rng);
    } else {
        out->objective = noisy(
                direction(c->study) *
                        tri_synthetic_loss_hash(c->synthetic, config, hash, to),
                seed, run, spec->noise);
    }
}

static void table_at(const tri_curve *c, const tri_config *config, int64_t from,
                     int64_t to, tri_curve_point *out)
{
    int64_t row = row_of(c, config);
    int curves = c->study->model.u.table.curve != NULL;

    out->objective = row_value(c->table, row, to);
    out->duration_s = curves ? c->cost_s * (double)(to - from) : TABLE_RUN_S;
    out->failed = out->final_failure = row < 0 || c->table->failed[row];
}

static void recorded_at(const tri_curve *c, const tri_config *config,
                        int64_t from, int64_t to, tri_curve_point *out)
{
    tri_found found = tri_results_at(c->recorded, config, to, &out->objective);

    double unit_s = tri_results_unit_s(c->recorded, config, to);

    out->duration_s = (unit_s > 0 ? unit_s : c->cost_s) * (double)(to - from);
    out->missing = found == TRI_FOUND_NOT;
    out->failed = out->final_failure = found != TRI_FOUND;
}

void tri_curve_at(const tri_curve *c, const tri_config *config, int64_t run,
                  int64_t from, int64_t to, tri_curve_point *out)
{
    uint64_t hash =
            c->synthetic != NULL ? tri_space_hash(c->study->space, config) : 0;

    tri_curve_at_hash(c, config, hash, run, from, to, out);
}

void tri_curve_at_hash(const tri_curve *c, const tri_config *config,
                       uint64_t hash, int64_t run, int64_t from, int64_t to,
                       tri_curve_point *out)
{
    out->missing = 0;
    if (c->recorded != NULL) {
        recorded_at(c, config, from, to, out);
    } else if (c->table != NULL) {
        table_at(c, config, from, to, out);
    } else {
        synthetic_at(c, config, hash, run, from, to, out);
    }
}

void tri_curve_measured(const tri_study *study, double value, tri_measured *out)
{
    *out = (tri_measured){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    switch (study->objective.metric) {
    case TRI_METRIC_TOKENS_PER_S:
        out->tokens_per_s = value;
        break;
    case TRI_METRIC_SAMPLES_PER_S:
        out->samples_per_s = value;
        break;
    case TRI_METRIC_STEP_S:
        out->step_s = value;
        break;
    case TRI_METRIC_LOSS:
        out->loss = value;
        break;
    case TRI_METRIC_OWN:
        out->own = value;
        break;
    }
}

/* ---- the optimum ----------------------------------------------------- */

int64_t tri_curve_top(const tri_curve *c)
{
    int64_t max = c->study->resource.max;
    int64_t end = c->recorded != NULL ? tri_results_top(c->recorded)
                  : c->table != NULL  ? c->table->n_points
                                      : max;

    return max > 0 && max < end ? max : end;
}

/* What configuration number `index` compares as at the top; NaN if failed. */
static tri_status compared(const tri_curve *c, int64_t index,
                           tri_config *scratch, double *out)
{
    const tri_study *study = c->study;
    tri_measured m;
    double value;
    int ranks;

    TRI_TRY(tri_space_at(study->space, index, scratch));
    TRI_TRY(tri_space_ranks(study->space, scratch, &ranks));
    value = tri_curve_value(c, scratch, tri_curve_top(c));
    tri_curve_measured(study, value, &m);
    *out = tri_study_objective(study, &m, ranks);
    return TRI_OK;
}

static double enumerate(const tri_curve *c, int64_t count)
{
    size_t n = (size_t)tri_space_n_params(c->study->space);
    tri_config *scratch = calloc(n + 1, sizeof *scratch);
    double sign = direction(c->study);
    double best = NAN;

    for (int64_t i = 0; scratch != NULL && i < count; i++) {
        double v;

        if (compared(c, i, scratch, &v) == TRI_OK && !isnan(v) &&
            (isnan(best) || sign * v < sign * best)) {
            best = v;
        }
    }
    free(scratch);
    return best;
}

/* Whether every valid configuration is recorded to the end.  `count`: of the
 * space. */
static int is_whole(const tri_curve *c, int64_t count)
{
    size_t n = (size_t)tri_space_n_params(c->study->space);
    tri_config *scratch = calloc(n + 1, sizeof *scratch);
    int whole = scratch != NULL && tri_results_count(c->recorded) >= count;

    for (int64_t i = 0; whole && i < count; i++) {
        whole = tri_space_at(c->study->space, i, scratch) == TRI_OK &&
                tri_results_is_whole(c->recorded, scratch);
    }
    free(scratch);
    return whole;
}

static double recorded_optimum(const tri_curve *c, int64_t count)
{
    if (count < 0 || count > ENUMERATION_MAX || !is_whole(c, count)) {
        return NAN;
    }
    return enumerate(c, count);
}

double tri_curve_optimum(const tri_curve *c)
{
    int64_t count = tri_space_count(c->study->space);

    if (c->recorded != NULL) {
        return recorded_optimum(c, count);
    }
    if (c->table == NULL && c->study->resource.max == 0) {
        return NAN;
    }
    if (c->table == NULL && !c->study->objective.per_rank) {
        return direction(c->study) * tri_synthetic_floor(c->synthetic);
    }
    return count >= 0 && count <= ENUMERATION_MAX ? enumerate(c, count) : NAN;
}

/* ---- life ------------------------------------------------------------ */

/* The study's own cost of a unit of resource, else `cost_s`. */
static double cost_of(const tri_study *study, double cost_s)
{
    if (study->model.kind != TRI_MODEL_SYNTHETIC ||
        isnan(study->model.u.synthetic.cost_s)) {
        return cost_s;
    }
    return study->model.u.synthetic.cost_s;
}

static tri_status open_synthetic(tri_curve *c, double cost_s)
{
    const tri_study *study = c->study;
    const tri_synthetic_spec *spec = &study->model.u.synthetic;

    c->cost_s = cost_of(study, cost_s);
    return tri_synthetic_create(study->space, spec->curve, study->seed,
                                study->resource.min, study->resource.max,
                                &c->synthetic);
}

static tri_status open_table(tri_curve *c, double cost_s)
{
    c->cost_s = cost_s;
    c->table = tri_study_table(c->study);
    if (c->table == NULL || c->table->n_rows == 0) {
        return TRI_FAIL(TRI_EEMPTY, "the table of study '%s' has no rows",
                        c->study->name);
    }
    return TRI_OK;
}

static tri_status open_source(tri_curve *c, double cost_s)
{
    switch (c->study->model.kind) {
    case TRI_MODEL_SYNTHETIC:
        return open_synthetic(c, cost_s);
    case TRI_MODEL_TABLE:
        return open_table(c, cost_s);
    default:
        return TRI_FAIL(TRI_EUNBUILT,
                        "model kind '%s' has no curves: simulate a synthetic "
                        "or table study",
                        tri_model_name(c->study->model.kind));
    }
}

static tri_status create(const tri_study *study, tri_curve **out)
{
    tri_curve *c = calloc(1, sizeof *c);

    if (c == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a curve source");
    }
    c->study = study;
    *out = c;
    return TRI_OK;
}

tri_status tri_curve_create(const tri_study *study, double cost_s,
                            tri_curve **out)
{
    tri_curve *c = NULL;
    tri_status st;

    TRI_TRY(create(study, &c));
    st = open_source(c, cost_s);
    if (st != TRI_OK) {
        tri_curve_destroy(c);
        return st;
    }
    *out = c;
    return TRI_OK;
}

tri_status tri_curve_create_recorded(const tri_study *study,
                                     const tri_recorded *recorded,
                                     double cost_s, tri_curve **out)
{
    tri_curve *c = NULL;
    tri_status st;

    TRI_TRY(create(study, &c));
    c->cost_s = cost_of(study, cost_s);
    st = tri_results_create(recorded, &c->recorded);
    if (st != TRI_OK) {
        tri_curve_destroy(c);
        return st;
    }
    *out = c;
    return TRI_OK;
}

void tri_curve_destroy(tri_curve *c)
{
    if (c != NULL) {
        tri_synthetic_destroy(c->synthetic);
        tri_results_destroy(c->recorded);
        free(c);
    }
}

/*
 * A model of what is left of values once earlier studies have had their say.
 */
#include "src/propose/transfer_internal.h"

#include <stdlib.h>
#include <string.h>

struct tri_model {
    const tri_transfer *t;
    const tri_predictor_ops *inner;
    tri_model *rest; /* of `inner` */
    double *weight;  /* of the sources when it was fitted */
};

static void set_weights(tri_model *m, int rough)
{
    for (int i = 0; i < m->t->n; i++) {
        m->weight[i] = rough ? 0 : m->t->sources[i].weight;
    }
}

static void add_trend(const tri_model *m, double sign, const double *x, int n,
                      double resource, double *out)
{
    for (int i = 0; i < m->t->n; i++) {
        if (m->weight[i] > 0) {
            tri_source_add(&m->t->sources[i], sign * m->weight[i], x, n,
                           m->t->width, resource, out);
        }
    }
}

/* The samples' values without the trend, to be freed; NULL. */
static double *rest_of(const tri_model *m, const tri_samples *s)
{
    double *y = malloc(((size_t)s->n + 1) * sizeof *y);

    for (int i = 0; y && i < s->n; i++) {
        y[i] = s->y[i];
        add_trend(m, -1, s->x + (size_t)i * (size_t)s->width, 1,
                  s->resource ? s->resource[i] : 1, &y[i]);
    }
    return y;
}

static void destroy(tri_model *m)
{
    if (m) {
        if (m->rest) {
            m->inner->destroy(m->rest);
        }
        free(m->weight);
        free(m);
    }
}

tri_status tri_transfer_fit(const tri_transfer *t,
                            const tri_predictor_ops *inner,
                            const tri_encoding *e, const tri_samples *s,
                            uint64_t seed, const tri_model *before,
                            tri_model **out)
{
    tri_model *m = calloc(1, sizeof *m);
    tri_samples rest = *s;
    double *y = NULL;
    tri_status st;

    if (m) {
        m->t = t;
        m->inner = inner;
        m->weight = calloc((size_t)t->n + 1, sizeof *m->weight);
    }
    if (m && m->weight) {
        set_weights(m, s->rough);
        rest.y = y = rest_of(m, s);
    }
    st = y ? inner->fit(e, &rest, seed, before ? before->rest : NULL, &m->rest)
           : TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    free(y);
    if (st != TRI_OK) {
        destroy(m);
        return st;
    }
    *out = m;
    return TRI_OK;
}

static tri_status update(tri_model *m, const tri_samples *s)
{
    tri_samples rest = *s;
    double *before = malloc(((size_t)m->t->n + 1) * sizeof *before);
    double *y = NULL;
    tri_status st;

    if (before) {
        memcpy(before, m->weight, (size_t)m->t->n * sizeof *before);
        set_weights(m, s->rough);
        rest.y = y = rest_of(m, s);
    }
    st = y ? m->inner->update(m->rest, &rest)
           : TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    if (st != TRI_OK && before) {
        memcpy(m->weight, before, (size_t)m->t->n * sizeof *before);
    }
    free(before);
    free(y);
    return st;
}

static void predict(const tri_model *m, const double *x, int n, double resource,
                    double *mean, double *sd)
{
    m->inner->predict(m->rest, x, n, resource, mean, sd);
    add_trend(m, 1, x, n, resource, mean);
}

static void screen(const tri_model *m, const float *x, int n, double resource,
                   float *mean, float *sd)
{
    m->inner->screen(m->rest, x, n, resource, mean, sd);
    for (int i = 0; i < m->t->n; i++) {
        if (m->weight[i] > 0) {
            tri_source_add_few(&m->t->sources[i], m->weight[i], x, n,
                               m->t->width, resource, mean);
        }
    }
}

static tri_status add(tri_model *m, const double *x, double y, double resource)
{
    add_trend(m, -1, x, 1, resource, &y);
    return m->inner->add(m->rest, x, y, resource);
}

static void truncate(tri_model *m, int n)
{
    m->inner->truncate(m->rest, n);
}

static int size(const tri_model *m)
{
    return m->inner->size(m->rest);
}

static tri_status draw(const tri_model *m, const double *x, int n,
                       double resource, uint64_t seed, double *out)
{
    TRI_TRY(m->inner->draw(m->rest, x, n, resource, seed, out));
    add_trend(m, 1, x, n, resource, out);
    return TRI_OK;
}

static tri_status draws(const tri_model *m, const double *x, int n,
                        double resource, uint64_t seed, int many, double *out)
{
    TRI_TRY(m->inner->draws(m->rest, x, n, resource, seed, many, out));
    for (int k = 0; k < many; k++) {
        add_trend(m, 1, x, n, resource, out + (size_t)k * (size_t)n);
    }
    return TRI_OK;
}

static void describe(const tri_model *m, char *buf, size_t bytes)
{
    m->inner->describe(m->rest, buf, bytes);
}

const tri_predictor_ops *tri_transfer_over(tri_transfer *t,
                                           const tri_predictor_ops *inner)
{
    t->over = (tri_predictor_ops){.name = inner->name,
                                  .update = inner->update ? update : NULL,
                                  .predict = predict,
                                  .screen = inner->screen ? screen : NULL,
                                  .add = inner->add ? add : NULL,
                                  .truncate = inner->truncate ? truncate : NULL,
                                  .size = size,
                                  .draw = inner->draw ? draw : NULL,
                                  .draws = inner->draws ? draws : NULL,
                                  .describe = describe,
                                  .destroy = destroy};
    return &t->over;
}

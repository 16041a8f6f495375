/*
 * A multi-layer perceptron: everything that the engine asks of a model, in
 * its shortest form.  Loss: half the squared error, summed over outputs.
 */
#include "models/mlp/mlp.h"

#include "models/data/data.h"
#include "models/ops/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What forward keeps of one micro-batch: act[i] is the input of layer i, and
 * pre[i] its output before GELU.  Inputs that backward makes again
 * (tri_recompute) share one place. */
typedef struct slot {
    tri_real **act, **pre, *target;
} slot;

struct tri_model {
    tri_mlp_shape shape;
    tri_place place;
    uint64_t seed;
    tri_tensors tensors; /* w and b of each layer in turn */
    int n;               /* linear layers: layers + 1 */
    tri_linear *linear;
    slot *slots;
    tri_real **pointers;       /* behind the slots' act and pre */
    tri_real *d_this, *d_next; /* workspace: gradients between layers */
    double loss;
};

static int64_t in_of(const tri_model *m, int i)
{
    return i == 0 ? m->shape.inputs : m->shape.hidden;
}

static int64_t out_of(const tri_model *m, int i)
{
    return i == m->n - 1 ? m->shape.outputs : m->shape.hidden;
}

/* ---- the table ----------------------------------------------------------- */

static tri_status add_layer(tri_model *m, int i)
{
    tri_tensor w = {.id = (uint32_t)(2 * i),
                    .n_dims = 2,
                    .shape = {out_of(m, i), in_of(m, i)},
                    .split = -1,
                    .init = TRI_INIT_NORMAL,
                    .std = 1 / sqrt((double)in_of(m, i)),
                    .flags = TRI_TENSOR_TP_COPY,
                    .unit = i};
    tri_tensor b = {.id = (uint32_t)(2 * i + 1),
                    .n_dims = 1,
                    .shape = {out_of(m, i)},
                    .split = -1,
                    .init = TRI_INIT_ZERO,
                    .flags = TRI_TENSOR_TP_COPY | TRI_TENSOR_NO_DECAY,
                    .unit = i};

    snprintf(w.name, sizeof w.name, "layer.%d.w", i);
    snprintf(b.name, sizeof b.name, "layer.%d.b", i);
    TRI_TRY(tri_tensors_add(&m->tensors, &w));
    return tri_tensors_add(&m->tensors, &b);
}

static void destroy(tri_model *m)
{
    if (!m) {
        return;
    }
    tri_tensors_fini(&m->tensors);
    free(m->linear);
    free(m->slots);
    free(m->pointers);
    free(m);
    tri_models_count(-1);
}

static tri_status make_room(tri_model *m)
{
    size_t n = (size_t)m->n, slots = (size_t)m->place.slots, i;

    m->linear = calloc(n, sizeof *m->linear);
    m->slots = calloc(slots, sizeof *m->slots);
    m->pointers = calloc(2 * n * slots, sizeof *m->pointers);
    if (!m->linear || !m->slots || !m->pointers) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an mlp");
    }
    for (i = 0; i < slots; i++) {
        m->slots[i].act = m->pointers + 2 * n * i;
        m->slots[i].pre = m->pointers + 2 * n * i + n;
    }
    return TRI_OK;
}

tri_status tri_mlp_create(const tri_mlp_shape *shape, const tri_place *place,
                          uint64_t seed, tri_model **out)
{
    tri_model *m = calloc(1, sizeof *m);
    tri_status st;
    int i;

    if (!m) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    tri_models_count(1);
    m->shape = *shape;
    m->place = *place;
    m->seed = seed;
    m->n = shape->layers + 1;
    TRI_TRY_GOTO(st, make_room(m), fail);
    for (i = 0; i < m->n; i++) {
        TRI_TRY_GOTO(st, add_layer(m, i), fail);
    }
    *out = m;
    return TRI_OK;
fail:
    destroy(m);
    return st;
}

static const tri_tensors *tensors(const tri_model *m)
{
    return &m->tensors;
}

/* A layer is a unit: its weights, then its biases. */
static void bind_unit(tri_model *m, int i, const tri_real *params,
                      tri_real *grads)
{
    const tri_tensor *at = m->tensors.at;
    int64_t bias = at[2 * i + 1].offset - at[2 * i].offset;

    m->linear[i] = (tri_linear){.in = in_of(m, i),
                                .out = out_of(m, i),
                                .w = params,
                                .b = params + bias,
                                .dw = grads,
                                .db = grads + bias};
}

static void bind(tri_model *m, const tri_real *params, tri_real *grads)
{
    int i;

    for (i = 0; i < m->n; i++) {
        int64_t first = m->tensors.at[2 * i].offset;

        bind_unit(m, i, params + first, grads + first);
    }
}

/* ---- memory ---- */

static tri_status take(tri_region *region, int64_t n, tri_real **out)
{
    void *p = NULL;

    TRI_TRY(tri_region_alloc(region, (uint64_t)n * sizeof(tri_real),
                             "activations", &p));
    *out = p;
    return TRI_OK;
}

static tri_status alloc(tri_model *m, tri_region *region)
{
    int64_t rows = m->place.micro_batch, widest = m->shape.outputs;
    int again = m->place.recompute != TRI_RECOMPUTE_NONE, i, k;
    tri_real *shared = NULL;

    if (again) {
        TRI_TRY(take(region, rows * m->shape.hidden, &shared));
    }
    for (k = 0; k < m->place.slots; k++) {
        slot *s = &m->slots[k];

        for (i = 0; i < m->n; i++) {
            s->act[i] = shared;
            if (!again || i == 0) {
                TRI_TRY(take(region, rows * in_of(m, i), &s->act[i]));
            }
            TRI_TRY(take(region, rows * out_of(m, i), &s->pre[i]));
        }
        TRI_TRY(take(region, rows * m->shape.outputs, &s->target));
    }
    widest = m->shape.hidden > widest ? m->shape.hidden : widest;
    TRI_TRY(take(region, rows * widest, &m->d_this));
    return take(region, rows * widest, &m->d_next);
}

/* ---- work ---- */

static void load(tri_model *m, int k, int64_t step, int64_t sample)
{
    int i;

    for (i = 0; i < m->place.micro_batch; i++) {
        tri_synthetic_sample(m->seed, step, sample + i, m->shape.inputs,
                             m->shape.outputs,
                             m->slots[k].act[0] + i * m->shape.inputs,
                             m->slots[k].target + i * m->shape.outputs);
    }
}

static void forward(tri_model *m, int k)
{
    slot *s = &m->slots[k];
    int64_t rows = m->place.micro_batch;
    int i;

    for (i = 0; i < m->n; i++) {
        tri_place_before(&m->place, i, 0);
        tri_linear_forward(&m->linear[i], rows, s->act[i], s->pre[i]);
        tri_place_after(&m->place, i, 0);
        if (i + 1 < m->n) {
            tri_gelu_forward(rows * out_of(m, i), s->pre[i], s->act[i + 1]);
        }
    }
}

/* Loss of the outputs, and its gradient into d_this. */
static void error_of(tri_model *m, const slot *s)
{
    int64_t n = (int64_t)m->place.micro_batch * m->shape.outputs, i;
    const tri_real *y = s->pre[m->n - 1];
    double sum = 0, count = m->place.global_batch;

    for (i = 0; i < n; i++) {
        double e = (double)y[i] - (double)s->target[i];

        sum += e * e;
        m->d_this[i] = (tri_real)(e / count);
    }
    m->loss += sum / (2 * count);
}

static void backward(tri_model *m, int k)
{
    slot *s = &m->slots[k];
    int64_t rows = m->place.micro_batch;
    int i;

    error_of(m, s);
    for (i = m->n - 1; i >= 0; i--) {
        tri_real *dx = i ? m->d_next : NULL;

        if (i && m->place.recompute != TRI_RECOMPUTE_NONE) {
            tri_gelu_forward(rows * in_of(m, i), s->pre[i - 1], s->act[i]);
        }
        tri_place_before(&m->place, i, 1);
        tri_linear_backward(&m->linear[i], rows, s->act[i], m->d_this, dx);
        tri_place_after(&m->place, i, 1);
        if (i) {
            tri_gelu_backward(rows * in_of(m, i), s->pre[i - 1], m->d_next,
                              m->d_this);
        }
    }
}

static double take_loss(tri_model *m)
{
    double loss = m->loss;

    m->loss = 0;
    return loss;
}

/* No stages beside this one, and no tokens. */
static int64_t none(const tri_model *m)
{
    (void)m;
    return 0;
}

static tri_real *no_port(tri_model *m, tri_port port, int k)
{
    (void)m;
    (void)port;
    (void)k;
    return NULL;
}

const tri_model_ops tri_mlp_ops = {.name = "mlp",
                                   .tensors = tensors,
                                   .alloc = alloc,
                                   .bind = bind,
                                   .bind_unit = bind_unit,
                                   .port_count = none,
                                   .port = no_port,
                                   .load = load,
                                   .forward = forward,
                                   .backward = backward,
                                   .take_loss = take_loss,
                                   .sample_tokens = none,
                                   .destroy = destroy};

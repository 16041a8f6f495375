/*
 * DLRM: the dense part, and a micro-batch through all of it.
 */
#include "models/dlrm/dlrm.h"

#include "models/dlrm/bags.h"
#include "models/ops/ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A perceptron: linear layers with ReLU behind all but, of the top one, the
 * last. */
typedef struct stack {
    int n, first; /* layers; the unit of the first */
    int64_t width[TRI_DLRM_LAYERS + 2];
    tri_linear linear[TRI_DLRM_LAYERS + 1];
} stack;

/* What forward keeps of a micro-batch.  F vectors: the bottom's output, then a
 * pool of each table. */
typedef struct slot {
    int j;           /* place in the step */
    tri_real *dense; /* B x dense */
    int32_t *ids;    /* [tables][B][P] */
    signed char *click;
    tri_real *bottom[TRI_DLRM_LAYERS + 1]; /* outputs of the layers */
    tri_real *x;                           /* [B][F][D] */
    tri_real *pairs;                       /* [B]: bottom's output, pairs */
    tri_real *top[TRI_DLRM_LAYERS + 1];
} slot;

struct tri_model {
    tri_dlrm_shape shape;
    tri_place place;
    tri_clicks clicks;
    stack bottom, top;
    tri_tensors tensors; /* of the dense part: w and b of each layer */
    tri_bags bags;
    slot *slots;
    tri_real *d_this, *d_next, *d_x; /* workspace of backward */
    double loss;
};

static int64_t n_pairs(const tri_dlrm_shape *s)
{
    return (int64_t)(s->tables + 1) * s->tables / 2;
}

/* ---- the table ----------------------------------------------------------- */

static tri_status add_layer(tri_model *m, const stack *s, int i,
                            const char *name)
{
    int64_t in = s->width[i], out = s->width[i + 1];
    int unit = s->first + i;
    tri_tensor w = {.id = (uint32_t)(2 * unit),
                    .n_dims = 2,
                    .shape = {out, in},
                    .split = -1,
                    .init = TRI_INIT_NORMAL,
                    .std = sqrt(2 / (double)(in + out)),
                    .flags = TRI_TENSOR_TP_COPY,
                    .unit = unit};
    tri_tensor b = {.id = (uint32_t)(2 * unit + 1),
                    .n_dims = 1,
                    .shape = {out},
                    .split = -1,
                    .init = TRI_INIT_ZERO,
                    .flags = TRI_TENSOR_TP_COPY | TRI_TENSOR_NO_DECAY,
                    .unit = unit};

    snprintf(w.name, sizeof w.name, "%s.%d.w", name, i);
    snprintf(b.name, sizeof b.name, "%s.%d.b", name, i);
    TRI_TRY(tri_tensors_add(&m->tensors, &w));
    return tri_tensors_add(&m->tensors, &b);
}

static tri_status add_stack(tri_model *m, stack *s, int64_t in,
                            const int *hidden, int n, int64_t out,
                            const char *name)
{
    int i;

    s->n = n + 1;
    s->first = m->tensors.n / 2;
    s->width[0] = in;
    for (i = 0; i < n; i++) {
        s->width[i + 1] = hidden[i];
    }
    s->width[n + 1] = out;
    for (i = 0; i < s->n; i++) {
        TRI_TRY(add_layer(m, s, i, name));
    }
    return TRI_OK;
}

static void destroy(tri_model *m)
{
    if (!m) {
        return;
    }
    tri_tensors_fini(&m->tensors);
    tri_bags_fini(&m->bags);
    free(m->slots);
    free(m);
    tri_models_count(-1);
}

static tri_status build(tri_model *m)
{
    const tri_dlrm_shape *s = &m->shape;

    m->slots = calloc((size_t)m->place.slots, sizeof *m->slots);
    if (!m->slots) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    TRI_TRY(add_stack(m, &m->bottom, s->dense, s->bottom, s->n_bottom, s->dim,
                      "bottom"));
    TRI_TRY(add_stack(m, &m->top, s->dim + n_pairs(s), s->top, s->n_top, 1,
                      "top"));
    return tri_bags_init(&m->bags, s, &m->place);
}

tri_status tri_dlrm_create(const tri_dlrm_shape *shape, const tri_place *place,
                           uint64_t seed, tri_model **out)
{
    tri_model *m = calloc(1, sizeof *m);
    tri_status st;

    if (!m) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    tri_models_count(1);
    m->shape = *shape;
    m->place = *place;
    m->clicks = (tri_clicks){.seed = seed,
                             .dense = shape->dense,
                             .tables = shape->tables,
                             .pooling = shape->pooling,
                             .rows = m->shape.rows,
                             .zipf = shape->zipf};
    tri_clicks_prepare(&m->clicks);
    st = build(m);
    if (st != TRI_OK) {
        destroy(m);
        return st;
    }
    *out = m;
    return TRI_OK;
}

const tri_plan *tri_dlrm_plan(const tri_model *m)
{
    return &m->bags.plan;
}

static const tri_tensors *tensors(const tri_model *m)
{
    return &m->tensors;
}

static const tri_tensors *sparse(const tri_model *m)
{
    return &m->bags.table;
}

/* A layer is a unit: its weights, then its biases. */
static void bind_unit(tri_model *m, int unit, const tri_real *params,
                      tri_real *grads)
{
    stack *s = unit < m->top.first ? &m->bottom : &m->top;
    const tri_tensor *at = m->tensors.at + 2 * (int64_t)unit;
    int64_t bias = at[1].offset - at[0].offset;
    int i = unit - s->first;

    s->linear[i] = (tri_linear){.in = s->width[i],
                                .out = s->width[i + 1],
                                .w = params,
                                .b = params + bias,
                                .dw = grads,
                                .db = grads + bias};
}

static void bind(tri_model *m, const tri_real *params, tri_real *grads)
{
    int unit;

    for (unit = 0; unit < m->tensors.n / 2; unit++) {
        int64_t first = m->tensors.at[2 * (int64_t)unit].offset;

        bind_unit(m, unit, params + first, grads + first);
    }
}

static void bind_sparse(tri_model *m, tri_real *params)
{
    tri_bags_bind(&m->bags, params);
}

/* ---- memory -------------------------------------------------------------- */

static tri_status take(tri_region *region, int64_t n, tri_real **out)
{
    void *p = NULL;

    TRI_TRY(tri_region_alloc(region, (uint64_t)n * sizeof(tri_real),
                             "activations", &p));
    *out = p;
    return TRI_OK;
}

static tri_status take_outputs(tri_region *region, int64_t rows, const stack *s,
                               tri_real **out)
{
    int i;

    for (i = 0; i < s->n; i++) {
        TRI_TRY(take(region, rows * s->width[i + 1], &out[i]));
    }
    return TRI_OK;
}

static tri_status alloc_slot(tri_model *m, slot *s, tri_region *region)
{
    const tri_dlrm_shape *shape = &m->shape;
    int64_t B = m->place.micro_batch;
    void *ids = NULL, *click = NULL;

    TRI_TRY(take(region, B * shape->dense, &s->dense));
    TRI_TRY(tri_region_alloc(region,
                             (uint64_t)(B * shape->tables * shape->pooling) *
                                     sizeof *s->ids,
                             "activations", &ids));
    TRI_TRY(tri_region_alloc(region, (uint64_t)B, "activations", &click));
    s->ids = ids;
    s->click = click;
    TRI_TRY(take_outputs(region, B, &m->bottom, s->bottom));
    TRI_TRY(take(region, B * (shape->tables + 1) * shape->dim, &s->x));
    TRI_TRY(take(region, B * m->top.width[0], &s->pairs));
    return take_outputs(region, B, &m->top, s->top);
}

static tri_status alloc(tri_model *m, tri_region *region)
{
    const tri_dlrm_shape *s = &m->shape;
    int64_t B = m->place.micro_batch, widest = 1;
    int i;

    TRI_TRY(tri_bags_alloc(&m->bags, region));
    for (i = 0; i < m->place.slots; i++) {
        TRI_TRY(alloc_slot(m, &m->slots[i], region));
    }
    for (i = 0; i <= m->bottom.n; i++) {
        widest = m->bottom.width[i] > widest ? m->bottom.width[i] : widest;
    }
    for (i = 0; i <= m->top.n; i++) {
        widest = m->top.width[i] > widest ? m->top.width[i] : widest;
    }
    TRI_TRY(take(region, B * widest, &m->d_this));
    TRI_TRY(take(region, B * widest, &m->d_next));
    return take(region, B * (s->tables + 1) * s->dim, &m->d_x);
}

/* ---- samples ------------------------------------------------------------- */

/* Sample `number` since the first step, round and round in the file's order. */
static void recorded(const tri_model *m, slot *s, int64_t i, int64_t number)
{
    const tri_dlrm_shape *shape = &m->shape;
    const tri_criteo *c = shape->samples;
    int64_t n = number % c->n, stride = m->place.micro_batch;
    int k;

    for (k = 0; k < shape->dense; k++) {
        s->dense[i * shape->dense + k] =
                (tri_real)c->dense[n * TRI_CRITEO_DENSE + k];
    }
    for (k = 0; k < shape->tables; k++) {
        int64_t hash = c->hash[n * TRI_CRITEO_SPARSE + k];

        s->ids[k * stride + i] =
                hash < 0 ? -1 : (int32_t)(hash % shape->rows[k]);
    }
    s->click[i] = c->click[n];
}

static void load(tri_model *m, int k, int64_t step, int64_t sample)
{
    const tri_dlrm_shape *shape = &m->shape;
    slot *s = &m->slots[k];
    int64_t B = m->place.micro_batch, i;

    s->j = (int)(sample % (m->place.global_batch / m->bags.W) / B);
    for (i = 0; i < B; i++) {
        if (shape->samples) {
            recorded(m, s, i, step * m->place.global_batch + sample + i);
            continue;
        }
        s->click[i] = (signed char)tri_clicks_sample(
                &m->clicks, step, sample + i, B * shape->pooling,
                s->dense + i * shape->dense, s->ids + i * shape->pooling);
    }
}

/* ---- work ---------------------------------------------------------------- */

/* Layers of `s` from `x`; `last`: whether its last has a ReLU too. */
static void run_stack(const tri_model *m, const stack *s, const tri_real *x,
                      tri_real *const *out, int last)
{
    int64_t rows = m->place.micro_batch;
    tri_linear l;
    int i;

    for (i = 0; i < s->n; i++) {
        tri_place_before(&m->place, s->first + i, 0);
        l = s->linear[i];
        if (i + 1 < s->n || last) { /* the bias goes with the ReLU */
            l.b = NULL;
        }
        tri_linear_forward(&l, rows, i ? out[i - 1] : x, out[i]);
        if (!l.b) {
            tri_bias_relu(s->linear[i].b, rows, l.out, out[i]);
        }
        tri_place_after(&m->place, s->first + i, 0);
    }
}

/* From d_this, the gradient behind the last layer, to d_this, that of x (where
 * `whole`). */
static void run_stack_back(tri_model *m, const stack *s, const tri_real *x,
                           tri_real *const *out, int last, int whole)
{
    int64_t rows = m->place.micro_batch;
    int i;

    for (i = s->n - 1; i >= 0; i--) {
        tri_real *swap = m->d_this;
        tri_linear l;

        tri_place_before(&m->place, s->first + i, 1);
        l = s->linear[i];
        if (i + 1 < s->n || last) {
            tri_bias_relu_back(out[i], rows, l.out, m->d_this, l.db);
            l.db = NULL;
        }
        tri_linear_backward(&l, rows, i ? out[i - 1] : x, m->d_this,
                            i || whole ? m->d_next : NULL);
        tri_place_after(&m->place, s->first + i, 1);
        m->d_this = m->d_next;
        m->d_next = swap;
    }
}

static void interact(const tri_model *m, slot *s)
{
    int F = m->shape.tables + 1, D = m->shape.dim, k;
    int64_t width = m->top.width[0], i;

    for (i = 0; i < m->place.micro_batch; i++) {
        tri_real *x = s->x + i * F * D, *to = s->pairs + i * width;
        const tri_real *bottom = s->bottom[m->bottom.n - 1] + i * D;

        for (k = 0; k < D; k++) {
            x[k] = to[k] = bottom[k];
        }
    }
    tri_pairs_forward(m->place.micro_batch, F, D, s->x, width, s->pairs + D);
}

/* d_this: gradient of what the top saw; then that of the bottom's output. */
static void interact_back(tri_model *m, const slot *s)
{
    int F = m->shape.tables + 1, D = m->shape.dim, k;
    int64_t width = m->top.width[0], i;

    tri_pairs_backward(m->place.micro_batch, F, D, s->x, m->d_this + D, width,
                       m->d_x);
    for (i = 0; i < m->place.micro_batch; i++) {
        const tri_real *d = m->d_this + i * width;
        const tri_real *dx = m->d_x + i * F * D;

        for (k = 0; k < D; k++) {
            m->d_next[i * D + k] = dx[k] + d[k];
        }
    }
}

static void forward(tri_model *m, int k)
{
    slot *s = &m->slots[k];

    run_stack(m, &m->bottom, s->dense, s->bottom, 1);
    tri_bags_forward(&m->bags, s->j, s->ids, s->x);
    interact(m, s);
    run_stack(m, &m->top, s->pairs, s->top, 0);
}

/* Binary cross-entropy of the logits, and its gradient into d_this. */
static void error_of(tri_model *m, const slot *s)
{
    const tri_real *logit = s->top[m->top.n - 1];
    double count = m->place.global_batch, sum = 0;
    int64_t i;

    for (i = 0; i < m->place.micro_batch; i++) {
        double y = (double)logit[i], e = exp(-fabs(y));
        double p = y > 0 ? 1 / (1 + e) : e / (1 + e);

        sum += (y > 0 ? y : 0) - y * s->click[i] + log1p(e);
        m->d_this[i] = (tri_real)((p - s->click[i]) / count);
    }
    m->loss += sum / count;
}

static void backward(tri_model *m, int k)
{
    slot *s = &m->slots[k];
    tri_real *swap;

    error_of(m, s);
    run_stack_back(m, &m->top, s->pairs, s->top, 0, 1);
    interact_back(m, s);
    swap = m->d_this;
    m->d_this = m->d_next;
    m->d_next = swap;
    tri_bags_backward(&m->bags, s->j, m->d_x);
    run_stack_back(m, &m->bottom, s->dense, s->bottom, 1, 0);
}

static double sparse_end(tri_model *m)
{
    return tri_bags_end(&m->bags);
}

static void sparse_update(tri_model *m, double coefficient)
{
    tri_bags_update(&m->bags, coefficient);
}

static tri_real *sparse_state(tri_model *m, int k)
{
    return m->bags.blocks[k].state;
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

const tri_model_ops tri_dlrm_ops = {.name = "dlrm",
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
                                    .sparse = sparse,
                                    .bind_sparse = bind_sparse,
                                    .sparse_end = sparse_end,
                                    .sparse_update = sparse_update,
                                    .sparse_state = sparse_state,
                                    .sample_tokens = none,
                                    .destroy = destroy};

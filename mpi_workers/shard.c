/*
 * The arithmetic of layouts, and the rules that a layout must obey.
 */
#include "mpi_workers/shard.h"

tri_coord tri_shard_coord(const tri_layout *l, int rank)
{
    return (tri_coord){.tp = rank % l->tp,
                       .dp = rank / l->tp % l->dp,
                       .pp = rank / l->tp / l->dp};
}

int tri_shard_rank(const tri_layout *l, tri_coord c)
{
    return c.tp + l->tp * (c.dp + l->dp * c.pp);
}

int tri_shard_ranks(const tri_layout *l)
{
    return l->dp * l->tp * l->pp;
}

int tri_shard_micro_batches(const tri_layout *l)
{
    return l->global_batch / (l->dp * l->micro_batch);
}

int64_t tri_shard_sample(const tri_layout *l, int dp_i, int k)
{
    return (int64_t)dp_i * (l->global_batch / l->dp) +
           (int64_t)k * l->micro_batch;
}

/* Costs of a token's forward, in multiplications.  Backward is twice that of
 * everything, so only the proportions matter. */
#define ELEMENT                                                                \
    32 /* multiplications in the time that an element is touched               \
        */

static int64_t layer_cost(const tri_gpt_spec *g)
{
    int64_t h = g->hidden, f = g->ffn;

    /* qkv and proj, up (gates too) and down; scores and sums over half of the
     * keys */
    return 4 * h * h + (g->swiglu ? 3 : 2) * h * f + g->sequence * h +
           ELEMENT * (6 * h + (g->swiglu ? 3 : 2) * f);
}

static int64_t embedding_cost(const tri_gpt_spec *g)
{
    return (int64_t)ELEMENT * 2 * g->hidden;
}

static int64_t head_cost(const tri_gpt_spec *g)
{
    return (int64_t)g->vocab * (g->hidden + 2 * ELEMENT);
}

static void even_layers(int layers, int parts, int part, int *first, int *n)
{
    int each = layers / parts, more = layers % parts;

    *n = each + (part < more);
    *first = part * each + (part < more ? part : more);
}

/* Layer by layer to where one more leaves the cheapest part; the earlier of
 * equals.  Parts between the ends are all the same, so they are one number. */
static void cost_layers(const tri_gpt_spec *g, int parts, int part, int *first,
                        int *n)
{
    int64_t each = layer_cost(g), at_first = embedding_cost(g) + each,
            at_last = head_cost(g) + each;
    int inner = parts - 2, front = 1, middle = inner, back = 1, i;

    for (i = parts; i < g->layers; i++) {
        int64_t between = inner > 0 ? middle / inner * each : INT64_MAX;

        if (at_first <= between && at_first <= at_last) {
            front++;
            at_first += each;
        } else if (between <= at_last) {
            middle++;
        } else {
            back++;
            at_last += each;
        }
    }
    if (part == 0) {
        *first = 0;
        *n = front;
    } else if (part == parts - 1) {
        *first = front + middle;
        *n = back;
    } else {
        even_layers(middle, inner, part - 1, first, n);
        *first += front;
    }
}

void tri_shard_layers(const tri_gpt_spec *g, const tri_layout *l, int part,
                      int *first, int *n)
{
    int parts = l->pp * l->virtual_stages;

    if (l->split == 0 || parts == 1) {
        even_layers(g->layers, parts, part, first, n);
    } else {
        cost_layers(g, parts, part, first, n);
    }
}

/* One rule: what is said of it when `ok` is false. */
#define RULE(ok, ...)                                                          \
    do {                                                                       \
        if (!(ok)) {                                                           \
            return TRI_FAIL(TRI_EINFEASIBLE, __VA_ARGS__);                     \
        }                                                                      \
    } while (0)

static tri_status check_sizes(const tri_layout *l, int ranks)
{
    RULE(l->dp >= 1 && l->tp >= 1 && l->pp >= 1,
         "dp %d, tp %d, pp %d: each must be at least 1", l->dp, l->tp, l->pp);
    RULE(l->micro_batch >= 1 && l->global_batch >= 1,
         "micro_batch %d, global_batch %d: each must be at least 1",
         l->micro_batch, l->global_batch);
    RULE((int64_t)l->dp * l->tp * l->pp == ranks,
         "dp %d x tp %d x pp %d is not the %d ranks of the group", l->dp, l->tp,
         l->pp, ranks);
    RULE(l->global_batch % ((int64_t)l->dp * l->micro_batch) == 0,
         "global_batch %% (dp * micro_batch) == 0: %d %% (%d * %d) is not 0",
         l->global_batch, l->dp, l->micro_batch);
    return TRI_OK;
}

static tri_status check_built(const tri_layout *l)
{
    RULE(l->threads <= 1, "threads %d is not built yet", l->threads);
    return TRI_OK;
}

static tri_status check_zero(const tri_layout *l)
{
    RULE(l->zero >= 0 && l->zero <= 3, "zero %d: from 0 to 3", l->zero);
    RULE(l->zero == 0 || l->dp > 1, "zero needs dp > 1: zero %d", l->zero);
    RULE(l->zero < 2 || l->pp == 1,
         "zero >= 2 needs pp = 1: zero %d, pp %d (a pipeline has micro-batches "
         "whose gradients are not complete)",
         l->zero, l->pp);
    RULE(l->overlap >= 0 && l->overlap <= 2, "overlap %d: there is none",
         l->overlap);
    RULE(l->overlap == 0 || l->dp > 1, "overlap needs dp > 1: overlap %d",
         l->overlap);
    RULE(l->overlap == 0 || l->zero <= 1 || (l->zero == 3 && l->overlap == 1),
         "overlap %s does not go with zero %d: gradients in parts are reduced "
         "before the next bucket's",
         l->overlap == 1 ? "poke" : "shm", l->zero);
    return TRI_OK;
}

static tri_status check_schedule(const tri_layout *l)
{
    int m = tri_shard_micro_batches(l), v = l->virtual_stages;

    RULE(v >= 1 && v <= TRI_MAX_CHUNKS, "virtual %d: from 1 to %d", v,
         TRI_MAX_CHUNKS);
    RULE(l->schedule >= 0 && l->schedule <= 2, "schedule %d: there is none",
         l->schedule);
    RULE(l->split == 0 || l->split == 1, "split %d: there is none", l->split);
    RULE(l->recompute >= 0 && l->recompute <= 2, "recompute %d: there is none",
         l->recompute);
    RULE(v == 1 || l->pp > 1, "virtual needs pp > 1: virtual %d", v);
    RULE(v == 1 || l->schedule == 2,
         "virtual needs schedule interleaved: virtual %d", v);
    RULE(l->schedule != 2 || m % l->pp == 0,
         "micro-batches %% pp == 0 for schedule interleaved: %d %% %d is not 0",
         m, l->pp);
    return TRI_OK;
}

static tri_status check_gpt(const tri_gpt_spec *g, const tri_layout *l)
{
    RULE(g->layers >= 1 && g->hidden >= 1 && g->heads >= 1 &&
                 g->sequence >= 1 && g->vocab >= 2 && g->ffn >= 1,
         "a size of the model is too small");
    RULE(g->hidden % g->heads == 0, "hidden %% heads == 0: %d %% %d is not 0",
         g->hidden, g->heads);
    RULE(g->dropout >= 0 && g->dropout <= 0.9, "dropout from 0 to 0.9: %g",
         g->dropout);
    RULE(!g->rope || g->hidden / g->heads % 2 == 0,
         "positions rope needs an even hidden / heads: %d",
         g->hidden / g->heads);
    RULE(g->heads % l->tp == 0, "heads %% tp == 0: %d %% %d is not 0", g->heads,
         l->tp);
    RULE(g->ffn % l->tp == 0, "ffn %% tp == 0: %d %% %d is not 0", g->ffn,
         l->tp);
    RULE(!l->sequence_parallel || l->tp > 1,
         "sequence_parallel needs tp > 1: %d", l->tp);
    RULE(!l->sequence_parallel || g->sequence % l->tp == 0,
         "sequence %% tp == 0: %d %% %d is not 0", g->sequence, l->tp);
    RULE(l->pp <= g->layers, "pp <= layers: %d stages for %d layers", l->pp,
         g->layers);
    RULE((int64_t)l->pp * l->virtual_stages <= g->layers,
         "layers >= pp * virtual: %d layers for %d * %d parts", g->layers,
         l->pp, l->virtual_stages);
    RULE(l->virtual_stages == 1 || l->split != 0 ||
                 g->layers % (l->pp * l->virtual_stages) == 0,
         "layers %% (pp * virtual) == 0: %d %% (%d * %d) is not 0", g->layers,
         l->pp, l->virtual_stages);
    return TRI_OK;
}

static tri_status check_mlp(const tri_mlp_spec *m, const tri_layout *l)
{
    RULE(m->inputs >= 1 && m->hidden >= 1 && m->layers >= 1 && m->outputs >= 1,
         "a size of the model is too small");
    RULE(l->tp == 1, "tp == 1 for an mlp: %d", l->tp);
    RULE(l->pp == 1, "pp == 1 for an mlp: %d", l->pp);
    RULE(!l->sequence_parallel, "sequence_parallel == false for an mlp");
    return TRI_OK;
}

static tri_status check_dlrm(const tri_dlrm_spec *d, const tri_layout *l)
{
    int i;

    RULE(d->tables >= 1 && d->tables <= TRI_MAX_TABLES && d->dim >= 1 &&
                 d->dense >= 1 && d->pooling >= 1 && d->n_bottom >= 0 &&
                 d->n_bottom <= TRI_MAX_MLP_LAYERS && d->n_top >= 0 &&
                 d->n_top <= TRI_MAX_MLP_LAYERS,
         "a size of the model is too small or too large");
    for (i = 0; i < d->tables; i++) {
        RULE(d->rows[i] >= 1, "table %d has no rows", i);
        RULE(l->placing[i] >= 0 && l->placing[i] <= 4,
             "placement %d of table %d: there is none", l->placing[i], i);
    }
    RULE(l->planner >= 0 && l->planner <= 2, "planner %d: there is none",
         l->planner);
    RULE(l->tp == 1, "tp == 1 for a dlrm: %d", l->tp);
    RULE(l->pp == 1, "pp == 1 for a dlrm: %d", l->pp);
    RULE(!l->sequence_parallel, "sequence_parallel == false for a dlrm");
    RULE(l->recompute == 0, "recompute == none for a dlrm");
    return TRI_OK;
}

tri_status tri_shard_check(const tri_model_spec *model, const tri_layout *l,
                           int ranks)
{
    TRI_TRY(check_sizes(l, ranks));
    TRI_TRY(check_built(l));
    TRI_TRY(check_zero(l));
    TRI_TRY(check_schedule(l));
    switch (model->kind) {
    case TRI_MODEL_GPT:
        return check_gpt(&model->u.gpt, l);
    case TRI_MODEL_DLRM:
        return check_dlrm(&model->u.dlrm, l);
    case TRI_MODEL_MLP:
        return check_mlp(&model->u.mlp, l);
    default:
        return TRI_FAIL(TRI_EINFEASIBLE,
                        "a model of this kind is not built yet");
    }
}

/*
 * The trainer: building it, and the views.  What a step does is in step.c.
 */
#include "mpi_workers/trainer_inside.h"

#include "models/dlrm/dlrm.h"
#include "models/gpt/gpt.h"
#include "models/mlp/mlp.h"
#include "models/ops/ops.h"

#include <stdlib.h>
#include <string.h>

static int n_alive;

/* ---- the model of a place, and its memory ------------------------------- */

static tri_status create_gpt(const tri_trainer_setup *s, const tri_place *place,
                             tri_model **out)
{
    const tri_gpt_spec *g = &s->model->u.gpt;
    tri_gpt_shape shape = {.layers = g->layers,
                           .hidden = g->hidden,
                           .heads = g->heads,
                           .sequence = g->sequence,
                           .vocab = g->vocab,
                           .ffn = g->ffn,
                           .tied = g->tied,
                           .rms = g->rms,
                           .swiglu = g->swiglu,
                           .rope = g->rope,
                           .no_bias = g->no_bias,
                           .dropout = g->dropout};
    tri_text text = {.bytes = s->text, .n = s->text_bytes, .seed = s->seed};
    tri_gpt_part parts[TRI_MAX_CHUNKS];
    int c;

    for (c = 0; c < place->chunks; c++) {
        tri_shard_layers(g, &s->layout, c * place->stages + place->stage,
                         &parts[c].first_layer, &parts[c].n_layers);
    }
    return tri_gpt_create(&shape, place, parts, &text, out);
}

static tri_status create_mlp(const tri_trainer_setup *s, const tri_place *place,
                             tri_model **out)
{
    const tri_mlp_spec *m = &s->model->u.mlp;
    tri_mlp_shape shape = {.inputs = m->inputs,
                           .hidden = m->hidden,
                           .layers = m->layers,
                           .outputs = m->outputs};

    return tri_mlp_create(&shape, place, s->seed, out);
}

static tri_status create_dlrm(const tri_trainer_setup *s,
                              const tri_place *place, tri_model **out)
{
    const tri_dlrm_spec *d = &s->model->u.dlrm;
    tri_dlrm_shape shape = {.dense = d->dense,
                            .tables = d->tables,
                            .dim = d->dim,
                            .pooling = d->pooling,
                            .n_bottom = d->n_bottom,
                            .n_top = d->n_top,
                            .zipf = d->zipf,
                            .samples = s->samples,
                            .lr = d->lr,
                            .planner = (tri_planner)s->layout.planner,
                            .limit_bytes = s->quota_bytes};
    int i;

    for (i = 0; i < d->tables; i++) {
        shape.rows[i] = d->rows[i];
        shape.placing[i] = s->layout.placing[i];
    }
    for (i = 0; i < TRI_MAX_MLP_LAYERS; i++) {
        shape.bottom[i] = d->bottom[i];
        shape.top[i] = d->top[i];
    }
    return tri_dlrm_create(&shape, place, s->seed, out);
}

static tri_status create_model(tri_trainer *t, const tri_trainer_setup *s)
{
    const tri_layout *l = &t->layout;
    tri_place place = {.stage = t->at.pp,
                       .stages = l->pp,
                       .chunks = t->shape.chunks,
                       .micro_batch = l->micro_batch,
                       .slots = t->schedule.slots,
                       .chunk_of = t->schedule.chunk_of,
                       .global_batch = l->global_batch,
                       .recompute = (tri_recompute)l->recompute,
                       .axis = &t->embed.axis,
                       .products = &t->products_used,
                       .watch = l->zero >= 2 || l->overlap ? &t->watch : NULL};

    if (s->model->kind == TRI_MODEL_DLRM) {
        t->ops = &tri_dlrm_ops;
        return create_dlrm(s, &place, &t->model);
    }
    if (s->model->kind == TRI_MODEL_MLP) {
        t->ops = &tri_mlp_ops;
        return create_mlp(s, &place, &t->model);
    }
    t->ops = &tri_gpt_ops;
    return create_gpt(s, &place, &t->model);
}

/* The one place where a run's memory is laid out, dry or not. */
static tri_status lay_out(tri_trainer *t, tri_region *region)
{
    TRI_TRY(tri_zero_alloc(&t->zero, region));
    TRI_TRY(tri_tp_alloc(&t->tp, t->ops->port_count(t->model), region));
    TRI_TRY(tri_embed_alloc(&t->embed, t->ops, t->model, region));
    return t->ops->alloc(t->model, region);
}

/* What a region came to hold, and what is in memory shared with others. */
static void take_kinds(const tri_trainer *t, const tri_region *region,
                       tri_memory *out)
{
    uint64_t shared = tri_overlap_bytes(&t->zero);
    int i = 0;

    out->n = tri_region_kinds(region, out->kinds);
    if (shared == 0) {
        return;
    }
    while (i < out->n && strcmp(out->kinds[i].what, "gradients") != 0) {
        i++;
    }
    if (i == out->n) {
        out->kinds[out->n++] = (tri_region_kind){.what = "gradients"};
    }
    out->kinds[i].bytes += shared;
}

static tri_status measure(tri_trainer *t, tri_memory *out)
{
    tri_region *dry = NULL;
    tri_status st;

    TRI_TRY(tri_region_create(UINT64_MAX / 8, 1, &dry));
    st = lay_out(t, dry);
    if (st == TRI_OK) {
        take_kinds(t, dry, out);
    }
    tri_region_destroy(dry);
    return st;
}

static uint64_t sum_of(const tri_memory *memory)
{
    uint64_t sum = 0;

    for (int i = 0; i < memory->n; i++) {
        sum += memory->kinds[i].bytes;
    }
    return sum;
}

static tri_schedule_shape shape_of(const tri_layout *l)
{
    static const tri_schedule_kind kinds[] = {
            TRI_SCHEDULE_GPIPE, TRI_SCHEDULE_1F1B, TRI_SCHEDULE_INTERLEAVED};

    return (tri_schedule_shape){.kind = kinds[l->schedule],
                                .stages = l->pp,
                                .chunks = l->virtual_stages,
                                .m = tri_shard_micro_batches(l)};
}

/* Everything of one rank that needs no other: checks, schedule, model. */
static tri_status plan(tri_trainer *t, const tri_trainer_setup *s, int rank,
                       int ranks)
{
    const tri_layout *l = &s->layout;

    TRI_TRY(tri_shard_check(s->model, l, ranks));
    t->layout = *l;
    t->at = tri_shard_coord(l, rank);
    t->shape = shape_of(l);
    t->seed = s->seed;
    t->way = s->way;
    t->optimizer = s->optimizer;
    t->clip = s->clip;
    t->tp = (tri_tp){.coll = &t->tensor,
                     .parts = l->tp,
                     .part = t->at.tp,
                     .by_rows = l->sequence_parallel};
    tri_tp_products(&t->tp, &t->products);
    tri_embed_open(&t->embed, &t->data, l->dp, t->at.dp);
    if (l->overlap) {
        tri_overlap_products(&t->zero, &t->products, &t->products_used);
    } else {
        t->products_used = t->products;
    }
    TRI_TRY(tri_schedule_init(&t->shape, t->at.pp, &t->schedule));
    t->watch = (tri_watch){.ctx = &t->zero,
                           .before = tri_zero_before,
                           .after = tri_zero_after};
    TRI_TRY(create_model(t, s));
    t->table = t->ops->tensors(t->model);
    TRI_TRY(tri_zero_init(&t->zero, l, t->at.dp, t->ops, t->model));
    t->zero.data = &t->data;
    t->zero.tensor = &t->tensor;
    t->zero.inner = &t->products;
    return tri_pipeline_init(t->ops, t->model, &t->shape, t->at.pp,
                             &t->schedule, &t->pipeline);
}

static tri_status check_text(const tri_trainer_setup *s)
{
    if (s->model->kind == TRI_MODEL_GPT &&
        s->text_bytes <= s->model->u.gpt.sequence) {
        return TRI_FAIL(TRI_EDATA,
                        "the text has %lld bytes, fewer than one sequence "
                        "and the byte after it (%d)",
                        (long long)s->text_bytes, s->model->u.gpt.sequence + 1);
    }
    return TRI_OK;
}

static tri_status take_memory(tri_trainer *t, uint64_t quota)
{
    tri_memory memory = {0};
    uint64_t need;

    TRI_TRY(measure(t, &memory));
    need = sum_of(&memory);
    if (quota && need > quota) {
        return TRI_FAIL(TRI_EOOM,
                        "the layout needs %.1f MiB on a rank, over the quota "
                        "of %.1f MiB",
                        (double)need / 1048576, (double)quota / 1048576);
    }
    TRI_TRY(tri_region_create(need - tri_overlap_bytes(&t->zero), 0,
                              &t->region));
    TRI_TRY(lay_out(t, t->region));
    return TRI_OK;
}

static void drop_local(tri_trainer *t)
{
    if (t->pipeline.requests) {
        tri_pipeline_fini(&t->pipeline);
    }
    if (t->model) {
        t->ops->destroy(t->model);
    }
    tri_schedule_fini(&t->schedule);
    tri_zero_fini(&t->zero);
    tri_region_destroy(t->region);
    free(t);
    n_alive--;
}

static tri_trainer *blank(void)
{
    tri_trainer *t = calloc(1, sizeof *t);

    if (t) {
        n_alive++;
    } else {
        (void)TRI_FAIL(TRI_ENOMEM, "no memory for a trainer");
    }
    return t;
}

tri_status tri_trainer_predict_kinds(const tri_trainer_setup *setup, int rank,
                                     tri_memory *out)
{
    tri_trainer *t = blank();
    tri_status st;

    if (!t) {
        return TRI_ENOMEM;
    }
    st = plan(t, setup, rank, tri_shard_ranks(&setup->layout));
    if (st == TRI_OK) {
        st = measure(t, out);
    }
    drop_local(t);
    return st;
}

tri_status tri_trainer_predict(const tri_trainer_setup *setup, int rank,
                               uint64_t *bytes)
{
    tri_memory memory = {0};

    TRI_TRY(tri_trainer_predict_kinds(setup, rank, &memory));
    *bytes = sum_of(&memory);
    return TRI_OK;
}

/* ---- the group ----------------------------------------------------------- */

static tri_status build_local(tri_trainer *t, const tri_trainer_setup *s,
                              MPI_Comm group)
{
    int rank, ranks;

    MPI_Comm_rank(group, &rank);
    MPI_Comm_size(group, &ranks);
    TRI_TRY(plan(t, s, rank, ranks));
    TRI_TRY(check_text(s));
    TRI_TRY(take_memory(t, s->quota_bytes));
    tri_gemm_one_thread();
    tri_embed_start(&t->embed, s->seed);
    tri_zero_start(&t->zero, s->seed);
    return TRI_OK;
}

static tri_status open_axes(tri_trainer *t, uint64_t piece)
{
    const tri_mesh *m = &t->mesh;

    TRI_TRY(tri_coll_open(&t->all, m->group, piece, t->way, &t->link));
    TRI_TRY(tri_coll_open(&t->tensor, m->tp, piece, t->way, &t->link));
    TRI_TRY(tri_coll_open(&t->data, m->dp, piece, t->way, &t->link));
    TRI_TRY(tri_coll_open(&t->tied, m->tied, piece, t->way, &t->link));
    TRI_TRY(tri_overlap_open(&t->zero));
    t->pipeline.comm = m->pp;
    t->pipeline.link = &t->link;
    return tri_step_open(t);
}

/* Communicators of a group that is broken are left as they are. */
static void close_axes(tri_trainer *t)
{
    tri_step_close(t);
    tri_overlap_close(&t->zero);
    tri_coll_close(&t->tied);
    tri_coll_close(&t->data);
    tri_coll_close(&t->tensor);
    tri_coll_close(&t->all);
    if (t->link == TRI_OK) {
        tri_mesh_close(&t->mesh);
    } else {
        tri_mesh_forget(&t->mesh);
    }
}

/* Whether MPI may still write into this trainer's memory. */
static int is_entangled(const tri_trainer *t)
{
    return tri_coll_is_entangled(&t->all) ||
           tri_coll_is_entangled(&t->tensor) ||
           tri_coll_is_entangled(&t->data) || tri_coll_is_entangled(&t->tied) ||
           t->pipeline.entangled;
}

static tri_status join(tri_trainer *t, MPI_Comm group, double limit_s)
{
    uint64_t piece =
            t->layout.bucket_bytes ? t->layout.bucket_bytes : (uint64_t)4 << 20;
    tri_status st;

    TRI_TRY(tri_mesh_open(group, &t->layout, limit_s, &t->mesh));
    st = open_axes(t, piece);
    if (st != TRI_OK) {
        close_axes(t);
    }
    return st;
}

tri_status tri_trainer_create(const tri_trainer_setup *setup, MPI_Comm group,
                              tri_trainer **out)
{
    tri_trainer *t = blank();
    tri_status st = t ? build_local(t, setup, group) : TRI_ENOMEM;

    st = tri_coll_agree(group, st);
    if (st != TRI_OK) {
        goto drop;
    }
    TRI_TRY_GOTO(st, join(t, group, setup->limit_s), drop);
    *out = t;
    return TRI_OK;
drop:
    if (t) {
        drop_local(t);
    }
    return st;
}

void tri_trainer_destroy(tri_trainer *t)
{
    if (!t) {
        return;
    }
    close_axes(t);
    if (is_entangled(t)) { /* it is lost, once for a lost group */
        t->region = NULL;
    }
    drop_local(t);
}

void tri_trainer_complain(tri_trainer *t, tri_status st)
{
    t->complaint = st;
}

const tri_tensors *tri_trainer_tensors(const tri_trainer *t)
{
    return t->table;
}

const tri_mesh *tri_trainer_mesh(const tri_trainer *t)
{
    return &t->mesh;
}

tri_real *tri_trainer_params(tri_trainer *t)
{
    return t->zero.params;
}

tri_status tri_trainer_whole_params(tri_trainer *t, tri_real *out)
{
    tri_zero_whole_params(&t->zero, out);
    return t->link;
}

tri_status tri_trainer_whole_grads(tri_trainer *t, tri_real *out)
{
    tri_zero_whole_grads(&t->zero, out);
    return t->link;
}

const tri_embed *tri_trainer_embed(const tri_trainer *t)
{
    return &t->embed;
}

uint64_t tri_trainer_high_water(const tri_trainer *t)
{
    return tri_region_high_water(t->region) + tri_overlap_bytes(&t->zero);
}

void tri_trainer_kinds(const tri_trainer *t, tri_memory *out)
{
    take_kinds(t, t->region, out);
}

int64_t tri_trainer_steps(const tri_trainer *t)
{
    return t->steps;
}

double tri_trainer_norm(const tri_trainer *t)
{
    return t->norm;
}

int tri_trainers_alive(void)
{
    return n_alive;
}

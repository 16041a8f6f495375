/*
 * One step of a trainer: pipeline, reduction, agreement, update.
 */
#include "mpi_workers/trainer_inside.h"

#include "mpi_workers/pause.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* A loss of so many times the first one (or of so much) will not come back. */
#define DIVERGED 100

/* What a rank brings to the agreement, and what comes out of it. */
typedef struct tri_share {
    double loss;    /* sum of shares */
    double sumsq;   /* sum over what each rank owns */
    uint64_t bytes; /* most */
    uint64_t rss;   /* most */
    int32_t word;   /* of rank 0 */
    int32_t status; /* largest */
    int32_t rank;   /* that brought it: the lowest */
    int32_t pad;
} share;

_Static_assert(sizeof(share) <= TRI_COLL_TOLD, "it is told in one piece");

static void merge(const share *a, share *sum)
{
    sum->loss += a->loss;
    sum->sumsq += a->sumsq;
    sum->bytes = a->bytes > sum->bytes ? a->bytes : sum->bytes;
    sum->rss = a->rss > sum->rss ? a->rss : sum->rss;
    sum->word += a->word;
    if (a->status > sum->status) {
        sum->status = a->status;
        sum->rank = a->rank;
    }
}

tri_status tri_step_open(tri_trainer *t)
{
    t->shares = calloc((size_t)t->mesh.size, sizeof *t->shares);
    return t->shares ? TRI_OK
                     : TRI_FAIL(TRI_ENOMEM, "no memory for %d ranks' words",
                                t->mesh.size);
}

void tri_step_close(tri_trainer *t)
{
    free(t->shares);
    t->shares = NULL;
}

/* Of what this rank owns, each tensor once. */
static double owned_sumsq(const tri_trainer *t)
{
    unsigned skip = TRI_TENSOR_TIED_COPY;

    if (t->at.tp > 0) {
        skip |= TRI_TENSOR_TP_COPY;
    }
    return tri_zero_sumsq(&t->zero, skip);
}

static uint64_t rss_bytes(void)
{
    struct rusage use;

    return getrusage(RUSAGE_SELF, &use) == 0 ? (uint64_t)use.ru_maxrss * 1024
                                             : 0;
}

static tri_status agree(tri_trainer *t, int word, tri_status st, share *out)
{
    double loss = t->ops->take_loss(t->model);
    share mine = {.loss = t->at.tp == 0 ? loss : 0,
                  .sumsq = owned_sumsq(t) + t->embed.sumsq,
                  .bytes = tri_trainer_high_water(t),
                  .rss = rss_bytes(),
                  .word = t->mesh.rank == 0 ? word : 0,
                  .status = (int32_t)(st != TRI_OK ? st : t->complaint),
                  .rank = t->mesh.rank};

    tri_coll_tell(&t->all, &mine, (int)sizeof mine, t->shares);
    TRI_TRY(t->link);
    *out = t->shares[0];
    for (int i = 1; i < t->mesh.size; i++) {
        merge(&t->shares[i], out);
    }
    if (out->status != TRI_OK) {
        return tri_coll_share_error(t->mesh.group, (tri_status)out->status,
                                    out->rank);
    }
    if (!isfinite(out->loss)) {
        return TRI_FAIL(TRI_ENAN, "the loss of step %lld is not a number",
                        (long long)t->steps + 1);
    }
    if (t->steps > 0 && out->loss > DIVERGED * fmax(t->first_loss, 1)) {
        return TRI_FAIL(TRI_EDIVERGED,
                        "the loss of step %lld is %.4g, from %.4g at first",
                        (long long)t->steps + 1, out->loss, t->first_loss);
    }
    if (!isfinite(out->sumsq)) {
        return TRI_FAIL(TRI_ENAN, "the gradient of step %lld is not finite",
                        (long long)t->steps + 1);
    }
    return TRI_OK;
}

tri_status tri_trainer_step(tri_trainer *t, int word, tri_step *out)
{
    const tri_layout *l = &t->layout;
    double start = tri_now();
    share all = {0};
    tri_status st;

    tri_zero_begin(&t->zero);
    st = tri_pipeline_run(&t->pipeline, t->steps,
                          tri_shard_sample(l, t->at.dp, 0), l->micro_batch);
    tri_zero_reduce(&t->zero, &t->tied);
    tri_embed_end(&t->embed);
    TRI_TRY(t->link);
    TRI_TRY(agree(t, word, st, &all));
    t->first_loss = t->steps ? t->first_loss : all.loss;
    t->norm = sqrt(all.sumsq);
    t->steps++;
    tri_embed_update(&t->embed, tri_clip_coefficient(t->norm, t->clip));
    tri_zero_update(&t->zero, &t->optimizer, t->steps,
                    tri_clip_coefficient(t->norm, t->clip));
    TRI_TRY(t->link);
    *out = (tri_step){.completed = 1,
                      .step = t->steps,
                      .step_s = tri_now() - start,
                      .tokens = (double)(l->global_batch *
                                         t->ops->sample_tokens(t->model)),
                      .samples = (double)l->global_batch,
                      .loss = all.loss,
                      .own = NAN,
                      .bytes = all.bytes,
                      .rss_bytes = all.rss,
                      .word = all.word};
    return TRI_OK;
}

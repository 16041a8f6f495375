/*
 * What combinations of layout and model there are, and which are drawn.
 */
#include "tests/mpi_workers/parity_draw.h"

#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>

tri_model_spec parity_model(int which)
{
    return (tri_model_spec){
            .kind = TRI_MODEL_GPT,
            .u.gpt = {.layers = PARITY_LAYERS,
                      .hidden = 96,
                      .heads = 6,
                      .sequence = 12,
                      .vocab = 400,
                      .ffn = 96,
                      .tied = which == PARITY_TIED || which == PARITY_DROPPED,
                      .rms = which == PARITY_LLAMA,
                      .swiglu = which == PARITY_LLAMA,
                      .rope = which == PARITY_LLAMA,
                      .no_bias = which == PARITY_LLAMA,
                      .dropout = which == PARITY_DROPPED ? 0.2 : 0}};
}

/* Options, and which of them a combination has. */
typedef struct option {
    const char *name;
    int (*has)(const parity_combination *c);
} option;

#define OPTION(id, condition)                                                  \
    static int id(const parity_combination *c)                                 \
    {                                                                          \
        return condition;                                                      \
    }
OPTION(dp_1, c->l.dp == 1)
OPTION(dp_2, c->l.dp == 2)
OPTION(dp_more, c->l.dp > 2)
OPTION(tp_1, c->l.tp == 1)
OPTION(tp_2, c->l.tp == 2)
OPTION(tp_more, c->l.tp > 2)
OPTION(pp_1, c->l.pp == 1)
OPTION(pp_2, c->l.pp == 2)
OPTION(pp_more, c->l.pp > 2)
OPTION(by_rows, c->l.sequence_parallel)
OPTION(whole_rows, c->l.tp > 1 && !c->l.sequence_parallel)
OPTION(gpipe, c->l.pp > 1 && c->l.schedule == 0)
OPTION(one_f_one_b, c->l.pp > 1 && c->l.schedule == 1)
OPTION(interleaved, c->l.pp > 1 && c->l.schedule == 2)
OPTION(chunks_2, c->l.virtual_stages == 2)
OPTION(chunks_3, c->l.virtual_stages == 3)
OPTION(even_split, c->l.pp > 1 && c->l.split == 0)
OPTION(cost_split, c->l.pp > 1 && c->l.split == 1)
OPTION(sample_1, c->l.micro_batch == 1)
OPTION(samples, c->l.micro_batch > 1)
OPTION(zero_1, c->l.zero == 1)
OPTION(zero_2, c->l.zero == 2)
OPTION(zero_3, c->l.zero == 3)
OPTION(accumulated, c->l.zero > 0 && tri_shard_micro_batches(&c->l) > 1)
OPTION(at_once, c->l.zero > 0 && tri_shard_micro_batches(&c->l) == 1)
OPTION(small_buckets, c->l.dp > 1 && c->l.bucket_bytes < (1 << 20))
OPTION(poke, c->l.overlap == 1)
OPTION(shm, c->l.overlap == 2)
OPTION(kept, c->l.recompute == 0)
OPTION(selective, c->l.recompute == 1)
OPTION(full, c->l.recompute == 2)
OPTION(tied, c->model == PARITY_TIED)
OPTION(untied, c->model == PARITY_UNTIED)
OPTION(dropped, c->model == PARITY_DROPPED)
OPTION(llama, c->model == PARITY_LLAMA)
static const option options[] = {
        {"dp 1", dp_1},
        {"dp 2", dp_2},
        {"dp > 2", dp_more},
        {"tp 1", tp_1},
        {"tp 2", tp_2},
        {"tp > 2", tp_more},
        {"pp 1", pp_1},
        {"pp 2", pp_2},
        {"pp > 2", pp_more},
        {"sequence_parallel", by_rows},
        {"no sequence_parallel", whole_rows},
        {"gpipe", gpipe},
        {"1f1b", one_f_one_b},
        {"interleaved", interleaved},
        {"virtual 2", chunks_2},
        {"virtual 3", chunks_3},
        {"split even", even_split},
        {"split cost", cost_split},
        {"micro_batch 1", sample_1},
        {"micro_batch > 1", samples},
        {"zero 1", zero_1},
        {"zero 2", zero_2},
        {"zero 3", zero_3},
        {"zero, accumulating", accumulated},
        {"zero, not accumulating", at_once},
        {"small buckets", small_buckets},
        {"overlap poke", poke},
        {"overlap shm", shm},
        {"recompute none", kept},
        {"recompute selective", selective},
        {"recompute full", full},
        {"tied", tied},
        {"untied", untied},
        {"llama", llama},
        {"dropout", dropped},
};
#define N_OPTIONS ((int)(sizeof options / sizeof options[0]))

static int draw_of(tri_rng *rng, const int *from, int n)
{
    return from[tri_rng_below(rng, (uint64_t)n)];
}

/* Anything, valid or not. */
static parity_combination draw(tri_rng *rng)
{
    static const int sizes[] = {1, 1, 2, 2, 3, 4, 5, 6, 8};
    static const int batches[] = {1, 2, 3, 4, 6, 8, 12, 24};
    static const int chunks[] = {1, 1, 2, 3};
    static const int buckets[] = {1, 300000, 4 << 20};
    parity_combination c = {.l = {.threads = 1}};

    c.l.dp = draw_of(rng, sizes, 9);
    c.l.tp = draw_of(rng, sizes, 9);
    c.l.pp = draw_of(rng, sizes, 9);
    c.l.micro_batch = draw_of(rng, batches, 8);
    c.l.global_batch = PARITY_BATCH;
    c.l.schedule = (int)tri_rng_below(rng, 3);
    c.l.virtual_stages = draw_of(rng, chunks, 4);
    c.l.split = (int)tri_rng_below(rng, 2);
    c.l.sequence_parallel = (int)tri_rng_below(rng, 2);
    c.l.zero = (int)tri_rng_below(rng, 4);
    c.l.overlap = (int)tri_rng_below(rng, 3);
    c.l.bucket_bytes = (uint64_t)draw_of(rng, buckets, 3);
    c.l.recompute = (int)tri_rng_below(rng, 3);
    c.model = (int)tri_rng_below(rng, PARITY_MODELS);
    return c;
}

static int is_valid(const parity_combination *c)
{
    tri_model_spec model = parity_model(c->model);
    int ranks = tri_shard_ranks(&c->l);

    return ranks <= PARITY_RANKS &&
           tri_shard_check(&model, &c->l, ranks) == TRI_OK;
}

/* How much the options of `c` are wanting, the rarest most. */
static double wanted(const parity_combination *c, const int *seen)
{
    double score = 0;
    int k;

    for (k = 0; k < N_OPTIONS; k++) {
        if (options[k].has(c) && seen[k] < PARITY_TIMES + 2) {
            score += pow(PARITY_TIMES + 2 - seen[k], 3);
        }
    }
    return score;
}

void parity_draw(uint64_t seed, int n, parity_combination *out, int *seen)
{
    tri_rng rng = tri_rng_stream(seed, 0, TRI_RNG_TEST);
    int i, k, tries;

    for (i = 0; i < n; i++) {
        double most = -1;

        for (tries = 0; tries < 30;) {
            parity_combination c = draw(&rng);

            if (!is_valid(&c)) {
                continue;
            }
            tries++;
            if (wanted(&c, seen) > most) {
                most = wanted(&c, seen);
                out[i] = c;
            }
        }
        for (k = 0; k < N_OPTIONS; k++) {
            seen[k] += options[k].has(&out[i]);
        }
    }
}

void parity_complain(const parity_combination *c, const char *what,
                     double error)
{
    print_error("dp %d tp %d pp %d virtual %d micro_batch %d schedule %d "
                "split %d sequence_parallel %d zero %d overlap %d bucket %d "
                "recompute %d "
                "model %d: error "
                "%.3g, %s\n",
                c->l.dp, c->l.tp, c->l.pp, c->l.virtual_stages,
                c->l.micro_batch, c->l.schedule, c->l.split,
                c->l.sequence_parallel, c->l.zero, c->l.overlap,
                (int)c->l.bucket_bytes, c->l.recompute, c->model, error, what);
}

const char *parity_option(int k)
{
    return k < N_OPTIONS ? options[k].name : NULL;
}

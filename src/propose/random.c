/*
 * Uniform over the valid configurations, each draw independent of all others.
 */
#include "src/propose/inline.h"

tri_status tri_propose_uniform(const tri_space *space, uint64_t seed,
                               int64_t trial, int attempt, tri_config *out)
{
    /* the attempt in the high bits: no two (trial, attempt) share a stream */
    uint64_t key = (uint64_t)trial ^ ((uint64_t)attempt << 48);
    tri_rng rng = tri_rng_stream(seed, key, TRI_RNG_RANDOM);

    return tri_space_sample(space, &rng, out);
}

const tri_proposer_ops tri_proposer_random = {
        .name = "random", .origin = "random", .draw = tri_propose_uniform};

/*
 * Dropout by numbers that are named, not drawn in turn: an element's depends
 * on its mask's key, its row and its column alone.
 *
 * The key is of Philox; within a mask two rounds of multiplication and shift
 * (Ettinger's search for 32-bit mixers of low bias) do, with another part of
 * the key in each: a loop without branches that compilers vectorise.
 */
#include "models/ops/ops.h"

#include "trireme/rng.h"

uint64_t tri_mask_key(uint64_t seed, int64_t step, int64_t sample,
                      int64_t place)
{
    tri_rng rng = tri_rng_stream(seed, (uint64_t)sample, TRI_RNG_DROPOUT);

    return tri_rng_at(&rng, (uint64_t)step << 20 | (uint64_t)place);
}

static inline uint32_t mixed(uint32_t x, uint32_t a, uint32_t b)
{
    x = x * 0x9e3779b9u + a;
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x = (x ^ b) * 0xd35a2d97u;
    return x ^ x >> 15;
}

TRI_KERNEL(static void, drop,
           (uint32_t a, uint32_t b, uint32_t from, tri_real scale, int64_t n,
            tri_real *restrict x),
           (a, b, from, scale, n, x))
{
    int64_t i;

    for (i = 0; i < n; i++) {
        x[i] *= mixed((uint32_t)i, a, b) >= from ? scale : (tri_real)0;
    }
}

void tri_dropout(double rate, uint64_t key, int64_t row, int64_t n, tri_real *x)
{
    uint64_t of_row = tri_rng_hash_u64(key ^ (uint64_t)row);

    drop((uint32_t)of_row, (uint32_t)(of_row >> 32),
         (uint32_t)(rate * 4294967296.0), (tri_real)(1 / (1 - rate)), n, x);
}

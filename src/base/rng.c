/*
 * Philox4x32-10: ten rounds of multiply and exchange turn (counter, key) into
 * 128 random bits.  The counter holds the stream's key, its purpose and the
 * block number; the cipher key is the seed.  Knows nothing of what is drawn.
 *
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011.
 */
#include "trireme/rng.h"

#include "src/base/philox.h"
#include "trireme/num.h"

#include <assert.h>

/* Blocks of a stream: 48 bits of the counter, two draws each. */
#define BLOCK_BITS 48

void tri_philox(const uint32_t counter[4], const uint32_t key[2],
                uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;

        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u; /* the golden ratio */
        k1 += 0xBB67AE85u; /* sqrt(3) - 1 */
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

tri_rng tri_rng_stream(uint64_t seed, uint64_t key, tri_purpose purpose)
{
    tri_rng rng = {seed, key, (uint32_t)purpose, 0};

    assert(rng.purpose < 1u << 16);
    return rng;
}

uint64_t tri_rng_at(const tri_rng *rng, uint64_t index)
{
    uint64_t block = index / 2;
    uint32_t counter[4] = {(uint32_t)block,
                           (uint32_t)(block >> 32) | rng->purpose << 16,
                           (uint32_t)rng->key, (uint32_t)(rng->key >> 32)};
    uint32_t key[2] = {(uint32_t)rng->seed, (uint32_t)(rng->seed >> 32)};
    uint32_t out[4];
    int half = (int)(index % 2) * 2;

    assert(block >> BLOCK_BITS == 0);
    tri_philox(counter, key, out);
    return out[half] | (uint64_t)out[half + 1] << 32;
}

uint64_t tri_rng_u64(tri_rng *rng)
{
    return tri_rng_at(rng, rng->next++);
}

uint64_t tri_rng_below(tri_rng *rng, uint64_t n)
{
    uint64_t uneven;
    uint64_t draw;

    assert(n > 0);
    /* 2^64 mod n: the draws below it would favour small results. */
    uneven = (0 - n) % n;
    do {
        draw = tri_rng_u64(rng);
    } while (draw < uneven);
    return draw % n;
}

double tri_rng_unit(tri_rng *rng)
{
    return (double)(tri_rng_u64(rng) >> 11) * 0x1p-53;
}

double tri_rng_normal(tri_rng *rng)
{
    /* The middle of the 2^-53 wide cell, so that 0 is never met. */
    return tri_normal_quantile(tri_rng_unit(rng) * (1.0 - 0x1p-53) + 0x1p-54);
}

uint64_t tri_rng_hash(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t h = 0xCBF29CE484222325u;

    for (size_t i = 0; i < bytes; i++) {
        h = (h ^ at[i]) * 0x100000001B3u;
    }
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    return h ^ h >> 31;
}

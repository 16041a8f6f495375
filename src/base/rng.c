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

/* The words of a block. */
typedef struct block {
    uint32_t w0, w1, w2, w3;
} block;

static inline block philox(block b, uint32_t k0, uint32_t k1)
{
    uint64_t c0 = b.w0, c1 = b.w1, c2 = b.w2, c3 = b.w3;

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = 0xD2511F53u * c0;
        uint64_t p1 = 0xCD9E8D57u * c2;

        c0 = (p1 >> 32) ^ c1 ^ k0;
        c2 = (p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u; /* the golden ratio */
        k1 += 0xBB67AE85u; /* sqrt(3) - 1 */
    }
    return (block){(uint32_t)c0, (uint32_t)c1, (uint32_t)c2, (uint32_t)c3};
}

void tri_philox(const uint32_t counter[4], const uint32_t key[2],
                uint32_t out[4])
{
    block c = philox((block){counter[0], counter[1], counter[2], counter[3]},
                     key[0], key[1]);

    out[0] = c.w0;
    out[1] = c.w1;
    out[2] = c.w2;
    out[3] = c.w3;
}

tri_rng tri_rng_stream(uint64_t seed, uint64_t key, tri_purpose purpose)
{
    tri_rng rng = {.seed = seed, .key = key, .purpose = (uint32_t)purpose};

    assert(rng.purpose < 1u << 16);
    return rng;
}

/* Draws 2 `number` and the one after it. */
static inline block block_at(const tri_rng *rng, uint64_t number)
{
    assert(number >> BLOCK_BITS == 0);
    return philox((block){(uint32_t)number,
                          (uint32_t)(number >> 32) | rng->purpose << 16,
                          (uint32_t)rng->key, (uint32_t)(rng->key >> 32)},
                  (uint32_t)rng->seed, (uint32_t)(rng->seed >> 32));
}

static inline uint64_t first_of(block b)
{
    return b.w0 | (uint64_t)b.w1 << 32;
}

static inline uint64_t second_of(block b)
{
    return b.w2 | (uint64_t)b.w3 << 32;
}

uint64_t tri_rng_at(const tri_rng *rng, uint64_t index)
{
    block b = block_at(rng, index / 2);

    return index % 2 ? second_of(b) : first_of(b);
}

uint64_t tri_rng_u64(tri_rng *rng)
{
    uint64_t index = rng->next++;
    block b;

    if (index && index == rng->spare_at) {
        return rng->spare;
    }
    if (index % 2) {
        return tri_rng_at(rng, index);
    }
    b = block_at(rng, index / 2);
    rng->spare = second_of(b);
    rng->spare_at = index + 1;
    return first_of(b);
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

#define FNV_BASE  0xCBF29CE484222325u
#define FNV_PRIME 0x100000001B3u

static inline uint64_t finish(uint64_t h)
{
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    return h ^ h >> 31;
}

uint64_t tri_rng_hash(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t h = FNV_BASE;

    for (size_t i = 0; i < bytes; i++) {
        h = (h ^ at[i]) * FNV_PRIME;
    }
    return finish(h);
}

uint64_t tri_rng_hash_u64(uint64_t x)
{
    uint64_t h = FNV_BASE;

    for (int i = 0; i < 8; i++, x >>= 8) { /* as it lies in memory here */
        h = (h ^ (x & 0xFF)) * FNV_PRIME;
    }
    return finish(h);
}

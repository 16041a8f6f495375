/*
 * Counter-based random streams (Philox4x32-10; Salmon et al., SC 2011).
 *
 * A stream is named by (seed, key, purpose) and holds no other state than its
 * position, so any draw can be made again at any time, in any order, on any
 * processor: draw n of a stream depends on nothing but the name and n.  Used
 * for configurations, simulated noise, parameter initialisation and data
 * order.  Not for cryptography.
 *
 * Pure; no allocation; a stream may be copied freely.
 */
#ifndef TRIREME_RNG_H
#define TRIREME_RNG_H

#include "trireme/status.h"

#include <stdint.h>

/* What a stream is for: keeps streams of one seed apart.  Append only: the
 * numbers are part of what makes old studies replay. */
typedef enum tri_purpose {
    TRI_RNG_RANDOM = 1,   /* random configuration; key: trial */
    TRI_RNG_QUASI = 2,    /* shift of the quasi-random sequence; key: 0 */
    TRI_RNG_FINALS = 3,   /* order of the finals; key: repeat */
    TRI_RNG_BRACKET = 4,  /* choice of bracket; key: trial */
    TRI_RNG_CURVE = 5,    /* synthetic curve of a configuration; key: hash */
    TRI_RNG_NOISE = 6,    /* measurement noise; key: run */
    TRI_RNG_STRAGGLE = 7, /* straggling; key: run */
    TRI_RNG_FAIL = 8,     /* injected failure; key: run */
    TRI_RNG_DROP = 9,     /* simulated loss; key: run */
    TRI_RNG_INIT = 10,    /* initial parameters; key: tensor id */
    TRI_RNG_DATA = 11,    /* data order; key: sample */
    TRI_RNG_EXPLORE = 12, /* model search against random share; key: trial */
    TRI_RNG_EVOLVE = 13,  /* parents and children; key: question, place */
    TRI_RNG_POLICY = 14,  /* episodes of a policy; key: question */
    TRI_RNG_DROPOUT = 15, /* masks; key: sample */
    TRI_RNG_PACE = 20,    /* simulated pace for good; key: rank */
    TRI_RNG_NODE = 21,    /* simulated loss; key: host, time round */
    TRI_RNG_TEST = 100    /* tests */
} tri_purpose;

typedef struct tri_rng {
    uint64_t seed;
    uint64_t key;
    uint32_t purpose;
    uint64_t next; /* index of the next 64-bit draw */
    /* of the block drawn last, which holds two; spare_at: its index, 0: none */
    uint64_t spare, spare_at;
} tri_rng;

/* The stream (seed, key, purpose) at its first draw. */
TRI_API tri_rng tri_rng_stream(uint64_t seed, uint64_t key,
                               tri_purpose purpose);
/* Draw number `index` of a stream, without moving it. */
TRI_API uint64_t tri_rng_at(const tri_rng *rng, uint64_t index);
/* The next 64 random bits. */
TRI_API uint64_t tri_rng_u64(tri_rng *rng);
/* Uniform in [0, n), without bias; n > 0. */
TRI_API uint64_t tri_rng_below(tri_rng *rng, uint64_t n);
/* Uniform in [0, 1), a multiple of 2^-53. */
TRI_API double tri_rng_unit(tri_rng *rng);
/* Standard normal, by inversion of one tri_rng_unit draw (Wichura, AS 241),
 * with tri_log: the same bits everywhere. */
TRI_API double tri_rng_normal(tri_rng *rng);
/* A 64-bit hash of bytes for use as a key (FNV-1a, then a splitmix finish). */
TRI_API uint64_t tri_rng_hash(const void *data, size_t bytes);
/* The same of the eight bytes of x, the lowest first. */
TRI_API uint64_t tri_rng_hash_u64(uint64_t x);

#endif

/*
 * The cipher beneath trireme/rng.h, for its known-answer test.
 */
#ifndef TRI_BASE_PHILOX_H
#define TRI_BASE_PHILOX_H

#include <stdint.h>

/* One block of Philox4x32-10.  [out] `out`. */
void tri_philox(const uint32_t counter[4], const uint32_t key[2],
                uint32_t out[4]);

#endif

/*
 * Where samples come from.  A sample is named by (seed, step, number within
 * the step's global batch) and by nothing else, so the set of samples of a
 * step is the same in every layout.
 *
 * Text is a string of bytes; a token is a byte, folded by `byte mod V` where
 * the vocabulary V is smaller than 256 (tokens from 256 up never occur in a
 * larger one).  The bytes are given; this file opens nothing.
 */
#ifndef TRI_MODELS_DATA_H
#define TRI_MODELS_DATA_H

#include "trireme/model.h"

typedef struct tri_text {
    const unsigned char *bytes; /* borrowed */
    int64_t n;
    uint64_t seed;
} tri_text;

/* Where sample `sample` of step `step` begins: a uniform place that leaves
 * room for `length` bytes and one more.  n > length. */
int64_t tri_text_place(const tri_text *text, int64_t step, int64_t sample,
                       int64_t length);
/* Tokens [place, place + length) with vocabulary V into `out`. */
void tri_text_tokens(const tri_text *text, int64_t place, int64_t length, int V,
                     int32_t *out);

/* Input i of synthetic sample (step, sample): standard normal; and its
 * targets, a fixed smooth function of the inputs plus a little noise. */
void tri_synthetic_sample(uint64_t seed, int64_t step, int64_t sample,
                          int inputs, int outputs, tri_real *x, tri_real *y);

#endif

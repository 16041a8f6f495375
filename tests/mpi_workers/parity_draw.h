/*
 * The matrix of the parity test: combinations of a layout and a model, drawn
 * so that every option comes often enough.  A new option of the engine is a
 * line in `options` and one in `draw` of parity_draw.c.
 */
#ifndef TRI_TESTS_PARITY_DRAW_H
#define TRI_TESTS_PARITY_DRAW_H

#include "mpi_workers/shard.h"

#include <stdint.h>

/* Divisors for odd numbers of ranks, too. */
#define PARITY_LAYERS  6
#define PARITY_BATCH   24
#define PARITY_RANKS   8  /* at most */
#define PARITY_TIMES   10 /* that every option comes in a hundred, at least */
#define PARITY_OPTIONS 64 /* at most */

/* Forms of the model. */
enum {
    PARITY_TIED,
    PARITY_UNTIED,
    PARITY_LLAMA,   /* norm: rms, mlp: swiglu, positions: rope, bias: false */
    PARITY_DROPPED, /* dropout */
    PARITY_MODELS
};

typedef struct parity_combination {
    tri_layout l;
    int model;
} parity_combination;

tri_model_spec parity_model(int which);
/* `n` valid combinations: of several drawn the one whose options are most
 * wanting.  [in,out] seen[PARITY_OPTIONS] counts options. */
void parity_draw(uint64_t seed, int n, parity_combination *out, int *seen);
/* The name of option `k`; NULL behind the last. */
const char *parity_option(int k);
/* Say what is wrong with a combination, and how large the error is. */
void parity_complain(const parity_combination *c, const char *what,
                     double error);

#endif

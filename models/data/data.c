/*
 * Counter-based sampling of a text, and a synthetic regression.
 */
#include "models/data/data.h"

#include "trireme/rng.h"

#include <assert.h>
#include <math.h>

int64_t tri_text_place(const tri_text *text, int64_t step, int64_t sample,
                       int64_t length)
{
    tri_rng rng = tri_rng_stream(text->seed, (uint64_t)sample, TRI_RNG_DATA);

    assert(text->n > length);
    return (int64_t)(tri_rng_at(&rng, (uint64_t)step) %
                     (uint64_t)(text->n - length));
}

void tri_text_tokens(const tri_text *text, int64_t place, int64_t length, int V,
                     int32_t *out)
{
    int64_t i;

    for (i = 0; i < length; i++) {
        int token = text->bytes[place + i];

        out[i] = V < 256 ? token % V : token;
    }
}

/* Target j = sin(x_a + x_b / 2) of two inputs that (seed, j) alone chooses,
 * and noise of deviation 0.05. */
void tri_synthetic_sample(uint64_t seed, int64_t step, int64_t sample,
                          int inputs, int outputs, tri_real *x, tri_real *y)
{
    tri_rng rng = tri_rng_stream(seed, (uint64_t)sample, TRI_RNG_DATA);
    int i, j;

    rng.next = (uint64_t)step * (uint64_t)(inputs + outputs);
    for (i = 0; i < inputs; i++) {
        x[i] = (tri_real)tri_rng_normal(&rng);
    }
    for (j = 0; j < outputs; j++) {
        tri_rng two =
                tri_rng_stream(seed, UINT64_MAX - (uint64_t)j, TRI_RNG_DATA);
        uint64_t a = tri_rng_at(&two, 0) % (uint64_t)inputs;
        uint64_t b = tri_rng_at(&two, 1) % (uint64_t)inputs;

        y[j] = (tri_real)(sin((double)x[a] + (double)x[b] / 2) +
                          0.05 * tri_rng_normal(&rng));
    }
}

/*
 * Spaces and samples for the tests of predictors.
 */
#include "tests/predict/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tri_space *tri_world_space(void)
{
    const tri_value colours[] = {{.type = TRI_WORD, .u.word = "red"},
                                 {.type = TRI_WORD, .u.word = "green"},
                                 {.type = TRI_WORD, .u.word = "blue"}};
    tri_domain a = {.kind = TRI_DOMAIN_INT, .lo = 1, .hi = 64, .step = 1};
    tri_domain b = {.kind = TRI_DOMAIN_INT, .lo = 0, .hi = 10, .step = 1};
    tri_domain c = {.kind = TRI_DOMAIN_CHOICE, .n_values = 3};
    tri_domain d = {.kind = TRI_DOMAIN_FLOAT, .flo = 0, .fhi = 1};
    tri_space_builder *builder;
    tri_space *space;

    a.log2 = 1;
    c.values = colours;
    assert_int_equal(tri_space_builder_create(&builder), TRI_OK);
    assert_int_equal(tri_space_add_param(builder, "a", &a, NULL, 0, 0), TRI_OK);
    assert_int_equal(tri_space_add_param(builder, "b", &b, NULL, 0, 0), TRI_OK);
    assert_int_equal(tri_space_add_param(builder, "c", &c, NULL, 0, 0), TRI_OK);
    assert_int_equal(tri_space_add_param(builder, "d", &d, "c != red", 0, 0),
                     TRI_OK);
    assert_int_equal(tri_space_add_feature(builder, "ab", "a * b + 1", 0, 0),
                     TRI_OK);
    assert_int_equal(tri_space_create(builder, &space), TRI_OK);
    tri_space_builder_destroy(builder);
    return space;
}

static double truth(const tri_config *c, double resource)
{
    double a = log2((double)c[0].u.i) / 6;
    double b = (double)c[1].u.i / 10;
    double d = c[3].type == TRI_REAL ? c[3].u.d : 0.3;
    double word = strcmp(c[2].u.word, "green") == 0 ? 0.4 : 0;

    return (a - 0.6) * (a - 0.6) + 0.5 * a * b + sin(3 * d) * 0.2 + word +
           (0.3 + 0.5 * b) / sqrt(resource);
}

void tri_world_init(tri_world *w, int n, int rungs, uint64_t seed)
{
    static const double ladder[] = {1, 4, 16};
    tri_rng rng = tri_rng_stream(seed, 0, TRI_RNG_TEST);
    int params;

    w->space = tri_world_space();
    assert_int_equal(tri_encoding_create(w->space, &w->e), TRI_OK);
    params = tri_space_n_params(w->space);
    w->n = n;
    w->width = tri_encoding_width(w->e);
    w->x = calloc((size_t)(n * w->width), sizeof *w->x);
    w->y = calloc((size_t)n, sizeof *w->y);
    w->resource = calloc((size_t)n, sizeof *w->resource);
    w->c = calloc((size_t)(n * params), sizeof *w->c);
    for (int i = 0; i < n; i++) {
        tri_config *c = w->c + i * params;

        assert_int_equal(tri_space_sample(w->space, &rng, c), TRI_OK);
        tri_encode(w->e, c, w->x + i * w->width);
        w->resource[i] = rungs ? ladder[tri_rng_below(&rng, 3)] : 16;
        w->y[i] = truth(c, w->resource[i]);
    }
}

void tri_world_fini(tri_world *w)
{
    free(w->x);
    free(w->y);
    free(w->resource);
    free(w->c);
    tri_encoding_destroy(w->e);
    tri_space_destroy(w->space);
}

tri_samples tri_world_samples(const tri_world *w, int n, int rungs)
{
    return (tri_samples){.n = n,
                         .width = w->width,
                         .x = w->x,
                         .y = w->y,
                         .resource = rungs ? w->resource : NULL};
}

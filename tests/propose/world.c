/*
 * Spaces and records for the tests of proposers that think.
 */
#include "tests/propose/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- spaces ------------------------------------------------------------- */

static void add(tri_space_builder *b, const char *name, tri_domain d,
                const char *when)
{
    assert_int_equal(tri_space_add_param(b, name, &d, when, 0, 0), TRI_OK);
}

static tri_domain ints(int64_t lo, int64_t hi)
{
    return (tri_domain){.kind = TRI_DOMAIN_INT, .lo = lo, .hi = hi, .step = 1};
}

static tri_domain reals(double lo, double hi, int log)
{
    return (tri_domain){
            .kind = TRI_DOMAIN_FLOAT, .flo = lo, .fhi = hi, .log = log};
}

static tri_space *solve(tri_space_builder *b)
{
    tri_space *s;

    assert_int_equal(tri_space_create(b, &s), TRI_OK);
    tri_space_builder_destroy(b);
    return s;
}

tri_space *tri_world_product(int n)
{
    tri_space_builder *b;
    char name[16];

    assert_int_equal(tri_space_builder_create(&b), TRI_OK);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "p%d", i);
        add(b, name, ints(0, 3 + i % 3), NULL);
    }
    return solve(b);
}

tri_space *tri_world_mesh(void)
{
    static const tri_value words[] = {{TRI_WORD, {.word = "none"}},
                                      {TRI_WORD, {.word = "some"}},
                                      {TRI_WORD, {.word = "full"}}};
    tri_space_builder *b;
    tri_domain micro = ints(1, 8);
    tri_domain one = {.kind = TRI_DOMAIN_CONST, .values = words, .n_values = 1};
    tri_domain recompute = {
            .kind = TRI_DOMAIN_CHOICE, .values = words, .n_values = 3};

    micro.log2 = 1;
    assert_int_equal(tri_space_builder_create(&b), TRI_OK);
    add(b, "one", one, NULL);
    add(b, "virtual", ints(1, 4), "pp > 1");
    add(b, "micro", micro, NULL);
    add(b, "dp", ints(1, 16), NULL);
    add(b, "tp", ints(1, 16), NULL);
    add(b, "pp", ints(1, 16), NULL);
    add(b, "recompute", recompute, "micro > 1");
    assert_int_equal(
            tri_space_add_constraint(b, "dp * tp * pp <= 16", NULL, 0, 0, 0),
            TRI_OK);
    assert_int_equal(tri_space_add_constraint(b, "16 % (dp * tp * pp) == 0",
                                              NULL, 0, 0, 0),
                     TRI_OK);
    assert_int_equal(tri_space_set_ranks(b, "dp * tp * pp", 0, 0), TRI_OK);
    return solve(b);
}

tri_space *tri_world_floats(void)
{
    tri_space_builder *b;

    assert_int_equal(tri_space_builder_create(&b), TRI_OK);
    add(b, "rate", reals(1e-5, 1, 1), NULL);
    add(b, "a", reals(0, 1, 0), NULL);
    add(b, "b", ints(1, 4), NULL);
    add(b, "c", reals(-1, 1, 0), "b > 2");
    add(b, "wide", ints(1, 1000000), NULL);
    assert_int_equal(tri_space_add_constraint(b, "a * b <= 1", NULL, 0, 0, 0),
                     TRI_OK);
    return solve(b);
}

static double part(uint64_t seed, int i, int a, int b)
{
    tri_rng rng = tri_rng_stream(
            seed, (uint64_t)i << 32 | (uint64_t)a << 8 | (uint64_t)b,
            TRI_RNG_TEST);

    return tri_rng_normal(&rng);
}

double tri_world_cost(const tri_config *c, int n, double couple, uint64_t seed)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        int v = (int)c[i].u.i;

        sum += part(seed, i, v, 0);
        if (i + 1 < n && couple > 0) {
            sum += couple * part(seed, i, v, 1 + (int)c[i + 1].u.i);
        }
    }
    return sum / sqrt(n);
}

/* ---- stories ------------------------------------------------------------ */

void tri_story_init(tri_story *s, tri_space *space)
{
    memset(s, 0, sizeof *s);
    s->space = space;
    s->best = NAN;
    tri_space_rank_range(space, &s->max_ranks, &s->max_ranks);
    assert_int_equal(tri_encoding_create(space, &s->encoding), TRI_OK);
    assert_int_equal(tri_pool_init(&s->pool, space, s->encoding, NULL), TRI_OK);
}

void tri_story_fini(tri_story *s)
{
    for (int i = 0; i < s->n; i++) {
        free((void *)s->records[i].config);
    }
    tri_pool_fini(&s->pool);
    tri_encoding_destroy(s->encoding);
    tri_space_destroy((tri_space *)s->space);
}

tri_record *tri_story_add(tri_story *s, const tri_config *c, double objective)
{
    size_t n = (size_t)tri_space_n_params(s->space);
    tri_config *own = malloc((n + 1) * sizeof *own);
    tri_record *r = &s->records[s->n];

    assert_true(s->n < TRI_STORY_MOST && own);
    memcpy(own, c, n * sizeof *own);
    *r = (tri_record){.config = own,
                      .trial = s->n,
                      .resource = 1,
                      .objective = objective,
                      .peak_bytes = NAN,
                      .ranks = 1};
    s->n++;
    s->tried[s->n_tried++] = tri_space_hash(s->space, c);
    if (!(objective >= s->best)) {
        s->best = objective;
    }
    return r;
}

void tri_story_ask(tri_story *s, int wanted)
{
    s->snapshot = (tri_snapshot){.number = s->snapshot.number + 1,
                                 .wanted = wanted,
                                 .n_records = s->n,
                                 .records = s->records,
                                 .n_tried = s->n_tried,
                                 .tried = s->tried,
                                 .resource = 1,
                                 .base = 1,
                                 .max_ranks = s->max_ranks};
    assert_int_equal(tri_pool_refresh(&s->pool, &s->snapshot, 1, NULL, 0),
                     TRI_OK);
}

void tri_story_get(tri_story *s, int64_t at, tri_config *out)
{
    uint64_t hash;
    int ranks;

    assert_true(at >= 0 && at < s->pool.n);
    assert_true(s->pool.taken[at]);
    assert_int_equal(tri_pool_config(&s->pool, at, out), TRI_OK);
    assert_true(tri_space_valid(s->space, out, NULL));
    assert_int_equal(tri_space_ranks(s->space, out, &ranks), TRI_OK);
    assert_true(ranks <= s->max_ranks);
    hash = tri_space_hash(s->space, out);
    for (int64_t i = 0; i < s->n_tried; i++) {
        assert_true(s->tried[i] != hash);
    }
}

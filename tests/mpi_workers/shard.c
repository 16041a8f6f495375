/*
 * The arithmetic of layouts: ranks and coordinates are one to one, layers and
 * samples are dealt out once, and every rule refuses what it should.
 */
#include "mpi_workers/shard.h"

#include "tests/tri_cmocka.h"

#include <string.h>

static const tri_model_spec gpt = {.kind = TRI_MODEL_GPT,
                                   .u.gpt = {.layers = 6,
                                             .hidden = 96,
                                             .heads = 6,
                                             .sequence = 16,
                                             .vocab = 40,
                                             .ffn = 384,
                                             .tied = 1}};
static const tri_layout one = {.dp = 1,
                               .tp = 1,
                               .pp = 1,
                               .virtual_stages = 1,
                               .micro_batch = 1,
                               .global_batch = 24,
                               .schedule = 1,
                               .threads = 1};

static void coordinates(void **state)
{
    tri_layout l = one;
    int rank = 0, d, t, p;

    (void)state;
    l.dp = 3, l.tp = 2, l.pp = 4;
    assert_int_equal(tri_shard_ranks(&l), 24);
    for (p = 0; p < 4; p++) {
        for (d = 0; d < 3; d++) {
            for (t = 0; t < 2; t++, rank++) {
                tri_coord c = tri_shard_coord(&l, rank);

                assert_int_equal(c.tp, t);
                assert_int_equal(c.dp, d);
                assert_int_equal(c.pp, p);
                assert_int_equal(tri_shard_rank(&l, c), rank);
            }
        }
    }
}

/* Every layer once, in order, one at least in each part. */
static void deals_out(const tri_gpt_spec *g, const tri_layout *l)
{
    int next = 0, parts = l->pp * l->virtual_stages, s;

    for (s = 0; s < parts; s++) {
        int first, n;

        tri_shard_layers(g, l, s, &first, &n);
        assert_int_equal(first, next);
        assert_true(n >= 1);
        next += n;
    }
    assert_int_equal(next, g->layers);
}

static void layers(void **state)
{
    tri_gpt_spec g = gpt.u.gpt;
    tri_layout l = one;

    (void)state;
    for (g.layers = 1; g.layers < 40; g.layers++) {
        for (l.pp = 1; l.pp <= g.layers; l.pp++) {
            int s, last = g.layers;

            l.split = 1;
            deals_out(&g, &l);
            l.split = 0;
            deals_out(&g, &l);
            for (s = 0; s < l.pp; s++) {
                int first, n;

                tri_shard_layers(&g, &l, s, &first, &n);
                assert_true(n <= last && n >= g.layers / l.pp);
                last = n;
            }
        }
    }
    g.layers = 24, l.pp = 4, l.virtual_stages = 3;
    deals_out(&g, &l);
    l.split = 1;
    deals_out(&g, &l);
}

/* Layers of each of four stages, by the size of the vocabulary. */
static void layers_by_cost(void **state)
{
    static const struct {
        int vocab, n[4];
    } rows[] = {
            {2, {4, 4, 4, 4}},    /* nothing to count */
            {8192, {4, 5, 4, 3}}, /* the head is about 1.3 layers */
            {32768, {5, 5, 5, 1}},
            {1000000, {5, 5, 5, 1}}, /* and it has one layer at least */
    };
    tri_layout l = one;
    size_t i;
    int s;

    (void)state;
    l.pp = 4, l.split = 1;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tri_gpt_spec g = {.layers = 16,
                          .hidden = 512,
                          .heads = 8,
                          .sequence = 256,
                          .vocab = rows[i].vocab,
                          .ffn = 2048};

        for (s = 0; s < 4; s++) {
            int first, n;

            tri_shard_layers(&g, &l, s, &first, &n);
            assert_int_equal(n, rows[i].n[s]);
        }
    }
}

static void samples(void **state)
{
    tri_layout l = one;
    int seen[24] = {0}, d, k, i;

    (void)state;
    l.dp = 3, l.micro_batch = 2;
    assert_int_equal(tri_shard_micro_batches(&l), 4);
    for (d = 0; d < 3; d++) {
        for (k = 0; k < 4; k++) {
            for (i = 0; i < 2; i++) {
                seen[tri_shard_sample(&l, d, k) + i]++;
            }
        }
    }
    for (i = 0; i < 24; i++) {
        assert_int_equal(seen[i], 1);
    }
}

static void refuses(tri_layout l, int ranks, const char *rule)
{
    assert_int_equal(tri_shard_check(&gpt, &l, ranks), TRI_EINFEASIBLE);
    if (!strstr(tri_error_last()->sentence, rule)) {
        fail_msg("'%s' does not name %s", tri_error_last()->sentence, rule);
    }
}

static void rules(void **state)
{
    tri_layout l;

    (void)state;
    assert_int_equal(tri_shard_check(&gpt, &one, 1), TRI_OK);
    refuses(one, 2, "ranks of the group");
    l = one, l.tp = 4;
    refuses(l, 4, "heads % tp");
    l = one, l.pp = 7;
    refuses(l, 7, "pp <= layers");
    l = one, l.dp = 5;
    refuses(l, 5, "global_batch % (dp * micro_batch)");
    l = one, l.micro_batch = 0;
    refuses(l, 1, "micro_batch");
    l = one, l.zero = 1;
    refuses(l, 1, "zero needs dp > 1");
    l = one, l.zero = 2, l.dp = l.pp = 2;
    refuses(l, 4, "zero >= 2 needs pp = 1");
    l.zero = 1;
    assert_int_equal(tri_shard_check(&gpt, &l, 4), TRI_OK);
    l = one, l.recompute = 3;
    refuses(l, 1, "recompute");
    l = one, l.schedule = 2, l.virtual_stages = 2;
    refuses(l, 1, "virtual");
    l = one, l.schedule = 2, l.virtual_stages = 4, l.pp = 2;
    refuses(l, 2, "layers >= pp * virtual");
    l.pp = 3, l.virtual_stages = 1, l.micro_batch = 3;
    refuses(l, 3, "micro-batches % pp");
    l.micro_batch = 1, l.virtual_stages = 2, l.global_batch = 24;
    assert_int_equal(tri_shard_check(&gpt, &l, 3), TRI_OK);
    l.pp = 2;
    refuses(l, 2, "layers % (pp * virtual)");
    l.split = 1;
    assert_int_equal(tri_shard_check(&gpt, &l, 2), TRI_OK);
    l = one, l.overlap = 1;
    refuses(l, 1, "overlap needs dp > 1");
    l.dp = 2, l.zero = 2;
    refuses(l, 2, "overlap poke does not go with zero 2");
    l.zero = 3;
    assert_int_equal(tri_shard_check(&gpt, &l, 2), TRI_OK);
    l.overlap = 2;
    refuses(l, 2, "overlap shm does not go with zero 3");
    l = one, l.sequence_parallel = 1;
    refuses(l, 1, "sequence_parallel needs tp > 1");
    l = one, l.sequence_parallel = 1, l.tp = 3;
    refuses(l, 3, "sequence % tp");
    l.tp = 2;
    assert_int_equal(tri_shard_check(&gpt, &l, 2), TRI_OK);
}

static void rules_of_flat(void **state)
{
    tri_model_spec mlp = {.kind = TRI_MODEL_MLP, .u.mlp = {4, 8, 2, 1}};
    tri_model_spec dlrm = {.kind = TRI_MODEL_DLRM,
                           .u.dlrm = {.tables = 1,
                                      .rows = {10},
                                      .dim = 4,
                                      .dense = 2,
                                      .pooling = 1}};
    tri_layout l = one;

    (void)state;
    l.dp = 2;
    assert_int_equal(tri_shard_check(&mlp, &l, 2), TRI_OK);
    l.tp = 2;
    assert_int_equal(tri_shard_check(&mlp, &l, 4), TRI_EINFEASIBLE);
    l.tp = 1, l.pp = 2;
    assert_int_equal(tri_shard_check(&mlp, &l, 4), TRI_EINFEASIBLE);
    l.pp = 1, l.sequence_parallel = 1;
    assert_int_equal(tri_shard_check(&mlp, &l, 2), TRI_EINFEASIBLE);
    assert_int_equal(tri_shard_check(&dlrm, &l, 2), TRI_EINFEASIBLE);
    l.sequence_parallel = 0;
    assert_int_equal(tri_shard_check(&dlrm, &l, 2), TRI_OK);
    l.recompute = 1;
    assert_int_equal(tri_shard_check(&dlrm, &l, 2), TRI_EINFEASIBLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(coordinates),    cmocka_unit_test(layers),
            cmocka_unit_test(layers_by_cost), cmocka_unit_test(samples),
            cmocka_unit_test(rules),          cmocka_unit_test(rules_of_flat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

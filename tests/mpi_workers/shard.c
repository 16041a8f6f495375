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

static void layers(void **state)
{
    int n_layers, stages, s;

    (void)state;
    for (n_layers = 1; n_layers < 40; n_layers++) {
        for (stages = 1; stages <= n_layers; stages++) {
            int next = 0, last = n_layers;

            for (s = 0; s < stages; s++) {
                int first, n;

                tri_shard_layers(n_layers, stages, s, &first, &n);
                assert_int_equal(first, next);
                assert_true(n >= 1 && n <= last && n >= n_layers / stages);
                next += n;
                last = n;
            }
            assert_int_equal(next, n_layers);
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
    refuses(l, 1, "zero");
    l = one, l.recompute = 2;
    refuses(l, 1, "recompute");
    l = one, l.schedule = 2, l.virtual_stages = 2;
    refuses(l, 1, "virtual");
    l = one, l.overlap = 1;
    refuses(l, 1, "overlap");
    l = one, l.sequence_parallel = 1;
    refuses(l, 1, "sequence_parallel needs tp > 1");
    l = one, l.sequence_parallel = 1, l.tp = 3;
    refuses(l, 3, "sequence % tp");
    l.tp = 2;
    assert_int_equal(tri_shard_check(&gpt, &l, 2), TRI_OK);
}

static void rules_of_mlp(void **state)
{
    tri_model_spec mlp = {.kind = TRI_MODEL_MLP, .u.mlp = {4, 8, 2, 1}};
    tri_layout l = one;

    (void)state;
    l.dp = 2;
    assert_int_equal(tri_shard_check(&mlp, &l, 2), TRI_OK);
    l.tp = 2;
    assert_int_equal(tri_shard_check(&mlp, &l, 4), TRI_EINFEASIBLE);
    l.tp = 1, l.pp = 2;
    assert_int_equal(tri_shard_check(&mlp, &l, 4), TRI_EINFEASIBLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(coordinates),  cmocka_unit_test(layers),
            cmocka_unit_test(samples),      cmocka_unit_test(rules),
            cmocka_unit_test(rules_of_mlp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Known answers of the cipher, independence of streams and of order, and the
 * first moments of what is drawn.
 */
#include "trireme/rng.h"

#include "src/base/philox.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <string.h>

#define SEED  20240229u
#define DRAWS 100000

typedef struct answer {
    uint32_t counter[4];
    uint32_t key[2];
    uint32_t out[4];
} answer;

/* From the authors' kat_vectors (Random123), philox4x32 with 10 rounds. */
static const answer answers[] = {
        {{0, 0, 0, 0},
         {0, 0},
         {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};

static void known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        uint32_t out[4];

        tri_philox(answers[i].counter, answers[i].key, out);
        assert_memory_equal(out, answers[i].out, sizeof out);
    }
}

/* Old studies replay only while these stay as they are. */
static void streams_are_fixed(void **state)
{
    tri_rng zero = {.seed = 0};
    tri_rng rng = tri_rng_stream(7, 3, TRI_RNG_TEST);

    (void)state;
    assert_int_equal(tri_rng_u64(&zero), 0xe169c58d6627e8d5u);
    assert_int_equal(tri_rng_u64(&zero), 0x9b00dbd8bc57ac4cu);
    assert_int_equal(tri_rng_u64(&rng), 0x3741ca1be8249f4bu);
    assert_int_equal(tri_rng_hash("trireme", 7), 0xb62edc6a6e67cab5u);
    assert_int_equal(tri_rng_hash("", 0), 0xf52a15e9a9b5e89bu);
    assert_int_equal(tri_rng_hash("\1\2\3\4\5\6\7\xf8", 8),
                     tri_rng_hash_u64(0xf807060504030201u));
}

static void any_order_gives_the_same(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 11, TRI_RNG_TEST);
    tri_rng still = rng;

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(tri_rng_u64(&rng), tri_rng_at(&still, i));
    }
    assert_int_equal(still.next, 0);
    assert_int_equal(tri_rng_at(&still, 5), tri_rng_at(&still, 5));
    /* far into the stream, past 32 bits of blocks */
    assert_int_not_equal(tri_rng_at(&still, (uint64_t)1 << 40),
                         tri_rng_at(&still, 0));
}

static void each_part_of_the_name_counts(void **state)
{
    tri_rng base = tri_rng_stream(SEED, 1, TRI_RNG_TEST);
    tri_rng others[] = {
            tri_rng_stream(SEED + 1, 1, TRI_RNG_TEST),
            tri_rng_stream(SEED + ((uint64_t)1 << 32), 1, TRI_RNG_TEST),
            tri_rng_stream(SEED, 2, TRI_RNG_TEST),
            tri_rng_stream(SEED, 1 + ((uint64_t)1 << 32), TRI_RNG_TEST),
            tri_rng_stream(SEED, 1, TRI_RNG_NOISE)};
    uint64_t first = tri_rng_u64(&base);

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_not_equal(tri_rng_u64(&others[i]), first);
    }
}

static void below_is_even(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 0, TRI_RNG_TEST);
    int counts[7] = {0};
    double chi2 = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t draw = tri_rng_below(&rng, 7);

        assert_true(draw < 7);
        counts[draw]++;
    }
    for (int i = 0; i < 7; i++) {
        double d = counts[i] - DRAWS / 7.0;

        chi2 += d * d / (DRAWS / 7.0);
    }
    assert_true(chi2 < 22.5); /* 99.9 % of chi-squared with 6 degrees */
    assert_int_equal(tri_rng_below(&rng, 1), 0);
}

/* With n = 3 * 2^62 a draw without rejection would be below 2^62 half the
 * time instead of a third. */
static void below_rejects(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 5, TRI_RNG_TEST);
    uint64_t quarter = (uint64_t)1 << 62;
    int low = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        low += tri_rng_below(&rng, 3 * quarter) < quarter;
    }
    assert_in_range(low, DRAWS / 3 - 600, DRAWS / 3 + 600);
}

static void moments_fit(void **state)
{
    tri_rng rng = tri_rng_stream(SEED, 9, TRI_RNG_TEST);
    double unit = 0, sum = 0, square = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        double u = tri_rng_unit(&rng);
        double z = tri_rng_normal(&rng);

        assert_true(u >= 0 && u < 1);
        unit += u / DRAWS;
        sum += z / DRAWS;
        square += z * z / DRAWS;
    }
    assert_true(fabs(unit - 0.5) < 4 * sqrt(1.0 / 12 / DRAWS));
    assert_true(fabs(sum) < 4 / sqrt(DRAWS));
    assert_true(fabs(square - 1) < 4 * sqrt(2.0 / DRAWS));
}

static void hash_spreads(void **state)
{
    uint64_t a = tri_rng_hash("a", 1);
    uint64_t b = tri_rng_hash("b", 1);

    (void)state;
    assert_in_range(__builtin_popcountll(a ^ b), 16, 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(known_answers),
            cmocka_unit_test(streams_are_fixed),
            cmocka_unit_test(any_order_gives_the_same),
            cmocka_unit_test(each_part_of_the_name_counts),
            cmocka_unit_test(below_is_even),
            cmocka_unit_test(below_rejects),
            cmocka_unit_test(moments_fit),
            cmocka_unit_test(hash_spreads),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

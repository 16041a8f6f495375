/*
 * The filter of records: what values are learned from, what labels.
 */
#include "tests/propose/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>

#define N 12

typedef struct story {
    tri_space *space;
    tri_encoding *e;
    tri_config c[N][3];
    tri_record r[N];
    tri_snapshot s;
} story;

static void begin(story *t)
{
    t->space = tri_world_product(3);
    assert_int_equal(tri_encoding_create(t->space, &t->e), TRI_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(tri_space_at(t->space, i, t->c[i]), TRI_OK);
        t->r[i] = (tri_record){.config = t->c[i],
                               .trial = i,
                               .resource = 1,
                               .objective = i,
                               .peak_bytes = NAN,
                               .ranks = 1};
    }
    t->s = (tri_snapshot){.n_records = N, .records = t->r};
}

static void end(story *t)
{
    tri_encoding_destroy(t->e);
    tri_space_destroy(t->space);
}

/* What failed has no value, whatever it measured; what is not finite neither,
 * but that ran. */
static void failures_are_labels_only(void **state)
{
    story t;
    tri_knowledge k;

    (void)state;
    begin(&t);
    t.r[2].failed = 3;
    t.r[3].failed = 1;
    t.r[3].objective = NAN;
    t.r[4].objective = INFINITY;
    t.r[5].objective = NAN;
    t.r[5].peak_bytes = 7e9;
    assert_int_equal(tri_knowledge_init(&k, t.e, &t.s, 0, 0), TRI_OK);
    assert_int_equal(k.n, N - 4);
    assert_int_equal(k.n_labels, N);
    assert_int_equal(k.n_own, N);
    assert_int_equal(k.n_failed, 2);
    assert_int_equal(k.failed[2] + k.failed[3], 2);
    assert_true(k.peak[5] == 7e9);
    assert_true(k.best == 0 && k.n_best == 0);
    for (int i = 0; i < k.n; i++) {
        assert_true(isfinite(k.y[i]));
    }
    tri_knowledge_fini(&k);
    end(&t);
}

/* A configuration that ran at one resource and failed at another ran. */
static void one_label_a_configuration(void **state)
{
    story t;
    tri_knowledge k;

    (void)state;
    begin(&t);
    t.r[7].config = t.c[6];
    t.r[7].resource = 4;
    t.r[7].failed = 3;
    t.r[6].peak_bytes = 1e9;
    t.r[7].peak_bytes = 2e9;
    assert_int_equal(tri_knowledge_init(&k, t.e, &t.s, 0, 1), TRI_OK);
    assert_int_equal(k.n_labels, N - 1);
    assert_int_equal(k.n_failed, 0);
    assert_true(k.peak[6] == 2e9);
    assert_true(k.best == -(N - 1)); /* maximised */
    tri_knowledge_fini(&k);
    end(&t);
}

/* Of earlier studies only labels, of configurations that have none here. */
static void earlier_studies_give_labels(void **state)
{
    story t;
    tri_knowledge k;
    tri_warm_records warm;

    (void)state;
    begin(&t);
    for (int i = 4; i < N; i++) {
        t.r[i].failed = 3;
        t.r[i].peak_bytes = 5e9;
    }
    t.s.n_records = 6; /* two failed here; six more did there, and two ran */
    warm = (tri_warm_records){.source = "old", .n = N, .records = t.r};
    assert_int_equal(tri_knowledge_init(&k, t.e, &t.s, N, 0), TRI_OK);
    assert_int_equal(k.n_labels, 6);
    assert_int_equal(tri_knowledge_add_labels(&k, t.e, &warm, 0), TRI_OK);
    assert_int_equal(k.n, 4);
    assert_int_equal(k.n_own, 6);
    assert_int_equal(k.n_labels, N);
    assert_int_equal(k.n_failed, N - 4);
    assert_true(isnan(k.peak[N - 1])); /* of another model */
    assert_int_equal(k.n_points, 6);
    tri_knowledge_fini(&k);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(failures_are_labels_only),
            cmocka_unit_test(one_label_a_configuration),
            cmocka_unit_test(earlier_studies_give_labels)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

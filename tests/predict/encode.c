/*
 * Configurations as rows of numbers.
 */
#include "tests/predict/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <string.h>

static const tri_axis *find(const tri_encoding *e, const char *name,
                            tri_axis_kind kind)
{
    for (int i = 0; i < tri_encoding_n_axes(e); i++) {
        const tri_axis *axis = tri_encoding_axis(e, i);

        if (strcmp(axis->name, name) == 0 && axis->kind == kind) {
            return axis;
        }
    }
    return NULL;
}

static void encode(const tri_encoding *e, const tri_space *s, const char *text,
                   double *x)
{
    tri_config c[8];

    assert_int_equal(tri_space_parse(s, text, c), TRI_OK);
    tri_encode(e, c, x);
}

static void axes_are_what_they_mean(void **state)
{
    tri_space *s = tri_world_space();
    tri_encoding *e;
    double x[32], y[32];
    const tri_axis *a, *c, *d, *active;

    (void)state;
    assert_int_equal(tri_encoding_create(s, &e), TRI_OK);
    a = find(e, "a", TRI_AXIS_NUMBER);
    c = find(e, "c", TRI_AXIS_LEVELS);
    d = find(e, "d", TRI_AXIS_NUMBER);
    active = find(e, "d", TRI_AXIS_ACTIVE);
    assert_non_null(a);
    assert_non_null(c);
    assert_non_null(d);
    assert_non_null(active);
    assert_non_null(find(e, "ab", TRI_AXIS_NUMBER));
    assert_null(find(e, "ranks", TRI_AXIS_NUMBER)); /* always 1 */
    encode(e, s, "a=8,b=3,c=red", x);
    assert_true(fabs(x[a->first] - 0.5) < 1e-12); /* by its logarithm */
    assert_true(x[active->first] == 0 && x[d->first] == 0.5);
    encode(e, s, "a=8,b=3,c=blue,d=0.25", y);
    assert_true(y[active->first] == 1 && fabs(y[d->first] - 0.25) < 1e-12);
    {
        double square = 0;

        for (int k = 0; k < c->width; k++) {
            square += (x[c->first + k] - y[c->first + k]) *
                      (x[c->first + k] - y[c->first + k]);
        }
        assert_true(fabs(square - 1) < 1e-12);
    }
    tri_encoding_destroy(e);
    tri_space_destroy(s);
}

/* Where the values v[n] of a parameter stand, in a space with another. */
static void places(const double *v, int n, double *out)
{
    tri_value values[16];
    tri_domain d = {.kind = TRI_DOMAIN_CHOICE, .n_values = n, .values = values};
    tri_domain other = {.kind = TRI_DOMAIN_INT, .lo = 0, .hi = 3, .step = 1};
    tri_space_builder *b;
    tri_space *s;
    tri_encoding *e;
    tri_config c[2];
    double x[32];

    for (int i = 0; i < n; i++) {
        values[i] = (tri_value){.type = TRI_REAL, .u.d = v[i]};
    }
    assert_int_equal(tri_space_builder_create(&b), TRI_OK);
    assert_int_equal(tri_space_add_param(b, "v", &d, NULL, 0, 0), TRI_OK);
    assert_int_equal(tri_space_add_param(b, "w", &other, NULL, 0, 0), TRI_OK);
    assert_int_equal(tri_space_create(b, &s), TRI_OK);
    tri_space_builder_destroy(b);
    assert_int_equal(tri_encoding_create(s, &e), TRI_OK);
    for (int i = 0; i < n; i++) {
        c[0] = values[i];
        c[1] = (tri_value){.type = TRI_INT, .u.i = 1};
        tri_encode(e, c, x);
        out[i] = x[find(e, "v", TRI_AXIS_NUMBER)->first];
    }
    tri_encoding_destroy(e);
    tri_space_destroy(s);
}

/* In the order that they are listed in or not. */
static void a_list_says_how_it_is_spread(void **state)
{
    static const double momenta[] = {0.999, 0,   0.3,    0.9,
                                     0.99,  0.6, 0.9999, 0.99999};
    static const double rank[] = {5, 0, 1, 3, 4, 2, 6, 7};
    double v[10], x[10];

    (void)state;
    places(momenta, 8, x);
    for (int i = 0; i < 8; i++) {
        assert_true(fabs(x[i] - rank[i] / 7) < 1e-6);
    }
    for (int i = 0; i < 10; i++) {
        v[i] = 0.1 * (i + 1);
    }
    places(v, 10, x); /* even by value */
    for (int i = 0; i < 10; i++) {
        assert_true(fabs(x[i] - i / 9.0) < 1e-6);
    }
    for (int i = 0; i < 10; i++) {
        v[i] = pow(10, -i);
    }
    v[3] = 0.0004; /* about even by ratios: by its ratio */
    places(v, 10, x);
    assert_true(fabs(x[0] - 1) < 1e-6 && fabs(x[9]) < 1e-6);
    assert_true(fabs(x[3] - (9 + log10(0.0004)) / 9) < 1e-6);
    places(momenta, 4, x); /* too few to say: by value */
    assert_true(fabs(x[2] - 0.3 / 0.999) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(axes_are_what_they_mean),
            cmocka_unit_test(a_list_says_how_it_is_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

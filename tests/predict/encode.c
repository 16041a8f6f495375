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

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(axes_are_what_they_mean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What is learned of failures and peaks: from which rows, beginning with what,
 * and until when.
 */
#include "src/predict/classify.h"
#include "tests/predict/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 120

/* Peaks that one column makes, of the first `n` configurations. */
static tri_labels labels_of(const tri_world *w, int n, double *peak,
                            unsigned char *failed)
{
    for (int i = 0; i < n; i++) {
        peak[i] = 1e9 * exp(3 * w->x[(size_t)i * (size_t)w->width]);
        failed[i] = 0;
    }
    return (tri_labels){
            .n = n, .n_own = n, .x = w->x, .failed = failed, .peak = peak};
}

/* Peaks of the last 20 configurations; learned of `l`. */
static tri_feasibility *learn(const tri_world *w, const tri_labels *l,
                              const tri_feasibility *before, double *bytes)
{
    tri_feasibility *f;
    double p[20];

    assert_int_equal(tri_feasibility_fit(w->e, l, before, &f), TRI_OK);
    tri_feasibility_predict(f, w->x + (size_t)(N - 20) * (size_t)w->width, 20,
                            p, bytes);
    return f;
}

static double apart(const double *a, const double *b)
{
    double most = 0;

    for (int i = 0; i < 20; i++) {
        most = fmax(most, fabs(log(a[i] / b[i])));
    }
    return most;
}

/* Asked to end, nothing is learned of peaks, not even which column counts: it
 * stays with what was before, if there was anything. */
static void a_wish_to_end_is_heard(void **state)
{
    tri_cancel cancel = {0};
    tri_world w;
    double peak[N], learned[20], ended[20], begun[20];
    unsigned char failed[N];
    tri_labels l;
    tri_feasibility *before;

    (void)state;
    tri_world_init(&w, N, 0, 6);
    l = labels_of(&w, 60, peak, failed);
    before = learn(&w, &l, NULL, learned);
    tri_cancel_ask(&cancel);
    l.cancel = &cancel;
    tri_feasibility_destroy(learn(&w, &l, NULL, ended));
    assert_true(apart(learned, ended) > 1e-3);
    l.n = 50; /* not so many that hyper-parameters would be kept anyway */
    l.n_own = 50;
    tri_feasibility_destroy(learn(&w, &l, before, begun));
    tri_feasibility_destroy(learn(&w, &l, NULL, ended));
    assert_true(apart(begun, ended) > 1e-3);
    tri_feasibility_destroy(before);
    tri_world_fini(&w);
}

/* With a model before and few peaks more its hyper-parameters are kept: as if
 * there was no time to learn. */
static void few_more_peaks_teach_nothing_new(void **state)
{
    tri_cancel cancel = {0};
    tri_world w;
    double peak[N], at_40[20], kept[20], ended[20], anew[20];
    unsigned char failed[N];
    tri_labels l;
    tri_feasibility *before;

    (void)state;
    tri_world_init(&w, N, 0, 6);
    l = labels_of(&w, 40, peak, failed);
    before = learn(&w, &l, NULL, at_40);
    l = labels_of(&w, 43, peak, failed);
    tri_feasibility_destroy(learn(&w, &l, before, kept));
    l = labels_of(&w, 60, peak, failed);
    for (int i = 40; i < 60; i++) { /* something else counts as well */
        peak[i] *= exp(w.x[(size_t)i * (size_t)w.width + 1]);
    }
    tri_feasibility_destroy(learn(&w, &l, before, anew));
    tri_cancel_ask(&cancel);
    l.cancel = &cancel;
    tri_feasibility_destroy(learn(&w, &l, before, ended));
    assert_true(apart(anew, ended) > 1e-3);
    l = labels_of(&w, 43, peak, failed);
    l.cancel = &cancel;
    tri_feasibility_destroy(learn(&w, &l, before, ended));
    assert_true(apart(kept, ended) < 1e-12);
    tri_feasibility_destroy(before);
    tri_world_fini(&w);
}

/* Of more rows than are learned from this study's own are kept, however many
 * earlier ones follow: whether one of three failed makes a difference. */
static void own_labels_are_kept(void **state)
{
    enum {
        MANY = 500,
        OWN = 3
    };
    tri_world w;
    double p[2];
    unsigned char failed[MANY] = {0};
    tri_labels l = {.n = MANY, .n_own = OWN, .failed = failed};
    tri_classifier *with, *without;

    (void)state;
    tri_world_init(&w, MANY, 0, 7);
    l.x = w.x;
    assert_int_equal(tri_classifier_fit(w.e, &l, &without), TRI_OK);
    for (int i = 0; i < OWN; i++) {
        memset(failed, 0, sizeof failed);
        failed[i] = 1;
        assert_int_equal(tri_classifier_fit(w.e, &l, &with), TRI_OK);
        tri_classifier_predict(with, w.x + (size_t)i * (size_t)w.width, 1, p);
        tri_classifier_predict(without, w.x + (size_t)i * (size_t)w.width, 1,
                               p + 1);
        print_message("own %d: runs with %.3f, %.3f\n", i, p[0], p[1]);
        assert_true(fabs(p[0] - p[1]) > 1e-6);
        tri_classifier_destroy(with);
    }
    tri_classifier_destroy(without);
    tri_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_wish_to_end_is_heard),
            cmocka_unit_test(few_more_peaks_teach_nothing_new),
            cmocka_unit_test(own_labels_are_kept)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

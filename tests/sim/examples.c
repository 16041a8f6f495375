/*
 * The example studies of models/table end well.  The toy's table stands beside
 * it; the others' tables are taken from ../shared where that is.
 */
#include "tests/sim/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER TRI_SOURCE_DIR "/models/table/"

static char *slurp(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long size;

    if (f == NULL) {
        return NULL;
    }
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    text = malloc((size_t)size + 1);
    assert_non_null(text);
    *bytes = fread(text, 1, (size_t)size, f);
    text[*bytes] = '\0';
    fclose(f);
    return text;
}

/* The table where the study says, or of the same name among the shared data. */
static tri_status find_table(void *ctx, const char *path, char **data,
                             size_t *bytes)
{
    static const char *const folders[] = {"throughput", "kernels", "curves"};
    const char *name = strrchr(path, '/') + 1;
    char elsewhere[512];

    *data = slurp(path, bytes);
    for (int i = 0; i < 3 && *data == NULL && ctx != NULL; i++) {
        snprintf(elsewhere, sizeof elsewhere, "%s/data/%s/%s",
                 (const char *)ctx, folders[i], name);
        *data = slurp(elsewhere, bytes);
    }
    return *data != NULL ? TRI_OK : TRI_FAIL(TRI_EIO, "no %s", name);
}

static void run_example(const char *name, const char *shared, int workers)
{
    char path[512], folder[512];
    tri_sim_settings set;
    tri_study *study = NULL;
    tri_sim_result r;
    size_t bytes = 0;
    char *text;

    snprintf(path, sizeof path, FOLDER "%s", name);
    snprintf(folder, sizeof folder, "%s", shared == NULL ? "" : shared);
    text = slurp(path, &bytes);
    assert_non_null(text);
    must(tri_study_parse(text, bytes, path, find_table,
                         shared == NULL ? NULL : folder, &study));
    tri_sim_defaults(&set);
    set.workers = workers;
    simulate(study, &set, &r, NULL);
    assert_int_equal(r.end_status, 0);
    assert_int_equal(r.distinct, study->budget.trials);
    assert_true(r.best > 0 && r.optimum > 0);
    print_message("%s: best %g of %g\n", name, r.best, r.optimum);
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
    free(text);
}

static void the_toy_needs_nothing(void **state)
{
    (void)state;
    run_example("toy.yaml", NULL, 32);
}

static void recorded_tables(void **state)
{
    const char *shared = shared_dir();

    (void)state;
    run_example("throughput.yaml", shared, 16);
    run_example("nanotron.yaml", shared, 4);
    run_example("throughput_failed.yaml", shared, 512);
    run_example("kernel.yaml", shared, 8);
    run_example("curves.yaml", shared, 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_toy_needs_nothing),
            cmocka_unit_test(recorded_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

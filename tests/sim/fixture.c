/*
 * Studies and simulations for tests.
 */
#include "tests/sim/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void must(tri_status st)
{
    if (st != TRI_OK) {
        print_error("%s: %s\n", tri_status_name(st),
                    tri_error_last()->sentence);
        fail();
    }
}

static tri_status read_file(void *ctx, const char *path, char **data,
                            size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    struct stat info;
    char *text;

    (void)ctx;
    if (f == NULL || stat(path, &info) != 0) {
        if (f != NULL) {
            fclose(f);
        }
        return TRI_FAIL(TRI_EIO, "cannot read '%s'", path);
    }
    text = malloc((size_t)info.st_size + 1);
    assert_non_null(text);
    *bytes = fread(text, 1, (size_t)info.st_size, f);
    text[*bytes] = '\0';
    *data = text;
    fclose(f);
    return TRI_OK;
}

static tri_status give_text(void *ctx, const char *path, char **data,
                            size_t *bytes)
{
    (void)path;
    *bytes = strlen(ctx);
    *data = malloc(*bytes + 1);
    assert_non_null(*data);
    memcpy(*data, ctx, *bytes + 1);
    return TRI_OK;
}

tri_study *read_table_study(const char *yaml, const char *csv)
{
    tri_study *study = NULL;
    char text[8192];

    snprintf(text, sizeof text, "%s", csv);
    must(tri_study_parse(yaml, strlen(yaml), "test.yaml", give_text, text,
                         &study));
    return study;
}

tri_study *read_study(const char *yaml)
{
    tri_study *study = NULL;

    must(tri_study_parse(yaml, strlen(yaml), "test.yaml", read_file, NULL,
                         &study));
    return study;
}

void simulate(const tri_study *study, const tri_sim_settings *settings,
              tri_sim_result *out, tri_ctl **ctl)
{
    tri_curve *source = NULL;

    must(tri_curve_create(study, settings->cost_s, &source));
    must(tri_sim_run(study, source, settings, out, ctl));
    tri_curve_destroy(source);
}

void simulate_text(const char *yaml, const tri_sim_settings *settings,
                   tri_sim_result *out)
{
    tri_study *study = read_study(yaml);

    simulate(study, settings, out, NULL);
    tri_study_destroy(study);
}

double first_at(const tri_sim_result *r, int rung, int *n)
{
    double first = NAN;
    int count = 0;

    for (int64_t i = 0; i < r->n_history; i++) {
        if (r->history[i].rung == rung) {
            first = count == 0 ? r->history[i].virtual_s : first;
            count++;
        }
    }
    if (n != NULL) {
        *n = count;
    }
    return first;
}

const char *shared_dir(void)
{
    const char *dir = getenv("TRI_SHARED_DIR");
    struct stat info;

    if (dir == NULL || stat(dir, &info) != 0) {
        print_message("skipped: no shared data (TRI_SHARED_DIR is %s)\n",
                      dir == NULL ? "not set" : dir);
        skip();
    }
    return dir;
}

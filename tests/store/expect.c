/*
 * See the header.
 */
#include "tests/tri_cmocka.h"

#include "tests/store/expect.h"
#include "tests/store/inspect.h"
#include "tests/store/scratch.h"
#include "trireme/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS 12 /* of the tiny study */

void expect_history(const char *path, int64_t least, int64_t n)
{
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;
    tri_replay replay;

    if (least == 0 && !tri_record_exists(path)) {
        return;
    }
    if (tri_history_read(path, &h) != TRI_OK) {
        fail_msg("fault %lld: %s", (long long)n, tri_error_last()->sentence);
    }
    if (tri_history_n(h) < least) {
        fail_msg("fault %lld: %lld events are lost", (long long)n,
                 (long long)(least - tri_history_n(h)));
    }
    assert_int_equal(tri_history_replay(h, &ctl, &replay), TRI_OK);
    assert_int_equal(replay.mismatches, 0);
    tri_ctl_destroy(ctl);
    tri_history_destroy(h);
}

void expect_end(const char *dir, const char *path, int64_t n)
{
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;
    tri_replay replay;
    int64_t run, ended = 0;

    assert_int_equal(tri_history_read(path, &h), TRI_OK);
    assert_int_equal(tri_history_replay(h, &ctl, &replay), TRI_OK);
    assert_int_equal(replay.mismatches, 0);
    for (run = 0; run < tri_ctl_n_runs(ctl); ++run) {
        tri_run_view view;

        tri_ctl_run(ctl, run, &view);
        ended += view.state == TRI_RUN_ENDED;
    }
    if (!inspect_sound(path) || inspect_rows(path, "runs") != ended ||
        inspect_rows(path, "trials") != TRIALS ||
        inspect_rows(path, "events") != replay.events) {
        fail_msg("fault %lld: the tables are not whole", (long long)n);
    }
    if (scratch_count(dir, "") != 2) { /* file and .exit */
        scratch_list(dir);
        fail_msg("fault %lld: files are left over", (long long)n);
    }
    tri_ctl_destroy(ctl);
    tri_history_destroy(h);
}

void expect_exit(const char *path, int64_t n)
{
    char name[600], text[64] = "";
    FILE *file;

    snprintf(name, sizeof name, "%s.exit", path);
    file = fopen(name, "re");
    if (!file) {
        fail_msg("fault %lld: no .exit", (long long)n);
        return;
    }
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_memory_equal(text, "{\"status\": ", 11);
}

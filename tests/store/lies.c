/*
 * See the header.
 */
#include "tests/store/lies.h"

#include "src/store/h5file.h"
#include "tests/store/tiny.h"
#include "trireme/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In sanitizer builds: more at once is a find. */
/* NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier) */
const char *__asan_default_options(void) __attribute__((visibility("default")));
/* NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier) */
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=256";
}

/* HDF5 loses some of its own memory over a file that is damaged. */
/* NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier) */
const char *__lsan_default_suppressions(void)
        __attribute__((visibility("default")));
/* NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier) */
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

unsigned lies_choose(lies *c, unsigned n)
{
    return c->at < c->bytes ? c->data[c->at++] % n : 0;
}

int lies_wrong(lies *c)
{
    return lies_choose(c, 8) == 7;
}

int64_t lies_number(lies *c, int64_t right)
{
    static const int64_t wrong[] = {
            -1,        0,          1,         24,        255,
            INT32_MAX, UINT32_MAX, INT64_MIN, INT64_MAX, (int64_t)1 << 40};
    unsigned i = lies_choose(c, 40);

    return i < 10 ? wrong[i] : right;
}

void lies_event(tri_event *e, lies *c, int i)
{
    memset(e, 0, sizeof *e);
    e->time_s = i;
    e->kind = i == 0 ? TRI_EV_OPEN : i < 4 ? TRI_EV_POOL : TRI_EV_CLOCK;
    if (i == 0) {
        e->u.open.study_text = (tri_blob){tiny_study, strlen(tiny_study)};
        e->u.open.seed = 5;
        e->u.open.epoch = (int)lies_number(c, 1);
        e->u.open.study_path = e->u.open.build = e->u.open.level = "";
        e->u.open.deadline_source = e->u.open.pml = "";
        e->u.open.machine_class = e->u.open.command_line = "";
        e->u.open.max_time_s = e->u.open.deadline_s = NAN;
    } else if (i < 4) {
        e->u.pool = (tri_ev_pool){.rank = (int32_t)lies_number(c, i),
                                  .state = TRI_RANK_UP,
                                  .host = "h",
                                  .cores = 1,
                                  .device = "",
                                  .binding = "",
                                  .cpus = ""};
    }
}

int lies_read(const char *path)
{
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;

    free(tri_h5file_read_text(path, "hostnames"));
    free(tri_h5file_read_text(path, "topology_xml"));
    if (tri_history_read(path, &h) != TRI_OK) {
        if (!tri_error_last()->sentence[0]) {
            abort();
        }
        return 0;
    }
    if (tri_history_replay(h, &ctl, NULL) == TRI_OK) {
        tri_ctl_destroy(ctl);
    }
    tri_history_destroy(h);
    return 1;
}

const char *lies_path(const char *word)
{
    static char path[64];

    if (!path[0]) {
        snprintf(path, sizeof path, "%s/fuzz-%s-%ld.h5",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", word,
                 (long)getpid());
    }
    return path;
}

/*
 * Lists of devices and how they are shared out.
 */
#include "mpi_workers/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEVICES 128

/* Known variables, the one that decides first. */
static const char *const known[] = {
        "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
        "ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL"};
/* What launchers and users write for no device at all. */
static const char *const nothing[] = {"NoDevFiles", "-1", "none", "void"};

typedef struct words { /* of one list, within its text */
    int n;
    struct {
        const char *at;
        int bytes;
    } word[MOST_DEVICES];
} words;

static words split(const char *list)
{
    words w = {0};

    while (*list && w.n < MOST_DEVICES) {
        int skipped = (int)strspn(list, " \t,");
        int bytes = (int)strcspn(list + skipped, " \t,");

        if (bytes > 0) {
            w.word[w.n].at = list + skipped;
            w.word[w.n++].bytes = bytes;
        }
        list += skipped + bytes;
    }
    return w;
}

static int is_same(const words *a, int i, const words *b, int j)
{
    return a->word[i].bytes == b->word[j].bytes &&
           memcmp(a->word[i].at, b->word[j].at, (size_t)a->word[i].bytes) == 0;
}

static int holds(const words *w, const words *of, int i)
{
    for (int j = 0; j < w->n; j++) {
        if (is_same(w, j, of, i)) {
            return 1;
        }
    }
    return 0;
}

/* Put word `i` behind what is in buf, unless it is there already. */
static void add_word(const words *w, int i, char *buf, size_t bytes)
{
    words there = split(buf);
    size_t used = strlen(buf);

    if (!holds(&there, w, i) && used + (size_t)w->word[i].bytes + 2 <= bytes) {
        snprintf(buf + used, bytes - used, "%s%.*s", used > 0 ? "," : "",
                 w->word[i].bytes, w->word[i].at);
    }
}

void tri_devices_join(const char *const *lists, int n, char *buf, size_t bytes)
{
    int more = 1;

    buf[0] = 0;
    for (int k = 0; more; k++) {
        more = 0;
        for (int i = 0; i < n; i++) {
            words w = split(lists[i]);

            if (k < w.n) {
                add_word(&w, k, buf, bytes);
                more = 1;
            }
        }
    }
}

void tri_devices_alone(const char *list, const char *const *others, int n,
                       char *buf, size_t bytes)
{
    words w = split(list);

    buf[0] = 0;
    for (int k = 0; k < w.n; k++) {
        int shared = 0;

        for (int i = 0; i < n && !shared; i++) {
            words other = split(others[i]);

            shared = holds(&other, &w, k);
        }
        if (!shared) {
            add_word(&w, k, buf, bytes);
        }
    }
}

/* ---- what is inherited --------------------------------------------------- */

static int is_nothing(const char *value)
{
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        if (strcmp(value, nothing[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static void take(const char *name, const char *value, tri_devices_given *out)
{
    snprintf(out->variable, sizeof out->variable, "%s", name);
    snprintf(out->list, sizeof out->list, "%s",
             value && !is_nothing(value) ? value : "");
}

void tri_devices_inherit(const tri_process_spec *spec, tri_devices_given *out)
{
    memset(out, 0, sizeof *out);
    if (spec->devices.variable) {
        take(spec->devices.variable, getenv(spec->devices.variable), out);
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (getenv(known[i])) {
            take(known[i], getenv(known[i]), out);
            return;
        }
    }
}

/* ---- sharing out --------------------------------------------------------- */

typedef struct host { /* its workers' lists against each other */
    int n_with;       /* workers that were given any */
    int all_same, all_apart;
    int n_listed; /* devices in the first one's list */
} host;

static int overlap(const words *a, const words *b)
{
    for (int i = 0; i < a->n; i++) {
        if (holds(b, a, i)) {
            return 1;
        }
    }
    return 0;
}

static int is_equal(const words *a, const words *b)
{
    int same = a->n == b->n;

    for (int i = 0; i < a->n && same; i++) {
        same = is_same(a, i, b, i);
    }
    return same;
}

static host look(const tri_devices_given *given, int n)
{
    words first = split(given[0].list);
    host h = {.all_same = 1, .all_apart = 1, .n_listed = first.n};

    for (int i = 0; i < n; i++) {
        words a = split(given[i].list);

        h.n_with += a.n > 0;
        h.all_same = h.all_same && is_equal(&first, &a);
        for (int j = 0; j < i && h.all_apart; j++) {
            words b = split(given[j].list);

            h.all_apart = !overlap(&a, &b);
        }
    }
    return h;
}

static void set_own(const char *list, tri_devices *out)
{
    out->is_set = 1;
    snprintf(out->own, sizeof out->own, "%s", list);
}

/* The i-th of n equal shares. */
static void share_out(const char *list, int n, int i, tri_devices *out)
{
    words w = split(list);
    int each = w.n / n;

    out->is_set = 1;
    out->own[0] = 0;
    for (int k = i * each; k < (i + 1) * each; k++) {
        add_word(&w, k, out->own, sizeof out->own);
    }
}

static void remark_shares(const host *h, int n, char *remark, size_t bytes)
{
    int left = h->n_listed % n;

    if (h->n_listed < n) {
        snprintf(remark, bytes,
                 "%d devices are not shared out among %d ranks: each process "
                 "is shown all of them; start as many ranks as devices, and "
                 "one more for rank 0, or give a map",
                 h->n_listed, n);
    } else if (left > 0) {
        snprintf(remark, bytes,
                 "%d devices cannot be shared out evenly among %d ranks: each "
                 "has %d, and %d %s unused",
                 h->n_listed, n, h->n_listed / n, left,
                 left == 1 ? "is" : "are");
    }
}

static void share_auto(const tri_devices_given *given, int n, int n_node, int i,
                       tri_devices *out, char *remark, size_t bytes)
{
    host h = look(given, n);

    if (h.n_with == 0) {
        return;
    }
    if (h.all_same && n > 1 && n_node > h.n_listed) {
        /* "0" in each one's own counting, as under --gpus-per-task */
        snprintf(remark, bytes,
                 "all %d ranks see the devices '%.80s', of %d that the job has "
                 "there: they seem to be numbered for each rank apart, so "
                 "that LOCAL_RANK does not index them; start with "
                 "--gpus-per-node instead of --gpus-per-task",
                 n, given[0].list, n_node);
    } else if (h.all_same) {
        remark_shares(&h, n, remark, bytes);
        if (h.n_listed >= n) {
            share_out(given[0].list, n, i, out);
        }
    } else if (h.all_apart) {
        set_own(given[i].list, out);
    } else {
        snprintf(remark, bytes,
                 "the devices that ranks were given overlap and differ: each "
                 "process is shown those of its rank; give a map");
    }
}

static tri_status share_map(const tri_process_spec *spec, int n, int i,
                            tri_devices *out, char *remark, size_t bytes)
{
    int n_map = spec->devices.n_map;

    if (n > n_map) {
        snprintf(remark, bytes,
                 "%d ranks, but model.devices has %d %s: the ranks beyond "
                 "them are left out",
                 n, n_map, n_map == 1 ? "entry" : "entries");
    }
    if (i >= n_map) {
        return TRI_FAIL(TRI_EINVAL,
                        "it is rank %d of its host (counted without rank 0), "
                        "but model.devices has %d %s",
                        i + 1, n_map, n_map == 1 ? "entry" : "entries");
    }
    set_own(spec->devices.map[i], out);
    return TRI_OK;
}

/* The variable of the host: the study's, or the first that a worker has. */
static void name_variable(const tri_process_spec *spec,
                          const tri_devices_given *given, int n,
                          tri_devices *out)
{
    const char *name = spec->devices.variable;

    for (int i = 0; i < n && !name; i++) {
        name = given[i].variable[0] ? given[i].variable : NULL;
    }
    if (!name && spec->devices.how == TRI_DEVICES_MAP) {
        name = known[0];
    }
    snprintf(out->variable, sizeof out->variable, "%s", name ? name : "");
}

tri_status tri_devices_assign(const tri_process_spec *spec,
                              const tri_devices_given *given, int n, int n_node,
                              int i, tri_devices *out, char *remark,
                              size_t bytes)
{
    tri_devices d = {0};

    remark[0] = 0;
    name_variable(spec, given, n, &d);
    if (spec->devices.how == TRI_DEVICES_MAP) {
        TRI_TRY(share_map(spec, n, i, &d, remark, bytes));
    } else if (spec->devices.how == TRI_DEVICES_AUTO) {
        share_auto(given, n, n_node, i, &d, remark, bytes);
    }
    *out = d;
    return TRI_OK;
}

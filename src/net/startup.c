/*
 * What is said once, at the start: what there is to train on, how it is bound,
 * MPI, the study, the end of the job; and what is odd about that.
 */
#include "src/net/driver.h"

#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

/* Of /dev/shm, for each rank of the host: what Open MPI lays out there, and
 * what containers have by default, which loaders of data and NCCL outgrow. */
#define MPI_SHM_BYTES     ((uint64_t)4 << 20)
#define PROCESS_SHM_BYTES ((uint64_t)64 << 20)

static void print_memory(uint64_t bytes, char *buf, size_t n)
{
    if (bytes < 1u << 30) {
        snprintf(buf, n, "%.0f MiB", (double)bytes / (double)(1 << 20));
    } else {
        snprintf(buf, n, "%.1f GiB", (double)bytes / (double)(1 << 30));
    }
}

/* ---- ranks --------------------------------------------------------------- */

int tri_startup_is_over(const tri_world *w, int rank)
{
    const tri_seat *s = &w->seats[rank];

    return s->host_ranks - (strcmp(s->host, w->seats[0].host) == 0) >
           s->host_cores;
}

typedef struct range {
    int least, most;
} range;

static void widen(range *r, int x)
{
    r->least = r->least && r->least < x ? r->least : x;
    r->most = r->most > x ? r->most : x;
}

static const char *print_range(range r, char *buf, size_t bytes)
{
    if (r.least == r.most) {
        snprintf(buf, bytes, "%d", r.most);
    } else {
        snprintf(buf, bytes, "%d to %d", r.least, r.most);
    }
    return buf;
}

/* "bound to their share", and the like; of some ranks where not all agree. */
static void print_binding(const tri_world *w, const tri_peer *peers, char *buf,
                          size_t bytes)
{
    static const char *const kinds[][2] = {
            {"inherited", "as the launcher bound it"},
            {"applied", "bound to it"},
            {"none", "not bound"}};
    size_t used = 0;
    int counts[3] = {0}, n = 0;

    for (int i = 1; i < w->size; i++) {
        for (int k = 0; k < 3; k++) {
            int is = strcmp(peers[i].binding, kinds[k][0]) == 0;

            counts[k] += is;
            n += is;
        }
    }
    buf[0] = 0;
    for (int k = 0; k < 3 && used < bytes; k++) {
        if (counts[k] == n && n > 0) {
            snprintf(buf, bytes, " (%s)", kinds[k][1]);
            return;
        }
        if (counts[k]) {
            used += (size_t)snprintf(buf + used, bytes - used, "%s%d %s",
                                     used ? ", " : " (", counts[k],
                                     kinds[k][1]);
        }
    }
    if (used && used < bytes) {
        snprintf(buf + used, bytes - used, ")");
    }
}

void tri_startup_ranks(const tri_world *w, const tri_peer *peers,
                       uint64_t quota_bytes, char *buf, size_t bytes)
{
    range ranks = {0}, host_cores = {0}, cores = {0};
    char a[32], b[32], c[32], memory[32], binding[160];
    int n_over = 0;

    for (int i = 1; i < w->size; i++) {
        if (!w->seats[i].host[0]) {
            continue; /* it did not come */
        }
        widen(&ranks, w->seats[i].host_ranks);
        widen(&host_cores, w->seats[i].host_cores);
        widen(&cores, peers[i].cores > 0 ? peers[i].cores : w->seats[i].cores);
        n_over += tri_startup_is_over(w, i);
    }
    print_memory(quota_bytes, memory, sizeof memory);
    print_binding(w, peers, binding, sizeof binding);
    snprintf(buf, bytes,
             "%s rank%s a host, %s core%s a host, %s a rank%s, %s a rank%s",
             print_range(ranks, a, sizeof a), ranks.most == 1 ? "" : "s",
             print_range(host_cores, b, sizeof b),
             host_cores.most == 1 ? "" : "s", print_range(cores, c, sizeof c),
             binding, memory,
             n_over ? "; oversubscribed: rates say little" : "");
}

/* ---- what is odd -------------------------------------------------------- */

/* Ranks that the launcher has put on one core together, while their host has
 * more for the job. */
int tri_startup_crowded(const tri_world *w, char *buf, size_t bytes)
{
    int n = 0, first = 0;

    buf[0] = 0;
    for (int i = 1; i < w->size; i++) {
        const tri_seat *s = &w->seats[i];

        if (s->cores == 1 && !s->is_whole && s->n_alike > 1) {
            first = first ? first : i;
            n++;
        }
    }
    if (n == 0) {
        return 0;
    }
    snprintf(buf, bytes,
             "%d ranks share a core with others, as rank %d (%.60s) does core "
             "%.60s: srun does not inherit --cpus-per-task from sbatch or "
             "salloc, so give it to srun itself, or set SRUN_CPUS_PER_TASK; "
             "with mpirun: --bind-to core, or --bind-to none",
             n, first, w->seats[first].node, w->seats[first].cpus);
    return n;
}

int tri_startup_shm(const char *path, int host_ranks, int is_process, char *buf,
                    size_t bytes)
{
    uint64_t wanted = (uint64_t)host_ranks *
                      (is_process ? PROCESS_SHM_BYTES : MPI_SHM_BYTES);
    struct statvfs fs;
    uint64_t has;
    char text[32], want[32];

    buf[0] = 0;
    if (statvfs(path, &fs) != 0) {
        return 0;
    }
    has = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (has >= wanted) {
        return 0;
    }
    print_memory(has, text, sizeof text);
    print_memory(wanted, want, sizeof want);
    snprintf(
            buf, bytes, "%s has %s left for %d ranks, which may want %s: %s",
            path, text, host_ranks, want,
            is_process
                    ? "processes that share memory (loaders of data, NCCL) may "
                      "fail; give the container more (--shm-size)"
                    : "MPI may fail; give the container more (--shm-size), or "
                      "mpirun -mca btl_vader_backing_directory /tmp.  Groups "
                      "of the built-in models do without");
    return 1;
}

static void say_odd(const tri_driver *d)
{
    const tri_world *w = d->world;
    const char *wish = getenv("TRIREME_BIND");
    char text[512];

    if (wish && *wish && strcmp(wish, "none") != 0 &&
        strcmp(wish, "auto") != 0) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "TRIREME_BIND is \"%.40s\", expected none or auto; it is "
                    "not used",
                    wish);
    }

    if (tri_startup_crowded(w, text, sizeof text)) {
        TRI_LOG_JOB(TRI_LOG_WARN, "%s", text);
    }
    if (tri_startup_shm("/dev/shm", w->seats[0].host_ranks,
                        d->study->model.kind == TRI_MODEL_PROCESS, text,
                        sizeof text)) {
        TRI_LOG_JOB(TRI_LOG_WARN, "%s: %s", w->seats[0].node, text);
    }
}

/* ---- the rest ----------------------------------------------------------- */

static void say_deadline(void)
{
    const char *source;
    double end_s = tri_launcher_deadline(&source);
    struct timespec t;

    if (!isnan(end_s)) {
        clock_gettime(CLOCK_REALTIME, &t);
        TRI_LOG_JOB(TRI_LOG_INFO, "the search has to end in %.0f s (%s)",
                    end_s - (double)t.tv_sec - 1e-9 * (double)t.tv_nsec,
                    source);
    } else if (getenv("SLURM_JOB_ID")) {
        TRI_LOG_JOB(TRI_LOG_INFO, "when the job ends is not known: "
                                  "TRIREME_DEADLINE is not set");
    }
}

/* How much there is to search, and how much of it these ranks can run. */
static void say_space(const tri_study *study, int n_ranks, int64_t runs)
{
    int64_t count = tri_space_count(study->space);
    int64_t fit = tri_space_count_within(study->space, n_ranks);
    char fitting[64] = "";

    if (fit >= 0 && fit < count) {
        snprintf(fitting, sizeof fitting, ", %lld of which fit %d ranks",
                 (long long)fit, n_ranks);
    }
    if (count >= 0) {
        TRI_LOG_JOB(TRI_LOG_INFO,
                    "study %s: %lld valid configurations%s; %lld runs so far",
                    study->name, (long long)count, fitting, (long long)runs);
    } else {
        TRI_LOG_JOB(TRI_LOG_INFO, "study %s: a %s space, %lld runs so far",
                    study->name,
                    isinf(tri_space_raw(study->space)) ? "continuous"
                                                       : "very large",
                    (long long)runs);
    }
}

/* Ranks that came and can run something. */
static int n_fit(const tri_driver *d)
{
    int n = 0;

    for (int i = 1; i < d->world->size; i++) {
        n += d->peers[i].said_hello && !d->peers[i].gone;
    }
    return n;
}

/* The last rank that came. */
static int last(const tri_world *w)
{
    int i = w->size - 1;

    while (i > 0 && !w->seats[i].host[0]) {
        i--;
    }
    return i;
}

uint64_t tri_startup_quota(const tri_driver *d)
{
    const tri_world *w = d->world;

    return d->study->memory_bytes ? d->study->memory_bytes
                                  : tri_world_quota(w, last(w));
}

void tri_startup_say(const tri_driver *d, const char *library, const char *pml,
                     const char *hostnames)
{
    const tri_world *w = d->world;
    uint64_t quota = tri_startup_quota(d);
    tri_progress p;
    char ranks[400];

    tri_ctl_progress(d->ctl, &p);
    tri_startup_ranks(w, d->peers, quota, ranks, sizeof ranks);
    TRI_LOG_JOB(TRI_LOG_INFO, "%d rank%s on %s: %s", n_fit(d),
                n_fit(d) == 1 ? " trains" : "s train",
                hostnames ? hostnames : "?", ranks);
    TRI_LOG_JOB(TRI_LOG_INFO, "%s, pml %s, survival level %s", library, pml,
                tri_launcher_level());
    say_space(d->study, n_fit(d), p.runs);
    say_deadline();
    say_odd(d);
}

/*
 * A thousand runs of processes through real MPI, and what they leave: no
 * process, no zombie, no descriptor, no listening port, no shared memory.
 * Measured between two openings, when the ranks are idle.
 */
#include "tests/net/harness.h"

#include "tests/survivors.h"
#include "tests/tri_cmocka.h"

#include <math.h>

#define RUNS      1000
#define MOST      64 /* ranks, and sockets that listen */
#define MARK_TEXT "trireme-net-thousand"

/* Most are good; some leave a daemon, some fail and are tried again, some run
 * on two ranks. */
static const char study[] =
        "study: thousand\nseed: 1\n"
        "model:\n"
        "  kind: process\n"
        "  shell: true\n"
        "  env: {MARK: " MARK_TEXT "}\n"
        "  command:\n"
        "    - |\n"
        "      case $((TRIREME_X % 20)) in\n"
        "      3) (setsid sleep 1000 &) ;;\n"
        "      7) setsid sh -c 'trap \"\" TERM; sleep 1000' & ;;\n"
        "      11) exit 1 ;;\n"
        "      esac\n"
        "      echo '{{\"step\": 4, \"loss\": 1.{x}}}'\n"
        "space: {x: {int: [0, 3999]}}\n"
        "ranks: if(x % 8 == 0, 2, 1)\n"
        "objective: {minimize: loss}\n"
        "resource: {unit: steps, min: 1, max: 1, eta: 2}\n"
        "search: random\n"
        "budget: {runs: %d}\nfinals: none\n";

typedef struct state {
    int n_ranks, processes, descriptors, listening, shared, files;
} state;

/* ---- what there is ------------------------------------------------------ */

static int parent_of(int pid)
{
    char path[64];
    char text[512] = "";
    int parent = -1;
    const char *after;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    f = fopen(path, "r");
    if (f) {
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        fclose(f);
    }
    after = strrchr(text, ')');
    if (after && sscanf(after, ") %*c %d", &parent) != 1) {
        parent = -1;
    }
    return parent;
}

/* Children of `parent`, zombies too. */
static int children_of(int parent, int *out, int most)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    int n = 0;

    assert_non_null(dir);
    while ((e = readdir(dir))) {
        int pid = (int)strtol(e->d_name, NULL, 10);

        if (pid > 0 && n < most && parent_of(pid) == parent) {
            out[n++] = pid;
        }
    }
    closedir(dir);
    return n;
}

/* Whether the socket of that number waits for connections. */
static int is_listening(unsigned long inode)
{
    static const char *const files[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    char line[512];
    int found = 0;

    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(files[i], "r");

        while (f && fgets(line, sizeof line, f)) {
            unsigned long n = 0;
            unsigned socket_state = 0;

            found |= sscanf(line, "%*s %*s %*s %x %*s %*s %*s %*s %*s %lu",
                            &socket_state, &n) == 2 &&
                     socket_state == 0x0A && n == inode;
        }
        if (f) {
            fclose(f);
        }
    }
    return found;
}

static void count_descriptors(int pid, state *s)
{
    char path[128];
    char target[128];
    unsigned long inode;
    struct dirent *e;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    dir = opendir(path);
    assert_non_null(dir);
    while ((e = readdir(dir))) {
        ssize_t n;

        snprintf(path, sizeof path, "/proc/%d/fd/%.20s", pid, e->d_name);
        n = readlink(path, target, sizeof target - 1);
        if (n > 0) {
            target[n] = 0;
            s->descriptors++;
            s->listening += sscanf(target, "socket:[%lu]", &inode) == 1 &&
                            is_listening(inode);
        }
    }
    closedir(dir);
}

/* Mappings of shared memory. */
static void count_shared(int pid, state *s)
{
    char path[64];
    char line[1024];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        s->shared += strstr(line, "/dev/shm/") != NULL;
    }
    fclose(f);
}

/* Files of ours; Open MPI's own stay for the job. */
static void count_files(state *s)
{
    DIR *dir = opendir("/dev/shm");
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        s->files += strncmp(e->d_name, "tri", 3) == 0;
    }
    if (dir) {
        closedir(dir);
    }
}

/* Of all ranks, which are mpirun's children. */
static state look(void)
{
    state s = {0};
    int ranks[MOST];
    int left[MOST];
    int n = children_of(getppid(), ranks, MOST);

    s.n_ranks = n;
    for (int i = 0; i < n; i++) {
        s.processes += children_of(ranks[i], left, MOST);
        count_descriptors(ranks[i], &s);
        count_shared(ranks[i], &s);
    }
    s.processes += tri_survivors(MARK_TEXT);
    count_files(&s);
    return s;
}

static int is_same(const state *a, const state *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- the runs ----------------------------------------------------------- */

/* All have ended; the one in twenty that fails was tried twice. */
static void check_runs(const tri_ctl *ctl, int runs)
{
    int finished = 0;
    int failed = 0;

    assert_int_equal(tri_ctl_n_runs(ctl), runs);
    for (int i = 0; i < runs; i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        finished += v.status == TRI_RUN_FINISHED;
        failed += v.status == TRI_RUN_FAILED &&
                  v.outcome.reason == TRI_REASON_BAD_EXIT;
    }
    print_message("%d runs finished, %d failed as they should\n", finished,
                  failed);
    assert_int_equal(finished + failed, runs);
    assert_true(failed < runs / 5 && (failed > 0 || runs < 100));
}

static void tune(int runs, const char *path)
{
    char text[sizeof study + 16];
    const char *format = study;
    tri_tuned t;

    snprintf(text, sizeof text, format, runs);
    t = tri_case_tune(text, path, 0, NULL, NULL);
    assert_int_equal(t.st, TRI_OK);
    assert_int_equal(t.end.status, 0);
    check_runs(t.ctl, runs);
    tri_tuned_fini(&t);
}

static void nothing_is_left(void)
{
    char path[160];
    state before, after;

    snprintf(path, sizeof path, "%s.first.h5", tri_case_file());
    tune(50, path); /* MPI has opened what it opens */
    before = look();
    assert_int_equal(before.n_ranks, tri_case_ranks);
    assert_int_equal(before.processes, 0);
    tune(RUNS, tri_case_file());
    after = look();
    for (int i = 0; i < 500 && !is_same(&before, &after); i++) {
        usleep(10000);
        after = look();
    }
    print_message("of %d ranks: processes %d, descriptors %d then %d, "
                  "listening %d then %d, shared %d then %d, files %d then %d\n",
                  after.n_ranks, after.processes, before.descriptors,
                  after.descriptors, before.listening, after.listening,
                  before.shared, after.shared, before.files, after.files);
    assert_true(is_same(&before, &after));
}

int main(int argc, char **argv)
{
    static const tri_case cases[] = {{"nothing is left", 2, nothing_is_left}};

    return tri_cases_run(argc, argv, cases, 1);
}

/*
 * trireme tune: the search itself.  Rank 0 reads the study and leads, all
 * other ranks serve; this file is the outside of both.
 */
#include "src/app/app.h"

#ifdef TRI_HAVE_MPI
#include "mpi_workers/trial_kind.h"
#include "src/app/live.h"
#include "src/app/mpi_start.h"
#include "src/app/summary.h"
#include "src/app/thinker.h"
#include "trireme/net.h"
#include "trireme/wire.h"
#endif

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WARM  64
#define SHOWN_TOP 5

typedef struct tune_options {
    tri_app_common common;
    const char *output;
    int resume;
    const char *warm[MAX_WARM];
    int n_warm;
    double max_time_s;
    uint64_t seed;
    int has_seed;
    const char *table;
} tune_options;

enum {
    KEY_RESUME = 0x2001,
    KEY_WARM,
    KEY_MAX_TIME,
    KEY_SEED,
    KEY_TABLE
};

static const struct argp_option options[] = {
        {"output", 'o', "FILE.h5", 0,
         "The study file to write (the study's name with .h5)", 0},
        {"resume", KEY_RESUME, NULL, 0,
         "Go on with a study, or start it if there is none", 0},
        {"warm", KEY_WARM, "OLD.h5", 0,
         "Learn from the results of an earlier study; may be repeated", 0},
        {"max-time", KEY_MAX_TIME, "T", 0,
         "End after T ('90 s', '2h'), finals included", 0},
        {"seed", KEY_SEED, "N", 0, "Instead of the study's seed", 0},
        TRI_APP_TABLE_OPTION(KEY_TABLE),
        {0}};

static error_t add_warm(tune_options *o, const char *path)
{
    if (o->n_warm == MAX_WARM) {
        TRI_FAIL(TRI_EINVAL, "--warm is given more than %d times", MAX_WARM);
        return EINVAL;
    }
    if (!*path) {
        TRI_FAIL(TRI_EINVAL, "--warm takes the name of a study file");
        return EINVAL;
    }
    o->warm[o->n_warm++] = path;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    tune_options *o = state->input;

    switch (key) {
    case 'o':
        o->output = arg;
        return 0;
    case KEY_RESUME:
        o->resume = 1;
        return 0;
    case KEY_WARM:
        return add_warm(o, arg);
    case KEY_MAX_TIME:
        return tri_app_seconds("max-time", arg, &o->max_time_s);
    case KEY_SEED:
        o->has_seed = 1;
        return tri_app_u64("seed", arg, &o->seed);
    case KEY_TABLE:
        o->table = arg;
        return 0;
    default:
        return tri_app_parse_other(key, arg, state);
    }
}

static const struct argp argp = {
        options,
        parse,
        "STUDY.yaml",
        "Search the space of a study by running its configurations; start it "
        "with mpirun or srun on one rank more than shall train.",
        tri_app_common_child,
        NULL,
        NULL};

/* A launcher may not pass rank 0's status on, and FILE.h5.exit is of openings
 * that hold the study only. */
static int tell(int status)
{
    const char *path = getenv("TRIREME_EXIT");
    FILE *file;
    int failed;

    if (!path || !*path || tri_app_launch_rank() > 0) {
        return status;
    }
    file = fopen(path, "w");
    failed = !file || fprintf(file, "%d\n", status) < 0;
    if ((file && fclose(file) != 0) || failed) {
        TRI_LOG(TRI_LOG_WARN, "TRIREME_EXIT: %s cannot be written: %s", path,
                strerror(errno));
    }
    return status;
}

#ifdef TRI_HAVE_MPI

/* What rank 0 holds while it leads. */
typedef struct leading {
    const tune_options *options;
    tri_study *study;
    char output[4096];
    char command_line[2048];
    tri_net_end end;
    tri_ctl *ctl;
} leading;

/* ---- before the search ----------------------------------------------- */

static tri_status enough_ranks(const tri_study *study, int size)
{
    int lo;
    int hi;

    TRI_TRY(tri_app_mpi_one_world(size));
    if (size == 1) {
        return TRI_FAIL(TRI_EINVAL,
                        "one rank only: tune needs rank 0 and at least one "
                        "worker; start it with `mpirun -n 3 trireme tune ...` "
                        "or `srun --mpi=pmix`");
    }
    if (!study) {
        return TRI_OK;
    }
    tri_space_rank_range(study->space, &lo, &hi);
    if (lo > size - 1) {
        return TRI_FAIL(TRI_EEMPTY,
                        "the smallest valid configuration needs %d ranks, but "
                        "of this job's %d ranks %d can train (rank 0 leads)",
                        lo, size, size - 1);
    }
    return TRI_OK;
}

/* The seed that the first opening of the record stored.  TRI_ENOTFOUND where
 * there is none yet. */
static tri_status stored_seed(const char *path, uint64_t *out)
{
    tri_history *history = NULL;
    tri_arena *arena = NULL;
    tri_entry entry;
    tri_event event;
    tri_status st;

    TRI_TRY(tri_history_read(path, &history));
    st = TRI_ENOTFOUND;
    if (tri_history_n(history) == 0) {
        goto destroy_history;
    }
    TRI_TRY_GOTO(st, tri_arena_create(&arena), destroy_history);
    tri_history_entry(history, 0, &entry);
    st = tri_event_unpack(entry.packed, entry.bytes, arena, &event);
    if (st == TRI_OK && event.kind == TRI_EV_OPEN) {
        *out = event.u.open.seed;
    }
    tri_arena_destroy(arena);
destroy_history:
    tri_history_destroy(history);
    return st;
}

static tri_status choose_seed(leading *l)
{
    const tune_options *o = l->options;
    uint64_t stored = 0;

    if (o->resume && tri_record_exists(l->output)) {
        if (stored_seed(l->output, &stored) != TRI_OK) {
            tri_error_clear(); /* the opening says what is wrong with it */
        } else if (o->has_seed && o->seed != stored) {
            return TRI_FAIL(TRI_EOTHER,
                            "--seed %" PRIu64 " differs from %" PRIu64
                            ", the seed that %s was begun with",
                            o->seed, stored, l->output);
        } else {
            l->study->seed = stored;
            return TRI_OK;
        }
    }
    if (o->has_seed) {
        l->study->seed = o->seed;
    }
    return TRI_OK;
}

/* That what the study asks for is built. */
static tri_status check_built(const tri_study *study)
{
    tri_status st;

    if (!tri_trial_kind(study->model.kind)) {
        st = TRI_FAIL(TRI_EUNBUILT, "model kind %s is not built yet",
                      tri_model_name(study->model.kind));
        tri_error_place(study->path, 0, 0);
        return st;
    }
    return tri_app_study_built(study);
}

static tri_status choose_output(leading *l)
{
    const tune_options *o = l->options;
    char name[1024];

    if (o->output) {
        snprintf(l->output, sizeof l->output, "%s", o->output);
        return TRI_OK;
    }
    TRI_TRY(tri_app_study_name(o->common.file, name, sizeof name));
    snprintf(l->output, sizeof l->output, "%s.h5", name);
    return TRI_OK;
}

/* That nothing is overwritten: the second thing that everybody does. */
static tri_status check_output(const leading *l)
{
    if (!l->options->resume && tri_record_exists(l->output)) {
        return TRI_FAIL(TRI_EEXIST,
                        "%s exists already; go on with --resume, or name "
                        "another file with -o",
                        l->output);
    }
    return TRI_OK;
}

/* That each earlier study is one. */
static tri_status check_warm(const tune_options *o)
{
    for (int i = 0; i < o->n_warm; i++) {
        tri_history *history = NULL;

        TRI_TRY(tri_app_history(o->warm[i], &history));
        tri_history_destroy(history);
    }
    return TRI_OK;
}

/* Other hosts may have it: the runs will show. */
static void warn_of_command(const tri_study *study)
{
    char note[1024];

    if (tri_app_command_note(study, note, sizeof note)) {
        TRI_LOG_JOB(TRI_LOG_WARN, "%s", note);
    }
}

static tri_status prepare(leading *l, int size)
{
    const tune_options *o = l->options;

    TRI_TRY(enough_ranks(NULL, size));
    TRI_TRY(choose_output(l));
    TRI_TRY(tri_app_study_with(o->common.file, o->table,
                               o->resume ? l->output : NULL, &l->study));
    TRI_TRY(tri_app_study_not_empty(l->study));
    TRI_TRY(check_built(l->study));
    TRI_TRY(enough_ranks(l->study, size));
    TRI_TRY(check_output(l));
    TRI_TRY(check_warm(o));
    warn_of_command(l->study);
    return choose_seed(l);
}

/* ---- after the search ------------------------------------------------ */

static void print_json(const leading *l)
{
    json_t *o = tri_app_answer_json(l->ctl, SHOWN_TOP);
    tri_progress p;

    tri_ctl_progress(l->ctl, &p);
    json_object_set_new(o, "study", tri_app_json_text(l->study->name));
    json_object_set_new(o, "file", tri_app_json_text(l->output));
    json_object_set_new(o, "status", json_integer(l->end.status));
    json_object_set_new(o, "why", tri_app_json_text(l->end.why));
    json_object_set_new(o, "resumable", json_boolean(l->end.resumable));
    json_object_set_new(o, "trials", json_integer(p.trials));
    json_object_set_new(o, "runs", json_integer(p.runs));
    json_object_set_new(o, "repeated_steps", json_integer(p.repeated_steps));
    json_object_set_new(o, "failures", tri_app_failures_json(&p));
    tri_app_json_print(o);
}

/* Which one it was that lacked something. */
static void print_program(const leading *l, const tri_progress *p)
{
    char program[1024];

    if (p->failures[TRI_REASON_IMPORT_ERROR] &&
        tri_app_program(l->study, program, sizeof program)) {
        printf("    '%s' is %s on this host\n",
               l->study->model.u.process.argv[0], program);
    }
}

/* Runs that end sooner than a thinker answers are not led by it. */
static void print_unled(const tri_ctl *ctl, int64_t trials)
{
    int64_t drawn = 0;

    for (int64_t i = 0; i < trials; i++) {
        tri_trial_view v;

        tri_ctl_trial(ctl, i, &v);
        drawn += strcmp(v.origin, "quasi") == 0;
    }
    if (tri_app_may_think(tri_ctl_study(ctl)) && 2 * drawn > trials) {
        printf("%" PRId64 " of %" PRId64 " configurations were drawn without "
               "the thinker: runs ended sooner than it answered\n",
               drawn, trials);
    }
}

static void print_text(const leading *l)
{
    tri_progress p;
    char time[32];

    tri_ctl_progress(l->ctl, &p);
    tri_app_answer_print(l->ctl, SHOWN_TOP, stdout);
    tri_app_failures_print(l->ctl, stdout);
    print_program(l, &p);
    tri_app_failures_explain(l->ctl, stdout);
    tri_app_duration(p.time_s, time, sizeof time);
    if (l->end.status == TRI_EXIT_FAULT) { /* a sentence of its own */
        printf("\n%s\n", l->end.why);
    } else {
        printf("\n%s, in %s of study time\n", l->end.why, time);
    }
    if (p.repeated_steps > 0) {
        printf("%" PRId64 " steps were, or have to be, done again after "
               "interruptions and losses\n",
               p.repeated_steps);
    }
    print_unled(l->ctl, p.trials);
    if (p.parked > 0) {
        printf("%" PRId64 " trials parked for want of ranks\n", p.parked);
    }
    printf("study file %s\n", l->output);
    if (l->end.resumable) {
        puts("go on with --resume");
    }
}

/* Where the record broke (a full disk), the controller has heard more than was
 * written: told is what is kept. */
static void take_what_is_kept(leading *l)
{
    tri_history *history = NULL;
    tri_ctl *kept = NULL;

    if (l->end.status != TRI_EXIT_FAULT || !l->ctl) {
        return;
    }
    if (tri_app_history(l->output, &history) == TRI_OK &&
        tri_history_replay(history, &kept, NULL) == TRI_OK) {
        if (!l->end.must_exit) { /* else a thinker may be at it still */
            tri_ctl_destroy(l->ctl);
        }
        l->ctl = kept;
    } else {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "%s cannot be read back: what is told below "
                    "may not all be kept",
                    l->output);
        tri_error_clear();
    }
    tri_history_destroy(history);
}

/* Returns the exit status of the opening. */
static int report(const leading *l)
{
    if (!l->ctl || !tri_ctl_study(l->ctl)) { /* ended before it began */
        TRI_LOG_JOB(l->end.status ? TRI_LOG_ERROR : TRI_LOG_INFO, "%s",
                    l->end.why);
        return l->end.status;
    }
    if (l->options->common.json) {
        print_json(l);
    } else {
        print_text(l);
    }
    return l->end.status;
}

/* ---- leading --------------------------------------------------------- */

static void join(int argc, char **argv, char *buf, size_t bytes)
{
    size_t used = (size_t)snprintf(buf, bytes, "trireme");

    for (int i = 0; i < argc && used < bytes; i++) {
        used += (size_t)snprintf(buf + used, bytes - used, " %s", argv[i]);
    }
}

static tri_status search(leading *l)
{
    const tune_options *o = l->options;
    tri_app_live live;
    tri_app_summary summary;
    tri_net_settings settings = {
            .output = l->output,
            .resume = o->resume,
            .max_time_s = o->max_time_s,
            .command_line = l->command_line,
            .warm = o->warm,
            .n_warm = o->n_warm,
            .view = tri_app_live_view,
            .ctx = &live,
            .summary = &summary.maker,
    };
    tri_status st;

    tri_app_live_init(&live, o->common.quiet);
    tri_app_summary_init(&summary);
    st = tri_net_tune(l->study, &settings, &l->end, &l->ctl);
    tri_app_summary_fini(&summary);
    tri_app_live_fini(&live);
    return st;
}

static int lead(const tune_options *o, int size, int argc, char **argv,
                int *must_exit)
{
    leading l = {.options = o};
    int status;

    join(argc, argv, l.command_line, sizeof l.command_line);
    if (prepare(&l, size) != TRI_OK) {
        status = tri_app_fail();
        if (size > 1) {
            tri_net_dismiss();
        }
    } else if (search(&l) != TRI_OK) {
        status = tri_app_fail();
        *must_exit = l.end.must_exit;
    } else {
        take_what_is_kept(&l);
        status = report(&l);
        *must_exit = l.end.must_exit;
    }
    if (!*must_exit) { /* else a thinker may be at it still */
        tri_ctl_destroy(l.ctl);
        tri_study_destroy(l.study);
    }
    return status;
}

static int tune(const tune_options *o, int argc, char **argv)
{
    int launch_rank = tri_app_launch_rank();
    int must_exit = 0;
    int rank = 0;
    int size = 1;
    int status;

    tri_app_errors(o->common.json, 0);
    tri_app_mpi_signals(launch_rank > 0 ? 0 : TRI_EXIT_INTERRUPTED);
    tri_app_mpi_tells(tell);
    if ((launch_rank <= 0 && tri_record_prepare() != TRI_OK) ||
        tri_app_mpi_open(&rank, &size) != TRI_OK) {
        return tell(tri_app_fail());
    }
    tri_app_errors(o->common.json, rank > 0 || (size == 1 && launch_rank > 0));
    tri_app_log_setup(o->common.quiet, o->common.verbose, rank);
    if (rank > 0) {
        status = tri_worker_main(&must_exit);
    } else {
        status = tell(lead(o, size, argc, argv, &must_exit));
    }
    return tri_app_mpi_close(status, must_exit);
}

#else

static int tune(const tune_options *o, int argc, char **argv)
{
    (void)o;
    (void)argc;
    (void)argv;
    TRI_FAIL(TRI_EUNBUILT, "this trireme was built without MPI; tune needs it");
    return tell(tri_app_fail());
}

#endif

int tri_app_tune(int argc, char **argv)
{
    tune_options o = {.max_time_s = NAN};
    int status = tri_app_parse(&argp, argc, argv, &o.common, "STUDY.yaml");

    return status >= 0 ? tell(status) : tune(&o, argc, argv);
}

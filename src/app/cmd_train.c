/*
 * trireme train: one configuration by hand, by the same engine as the search
 * uses; rank 0 trains too.
 */
#include "src/app/app.h"

#ifdef TRI_HAVE_MPI
#include "mpi_workers/agree.h"
#include "mpi_workers/trial_kind.h"
#include "mpi_workers/wait.h"
#include "mpi_workers/world.h"
#include "src/app/mpi_start.h"
#endif

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_STEPS 10

typedef struct train_options {
    tri_app_common common;
    const char *set;
    int64_t steps; /* 0: not given */
    const char *table;
} train_options;

enum {
    KEY_SET = 0x2001,
    KEY_STEPS,
    KEY_TABLE
};

static const struct argp_option options[] = {
        {"set", KEY_SET, "ASSIGNMENTS", 0,
         "The configuration, 'dp=2,tp=2'; what it leaves out has the engine's "
         "default",
         0},
        {"steps", KEY_STEPS, "N", 0,
         "How many steps (resource.min where that counts steps, else 10)", 0},
        TRI_APP_TABLE_OPTION(KEY_TABLE),
        {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    train_options *o = state->input;

    switch (key) {
    case KEY_SET:
        o->set = arg;
        return 0;
    case KEY_STEPS:
        return tri_app_int("steps", arg, 1, INT64_C(1) << 40, &o->steps);
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
        "Train one configuration on dp*tp*pp ranks and print every step.",
        tri_app_common_child,
        NULL,
        NULL};

#ifdef TRI_HAVE_MPI

typedef struct training {
    const train_options *options;
    tri_study *study;
    tri_config *config; /* kinds without the engine's layout; else NULL */
    tri_layout layout;
    int rank, size, ranks_needed;
    const tri_trial_ops *ops;
} training;

/* ---- before ---------------------------------------------------------- */

static int uses_engine(const tri_study *study)
{
    return study->model.kind == TRI_MODEL_GPT ||
           study->model.kind == TRI_MODEL_MLP ||
           study->model.kind == TRI_MODEL_DLRM;
}

static tri_status read_config(training *t, const char *text)
{
    const tri_space *space = t->study->space;
    int rule = -1;

    t->config =
            calloc((size_t)tri_space_n_params(space) + 1, sizeof *t->config);
    if (!t->config) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    TRI_TRY(tri_space_parse(space, text, t->config));
    if (!tri_space_valid(space, t->config, &rule)) {
        return TRI_FAIL(TRI_EINFEASIBLE, "'%s' is refused by the rule '%s'",
                        text,
                        rule >= 0 ? tri_space_rule(space, rule)
                                  : "a value outside its domain");
    }
    return tri_space_ranks(space, t->config, &t->ranks_needed);
}

static tri_status read_layout(training *t, const char *text)
{
    TRI_TRY(tri_study_layout_parse(t->study, text, &t->layout));
    t->ranks_needed = t->layout.dp * t->layout.tp * t->layout.pp;
    return TRI_OK;
}

static tri_status prepare(training *t)
{
    const char *text = t->options->set ? t->options->set : "";

    TRI_TRY(tri_app_study_with(t->options->common.file, t->options->table, NULL,
                               &t->study));
    TRI_TRY(tri_app_study_ready(t->study));
    t->ops = tri_trial_kind(t->study->model.kind);
    if (!t->ops) {
        return TRI_FAIL(TRI_EUNBUILT,
                        "training of a model of kind %s is not built yet",
                        tri_model_name(t->study->model.kind));
    }
    TRI_TRY(uses_engine(t->study) ? read_layout(t, text)
                                  : read_config(t, text));
    if (t->ranks_needed != t->size) {
        TRI_TRY(tri_app_mpi_one_world(t->size));
        return TRI_FAIL(TRI_EINVAL,
                        "this configuration needs exactly %d rank%s, and this "
                        "job has %d; start it with `mpirun -n %d`",
                        t->ranks_needed, t->ranks_needed == 1 ? "" : "s",
                        t->size, t->ranks_needed);
    }
    return TRI_OK;
}

static int64_t steps_of(const training *t)
{
    if (t->options->steps > 0) {
        return t->options->steps;
    }
    return t->study->resource.unit == TRI_UNIT_STEPS ? t->study->resource.min
                                                     : DEFAULT_STEPS;
}

/* ---- steps ----------------------------------------------------------- */

/* A count of a step; null where it is not known. */
static json_t *count_json(double count)
{
    return count > 0 ? json_integer(llround(count)) : json_null();
}

static void print_json(const tri_step *s)
{
    json_t *o = json_object();

    json_object_set_new(o, "step", json_integer(s->step));
    json_object_set_new(o, "loss", tri_app_json_real(s->loss));
    json_object_set_new(o, "step_s", tri_app_json_real(s->step_s));
    json_object_set_new(o, "tokens", count_json(s->tokens));
    json_object_set_new(o, "samples", count_json(s->samples));
    json_object_set_new(o, "bytes", json_integer((json_int_t)s->bytes));
    tri_app_json_print(o);
}

static void print_text(const tri_step *s)
{
    char loss[32] = "-"; /* what is not known */
    char time[32];
    char rate[32] = "-";
    char bytes[32];
    double count = s->tokens > 0 ? s->tokens : s->samples;

    if (s->step == 1) {
        printf("%8s  %10s  %10s  %10s  %12s\n", "step", "loss", "time",
               s->tokens > 0 ? "tokens/s" : "samples/s", "bytes a rank");
    }
    if (!isnan(s->loss)) {
        snprintf(loss, sizeof loss, "%.6f", s->loss);
    }
    if (count > 0) {
        tri_app_number(count / s->step_s, rate, sizeof rate);
    }
    printf("%8" PRId64 "  %10s  %10s  %10s  %12s\n", s->step, loss,
           tri_app_duration(s->step_s, time, sizeof time), rate,
           tri_app_bytes((double)s->bytes, bytes, sizeof bytes));
}

/* ---- memory ---------------------------------------------------------- */

static uint64_t sum_of(const tri_memory *memory)
{
    uint64_t sum = 0;

    for (int i = 0; i < memory->n; i++) {
        sum += memory->kinds[i].bytes;
    }
    return sum;
}

static uint64_t bytes_of(const tri_memory *memory, const char *what)
{
    for (int i = 0; i < memory->n; i++) {
        if (strcmp(memory->kinds[i].what, what) == 0) {
            return memory->kinds[i].bytes;
        }
    }
    return 0;
}

static json_t *kinds_json(const tri_memory *memory)
{
    json_t *o = json_object();

    for (int i = 0; i < memory->n; i++) {
        json_object_set_new(o, memory->kinds[i].what,
                            json_integer((json_int_t)memory->kinds[i].bytes));
    }
    json_object_set_new(o, "total", json_integer((json_int_t)sum_of(memory)));
    return o;
}

static void print_memory_json(const tri_memory_told *told)
{
    json_t *o = json_object(), *memory = json_object();

    json_object_set_new(memory, "rank", json_integer(told->rank));
    json_object_set_new(memory, "predicted", kinds_json(&told->predicted));
    json_object_set_new(memory, "actual", kinds_json(&told->actual));
    json_object_set_new(o, "memory", memory);
    tri_app_json_print(o);
}

static void print_memory_line(const char *what, uint64_t predicted,
                              uint64_t actual)
{
    char text[2][32];

    printf("%20s  %12s  %12s\n", what,
           tri_app_bytes((double)predicted, text[0], sizeof text[0]),
           tri_app_bytes((double)actual, text[1], sizeof text[1]));
}

/* Both have the same kinds, being of one code. */
static void print_memory_text(const tri_memory_told *told)
{
    char head[32];

    snprintf(head, sizeof head, "memory of rank %d", told->rank);
    printf("\n%20s  %12s  %12s\n", head, "predicted", "actual");
    for (int i = 0; i < told->actual.n; i++) {
        const tri_region_kind *k = &told->actual.kinds[i];

        print_memory_line(k->what, bytes_of(&told->predicted, k->what),
                          k->bytes);
    }
    print_memory_line("total", sum_of(&told->predicted), sum_of(&told->actual));
}

static tri_status tell_memory(const training *t, tri_trial *trial)
{
    tri_memory_told told = {0};

    if (!t->ops->memory) {
        return TRI_OK;
    }
    TRI_TRY(t->ops->memory(trial, &told));
    if (t->rank == 0) {
        (t->options->common.json ? print_memory_json
                                 : print_memory_text)(&told);
    }
    return TRI_OK;
}

/* ---- all of it ------------------------------------------------------- */

/* The engine's ranks wait for each other inside a step, and nobody else judges
 * how long. */
static void limit_waits(const training *t, double slowest_s)
{
    if (t->ops == &tri_trial_engine) {
        tri_wait_limit(tri_trial_patience(t->study, slowest_s));
    }
}

static tri_status run_steps(const training *t, tri_trial *trial, int64_t n)
{
    int64_t done = 0;
    double slowest_s = 0;

    while (done < n) {
        tri_step step = {.loss = NAN};

        limit_waits(t, slowest_s);
        TRI_TRY(t->ops->step(trial, 0, &step));
        if (step.completed) {
            done++;
            slowest_s = fmax(slowest_s, step.step_s);
            if (t->rank == 0) {
                (t->options->common.json ? print_json : print_text)(&step);
                fflush(stdout);
            }
        }
        if (step.ended) {
            break;
        }
    }
    return TRI_OK;
}

static tri_status train_in(const training *t, MPI_Comm comm)
{
    int64_t n = steps_of(t);
    tri_trial_setup setup = {
            .study = t->study,
            .config = t->config,
            .layout = t->layout,
            .comm = comm,
            .quota_bytes = t->study->memory_bytes,
            .epoch = 1,
            .resource = n,
            .target_step = n,
    };
    tri_trial *trial = NULL;
    tri_status st;

    limit_waits(t, 0);
    TRI_TRY(t->ops->open(&setup, &trial));
    st = run_steps(t, trial, n);
    if (st == TRI_OK) {
        st = tell_memory(t, trial);
    }
    t->ops->close(trial);
    return st;
}

/* `w` is of all ranks, who see each other end from here on. */
static tri_status train_on(training *t, tri_world *w)
{
    tri_status st;

    /* every rank: a file may be missing on one host only */
    tri_wait_limit(tri_world_start_s);
    TRI_TRY(tri_coll_agree(w->control, prepare(t)));
    tri_wait_limit(TRI_NO_DEADLINE);
    tri_error_clear();
    st = train_in(t, w->peers);
    if (st != TRI_OK && tri_error_last()->code != st) {
        TRI_FAIL(st, "%s", tri_status_sentence(st)); /* known elsewhere only */
    }
    return st;
}

/* *broken: a rank is gone or stuck, so that MPI is not to be asked for any
 * more. */
static tri_status train_all(training *t, int *broken)
{
    tri_world w;
    tri_status st = tri_world_open(&w);

    *broken = st != TRI_OK;
    if (st == TRI_OK) {
        st = train_on(t, &w);
        *broken = tri_status_scope(st) >= TRI_SCOPE_GROUP;
        tri_world_close(&w, !*broken);
    }
    return st;
}

static int train(const train_options *o)
{
    training t = {.options = o};
    int status = TRI_EXIT_DONE;
    int broken = 0;
    int silent;

    tri_app_errors(o->common.json, 0);
    if (tri_app_mpi_open(&t.rank, &t.size) != TRI_OK) {
        return tri_app_fail();
    }
    silent = t.rank > 0 || (t.size == 1 && tri_app_launch_rank() > 0);
    tri_app_errors(o->common.json, silent);
    tri_app_log_setup(o->common.quiet, o->common.verbose, t.rank);
    if (train_all(&t, &broken) != TRI_OK) {
        status = tri_app_fail();
    }
    free(t.config);
    tri_study_destroy(t.study);
    return tri_app_mpi_close(silent ? TRI_EXIT_DONE : status, broken);
}

#else

static int train(const train_options *o)
{
    (void)o;
    TRI_FAIL(TRI_EUNBUILT,
             "this trireme was built without MPI; train needs it");
    return tri_app_fail();
}

#endif

int tri_app_train(int argc, char **argv)
{
    train_options o = {.steps = 0};
    int status = tri_app_parse(&argp, argc, argv, &o.common, "STUDY.yaml");

    return status >= 0 ? status : train(&o);
}

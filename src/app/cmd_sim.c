/*
 * trireme sim: the search of a study on a virtual cluster, in virtual time.
 */
#include "src/app/app.h"
#include "src/app/sim_plan.h"
#include "src/app/sim_tell.h"
#include "src/app/thinker.h"

#include "trireme/sim.h"
#include "trireme/store.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WARM 32

typedef struct sim_options {
    tri_app_common common;
    int64_t workers;
    tri_sim_settings set; /* without workers and seed */
    uint64_t seed;
    int has_seed;
    const char *curves, *table;
    const char *warm[MAX_WARM];
    int n_warm;
    int plan;
    int no_thinking;
    int has_dropped, has_cost;
} sim_options;

enum {
    KEY_WORKERS = 0x2001,
    KEY_STRAGGLE,
    KEY_SPREAD,
    KEY_HOST_RANKS,
    KEY_SLOW,
    KEY_DROP,
    KEY_DROPPED,
    KEY_NODE_LOSS,
    KEY_NODE_DOWN,
    KEY_LATENCY,
    KEY_START,
    KEY_COST,
    KEY_WALLTIME,
    KEY_THINK,
    KEY_PLAN,
    KEY_SEED,
    KEY_CURVES,
    KEY_TABLE,
    KEY_WARM
};

static const struct argp_option options[] = {
        {"workers", KEY_WORKERS, "N", 0, "Ranks of the virtual cluster", 0},
        {"straggle", KEY_STRAGGLE, "S", 0,
         "Each run lasts 1 + |N(0,S)| times as long", 0},
        {"spread", KEY_SPREAD, "S", 0,
         "Each rank is 1 + |N(0,S)| times as slow for good", 0},
        {"host-ranks", KEY_HOST_RANKS, "N", 0, "Ranks of each host (8)", 0},
        {"slow", KEY_SLOW, "HOST:FACTOR", 0,
         "A host, from 0, that is so many times as slow", 0},
        {"drop", KEY_DROP, "P", 0,
         "Probability a virtual second that a run is lost", 0},
        {"dropped", KEY_DROPPED, "HOW", 0,
         "What becomes of it: requeued, resumed or lost", 0},
        {"node-loss", KEY_NODE_LOSS, "P", 0,
         "Probability a virtual second that a host goes down", 0},
        {"node-down", KEY_NODE_DOWN, "S", 0,
         "Seconds until it is back; for good without", 0},
        {"latency", KEY_LATENCY, "S", 0, "Seconds that a message takes", 0},
        {"start", KEY_START, "S", 0, "Seconds to form a group", 0},
        {"cost", KEY_COST, "S", 0,
         "Seconds that a unit of resource takes, where the study does not say",
         0},
        {"walltime", KEY_WALLTIME, "T", 0,
         "Time that a job lasts ('2h'): it drains before, the next goes on", 0},
        {"think", KEY_THINK, "S", 0,
         "Seconds that thinking takes (0); none: draw quasi-random instead", 0},
        {"plan", KEY_PLAN, NULL, 0,
         "How many ranks for how long: a table of clusters up to --workers", 0},
        {"seed", KEY_SEED, "N", 0, "Seed of the search and of the cluster", 0},
        {"curves", KEY_CURVES, "FILE", 0,
         "Results recorded in a CSV or a study file (.h5), for any study", 0},
        {"warm", KEY_WARM, "OLD.h5", 0,
         "Learn from an earlier study, as tune does; may be repeated", 0},
        TRI_APP_TABLE_OPTION(KEY_TABLE),
        {0}};

static error_t parse_dropped(const char *arg, tri_sim_dropped *out)
{
    static const char *const names[] = {"requeued", "resumed", "lost"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(arg, names[i]) == 0) {
            *out = (tri_sim_dropped)i;
            return 0;
        }
    }
    TRI_FAIL(TRI_EINVAL, "--dropped takes requeued, resumed or lost, not '%s'",
             arg);
    return EINVAL;
}

static error_t parse_host_ranks(const char *arg, int *out)
{
    int64_t n;
    error_t e = tri_app_int("host-ranks", arg, 1, 1000000, &n);

    *out = e ? *out : (int)n;
    return e;
}

static error_t parse_slow(const char *arg, tri_sim_settings *set)
{
    char *end;
    long host = strtol(arg, &end, 10);
    double factor;

    if (end == arg || *end != ':' || host < 0 || host > 1000000) {
        TRI_FAIL(TRI_EINVAL,
                 "--slow takes HOST:FACTOR, a host's number from 0 and how "
                 "many times as slow it is, not '%s'",
                 arg);
        return EINVAL;
    }
    if (tri_app_real("slow", end + 1, 1, 1e6, &factor)) {
        return EINVAL;
    }
    set->slow_host = (int)host;
    set->slow = factor;
    return 0;
}

static error_t parse_cluster(int key, char *arg, struct argp_state *state)
{
    sim_options *o = state->input;

    switch (key) {
    case KEY_STRAGGLE:
        return tri_app_real("straggle", arg, 0, 1e6, &o->set.straggle);
    case KEY_SPREAD:
        return tri_app_real("spread", arg, 0, 1e6, &o->set.spread);
    case KEY_HOST_RANKS:
        return parse_host_ranks(arg, &o->set.host_ranks);
    case KEY_SLOW:
        return parse_slow(arg, &o->set);
    case KEY_DROP:
        return tri_app_real("drop", arg, 0, 1, &o->set.drop);
    case KEY_DROPPED:
        o->has_dropped = 1;
        return parse_dropped(arg, &o->set.dropped);
    case KEY_NODE_LOSS:
        return tri_app_real("node-loss", arg, 0, 1, &o->set.node_loss);
    case KEY_NODE_DOWN:
        return tri_app_real("node-down", arg, 1e-9, 1e12, &o->set.node_down_s);
    case KEY_LATENCY:
        return tri_app_real("latency", arg, 0, 1e6, &o->set.latency_s);
    case KEY_START:
        return tri_app_real("start", arg, 0, 1e6, &o->set.start_s);
    case KEY_WALLTIME:
        return tri_app_seconds("walltime", arg, &o->set.walltime_s);
    case KEY_COST:
        o->has_cost = 1;
        return tri_app_real("cost", arg, 1e-9, 1e9, &o->set.cost_s);
    default:
        return tri_app_parse_other(key, arg, state);
    }
}

static error_t add_warm(sim_options *o, const char *path)
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
    sim_options *o = state->input;

    switch (key) {
    case KEY_WORKERS:
        return tri_app_int("workers", arg, 1, 1000000, &o->workers);
    case KEY_THINK:
        o->no_thinking = strcmp(arg, "none") == 0;
        return o->no_thinking
                       ? 0
                       : tri_app_real("think", arg, 0, 1e9, &o->set.think_s);
    case KEY_PLAN:
        o->plan = 1;
        return 0;
    case KEY_SEED:
        o->has_seed = 1;
        return tri_app_u64("seed", arg, &o->seed);
    case KEY_CURVES:
        o->curves = arg;
        return 0;
    case KEY_TABLE:
        o->table = arg;
        return 0;
    case KEY_WARM:
        return add_warm(o, arg);
    default:
        return parse_cluster(key, arg, state);
    }
}

static const struct argp argp = {
        options,
        parse,
        "STUDY.yaml",
        "Run the search of a study on a virtual cluster, in virtual time; for "
        "models of kind synthetic and table, and for any with --curves or "
        "--plan.",
        tri_app_common_child,
        NULL,
        NULL};

/* ---- the run --------------------------------------------------------- */

static tri_status open_source(const sim_options *o, const tri_study *study,
                              double cost_s, tri_curve **out)
{
    tri_recorded recorded;
    tri_status st;

    if (!o->curves) {
        return tri_curve_create(study, cost_s, out);
    }
    TRI_TRY(tri_app_recorded(o->curves, study, &recorded));
    if (recorded.outside > 0) {
        TRI_LOG_JOB(TRI_LOG_DEBUG,
                    "%s: %" PRId64 " rows left out: not in the space",
                    o->curves, recorded.outside);
    }
    st = tri_curve_create_recorded(study, &recorded, cost_s, out);
    tri_recorded_fini(&recorded);
    return st;
}

/* Earlier studies: rows for the event, records for the thinker. */
static tri_status read_warm(const sim_options *o, const tri_study *study,
                            tri_warm *warm, tri_app_thinker *thinker)
{
    tri_warm_records *records;

    for (int i = 0; i < o->n_warm; i++) {
        TRI_TRY(tri_warm_read(o->warm[i], study, NULL, warm));
    }
    TRI_TRY(tri_warm_records_create(study, "", warm->rows, warm->n, &records,
                                    &thinker->n_warm));
    thinker->warm = records;
    return TRI_OK;
}

static tri_status run(const sim_options *o, const tri_study *study,
                      tri_sim_settings *settings, tri_sim_result *result,
                      tri_ctl **ctl)
{
    tri_curve *source = NULL;
    tri_status st;

    settings->workers = (int)o->workers;
    settings->seed = study->seed;
    TRI_TRY(open_source(o, study, settings->cost_s, &source));
    st = tri_sim_run(study, source, settings, result, ctl);
    tri_curve_destroy(source);
    return st;
}

static tri_status simulate(const sim_options *o, const tri_study *study,
                           tri_sim_result *result, tri_app_searched *searched,
                           tri_ctl **ctl)
{
    tri_sim_settings settings = o->set;
    tri_app_thinker thinker = {.study = study, .seed = study->seed};
    tri_warm warm = {0};
    tri_status st = TRI_OK;

    if (tri_app_may_think(study) && !o->no_thinking) {
        settings.think = tri_app_think;
        settings.think_ctx = &thinker;
        st = read_warm(o, study, &warm, &thinker);
        settings.warm = warm.rows;
        settings.n_warm = warm.n;
    } else if (o->n_warm > 0) {
        TRI_LOG_JOB(TRI_LOG_WARN, "--warm is of no use to a search that is %s",
                    o->no_thinking ? "without a thinker"
                                   : study->search.proposer);
    }
    if (st == TRI_OK) {
        st = run(o, study, &settings, result, ctl);
    }
    *searched = thinker.searched;
    tri_app_thinker_fini(&thinker);
    tri_warm_records_destroy((tri_warm_records *)thinker.warm, thinker.n_warm);
    tri_warm_fini(&warm);
    return st;
}

static tri_status can_simulate(const sim_options *o, const tri_study *study)
{
    tri_status st;
    int lo;
    int hi;

    TRI_TRY(tri_app_study_not_empty(study));
    TRI_TRY(tri_app_study_built(study));
    if (!o->plan && !o->curves && study->model.kind != TRI_MODEL_SYNTHETIC &&
        study->model.kind != TRI_MODEL_TABLE) {
        st = TRI_FAIL(TRI_EUNBUILT,
                      "a model of kind %s cannot be simulated without "
                      "--curves; only synthetic and table have curves",
                      tri_model_name(study->model.kind));
        tri_error_place(o->common.file, 0, 0);
        return st;
    }
    tri_space_rank_range(study->space, &lo, &hi);
    if (!o->plan && lo > o->workers) {
        return TRI_FAIL(TRI_EEMPTY,
                        "the smallest valid configuration needs %d ranks, and "
                        "--workers gives %" PRId64,
                        lo, o->workers);
    }
    return TRI_OK;
}

static tri_status useless(const char *option, const char *why)
{
    return TRI_FAIL(TRI_EINVAL, "%s is of no use %s", option, why);
}

/* An option that nothing would heed is a mistake. */
static tri_status check_options(const sim_options *o)
{
    if (o->workers == 0 && !o->plan) {
        return TRI_FAIL(TRI_EINVAL, "--workers N is missing");
    }
    if (o->plan && o->n_warm > 0) {
        return useless("--warm", "to a plan, which asks no thinker");
    }
    if (o->plan && (o->set.think_s > 0 || o->no_thinking)) {
        return useless("--think", "to a plan, which asks no thinker");
    }
    if (o->has_dropped && !(o->set.drop > 0)) {
        return useless("--dropped", "without --drop");
    }
    if (isfinite(o->set.node_down_s) && !(o->set.node_loss > 0)) {
        return useless("--node-down", "without --node-loss");
    }
    return TRI_OK;
}

static int says_cost(const tri_study *study)
{
    return study->model.kind == TRI_MODEL_SYNTHETIC &&
           isfinite(study->model.u.synthetic.cost_s);
}

static tri_status prepare(const sim_options *o, tri_study **out)
{
    tri_study *study = NULL;
    tri_status st;

    TRI_TRY(check_options(o));
    TRI_TRY(tri_app_study_with(o->common.file, o->table, NULL, &study));
    st = o->has_cost && says_cost(study)
                 ? useless("--cost", "to a study that says what a unit costs")
                 : can_simulate(o, study);
    if (st != TRI_OK) {
        tri_study_destroy(study);
        return st;
    }
    if (o->has_seed) {
        study->seed = o->seed;
    }
    *out = study;
    return TRI_OK;
}

/* For a plan any curve will do: what counts is how long runs are. */
static void stand_in(const sim_options *o, tri_study *study)
{
    if (o->curves || study->model.kind == TRI_MODEL_SYNTHETIC ||
        study->model.kind == TRI_MODEL_TABLE) {
        return;
    }
    study->model.kind = TRI_MODEL_SYNTHETIC;
    study->model.u.synthetic =
            (tri_synthetic_spec){.curve = "bowl", .cost_s = NAN};
}

static int plan(const sim_options *o, tri_study *study)
{
    tri_sim_settings settings = o->set;
    tri_curve *source = NULL;
    tri_status st;

    settings.seed = study->seed;
    stand_in(o, study);
    st = open_source(o, study, settings.cost_s, &source);
    if (st == TRI_OK) {
        st = tri_app_sim_plan(study, source, &settings, (int)o->workers,
                              o->common.json);
    }
    tri_curve_destroy(source);
    return st == TRI_OK ? TRI_EXIT_DONE : tri_app_fail();
}

/* Returns the exit status that the controller gave the study. */
static int report(const sim_options *o, const tri_sim_result *result,
                  const tri_app_searched *searched, const tri_ctl *ctl)
{
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    if (result->missing > 0) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "%s has no result for %" PRId64 " of the %" PRId64
                    " configurations that were tried; they count as infeasible",
                    o->curves, result->missing, result->distinct);
    }
    tri_app_sim_tell(&(tri_app_sim_told){result, searched, ctl,
                                         o->curves != NULL,
                                         o->set.slow_host >= 0,
                                         isfinite(o->set.walltime_s)},
                     o->common.json);
    if (p.state != TRI_CTL_ENDED) {
        return TRI_EXIT_DONE;
    }
    if (p.end_status != TRI_EXIT_DONE) {
        TRI_LOG_JOB(TRI_LOG_ERROR, "%s", p.end_why);
    }
    return p.end_status;
}

int tri_app_sim(int argc, char **argv)
{
    sim_options o = {.workers = 0};
    tri_study *study = NULL;
    tri_sim_result result = {0};
    tri_app_searched searched;
    tri_ctl *ctl = NULL;
    int status;

    tri_sim_defaults(&o.set);
    status = tri_app_parse(&argp, argc, argv, &o.common, "STUDY.yaml");
    if (status >= 0) {
        return status;
    }
    if (prepare(&o, &study) != TRI_OK) {
        return tri_app_fail();
    }
    if (o.plan) {
        status = plan(&o, study);
        goto destroy_study;
    }
    if (simulate(&o, study, &result, &searched, &ctl) != TRI_OK) {
        status = tri_app_fail();
        goto destroy_study;
    }
    status = report(&o, &result, &searched, ctl);
    tri_ctl_destroy(ctl);
    tri_sim_result_fini(&result);
destroy_study:
    tri_study_destroy(study);
    return status;
}

/*
 * The keys of how a study is searched, measured and run, each with its
 * default.
 */
#include "src/space/study_priv.h"

#include <stdio.h>
#include <string.h>

#define KEYS(m, where, keys) tri_reader_keys(m, where, keys, TRI_COUNT_OF(keys))
#define GET(r, key)          tri_yaml_get((r)->root, key)

static const char *const unit_names[] = {"steps", "samples", "tokens",
                                         "seconds", "epochs"};
static const char *const sched_names[] = {
        "asha",      "asha-stop",       "asha-delayed", "sha",
        "hyperband", "async-hyperband", "pasha",        "none"};
static const char *const proposers[] = {
        "auto", "random", "quasi", "acquisition", "evolution", "reinforce"};
static const char *const predictors[] = {"auto", "gp", "trees", "mlp",
                                         "mlp-squared"};
static const char *const acquisitions[] = {"ei", "ucb", "thompson"};

const char *tri_unit_name(tri_unit unit)
{
    return unit_names[unit];
}

const char *tri_sched_name(tri_sched_kind kind)
{
    return sched_names[kind];
}

/* ---- how the search goes ---- */

/* An amount of resource; seconds may have a unit. */
static tri_status read_amount(const tri_yaml *at, const char *key,
                              tri_unit unit, int64_t *out)
{
    double s = 0;

    if (!at || unit != TRI_UNIT_SECONDS) {
        return tri_reader_int(at, key, 1, INT64_C(1) << 52, out);
    }
    TRI_TRY(tri_reader_time(at, key, &s));
    if (s != (double)(int64_t)s) {
        return tri_reader_wrong(at, key, "whole seconds");
    }
    *out = (int64_t)s;
    return TRI_OK;
}

static tri_status read_resource(tri_reader *r)
{
    static const char *const keys[] = {"unit", "min", "max", "eta"};
    const tri_yaml *m = GET(r, "resource"), *max = tri_yaml_get(m, "max");
    tri_study *s = r->study;
    int unit = 0;

    s->resource.unit = TRI_UNIT_STEPS;
    s->resource.min = 4;
    s->resource.max = m ? 0 : 64;
    s->resource.eta = 4;
    if (!m) {
        return TRI_OK;
    }
    TRI_TRY(KEYS(m, "resource", keys));
    TRI_TRY(tri_reader_name(tri_yaml_get(m, "unit"), "resource.unit",
                            unit_names, TRI_COUNT_OF(unit_names), &unit));
    s->resource.unit = (tri_unit)unit;
    TRI_TRY(read_amount(tri_yaml_get(m, "min"), "resource.min",
                        s->resource.unit, &s->resource.min));
    TRI_TRY(read_amount(max, "resource.max", s->resource.unit,
                        &s->resource.max));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "eta"), "resource.eta", 2, 1000,
                             &s->resource.eta));
    if (max && s->resource.max < s->resource.min) {
        return tri_reader_wrong(max, "resource.max", "at least resource.min");
    }
    return TRI_OK;
}

/* What a scheduler takes beside its kind, and whether resource.max is needed;
 * in the order of their names. */
static const struct takes {
    uint8_t bracket, brackets, n, max;
} sched_takes[] = {{1, 1, 0, 0}, {1, 1, 0, 1}, {1, 1, 0, 0}, {1, 1, 1, 0},
                   {0, 1, 0, 1}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 0, 0, 0}};

/* A key of `m` that the scheduler has no use for. */
static tri_status refuse_key(const tri_yaml *m, const char *key, int takes,
                             const char *kind)
{
    const tri_yaml *at = tri_yaml_get(m, key);
    char where[32], expected[64];

    if (!at || takes) {
        return TRI_OK;
    }
    snprintf(where, sizeof where, "scheduler.%s", key);
    snprintf(expected, sizeof expected, "no such key with %s", kind);
    return tri_reader_wrong(at, where, expected);
}

static tri_status read_scheduler_map(const tri_yaml *m, tri_study *s, int kind)
{
    const struct takes *t = &sched_takes[kind];
    const char *name = sched_names[kind];

    TRI_TRY(refuse_key(m, "bracket", t->bracket, name));
    TRI_TRY(refuse_key(m, "brackets", t->brackets, name));
    TRI_TRY(refuse_key(m, "n", t->n, name));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "bracket"), "scheduler.bracket", 0,
                             60, &s->scheduler.bracket));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "brackets"), "scheduler.brackets",
                             1, 60, &s->scheduler.brackets));
    return tri_reader_int(tri_yaml_get(m, "n"), "scheduler.n", 1,
                          INT64_C(1) << 40, &s->scheduler.n);
}

static tri_status read_scheduler(tri_reader *r)
{
    static const char *const keys[] = {"kind", "bracket", "brackets", "n"};
    const tri_yaml *m = GET(r, "scheduler"), *kind = m;
    tri_study *s = r->study;
    int is_map = m && m->kind != TRI_YAML_SCALAR;
    int k = 0;

    if (is_map) {
        TRI_TRY(KEYS(m, "scheduler", keys));
        kind = tri_yaml_get(m, "kind");
    }
    TRI_TRY(tri_reader_name(kind, "scheduler", sched_names,
                            TRI_COUNT_OF(sched_names), &k));
    s->scheduler.kind = (tri_sched_kind)k;
    s->scheduler.brackets = k != TRI_SCHED_SHA && k != TRI_SCHED_HYPERBAND;
    if (is_map) {
        TRI_TRY(read_scheduler_map(m, s, k));
    }
    if (!s->resource.max &&
        (sched_takes[k].max || (k == TRI_SCHED_SHA && !s->scheduler.n))) {
        return tri_reader_wrong(kind, "scheduler",
                                k == TRI_SCHED_SHA
                                        ? "resource.max, or n, with it"
                                        : "resource.max with it");
    }
    return TRI_OK;
}

static tri_status read_search(tri_reader *r)
{
    static const char *const keys[] = {"proposer", "predictor", "acquisition",
                                       "random_share"};
    const tri_yaml *m = GET(r, "search");
    int map = m && m->kind != TRI_YAML_SCALAR;
    const tri_yaml *proposer = map ? tri_yaml_get(m, "proposer") : m;
    const tri_yaml *predictor = tri_yaml_get(m, "predictor");
    const tri_yaml *acquisition = tri_yaml_get(m, "acquisition");
    tri_study *s = r->study;
    int p = 0, q = 0, a = 0;

    s->search.random_share = 0.1;
    if (map) {
        TRI_TRY(KEYS(m, "search", keys));
        TRI_TRY(tri_reader_share(tri_yaml_get(m, "random_share"),
                                 "search.random_share", 0, 1,
                                 &s->search.random_share));
    }
    TRI_TRY(tri_reader_name(proposer, map ? "search.proposer" : "search",
                            proposers, TRI_COUNT_OF(proposers), &p));
    TRI_TRY(tri_reader_name(predictor, "search.predictor", predictors,
                            TRI_COUNT_OF(predictors), &q));
    TRI_TRY(tri_reader_name(acquisition, "search.acquisition", acquisitions,
                            TRI_COUNT_OF(acquisitions), &a));
    s->search.proposer = proposers[p];
    s->search.predictor = predictors[q];
    s->search.acquisition = acquisitions[a];
    return TRI_OK;
}

static tri_status read_budget(tri_reader *r)
{
    static const char *const keys[] = {"trials", "runs", "time"};
    const tri_yaml *m = GET(r, "budget");
    tri_study *s = r->study;

    s->budget.trials = 200;
    s->budget.runs = 1000;
    s->budget.time_s = 600;
    if (!m) {
        return TRI_OK;
    }
    TRI_TRY(KEYS(m, "budget", keys));
    if (m->n > 0) { /* one limit that is named leaves the others unlimited */
        s->budget.trials = s->budget.runs = TRI_UNLIMITED;
        s->budget.time_s = TRI_UNLIMITED;
    }
    TRI_TRY(tri_reader_int(tri_yaml_get(m, "trials"), "budget.trials", 1,
                           INT64_C(1) << 40, &s->budget.trials));
    TRI_TRY(tri_reader_int(tri_yaml_get(m, "runs"), "budget.runs", 1,
                           INT64_C(1) << 40, &s->budget.runs));
    return tri_reader_time(tri_yaml_get(m, "time"), "budget.time",
                           &s->budget.time_s);
}

static tri_status read_finals(tri_reader *r)
{
    static const char *const keys[] = {"top", "repeats"};
    const tri_yaml *m = GET(r, "finals");
    tri_study *s = r->study;

    s->finals.top = 3;
    s->finals.repeats = 5;
    if (!m) {
        return TRI_OK;
    }
    if (tri_reader_is(m, "none")) {
        s->finals.top = 0;
        return TRI_OK;
    }
    if (m->kind != TRI_YAML_MAP) {
        return tri_reader_wrong(m, "finals", "none, or top and repeats");
    }
    TRI_TRY(KEYS(m, "finals", keys));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "top"), "finals.top", 1, 1000,
                             &s->finals.top));
    return tri_reader_small(tri_yaml_get(m, "repeats"), "finals.repeats", 1,
                            1000, &s->finals.repeats);
}

/* ---- measuring and running ---- */

static tri_status read_measure(tri_reader *r)
{
    static const char *const keys[] = {"precision", "min_steps"};
    const tri_yaml *m = GET(r, "measure");
    tri_study *s = r->study;

    s->measure.precision = 0.01;
    s->measure.min_steps = 5;
    if (!m) {
        return TRI_OK;
    }
    TRI_TRY(KEYS(m, "measure", keys));
    TRI_TRY(tri_reader_share(tri_yaml_get(m, "precision"), "measure.precision",
                             0, 1, &s->measure.precision));
    return tri_reader_small(tri_yaml_get(m, "min_steps"), "measure.min_steps",
                            1, 1000000, &s->measure.min_steps);
}

static tri_status read_place(tri_reader *r)
{
    static const char *const exclusives[] = {"none", "node", "numa"};
    const tri_yaml *memory = GET(r, "memory");
    int k = 0;

    if (memory && !tri_reader_is(memory, "auto")) {
        TRI_TRY(tri_reader_bytes(memory, "memory", &r->study->memory_bytes));
    }
    TRI_TRY(tri_reader_name(GET(r, "exclusive"), "exclusive", exclusives, 3,
                            &k));
    r->study->exclusive = exclusives[k];
    return TRI_OK;
}

static tri_status read_timeouts(tri_reader *r)
{
    static const char *const keys[] = {"startup", "progress", "grace"};
    const tri_yaml *m = GET(r, "timeouts"), *progress;
    tri_study *s = r->study;

    s->timeouts.startup_s = 60;
    s->timeouts.grace_s = 10;
    if (!m) {
        return TRI_OK;
    }
    TRI_TRY(KEYS(m, "timeouts", keys));
    TRI_TRY(tri_reader_time(tri_yaml_get(m, "startup"), "timeouts.startup",
                            &s->timeouts.startup_s));
    progress = tri_yaml_get(m, "progress");
    if (progress && !tri_reader_is(progress, "auto")) {
        TRI_TRY(tri_reader_time(progress, "timeouts.progress",
                                &s->timeouts.progress_s));
    }
    return tri_reader_time(tri_yaml_get(m, "grace"), "timeouts.grace",
                           &s->timeouts.grace_s);
}

static tri_status read_checkpoints(tri_reader *r)
{
    static const char *const keys[] = {"policy", "dir", "shared", "max_bytes"};
    static const char *const policies[] = {"auto", "always", "never"};
    const tri_yaml *m = GET(r, "checkpoints");
    tri_study *s = r->study;
    int k = 0;

    s->checkpoints.policy = policies[0];
    s->checkpoints.dir = ".";
    s->checkpoints.shared = 1;
    s->checkpoints.max_bytes = UINT64_C(50) << 30;
    if (!m) {
        return TRI_OK;
    }
    TRI_TRY(KEYS(m, "checkpoints", keys));
    TRI_TRY(tri_reader_name(tri_yaml_get(m, "policy"), "checkpoints.policy",
                            policies, 3, &k));
    s->checkpoints.policy = policies[k];
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "dir"), "checkpoints.dir",
                            &s->checkpoints.dir));
    TRI_TRY(tri_reader_bool(tri_yaml_get(m, "shared"), "checkpoints.shared",
                            &s->checkpoints.shared));
    return tri_reader_bytes(tri_yaml_get(m, "max_bytes"),
                            "checkpoints.max_bytes", &s->checkpoints.max_bytes);
}

static tri_status read_failures(tri_reader *r)
{
    static const char *const keys[] = {"max_attempts"};
    const tri_yaml *m = GET(r, "failures");

    r->study->failures.max_attempts = 4;
    if (!m) {
        return TRI_OK;
    }
    TRI_TRY(KEYS(m, "failures", keys));
    return tri_reader_small(tri_yaml_get(m, "max_attempts"),
                            "failures.max_attempts", 1, 1000,
                            &r->study->failures.max_attempts);
}

static tri_status read_betas(const tri_yaml *at, tri_study *s)
{
    if (!at) {
        return TRI_OK;
    }
    if (at->kind != TRI_YAML_LIST || at->n != 2) {
        return tri_reader_wrong(at, "optimizer.betas", "two numbers");
    }
    TRI_TRY(tri_reader_real(at->first, "optimizer.betas", 0, 0.9999999999, 0,
                            &s->optimizer.beta1));
    return tri_reader_real(at->first->next, "optimizer.betas", 0, 0.9999999999,
                           0, &s->optimizer.beta2);
}

static tri_status read_optimizer(tri_reader *r)
{
    static const char *const keys[] = {"lr", "weight_decay", "clip", "betas"};
    const tri_yaml *m = GET(r, "optimizer");
    tri_study *s = r->study;

    s->optimizer.lr = 0.001;
    s->optimizer.weight_decay = 0.01;
    s->optimizer.clip = 1.0;
    s->optimizer.beta1 = 0.9;
    s->optimizer.beta2 = 0.95;
    if (!m) {
        return TRI_OK;
    }
    TRI_TRY(KEYS(m, "optimizer", keys));
    TRI_TRY(tri_reader_real(tri_yaml_get(m, "lr"), "optimizer.lr", 0, 1e6, 1,
                            &s->optimizer.lr));
    TRI_TRY(tri_reader_real(tri_yaml_get(m, "weight_decay"),
                            "optimizer.weight_decay", 0, 1e6, 0,
                            &s->optimizer.weight_decay));
    TRI_TRY(tri_reader_real(tri_yaml_get(m, "clip"), "optimizer.clip", 0, 1e30,
                            0, &s->optimizer.clip));
    return read_betas(tri_yaml_get(m, "betas"), s);
}

/* Keys that have no effect on processes. */
static tri_status note_ignored(tri_reader *r)
{
    static const struct {
        const char *key, *usual, *note;
    } rows[] = {
            {"memory", "auto",
             "memory is not enforced on processes; subject_to: [peak_bytes <= "
             "...] judges what they used"},
            {"optimizer", "",
             "optimizer is for models of trireme's own; a process does not see "
             "it"},
            {"checkpoints", "",
             "checkpoints are kept of processes only with model.resume: "
             "checkpoint; each run starts afresh"}};
    int n = TRI_COUNT_OF(rows), i;

    if (r->study->model.kind != TRI_MODEL_PROCESS) {
        return TRI_OK;
    }
    n -= r->study->model.u.process.resume; /* then the last one has effect */
    for (i = 0; i < n; i++) {
        const tri_yaml *at = GET(r, rows[i].key);
        if (at && !tri_reader_is(at, rows[i].usual)) {
            TRI_TRY(tri_reader_note(r, 0, "%s", rows[i].note));
        }
    }
    return TRI_OK;
}

/* Parameters that are called as numbers of ranks are, where ranks is not
 * given: then every configuration runs on one. */
static tri_status note_ranks(tri_reader *r)
{
    static const char *const names[] = {"ranks_per_trial",
                                        "n_ranks",
                                        "num_ranks",
                                        "nranks",
                                        "world_size",
                                        "gpus",
                                        "n_gpus",
                                        "num_gpus",
                                        "nproc",
                                        "nproc_per_node",
                                        "dp",
                                        "tp",
                                        "pp"};

    if (GET(r, "ranks") || (r->study->model.kind != TRI_MODEL_PROCESS &&
                            r->study->model.kind != TRI_MODEL_PLUGIN)) {
        return TRI_OK;
    }
    for (int i = 0; i < TRI_COUNT_OF(names); i++) {
        if (tri_space_find(r->study->space, names[i]) >= 0) {
            return tri_reader_note(r, 0,
                                   "ranks is not given: every configuration "
                                   "runs on one rank, whatever %s is; "
                                   "expected ranks: %s, or the like",
                                   names[i], names[i]);
        }
    }
    return TRI_OK;
}

tri_status tri_study_read_run(tri_reader *r)
{
    static tri_status (*const parts[])(tri_reader *) = {
            read_resource,    read_scheduler, read_search,    read_budget,
            read_finals,      read_measure,   read_place,     read_timeouts,
            read_checkpoints, read_failures,  read_optimizer, note_ignored,
            note_ranks};
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        TRI_TRY(parts[i](r));
    }
    return TRI_OK;
}

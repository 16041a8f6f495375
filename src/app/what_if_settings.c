/*
 * Settings of a what-if: those of the record, and what `--with` changes.
 */
#include "src/app/what_if.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The workers that the record had, at most at a time. */
static int64_t recorded_workers(const tri_ctl *ctl)
{
    tri_progress p;
    int64_t most = 0;

    tri_ctl_progress(ctl, &p);
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view r;

        tri_ctl_run(ctl, i, &r);
        most = r.n_ranks > most ? r.n_ranks : most;
    }
    return p.ranks_total > most ? p.ranks_total : most > 0 ? most : 1;
}

void tri_what_if_recorded(const tri_ctl *ctl, uint64_t seed,
                          tri_what_if_settings *out)
{
    const tri_study *s = tri_ctl_study(ctl);

    *out = (tri_what_if_settings){
            .bracket = s->scheduler.bracket,
            .brackets = s->scheduler.brackets > 1 ? s->scheduler.brackets : 0,
            .n = s->scheduler.n,
            .eta = s->resource.eta,
            .min = s->resource.min,
            .max = s->resource.max,
            .random_share = s->search.random_share,
            .seed = seed,
            .workers = recorded_workers(ctl)};
    snprintf(out->scheduler, sizeof out->scheduler, "%s",
             tri_sched_name(s->scheduler.kind));
    snprintf(out->proposer, sizeof out->proposer, "%s", s->search.proposer);
    snprintf(out->predictor, sizeof out->predictor, "%s", s->search.predictor);
    snprintf(out->acquisition, sizeof out->acquisition, "%s",
             s->search.acquisition);
}

/* Names and numbers of the study file only: what is taken is written into
 * one. */
static tri_status take_word(const char *key, const char *value, char *to,
                            size_t bytes)
{
    const char *good = "abcdefghijklmnopqrstuvwxyz0123456789_-";

    if (!*value || strspn(value, good) != strlen(value) ||
        strlen(value) >= bytes) {
        return TRI_FAIL(TRI_EINVAL, "--with: %s takes a name, not '%.60s'", key,
                        value);
    }
    snprintf(to, bytes, "%s", value);
    return TRI_OK;
}

static tri_status take_count(const char *key, const char *value, int64_t lo,
                             int64_t *to)
{
    char *end = NULL;
    long long v;

    errno = 0;
    v = strtoll(value, &end, 10);
    if (end == value || *end || errno || v < lo) {
        return TRI_FAIL(TRI_EINVAL,
                        "--with: %s takes a whole number from %" PRId64
                        ", not '%.60s'",
                        key, lo, value);
    }
    *to = v;
    return TRI_OK;
}

static tri_status take_share(const char *key, const char *value, double *to)
{
    char *end = NULL;
    double v = strtod(value, &end);

    if (end == value || *end || !(v >= 0 && v <= 1)) {
        return TRI_FAIL(TRI_EINVAL,
                        "--with: %s takes a number from 0 to 1, not '%.60s'",
                        key, value);
    }
    *to = v;
    return TRI_OK;
}

static tri_status take_scheduler(const char *value, tri_what_if_settings *s)
{
    TRI_TRY(take_word("scheduler", value, s->scheduler, sizeof s->scheduler));
    s->bracket = s->brackets = s->n = 0; /* those were the other's */
    return TRI_OK;
}

static tri_status take_seed(const char *value, tri_what_if_settings *s)
{
    int64_t seed;

    TRI_TRY(take_count("seed", value, 0, &seed));
    s->seed = (uint64_t)seed;
    return TRI_OK;
}

static tri_status unknown_key(const char *key)
{
    static const char *const keys[] = {
            "scheduler",   "bracket",      "brackets", "n",        "eta",
            "min",         "max",          "search",   "proposer", "predictor",
            "acquisition", "random_share", "seed",     "workers"};
    const char *near =
            tri_closest(key, keys, (int)(sizeof keys / sizeof *keys));

    if (near) {
        return TRI_FAIL(TRI_EUNKNOWN,
                        "--with: unknown key '%.60s'; did you mean %s?", key,
                        near);
    }
    return TRI_FAIL(TRI_EUNKNOWN,
                    "--with: unknown key '%.60s'; there are scheduler, "
                    "bracket, brackets, n, eta, min, max, search, predictor, "
                    "acquisition, random_share, seed and workers",
                    key);
}

static tri_status take(const char *key, const char *value,
                       tri_what_if_settings *s)
{
    struct {
        const char *key;
        int64_t lo, *to;
    } counts[] = {{"bracket", 0, &s->bracket},
                  {"brackets", 1, &s->brackets},
                  {"n", 1, &s->n},
                  {"eta", 2, &s->eta},
                  {"min", 1, &s->min},
                  {"max", 1, &s->max},
                  {"workers", 1, &s->workers}};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (strcmp(key, counts[i].key) == 0) {
            return take_count(key, value, counts[i].lo, counts[i].to);
        }
    }
    if (strcmp(key, "scheduler") == 0) {
        return take_scheduler(value, s);
    }
    if (strcmp(key, "search") == 0 || strcmp(key, "proposer") == 0) {
        return take_word(key, value, s->proposer, sizeof s->proposer);
    }
    if (strcmp(key, "predictor") == 0) {
        return take_word(key, value, s->predictor, sizeof s->predictor);
    }
    if (strcmp(key, "acquisition") == 0) {
        return take_word(key, value, s->acquisition, sizeof s->acquisition);
    }
    if (strcmp(key, "random_share") == 0) {
        return take_share(key, value, &s->random_share);
    }
    return strcmp(key, "seed") == 0 ? take_seed(value, s) : unknown_key(key);
}

tri_status tri_what_if_parse(const char *with, tri_what_if_settings *s)
{
    char *copy = strdup(with);
    char *rest = NULL;
    tri_status st = copy ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory");
    int n = 0;

    for (char *one = copy ? strtok_r(copy, ", ", &rest) : NULL;
         one && st == TRI_OK; one = strtok_r(NULL, ", ", &rest), n++) {
        char *equals = strchr(one, '=');

        if (!equals) {
            st = TRI_FAIL(TRI_EINVAL, "--with takes KEY=VALUE,..., not '%.60s'",
                          one);
        } else {
            *equals = '\0';
            st = take(one, equals + 1, s);
        }
    }
    if (st == TRI_OK && n == 0) {
        st = TRI_FAIL(TRI_EINVAL, "--with takes KEY=VALUE,..., not ''");
    }
    free(copy);
    return st;
}

json_t *tri_what_if_settings_json(const tri_what_if_settings *s)
{
    json_t *o = json_object();

    json_object_set_new(o, "scheduler", json_string(s->scheduler));
    json_object_set_new(o, "eta", json_integer(s->eta));
    json_object_set_new(o, "min", json_integer(s->min));
    json_object_set_new(o, "max", s->max ? json_integer(s->max) : json_null());
    json_object_set_new(o, "search", json_string(s->proposer));
    json_object_set_new(o, "predictor", json_string(s->predictor));
    json_object_set_new(o, "acquisition", json_string(s->acquisition));
    json_object_set_new(o, "random_share", json_real(s->random_share));
    json_object_set_new(o, "seed", json_integer((json_int_t)s->seed));
    json_object_set_new(o, "workers", json_integer(s->workers));
    return o;
}

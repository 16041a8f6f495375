/*
 * The roster: rows of trials and runs, and their legal transitions.  Decides
 * nothing; keeps the lists of what changed, the queue, and who holds which
 * ranks.
 */
#include "src/base/grow.h"
#include "src/ctl/state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM_MOST (1 << 20)
#define TRIAL_BITS      40 /* in by_hash; above them bits of the hash */

tri_status tri_numbers_add(tri_numbers *n, int64_t x)
{
    if (n->n == n->room) {
        size_t room = n->room ? 2 * n->room : 64;
        int64_t *grown = realloc(n->list, room * sizeof *grown);

        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for %zu numbers", room);
        }
        n->list = grown;
        n->room = room;
    }
    n->list[n->n++] = x;
    return TRI_OK;
}

tri_status tri_ctl_emit(tri_ctl *ctl, const tri_command *command)
{
    if (ctl->n_commands == ctl->command_room) {
        int room = ctl->command_room ? 2 * ctl->command_room : 16;
        tri_command *grown = tri_rows_grow(
                ctl->commands, (size_t)ctl->n_commands * sizeof *grown,
                (size_t)room * sizeof *grown);

        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for %d commands", room);
        }
        ctl->commands = grown;
        ctl->command_room = room;
    }
    ctl->commands[ctl->n_commands++] = *command;
    return TRI_OK;
}

tri_status tri_ctl_touch_trial(tri_ctl *ctl, int64_t trial)
{
    if (ctl->trials[trial].changed == ctl->feed) {
        return TRI_OK;
    }
    ctl->trials[trial].changed = ctl->feed;
    return tri_numbers_add(&ctl->changed_trials, trial);
}

tri_status tri_ctl_touch_run(tri_ctl *ctl, int64_t run)
{
    if (ctl->runs[run].changed == ctl->feed) {
        return TRI_OK;
    }
    ctl->runs[run].changed = ctl->feed;
    return tri_numbers_add(&ctl->changed_runs, run);
}

/* ---- trials ------------------------------------------------------------ */

static size_t bucket_of(const tri_ctl *ctl, uint64_t hash)
{
    return (size_t)(hash * 0x9e3779b97f4a7c15u >> 20) & (ctl->by_hash_room - 1);
}

int64_t tri_ctl_find_trial(const tri_ctl *ctl, const tri_config *config,
                           uint64_t hash)
{
    size_t at;

    if (!ctl->by_hash_room) {
        return -1;
    }
    for (at = bucket_of(ctl, hash); ctl->by_hash[at];
         at = (at + 1) & (ctl->by_hash_room - 1)) {
        int64_t trial;

        if ((ctl->by_hash[at] ^ hash) >> TRIAL_BITS) {
            continue; /* without a look at the row */
        }
        trial = (int64_t)(ctl->by_hash[at] &
                          (((uint64_t)1 << TRIAL_BITS) - 1)) -
                1;
        if (ctl->trials[trial].hash == hash &&
            tri_space_equal(ctl->study->space, ctl->trials[trial].config,
                            config)) {
            return trial;
        }
    }
    return -1;
}

static void place_hash(tri_ctl *ctl, int64_t trial)
{
    uint64_t hash = ctl->trials[trial].hash;
    size_t at = bucket_of(ctl, hash);

    while (ctl->by_hash[at]) {
        at = (at + 1) & (ctl->by_hash_room - 1);
    }
    ctl->by_hash[at] = hash >> TRIAL_BITS << TRIAL_BITS | ((uint64_t)trial + 1);
}

/* Rows to begin with: as many as the budget allows, so that they need not
 * move; memory that is never written to costs nothing. */
static int64_t first_room(int64_t budget)
{
    int64_t room = 64;

    while (room < budget && room < FIRST_ROOM_MOST) {
        room *= 2;
    }
    return room;
}

static tri_status make_trial_room(tri_ctl *ctl)
{
    int64_t room = ctl->trial_room ? 2 * ctl->trial_room
                                   : first_room(ctl->study->budget.trials);
    tri_trial_row *grown;
    uint64_t *table;

    if (ctl->n_trials < ctl->trial_room) {
        return TRI_OK;
    }
    grown = tri_rows_grow(ctl->trials, (size_t)ctl->n_trials * sizeof *grown,
                          (size_t)room * sizeof *grown);
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %lld trials",
                        (long long)room);
    }
    ctl->trials = grown;
    table = calloc((size_t)room * 2, sizeof *table);
    if (!table) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %lld trials",
                        (long long)room);
    }
    free(ctl->by_hash);
    ctl->by_hash = table;
    ctl->by_hash_room = (size_t)room * 2;
    ctl->trial_room = room;
    for (int64_t i = 0; i < ctl->n_trials; i++) {
        place_hash(ctl, i);
    }
    return TRI_OK;
}

tri_status tri_ctl_add_trial(tri_ctl *ctl, const tri_job *job)
{
    const tri_candidate *c = &ctl->candidate;
    size_t bytes = (size_t)ctl->n_params * sizeof(tri_config);
    tri_config *config;
    tri_trial_row *t;

    TRI_TRY(make_trial_room(ctl));
    config = tri_keep_bytes(&ctl->keep, bytes + 1);
    if (!config) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    TRI_TRY(tri_sched_take(ctl->sched, job, ctl->n_trials));
    memcpy(config, c->config, bytes);
    t = &ctl->trials[ctl->n_trials];
    *t = (tri_trial_row){.config = config,
                         .hash = c->hash,
                         .created_s = ctl->now,
                         .objective = NAN,
                         .lo = NAN,
                         .hi = NAN,
                         .unit_s = NAN,
                         .origin = c->origin,
                         .prediction = c->prediction,
                         .checkpoint = "",
                         .last_run = -1,
                         .checked_rung = -1,
                         .suspect = -1,
                         .ranks = c->ranks,
                         .bracket = (int16_t)job->bracket,
                         .rung = (int16_t)job->rung,
                         .top_rung = -1,
                         .place = TRI_PLACE_WAITING};
    ctl->largest = c->ranks > ctl->largest ? c->ranks : ctl->largest;
    ctl->candidate.ready = 0;
    place_hash(ctl, ctl->n_trials);
    return tri_ctl_touch_trial(ctl, ctl->n_trials++);
}

tri_status tri_ctl_set_place(tri_ctl *ctl, int64_t trial, tri_trial_place place)
{
    tri_trial_row *t = &ctl->trials[trial];

    if (t->place == place) {
        return TRI_OK;
    }
    assert(t->place != TRI_PLACE_FAILED);
    ctl->n_failed += place == TRI_PLACE_FAILED;
    if (t->parked && place >= TRI_PLACE_DONE) {
        t->parked = 0;
        ctl->n_parked--;
    }
    t->place = (uint8_t)place;
    return tri_ctl_touch_trial(ctl, trial);
}

tri_status tri_ctl_renew_trial(tri_ctl *ctl, int64_t trial)
{
    tri_trial_row *t = &ctl->trials[trial];

    ctl->n_failed -= t->place == TRI_PLACE_FAILED;
    ctl->n_parked -= t->parked;
    *t = (tri_trial_row){.config = t->config,
                         .hash = t->hash,
                         .created_s = t->created_s,
                         .objective = NAN,
                         .lo = NAN,
                         .hi = NAN,
                         .unit_s = NAN,
                         .origin = t->origin,
                         .prediction = t->prediction,
                         .checkpoint = "",
                         .last_run = -1,
                         .checked_rung = -1,
                         .suspect = -1,
                         .changed = t->changed,
                         .ranks = t->ranks,
                         .bracket = t->bracket,
                         .rung = t->bracket,
                         .top_rung = -1,
                         .place = TRI_PLACE_WAITING};
    return tri_ctl_touch_trial(ctl, trial);
}

tri_status tri_ctl_enqueue(tri_ctl *ctl, int64_t trial)
{
    tri_numbers *q = &ctl->queue;

    assert(ctl->trials[trial].place == TRI_PLACE_WAITING);
    if (ctl->trials[trial].parked) {
        return TRI_OK;
    }
    if (ctl->queue_at && ctl->queue_at >= q->n / 2) {
        q->n -= ctl->queue_at;
        memmove(q->list, q->list + ctl->queue_at, q->n * sizeof *q->list);
        ctl->queue_at = 0;
    }
    return tri_numbers_add(q, trial);
}

static int waits(const tri_ctl *ctl, int64_t trial)
{
    const tri_trial_row *t = &ctl->trials[trial];

    return t->place == TRI_PLACE_WAITING && !t->parked;
}

void tri_ctl_sift_queue(tri_ctl *ctl)
{
    tri_numbers *q = &ctl->queue;
    size_t n = 0;

    if (ctl->head >= 0 && !waits(ctl, ctl->head)) {
        ctl->head = -1;
    }
    for (size_t i = ctl->queue_at; i < q->n; i++) {
        if (waits(ctl, q->list[i])) {
            q->list[n++] = q->list[i];
        }
    }
    q->n = n;
    ctl->queue_at = 0;
}

tri_status tri_ctl_touch_waiting(tri_ctl *ctl)
{
    if (ctl->head >= 0) {
        TRI_TRY(tri_ctl_touch_trial(ctl, ctl->head));
    }
    for (size_t i = ctl->queue_at; i < ctl->queue.n; i++) {
        TRI_TRY(tri_ctl_touch_trial(ctl, ctl->queue.list[i]));
    }
    return TRI_OK;
}

/* ---- runs -------------------------------------------------------------- */

static tri_status make_life_room(tri_ctl *ctl)
{
    size_t room = ctl->life_room ? 2 * (size_t)ctl->life_room : 16;
    tri_live *lives;
    int *ints;

    if (ctl->n_free_lives || ctl->n_lives < ctl->life_room) {
        return TRI_OK;
    }
    lives = realloc(ctl->lives, room * sizeof *lives);
    if (lives) {
        ctl->lives = lives;
    }
    ints = realloc(ctl->free_lives, room * sizeof *ints);
    if (ints) {
        ctl->free_lives = ints;
    }
    if (lives && ints && (ints = realloc(ctl->flying, room * sizeof *ints))) {
        ctl->flying = ints;
        ints = realloc(ctl->heap, room * sizeof *ints);
    }
    if (!lives || !ints) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %zu runs in flight", room);
    }
    ctl->heap = ints;
    ctl->life_room = (int)room;
    return TRI_OK;
}

static tri_status make_run_room(tri_ctl *ctl)
{
    const int64_t trials = ctl->study->budget.trials;
    int64_t room =
            ctl->run_room ? 2 * ctl->run_room : first_room(trials + trials / 2);
    tri_run_row *grown;

    if (ctl->n_runs < ctl->run_room) {
        return TRI_OK;
    }
    grown = tri_rows_grow(ctl->runs, (size_t)ctl->n_runs * sizeof *grown,
                          (size_t)room * sizeof *grown);
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %lld runs", (long long)room);
    }
    ctl->runs = grown;
    ctl->run_room = room;
    return TRI_OK;
}

static tri_ev_outcome nothing_measured(void)
{
    return (tri_ev_outcome){.sentence = "",
                            .lost_rank = -1,
                            .steps_done = -1,
                            .warmup_steps = -1,
                            .objective = NAN,
                            .lo = NAN,
                            .hi = NAN,
                            .loss = NAN,
                            .tokens_per_s = NAN,
                            .samples_per_s = NAN,
                            .step_s = NAN,
                            .peak_bytes = -1,
                            .rss_bytes = -1,
                            .checkpoint_s = NAN,
                            .checkpoint_bytes = -1,
                            .checkpoint = "",
                            .checkpoint_step = -1};
}

static tri_status find_hosts(tri_ctl *ctl, tri_run_row *r)
{
    int32_t *hosts =
            tri_keep_bytes(&ctl->keep, (size_t)r->v.n_ranks * sizeof *hosts);

    if (!hosts) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a run");
    }
    r->n_hosts = 0;
    for (int i = 0; i < r->v.n_ranks; i++) {
        const tri_rank_row *rank = tri_ctl_rank_row(ctl, r->v.ranks[i]);
        int known = 0;

        for (int k = r->n_hosts - 1; k >= 0 && !known; k--) {
            known = hosts[k] == rank->host;
        }
        if (!known) {
            hosts[r->n_hosts++] = rank->host;
        }
        r->v.oversubscribed |= rank->oversubscribed;
    }
    r->hosts = hosts;
    return TRI_OK;
}

static tri_live *new_life(tri_ctl *ctl, int64_t run)
{
    int i = ctl->n_free_lives ? ctl->free_lives[--ctl->n_free_lives]
                              : ctl->n_lives++;
    tri_live *live = &ctl->lives[i];

    *live = (tri_live){.run = run,
                       .first_s = NAN,
                       .limit = INFINITY,
                       .heap_at = -1,
                       .at = ctl->n_flying,
                       .contender = -1};
    ctl->flying[ctl->n_flying++] = i;
    ctl->runs[run].live = i;
    return live;
}

tri_status tri_ctl_add_run(tri_ctl *ctl, int64_t trial, int rung,
                           int64_t resource, const int32_t *ranks, int n_ranks,
                           int64_t *run)
{
    const tri_trial_row *t = &ctl->trials[trial];
    tri_run_row *r;

    TRI_TRY(make_life_room(ctl));
    TRI_TRY(make_run_room(ctl));
    r = &ctl->runs[ctl->n_runs];
    *r = (tri_run_row){.v = {.run = ctl->n_runs,
                             .trial = trial,
                             .phase = ctl->phase,
                             .bracket = t->bracket,
                             .rung = rung,
                             .attempt = ctl->phase == TRI_PHASE_FINALS
                                                ? ctl->finals.retried
                                                : t->attempt,
                             .resource = resource,
                             .n_ranks = n_ranks,
                             .ranks = ranks,
                             .epoch = ctl->epoch,
                             .start_s = ctl->now,
                             .end_s = NAN,
                             .objective = NAN,
                             .outcome = nothing_measured(),
                             .last_step = -1}};
    TRI_TRY(find_hosts(ctl, r));
    for (int i = 0; i < n_ranks; i++) {
        tri_ctl_rank_row(ctl, ranks[i])->run = ctl->n_runs;
    }
    new_life(ctl, ctl->n_runs);
    *run = ctl->n_runs;
    return tri_ctl_touch_run(ctl, ctl->n_runs++);
}

tri_status tri_ctl_end_run(tri_ctl *ctl, tri_live *live, tri_run_status status,
                           tri_reason reason, int release)
{
    tri_run_row *r = &ctl->runs[live->run];
    int last = ctl->flying[--ctl->n_flying];

    assert(r->v.state != TRI_RUN_ENDED);
    tri_ctl_clear_limit(ctl, live);
    ctl->flying[live->at] = last;
    ctl->lives[last].at = live->at;
    ctl->free_lives[ctl->n_free_lives++] = r->live;
    r->live = -1;
    r->v.state = TRI_RUN_ENDED;
    r->v.status = status;
    r->v.reason = reason;
    r->v.end_s = isnan(r->v.end_s) ? ctl->now : r->v.end_s;
    if (r->v.outcome.steps_done < 0 && r->v.reports > 0) { /* no last word */
        r->v.outcome.steps_done = r->v.last_step;
    }
    if (status == TRI_RUN_FAILED || status == TRI_RUN_LOST) {
        ctl->failures[reason]++;
    }
    for (int i = 0; release && i < r->v.n_ranks; i++) {
        tri_ctl_free_rank(ctl, r->v.ranks[i]);
    }
    TRI_TRY(tri_ctl_touch_run(ctl, r->v.run));
    if (!ctl->trials[r->v.trial].held) {
        return TRI_OK;
    }
    ctl->trials[r->v.trial].held = 0;
    return tri_ctl_enqueue(ctl, r->v.trial);
}

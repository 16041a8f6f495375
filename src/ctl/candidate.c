/*
 * New configurations: the baseline, then the user's own points, then what was
 * proposed, then draws of (seed, trial, attempt).  Never one that was tried
 * before, nor one that exceeds the pool.  A candidate is drawn before it is
 * known whether it will be created, since its size decides that.
 */
#include "src/ctl/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REDRAWS   200
#define SCAN_MOST 200000

/* Whether the configuration in the candidate can be tried: its hash and ranks
 * are then known. */
static int usable(tri_ctl *ctl)
{
    tri_candidate *c = &ctl->candidate;
    const tri_space *space = ctl->study->space;

    c->hash = tri_space_hash(space, c->config);
    return tri_space_ranks(space, c->config, &c->ranks) == TRI_OK &&
           tri_ctl_find_trial(ctl, c->config, c->hash) < 0;
}

static int fits(tri_ctl *ctl)
{
    return usable(ctl) && ctl->candidate.ranks <= ctl->n_up;
}

static void copy_point(tri_ctl *ctl, const tri_config *point)
{
    memcpy(ctl->candidate.config, point, (size_t)ctl->n_params * sizeof *point);
}

/* The baseline is trial 0 even where it does not fit: it is parked then. */
static int from_baseline(tri_ctl *ctl)
{
    if (ctl->n_trials || !ctl->study->has_baseline) {
        return 0;
    }
    copy_point(ctl, ctl->study->baseline);
    ctl->candidate.origin = "baseline";
    ctl->candidate.is_given = 1;
    return usable(ctl);
}

static int from_start(tri_ctl *ctl)
{
    while (ctl->start_at < ctl->study->n_start) {
        copy_point(ctl, ctl->study->start + (size_t)ctl->start_at++ *
                                                    (size_t)ctl->n_params);
        ctl->candidate.origin = "start";
        if (tri_space_valid(ctl->study->space, ctl->candidate.config, NULL) &&
            fits(ctl)) {
            ctl->candidate.is_given = 1;
            return 1;
        }
    }
    return 0;
}

/* A share of what a thinker proposes is drawn at random, or comes from earlier
 * studies. */
static const char *origin_of(const char *rule)
{
    return strcmp(rule, "random") == 0 ? "random"
           : strcmp(rule, "warm") == 0 ? "warm"
                                       : "model";
}

static tri_status from_proposals(tri_ctl *ctl, int *ready)
{
    tri_candidate *c = &ctl->candidate;
    tri_prediction *p;

    while (ctl->proposal_at < ctl->n_proposals) {
        const tri_proposal *o = &ctl->proposals[ctl->proposal_at++];

        if (tri_space_parse(ctl->study->space, o->config, c->config) !=
                    TRI_OK ||
            !tri_space_valid(ctl->study->space, c->config, NULL) ||
            !fits(ctl)) {
            continue;
        }
        p = tri_keep_bytes(&ctl->keep, sizeof *p);
        if (!p || !(p->rule = tri_keep_text(&ctl->keep, o->rule))) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a proposal");
        }
        p->predicted = o->predicted;
        p->lo = o->lo;
        p->hi = o->hi;
        p->bytes = o->predicted_bytes;
        p->p_feasible = o->p_feasible;
        c->prediction = p;
        c->origin = origin_of(o->rule);
        c->knows = ctl->thoughts.knows;
        ctl->thoughts.taken++;
        *ready = 1;
        return TRI_OK;
    }
    return TRI_OK;
}

/* The valid set from a random place on: for when draws hit nothing new. */
static tri_status scan(tri_ctl *ctl, int *ready)
{
    const tri_space *space = ctl->study->space;
    int64_t count = tri_space_count(space);
    int64_t steps = count < SCAN_MOST ? count : SCAN_MOST;
    tri_rng rng = tri_rng_stream(ctl->seed,
                                 (uint64_t)ctl->n_trials | (uint64_t)1 << 63,
                                 TRI_RNG_RANDOM);
    int64_t at;

    if (count < 1) {
        return TRI_OK;
    }
    at = (int64_t)tri_rng_below(&rng, (uint64_t)count);
    for (int64_t i = 0; i < steps; i++) {
        TRI_TRY(tri_space_at(space, (at + i) % count, ctl->candidate.config));
        if (fits(ctl)) {
            *ready = 1;
            return TRI_OK;
        }
    }
    return TRI_OK;
}

static tri_status draw(tri_ctl *ctl, int *ready)
{
    const tri_space *space = ctl->study->space;
    int64_t count = tri_space_count(space);
    int lo, hi;

    tri_space_rank_range(space, &lo, &hi);
    if (count == 0 || lo > ctl->n_up) {
        return TRI_OK;
    }
    ctl->candidate.origin = ctl->proposer->origin;
    ctl->candidate.knows = ctl->thoughts.news;
    for (int i = 0; i < REDRAWS && (count < 0 || ctl->n_trials < count); i++) {
        TRI_TRY(ctl->proposer->draw(space, ctl->seed, ctl->n_trials, i,
                                    ctl->candidate.config));
        if (fits(ctl)) {
            *ready = 1;
            return TRI_OK;
        }
    }
    return scan(ctl, ready);
}

/* What a thinker knows of: *ready, or thoughts.waits for it. */
static tri_status from_thinker(tri_ctl *ctl, int *ready)
{
    if (*ready && tri_ctl_is_fresh(ctl, ctl->candidate.knows)) {
        return TRI_OK;
    }
    if (!*ready && tri_ctl_is_fresh(ctl, ctl->thoughts.knows)) {
        TRI_TRY(from_proposals(ctl, ready));
    }
    return *ready && tri_ctl_is_fresh(ctl, ctl->candidate.knows)
                   ? TRI_OK
                   : tri_ctl_await(ctl);
}

tri_status tri_ctl_candidate(tri_ctl *ctl, int *ready)
{
    tri_candidate *c = &ctl->candidate;

    *ready = 0;
    if (!c->ready) {
        c->prediction = NULL;
        c->is_given = 0;
        c->ready = from_baseline(ctl) || from_start(ctl);
    }
    if (ctl->thoughts.may && !(c->ready && c->is_given)) {
        TRI_TRY(from_thinker(ctl, &c->ready));
        if (ctl->thoughts.waits) {
            return TRI_OK;
        }
    }
    if (!c->ready) {
        TRI_TRY(from_proposals(ctl, &c->ready));
    }
    if (!c->ready) {
        TRI_TRY(draw(ctl, &c->ready));
    }
    ctl->exhausted = !c->ready;
    *ready = c->ready;
    return TRI_OK;
}

static tri_status keep_proposal(tri_ctl *ctl, const tri_proposal *p)
{
    tri_proposal copy = *p;

    copy.config = tri_keep_text(&ctl->proposal_texts, p->config);
    copy.rule = tri_keep_text(&ctl->proposal_texts, p->rule);
    if (!copy.config || !copy.rule) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a proposal");
    }
    if (ctl->n_proposals == ctl->proposal_room) {
        int room = ctl->proposal_room ? 2 * ctl->proposal_room : 16;
        tri_proposal *grown =
                realloc(ctl->proposals, (size_t)room * sizeof *grown);

        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for %d proposals", room);
        }
        ctl->proposals = grown;
        ctl->proposal_room = room;
    }
    ctl->proposals[ctl->n_proposals++] = copy;
    return TRI_OK;
}

/* Newer proposals know more: what is left of older ones is forgotten. */
tri_status tri_ctl_feed_proposals(tri_ctl *ctl, const tri_ev_proposals *ev)
{
    int use;

    tri_ctl_think_answered(ctl, ev->snapshot, &use);
    if (!use) {
        return TRI_OK;
    }
    tri_keep_reset(&ctl->proposal_texts);
    ctl->n_proposals = ctl->proposal_at = 0;
    for (int i = 0; i < ev->n_list; i++) {
        TRI_TRY(keep_proposal(ctl, &ev->list[i]));
    }
    ctl->exhausted &= ev->n_list == 0;
    return TRI_OK;
}

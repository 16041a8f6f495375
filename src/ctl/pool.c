/*
 * The pool: ranks as the driver reports them, the hosts they are on, which are
 * free, and the parking of trials that exceed it.
 */
#include "src/ctl/state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANK_MOST (1 << 20)

tri_rank_row *tri_ctl_rank_row(const tri_ctl *ctl, int32_t rank)
{
    if (rank < 0 || rank >= ctl->rank_of_room || ctl->rank_of[rank] < 0) {
        return NULL;
    }
    return &ctl->ranks[ctl->rank_of[rank]];
}

void tri_ctl_empty_pool(tri_ctl *ctl)
{
    for (int i = 0; i < ctl->rank_of_room; i++) {
        ctl->rank_of[i] = -1;
    }
    ctl->n_ranks = ctl->n_up = ctl->n_busy = ctl->n_struck = 0;
    ctl->pool_changed = ctl->pack_stale = 1;
    tri_pack_fini(&ctl->pack);
}

static tri_status host_number(tri_ctl *ctl, const char *name, int32_t *out)
{
    tri_host *grown;

    /* from the end: neighbours mostly share a host */
    for (int i = ctl->n_hosts - 1; i >= 0; i--) {
        if (strcmp(ctl->hosts[i].name, name) == 0) {
            *out = i;
            return TRI_OK;
        }
    }
    grown = realloc(ctl->hosts, ((size_t)ctl->n_hosts + 1) * sizeof *grown);
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a host");
    }
    ctl->hosts = grown;
    grown[ctl->n_hosts] = (tri_host){.name = tri_keep_text(&ctl->keep, name),
                                     .lost_s = -INFINITY,
                                     .lost_trial = -1};
    if (!grown[ctl->n_hosts].name) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a host");
    }
    *out = ctl->n_hosts++;
    return TRI_OK;
}

static tri_status make_room(tri_ctl *ctl, int32_t rank)
{
    if (rank >= ctl->rank_of_room) {
        int room = ctl->rank_of_room ? ctl->rank_of_room : 64;
        int *grown;

        while (room <= rank) {
            room *= 2;
        }
        grown = realloc(ctl->rank_of, (size_t)room * sizeof *grown);
        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for %d ranks", room);
        }
        for (int i = ctl->rank_of_room; i < room; i++) {
            grown[i] = -1;
        }
        ctl->rank_of = grown;
        ctl->rank_of_room = room;
    }
    if (ctl->n_ranks == ctl->rank_room) {
        int room = ctl->rank_room ? 2 * ctl->rank_room : 64;
        tri_rank_row *grown = realloc(ctl->ranks, (size_t)room * sizeof *grown);

        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for %d ranks", room);
        }
        ctl->ranks = grown;
        ctl->rank_room = room;
    }
    return TRI_OK;
}

static tri_status add_rank(tri_ctl *ctl, const tri_ev_pool *ev)
{
    tri_rank_row row = {.rank = ev->rank,
                        .cores = ev->cores,
                        .device = tri_keep_text(&ctl->keep, ev->device),
                        .state = TRI_RANK_DOWN,
                        .oversubscribed = ev->oversubscribed,
                        .slot = -1,
                        .run = -1};

    if (!row.device) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a rank");
    }
    TRI_TRY(make_room(ctl, ev->rank));
    TRI_TRY(host_number(ctl, ev->host ? ev->host : "", &row.host));
    ctl->rank_of[ev->rank] = ctl->n_ranks;
    ctl->ranks[ctl->n_ranks++] = row;
    ctl->pack_stale = 1;
    return TRI_OK;
}

tri_status tri_ctl_feed_pool(tri_ctl *ctl, const tri_ev_pool *ev)
{
    tri_rank_row *r;

    if (ev->rank < 1 || ev->rank > RANK_MOST) {
        return TRI_FAIL(TRI_EINVAL, "no rank %d in a pool", (int)ev->rank);
    }
    if (!tri_ctl_rank_row(ctl, ev->rank)) {
        TRI_TRY(add_rank(ctl, ev));
    }
    r = tri_ctl_rank_row(ctl, ev->rank);
    if (ev->state != TRI_RANK_UP) {
        tri_ctl_lose_rank(ctl, ev->rank,
                          ev->state == TRI_RANK_BENCHED ? TRI_RANK_BENCHED
                                                        : TRI_RANK_DOWN);
    } else if (r->state != TRI_RANK_UP && !r->struck) {
        r->state = TRI_RANK_UP;
        ctl->n_up++;
        ctl->pool_changed = 1;
        if (!ctl->pack_stale && r->run < 0) {
            tri_pack_set_free(&ctl->pack, r->slot, 1);
        }
    }
    return TRI_OK;
}

void tri_ctl_lose_rank(tri_ctl *ctl, int32_t rank, tri_rank_state state)
{
    tri_rank_row *r = tri_ctl_rank_row(ctl, rank);

    if (!r) {
        return;
    }
    if (r->state == TRI_RANK_UP) {
        ctl->n_up--;
        ctl->pool_changed = 1;
        if (!ctl->pack_stale && r->run < 0) {
            tri_pack_set_free(&ctl->pack, r->slot, 0);
        }
    }
    if (!r->struck) {
        r->state = (uint8_t)state;
    }
}

void tri_ctl_free_rank(tri_ctl *ctl, int32_t rank)
{
    tri_rank_row *r = tri_ctl_rank_row(ctl, rank);

    if (!r || r->run < 0) {
        return;
    }
    r->run = -1;
    ctl->n_busy--;
    if (!ctl->pack_stale && r->state == TRI_RANK_UP) {
        tri_pack_set_free(&ctl->pack, r->slot, 1);
    }
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

int tri_ctl_take_ranks(tri_ctl *ctl, int n, int32_t *out)
{
    if (!tri_pack_take(&ctl->pack, n, ctl->slots)) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        out[i] = ctl->ranks[ctl->slot_rank[ctl->slots[i]]].rank;
    }
    if (n > 1) {
        qsort(out, (size_t)n, sizeof *out, ascending);
    }
    ctl->n_busy += n;
    return 1;
}

/* Hosts by their lowest rank, ranks of a host ascending. */
typedef struct place {
    int32_t first; /* lowest rank of the host */
    int32_t rank, host;
    int row;
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void sort_places(const tri_ctl *ctl, place *places, int32_t *first)
{
    for (int i = 0; i < ctl->n_hosts; i++) {
        first[i] = RANK_MOST + 1;
    }
    for (int i = 0; i < ctl->n_ranks; i++) {
        const tri_rank_row *r = &ctl->ranks[i];

        first[r->host] = r->rank < first[r->host] ? r->rank : first[r->host];
    }
    for (int i = 0; i < ctl->n_ranks; i++) {
        const tri_rank_row *r = &ctl->ranks[i];

        places[i] = (place){first[r->host], r->rank, r->host, i};
    }
    qsort(places, (size_t)ctl->n_ranks, sizeof *places, by_place);
}

static tri_status number_slots(tri_ctl *ctl, place *places, int32_t *first,
                               int *host_of)
{
    int host = -1;

    sort_places(ctl, places, first);
    for (int i = 0; i < ctl->n_ranks; i++) {
        host += !i || places[i].host != places[i - 1].host;
        host_of[i] = host;
        ctl->slot_rank[i] = places[i].row;
        ctl->ranks[places[i].row].slot = i;
    }
    TRI_TRY(tri_pack_init(&ctl->pack, host_of, ctl->n_ranks));
    for (int i = ctl->n_ranks - 1; i >= 0; i--) {
        const tri_rank_row *r = &ctl->ranks[ctl->slot_rank[i]];

        tri_pack_set_free(&ctl->pack, i, r->state == TRI_RANK_UP && r->run < 0);
    }
    ctl->pack_stale = 0;
    return TRI_OK;
}

static tri_status rebuild(tri_ctl *ctl)
{
    size_t n = (size_t)ctl->n_ranks + 1;
    place *places = malloc(n * sizeof *places);
    int32_t *first = malloc(((size_t)ctl->n_hosts + 1) * sizeof *first);
    int *host_of = malloc(n * sizeof *host_of);
    int *slots = realloc(ctl->slots, n * sizeof *slots);
    int *slot_rank = realloc(ctl->slot_rank, n * sizeof *slot_rank);
    tri_status st = TRI_OK;

    ctl->slots = slots ? slots : ctl->slots;
    ctl->slot_rank = slot_rank ? slot_rank : ctl->slot_rank;
    if (!places || !first || !host_of || !slots || !slot_rank) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for %d ranks", ctl->n_ranks);
    } else {
        st = number_slots(ctl, places, first, host_of);
    }
    free(places);
    free(first);
    free(host_of);
    return st;
}

/* ---- parking ----------------------------------------------------------- */

/* Parked trials leave the queue. */
static void sift_queue(tri_ctl *ctl)
{
    tri_numbers *q = &ctl->queue;
    size_t n = 0;

    for (size_t i = ctl->queue_at; i < q->n; i++) {
        if (!ctl->trials[q->list[i]].parked) {
            q->list[n++] = q->list[i];
        }
    }
    q->n = n;
    ctl->queue_at = 0;
}

tri_status tri_ctl_set_parked(tri_ctl *ctl, int64_t trial, int parked)
{
    tri_trial_row *t = &ctl->trials[trial];

    t->parked = parked != 0;
    ctl->n_parked += parked ? 1 : -1;
    tri_sched_park(ctl->sched, trial, parked || t->shelved);
    TRI_TRY(tri_ctl_touch_trial(ctl, trial));
    return !parked && t->place == TRI_PLACE_WAITING && !t->held
                   ? tri_ctl_enqueue(ctl, trial)
                   : TRI_OK;
}

void tri_ctl_shelve(tri_ctl *ctl, int64_t trial)
{
    ctl->trials[trial].shelved = 1;
    ctl->n_shelved++;
    ctl->deadline_shelves |= ctl->deadline_blocks;
    tri_sched_park(ctl->sched, trial, 1);
}

void tri_ctl_unshelve_all(tri_ctl *ctl)
{
    for (int64_t i = 0; ctl->n_shelved && i < ctl->n_trials; i++) {
        tri_trial_row *t = &ctl->trials[i];

        ctl->n_shelved -= t->shelved;
        if (t->shelved && !t->parked) {
            tri_sched_park(ctl->sched, i, 0);
        }
        t->shelved = 0;
    }
    ctl->deadline_shelves = 0;
}

tri_status tri_ctl_settle_pool(tri_ctl *ctl)
{
    if (ctl->pack_stale) {
        TRI_TRY(rebuild(ctl));
    }
    if (!ctl->pool_changed) {
        return TRI_OK;
    }
    ctl->pool_changed = 0;
    ctl->exhausted = 0;
    ctl->candidate.ready &= ctl->candidate.ranks <= ctl->n_up;
    if (ctl->largest <= ctl->n_up && !ctl->n_parked) {
        return TRI_OK;
    }
    for (int64_t i = 0; i < ctl->n_trials; i++) {
        const tri_trial_row *t = &ctl->trials[i];
        int parked = t->ranks > ctl->n_up;

        if (t->parked != parked && t->place < TRI_PLACE_DONE) {
            TRI_TRY(tri_ctl_set_parked(ctl, i, parked));
        }
    }
    if (ctl->head >= 0 && ctl->trials[ctl->head].parked) {
        ctl->head = -1;
    }
    sift_queue(ctl);
    return TRI_OK;
}

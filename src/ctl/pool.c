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
    ctl->n_benched = 0;
    ctl->benched_since = NAN;
    for (int i = 0; i < ctl->n_hosts; i++) {
        ctl->hosts[i].benched = ctl->hosts[i].checked = 0;
    }
    ctl->pool_changed = ctl->pack_stale = 1;
    tri_pack_fini(&ctl->pack);
}

/* ---- hosts by name ------------------------------------------------------ */

static uint64_t name_hash(const char *name)
{
    uint64_t h = 1469598103934665603u;

    for (; *name; name++) {
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    }
    return h ^ h >> 32;
}

/* Where the name stands, or could. */
static int32_t *name_place(tri_ctl *ctl, const char *name)
{
    size_t room = 2 * (size_t)ctl->host_room;
    size_t i = (size_t)name_hash(name) & (room - 1);

    while (ctl->by_name[i] &&
           strcmp(ctl->hosts[ctl->by_name[i] - 1].name, name) != 0) {
        i = (i + 1) & (room - 1);
    }
    return &ctl->by_name[i];
}

static tri_status make_host_room(tri_ctl *ctl)
{
    int room = ctl->host_room ? 2 * ctl->host_room : 16;
    tri_host *hosts;
    int32_t *by_name;

    if (ctl->n_hosts < ctl->host_room) {
        return TRI_OK;
    }
    hosts = realloc(ctl->hosts, (size_t)room * sizeof *hosts);
    ctl->hosts = hosts ? hosts : ctl->hosts;
    by_name = calloc(2 * (size_t)room, sizeof *by_name);
    if (!hosts || !by_name) {
        free(by_name);
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d hosts", room);
    }
    free(ctl->by_name);
    ctl->by_name = by_name;
    ctl->host_room = room;
    for (int i = 0; i < ctl->n_hosts; i++) {
        *name_place(ctl, hosts[i].name) = i + 1;
    }
    return TRI_OK;
}

static tri_status host_number(tri_ctl *ctl, const char *name, int32_t *out)
{
    int32_t *place;

    TRI_TRY(make_host_room(ctl));
    place = name_place(ctl, name);
    if (!*place) {
        tri_host *host = &ctl->hosts[ctl->n_hosts];

        *host = (tri_host){.name = tri_keep_text(&ctl->keep, name),
                           .lost_s = -INFINITY,
                           .lost_trial = -1};
        if (!host->name) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a host");
        }
        *place = ++ctl->n_hosts;
    }
    *out = *place - 1;
    return TRI_OK;
}

/* ---- ranks --------------------------------------------------------------- */

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
                        .at = {ev->package, ev->numa, ev->cache, ev->core},
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

/* What has become of a rank, for the packing. */
static void tell_pack(tri_ctl *ctl, const tri_rank_row *r)
{
    if (!ctl->pack_stale) {
        tri_pack_set(&ctl->pack, r->slot,
                     r->state == TRI_RANK_UP && !r->benched, r->run >= 0);
    }
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
        ctl->n_benched += r->benched;
        ctl->pool_changed = 1;
        tell_pack(ctl, r);
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
        ctl->n_benched -= r->benched;
        ctl->pool_changed = 1;
    }
    if (!r->struck) {
        r->state = (uint8_t)state;
        tell_pack(ctl, r);
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
    tell_pack(ctl, r);
}

void tri_ctl_bench_rank(tri_ctl *ctl, int32_t rank)
{
    tri_rank_row *r = tri_ctl_rank_row(ctl, rank);

    if (r && !r->benched) {
        r->benched = ctl->hosts[r->host].benched = 1;
        ctl->n_benched += r->state == TRI_RANK_UP;
        ctl->benched_since = ctl->now;
        tell_pack(ctl, r);
    }
}

/* ---- groups -------------------------------------------------------------- */

/* Whether a group of n takes benched ranks, too. */
static int needs_benched(const tri_ctl *ctl, int n)
{
    return ctl->n_benched && n > ctl->n_up - ctl->n_benched;
}

static int is_free_benched(const tri_rank_row *r)
{
    return r->benched && r->state == TRI_RANK_UP && r->run < 0;
}

/* Let the packing have those benched, or not. */
static void set_benched_usable(tri_ctl *ctl, int usable)
{
    for (int i = 0; i < ctl->n_ranks; i++) {
        const tri_rank_row *r = &ctl->ranks[i];

        if (is_free_benched(r)) {
            tri_pack_set(&ctl->pack, r->slot, usable, ctl->pack.taken[r->slot]);
        }
    }
}

int tri_ctl_room(const tri_ctl *ctl, int n)
{
    int room = ctl->pack.n_free;

    /* of units that are exclusive what is benched may be another's: they are
     * then had only when nothing runs */
    for (int i = 0; needs_benched(ctl, n) && i < ctl->n_ranks; i++) {
        room += is_free_benched(&ctl->ranks[i]) &&
                (!ctl->pack.n_units || !ctl->n_busy);
    }
    return room;
}

int tri_ctl_has_room(const tri_ctl *ctl)
{
    return ctl->pack.n_free > 0 ||
           (ctl->n_benched && ctl->n_benched == ctl->n_up &&
            ctl->n_busy < ctl->n_up);
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

int tri_ctl_take_ranks(tri_ctl *ctl, int n, const int32_t *avoid, int n_avoid,
                       int32_t *out)
{
    int opens = needs_benched(ctl, n);
    int took, n_off = 0;

    for (int i = 0; i < n_avoid; i++) {
        const tri_rank_row *r = tri_ctl_rank_row(ctl, avoid[i]);

        if (r) {
            ctl->kept_off[n_off++] = r->slot;
        }
    }
    if (opens) {
        set_benched_usable(ctl, 1);
    }
    took = tri_pack_take(&ctl->pack, n, ctl->kept_off, n_off, ctl->slots);
    if (opens) {
        set_benched_usable(ctl, 0);
    }
    if (!took) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        out[i] = ctl->ranks[ctl->slot_rank[ctl->slots[i]]].rank;
    }
    if (ctl->rules < 1 && n > 1) {
        qsort(out, (size_t)n, sizeof *out, ascending);
    }
    ctl->n_busy += n;
    return 1;
}

/* ---- slots --------------------------------------------------------------- */

/* Hosts by their lowest rank, ranks of a host by where they sit. */
typedef struct seat {
    int32_t first; /* lowest rank of the host */
    int32_t rank, host;
    tri_place at;
    int row;
} seat;

static int compare(int32_t x, int32_t y)
{
    return (x > y) - (x < y);
}

static int by_seat(const void *a, const void *b)
{
    const seat *x = a, *y = b;
    int c = compare(x->first, y->first);

    c = c ? c : compare(x->at.package, y->at.package);
    c = c ? c : compare(x->at.numa, y->at.numa);
    c = c ? c : compare(x->at.cache, y->at.cache);
    c = c ? c : compare(x->at.core, y->at.core);
    return c ? c : compare(x->rank, y->rank);
}

static void sort_seats(const tri_ctl *ctl, seat *seats, int32_t *first)
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

        seats[i] = (seat){first[r->host], r->rank, r->host, r->at, i};
    }
    qsort(seats, (size_t)ctl->n_ranks, sizeof *seats, by_seat);
}

static tri_part exclusive_unit(const tri_ctl *ctl)
{
    const char *text = ctl->rules < 1 ? "none" : ctl->study->exclusive;

    return strcmp(text, "node") == 0   ? TRI_PART_HOST
           : strcmp(text, "numa") == 0 ? TRI_PART_NUMA
                                       : TRI_PART_COUNT;
}

static tri_status number_slots(tri_ctl *ctl, seat *seats, int32_t *first,
                               tri_pack_slot *slots)
{
    int host = -1;

    sort_seats(ctl, seats, first);
    for (int i = 0; i < ctl->n_ranks; i++) {
        host += !i || seats[i].host != seats[i - 1].host;
        slots[i] = (tri_pack_slot){host, seats[i].at};
        ctl->slot_rank[i] = seats[i].row;
        ctl->ranks[seats[i].row].slot = i;
    }
    TRI_TRY(tri_pack_init(&ctl->pack, slots, ctl->n_ranks,
                          exclusive_unit(ctl)));
    ctl->pack.greedy = ctl->rules < 1;
    ctl->pack_stale = 0;
    for (int i = ctl->n_ranks - 1; i >= 0; i--) {
        tell_pack(ctl, &ctl->ranks[ctl->slot_rank[i]]);
    }
    return TRI_OK;
}

static tri_status rebuild(tri_ctl *ctl)
{
    size_t n = (size_t)ctl->n_ranks + 1;
    seat *seats = malloc(n * sizeof *seats);
    int32_t *first = malloc(((size_t)ctl->n_hosts + 1) * sizeof *first);
    tri_pack_slot *places = malloc(n * sizeof *places);
    int *slots = realloc(ctl->slots, n * sizeof *slots);
    int *slot_rank = realloc(ctl->slot_rank, n * sizeof *slot_rank);
    int *kept_off = realloc(ctl->kept_off, n * sizeof *kept_off);
    int32_t *elsewhere = realloc(ctl->elsewhere, n * sizeof *elsewhere);
    tri_status st = TRI_OK;

    ctl->slots = slots ? slots : ctl->slots;
    ctl->slot_rank = slot_rank ? slot_rank : ctl->slot_rank;
    ctl->kept_off = kept_off ? kept_off : ctl->kept_off;
    ctl->elsewhere = elsewhere ? elsewhere : ctl->elsewhere;
    if (!seats || !first || !places || !slots || !slot_rank || !kept_off ||
        !elsewhere) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for %d ranks", ctl->n_ranks);
    } else {
        st = number_slots(ctl, seats, first, places);
    }
    free(seats);
    free(first);
    free(places);
    return st;
}

/* ---- parking ----------------------------------------------------------- */

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
    tri_ctl_sift_queue(ctl);
    return TRI_OK;
}

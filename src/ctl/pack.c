/*
 * Packing: the units of the machine with what is free in each, and the choice
 * of a group's slots.
 */
#include "src/ctl/pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Shapes that no host has any more are forgotten when there are so many. */
#define SHAPES_MOST 8192

/* ---- what is there ------------------------------------------------------ */

void tri_pack_fini(tri_pack *p)
{
    for (int l = 0; l < TRI_PART_COUNT; l++) {
        free(p->level[l].list);
        free(p->level[l].of);
    }
    tri_shapes_fini(&p->shapes);
    free(p->free_slot);
    free(p->usable);
    free(p->taken);
    free(p->of_free);
    free(p->parts);
    free(p->unit_of);
    free(p->unit_begin);
    free(p->unit_taken);
    *p = (tri_pack){0};
}

/* Whether b, the slot behind a, is in another unit of that kind. */
static int differs(const tri_pack_slot *a, const tri_pack_slot *b,
                   tri_part unit)
{
    return a->host != b->host ||
           (unit >= TRI_PART_PACKAGE && a->at.package != b->at.package) ||
           (unit >= TRI_PART_NUMA && a->at.numa != b->at.numa) ||
           (unit >= TRI_PART_CACHE && a->at.cache != b->at.cache);
}

static int count_units(const tri_pack_slot *slots, int n, tri_part unit)
{
    int count = n > 0;

    for (int i = 1; i < n; i++) {
        count += differs(&slots[i - 1], &slots[i], unit);
    }
    return count;
}

static tri_status fill_level(tri_pack *p, tri_pack_level *level, tri_part unit,
                             const tri_pack_slot *slots, int count)
{
    tri_pack_part *last;

    level->list = calloc((size_t)count + 1, sizeof *level->list);
    level->of = calloc((size_t)p->n_slots + 1, sizeof *level->of);
    if (!level->list || !level->of) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a pool of %d", p->n_slots);
    }
    level->n = 0;
    for (int i = 0; i < p->n_slots; i++) {
        if (!i || differs(&slots[i - 1], &slots[i], unit)) {
            level->list[level->n++].begin = i;
        }
        last = &level->list[level->n - 1];
        last->end = i + 1;
        level->of[i] = level->n - 1;
        if (last->end - last->begin > level->most) {
            level->most = last->end - last->begin;
        }
    }
    return TRI_OK;
}

static tri_status fill_levels(tri_pack *p, const tri_pack_slot *slots,
                              tri_part *units)
{
    int before = count_units(slots, p->n_slots, TRI_PART_HOST);

    units[0] = TRI_PART_HOST;
    p->n_levels = 1;
    TRI_TRY(fill_level(p, &p->level[0], TRI_PART_HOST, slots, before));
    for (int unit = TRI_PART_PACKAGE; unit < TRI_PART_COUNT; unit++) {
        int n = count_units(slots, p->n_slots, (tri_part)unit);

        if (n > before && n < p->n_slots) {
            units[p->n_levels] = (tri_part)unit;
            TRI_TRY(fill_level(p, &p->level[p->n_levels++], (tri_part)unit,
                               slots, n));
            before = n;
        }
    }
    return TRI_OK;
}

/* Each level's units and their parts in the next. */
static void join_levels(tri_pack *p)
{
    for (int l = 0; l + 1 < p->n_levels; l++) {
        const tri_pack_level *below = &p->level[l + 1];

        for (int i = 0; i < p->level[l].n; i++) {
            tri_pack_part *d = &p->level[l].list[i];

            d->part = below->of[d->begin];
            d->n_parts = below->of[d->end - 1] - d->part + 1;
        }
    }
    p->most = p->level[0].most;
}

static tri_status fill_units(tri_pack *p, const tri_pack_slot *slots,
                             tri_part unit)
{
    size_t n = (size_t)p->n_slots + 1;
    int count = 0;

    if (unit == TRI_PART_COUNT) {
        return TRI_OK;
    }
    p->unit_of = calloc(n, sizeof *p->unit_of);
    p->unit_begin = calloc(n, sizeof *p->unit_begin);
    p->unit_taken = calloc(n, sizeof *p->unit_taken);
    if (!p->unit_of || !p->unit_begin || !p->unit_taken) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a pool of %d", p->n_slots);
    }
    for (int i = 0; i < p->n_slots; i++) {
        if (!i || differs(&slots[i - 1], &slots[i], unit)) {
            p->unit_begin[count++] = i;
        }
        p->unit_of[i] = count - 1;
    }
    p->unit_begin[count] = p->n_slots;
    p->n_units = count;
    return TRI_OK;
}

/* ---- hosts by shape ----------------------------------------------------- */

static void link_host(tri_pack *p, int h)
{
    tri_pack_part *host = &p->level[0].list[h];
    tri_shape *list = p->shapes.list;
    tri_shape *shape = &list[host->shape];

    host->prev = -1;
    host->next = shape->first;
    if (shape->first >= 0) {
        p->level[0].list[shape->first].prev = h;
    } else {
        int *first = &p->of_free[shape->n_free];

        shape->prev = -1;
        shape->next = *first;
        if (*first >= 0) {
            list[*first].prev = host->shape;
        }
        *first = host->shape;
    }
    shape->first = h;
    shape->n_hosts++;
}

static void unlink_host(tri_pack *p, int h)
{
    tri_pack_part *hosts = p->level[0].list;
    tri_pack_part *host = &hosts[h];
    tri_shape *list = p->shapes.list;
    tri_shape *shape = &list[host->shape];

    if (host->prev >= 0) {
        hosts[host->prev].next = host->next;
    } else {
        shape->first = host->next;
    }
    if (host->next >= 0) {
        hosts[host->next].prev = host->prev;
    }
    if (--shape->n_hosts > 0) {
        return;
    }
    if (shape->prev >= 0) {
        list[shape->prev].next = shape->next;
    } else {
        p->of_free[shape->n_free] = shape->next;
    }
    if (shape->next >= 0) {
        list[shape->next].prev = shape->prev;
    }
}

/* The unit's shape after a part of it, or what is free, has changed. */
static void reshape(tri_pack *p, int l, tri_pack_part *d)
{
    const tri_pack_part *parts;

    if (l == p->n_levels - 1) {
        d->shape = d->n_free;
        return;
    }
    parts = &p->level[l + 1].list[d->part];
    for (int i = 0; i < d->n_parts; i++) {
        p->parts[i] = parts[i].shape;
    }
    d->shape = tri_shapes_find(&p->shapes, l, p->parts, d->n_parts, d->n_free);
    if (d->shape < 0) {
        p->broken = 1;
        d->shape = 0;
    }
}

/* All shapes anew: at the beginning, and when too many are known. */
static tri_status reshape_all(tri_pack *p, const tri_part *units)
{
    tri_part kept[TRI_PART_COUNT];

    memcpy(kept, units, sizeof kept);
    tri_shapes_fini(&p->shapes);
    TRI_TRY(tri_shapes_init(&p->shapes, p->n_levels, kept, p->most));
    memset(p->of_free, -1, ((size_t)p->most + 1) * sizeof *p->of_free);
    for (int l = p->n_levels - 1; l >= 0; l--) {
        for (int i = 0; i < p->level[l].n; i++) {
            reshape(p, l, &p->level[l].list[i]);
        }
    }
    if (p->broken) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the shapes of a pool");
    }
    for (int h = p->level[0].n - 1; h >= 0; h--) {
        link_host(p, h);
    }
    return TRI_OK;
}

static tri_status make(tri_pack *p, const tri_pack_slot *slots,
                       tri_part exclusive)
{
    size_t n = (size_t)p->n_slots + 1;
    tri_part units[TRI_PART_COUNT] = {TRI_PART_HOST};

    p->free_slot = calloc(n, sizeof *p->free_slot);
    p->usable = calloc(n, sizeof *p->usable);
    p->taken = calloc(n, sizeof *p->taken);
    p->of_free = calloc(n, sizeof *p->of_free);
    p->parts = calloc(n, sizeof *p->parts);
    if (!p->free_slot || !p->usable || !p->taken || !p->of_free || !p->parts) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a pool of %d", p->n_slots);
    }
    TRI_TRY(fill_levels(p, slots, units));
    join_levels(p);
    TRI_TRY(fill_units(p, slots, exclusive));
    return reshape_all(p, units);
}

tri_status tri_pack_init(tri_pack *p, const tri_pack_slot *slots, int n_slots,
                         tri_part exclusive)
{
    tri_status st;

    tri_pack_fini(p);
    p->n_slots = n_slots;
    st = make(p, slots, exclusive);
    if (st != TRI_OK) {
        tri_pack_fini(p);
    }
    return st;
}

/* ---- what is free ------------------------------------------------------- */

static void set_free(tri_pack *p, int slot, int is_free)
{
    int change = is_free ? 1 : -1;
    int h = p->level[0].of[slot];

    if (p->free_slot[slot] == (is_free != 0) || p->broken) {
        return;
    }
    p->free_slot[slot] = is_free != 0;
    p->n_free += change;
    unlink_host(p, h);
    for (int l = p->n_levels - 1; l >= 0; l--) {
        tri_pack_part *d = &p->level[l].list[p->level[l].of[slot]];

        d->n_free += change;
        reshape(p, l, d);
    }
    if (!p->broken) {
        link_host(p, h);
    }
}

static void refresh(tri_pack *p, int slot)
{
    set_free(p, slot,
             p->usable[slot] && !p->taken[slot] &&
                     (!p->n_units || !p->unit_taken[p->unit_of[slot]]));
}

void tri_pack_set(tri_pack *p, int slot, int usable, int taken)
{
    int change = (taken != 0) - p->taken[slot];
    int begin = slot, end = slot + 1;

    p->usable[slot] = usable != 0;
    p->taken[slot] = taken != 0;
    if (p->n_units && change) {
        int unit = p->unit_of[slot];

        p->unit_taken[unit] += change;
        if (p->unit_taken[unit] == (change > 0)) { /* now held, or no longer */
            begin = p->unit_begin[unit];
            end = p->unit_begin[unit + 1];
        }
    }
    for (int i = begin; i < end; i++) {
        refresh(p, i);
    }
}

/* ---- slots of a host ---------------------------------------------------- */

/* Whether all of slots [at, at + n) are free. */
static int all_free(const tri_pack *p, int at, int n)
{
    return !memchr(&p->free_slot[at], 0, (size_t)n);
}

/* Where a block of n begins, `step` apart from the unit's begin; -1. */
static int find_block(const tri_pack *p, const tri_pack_part *d, int n,
                      int step)
{
    for (int at = d->begin; at + n <= d->end; at += step) {
        if (all_free(p, at, n)) {
            return at;
        }
    }
    return -1;
}

/* n free slots of a unit of the last level; returns behind the last. */
static int *take_last(const tri_pack *p, const tri_pack_part *d, int n,
                      int *out)
{
    int step = 1, at;

    if (n == 1) {
        const uint8_t *first =
                memchr(&p->free_slot[d->begin], 1, (size_t)(d->end - d->begin));

        *out = (int)(first - p->free_slot);
        return out + 1;
    }
    while (step < n) {
        step *= 2;
    }
    at = find_block(p, d, n, step);
    if (at < 0) {
        at = find_block(p, d, n, 1);
    }
    for (int i = at < 0 ? d->begin : at; n > 0; i++) {
        assert(i < d->end);
        if (p->free_slot[i]) {
            *out++ = i;
            n--;
        }
    }
    return out;
}

/* The part that alone gives n at least cost, -1 if none can. */
static int best_part(tri_pack *p, int l, const tri_pack_part *d, int n)
{
    const tri_pack_part *parts = &p->level[l + 1].list[d->part];
    tri_cost least = {0, 0}, cost;
    int best = -1;

    for (int i = 0; i < d->n_parts; i++) {
        if (parts[i].n_free < n) {
            continue;
        }
        if (tri_shapes_cost(&p->shapes, l + 1, parts[i].shape, n, &cost) !=
            TRI_OK) {
            p->broken = 1;
            return -1;
        }
        if (best < 0 || tri_cost_less(cost, least)) {
            best = i;
            least = cost;
        }
    }
    return best;
}

/* Share n out to the parts of d; amounts[i] for each. */
static void share_out(tri_pack *p, int l, const tri_pack_part *d, int n,
                      int *amounts, int *shapes)
{
    const tri_pack_part *parts = &p->level[l + 1].list[d->part];

    for (int i = 0; i < d->n_parts; i++) {
        shapes[i] = parts[i].shape;
        amounts[i] = parts[i].n_free;
    }
    if (n < d->n_free && tri_shapes_share(&p->shapes, l, shapes, d->n_parts, n,
                                          amounts) != TRI_OK) {
        p->broken = 1;
    }
}

static int *take_of(tri_pack *p, int l, const tri_pack_part *d, int n, int *out)
{
    const tri_pack_part *parts;
    int *amounts;
    int one;

    if (l == p->n_levels - 1) {
        return take_last(p, d, n, out);
    }
    parts = &p->level[l + 1].list[d->part];
    one = best_part(p, l, d, n);
    if (one >= 0 || p->broken) {
        return p->broken ? out : take_of(p, l + 1, &parts[one], n, out);
    }
    amounts = malloc(2 * (size_t)d->n_parts * sizeof *amounts);
    if (!amounts) {
        p->broken = 1;
        return out;
    }
    share_out(p, l, d, n, amounts, amounts + d->n_parts);
    for (int i = 0; i < d->n_parts && !p->broken; i++) {
        if (amounts[i]) {
            out = take_of(p, l + 1, &parts[i], amounts[i], out);
        }
    }
    free(amounts);
    return out;
}

/* ---- hosts -------------------------------------------------------------- */

/* The fewest units that n can touch, whatever is free. */
static uint64_t least_touched(const tri_pack *p, int n)
{
    uint64_t sum = 0;

    for (int l = 1; l < p->n_levels; l++) {
        int parts = (n + p->level[l].most - 1) / p->level[l].most;

        sum += (uint64_t)parts << 21 * (TRI_PART_CACHE - p->shapes.unit[l]);
    }
    return sum;
}

/* The best host that has room for n, -1 if none has. */
int tri_pack_choose(tri_pack *p, int n)
{
    uint64_t enough = least_touched(p, n);
    tri_cost least = {UINT64_MAX, 0}, cost = {0, 0};
    int best = -1;

    for (int f = n; f <= p->most; f++) {
        for (int i = p->of_free[f]; i >= 0; i = p->shapes.list[i].next) {
            if (p->n_levels > 1 &&
                tri_shapes_cost(&p->shapes, 0, i, n, &cost) != TRI_OK) {
                p->broken = 1;
                return -1;
            }
            if (best < 0 || tri_cost_less(cost, least)) {
                best = i;
                least = cost;
            }
        }
        if (best >= 0 && least.touched <= enough) {
            break;
        }
    }
    return best < 0 ? -1 : p->shapes.list[best].first;
}

int *tri_pack_take_from(tri_pack *p, int h, int n, int *out)
{
    int *end = take_of(p, 0, &p->level[0].list[h], n, out);

    for (int *slot = out; slot < end; slot++) {
        set_free(p, *slot, 0);
    }
    return end;
}

/* ---- groups ------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int take(tri_pack *p, int n, int *out)
{
    int *end;
    int h;

    if (n > p->n_free) {
        return 0;
    }
    h = tri_pack_choose(p, n);
    end = h >= 0       ? tri_pack_take_from(p, h, n, out)
          : !p->broken ? tri_pack_take_several(p, n, out)
                       : out;
    if (p->broken) {
        return 0;
    }
    assert(end == out + n);
    (void)end;
    if (n > 1) {
        qsort(out, (size_t)n, sizeof *out, ascending);
    }
    for (int i = 0; i < n; i++) {
        tri_pack_set(p, out[i], p->usable[out[i]], 1);
    }
    return 1;
}

int tri_pack_take(tri_pack *p, int n, const int *avoid, int n_avoid, int *out)
{
    int took;

    if (p->shapes.n > SHAPES_MOST && p->n_levels > 1 && !p->broken) {
        p->broken = reshape_all(p, p->shapes.unit) != TRI_OK;
    }
    for (int i = 0; i < n_avoid; i++) {
        set_free(p, avoid[i], 0);
    }
    took = !p->broken && take(p, n, out);
    for (int i = 0; i < n_avoid; i++) {
        refresh(p, avoid[i]);
    }
    return took;
}

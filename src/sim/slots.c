/*
 * The table of runs in flight.
 */
#include "src/sim/slots.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void tri_slots_init(tri_slots *s)
{
    memset(s, 0, sizeof *s);
}

void tri_slots_fini(tri_slots *s)
{
    free(s->list);
    free(s->free);
    free(s->of_run);
    tri_slots_init(s);
}

static tri_status grow(tri_slots *s)
{
    int capacity = s->capacity ? 2 * s->capacity : 16;
    tri_slot *list = realloc(s->list, (size_t)capacity * sizeof *list);
    int *numbers;

    if (list == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d virtual runs", capacity);
    }
    s->list = list;
    numbers = realloc(s->free, (size_t)capacity * sizeof *numbers);
    if (numbers == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d virtual runs", capacity);
    }
    s->free = numbers;
    s->capacity = capacity;
    return TRI_OK;
}

/* One more slot, free. */
static tri_status add(tri_slots *s)
{
    if (s->n == s->capacity) {
        TRI_TRY(grow(s));
    }
    s->list[s->n] = (tri_slot){0};
    s->free[s->n_free++] = s->n++;
    return TRI_OK;
}

static tri_status know_run(tri_slots *s, int64_t run)
{
    int64_t n = s->n_runs ? s->n_runs : 64;
    int32_t *of_run;

    if (run < s->n_runs) {
        return TRI_OK;
    }
    while (n <= run) {
        n *= 2;
    }
    of_run = realloc(s->of_run, (size_t)n * sizeof *of_run);
    if (of_run == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %lld virtual runs",
                        (long long)n);
    }
    for (int64_t i = s->n_runs; i < n; i++) {
        of_run[i] = -1;
    }
    s->of_run = of_run;
    s->n_runs = n;
    return TRI_OK;
}

tri_status tri_slots_take(tri_slots *s, int64_t run, int *out)
{
    int slot;

    assert(run >= 0);
    TRI_TRY(know_run(s, run));
    if (s->n_free == 0) {
        TRI_TRY(add(s));
    }
    slot = s->free[--s->n_free];
    s->list[slot].run = run;
    s->list[slot].state = TRI_SLOT_FORMING;
    s->of_run[run] = slot;
    *out = slot;
    return TRI_OK;
}

tri_status tri_slots_rename(tri_slots *s, int slot, int64_t run)
{
    TRI_TRY(know_run(s, run));
    s->of_run[s->list[slot].run] = -1;
    s->of_run[run] = slot;
    s->list[slot].run = run;
    s->list[slot].stamp++;
    return TRI_OK;
}

int tri_slots_find(const tri_slots *s, int64_t run)
{
    return run >= 0 && run < s->n_runs ? s->of_run[run] : -1;
}

void tri_slots_give(tri_slots *s, int slot)
{
    assert(s->list[slot].state != TRI_SLOT_FREE);
    s->of_run[s->list[slot].run] = -1;
    s->list[slot].state = TRI_SLOT_FREE;
    s->list[slot].stamp++;
    s->free[s->n_free++] = slot;
}

void tri_slots_clear(tri_slots *s)
{
    for (int i = 0; i < s->n; i++) {
        if (s->list[i].state != TRI_SLOT_FREE) {
            tri_slots_give(s, i);
        }
    }
}

/*
 * Runs in flight on the virtual cluster: found by number, reused when they
 * end.  A stamp tells the uses of a slot apart, so that what was due to happen
 * to an earlier use can be told from what is due now.  Knows nothing of time.
 */
#ifndef TRI_SIM_SLOTS_H
#define TRI_SIM_SLOTS_H

#include "trireme/curve.h"
#include "trireme/event.h"

typedef enum tri_slot_state {
    TRI_SLOT_FREE,
    TRI_SLOT_FORMING, /* assigned, not yet told to go */
    TRI_SLOT_RUNNING,
    TRI_SLOT_WAITING, /* finished, no verdict yet */
    TRI_SLOT_LEAVING  /* released or stopped, not yet answered */
} tri_slot_state;

typedef struct tri_slot {
    tri_slot_state state;
    uint32_t stamp;
    int64_t run, trial;
    int rung, attempt;
    int n_ranks;
    const int32_t *ranks; /* the controller's */
    int64_t from, to;     /* resource: at the start, to reach */
    int64_t reached;      /* when it stopped */
    double start_s, lasts_s;
    int save;                 /* write a checkpoint when released or stopped */
    const tri_config *config; /* the controller's */
    uint64_t hash;            /* of it */
    tri_curve_point end;      /* what it will measure */
} tri_slot;

typedef struct tri_slots {
    tri_slot *list;
    int n, capacity;
    int *free; /* numbers of free slots; n_free of them */
    int n_free;
    int32_t *of_run; /* slot of a run, -1; n_runs of them */
    int64_t n_runs;
} tri_slots;

void tri_slots_init(tri_slots *s);
void tri_slots_fini(tri_slots *s);
/* A slot for `run`, all else of it unset.  TRI_ENOMEM.  [out] its number. */
tri_status tri_slots_take(tri_slots *s, int64_t run, int *out);
/* The slot goes on as another run.  TRI_ENOMEM. */
tri_status tri_slots_rename(tri_slots *s, int slot, int64_t run);
/* Number of the slot of `run`, -1 if it is not in flight. */
int tri_slots_find(const tri_slots *s, int64_t run);
void tri_slots_give(tri_slots *s, int slot);
/* Free all; what was due is then stale. */
void tri_slots_clear(tri_slots *s);

#endif

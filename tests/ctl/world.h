/*
 * A world for the controller: it feeds events, follows the commands with a
 * model of its own of who holds which ranks, and fails the test as soon as a
 * rule of scheduling is broken.  Every event is kept, so that the whole story
 * can be told again to a fresh controller.
 */
#ifndef TRI_TESTS_CTL_WORLD_H
#define TRI_TESTS_CTL_WORLD_H

#include "trireme/ctl.h"

#include "tests/tri_cmocka.h"

#define WORLD_RANKS 64

typedef enum wrun_state {
    WRUN_FORMING,
    WRUN_RUNNING,
    WRUN_SAVING,  /* released, the checkpoint is being written */
    WRUN_STOPPING /* a stop was received */
} wrun_state;

typedef struct wrun { /* a run as the workers know it */
    int64_t run, trial, resource;
    int attempt, rung, phase, n_ranks, drain, save;
    int32_t ranks[WORLD_RANKS];
    wrun_state state;
    int hung; /* it will never answer */
} wrun;

typedef struct world {
    tri_ctl *ctl;
    const char *text; /* of the study */
    double now;
    int epoch;
    tri_commands last; /* what the last event caused */
    wrun *runs;        /* in flight */
    int n_runs, room;
    int up[WORLD_RANKS + 1];
    int64_t holder[WORLD_RANKS + 1]; /* by rank: the run, -1 */
    int64_t searched;                /* search runs begun */
    int64_t failed_trials[4096];
    int n_failed_trials;
    int leaves, ended, status, resumable;
    char why[512];
    int may_be_quiet; /* virtual time */
    uint64_t seed;
    const char *sentence;      /* of what fails next, NULL: "" */
    const char *machine_class; /* of the next opening */
    const char *counts;        /* class of the results that count, "" */
    int counts_from;           /* the epoch from which on results count */
    int64_t best;              /* last seen to be of that class */
    int best_from;
    double max_time_s, deadline_s;
    int64_t peak_bytes; /* of what is measured next */
    double interval;    /* its half width, as a share; 0: none */
    tri_event *story;
    uint64_t *digests;
    int n_story, story_room;
    int64_t most_attempt;
    int thinks;               /* a thinker stands ready */
    const tri_warm_row *warm; /* of the next openings */
    int n_warm;
    int64_t question; /* out, 0: none */
    int64_t asked;    /* the last one */
    int wanted;       /* by it */
    void **kept;      /* proposals of the story */
    int n_kept;
} world;

void world_init(world *w, const char *study);
void world_fini(world *w);
/* Feed an event at w->now; the story goes on.  Fails the test on an error. */
void world_feed(world *w, const tri_event *event);
void world_open(world *w);
/* An edit that changes something, or of no class. */
void world_edit(world *w, const char *study);
/* Ranks 1..n up, `per_host` on a host. */
void world_pool(world *w, int n, int per_host);
void world_rank(world *w, int rank, int state);
void world_clock(world *w, double gap_s);
/* Open, pool and first clock. */
void world_begin(world *w, int n, int per_host);
void world_formed(world *w, int64_t run);
void world_report(world *w, int64_t run, double step_s);
/* A result; the objective is a loss or a rate, as the study says. */
void world_finished(world *w, int64_t run, double value);
/* An event of one's own, with which a run is over. */
void world_feed_gone(world *w, const tri_event *event, int64_t run);
void world_failed(world *w, int64_t run, tri_reason reason);
void world_lost(world *w, int64_t run, tri_reason reason, int rank,
                int witness);
void world_paused(world *w, int64_t run, const char *checkpoint);
void world_interrupted(world *w, int64_t run, const char *checkpoint);
void world_drain(world *w, int why);
/* An answer to question `snapshot`; the list is copied. */
void world_proposals(world *w, int64_t snapshot, const tri_proposal *list,
                     int n);
/* formed, a report and finished. */
void world_run(world *w, int64_t run, double value);

/* The run in flight, or NULL. */
wrun *world_find(world *w, int64_t run);
/* The n-th command of that kind that the last event caused, or NULL. */
const tri_command *world_command(const world *w, tri_command_kind kind, int n);
int world_count(const world *w, tri_command_kind kind);
/* Tell the story again: every digest must be the same. */
void world_retell(const world *w);

#endif

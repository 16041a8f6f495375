/*
 * The driver's state and what its files do for each other.  Nobody outside
 * src/net includes this.
 *
 * One loop: obtain an event, feed it, journal it with the digest of its
 * commands, carry them out.
 */
#ifndef TRI_SRC_NET_DRIVER_H
#define TRI_SRC_NET_DRIVER_H

#include "trireme/net.h"
#include "trireme/store.h"

#include "mpi_workers/channel.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/tree.h"
#include "mpi_workers/world.h"
#include "src/net/thinking.h"

typedef struct tri_peer { /* a rank of the pool */
    int is_up;            /* said hello, not lost, not struck */
    int said_hello;
    int gone; /* lost or struck: never re-admitted */
    double heard_s;
    int cores;
    int64_t pid;
    int blind; /* does not see the folder of checkpoints */
    char host[64], device[96];
    tri_place at;
    char binding[12], cpus[64];
    int is_benched;    /* and that was said */
    char trouble[320]; /* why it can run nothing, "" */
} tri_peer;

typedef struct tri_forming { /* a run whose members have not all answered */
    int64_t run;
    int32_t attempt;
    int n, n_ready;
    int is_sure; /* its only rank has just spoken: nobody is waited for */
    int32_t *ranks;
    unsigned char *ready;
} tri_forming;

typedef struct tri_driver {
    const tri_study *study;
    const tri_net_settings *settings;
    tri_world *world;
    tri_channel *channel;
    tri_record *record;
    tri_ctl *ctl;
    int epoch;
    double base_s, start_s; /* study time at the monotonic clock's start_s */
    double waited_s;        /* until all had answered: no study time */
    double opened_s;        /* by the wall clock, as the ranks hear it */
    double last_s;          /* of the last event: time never runs backwards */
    tri_peer *peers;        /* by rank */
    tri_forming *forming;
    int n_forming, forming_room;
    int drained; /* a drain event was fed: tri_drain_why + 1 */
    int n_drain_seen;
    int asked_to_drain; /* a worker passed a signal on */
    double end_by_s;    /* monotonic; after TERM or INT, else 0 */
    int ended, left;    /* the controller's end came; leave was sent */
    int status, resumable;
    char why[256];
    int has_lost;           /* ranks were lost or struck */
    tri_thinking *thinking; /* NULL: nobody thinks */
    int64_t mute;           /* a question that nobody will answer, 0 */
    int thinks_on;          /* its thread would not end */
    tri_remover *remover;   /* of checkpoints; NULL where there can be none */
    int is_synced;          /* the journal, since the last event */
    int has_evicted;        /* some went for want of room: it was said */
    double beat_s, view_s, clock_s, loop_s, gap_s;
    double word_s, between_s; /* when a rank last had something to say, and the
                               * mean time between two such words lately */
    double look_s;            /* when all ranks are looked at again */
    int changed;              /* since the view was last shown */
    int n_benched;            /* slow ranks, as was said */
    struct { /* what hosts had to say: how many, and the first's words */
        int n;
        char host[64], text[400];
    } remarks;
} tri_driver;

/* ---- driver.c ---------------------------------------------------------- */

double tri_driver_now(const tri_driver *d); /* study time */
/* Feed, journal, carry out.  What the controller refuses is logged and
 * dropped; TRI_EJOURNAL and its like are returned. */
tri_status tri_driver_feed(tri_driver *d, tri_event *event);
/* The loop, until the controller's end. */
tri_status tri_driver_run(tri_driver *d);

/* ---- inbox.c: messages to events --------------------------------------- */

/* Take at most `most` messages; returns how many there were, or -1 with the
 * last error. */
int tri_driver_receive(tri_driver *d, int most);
/* Members answer `assign` for this run from now on. */
tri_status tri_driver_expect(tri_driver *d, const tri_cmd_assign *assign);
void tri_driver_forget_forming(tri_driver *d);
/* Once the commands of an event are carried out: the groups that need not be
 * waited for are formed. */
tri_status tri_driver_form(tri_driver *d);

/* ---- outbox.c: commands to messages ------------------------------------ */

tri_status tri_driver_carry_out(tri_driver *d, const tri_commands *commands);
/* Once. */
void tri_driver_strike(tri_driver *d, int rank);
/* The same without a word in the log: all ranks hear of it, and it is never
 * heard again. */
void tri_driver_give_up(tri_driver *d, int rank);
void tri_driver_beat(tri_driver *d);
/* The run is lost because of `rank`: its leader, unless it is that one, is told
 * to wait for it no longer. */
void tri_driver_call_off(tri_driver *d, int64_t run, int rank);
void tri_driver_leave(tri_driver *d);

/* ---- checkpoints.c ------------------------------------------------------ */

/* Before the ranks hear of the study: make the names of its checkpoints ours,
 * and remove what earlier openings left.  TRI_EINVAL. */
tri_status tri_driver_claim_checkpoints(tri_driver *d);
/* After the hellos: whether all hosts see the folder.  TRI_EINVAL. */
tri_status tri_driver_judge_checkpoints(const tri_driver *d);
/* The journal is safe on disk up to here: asked of it once an event.
 * TRI_EFENCED, TRI_EJOURNAL. */
tri_status tri_driver_make_safe(tri_driver *d);
/* Remove one, soon.  As above. */
tri_status tri_driver_drop_checkpoint(tri_driver *d,
                                      const tri_cmd_drop_checkpoint *c);
/* At the end, while the record is open: those that nobody goes on from are to
 * be removed. */
void tri_driver_sweep_checkpoints(tri_driver *d);
/* Once the record is closed: wait for their removal, no longer than a signal
 * to end lets. */
void tri_driver_close_checkpoints(tri_driver *d);

/* ---- think.c: questions to the compute thread --------------------------- */

/* Whether the search is led by a thinker. */
int tri_driver_may_think(const tri_driver *d);
/* After the events of the opening; what keeps it from thinking is logged. */
void tri_driver_start_thinking(tri_driver *d);
tri_status tri_driver_think(tri_driver *d, const tri_cmd_think *c);
/* Feed the answer, if it is there. */
tri_status tri_driver_hear(tri_driver *d);
/* At the end; idempotent. */
void tri_driver_stop_thinking(tri_driver *d);

/* ---- warm.c: results of earlier studies ---------------------------------- */

/*
 * What an opening on machines of `machine_class` brings along: the files of
 * --warm that the study has not read yet, matched to its space by names and
 * values, and what the study itself has measured on another class.  Says of
 * each how much was of use.  [out] *out, also on failure: tri_warm_fini.
 * TRI_EINVAL: of another objective or unit of resource; errors of reading.
 */
tri_status tri_driver_read_warm(const tri_driver *d, const char *machine_class,
                                tri_warm *out);

/* ---- watch.c: what nobody reports -------------------------------------- */

/* Signals of this process, and those that workers passed on. */
tri_status tri_driver_signals(tri_driver *d);
/* Ranks that have been silent too long, or whose process has ended; asked with
 * an empty inbox only. */
tri_status tri_driver_find_lost(tri_driver *d);

/* ---- opening.c ----------------------------------------------------------- */

/* From a study to a controller that searches.  On failure nothing is left
 * open, and the workers are dismissed. */
tri_status tri_driver_open(tri_driver *d);

/* ---- greeting.c: what ranks said of themselves at the start ------------- */

/* The time in which all say hello. */
double tri_greeting_limit_s(const tri_study *study);
/* Note a hello. */
void tri_greeting_note(tri_driver *d, const tri_msg_hello *m, int from);
/* Say which ranks are left out and what is odd about devices.  TRI_EINVAL: no
 * rank can run a trial. */
tri_status tri_greeting_judge(const tri_driver *d);

/* ---- startup.c: what is said once, at the start -------------------------- */

/* The memory that a rank may use, `auto` resolved. */
uint64_t tri_startup_quota(const tri_driver *d);
/* Ranks, cores, binding, memory; MPI; study; deadline; what is odd. */
void tri_startup_say(const tri_driver *d, const char *library, const char *pml,
                     const char *hostnames);
/* Whether more ranks train on the rank's host than it has cores; rank 0 costs
 * next to nothing. */
int tri_startup_is_over(const tri_world *w, int rank);
/* Parts, into buf; 0 and "" where there is nothing to say. */
void tri_startup_ranks(const tri_world *w, const tri_peer *peers,
                       uint64_t quota_bytes, char *buf, size_t bytes);
int tri_startup_crowded(const tri_world *w, char *buf, size_t bytes);
int tri_startup_shm(const char *path, int host_ranks, int is_process, char *buf,
                    size_t bytes);

/* ---- slow.c: what is told of slow ranks ---------------------------------- */

/* After an event that may have brought something of them to light. */
void tri_driver_say_slow(tri_driver *d);

/* ---- launcher.c ---- */

/* Survival level by the launcher's settings: "resume" or "heartbeat". */
const char *tri_launcher_level(void);
/* The pml in use, "auto" where it cannot be told; into buf. */
void tri_launcher_pml(char *buf, size_t bytes);
/* The end of the job in seconds since 1970, NaN if none; *source: its name. */
double tri_launcher_deadline(const char **source);
/* The machine class: TRIREME_MACHINE_CLASS if it says something, else the
 * processor's model and the cores of this host. */
void tri_launcher_class(const tri_rank_place *place, char *buf, size_t bytes);

#endif

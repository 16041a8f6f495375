/*
 * The compute thread: a thinker that works beside rank 0's loop and touches no
 * MPI.  One question at a time; whoever asks looks for the answer now and
 * then.  A thinker that fails says so once in the log, and from then on answers
 * that it has nothing: the search goes on with draws of the controller's own.
 *
 * All functions are for the one thread that started it.
 */
#ifndef TRI_SRC_NET_THINKING_H
#define TRI_SRC_NET_THINKING_H

#include "mpi_workers/bell.h"
#include "trireme/think.h"

typedef struct tri_thinking tri_thinking;

/*
 * Start the thread; the thinker is made with the first question.  `study` is
 * borrowed until the stop, `warm` (n_warm of them, may be NULL) is taken
 * whatever happens.  [out] owned.  TRI_ENOMEM, TRI_EINTERNAL.
 */
tri_status tri_thinking_start(const tri_study *study, uint64_t seed,
                              tri_warm_records *warm, int n_warm,
                              tri_thinking **out);
/* From now on ring rank 0 when an answer is there; `bell` is borrowed until the
 * stop, and not rung after it. */
void tri_thinking_rings(tri_thinking *t, tri_bell *bell);
/* Ask; `question` is taken.  Not before the last answer was taken. */
void tri_thinking_ask(tri_thinking *t, tri_snapshot *question);
/* Whether the answer is there; [out] *out: borrowed until the next question,
 * with the seconds that it took.  NULL for `t` has no answer ever. */
int tri_thinking_take(tri_thinking *t, tri_ev_proposals *out);
/*
 * Break off what it thinks about and end the thread.  Returns 0 where it did
 * not end within `limit_s`: then it goes on and nothing of it, nor of the
 * study, may be freed.  NULL is fine.
 */
int tri_thinking_stop(tri_thinking *t, double limit_s);

#endif

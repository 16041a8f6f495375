/*
 * The control channel: packed messages between rank 0 and the others, on a
 * communicator where the others send each other nothing, or only what is no
 * concern of rank 0: rank 0 hears all, the others hear rank 0.
 *
 * Sends never block: each message is owned here until MPI is done with it.
 * What arrives malformed, from another version or of another epoch is refused,
 * logged and counted; the channel goes on.
 *
 * Knows nothing of what messages mean.  One thread.
 */
#ifndef TRI_MPI_WORKERS_CHANNEL_H
#define TRI_MPI_WORKERS_CHANNEL_H

#include "mpi_workers/bell.h"
#include "trireme/wire.h"

#include <mpi.h>

typedef struct tri_channel tri_channel;

/* Borrows `comm`, whose error handler should be MPI_ERRORS_RETURN.  [out]
 * owned.  TRI_ENOMEM. */
tri_status tri_channel_create(MPI_Comm comm, tri_channel **out);
/* Messages not yet gone are left to MPI where they cannot be completed at
 * once (their memory is not freed then). */
void tri_channel_destroy(tri_channel *ch);

/* The epoch that sent messages carry and that received ones must carry. */
void tri_channel_set_epoch(tri_channel *ch, uint32_t epoch);
/* Ring (borrowed; NULL: do not) for each message that is sent. */
void tri_channel_set_bell(tri_channel *ch, tri_bell *bell);

/* Start sending `m` (copied; its epoch is filled in) to rank `to`.
 * TRI_ENOMEM, TRI_ERANGE, TRI_ECOMM. */
tri_status tri_channel_send(tri_channel *ch, int to, const tri_message *m);
/* Forget what has gone; returns how many messages have not. */
int tri_channel_reap(tri_channel *ch);
/* Reap for at most `limit_s` seconds; returns as reap does. */
int tri_channel_flush(tri_channel *ch, double limit_s);

/*
 * The next message that arrived, if any: 1 and *out, *from; 0 where there is
 * none.  *out is borrowed until the next call.
 */
int tri_channel_receive(tri_channel *ch, tri_message *out, int *from);
/* Put the message just received aside: tri_channel_receive gives it again
 * after tri_channel_replay. */
tri_status tri_channel_keep(tri_channel *ch);
void tri_channel_replay(tri_channel *ch);

/* How many messages were refused. */
int64_t tri_channel_refused(const tri_channel *ch);

#endif

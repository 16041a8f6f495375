/*
 * Following a study that is being written: what is known of it is kept, and a
 * look reads only what was journalled since.  Never locks, never writes.
 *
 * A look reads the last segment on from where the one before ended; a torn
 * tail is left for the next.  Where that is not all that happened (another
 * opening has begun, the segments were folded in, a segment is shorter than it
 * was) everything is read anew.  A look that fails leaves what was known: the
 * next one may succeed, as while files are being renamed.
 *
 * One thread.
 */
#ifndef TRI_STORE_FOLLOW_H
#define TRI_STORE_FOLLOW_H

#include "trireme/store.h"

typedef struct tri_follow tri_follow;

typedef struct tri_follower {
    void *ctx;
    /* Everything is read anew: forget. */
    void (*restart)(void *ctx);
    tri_replay_fn each; /* after every event, as in tri_history_replay_each */
} tri_follower;

/* Nothing is read yet.  [out] owned.  TRI_EINVAL: no name of a file. */
tri_status tri_follow_create(const char *path, const tri_follower *follower,
                             tri_follow **out);
void tri_follow_destroy(tri_follow *f);

/* Read what is new.  Errors of tri_history_read and of replaying;
 * TRI_ENOTFOUND also while there is no event yet. */
tri_status tri_follow_look(tri_follow *f);

typedef struct tri_followed {
    int64_t events;
    int epoch, is_live; /* as tri_history_epoch, tri_history_is_live */
    double age_s;       /* since something was written last */
    int64_t looks_anew; /* how often everything was read */
    char damage[320];   /* as tri_history_damage; "" */
} tri_followed;
void tri_follow_state(const tri_follow *f, tri_followed *out);
/* The controller fed so far, NULL before the first look that succeeded;
 * borrowed until the next look. */
const tri_ctl *tri_follow_ctl(const tri_follow *f);

#endif

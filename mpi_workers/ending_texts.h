/*
 * What programs write when they fail, as data: texts that tell a class of
 * failure, from the public sources and issue threads of those who write them.
 * Pure.
 */
#ifndef TRI_MPI_WORKERS_ENDING_TEXTS_H
#define TRI_MPI_WORKERS_ENDING_TEXTS_H

#include "trireme/event.h"

typedef struct tri_ending_text {
    const char *text;   /* somewhere in a line, in any case of its letters */
    tri_reason reason;  /* NONE: the line tells nothing, though it looks so */
    const char *unless; /* not where the line has this too; NULL */
} tri_ending_text;

/* Of memory: one of these decides wherever it stands, the first of the table
 * before the next, since much else fails in its wake.  Ends with text NULL. */
extern const tri_ending_text tri_ending_memory[];
/* What launchers say once a process of theirs has failed, which is not why: not
 * shown where another line is. */
extern const tri_ending_text tri_ending_aftermath[];
/* A process of the command's own was killed by signal 9. */
extern const tri_ending_text tri_ending_killed[];
/* A port was taken. */
extern const tri_ending_text tri_ending_port[];
/* Of other things: the last line of standard error that has one decides.  The
 * first match in a line counts. */
extern const tri_ending_text tri_ending_others[];

#endif

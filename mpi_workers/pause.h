/*
 * Monotonic time, and the pause of a loop that found nothing to do: 50 us
 * doubling to 5 ms, so that an idle rank costs under 1 % of a core.  Each
 * length is slept four times before it doubles: a sleep then lasts an eighth
 * of the wait so far at most, and two sides that wait for each other do not
 * drive each other up to the longest.  No busy-waiting anywhere: ranks may
 * outnumber cores.
 */
#ifndef TRI_MPI_WORKERS_PAUSE_H
#define TRI_MPI_WORKERS_PAUSE_H

typedef struct tri_pause {
    double next_s;    /* length of the next sleep; 0: from the start */
    int n;            /* sleeps of this length so far */
    double longest_s; /* less than 5 ms; 0: not less */
} tri_pause;

/* Seconds by a clock that never steps. */
double tri_now(void);
/* Sleep `s` seconds (or less, where a signal arrives). */
void tri_sleep(double s);
/* Something was found: the next pause is short again. */
void tri_pause_reset(tri_pause *p);
/* Nothing was found: sleep, and longer the next time. */
void tri_pause_sleep(tri_pause *p);
/* The same for who sleeps by other means: how long to sleep now. */
double tri_pause_next(tri_pause *p);

#endif

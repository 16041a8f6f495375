/*
 * Monotonic time and back-off.  Knows nothing of what is waited for.
 */
#include "mpi_workers/pause.h"

#include <time.h>

#define SHORTEST_S 50e-6
#define LONGEST_S  5e-3
#define TIMES      4

double tri_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tri_sleep(double s)
{
    struct timespec t;

    if (s <= 0) {
        return;
    }
    t.tv_sec = (time_t)s;
    t.tv_nsec = (long)((s - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
}

void tri_pause_reset(tri_pause *p)
{
    p->next_s = 0;
    p->n = 0;
}

double tri_pause_next(tri_pause *p)
{
    double s;
    double longest_s = p->longest_s > 0 && p->longest_s < LONGEST_S
                               ? p->longest_s
                               : LONGEST_S;

    if (p->next_s > longest_s) {
        p->next_s = longest_s;
    }
    if (p->next_s < SHORTEST_S) {
        p->next_s = SHORTEST_S;
    }
    s = p->next_s;
    if (++p->n == TIMES) {
        p->n = 0;
        p->next_s *= 2;
    }
    return s;
}

void tri_pause_sleep(tri_pause *p)
{
    tri_sleep(tri_pause_next(p));
}

/*
 * The progress of a tune: one line redrawn on a terminal, a log line a minute
 * elsewhere; and a warning of the first failure of each class.
 */
#ifndef TRI_APP_LIVE_H
#define TRI_APP_LIVE_H

#include "src/app/app.h"

typedef struct tri_app_live {
    int quiet;
    int fd;    /* the terminal's, to ask its width; -1: no terminal */
    int shown; /* a line stands there */
    double next_s;
    tri_app_told told; /* failures that were warned of */
    double look_s;     /* when to look for more */
} tri_app_live;

void tri_app_live_init(tri_app_live *live, int quiet);
/* As tri_net_settings.view; ctx is the tri_app_live. */
void tri_app_live_view(void *ctx, const tri_ctl *ctl);
/* Clear the line. */
void tri_app_live_fini(tri_app_live *live);

/* The line: done of total, best with interval, ranks busy, time left.  Pure.
 * Returns the length it would need. */
size_t tri_app_live_text(const tri_study *study, const tri_progress *p,
                         char *buf, size_t bytes);

#endif

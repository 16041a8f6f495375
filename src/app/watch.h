/*
 * status --watch: pages drawn from how a study stands (pages are pure and know
 * no terminal), and the loop that shows one.
 */
#ifndef TRI_APP_WATCH_H
#define TRI_APP_WATCH_H

#include "src/app/canvas.h"
#include "src/app/standing.h"

typedef enum tri_watch_page {
    TRI_WATCH_OVERVIEW,
    TRI_WATCH_RUNGS,
    TRI_WATCH_RANKS,
    TRI_WATCH_RUNNING,
    TRI_WATCH_RESULTS,
    TRI_WATCH_FAILURES,
    TRI_WATCH_PAGES
} tri_watch_page;

typedef struct tri_watch {
    tri_watch_page page;
    int scroll;         /* the first row of a list that is shown, kept in it */
    const char *notice; /* why the last look failed; NULL */
} tri_watch;

/* Draw a page with its title and its keys; `s` has a study, or no ctl while
 * there is none yet. */
void tri_watch_draw(tri_watch *w, const tri_app_standing *s, tri_canvas *c);
/* The same between the title and the keys; in watch_lists.c. */
void tri_watch_draw_list(tri_watch *w, const tri_app_standing *s,
                         tri_canvas *c);

/* ---- pieces that several pages have ---------------------------------- */

/* Rungs with a heading at `row`, at most `room` rows, from `first` on. */
void tri_watch_rungs(const tri_app_standing *s, tri_canvas *c, int row,
                     int room, int first);
/* Runs that ended last with a heading, from `first` back. */
void tri_watch_results(const tri_app_standing *s, tri_canvas *c, int row,
                       int room, int first);

typedef struct tri_watch_host {
    const char *name;
    int busy, idle, down, benched;
    int first; /* its first rank's place in the controller's list */
} tri_watch_host;
/* The hosts of the pool.  [out] malloc'd, NULL: none, or no memory. */
tri_watch_host *tri_watch_hosts(const tri_ctl *ctl, int *n);
/* What its ranks do, a sign each, or a bar and numbers where they are more
 * than `most`; returns the column after it. */
int tri_watch_host_ranks(const tri_ctl *ctl, const tri_watch_host *host,
                         tri_canvas *c, int row, int column, int most);

/* ---- the loop -------------------------------------------------------- */

/* Where a watched study comes from. */
typedef struct tri_watch_source {
    /* Look at what is new; the last error tells why it failed. */
    tri_status (*look)(void *ctx, tri_app_standing *out);
    void *ctx;
} tri_watch_source;

/* Why this build, or this terminal, cannot show pages; NULL: it can. */
const char *tri_watch_lacks(void);
/* Show pages on the terminal, looking every `interval_s`, until q or a signal.
 * In watch_screen.c, with ncurses.  TRI_EUNBUILT without, and where ncurses
 * does not know the terminal: nothing was shown then. */
tri_status tri_watch_screen(const tri_watch_source *source, double interval_s);

#endif

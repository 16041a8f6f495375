/*
 * Draws the live line.  Knows clocks and terminals, decides nothing.
 */
#include "src/app/live.h"

#include "src/app/app.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define REDRAW_S 0.1
#define LOG_S    60.0
/* Where many runs are under way, failures are looked for now and then. */
#define MANY   64
#define LOOK_S 0.3
#define CLEAR  "\r\033[K"

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Standard error of a rank is a pipe to mpirun, which passes bytes on as they
 * come; so what counts is where mpirun's own standard error leads. */
static int open_terminal(void)
{
    char path[64];
    int fd;

    if (isatty(STDERR_FILENO)) {
        return dup(STDERR_FILENO);
    }
    if (!getenv("OMPI_COMM_WORLD_SIZE")) {
        return -1;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/2", (int)getppid());
    fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && !isatty(fd)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void tri_app_live_init(tri_app_live *live, int quiet)
{
    *live = (tri_app_live){.quiet = quiet, .fd = -1};
    if (!quiet) {
        live->fd = open_terminal();
    }
    live->next_s = live->fd >= 0 ? 0 : now_s() + LOG_S;
    if (live->fd >= 0) {
        tri_app_log_clear(CLEAR);
    }
}

/* ---- the text -------------------------------------------------------- */

/* Append to buf by the rule of snprintf: `used` is what all would need. */
static size_t append(char *buf, size_t bytes, size_t used, const char *text)
{
    size_t room = used < bytes ? bytes - used : 0;

    if (room > 0) {
        snprintf(buf + used, room, "%s", text);
    }
    return used + strlen(text);
}

static void done_text(const tri_study *study, const tri_progress *p, char *buf,
                      size_t bytes)
{
    if (p->state == TRI_CTL_FINALS) {
        snprintf(buf, bytes, "finals %d/%d", p->finals_done, p->finals_total);
    } else if (study->budget.trials != TRI_UNLIMITED) {
        snprintf(buf, bytes, "%" PRId64 "/%" PRId64 " trials, %" PRId64 " runs",
                 p->trials, study->budget.trials, p->finished);
    } else if (study->budget.runs != TRI_UNLIMITED) {
        snprintf(buf, bytes, "%" PRId64 "/%" PRId64 " runs, %" PRId64 " trials",
                 p->finished, study->budget.runs, p->trials);
    } else {
        snprintf(buf, bytes, "%" PRId64 " trials, %" PRId64 " runs", p->trials,
                 p->finished);
    }
}

static void failed_text(const tri_progress *p, char *buf, size_t bytes)
{
    buf[0] = '\0';
    if (p->failed > 0) {
        snprintf(buf, bytes, ", %" PRId64 " failed", p->failed);
    }
}

static void best_text(const tri_study *study, const tri_progress *p, char *buf,
                      size_t bytes)
{
    char best[160];

    if (p->best_trial < 0) {
        snprintf(buf, bytes, ", no result yet");
        return;
    }
    tri_app_objective(study, p->best, p->best_lo, p->best_hi, best,
                      sizeof best);
    snprintf(buf, bytes, ", best %s (trial %" PRId64 ")", best, p->best_trial);
}

static double time_left(const tri_progress *p)
{
    double end = p->state == TRI_CTL_SEARCH ? p->search_end_s : NAN;

    if (!isnan(p->deadline_s) && !(end < p->deadline_s)) {
        end = p->deadline_s;
    }
    return end - p->time_s;
}

size_t tri_app_live_text(const tri_study *study, const tri_progress *p,
                         char *buf, size_t bytes)
{
    char part[256];
    char left[32];
    size_t used = append(buf, bytes, 0, study->name);

    used = append(buf, bytes, used, ": ");
    done_text(study, p, part, sizeof part);
    used = append(buf, bytes, used, part);
    failed_text(p, part, sizeof part);
    used = append(buf, bytes, used, part);
    best_text(study, p, part, sizeof part);
    used = append(buf, bytes, used, part);
    snprintf(part, sizeof part, ", %d/%d ranks busy", p->ranks_busy,
             p->ranks_total);
    used = append(buf, bytes, used, part);
    if (isfinite(time_left(p))) {
        snprintf(part, sizeof part, ", %s left",
                 tri_app_duration(fmax(time_left(p), 0), left, sizeof left));
        used = append(buf, bytes, used, part);
    }
    return used;
}

/* ---- drawing --------------------------------------------------------- */

static size_t terminal_width(int fd)
{
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) {
        return size.ws_col;
    }
    return 80;
}

static void draw(tri_app_live *live, const char *text)
{
    char line[600];
    int width = (int)terminal_width(live->fd) - 1;
    int n = snprintf(line, sizeof line, CLEAR "%.*s", width < 500 ? width : 500,
                     text);

    live->shown = write(STDERR_FILENO, line, (size_t)n) == n;
}

void tri_app_live_view(void *ctx, const tri_ctl *ctl)
{
    tri_app_live *live = ctx;
    double now = now_s();
    tri_progress p;
    char text[512];

    if (!tri_ctl_study(ctl)) {
        return;
    }
    if (now >= live->look_s) {
        tri_app_failures_warn(ctl, &live->told);
        live->look_s =
                tri_ctl_n_runs(ctl) - live->told.seen > MANY ? now + LOOK_S : 0;
    }
    if (live->quiet || now < live->next_s) {
        return;
    }
    tri_ctl_progress(ctl, &p);
    tri_app_live_text(tri_ctl_study(ctl), &p, text, sizeof text);
    if (live->fd >= 0) {
        draw(live, text);
        live->next_s = now + REDRAW_S;
    } else {
        TRI_LOG_JOB(TRI_LOG_INFO, "%s", text);
        live->next_s = now + LOG_S;
    }
}

void tri_app_live_fini(tri_app_live *live)
{
    if (live->shown && write(STDERR_FILENO, CLEAR, strlen(CLEAR)) < 0) {
        live->shown = 0;
    }
    if (live->fd >= 0) {
        tri_app_log_clear("");
        close(live->fd);
    }
    live->fd = -1;
}

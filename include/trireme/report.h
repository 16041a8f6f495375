/*
 * Tell trireme how a training goes, and ask it what to do: for a C or C++
 * program that runs as a trial of the kind `process`.  Header only, C99 or
 * C++11 and POSIX; nothing to link.  Outside trireme everything works and does
 * nothing: reports are not written, values are the defaults you give.  Values
 * that stand in the environment are taken from there all the same, as in the
 * lines that `trireme best --emit` writes.
 *
 *     double lr = trireme_real("lr", 0.1);
 *     long last = trireme_last_step(100);
 *     for (long step = trireme_first_step(); step <= last; step++) {
 *         double loss = train_one_step(lr);
 *         trireme_report(step, "loss", loss, "tokens", tokens, NULL);
 *     }
 *
 * Not for several threads at once.  trireme-study(5), THE TRAINER, says what
 * each value means.
 */
#ifndef TRIREME_REPORT_H
#define TRIREME_REPORT_H

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TRIREME_UNUSED __attribute__((unused))
#else
#define TRIREME_UNUSED
#endif

/* ---- what to do --------------------------------------------------------- */

/* Whether trireme runs this process. */
static TRIREME_UNUSED int trireme_is_active(void)
{
    return getenv("TRIREME_RUN") != NULL;
}

/* A parameter of the configuration, or a fact of the run, as text: "lr" is
 * TRIREME_LR.  `other` where it is inactive, or outside trireme. */
static TRIREME_UNUSED const char *trireme_text(const char *name,
                                               const char *other)
{
    char variable[160] = "TRIREME_";
    size_t n = 8;
    const char *text;

    for (; *name && n + 1 < sizeof variable; name++) {
        char c = *name;

        variable[n++] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    variable[n] = 0;
    text = getenv(variable);
    return text && *text ? text : other;
}

/* The same as a number; booleans are 0 and 1. */
static TRIREME_UNUSED long trireme_int(const char *name, long other)
{
    const char *text = trireme_text(name, NULL);
    char *end;
    long value;

    if (!text || strcmp(text, "false") == 0 || strcmp(text, "true") == 0) {
        return text ? text[0] == 't' : other;
    }
    value = strtol(text, &end, 10);
    return end != text ? value : other;
}

static TRIREME_UNUSED double trireme_real(const char *name, double other)
{
    const char *text = trireme_text(name, NULL);
    char *end;
    double value = text ? strtod(text, &end) : other;

    return text && end != text ? value : other;
}

/* The last step to do, warm-up included; `other` outside trireme.  LONG_MAX
 * where the study counts samples, tokens or seconds: train on until trireme
 * ends the process. */
static TRIREME_UNUSED long trireme_last_step(long other)
{
    if (strcmp(trireme_text("resource_unit", "steps"), "steps") != 0) {
        return trireme_is_active() ? LONG_MAX : other;
    }
    return trireme_int("resource", other);
}

/* ---- checkpoints -------------------------------------------------------- */

/* The folder to save this run in, which is there already and its own; NULL:
 * nothing is to be saved. */
static TRIREME_UNUSED const char *trireme_checkpoint_dir(void)
{
    return trireme_text("checkpoint_dir", NULL);
}

/* The folder to go on from, as an earlier run left it; NULL: afresh. */
static TRIREME_UNUSED const char *trireme_resume_dir(void)
{
    return trireme_text("resume_dir", NULL);
}

static volatile sig_atomic_t trireme_stop_asked TRIREME_UNUSED;

static TRIREME_UNUSED void trireme_on_stop(int number)
{
    (void)number;
    trireme_stop_asked = 1;
}

/* Whether trireme has asked for the end (SIGTERM): save, and leave.  Only where
 * there is a folder to save to; elsewhere SIGTERM ends the process as ever. The
 * first call begins to watch for it. */
static TRIREME_UNUSED int trireme_is_stopping(void)
{
    static int watching;

    if (!watching && trireme_checkpoint_dir()) {
        signal(SIGTERM, trireme_on_stop);
    }
    watching = 1;
    return trireme_stop_asked;
}

/* The first step to do: 1, or the one behind that checkpoint. */
static TRIREME_UNUSED long trireme_first_step(void)
{
    return trireme_resume_dir() ? trireme_int("resume_step", 0) + 1 : 1;
}

/* ---- reports ------------------------------------------------------------ */

/* Where trireme listens, if that descriptor is still what it was: launchers
 * close what they do not know, and the number is then anybody's.  Else
 * standard output. */
static TRIREME_UNUSED int trireme_descriptor(void)
{
    int fd = (int)trireme_int("fd", STDOUT_FILENO);
    const char *inode = trireme_text("fd_inode", NULL);
    struct stat found;

    if (fd <= STDERR_FILENO || fstat(fd, &found) != 0 ||
        !S_ISFIFO(found.st_mode) ||
        (inode &&
         strtoull(inode, NULL, 10) != (unsigned long long)found.st_ino)) {
        return STDOUT_FILENO;
    }
    return fd;
}

/* One line, which begins with an empty one on standard output, where anything
 * may stand before it.  Returns 0 where nobody was told. */
static TRIREME_UNUSED int trireme_write_line(const char *line)
{
    int fd = trireme_descriptor();
    size_t n;

    if (!trireme_is_active()) {
        return 0;
    }
    if (fd == STDOUT_FILENO) {
        fflush(stdout);
    } else {
        line++;
    }
    for (n = strlen(line); n > 0;) {
        ssize_t written = write(fd, line, n);

        if (written < 0 && errno != EINTR) {
            return 0;
        }
        line += written > 0 ? written : 0;
        n -= written > 0 ? (size_t)written : 0;
    }
    return 1;
}

/* `text` as a JSON text behind buf[*at], as much of it as fits. */
static TRIREME_UNUSED void trireme_quote(const char *text, char *buf,
                                         size_t bytes, size_t *at)
{
    if (*at + 10 < bytes) {
        buf[(*at)++] = '"';
        for (; *text && *at + 9 < bytes; text++) {
            unsigned char c = (unsigned char)*text;

            if (c == '"' || c == '\\') {
                buf[(*at)++] = '\\';
            }
            buf[(*at)++] = (char)(c < ' ' || c == 127 ? ' ' : c);
        }
        buf[(*at)++] = '"';
    }
    buf[*at] = 0;
}

/*
 * Say how a step went: its number from 1 (0: each report is a step), then
 * names and doubles, ended by NULL.  "loss" is of the step, "tokens" and
 * "samples" what all ranks together did in it; also "tokens_per_s",
 * "samples_per_s" where counts are not known, "step_s" (the step's time instead
 * of the time since the report before), "bytes" (memory in use), and metrics
 * of your own.  The values must be doubles: write (double)n.  A loss that is no
 * number ends the trial as nan.
 *
 * Every rank may call it; the lowest one that does is measured.  Returns 0
 * where nobody was told.
 */
static TRIREME_UNUSED int trireme_report(long step, ...)
{
    char line[4096] = "\n{";
    size_t n = 2;
    const char *name;
    const char *between = "";
    va_list values;

    if (step > 0) {
        n += (size_t)snprintf(line + n, sizeof line - n, "\"step\": %ld", step);
        between = ", ";
    }
    va_start(values, step);
    while ((name = va_arg(values, const char *)) != NULL &&
           n + 128 < sizeof line) {
        double value = va_arg(values, double);

        n += (size_t)snprintf(line + n, sizeof line - n, "%s", between);
        trireme_quote(name, line, n + 90 < sizeof line ? n + 90 : sizeof line,
                      &n);
        n += (size_t)snprintf(line + n, sizeof line - n,
                              isfinite(value) ? ": %.17g" : ": null", value);
        between = ", ";
    }
    va_end(values);
    snprintf(line + n, sizeof line - n, "}\n");
    return trireme_write_line(line);
}

/* A checkpoint of `step` is complete in trireme_checkpoint_dir(). */
static TRIREME_UNUSED int trireme_saved(long step)
{
    char line[64];

    snprintf(line, sizeof line, "\n{\"checkpoint\": %ld}\n", step);
    return trireme_write_line(line);
}

/* Say why this process is about to fail.  `kind`: oom-device, oom-host, nan,
 * diverged, hung, rendezvous, import-error, infeasible or bad-exit; another is
 * read over, and the class is found out from how the process ends. */
static TRIREME_UNUSED int trireme_failure(const char *kind,
                                          const char *sentence)
{
    char line[512] = "\n{\"failure\": ";
    size_t n = strlen(line);

    trireme_quote(kind, line, 128, &n);
    n += (size_t)snprintf(line + n, sizeof line - n, ", \"sentence\": ");
    trireme_quote(sentence ? sentence : "", line, sizeof line - 4, &n);
    snprintf(line + n, sizeof line - n, "}\n");
    return trireme_write_line(line);
}

#ifdef __cplusplus
}
#endif

#endif

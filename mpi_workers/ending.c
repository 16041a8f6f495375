/*
 * Classes of failure.
 */
#include "mpi_workers/ending.h"

#include "mpi_workers/ending_texts.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

/* Of a line that is shown. */
#define SHOWN_BYTES 160
/* A row of dashes between blocks of lines; not, say, "...". */
#define LEAST_ROW 20
/* A process this near its limit was ended for it by whoever watches it. */
#define NEAR_LIMIT 0.9

typedef struct line {
    const char *at;
    size_t n;
} line;

/* ---- lines -------------------------------------------------------------- */

static int is_break(char c)
{
    return c == '\n' || c == '\r';
}

/* The line before tail[0, *n), which then ends before it; 0: there is none. */
static int line_before(const char *tail, size_t *n, line *out)
{
    size_t end = *n;
    size_t from;

    while (end > 0 && (is_break(tail[end - 1]) || tail[end - 1] == ' ')) {
        end--;
    }
    from = end;
    while (from > 0 && !is_break(tail[from - 1])) {
        from--;
    }
    *out = (line){tail + from, end - from};
    *n = from;
    return end > 0;
}

static int holds(const line *l, const char *text)
{
    size_t n = strlen(text);

    for (size_t i = 0; i + n <= l->n; i++) {
        if (strncasecmp(l->at + i, text, n) == 0) {
            return 1;
        }
    }
    return 0;
}

static int fits(const line *l, const tri_ending_text *t)
{
    return holds(l, t->text) && !(t->unless && holds(l, t->unless));
}

/* What launchers put before each line: "[rank0]: ", "[1,0]<stderr>:", "3: ". */
static line without_prefix(line l)
{
    size_t i = 0;
    size_t digits;

    if (l.n > 0 && l.at[0] == '[') {
        while (i < l.n && l.at[i] != ':') {
            i++;
        }
        i = i < l.n ? i + 1 : 0;
    } else {
        digits = 0;
        while (digits < l.n && l.at[digits] >= '0' && l.at[digits] <= '9') {
            digits++;
        }
        i = digits > 0 && digits < l.n && l.at[digits] == ':' ? digits + 1 : 0;
    }
    while (i < l.n && l.at[i] == ' ') {
        i++;
    }
    return i < l.n ? (line){l.at + i, l.n - i} : l;
}

/* "package.SomeError: why", as Python and others end a traceback. */
static int is_exception(line l)
{
    size_t n = 0;

    l = without_prefix(l);
    while (n < l.n && (l.at[n] == '.' || l.at[n] == '_' ||
                       (l.at[n] >= '0' && l.at[n] <= '9') ||
                       ((l.at[n] | 32) >= 'a' && (l.at[n] | 32) <= 'z'))) {
        n++;
    }
    if (n < l.n && l.at[n] != ':') {
        return 0;
    }
    return (n > 5 && memcmp(l.at + n - 5, "Error", 5) == 0) ||
           (n > 9 && memcmp(l.at + n - 9, "Exception", 9) == 0);
}

/* The last line with the first text of the table that any has. */
static tri_reason find_first_text(const tri_ending_text *table,
                                  const char *tail, size_t n, line *out)
{
    for (; table->text; table++) {
        size_t left = n;

        while (line_before(tail, &left, out)) {
            if (fits(out, table)) {
                return table->reason;
            }
        }
    }
    return TRI_REASON_NONE;
}

/* The last line that tells anything; an exception of no known text is a bad
 * exit.  NONE: no line does. */
static tri_reason find_last_line(const char *tail, size_t n, line *out)
{
    while (line_before(tail, &n, out)) {
        const tri_ending_text *t = tri_ending_others;

        while (t->text && !fits(out, t)) {
            t++;
        }
        if (t->text && t->reason != TRI_REASON_NONE) {
            return t->reason;
        }
        if (!t->text && is_exception(*out)) {
            return TRI_REASON_BAD_EXIT;
        }
    }
    return TRI_REASON_NONE;
}

/* ---- the line that tells most ------------------------------------------- */

/* A row of dashes, or of anything that is no word, or nothing. */
static int is_row(line l)
{
    for (size_t i = 0; i < l.n; i++) {
        unsigned char c = (unsigned char)l.at[i];

        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
            c >= 128) {
            return 0;
        }
    }
    return 1;
}

static int is_aftermath(line l)
{
    const tri_ending_text *t = tri_ending_aftermath;

    while (t->text && !fits(&l, t)) {
        t++;
    }
    return t->text != NULL;
}

/* All between the row that ends tail[0, n) and the row before; *from: where
 * that begins.  0: there is no such block. */
static int block_before(const char *tail, size_t n, size_t *from, line *out)
{
    size_t at = n;
    line last;
    line l;

    if (!line_before(tail, &at, &last) || !is_row(last) || last.n < LEAST_ROW ||
        !line_before(tail, &at, &l) || is_row(l)) {
        return 0;
    }
    do {
        out->at = l.at;
        *from = at;
        if (!line_before(tail, &at, &l)) {
            return 0;
        }
    } while (!is_row(l) || l.n < LEAST_ROW);
    out->n = (size_t)(last.at - out->at);
    return 1;
}

/* Of a block of lines between rows, as mpirun prints it, all of it. */
static line whole(const char *tail, size_t n, line l)
{
    size_t from;
    line block;

    while (n > (size_t)(l.at - tail)) {
        line skipped;

        if (block_before(tail, n, &from, &block) && block.at <= l.at) {
            return block;
        }
        if (!line_before(tail, &n, &skipped)) {
            break;
        }
    }
    return l;
}

/* Whether a line belongs to the traceback of an exception below it. */
static int is_of_traceback(line l)
{
    static const char head[] = "Traceback (most recent";

    return l.n > 0 && (l.at[0] == ' ' || holds(&l, head));
}

/* The last line, or block of lines, that is not of the aftermath; else the last
 * one with a word in it. */
static int find_telling(const char *tail, size_t n, line *out)
{
    int is_trace = 0;
    int found = 0;
    size_t from;
    line l;

    while (n > 0) {
        if (block_before(tail, n, &from, &l)) {
            n = from;
        } else if (!line_before(tail, &n, &l) || is_row(l) ||
                   (is_trace && is_of_traceback(l))) {
            continue;
        }
        if (!found || !is_aftermath(l)) {
            *out = l;
            found = 1;
        }
        if (!is_aftermath(l)) {
            return 1;
        }
        is_trace = is_exception(l);
    }
    return found;
}

/* ---- sentences ---------------------------------------------------------- */

static void say(char *buf, size_t bytes, const char *fmt, ...) TRI_PRINTF(3, 4);

static void say(char *buf, size_t bytes, const char *fmt, ...)
{
    size_t n = strlen(buf);
    va_list args;

    va_start(args, fmt);
    vsnprintf(buf + n, bytes - n, fmt, args);
    va_end(args);
}

/* Add ": " and the line, without control characters, cut where a character of
 * UTF-8 ends. */
static void show(char *buf, size_t bytes, line l)
{
    size_t at = strlen(buf);
    int is_fold = 0;
    size_t n;

    l = without_prefix(l);
    n = l.n < SHOWN_BYTES ? l.n : SHOWN_BYTES;
    if (l.n == 0 || at + 3 >= bytes) {
        return;
    }
    n = n < bytes - at - 3 ? n : bytes - at - 3;
    while (n > 0 && n < l.n && ((unsigned char)l.at[n] & 0xc0) == 0x80) {
        n--;
    }
    buf[at++] = ':';
    buf[at++] = ' ';
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)l.at[i];

        if (c < 32 || c == 127) {
            c = ' ';
            is_fold = 1; /* of lines on one line, the indents go */
        }
        if (c != ' ' || !is_fold || buf[at - 1] != ' ') {
            buf[at++] = (char)c;
        }
        is_fold = is_fold && c == ' ';
    }
    while (buf[at - 1] == ' ') {
        at--;
    }
    buf[at] = 0;
}

static void show_last(char *buf, size_t bytes, const char *tail, size_t n)
{
    line l;

    if (find_telling(tail, n, &l)) {
        show(buf, bytes, l);
    }
}

/* ---- statuses ----------------------------------------------------------- */

/* The signal that ended it, or that it passes on as its status: shells add
 * 128, Python's launchers exit with the negative number.  0: none. */
static int signal_of(int wait_status)
{
    int code;

    if (WIFSIGNALED(wait_status)) {
        return WTERMSIG(wait_status);
    }
    code = WEXITSTATUS(wait_status);
    if (code > 128 && code <= 128 + 31) {
        return code - 128;
    }
    code = 256 - code;
    return code == SIGKILL || code == SIGTERM || code == SIGSEGV ||
                           code == SIGABRT || code == SIGBUS
                   ? code
                   : 0;
}

/* Launchers have statuses of their own for what they could not start. */
static void say_status(int wait_status, tri_reason reason, char *buf,
                       size_t bytes)
{
    int signo = signal_of(wait_status);

    if (WIFSIGNALED(wait_status)) {
        say(buf, bytes, "was killed by signal %d (%s)", signo,
            strsignal(signo));
    } else if (signo > 0 && reason != TRI_REASON_IMPORT_ERROR) {
        say(buf, bytes, "ended with status %d, as after signal %d (%s)",
            WEXITSTATUS(wait_status), signo, strsignal(signo));
    } else {
        say(buf, bytes, "ended with status %d", WEXITSTATUS(wait_status));
    }
}

static double gib(uint64_t bytes)
{
    return (double)bytes / (1u << 30);
}

/* Who sent signal 9, by what is known of memory. */
static tri_reason judge_kill(const tri_child_end *end, char *buf, size_t bytes)
{
    int is_near = end->memory_limit > 0 &&
                  (double)end->rss >= NEAR_LIMIT * (double)end->memory_limit;

    if (end->oom_kills > 0) {
        say(buf, bytes, ", by the kernel for want of memory");
    } else if (is_near || !end->oom_kills_known) {
        say(buf, bytes, ", likely for want of host memory");
    } else {
        say(buf, bytes, " from outside, and not for want of memory");
        return TRI_REASON_KILLED;
    }
    if (end->rss > 0 && end->memory_limit > 0) {
        say(buf, bytes, " (it had %.2f GiB of %.2f)", gib(end->rss),
            gib(end->memory_limit));
    }
    return TRI_REASON_OOM_HOST;
}

static int is_request(int signo)
{
    return signo == SIGTERM || signo == SIGINT || signo == SIGHUP;
}

/* Nothing that it wrote tells why. */
static tri_reason judge_silent(const tri_child_end *end, const char *tail,
                               size_t n, char *buf, size_t bytes)
{
    int signo = signal_of(end->wait_status);
    int code = WIFEXITED(end->wait_status) ? WEXITSTATUS(end->wait_status) : 0;
    line l;

    if (signo == SIGKILL ||
        find_first_text(tri_ending_killed, tail, n, &l) != TRI_REASON_NONE) {
        if (signo != SIGKILL) {
            show(buf, bytes, l);
        }
        return judge_kill(end, buf, bytes);
    }
    if (is_request(signo)) {
        say(buf, bytes, " from outside");
        return TRI_REASON_KILLED;
    }
    if (end->oom_kills > 0) {
        say(buf, bytes,
            ", after the kernel killed a process of its control group for "
            "want of memory");
        return TRI_REASON_OOM_HOST;
    }
    if (code == 126 || code == 127) {
        say(buf, bytes, ": a command was not %s",
            code == 127 ? "found" : "allowed to run");
        show_last(buf, bytes, tail, n);
        return TRI_REASON_IMPORT_ERROR;
    }
    show_last(buf, bytes, tail, n);
    return TRI_REASON_BAD_EXIT;
}

tri_reason tri_ending_class(const tri_child_end *end, const char *tail,
                            size_t tail_bytes, char *buf, size_t bytes)
{
    tri_reason reason;
    line l;

    buf[0] = 0;
    if (end->wait_status == 0) {
        return TRI_REASON_NONE;
    }
    reason = find_first_text(tri_ending_memory, tail, tail_bytes, &l);
    if (reason == TRI_REASON_NONE && signal_of(end->wait_status) != SIGKILL &&
        !is_request(signal_of(end->wait_status))) {
        reason = find_last_line(tail, tail_bytes, &l);
    }
    if (reason == TRI_REASON_RENDEZVOUS && end->oom_kills > 0) {
        reason = TRI_REASON_NONE; /* a peer that is gone, and why */
    }
    say_status(end->wait_status, reason, buf, bytes);
    if (reason == TRI_REASON_NONE) {
        return judge_silent(end, tail, tail_bytes, buf, bytes);
    }
    show(buf, bytes, whole(tail, tail_bytes, l));
    return reason;
}

int tri_ending_is_port_taken(const char *tail, size_t tail_bytes)
{
    line l;

    return find_first_text(tri_ending_port, tail, tail_bytes, &l) !=
           TRI_REASON_NONE;
}

tri_reason tri_ending_named(const char *name)
{
    static const tri_reason may[] = {
            TRI_REASON_OOM_DEVICE, TRI_REASON_OOM_HOST,
            TRI_REASON_NAN,        TRI_REASON_DIVERGED,
            TRI_REASON_INFEASIBLE, TRI_REASON_IMPORT_ERROR,
            TRI_REASON_RENDEZVOUS, TRI_REASON_HUNG,
            TRI_REASON_BAD_EXIT};

    for (size_t i = 0; i < sizeof may / sizeof *may; i++) {
        if (strcmp(name, tri_reason_name(may[i])) == 0) {
            return may[i];
        }
    }
    return TRI_REASON_NONE;
}

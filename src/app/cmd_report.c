/*
 * trireme report: a page about a study, live, broken or ended, for people.
 * Folds the record; never writes to it.  A page that is a plain file is
 * written under another name and renamed, so that it is there whole or not at
 * all.
 */
#include "src/app/app.h"

#include "src/report/report.h"
#include "src/store/tables.h"
#include "trireme/wire.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A study whose journal has not grown for so long is not being run. */
#define STALE_S 120.0

typedef struct report_options {
    tri_app_common common;
    const char *output;
} report_options;

static const struct argp_option options[] = {
        {"output", 'o', "REPORT.html", 0,
         "The page (FILE.html); - is standard output", 0},
        {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    report_options *o = state->input;

    if (key == 'o') {
        o->output = arg;
        return 0;
    }
    return tri_app_parse_other(key, arg, state);
}

static const struct argp argp = {
        options,
        parse,
        "FILE.h5",
        "Write a page about a study: one HTML file with all its tables and "
        "charts, that opens in a browser without a network.",
        tri_app_common_child,
        NULL,
        NULL};

/* ---- where to ------------------------------------------------------------ */

/* FILE.html for FILE.h5, in the same folder. */
static void default_output(const char *file, char *buf, size_t bytes)
{
    size_t n = strlen(file);

    if (n > 3 && strcmp(file + n - 3, ".h5") == 0) {
        n -= 3;
    }
    snprintf(buf, bytes, "%.*s.html", (int)n, file);
}

/* A page must not take the place of the study. */
static tri_status check_output(const char *file, const char *output)
{
    struct stat a;
    struct stat b;

    if (stat(output, &b) != 0) {
        return TRI_OK;
    }
    if (S_ISDIR(b.st_mode)) {
        return TRI_FAIL(TRI_EINVAL, "-o %s is a folder; it takes a file name",
                        output);
    }
    if (stat(file, &a) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
        return TRI_FAIL(TRI_EINVAL, "-o %s is the study itself", output);
    }
    return TRI_OK;
}

static tri_status cannot_write(const char *path)
{
    return TRI_FAIL(TRI_EIO, "%s cannot be written: %s", path, strerror(errno));
}

static tri_status write_to(const json_t *data, const char *path,
                           const char *name)
{
    FILE *out = fopen(path, "wbe");
    tri_status st;

    if (!out) {
        return cannot_write(name);
    }
    st = tri_report_write(data, out);
    if (fclose(out) != 0 && st == TRI_OK) {
        st = cannot_write(name);
    }
    return st;
}

/* Where `output` leads: only a plain file may have its name taken, and a new
 * one keeps the old one's mode.  Links are followed, and pipes and devices
 * are written to. */
static tri_status write_file(const json_t *data, const char *output)
{
    char target[PATH_MAX];
    char path[PATH_MAX + 32];
    struct stat old;
    int is_old = stat(output, &old) == 0;
    tri_status st;

    if ((is_old && !S_ISREG(old.st_mode)) ||
        (!is_old && lstat(output, &old) == 0)) { /* a link to nothing yet */
        return write_to(data, output, output);
    }
    if (!is_old || !realpath(output, target)) {
        snprintf(target, sizeof target, "%s", output);
    }
    snprintf(path, sizeof path, "%s.%ld.new", target, (long)getpid());
    st = write_to(data, path, output);
    if (st == TRI_OK && ((is_old && chmod(path, old.st_mode & 07777) != 0) ||
                         rename(path, target) != 0)) {
        st = cannot_write(output);
    }
    if (st != TRI_OK) {
        unlink(path);
    }
    return st;
}

/* ---- what of ------------------------------------------------------------- */

typedef struct folded {
    tri_ctl *ctl;
    tri_ledger ledger;
    tri_replay replay;
    uint64_t seed;
    int live;
    double age_s;
} folded;

/* The seed that the first opening was given. */
static tri_status find_seed(const tri_history *history, uint64_t *out)
{
    tri_arena *arena = NULL;
    tri_entry entry;
    tri_event event;
    tri_status st;

    TRI_TRY(tri_arena_create(&arena));
    tri_history_entry(history, 0, &entry);
    st = tri_event_unpack(entry.packed, entry.bytes, arena, &event);
    if (st == TRI_OK && event.kind == TRI_EV_OPEN) {
        *out = event.u.open.seed;
    }
    tri_arena_destroy(arena);
    return st;
}

static tri_status fold(const char *file, folded *f)
{
    tri_history *history = NULL;
    tri_status st;

    TRI_TRY(tri_app_history(file, &history));
    f->live = tri_history_is_live(history);
    f->age_s = tri_history_age_s(history);
    st = find_seed(history, &f->seed);
    if (st == TRI_OK) {
        st = tri_tables_replay(history, &f->ctl, &f->ledger, &f->replay);
    }
    tri_history_destroy(history);
    return st;
}

static void fold_fini(folded *f)
{
    tri_ledger_fini(&f->ledger);
    tri_ctl_destroy(f->ctl);
}

/* In the words of `status`. */
static const char *state_of(const folded *f)
{
    tri_progress p;

    tri_ctl_progress(f->ctl, &p);
    if (p.state == TRI_CTL_ENDED) {
        return p.end_status == TRI_EXIT_INTERRUPTED ? "interrupted" : "done";
    }
    if (!f->live || f->age_s > STALE_S) {
        return "broken";
    }
    return p.state == TRI_CTL_FINALS     ? "finals"
           : p.state == TRI_CTL_DRAINING ? "draining"
                                         : "search";
}

static const char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static tri_status make_data(const char *file, json_t **out)
{
    folded f = {.ctl = NULL};
    time_t now = time(NULL);
    char made[40] = "";
    tri_report_source source;
    struct tm tm;
    tri_status st;

    TRI_TRY(fold(file, &f));
    if (gmtime_r(&now, &tm)) {
        strftime(made, sizeof made, "%Y-%m-%d %H:%M UTC", &tm);
    }
    source = (tri_report_source){
            .ctl = f.ctl,
            .ledger = &f.ledger,
            .replay = &f.replay,
            .seed = f.seed,
            .file = name_of(file),
            .state = state_of(&f),
            .unit = tri_app_objective_unit(tri_ctl_study(f.ctl)),
            .made = made};
    st = tri_report_data(&source, out);
    fold_fini(&f);
    return st;
}

/* ---- the command -------------------------------------------------------- */

static void say(const report_options *o, const char *output)
{
    if (!tri_report_library()) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "this trireme was built without ECharts: the page has its "
                    "tables and no charts");
    }
    if (o->common.json) {
        json_t *j = json_object();

        json_object_set_new(j, "file", tri_app_json_text(o->common.file));
        json_object_set_new(j, "report", tri_app_json_text(output));
        json_object_set_new(j, "charts",
                            json_boolean(tri_report_library() != NULL));
        tri_app_json_print(j);
    } else {
        TRI_LOG_JOB(TRI_LOG_INFO, "the report is in %s", output);
    }
}

static tri_status report(const report_options *o)
{
    char buf[4096];
    const char *output = o->output ? o->output : buf;
    json_t *data = NULL;
    tri_status st;

    default_output(o->common.file, buf, sizeof buf);
    if (strcmp(output, "-") == 0) {
        TRI_TRY(make_data(o->common.file, &data));
        st = tri_report_write(data, stdout);
        json_decref(data);
        if (st == TRI_EIO) { /* the program says so of all commands */
            tri_error_clear();
            st = TRI_OK;
        }
        return st;
    }
    TRI_TRY(check_output(o->common.file, output));
    TRI_TRY(make_data(o->common.file, &data));
    st = write_file(data, output);
    json_decref(data);
    if (st == TRI_OK) {
        say(o, output);
    }
    return st;
}

int tri_app_report(int argc, char **argv)
{
    report_options o = {.output = NULL};
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    return report(&o) == TRI_OK ? TRI_EXIT_DONE : tri_app_fail();
}

/*
 * Makes and removes a run's scratch folder and host file.
 */
#include "mpi_workers/surroundings.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/remove.h"
#include "trireme/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that are tried for a scratch folder. */
#define MOST_NAMES 1000
/* Times that another rank may take away the folders above it: what that rank's
 * run had there is gone, and they were empty for a moment. */
#define MOST_REMOVED  100
#define SCRATCH_BYTES (PATH_MAX + 16)

/* ---- removing ------------------------------------------------------------ */

tri_status tri_remove_tree(const char *path, double limit_s)
{
    int error = tri_remove_path(path, limit_s);

    if (error == ETIME) {
        return TRI_FAIL(TRI_ETIMEOUT, "%s is not wholly removed within %.0f s",
                        path, limit_s);
    }
    if (error != 0) {
        return TRI_FAIL(TRI_EIO, "%s is not wholly removed: %s", path,
                        error == EXDEV ? "another file system is mounted in it"
                                       : strerror(error));
    }
    return TRI_OK;
}

/* ---- scratch ------------------------------------------------------------- */

/* For errno. */
static tri_status cannot_make(const char *path)
{
    return TRI_FAIL(errno == ENOSPC ? TRI_ENOSPACE : TRI_EIO,
                    "the scratch folder %s cannot be made: %s", path,
                    strerror(errno));
}

/* The folders above `path`; *n_above: how many were not there.  0: errno. */
static int make_parents(char *path, int *n_above)
{
    int n = 0;

    for (char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        int made;

        *slash = 0;
        made = mkdir(path, 0700) == 0;
        if (!made && errno != EEXIST) {
            return 0; /* `path` ends with the one */
        }
        *slash = '/';
        n += made;
        *n_above = n > *n_above ? n : *n_above;
    }
    return 1;
}

/* How many folders above it belong to runs, by the template: those from the
 * first placeholder on that is not {study_dir}.  Other ranks may be in them, so
 * whoever leaves last removes them. */
static int count_own(const char *from)
{
    static const char fixed[] = "{study_dir}";
    int n = 0;

    if (strncmp(from, fixed, sizeof fixed - 1) == 0) {
        from += sizeof fixed - 1;
    }
    for (from = strchr(from, '{'); from && *from; from++) {
        n += *from == '/' && from[1] && from[1] != '/';
    }
    return n;
}

/* Make `path`, or one of that name with a number; `made`: the one that is new.
 * 0: errno. */
static int make_new(const char *path, char made[SCRATCH_BYTES])
{
    for (int i = 0; i < MOST_NAMES; i++) {
        snprintf(made, SCRATCH_BYTES, i > 0 ? "%s.%d" : "%s", path, i);
        if (mkdir(made, 0700) == 0) {
            return 1;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return 0;
}

/* Both; *made: owned. */
static tri_status make_folders(const char *path, int *n_above, char **made)
{
    char name[SCRATCH_BYTES];
    tri_pause pause = {0};
    int is_made = 0;

    for (int i = 0; !is_made && i < MOST_REMOVED; i++) {
        snprintf(name, sizeof name, "%s", path);
        is_made = make_parents(name, n_above) && make_new(path, name);
        if (!is_made && errno != ENOENT) {
            break;
        }
        if (!is_made) { /* not in step with whoever removes them */
            int error = errno;

            tri_pause_sleep(&pause);
            errno = error;
        }
    }
    if (!is_made) {
        return cannot_make(name);
    }
    *made = strdup(name);
    if (!*made) {
        rmdir(name);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a path");
    }
    return TRI_OK;
}

static void drop_slashes(char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/') {
        path[--n] = 0;
    }
}

static tri_status make_scratch(const tri_study *study, const tri_config *config,
                               const tri_facts *facts, tri_surroundings *s)
{
    const char *from = study->model.u.process.scratch;
    char relative[PATH_MAX];
    char path[PATH_MAX];
    char *name;
    tri_status st;

    if (!from) {
        return TRI_OK;
    }
    TRI_TRY(tri_template_expand(from, study, config, facts, &name));
    tri_study_resolve(study, name, relative, sizeof relative);
    free(name);
    if (relative[0] == '/') {
        snprintf(path, sizeof path, "%s", relative);
    } else { /* the process may work elsewhere */
        char here[PATH_MAX];
        int n;

        if (!getcwd(here, sizeof here)) {
            return cannot_make(relative);
        }
        n = snprintf(path, sizeof path, "%s/%s", here, relative);
        if (n < 0 || n >= (int)sizeof path) {
            errno = ENAMETOOLONG;
            return cannot_make(relative);
        }
    }
    drop_slashes(path);
    st = make_folders(path, &s->n_above, &s->scratch);
    if (st != TRI_OK) {
        tri_remove_parents(path, s->n_above);
        s->n_above = 0;
        return st;
    }
    if (s->n_above < count_own(from)) {
        s->n_above = count_own(from);
    }
    tri_sweeper_add(s->sweeper, s->scratch, s->n_above);
    return st;
}

static void remove_scratch(tri_surroundings *s)
{
    if (!s->scratch) {
        return;
    }
    if (tri_remove_tree(s->scratch, TRI_SCRATCH_S) != TRI_OK) {
        TRI_LOG(TRI_LOG_WARN, "%s", tri_error_last()->sentence);
    } else {
        tri_remove_parents(s->scratch, s->n_above);
    }
    tri_sweeper_forget(s->sweeper, s->scratch);
    free(s->scratch);
}

/* ---- the host file ------------------------------------------------------- */

static tri_status write_all(int fd, const char *text, const char *path)
{
    size_t left = strlen(text);

    while (left > 0) {
        ssize_t n = write(fd, text, left);

        if (n < 0 && errno != EINTR) {
            return TRI_FAIL(errno == ENOSPC ? TRI_ENOSPACE : TRI_EIO,
                            "the host file %s cannot be written: %s", path,
                            strerror(errno));
        }
        text += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    return TRI_OK;
}

static tri_status write_hosts(const tri_rendezvous *place, tri_surroundings *s)
{
    const char *dir = getenv("TMPDIR");
    char *path = NULL;
    tri_status st;
    int fd;

    if (asprintf(&path, "%s/trireme-hosts-XXXXXX",
                 dir && dir[0] == '/' ? dir : "/tmp") < 0) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a path");
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        st = TRI_FAIL(TRI_EIO, "no host file %s can be made: %s", path,
                      strerror(errno));
        free(path);
        return st;
    }
    s->host_file = path;
    tri_sweeper_add(s->sweeper, path, 0);
    st = write_all(fd, place->rank_hosts, path);
    close(fd);
    return st;
}

/* ---- both ---------------------------------------------------------------- */

tri_status tri_surroundings_make(const tri_study *study,
                                 const tri_config *config,
                                 const tri_rendezvous *place,
                                 tri_sweeper *sweeper, tri_facts *facts,
                                 tri_surroundings *out)
{
    tri_surroundings s = {.sweeper = sweeper};
    tri_status st = make_scratch(study, config, facts, &s);

    if (st == TRI_OK && study->model.u.process.leader) {
        st = write_hosts(place, &s);
    }
    if (st != TRI_OK) {
        tri_error error = *tri_error_last();

        tri_surroundings_remove(&s);
        return tri_error_set(st, error.src_file, error.src_line, "%s",
                             error.sentence);
    }
    facts->scratch = s.scratch;
    facts->host_file = s.host_file;
    *out = s;
    return TRI_OK;
}

void tri_surroundings_remove(tri_surroundings *s)
{
    remove_scratch(s);
    if (s->host_file) {
        unlink(s->host_file);
        tri_sweeper_forget(s->sweeper, s->host_file);
        free(s->host_file);
    }
    memset(s, 0, sizeof *s);
}

/*
 * Makes and removes a run's scratch folder and host file.
 */
#include "mpi_workers/surroundings.h"

#include "mpi_workers/pause.h"
#include "trireme/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A tree deeper than this is left. */
#define MOST_DEPTH 200
/* Names that are tried for a scratch folder. */
#define MOST_NAMES 1000

/* ---- removing ------------------------------------------------------------ */

typedef struct removal {
    double end_s;
    dev_t device;
    int error; /* the first one */
} removal;

static void note_error(removal *r, int error)
{
    if (r->error == 0) {
        r->error = error;
    }
}

static void remove_within(removal *r, int fd, int depth);

static void remove_entry(removal *r, int at, const char *name, int depth)
{
    struct stat info;
    int fd;

    if (unlinkat(at, name, 0) == 0 || errno == ENOENT) {
        return;
    }
    if (errno != EISDIR && errno != EPERM) {
        note_error(r, errno);
        return;
    }
    fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0) {
        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd < 0) {
        note_error(r, errno);
        return;
    }
    if (fstat(fd, &info) != 0 || info.st_dev != r->device ||
        depth > MOST_DEPTH) {
        note_error(r, depth > MOST_DEPTH ? ELOOP : EXDEV);
        close(fd);
        return;
    }
    if ((info.st_mode & 0300) != 0300) {
        fchmod(fd, 0700); /* its entries could not be removed */
    }
    remove_within(r, fd, depth);
    if (unlinkat(at, name, AT_REMOVEDIR) != 0) {
        note_error(r, errno);
    }
}

/* Remove what is in the folder `fd`, taken. */
static void remove_within(removal *r, int fd, int depth)
{
    DIR *dir = fdopendir(fd);
    struct dirent *e;

    if (!dir) {
        note_error(r, errno);
        close(fd);
        return;
    }
    while (r->error != ETIME && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        if (tri_now() > r->end_s) {
            r->error = ETIME;
        } else {
            remove_entry(r, dirfd(dir), e->d_name, depth + 1);
        }
    }
    closedir(dir);
}

tri_status tri_remove_tree(const char *path, double limit_s)
{
    removal r = {.end_s = tri_now() + limit_s};
    struct stat info;

    if (lstat(path, &info) != 0) {
        return errno == ENOENT ? TRI_OK
                               : TRI_FAIL(TRI_EIO, "%s is not removed: %s",
                                          path, strerror(errno));
    }
    r.device = info.st_dev;
    remove_entry(&r, AT_FDCWD, path, 0);
    if (r.error == ETIME) {
        return TRI_FAIL(TRI_ETIMEOUT, "%s is not wholly removed within %.0f s",
                        path, limit_s);
    }
    if (r.error != 0) {
        return TRI_FAIL(TRI_EIO, "%s is not wholly removed: %s", path,
                        r.error == EXDEV
                                ? "another file system is mounted in it"
                                : strerror(r.error));
    }
    return TRI_OK;
}

/* ---- scratch ------------------------------------------------------------- */

static tri_status cannot_make(const char *path)
{
    return TRI_FAIL(errno == ENOSPC ? TRI_ENOSPACE : TRI_EIO,
                    "the scratch folder %s cannot be made: %s", path,
                    strerror(errno));
}

/* The folders above `path`; *n_above: how many were not there. */
static tri_status make_parents(char *path, int *n_above)
{
    for (char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        int made;

        *slash = 0;
        made = mkdir(path, 0700) == 0;
        if (!made && errno != EEXIST) {
            tri_status st = cannot_make(path);

            *slash = '/';
            return st;
        }
        *slash = '/';
        *n_above += made;
    }
    return TRI_OK;
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

/* Remove the `n` folders above `path` that were made for it, where they are
 * empty. */
static void remove_parents(const char *path, int n)
{
    char above[PATH_MAX];

    snprintf(above, sizeof above, "%s", path);
    for (; n > 0; n--) {
        char *slash = strrchr(above, '/');

        if (!slash || slash == above) {
            return;
        }
        *slash = 0;
        if (rmdir(above) != 0) {
            return;
        }
    }
}

/* Make `path`, or one of that name with a number; *made: the one that is new,
 * owned. */
static tri_status make_new(const char *path, char **made)
{
    char name[PATH_MAX + 16];

    for (int i = 0; i < MOST_NAMES; i++) {
        snprintf(name, sizeof name, i > 0 ? "%s.%d" : "%s", path, i);
        if (mkdir(name, 0700) == 0) {
            *made = strdup(name);
            return *made ? TRI_OK
                         : TRI_FAIL(TRI_ENOMEM, "no memory for a path");
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return cannot_make(name);
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
    st = make_parents(path, &s->n_above);
    if (st == TRI_OK) {
        st = make_new(path, &s->scratch);
    }
    if (st != TRI_OK) {
        remove_parents(path, s->n_above);
        s->n_above = 0;
    } else if (s->n_above < count_own(from)) {
        s->n_above = count_own(from);
    }
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
        remove_parents(s->scratch, s->n_above);
    }
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
    st = write_all(fd, place->rank_hosts, path);
    close(fd);
    return st;
}

/* ---- both ---------------------------------------------------------------- */

tri_status tri_surroundings_make(const tri_study *study,
                                 const tri_config *config,
                                 const tri_rendezvous *place, tri_facts *facts,
                                 tri_surroundings *out)
{
    tri_surroundings s = {0};
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
        free(s->host_file);
    }
    memset(s, 0, sizeof *s);
}

/*
 * Files by stdio: the study and what it refers to, the record folded into a
 * controller.  Sentences name the path and the system's words.
 */
#include "src/app/app.h"

#ifdef TRI_HAVE_MPI
#include "trireme/net.h"
#endif
#include "trireme/propose.h"
#include "trireme/sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A study or a table larger than this is none. */
#define MAX_FILE_BYTES ((size_t)1 << 30)

static tri_status read_all(FILE *f, const char *path, char **data,
                           size_t *bytes)
{
    size_t room = 1 << 14;
    size_t n = 0;
    char *buf = malloc(room);

    while (buf) {
        n += fread(buf + n, 1, room - 1 - n, f);
        if (n + 1 < room || room > MAX_FILE_BYTES) {
            break;
        }
        char *more = realloc(buf, 2 * room);

        if (!more) {
            free(buf);
            buf = NULL;
            break;
        }
        buf = more;
        room *= 2;
    }
    if (!buf) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to read %s", path);
    }
    if (ferror(f) || !feof(f)) {
        int why = errno;

        free(buf);
        return TRI_FAIL(TRI_EIO, "%s cannot be read: %s", path,
                        feof(f) || why == 0 ? "it is too large"
                                            : strerror(why));
    }
    buf[n] = '\0';
    *data = buf;
    *bytes = n;
    return TRI_OK;
}

tri_status tri_app_read(void *ctx, const char *path, char **data, size_t *bytes)
{
    FILE *f;
    tri_status st;

    (void)ctx;
    errno = 0;
    f = fopen(path, "rbe");
    if (!f) {
        return TRI_FAIL(TRI_EIO, "%s cannot be read: %s", path,
                        strerror(errno));
    }
    st = read_all(f, path, data, bytes);
    fclose(f);
    return st;
}

tri_status tri_app_study_not_empty(const tri_study *study)
{
    tri_status st = tri_space_not_empty(study->space);

    if (st != TRI_OK) {
        tri_error_place(study->path, 0, 0);
    }
    return st;
}

static tri_status check_built(const tri_study *study)
{
    const tri_sched_settings settings = tri_sched_settings_of(study);
    tri_sched *sched = NULL;

#ifndef TRI_HAVE_SEARCH
    if (!tri_proposer_find(study->search.proposer)) {
        return TRI_FAIL(TRI_EUNBUILT,
                        "proposer %s needs a build with BLAS; auto, random and "
                        "quasi do not",
                        study->search.proposer);
    }
#endif
    TRI_TRY(tri_sched_create(&settings, &sched));
    tri_sched_destroy(sched);
    return TRI_OK;
}

tri_status tri_app_study_built(const tri_study *study)
{
    tri_status st = check_built(study);

    if (st != TRI_OK) {
        tri_error_place(study->path, 0, 0);
    }
    return st;
}

#ifndef TRI_HAVE_MPI
/* A plugin cannot be loaded without MPI, but it can be missing. */
static tri_status library_is_there(const tri_study *study)
{
    char path[4096];
    FILE *f;

    if (study->model.kind != TRI_MODEL_PLUGIN) {
        return TRI_OK;
    }
    tri_study_resolve(study, study->model.u.plugin.library, path, sizeof path);
    f = fopen(path, "rb");
    if (!f) {
        tri_status st = TRI_FAIL(TRI_EIO, "the plugin %s cannot be read: %s",
                                 path, strerror(errno));

        tri_error_place(study->path, 0, 0);
        return st;
    }
    fclose(f);
    return TRI_OK;
}
#endif

tri_status tri_app_study_ready(const tri_study *study)
{
#ifdef TRI_HAVE_MPI
    tri_status st = tri_net_preflight(study);

    if (st != TRI_OK) {
        tri_error_place(study->path, 0, 0);
    }
    return st;
#else
    return library_is_there(study); /* nothing is trained by this build */
#endif
}

static tri_status no_events(const char *path, const tri_history *h)
{
    const char *damage = tri_history_damage(h);
    tri_status st =
            damage ? TRI_FAIL(TRI_EJOURNAL, "%s", damage)
                   : TRI_FAIL(TRI_ENOTFOUND, "%s holds no study yet", path);

    tri_error_place(path, 0, 0);
    return st;
}

tri_status tri_app_history(const char *path, tri_history **out)
{
    tri_status st = tri_history_read(path, out);

    if (st != TRI_OK) {
        tri_error_place(path, 0, 0);
    } else if (tri_history_n(*out) == 0) {
        st = no_events(path, *out);
        tri_history_destroy(*out);
        *out = NULL;
    } else if (tri_history_damage(*out)) {
        fprintf(stderr, "trireme: warning: %s\n", tri_history_damage(*out));
    }
    return st;
}

/* A tri_replay_fn. */
static tri_status note_answer(void *ctx, const tri_event *event,
                              const tri_commands *commands,
                              const tri_entry *entry, tri_ctl *ctl)
{
    (void)commands;
    (void)entry;
    (void)ctl;
    if (ctx && event->kind == TRI_EV_PROPOSALS) {
        tri_app_searched_note(ctx, &event->u.proposals);
    }
    return TRI_OK;
}

tri_status tri_app_fold_history(const tri_history *history, tri_ctl **ctl,
                                tri_app_searched *searched)
{
    if (searched) {
        *searched = (tri_app_searched){.answers = 0};
    }
    return tri_history_replay_each(history, note_answer, searched, ctl, NULL);
}

tri_status tri_app_fold(const char *path, tri_ctl **ctl,
                        tri_app_searched *searched)
{
    tri_history *history = NULL;
    tri_status st;

    TRI_TRY(tri_app_history(path, &history));
    st = tri_app_fold_history(history, ctl, searched);
    tri_history_destroy(history);
    return st;
}

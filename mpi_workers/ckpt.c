/*
 * Writing and reading checkpoints together.
 */
#include "mpi_workers/ckpt.h"

#include "mpi_workers/agree.h"
#include "mpi_workers/ckpt_list.h"
#include "mpi_workers/ckpt_stream.h"
#include "mpi_workers/p2p.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Elements that are put together before they are written. */
#define BLOCK ((int64_t)((4 << 20) / sizeof(tri_real)))
/* Bytes from which on MPI-IO is worth its opening. */
#define LARGE ((int64_t)16 << 20)

enum {
    TAG_WAY = 221
};

/* A save under way. */
typedef struct save {
    MPI_Comm comm;
    int rank, size;
    char part[PATH_MAX]; /* what is written */
    tri_ckpt_list own, all;
    tri_ckpt_file *file;
    tri_stream *streams; /* by rank on the first, one elsewhere */
    int n_streams;
    tri_real *block;
} save;

/* Who has lost another rank agrees with nobody any more. */
static tri_status agree(MPI_Comm comm, tri_status st)
{
    return tri_status_scope(st) < TRI_SCOPE_GROUP ? tri_coll_agree(comm, st)
                                                  : st;
}

/* ---- gathered ------------------------------------------------------------ */

static int64_t count_of(const tri_ckpt_list *list, int rank)
{
    int64_t n = 0;

    for (int i = 0; i < list->n; i++) {
        n += list->at[i].rank == rank ? list->at[i].cut.n : 0;
    }
    return n;
}

static tri_status open_streams(save *s)
{
    int n = s->rank == 0 ? s->size : 1;

    s->block = s->rank == 0 ? malloc((size_t)BLOCK * sizeof *s->block) : NULL;
    s->streams = calloc((size_t)n, sizeof *s->streams);
    if (!s->streams || (s->rank == 0 && !s->block)) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a block of a checkpoint");
    }
    s->n_streams = n;
    for (int i = 0; i < n; i++) {
        TRI_TRY(tri_stream_init(&s->streams[i], s->comm, i,
                                s->rank == 0 ? (i ? count_of(&s->all, i) : 0)
                                             : count_of(&s->own, s->rank)));
    }
    return TRI_OK;
}

static void close_streams(save *s)
{
    for (int i = 0; i < s->n_streams; i++) {
        tri_stream_fini(&s->streams[i]);
    }
    free(s->streams);
    free(s->block);
}

static tri_status state_of_streams(const save *s)
{
    for (int i = 0; i < s->n_streams; i++) {
        if (s->streams[i].st != TRI_OK) {
            return s->streams[i].st;
        }
    }
    return TRI_OK;
}

/* A run of an entry, between its rank and the block. */
typedef struct passing {
    save *s;
    const tri_ckpt_entry *e;
    int64_t first; /* of the block */
} passing;

static void put_run(void *ctx, int64_t local, int64_t global, int64_t n)
{
    const passing *p = ctx;

    (void)global;
    tri_stream_put(p->s->streams, p->e->at + (local - p->e->cut.from), n);
}

static void take_run(void *ctx, int64_t local, int64_t global, int64_t n)
{
    const passing *p = ctx;
    tri_real *to = p->s->block + (global - p->first);

    if (p->e->rank == 0) {
        memcpy(to, p->e->at + (local - p->e->cut.from), (size_t)n * sizeof *to);
    } else {
        tri_stream_take(&p->s->streams[p->e->rank], to, n);
    }
}

/* All blocks of the dataset of entries [i, end) of `list`, run by run. */
static tri_status pass_dataset(save *s, const tri_ckpt_list *list, int i,
                               int end, tri_status *written)
{
    int64_t whole = tri_cut_whole(&list->at[i].cut);
    int writes = s->rank == 0;

    for (int64_t at = 0; at < whole; at += BLOCK) {
        int64_t n = whole - at < BLOCK ? whole - at : BLOCK;

        for (int k = i; k < end; k++) {
            passing p = {.s = s, .e = &list->at[k], .first = at};

            tri_cut_runs(&p.e->cut, at, n, writes ? take_run : put_run, &p);
        }
        TRI_TRY(state_of_streams(s));
        if (writes && *written == TRI_OK) {
            *written = tri_ckpt_file_write(s->file, at, n, s->block);
        }
    }
    return TRI_OK;
}

/* The first rank takes everything, be it only to let the others end. */
static tri_status pass_all(save *s, tri_status *written)
{
    const tri_ckpt_list *list = s->rank == 0 ? &s->all : &s->own;
    int end;

    for (int i = 0; i < list->n; i = end) {
        const tri_ckpt_entry *e = &list->at[i];

        end = tri_ckpt_list_next(list, i);
        if (s->rank == 0 && *written == TRI_OK) {
            *written = tri_ckpt_file_make(s->file, e->set, e->name,
                                          e->cut.n_dims, e->cut.shape);
        }
        TRI_TRY(pass_dataset(s, list, i, end, written));
    }
    return TRI_OK;
}

static tri_status write_gathered(save *s)
{
    tri_status st = open_streams(s);

    if (st == TRI_OK && s->rank == 0) {
        st = tri_ckpt_file_create(s->part, MPI_COMM_NULL, &s->file);
    }
    TRI_TRY(agree(s->comm, st));
    TRI_TRY(pass_all(s, &st));
    return st;
}

/* ---- through MPI-IO ------------------------------------------------------ */

#ifdef TRI_HAVE_PARALLEL_HDF5
static tri_status write_own(save *s, const tri_ckpt_entry *e, int end)
{
    tri_status st = TRI_OK;

    for (int k = 0; st == TRI_OK && k < end; k++) {
        if (e[k].rank == s->rank) {
            st = tri_ckpt_file_write_cut(s->file, &e[k].cut, e[k].at);
        }
    }
    return st;
}

/* Where entry `e` of this rank is here: the list of all knows no addresses of
 * others, nor of ours after its way to the first rank and back. */
static void find_own(const save *s, tri_ckpt_list *list)
{
    int k = 0;

    for (int i = 0; i < list->n; i++) {
        if (list->at[i].rank == s->rank) {
            list->at[i].at = s->own.at[k++].at;
        }
    }
}

/* Making datasets is collective: all of them are made, whatever fails. */
static tri_status write_datasets(save *s, tri_ckpt_list *list)
{
    tri_status st = TRI_OK;
    int end;

    find_own(s, list);
    for (int i = 0; i < list->n; i = end) {
        const tri_ckpt_entry *e = &list->at[i];
        tri_status made = tri_ckpt_file_make(s->file, e->set, e->name,
                                             e->cut.n_dims, e->cut.shape);

        end = tri_ckpt_list_next(list, i);
        st = st == TRI_OK ? made : st;
        st = st == TRI_OK ? write_own(s, e, end - i) : st;
    }
    return st;
}

static tri_status write_mpio(save *s)
{
    tri_ckpt_list list = {0};
    tri_status st = tri_ckpt_list_share(s->comm, &s->all, &list);
    tri_status closed;

    TRI_TRY(agree(s->comm, st));
    st = tri_ckpt_file_create(s->part, s->comm, &s->file);
    TRI_TRY_GOTO(st, agree(s->comm, st), drop);
    st = write_datasets(s, &list);
    closed = tri_ckpt_file_close(s->file);
    s->file = NULL;
    st = st == TRI_OK ? closed : st;
    st = agree(s->comm, st);
    if (st == TRI_OK && s->rank == 0) { /* the rest needs one rank */
        st = tri_ckpt_file_open(s->part, 1, &s->file);
    }
drop:
    if (s->rank > 0) {
        tri_ckpt_list_fini(&list);
    }
    return st;
}
#endif

/* ---- saving -------------------------------------------------------------- */

/* What is in the file is on the disk. */
static int sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd >= 0 ? fsync(fd) : -1;

    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

static int sync_folder(const char *path)
{
    char folder[PATH_MAX];
    char *slash;

    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (!slash) {
        return sync_path(".");
    }
    slash[slash == folder] = '\0';
    return sync_path(folder);
}

/* The first rank: head, checksums, and the file's name. */
static tri_status finish(save *s, const char *path, const tri_ckpt_head *head,
                         uint64_t *bytes)
{
    struct stat stat_of;
    tri_status st;
    int end;

    TRI_TRY(tri_ckpt_file_put_head(s->file, head));
    for (int i = 0; i < s->all.n; i = end) {
        const tri_ckpt_entry *e = &s->all.at[i];

        end = tri_ckpt_list_next(&s->all, i);
        TRI_TRY(tri_ckpt_file_put_sum(s->file, e->set, e->name,
                                      tri_ckpt_list_sum(&s->all, i, end)));
    }
    st = tri_ckpt_file_close(s->file);
    s->file = NULL;
    TRI_TRY(st);
    if (sync_path(s->part) != 0 || stat(s->part, &stat_of) != 0 ||
        rename(s->part, path) != 0 || sync_folder(path) != 0) {
        return TRI_FAIL(TRI_EIO, "'%s' cannot be written: %s", path,
                        strerror(errno));
    }
    *bytes = (uint64_t)stat_of.st_size;
    return TRI_OK;
}

static tri_status list_all(save *s, const tri_ckpt_part *parts, int n)
{
    tri_status st = tri_ckpt_list_own(s->rank, parts, n, &s->own);
    int end;

    TRI_TRY(agree(s->comm, st));
    st = tri_ckpt_list_gather(s->comm, &s->own, &s->all);
    for (int i = 0; st == TRI_OK && i < s->all.n; i = end) {
        end = tri_ckpt_list_next(&s->all, i);
        st = tri_ckpt_list_check(&s->all, i, end);
    }
    return agree(s->comm, st);
}

#ifdef TRI_HAVE_PARALLEL_HDF5
/* The first rank knows how much it is. */
static tri_status choose_way(const save *s, tri_ckpt_way *way)
{
    int64_t n = 0;
    int large;

    if (*way != TRI_CKPT_AUTO || s->size == 1) {
        return TRI_OK;
    }
    if (s->rank > 0) {
        TRI_TRY(tri_p2p_receive(s->comm, 0, TAG_WAY, &large, (int)sizeof large,
                                TRI_CKPT_PATIENCE_S));
    } else {
        for (int i = 0; i < s->all.n; i++) {
            n += s->all.at[i].cut.n;
        }
        large = n * (int64_t)sizeof(tri_real) >= LARGE;
        for (int i = 1; i < s->size; i++) {
            TRI_TRY(tri_p2p_send(s->comm, i, TAG_WAY, &large, (int)sizeof large,
                                 TRI_CKPT_PATIENCE_S));
        }
    }
    *way = large ? TRI_CKPT_MPIO : TRI_CKPT_GATHERED;
    return TRI_OK;
}
#endif

static tri_status write_all(save *s, tri_ckpt_way way)
{
#ifdef TRI_HAVE_PARALLEL_HDF5
    TRI_TRY(choose_way(s, &way));
    if (way == TRI_CKPT_MPIO) {
        return write_mpio(s);
    }
#else
    (void)way;
#endif
    return write_gathered(s);
}

/* What a failed save leaves behind is nothing; its error stays the last. */
static void give_up(save *s)
{
    tri_error error = *tri_error_last();

    (void)tri_ckpt_file_close(s->file);
    s->file = NULL;
    if (s->rank == 0) {
        unlink(s->part);
    }
    (void)tri_error_set(error.code, error.src_file, error.src_line, "%s",
                        error.sentence);
}

tri_status tri_ckpt_save(MPI_Comm comm, const char *path, tri_ckpt_way way,
                         const tri_ckpt_head *head, const tri_ckpt_part *parts,
                         int n, uint64_t *bytes)
{
    save s = {.comm = comm};
    uint64_t got = 0;
    tri_status st;

    MPI_Comm_rank(comm, &s.rank);
    MPI_Comm_size(comm, &s.size);
    snprintf(s.part, sizeof s.part, "%s.part", path);
    st = list_all(&s, parts, n);
    if (st == TRI_OK) {
        st = write_all(&s, way);
        if (st == TRI_OK && s.rank == 0) {
            st = finish(&s, path, head, &got);
        }
        st = agree(comm, st);
    }
    if (st != TRI_OK) {
        give_up(&s);
    } else {
        *bytes = got;
    }
    close_streams(&s);
    tri_ckpt_list_fini(&s.own);
    tri_ckpt_list_fini(&s.all);
    return st;
}

/* ---- loading ------------------------------------------------------------- */

static tri_status read_parts(const char *path, const tri_ckpt_part *parts,
                             int n, tri_ckpt_file **file, tri_ckpt_head *head)
{
    TRI_TRY(tri_ckpt_file_open(path, 0, file));
    TRI_TRY(tri_ckpt_file_get_head(*file, head));
    for (int i = 0; i < n; i++) {
        const tri_ckpt_part *p = &parts[i];
        tri_cut cut = tri_cut_of(p->tensor, p->from, p->n);

        if (p->n > 0) {
            TRI_TRY(tri_ckpt_file_read_cut(*file, p->set, p->tensor->name, &cut,
                                           p->at));
        }
    }
    return TRI_OK;
}

/* The first rank: what all have read, against what is said of it. */
static tri_status verify(const char *path, tri_ckpt_file *file,
                         const tri_ckpt_list *all)
{
    int end;

    for (int i = 0; i < all->n; i = end) {
        const tri_ckpt_entry *e = &all->at[i];
        uint64_t sum;
        uint64_t said;

        end = tri_ckpt_list_next(all, i);
        sum = tri_ckpt_list_sum(all, i, end);
        TRI_TRY(tri_ckpt_file_get_sum(file, e->set, e->name, &said));
        if (sum != said) {
            return TRI_FAIL(TRI_EMALFORMED,
                            "'%s' is damaged: the checksum of /%s/%s is "
                            "%016llx, expected %016llx",
                            path, e->set, e->name, (unsigned long long)sum,
                            (unsigned long long)said);
        }
    }
    return TRI_OK;
}

static tri_status load(MPI_Comm comm, const char *path,
                       const tri_ckpt_part *parts, int n, tri_ckpt_file **file,
                       tri_ckpt_head *head)
{
    tri_ckpt_list own = {0};
    tri_ckpt_list all = {0};
    tri_status st = read_parts(path, parts, n, file, head);
    int rank;

    MPI_Comm_rank(comm, &rank);
    if (st == TRI_OK) {
        st = tri_ckpt_list_own(rank, parts, n, &own);
    }
    TRI_TRY_GOTO(st, agree(comm, st), drop);
    st = tri_ckpt_list_gather(comm, &own, &all);
    if (st == TRI_OK && rank == 0) {
        st = verify(path, *file, &all);
    }
    st = agree(comm, st);
drop:
    tri_ckpt_list_fini(&own);
    tri_ckpt_list_fini(&all);
    return st;
}

tri_status tri_ckpt_load(MPI_Comm comm, const char *path,
                         const tri_ckpt_part *parts, int n, tri_ckpt_head *head)
{
    tri_ckpt_file *file = NULL;
    tri_ckpt_head got = {0};
    tri_status st = load(comm, path, parts, n, &file, &got);

    if (st != TRI_OK) {
        tri_error error = *tri_error_last();

        (void)tri_ckpt_file_close(file);
        return tri_error_set(st, error.src_file, error.src_line, "%s",
                             error.sentence);
    }
    *head = got;
    return tri_ckpt_file_close(file);
}

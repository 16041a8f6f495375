/*
 * Writing a journal segment.  Records are written whole at a known place; a
 * write that fails half-way is cut off again, and is torn for any reader even
 * where cutting fails too.
 */
#include "src/store/segment.h"

#include "src/store/bytes.h"
#include "src/store/sys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tri_status open_segment(tri_journal *j)
{
    j->fd = tri_sys_now->create(j->path, 1);
    if (j->fd < 0 && errno == EEXIST) {
        return TRI_FAIL(TRI_EFENCED, "another opening has just begun: %s",
                        j->path);
    }
    if (j->fd < 0) { /* a name that is wrong, or a fault of the system */
        int wrong = errno == ENOENT || errno == ENOTDIR ||
                    errno == ENAMETOOLONG || errno == ELOOP;

        return tri_sys_fail(wrong ? TRI_EIO : TRI_EJOURNAL, "create", j->path);
    }
    tri_files_hold(j->fd);
    return TRI_OK;
}

/* What is carried over is on the disk before the first record makes it
 * count. */
static tri_status write_start(tri_journal *j, const tri_buffer *carried)
{
    uint64_t first = j->buffer.bytes;

    if (carried && carried->bytes > 0) {
        TRI_TRY(tri_sys_write_all(j->fd, carried->data, carried->bytes, first,
                                  j->path));
        TRI_TRY(tri_sys_sync(j->fd, j->path));
        j->bytes = carried->bytes;
    }
    TRI_TRY(tri_sys_write_all(j->fd, j->buffer.data, j->buffer.bytes, 0,
                              j->path));
    j->bytes += first;
    TRI_TRY(tri_sys_sync(j->fd, j->path));
    TRI_TRY(tri_sys_sync_dir(j->files.dir));
    return tri_files_fence(&j->files, j->epoch, j->fd);
}

/* Half a segment is of no use to anybody.  What the system refuses in a file
 * that it has made is a fault. */
static tri_status take_back(const tri_journal *j)
{
    tri_error error = *tri_error_last();

    tri_files_remove(&j->files, j->epoch, j->fd, j->path);
    return TRI_FAIL(error.code == TRI_EIO ? TRI_EJOURNAL : error.code, "%s",
                    error.sentence);
}

tri_status tri_journal_create(const tri_files *files, int epoch,
                              const tri_seal *seals, int n_seals,
                              const tri_buffer *carried, int64_t next_seq,
                              tri_journal **out)
{
    tri_journal *j = calloc(1, sizeof *j);
    tri_status st;

    if (!j) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a journal");
    }
    TRI_TRY_GOTO(st, tri_files_init(&j->files, files->path), free_journal);
    tri_files_name(files, TRI_FILE_JOURNAL, epoch, j->path);
    j->epoch = epoch;
    j->exit_fd = -1;
    j->seq = next_seq;
    tri_buffer_init(&j->buffer);
    TRI_TRY_GOTO(st, tri_segment_pack_first(epoch, seals, n_seals, &j->buffer),
                 free_journal);
    TRI_TRY_GOTO(st, open_segment(j), free_journal);
    TRI_TRY_GOTO(st, write_start(j, carried), close_segment);
    *out = j;
    return TRI_OK;
close_segment:
    st = take_back(j);
    close(j->fd);
free_journal:
    tri_buffer_fini(&j->buffer);
    free(j);
    return st;
}

void tri_journal_destroy(tri_journal *j)
{
    if (j) {
        if (j->exit_fd >= 0) {
            close(j->exit_fd);
        }
        close(j->fd);
        tri_buffer_fini(&j->buffer);
        free(j);
    }
}

/* Cut off what a failed write left behind. */
static tri_status give_up(tri_journal *j, tri_status st)
{
    tri_error error = *tri_error_last();

    j->broken = 1;
    if (tri_sys_now->ftruncate(j->fd, (off_t)j->bytes) == 0) {
        tri_sys_now->fsync(j->fd);
    }
    st = st == TRI_ENOSPACE ? st : TRI_EJOURNAL;
    return TRI_FAIL(st, "%s", error.sentence);
}

tri_status tri_journal_append(tri_journal *j, const void *packed, size_t bytes,
                              uint64_t digest)
{
    tri_item item = {j->seq, packed, bytes, digest};
    tri_status st;

    if (j->broken) {
        return TRI_FAIL(TRI_EJOURNAL, "the journal has failed before: %s",
                        j->path);
    }
    tri_buffer_clear(&j->buffer);
    TRI_TRY(tri_item_pack(&item, &j->buffer));
    st = tri_sys_write_all(j->fd, j->buffer.data, j->buffer.bytes, j->bytes,
                           j->path);
    if (st != TRI_OK) {
        return give_up(j, st);
    }
    j->bytes += j->buffer.bytes;
    j->seq += 1;
    j->dirty = 1;
    return TRI_OK;
}

tri_status tri_journal_sync(tri_journal *j)
{
    tri_status st;

    if (!j->dirty) {
        return TRI_OK;
    }
    st = tri_sys_sync(j->fd, j->path);
    if (st != TRI_OK) {
        tri_error error = *tri_error_last();

        /* what the kernel dropped stays dropped: trust nothing after it */
        j->broken = 1;
        st = st == TRI_ENOSPACE ? st : TRI_EJOURNAL;
        return TRI_FAIL(st, "%s", error.sentence);
    }
    j->dirty = 0;
    return TRI_OK;
}

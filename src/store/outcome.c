/*
 * Writing FILE.h5.exit; see the header.
 */
#include "src/store/outcome.h"

#include "src/store/sys.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REASON_BYTES 1024
#define TEXT_BYTES   (REASON_BYTES + 256)

/* `s` as the inside of a JSON string; cut where it does not fit. */
static void escape(const char *s, char *out, size_t bytes)
{
    size_t used = 0;

    for (; *s && used + 8 < bytes; ++s) {
        if (*s == '"' || *s == '\\') {
            out[used++] = '\\';
            out[used++] = *s;
        } else if ((unsigned char)*s < ' ') {
            used += (size_t)snprintf(out + used, 8, "\\u%04x",
                                     (unsigned)(unsigned char)*s);
        } else {
            out[used++] = *s;
        }
    }
    out[used] = '\0';
}

/* Blanks, which no reader minds where cutting them off should fail. */
static tri_status write_blanks(int fd, const char *path)
{
    char blanks[TEXT_BYTES];

    memset(blanks, ' ', sizeof blanks);
    TRI_TRY(tri_sys_write_all(fd, blanks, sizeof blanks, 0, path));
    return tri_sys_sync(fd, path);
}

tri_status tri_outcome_reserve(tri_journal *j)
{
    char path[TRI_PATH_BYTES];
    tri_status st;

    tri_files_name(&j->files, TRI_FILE_EXIT_TEMP, j->epoch, path);
    j->exit_fd = tri_sys_now->create(path, 0);
    if (j->exit_fd < 0) {
        return tri_sys_fail(TRI_EJOURNAL, "create", path);
    }
    st = write_blanks(j->exit_fd, path);
    if (st != TRI_OK) {
        tri_outcome_release(j);
    }
    return st;
}

void tri_outcome_release(tri_journal *j)
{
    tri_error error = *tri_error_last();
    char path[TRI_PATH_BYTES];

    if (j->exit_fd >= 0) {
        tri_files_name(&j->files, TRI_FILE_EXIT_TEMP, j->epoch, path);
        tri_files_remove(&j->files, j->epoch, j->fd, path);
        close(j->exit_fd);
        j->exit_fd = -1;
        TRI_FAIL(error.code, "%s", error.sentence);
    }
}

static tri_status write_text(int fd, const char *path, const char *text)
{
    size_t n = strlen(text);

    TRI_TRY(tri_sys_write_all(fd, text, n, 0, path));
    tri_sys_now->ftruncate(fd, (off_t)n);
    return tri_sys_sync(fd, path);
}

/* Into what is reserved; once that is used up, as a new file. */
static tri_status write_file(tri_journal *j, const char *path, const char *text)
{
    int fd = j->exit_fd;
    tri_status st;

    j->exit_fd = -1;
    if (fd < 0) {
        fd = tri_sys_now->create(path, 0);
    }
    if (fd < 0) {
        return tri_sys_fail(TRI_EIO, "create", path);
    }
    st = write_text(fd, path, text);
    close(fd);
    if (st != TRI_OK) {
        tri_sys_now->unlink(path); /* of this opening's own name */
    }
    return st;
}

tri_status tri_outcome_write(tri_journal *j, const tri_record_end *end)
{
    char temporary[TRI_PATH_BYTES], path[TRI_PATH_BYTES];
    char reason[REASON_BYTES], text[TEXT_BYTES];

    escape(end->reason ? end->reason : "", reason, sizeof reason);
    snprintf(text, sizeof text,
             "{\"status\": %d, \"reason\": \"%s\", \"epoch\": %d, "
             "\"resumable\": %s}\n",
             end->status, reason, j->epoch, end->resumable ? "true" : "false");
    tri_files_name(&j->files, TRI_FILE_EXIT_TEMP, j->epoch, temporary);
    tri_files_exit(&j->files, path);
    TRI_TRY(tri_files_fence(&j->files, j->epoch, j->fd));
    TRI_TRY(write_file(j, temporary, text));
    TRI_TRY(tri_files_rename(&j->files, j->epoch, j->fd, temporary, path));
    return tri_sys_sync_dir(j->files.dir);
}

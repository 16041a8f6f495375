/*
 * Writing FILE.h5.exit; see the header.
 */
#include "src/store/outcome.h"

#include "src/store/sys.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REASON_BYTES 1024

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

static tri_status write_file(const char *path, const char *text)
{
    int fd = tri_sys_now->create(path, 0);
    tri_status st;

    if (fd < 0) {
        return tri_sys_fail(TRI_EIO, "create", path);
    }
    st = tri_sys_write_all(fd, text, strlen(text), 0, path);
    if (st == TRI_OK) {
        st = tri_sys_sync(fd, path);
    }
    close(fd);
    if (st != TRI_OK) {
        tri_sys_now->unlink(path); /* of this opening's own name */
    }
    return st;
}

tri_status tri_outcome_write(const tri_journal *j, const tri_record_end *end)
{
    char temporary[TRI_PATH_BYTES], path[TRI_PATH_BYTES];
    char reason[REASON_BYTES], text[REASON_BYTES + 256];

    escape(end->reason ? end->reason : "", reason, sizeof reason);
    snprintf(text, sizeof text,
             "{\"status\": %d, \"reason\": \"%s\", \"epoch\": %d, "
             "\"resumable\": %s}\n",
             end->status, reason, j->epoch, end->resumable ? "true" : "false");
    tri_files_name(&j->files, TRI_FILE_EXIT_TEMP, j->epoch, temporary);
    tri_files_exit(&j->files, path);
    TRI_TRY(tri_files_fence(&j->files, j->epoch, j->fd));
    TRI_TRY(write_file(temporary, text));
    TRI_TRY(tri_files_rename(&j->files, j->epoch, j->fd, temporary, path));
    return tri_sys_sync_dir(j->files.dir);
}

/*
 * Writes and reads the file of the summary; see the header.
 */
#include "src/store/summary.h"

#include "src/base/little.h"
#include "src/store/bytes.h"
#include "src/store/sys.h"
#include "trireme/log.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC      "TRISUMM1"
#define SUM_AT     32 /* of the header: the checksum */
#define HEAD_BYTES 40
#define PART       0.01 /* of the time that may go into it */
#define TRIES      3    /* to read one that is being written */
#define PAUSE_NS   2000000L

static double seconds(const struct timespec *t)
{
    return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

static double clock_s(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return seconds(&t);
}

/* Of all but itself. */
static uint64_t sum_of(const unsigned char *data, size_t bytes)
{
    return XXH64(data + HEAD_BYTES, bytes - HEAD_BYTES, XXH64(data, SUM_AT, 0));
}

/* ---- writing --------------------------------------------------------- */

void tri_summariser_init(tri_summariser *s, const tri_record_summary *maker)
{
    memset(s, 0, sizeof *s);
    s->maker = maker;
    s->fd = -1;
    tri_buffer_init(&s->buffer);
}

static void give_up(tri_summariser *s)
{
    s->maker = NULL;
    if (s->fd >= 0) {
        close(s->fd);
    }
    s->fd = -1;
}

void tri_summariser_fini(tri_summariser *s)
{
    give_up(s);
    tri_buffer_fini(&s->buffer);
}

static void warn(void)
{
    TRI_LOG_JOB(TRI_LOG_WARN, "status has to read the whole journal: %s",
                tri_error_last()->sentence);
}

tri_status tri_summariser_note(void *ctx, const tri_event *event,
                               const tri_ctl *ctl)
{
    tri_summariser *s = ctx;

    if (s->maker && s->maker->note(s->maker->ctx, event, ctl) != TRI_OK) {
        warn();
        give_up(s);
    }
    return TRI_OK;
}

static tri_status pack(tri_summariser *s, const tri_journal *j,
                       const tri_ctl *ctl)
{
    unsigned char head[HEAD_BYTES];
    char *text = NULL;
    tri_status st;

    TRI_TRY(s->maker->write(s->maker->ctx, ctl, &text));
    memcpy(head, MAGIC, 8);
    tri_put_le(head + 8, (uint64_t)j->seq, 8);
    tri_put_le(head + 16, j->bytes, 8);
    tri_put_le(head + 24, strlen(text), 8);
    tri_buffer_clear(&s->buffer);
    st = tri_bytes_add(&s->buffer, head, sizeof head);
    if (st == TRI_OK) {
        st = tri_bytes_add(&s->buffer, text, strlen(text));
    }
    free(text);
    TRI_TRY(st);
    tri_put_le(s->buffer.data + SUM_AT, sum_of(s->buffer.data, s->buffer.bytes),
               8);
    return TRI_OK;
}

static tri_status write_over(tri_summariser *s, const tri_journal *j,
                             const tri_ctl *ctl)
{
    char path[TRI_PATH_BYTES];

    TRI_TRY(pack(s, j, ctl));
    tri_files_name(&j->files, TRI_FILE_SUMMARY, j->epoch, path);
    if (s->fd < 0) {
        s->fd = tri_sys_now->create(path, 0);
        if (s->fd < 0) {
            return tri_sys_fail(TRI_EIO, "create", path);
        }
    }
    return tri_sys_write_all(s->fd, s->buffer.data, s->buffer.bytes, 0, path);
}

void tri_summariser_write(tri_summariser *s, const tri_journal *j,
                          const tri_ctl *ctl, const struct timespec *synced)
{
    double began;

    if (!s->maker || j->broken || seconds(synced) <= seconds(&s->written) ||
        j->bytes < (s->maker->from_bytes ? s->maker->from_bytes
                                         : TRI_SUMMARY_FROM_BYTES)) {
        return;
    }
    s->written = *synced;
    began = clock_s(CLOCK_MONOTONIC);
    if (began < s->next_s) {
        return;
    }
    if (write_over(s, j, ctl) != TRI_OK) {
        warn();
        give_up(s);
        return;
    }
    s->next_s = began + (clock_s(CLOCK_MONOTONIC) - began) / PART;
}

/* ---- reading --------------------------------------------------------- */

static int is_whole(const unsigned char *data, size_t bytes)
{
    size_t text;

    if (bytes < HEAD_BYTES || memcmp(data, MAGIC, 8) != 0) {
        return 0;
    }
    text = (size_t)tri_get_le(data + 24, 8);
    return text <= bytes - HEAD_BYTES &&
           tri_get_le(data + SUM_AT, 8) == sum_of(data, HEAD_BYTES + text);
}

/* Of a whole one, and the segment that it is of. */
static tri_status unpack(const unsigned char *data, const struct stat *segment,
                         tri_summary *out)
{
    size_t bytes = (size_t)tri_get_le(data + 24, 8);
    uint64_t journal = tri_get_le(data + 16, 8);

    if (journal > (uint64_t)segment->st_size) {
        return TRI_FAIL(TRI_ENOTFOUND, "a summary of more than is journalled");
    }
    out->text = malloc(bytes + 1);
    if (!out->text) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a summary");
    }
    memcpy(out->text, data + HEAD_BYTES, bytes);
    out->text[bytes] = '\0';
    out->events = (int64_t)tri_get_le(data + 8, 8);
    out->behind_bytes = (uint64_t)segment->st_size - journal;
    out->age_s = clock_s(CLOCK_REALTIME) - seconds(&segment->st_mtim);
    out->age_s = out->age_s > 0 ? out->age_s : 0;
    return TRI_OK;
}

static tri_status read_of(const tri_files *files, int epoch, tri_summary *out)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    char path[TRI_PATH_BYTES];
    struct stat segment;
    unsigned char *data;
    size_t bytes;
    tri_status st = TRI_ENOTFOUND;
    int whole = 0;

    for (int i = 0; i < TRIES && !whole; ++i) {
        tri_files_name(files, TRI_FILE_SUMMARY, epoch, path);
        TRI_TRY(tri_sys_read(path, &data, &bytes));
        tri_files_name(files, TRI_FILE_JOURNAL, epoch, path);
        whole = is_whole(data, bytes) && stat(path, &segment) == 0;
        if (whole) {
            st = unpack(data, &segment, out);
        } else {
            nanosleep(&pause, NULL);
        }
        free(data);
    }
    return whole ? st
                 : TRI_FAIL(TRI_ENOTFOUND, "no whole summary of %s",
                            files->path);
}

tri_status tri_summary_read(const char *path, tri_summary *out)
{
    int *epochs = NULL;
    tri_files files;
    int n = 0;
    int last;

    TRI_TRY(tri_files_init(&files, path));
    TRI_TRY(tri_files_list(&files, TRI_FILE_JOURNAL, &epochs, &n));
    last = n > 0 ? epochs[n - 1] : 0;
    free(epochs);
    return last > 0 ? read_of(&files, last, out)
                    : TRI_FAIL(TRI_ENOTFOUND, "no journal of %s", path);
}

/*
 * Segments: what is appended is read back; torn tails, zombies, missing and
 * changed segments; what counts as none; fencing.
 */
#include "tests/tri_cmocka.h"

#include "src/store/history.h"
#include "src/store/sys.h"
#include "tests/store/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N 20

typedef struct fixture {
    char dir[256];
    tri_files files;
    tri_buffer event;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    char path[512];

    assert_non_null(f);
    scratch_make(f->dir);
    snprintf(path, sizeof path, "%s/study.h5", f->dir);
    assert_int_equal(tri_files_init(&f->files, path), TRI_OK);
    tri_buffer_init(&f->event);
    tri_sys_now = &tri_sys_real;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    tri_sys_now = &tri_sys_real;
    scratch_remove(f->dir);
    tri_buffer_fini(&f->event);
    free(f);
    return 0;
}

static tri_journal *create(fixture *f, int epoch, const tri_history *before)
{
    tri_journal *j = NULL;

    assert_int_equal(tri_journal_create(&f->files, epoch,
                                        before ? before->seals : NULL,
                                        before ? before->n_seals : 0, NULL,
                                        before ? before->n : 0, &j),
                     TRI_OK);
    return j;
}

/* An open event and `n` reports. */
static void append(fixture *f, tri_journal *j, int n)
{
    int i;

    packed_open(&f->event, j->epoch, 0);
    assert_int_equal(tri_journal_append(j, f->event.data, f->event.bytes, 77),
                     TRI_OK);
    for (i = 0; i < n; ++i) {
        packed_report(&f->event, i);
        assert_int_equal(tri_journal_append(j, f->event.data, f->event.bytes,
                                            (uint64_t)i),
                         TRI_OK);
    }
}

static tri_history *load(fixture *f)
{
    tri_history *h = NULL;

    assert_int_equal(tri_history_load(&f->files, &h), TRI_OK);
    return h;
}

static void own_path(fixture *f, int epoch, char path[TRI_PATH_BYTES])
{
    tri_files_name(&f->files, TRI_FILE_JOURNAL, epoch, path);
}

static void events_come_back(void **state)
{
    fixture *f = *state;
    tri_journal *j = create(f, 1, NULL);
    tri_entry entry;
    tri_history *h;
    int i;

    append(f, j, N);
    h = load(f);
    assert_int_equal(tri_history_n(h), N + 1);
    assert_int_equal(tri_history_epoch(h), 1);
    assert_true(tri_history_is_live(h));
    assert_true(tri_history_age_s(h) < 3600);
    for (i = 0; i < N; ++i) {
        tri_history_entry(h, i + 1, &entry);
        packed_report(&f->event, i);
        assert_int_equal(entry.seq, i + 1);
        assert_int_equal(entry.digest, i);
        assert_int_equal(entry.epoch, 1);
        assert_int_equal(entry.bytes, f->event.bytes);
        assert_memory_equal(entry.packed, f->event.data, entry.bytes);
    }
    tri_history_destroy(h);
    tri_journal_destroy(j);
}

static void epochs_follow_each_other(void **state)
{
    fixture *f = *state;
    tri_entry entry;
    tri_history *h;
    tri_journal *j;
    int epoch;

    j = create(f, 1, NULL);
    append(f, j, N);
    tri_journal_destroy(j);
    for (epoch = 2; epoch < 5; ++epoch) {
        h = load(f);
        assert_int_equal(h->n_seals, epoch - 1);
        j = create(f, epoch, h);
        append(f, j, N);
        tri_journal_destroy(j);
        tri_history_destroy(h);
    }
    h = load(f);
    assert_int_equal(h->n, 4 * (N + 1));
    for (epoch = 1; epoch < 5; ++epoch) {
        tri_history_entry(h, epoch * (N + 1) - 1, &entry);
        assert_int_equal(entry.epoch, epoch);
    }
    tri_history_destroy(h);
}

/* Cut the segment at every byte: all records before the cut are read. */
static void torn_tails_are_left_out(void **state)
{
    fixture *f = *state;
    tri_journal *j = create(f, 1, NULL);
    uint64_t ends[5], size;
    char path[TRI_PATH_BYTES];
    tri_history *h = NULL;
    int i;

    own_path(f, 1, path);
    append(f, j, 0);
    ends[0] = j->bytes;
    for (i = 0; i < 4; ++i) {
        packed_report(&f->event, i);
        assert_int_equal(
                tri_journal_append(j, f->event.data, f->event.bytes, 0),
                TRI_OK);
        ends[i + 1] = j->bytes;
    }
    for (size = ends[4] - 1; size >= ends[0]; --size) {
        int whole = 0;

        assert_int_equal(truncate(path, (off_t)size), 0);
        for (i = 0; i < 5; ++i) {
            whole += ends[i] <= size;
        }
        h = load(f);
        assert_int_equal(h->n, whole);
        assert_int_equal(h->seals[0].bytes, ends[whole - 1]);
        tri_history_destroy(h);
    }
    tri_journal_destroy(j);
}

static void without_a_whole_first_record_it_counts_as_none(void **state)
{
    fixture *f = *state;
    tri_journal *j = create(f, 1, NULL);
    char path[TRI_PATH_BYTES];
    uint64_t size = j->bytes;
    tri_history *h = NULL;

    own_path(f, 1, path);
    tri_journal_destroy(j);
    h = load(f);
    assert_int_equal(h->n, 0);
    tri_history_destroy(h);
    h = NULL;
    while (size-- > 0) {
        assert_int_equal(truncate(path, (off_t)size), 0);
        assert_int_equal(tri_history_load(&f->files, &h), TRI_ENOTFOUND);
    }
    /* as long as it was, but a hole: zeros are no record */
    assert_int_equal(truncate(path, 4096), 0);
    assert_int_equal(tri_history_load(&f->files, &h), TRI_ENOTFOUND);
    assert_null(h);
}

static void bytes_past_the_seal_are_never_read(void **state)
{
    fixture *f = *state;
    tri_journal *zombie = create(f, 1, NULL);
    tri_history *h;
    tri_journal *j;

    append(f, zombie, N);
    h = load(f);
    j = create(f, 2, h);
    tri_history_destroy(h);
    append(f, zombie, N); /* goes on as if nothing had happened */
    append(f, j, N);
    append(f, zombie, N);
    h = load(f);
    assert_int_equal(h->n, 2 * (N + 1));
    assert_int_equal(h->entries[N + 1].epoch, 2);
    tri_history_destroy(h);

    assert_int_equal(tri_files_fence(&f->files, 1, zombie->fd), TRI_EFENCED);
    assert_int_equal(tri_files_fence(&f->files, 2, j->fd), TRI_OK);
    assert_int_equal(tri_files_remove(&f->files, 1, zombie->fd, zombie->path),
                     TRI_EFENCED);
    assert_int_equal(scratch_count(f->dir, "journal"), 2);
    tri_journal_destroy(zombie);
    tri_journal_destroy(j);
}

static void a_removed_segment_fences_too(void **state)
{
    fixture *f = *state;
    tri_journal *j = create(f, 1, NULL);

    assert_int_equal(unlink(j->path), 0);
    assert_int_equal(tri_files_fence(&f->files, 1, j->fd), TRI_EFENCED);
    tri_journal_destroy(j);
}

static void a_segment_is_created_only_once(void **state)
{
    fixture *f = *state;
    tri_journal *j = create(f, 1, NULL);
    tri_journal *other = NULL;

    assert_int_equal(tri_journal_create(&f->files, 1, NULL, 0, NULL, 0, &other),
                     TRI_EFENCED);
    assert_null(other);
    tri_journal_destroy(j);
}

static void a_late_opener_is_fenced_by_a_later_one(void **state)
{
    fixture *f = *state;
    tri_journal *later = create(f, 2, NULL);
    tri_journal *j = NULL;

    assert_int_equal(tri_journal_create(&f->files, 1, NULL, 0, NULL, 0, &j),
                     TRI_EFENCED);
    assert_null(j);
    tri_journal_destroy(later);
}

static void flip(const char *path, off_t at)
{
    int fd = open(path, O_RDWR);
    unsigned char byte;

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void changed_and_missing_segments_are_refused(void **state)
{
    fixture *f = *state;
    tri_journal *j = create(f, 1, NULL);
    char path[TRI_PATH_BYTES];
    tri_history *h;

    append(f, j, N);
    tri_journal_destroy(j);
    h = load(f);
    j = create(f, 2, h);
    tri_history_destroy(h);
    tri_journal_destroy(j);
    h = NULL;

    own_path(f, 1, path);
    flip(path, 200);
    h = load(f);
    assert_non_null(tri_history_damage(h));
    assert_true(h->n > 0 && h->n < N);
    assert_int_equal(h->damage.last, N);
    tri_history_destroy(h);
    flip(path, 200);
    h = load(f);
    assert_null(tri_history_damage(h));
    tri_history_destroy(h);
    h = NULL;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(tri_history_load(&f->files, &h), TRI_EMALFORMED);
    assert_null(h);
}

/* A whole last record with a wrong byte is no torn tail, wherever the byte is;
 * nor is a bad first record that has events behind it. */
static void damage_is_told_from_tearing(void **state)
{
    fixture *f = *state;
    tri_journal *j = create(f, 1, NULL);
    off_t at, first = (off_t)j->bytes, last, end;
    char path[TRI_PATH_BYTES];
    tri_history *h;

    own_path(f, 1, path);
    append(f, j, 2);
    last = (off_t)j->bytes;
    packed_report(&f->event, 3);
    assert_int_equal(tri_journal_append(j, f->event.data, f->event.bytes, 9),
                     TRI_OK);
    end = (off_t)j->bytes;
    tri_journal_destroy(j);
    for (at = 0; at < end; ++at) {
        flip(path, at);
        h = load(f);
        assert_non_null(tri_history_damage(h));
        assert_int_equal(h->damage.last, 3);
        assert_true(at >= first ? h->n < 4 : h->n == 0);
        assert_true(at < last || h->n == 3);
        tri_history_destroy(h);
        flip(path, at);
    }
    h = load(f);
    assert_null(tri_history_damage(h));
    assert_int_equal(h->n, 4);
    tri_history_destroy(h);
}

/* As a writer leaves it that dies while it carries: zeros, or half of its
 * first record, before what is carried.  Nothing but the tables holds it. */
static void what_was_carried_in_vain_is_damage_without_tables(void **state)
{
    fixture *f = *state;
    tri_journal *j = create(f, 1, NULL);
    char path[TRI_PATH_BYTES];
    tri_history *h;
    char zeros[30] = {0};
    int fd;

    append(f, j, 2);
    tri_journal_destroy(j);
    own_path(f, 1, path);
    fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, zeros, sizeof zeros, 14), sizeof zeros);
    close(fd);
    h = load(f);
    assert_non_null(tri_history_damage(h));
    assert_int_equal(h->damage.last, 2);
    tri_history_destroy(h);
}

static void other_files_are_not_segments(void **state)
{
    static const char *const names[] = {
            "study.h5.journal.0",  "study.h5.journal.01",
            "study.h5.journal.1x", "study.h5.journal.",
            "study.h5.journal.-1", "study.h5.journal.99999999999",
            "study.h5x.journal.3", "xstudy.h5.journal.3"};
    fixture *f = *state;
    tri_history *h = NULL;
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; ++i) {
        char path[512];
        FILE *file;

        snprintf(path, sizeof path, "%s/%s", f->dir, names[i]);
        file = fopen(path, "w");
        assert_non_null(file);
        fputs("not a segment", file);
        fclose(file);
    }
    assert_int_equal(tri_history_load(&f->files, &h), TRI_ENOTFOUND);
}

static void carried_events_count_only_when_whole(void **state)
{
    fixture *f = *state;
    tri_buffer carried;
    tri_journal *j = NULL;
    tri_history *h;
    tri_item item;
    int i;

    tri_buffer_init(&carried);
    for (i = 0; i < N; ++i) {
        packed_report(&f->event, i);
        item = (tri_item){i, f->event.data, f->event.bytes, 5};
        assert_int_equal(tri_item_pack(&item, &carried), TRI_OK);
    }
    assert_int_equal(tri_journal_create(&f->files, 3, NULL, 0, &carried, N, &j),
                     TRI_OK);
    append(f, j, 1);
    h = load(f);
    assert_int_equal(h->n, N + 2);
    assert_int_equal(h->n_seals, 1);
    assert_int_equal(h->seals[0].bytes, j->bytes);
    tri_history_destroy(h);
    tri_journal_destroy(j);
    tri_buffer_fini(&carried);
}

/* ---- a full disk ------------------------------------------------------ */

static int room; /* bytes that may still be written */

static ssize_t write_into_room(int fd, const void *data, size_t bytes, off_t at)
{
    if (room <= 0) {
        errno = ENOSPC;
        return -1;
    }
    bytes = bytes < (size_t)room ? bytes : (size_t)room;
    room -= (int)bytes;
    return pwrite(fd, data, bytes, at);
}

static void a_full_disk_leaves_whole_records(void **state)
{
    fixture *f = *state;
    tri_sys sys = tri_sys_real;
    tri_journal *j = create(f, 1, NULL);
    struct stat info;
    tri_history *h;
    tri_status st;

    sys.pwrite = write_into_room;
    append(f, j, 3);
    tri_sys_now = &sys;
    room = 30; /* less than a record */
    packed_report(&f->event, 3);
    st = tri_journal_append(j, f->event.data, f->event.bytes, 3);
    assert_int_equal(st, TRI_ENOSPACE);
    assert_int_equal(fstat(j->fd, &info), 0);
    assert_int_equal(info.st_size, j->bytes);
    room = 1 << 20; /* an event is missing: nothing may follow */
    st = tri_journal_append(j, f->event.data, f->event.bytes, 3);
    assert_int_equal(st, TRI_EJOURNAL);
    h = load(f);
    assert_int_equal(h->n, 4);
    tri_history_destroy(h);
    tri_journal_destroy(j);
}

static ssize_t write_in_bits(int fd, const void *data, size_t bytes, off_t at)
{
    static int calls;

    if (++calls % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    return pwrite(fd, data, bytes < 7 ? bytes : 7, at);
}

static void short_writes_are_continued(void **state)
{
    fixture *f = *state;
    tri_sys sys = tri_sys_real;
    tri_journal *j;
    tri_history *h;

    sys.pwrite = write_in_bits;
    tri_sys_now = &sys;
    j = create(f, 1, NULL);
    append(f, j, N);
    h = load(f);
    assert_int_equal(h->n, N + 1);
    tri_history_destroy(h);
    tri_journal_destroy(j);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
            TEST(events_come_back),
            TEST(epochs_follow_each_other),
            TEST(torn_tails_are_left_out),
            TEST(without_a_whole_first_record_it_counts_as_none),
            TEST(bytes_past_the_seal_are_never_read),
            TEST(a_removed_segment_fences_too),
            TEST(a_segment_is_created_only_once),
            TEST(a_late_opener_is_fenced_by_a_later_one),
            TEST(changed_and_missing_segments_are_refused),
            TEST(damage_is_told_from_tearing),
            TEST(what_was_carried_in_vain_is_damage_without_tables),
            TEST(other_files_are_not_segments),
            TEST(carried_events_count_only_when_whole),
            TEST(a_full_disk_leaves_whole_records),
            TEST(short_writes_are_continued),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

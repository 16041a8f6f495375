/*
 * Records of a journal segment, and reading one.  Knows nothing of what an
 * event says; the bytes are a stranger's and every length is checked.
 */
#include "src/store/segment.h"

#include "src/base/little.h"
#include "src/store/bytes.h"
#include "src/store/sys.h"

#define XXH_INLINE_ALL
#include <isa-l/crc.h>
#include <xxhash.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 16
#define SEAL_BYTES 20
#define MAGIC      "TRIJRNL"
#define CRC_START  0xffffffffu

/* The CRC covers the length and what follows the CRC; a run of zeros has a
 * CRC that is not zero, so a hole is no record. */
static uint32_t record_crc(const unsigned char *record, size_t bytes)
{
    unsigned char head[HEAD_BYTES];
    unsigned crc;

    memcpy(head, record, sizeof head); /* crc_iscsi takes no const */
    crc = crc32_iscsi(head, 4, CRC_START);
    return crc32_iscsi((unsigned char *)(uintptr_t)(record + 8),
                       (int)(bytes - 8), crc);
}

tri_status tri_item_pack(const tri_item *item, tri_buffer *out)
{
    size_t bytes = item->bytes + TRI_RECORD_OVERHEAD;
    unsigned char *at;

    TRI_TRY(tri_bytes_grow(out, bytes));
    at = out->data + out->bytes;
    tri_put_le(at, item->bytes, 4);
    tri_put_le(at + 8, (uint64_t)item->seq, 8);
    memcpy(at + HEAD_BYTES, item->data, item->bytes);
    tri_put_le(at + HEAD_BYTES + item->bytes, item->digest, 8);
    tri_put_le(at + 4, record_crc(at, bytes), 4);
    out->bytes += bytes;
    return TRI_OK;
}

size_t tri_item_unpack(const unsigned char *data, size_t bytes, tri_item *out)
{
    size_t length, total;

    if (bytes < TRI_RECORD_OVERHEAD) {
        return 0;
    }
    length = (size_t)tri_get_le(data, 4);
    if (length > TRI_WIRE_MAX_BYTES || length > bytes - TRI_RECORD_OVERHEAD) {
        return 0;
    }
    total = length + TRI_RECORD_OVERHEAD;
    if (tri_get_le(data + 4, 4) != record_crc(data, total)) {
        return 0;
    }
    out->seq = (int64_t)tri_get_le(data + 8, 8);
    out->data = data + HEAD_BYTES;
    out->bytes = length;
    out->digest = tri_get_le(data + HEAD_BYTES + length, 8);
    return total;
}

/* ---- damage ---------------------------------------------------------- */

/* As much work as the search for whole records may make, in bytes. */
#define SEARCH_BYTES(bytes) (4 * (uint64_t)(bytes) + ((uint64_t)64 << 20))

/* Whole records of seq `next` and above anywhere behind `at`.  Seqs count up,
 * so few places look like one; where a stranger made them look so, we give up
 * and call it found. */
static int records_follow(const unsigned char *data, size_t bytes, size_t at,
                          int64_t next, int64_t *last)
{
    uint64_t most = (uint64_t)((bytes - at) / TRI_RECORD_OVERHEAD);
    uint64_t work = 0;
    int found = 0;
    tri_item item;

    while (at + TRI_RECORD_OVERHEAD <= bytes) {
        uint64_t ahead = tri_get_le(data + at + 8, 8) - (uint64_t)next;
        uint64_t length = tri_get_le(data + at, 4);
        size_t n = 0;

        if (ahead <= most && length <= bytes - at) {
            work += length;
            n = tri_item_unpack(data + at, bytes - at, &item);
        }
        if (n > 0) {
            found = 1;
            *last = item.seq > *last ? item.seq : *last;
        }
        if (work > SEARCH_BYTES(bytes)) {
            return 1;
        }
        at += n > 0 ? n : 1;
    }
    return found;
}

/* A last record that is all there and yet not whole: its length says where the
 * segment ends, or would have to for its CRC to be right.  What power loss
 * leaves of one ends in zeros. */
static int is_last_damaged(const unsigned char *data, size_t bytes)
{
    unsigned char *copy;
    tri_item item;
    int damaged;

    if (bytes < TRI_RECORD_OVERHEAD ||
        bytes - TRI_RECORD_OVERHEAD > TRI_WIRE_MAX_BYTES) {
        return 0;
    }
    if (tri_get_le(data, 4) == bytes - TRI_RECORD_OVERHEAD) {
        return tri_get_le(data + bytes - 8, 8) != 0;
    }
    copy = malloc(bytes);
    if (!copy) {
        return 0;
    }
    memcpy(copy, data, bytes);
    tri_put_le(copy, bytes - TRI_RECORD_OVERHEAD, 4);
    damaged = tri_item_unpack(copy, bytes, &item) > 0;
    free(copy);
    return damaged;
}

int tri_segment_is_damaged(const unsigned char *data, size_t bytes, size_t at,
                           int64_t next, int64_t *last)
{
    *last = next;
    return at < bytes && (records_follow(data, bytes, at, next, last) ||
                          is_last_damaged(data + at, bytes - at));
}

/* ---- the first record ----------------------------------------------- */

tri_status tri_segment_pack_first(int epoch, const tri_seal *seals, int n,
                                  tri_buffer *out)
{
    tri_buffer body;
    tri_item item = {-1, NULL, 0, 0};
    tri_status st;
    int i;

    tri_buffer_init(&body);
    TRI_TRY(tri_bytes_grow(&body, 20 + (size_t)n * SEAL_BYTES));
    memcpy(body.data, MAGIC, 8);
    tri_put_le(body.data + 8, TRI_JOURNAL_VERSION, 4);
    tri_put_le(body.data + 12, (uint64_t)epoch, 4);
    tri_put_le(body.data + 16, (uint64_t)n, 4);
    for (i = 0; i < n; ++i) {
        unsigned char *at = body.data + 20 + (size_t)i * SEAL_BYTES;

        tri_put_le(at, (uint64_t)seals[i].epoch, 4);
        tri_put_le(at + 4, seals[i].bytes, 8);
        tri_put_le(at + 12, seals[i].sum, 8);
    }
    item.data = body.data;
    item.bytes = 20 + (size_t)n * SEAL_BYTES;
    st = tri_item_pack(&item, out);
    tri_buffer_fini(&body);
    return st;
}

static tri_status unpack_seals(tri_segment *segment, const tri_item *item)
{
    size_t i, n = (size_t)tri_get_le(item->data + 16, 4);

    if (n != (item->bytes - 20) / SEAL_BYTES ||
        (item->bytes - 20) % SEAL_BYTES != 0) {
        return TRI_FAIL(TRI_EMALFORMED, "segment %d is malformed",
                        segment->epoch);
    }
    segment->seals = calloc(n + 1, sizeof *segment->seals);
    if (!segment->seals) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %zu seals", n);
    }
    for (i = 0; i < n; ++i) {
        const unsigned char *at = item->data + 20 + i * SEAL_BYTES;
        tri_seal *seal = &segment->seals[i];

        seal->epoch = (int)(tri_get_le(at, 4) & INT_MAX);
        seal->bytes = tri_get_le(at + 4, 8);
        seal->sum = tri_get_le(at + 12, 8);
    }
    segment->n_seals = (int)n;
    return TRI_OK;
}

static tri_status unpack_first(tri_segment *segment)
{
    tri_item item;
    size_t first = tri_item_unpack(segment->data, segment->bytes, &item);

    if (first == 0) {
        return TRI_OK;
    }
    if (item.seq != -1 || item.bytes < 20 || memcmp(item.data, MAGIC, 8) != 0) {
        return TRI_FAIL(TRI_EMALFORMED, "segment %d is no journal",
                        segment->epoch);
    }
    if (tri_get_le(item.data + 8, 4) != TRI_JOURNAL_VERSION) {
        return TRI_FAIL(TRI_EVERSION, "segment %d has another version",
                        segment->epoch);
    }
    if (tri_get_le(item.data + 12, 4) != (uint64_t)segment->epoch) {
        return TRI_FAIL(TRI_EMALFORMED, "segment %d is of another epoch",
                        segment->epoch);
    }
    TRI_TRY(unpack_seals(segment, &item));
    segment->first = first;
    return TRI_OK;
}

/* A part of the first record and then zeros. */
static int is_unbegun(const tri_segment *segment, const tri_buffer *first)
{
    size_t i = 0;

    while (i < first->bytes && i < segment->bytes &&
           segment->data[i] == first->data[i]) {
        ++i;
    }
    while (i < first->bytes && i < segment->bytes && segment->data[i] == 0) {
        ++i;
    }
    return i == first->bytes || i == segment->bytes;
}

static tri_status look_behind_first(tri_segment *segment)
{
    tri_buffer first;
    tri_status st;
    int64_t last = 0;

    if (!records_follow(segment->data, segment->bytes, 0, 0, &last)) {
        return TRI_OK;
    }
    tri_buffer_init(&first);
    st = tri_segment_pack_first(segment->epoch, NULL, 0, &first);
    if (st == TRI_OK) {
        segment->is_headless = 1;
        segment->is_unbegun = is_unbegun(segment, &first);
    }
    tri_buffer_fini(&first);
    return st;
}

/* ---- reading -------------------------------------------------------- */

tri_status tri_segment_init(tri_segment *segment, int epoch,
                            unsigned char *data, size_t bytes)
{
    tri_status st;

    memset(segment, 0, sizeof *segment);
    segment->epoch = epoch;
    segment->data = data;
    segment->bytes = bytes;
    st = unpack_first(segment);
    if (st == TRI_OK && segment->first == 0) {
        st = look_behind_first(segment);
    }
    if (st != TRI_OK) {
        tri_segment_fini(segment);
    }
    return st;
}

tri_status tri_segment_load(tri_segment *segment, const tri_files *files,
                            int epoch)
{
    char path[TRI_PATH_BYTES];
    unsigned char *data;
    size_t bytes;

    tri_files_name(files, TRI_FILE_JOURNAL, epoch, path);
    TRI_TRY(tri_sys_read(path, &data, &bytes));
    return tri_segment_init(segment, epoch, data, bytes);
}

void tri_segment_fini(tri_segment *segment)
{
    free(segment->data);
    free(segment->seals);
    memset(segment, 0, sizeof *segment);
}

uint64_t tri_segment_sum(const tri_segment *segment, size_t bytes)
{
    return XXH64(segment->data ? (const void *)segment->data : "", bytes, 0);
}

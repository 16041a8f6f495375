/*
 * Fuzz target of reading a broken study: two journal segments, made by choices,
 * whose checksums hold and which lie: lengths, numbers, seals, versions,
 * events; cut short and with wrong bytes too.  Read, replayed, and now and then
 * recovered.
 */
#include "src/base/little.h"
#include "src/store/segment.h"
#include "tests/store/lies.h"
#include "trireme/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_EVENTS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Add event `seq` and number the next; lying now and then. */
static void add_event(lies *c, tri_buffer *out, int64_t *seq)
{
    tri_buffer packed;
    tri_event e;
    tri_item item;

    tri_buffer_init(&packed);
    lies_event(&e, c, (int)*seq);
    if (tri_event_pack(&e, &packed) == TRI_OK) {
        if (lies_wrong(c)) {
            packed.data[lies_choose(c, 24)] ^=
                    (uint8_t)(1 + lies_choose(c, 99));
        }
        item = (tri_item){lies_number(c, *seq), packed.data, packed.bytes,
                          lies_choose(c, 2)};
        if (lies_wrong(c)) {
            item.bytes = lies_choose(c, (unsigned)packed.bytes);
        }
        if (tri_item_pack(&item, out) == TRI_OK) {
            *seq += 1;
        }
    }
    tri_buffer_fini(&packed);
}

/* A segment that seals the one before, truly or not. */
static void make_segment(lies *c, int epoch, const tri_buffer *before,
                         int64_t *seq, tri_buffer *out)
{
    tri_segment former = {.data = before ? before->data : NULL};
    tri_seal seal = {(int)lies_number(c, 1), 0, 0};
    int i, n = (int)lies_choose(c, MOST_EVENTS);

    if (before) {
        seal.bytes = (uint64_t)lies_number(c, (int64_t)before->bytes);
        seal.sum = (uint64_t)lies_number(
                c, (int64_t)tri_segment_sum(&former, before->bytes));
    }
    if (tri_segment_pack_first((int)lies_number(c, epoch), &seal,
                               before != NULL, out) != TRI_OK) {
        return;
    }
    for (i = 0; i < n; ++i) {
        add_event(c, out, seq);
    }
    if (lies_wrong(c) && out->bytes > 0) {
        out->data[(lies_choose(c, 256) * 256u + lies_choose(c, 256)) %
                  out->bytes] ^= (uint8_t)(1u << lies_choose(c, 8));
    }
    if (lies_wrong(c)) { /* torn */
        out->bytes -= lies_choose(c, 200) % (out->bytes + 1);
    }
}

static void put(const char *path, int epoch, const tri_buffer *b)
{
    char name[128];
    FILE *out;

    snprintf(name, sizeof name, "%s.journal.%d", path, epoch);
    out = fopen(name, "wbe");
    if (out) {
        fwrite(b->data, 1, b->bytes, out);
        fclose(out);
    }
}

static void remove_all(const char *path)
{
    static const char *const ends[] = {"",           ".journal.1", ".journal.2",
                                       ".damaged.1", ".damaged.2", ".1.tmp",
                                       ".2.tmp"};
    char name[128];
    size_t i;

    for (i = 0; i < sizeof ends / sizeof *ends; ++i) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = lies_path("journal");
    lies c = {data, bytes, 0};
    tri_buffer first, second;
    int64_t seq = 0;

    tri_buffer_init(&first);
    tri_buffer_init(&second);
    make_segment(&c, 1, NULL, &seq, &first);
    put(path, 1, &first);
    if (!lies_wrong(&c)) {
        make_segment(&c, 2, &first, &seq, &second);
        put(path, 2, &second);
    }
    (void)lies_read(path);
    if (lies_wrong(&c)) {
        (void)tri_record_recover(path, 0, NULL);
        (void)lies_read(path);
    }
    remove_all(path);
    tri_buffer_fini(&first);
    tri_buffer_fini(&second);
    return 0;
}

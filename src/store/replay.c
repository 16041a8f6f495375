/*
 * Feeding a history to a fresh controller, with each digest checked.
 */
#include "trireme/store.h"
#include "trireme/wire.h"

#include <string.h>

typedef struct replay {
    tri_ctl *ctl;
    tri_arena *arena;
    tri_replay counts;
    tri_replay_fn each;
    void *ctx;
} replay;

/* An error of reading or feeding event `seq`, as one of the record. */
static tri_status refused(const tri_entry *entry, tri_status st)
{
    tri_error error = *tri_error_last();

    if (st == TRI_ENOMEM || st == TRI_EVERSION) {
        return st;
    }
    return TRI_FAIL(TRI_EMALFORMED, "event %lld is refused: %s",
                    (long long)entry->seq, error.sentence);
}

static tri_status step(replay *r, const tri_entry *entry)
{
    tri_event event;
    tri_commands commands;
    tri_status st;

    st = tri_event_unpack(entry->packed, entry->bytes, r->arena, &event);
    if (st == TRI_OK) {
        st = tri_ctl_feed(r->ctl, &event, &commands);
    }
    if (st != TRI_OK) {
        return refused(entry, st);
    }
    r->counts.events += 1;
    r->counts.commands += commands.n;
    if (tri_commands_digest(&commands) != entry->digest) {
        if (r->counts.mismatches++ == 0) {
            r->counts.first_mismatch = entry->seq;
        }
    }
    return r->each ? r->each(r->ctx, &event, &commands, entry, r->ctl) : TRI_OK;
}

static tri_status run(replay *r, const tri_history *h)
{
    tri_entry entry;
    int64_t i;

    for (i = 0; i < tri_history_n(h); ++i) {
        tri_history_entry(h, i, &entry);
        TRI_TRY(step(r, &entry));
    }
    return TRI_OK;
}

tri_status tri_history_replay_each(const tri_history *h, tri_replay_fn each,
                                   void *ctx, tri_ctl **ctl, tri_replay *out)
{
    replay r = {NULL, NULL, {0, 0, 0, -1}, each, ctx};
    tri_status st;

    TRI_TRY(tri_arena_create(&r.arena));
    TRI_TRY_GOTO(st, tri_ctl_create(&r.ctl), destroy_arena);
    TRI_TRY_GOTO(st, run(&r, h), destroy_ctl);
    tri_arena_destroy(r.arena);
    if (out) {
        *out = r.counts;
    }
    *ctl = r.ctl;
    return TRI_OK;
destroy_ctl:
    tri_ctl_destroy(r.ctl);
destroy_arena:
    tri_arena_destroy(r.arena);
    return st;
}

tri_status tri_history_replay(const tri_history *h, tri_ctl **ctl,
                              tri_replay *out)
{
    return tri_history_replay_each(h, NULL, NULL, ctl, out);
}

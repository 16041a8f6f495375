/*
 * One object, three drivers: the events of a simulation, packed and unpacked
 * as a journal would, fed into a fresh controller, give the same commands.
 */
#include "trireme/wire.h"

#include "tests/sim/fixture.h"

#include <stdlib.h>
#include <string.h>

typedef struct record {
    size_t offset, bytes;
    uint64_t digest;
} record;

typedef struct journal {
    tri_buffer buffer;
    record *records;
    int64_t n;
    int64_t commands;
} journal;

static const char yaml[] =
        "study: replayed\n"
        "seed: 5\n"
        "model: {kind: synthetic, noise: 0.05, straggle: 0.3, fail: 0.05}\n"
        "space:\n"
        "  x: {float: [0, 1]}\n"
        "  g: {choice: [1, 2, 4]}\n"
        "ranks: g\n"
        "objective: {minimize: loss}\n"
        "baseline: {x: 0.5, g: 1}\n"
        "search: random\n"
        "resource: {unit: steps, min: 1, max: 27, eta: 3}\n"
        "budget: {trials: 60}\n"
        "finals: {top: 2, repeats: 3}\n";

static tri_status write_down(void *ctx, const tri_event *event,
                             const tri_commands *commands, tri_ctl *ctl)
{
    journal *j = ctx;
    record r = {.offset = j->buffer.bytes};

    (void)ctl;
    must(tri_event_pack(event, &j->buffer));
    r.bytes = j->buffer.bytes - r.offset;
    r.digest = tri_commands_digest(commands);
    j->records = realloc(j->records, ((size_t)j->n + 1) * sizeof r);
    assert_non_null(j->records);
    j->records[j->n++] = r;
    j->commands += commands->n;
    return TRI_OK;
}

static void journal_init(journal *j)
{
    memset(j, 0, sizeof *j);
    tri_buffer_init(&j->buffer);
}

static void journal_fini(journal *j)
{
    tri_buffer_fini(&j->buffer);
    free(j->records);
}

static void refeed(const journal *j, const tri_ctl *first)
{
    tri_arena *arena = NULL;
    tri_ctl *ctl = NULL;
    tri_answer a, b;

    must(tri_ctl_create(&ctl));
    must(tri_arena_create(&arena));
    for (int64_t i = 0; i < j->n; i++) {
        const record *r = &j->records[i];
        tri_commands commands;
        tri_event event;

        must(tri_event_unpack(j->buffer.data + r->offset, r->bytes, arena,
                              &event));
        must(tri_ctl_feed(ctl, &event, &commands));
        assert_int_equal(tri_commands_digest(&commands), r->digest);
    }
    assert_int_equal(tri_ctl_n_runs(ctl), tri_ctl_n_runs(first));
    tri_ctl_answer(first, &a);
    tri_ctl_answer(ctl, &b);
    assert_int_equal(a.winner.trial, b.winner.trial);
    assert_memory_equal(&a.winner.objective, &b.winner.objective,
                        sizeof(double));
    tri_arena_destroy(arena);
    tri_ctl_destroy(ctl);
}

static void check_replay(tri_sim_settings *set)
{
    tri_study *study = read_study(yaml);
    tri_ctl *ctl = NULL;
    tri_sim_result r;
    journal j;

    journal_init(&j);
    set->each = write_down;
    set->ctx = &j;
    simulate(study, set, &r, &ctl);
    assert_int_equal(j.n, r.n_events);
    assert_true(j.commands > 100);
    refeed(&j, ctl);
    journal_fini(&j);
    tri_sim_result_fini(&r);
    tri_ctl_destroy(ctl);
    tri_study_destroy(study);
}

static void replay_is_exact(void **state)
{
    tri_sim_settings set;

    (void)state;
    tri_sim_defaults(&set);
    set.drop = 0.01;
    set.reports = 1;
    check_replay(&set);
}

static void replay_of_two_openings_is_exact(void **state)
{
    tri_sim_settings set;

    (void)state;
    tri_sim_defaults(&set);
    set.drain_after = 100;
    check_replay(&set);
    set.drain_after = -1;
    set.crash_after = 150;
    check_replay(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(replay_is_exact),
            cmocka_unit_test(replay_of_two_openings_is_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Drives the simulator, noting every event in a ledger, and where asked in a
 * record.
 */
#include "tests/report/world.h"

#include "trireme/curve.h"
#include "trireme/sim.h"
#include "trireme/think.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *text;
} texts[] = {
        {"one", "study: one\n"
                "model: {kind: synthetic}\n"
                "space: {a: {int: [1, 8]}}\n"
                "objective: {minimize: loss}\n"
                "resource: {unit: steps, min: 4, max: 4}\n"
                "search: random\nfinals: none\nbudget: {trials: 1}\n"},
        {"thirty", "study: thirty\n"
                   "model: {kind: synthetic, noise: 0.01}\n"
                   "space:\n"
                   "  dp: {int: [1, 8], log2: true}\n"
                   "  lr: {float: [0.0001, 1], log: true}\n"
                   "  schedule: {choice: [gpipe, 1f1b], when: dp > 1}\n"
                   "ranks: dp\n"
                   "objective: {minimize: loss}\n"
                   "baseline: {dp: 2, lr: 0.001, schedule: gpipe}\n"
                   "resource: {unit: steps, min: 4, max: 64, eta: 4}\n"
                   "search: random\nbudget: {trials: 24}\n"
                   "finals: {top: 3, repeats: 5}\n"},
        {"thousand",
         "study: thousand\n"
         "model: {kind: synthetic, curve: crossing, noise: 0.02, fail: 0.05}\n"
         "space:\n"
         "  dp: {int: [1, 8], log2: true}\n"
         "  tp: {choice: [1, 2, 4]}\n"
         "  lr: {float: [0.0001, 1], log: true}\n"
         "  width: {int: [64, 4096], log2: true}\n"
         "  zero: {choice: [0, 1, 2, 3]}\n"
         "  schedule: {choice: [gpipe, 1f1b, interleaved]}\n"
         "ranks: dp * tp\n"
         "objective: {minimize: loss}\n"
         "baseline: {dp: 2, tp: 1, lr: 0.001, width: 256, zero: 0, "
         "schedule: gpipe}\n"
         "resource: {unit: steps, min: 60, max: 3840, eta: 4}\n"
         "search: random\nbudget: {trials: 750}\n"
         "finals: {top: 3, repeats: 5}\n"},
        {"ten-thousand",
         "study: ten-thousand\n"
         "model: {kind: synthetic, curve: crossing, noise: 0.02, fail: 0.02}\n"
         "space:\n"
         "  dp: {int: [1, 8], log2: true}\n"
         "  tp: {choice: [1, 2, 4]}\n"
         "  pp: {choice: [1, 2, 4]}\n"
         "  lr: {float: [0.0001, 1], log: true}\n"
         "  momentum: {float: [0.5, 0.999]}\n"
         "  width: {int: [64, 4096], log2: true}\n"
         "  micro_batch: {int: [1, 32], log2: true}\n"
         "  zero: {choice: [0, 1, 2, 3]}\n"
         "  schedule: {choice: [gpipe, 1f1b, interleaved], when: pp > 1}\n"
         "  recompute: {choice: [none, selective, full]}\n"
         "ranks: dp * tp * pp\n"
         "objective: {minimize: loss}\n"
         "resource: {unit: steps, min: 60, max: 3840, eta: 4}\n"
         "search: random\nfinals: none\nbudget: {trials: 7500}\n"},
        {"model", "study: model\n"
                  "model: {kind: synthetic, noise: 0.01}\n"
                  "space:\n"
                  "  dp: {int: [1, 8], log2: true}\n"
                  "  lr: {float: [0.0001, 1], log: true}\n"
                  "  width: {int: [64, 4096], log2: true}\n"
                  "objective: {minimize: loss}\n"
                  "resource: {unit: steps, min: 4, max: 64, eta: 4}\n"
                  "search: {proposer: acquisition, predictor: trees}\n"
                  "memory: 512 MiB\nfinals: none\nbudget: {trials: 60}\n"},
        {"failures", "study: failures\n"
                     "model: {kind: synthetic, fail: 1}\n"
                     "space: {a: {int: [1, 8]}, b: {int: [1, 9]}}\n"
                     "objective: {minimize: loss}\n"
                     "resource: {unit: steps, min: 4, max: 16, eta: 4}\n"
                     "search: random\nfinals: none\nbudget: {trials: 20}\n"},
        /* what fails lies beyond what does not */
        {"edge", "study: edge\n"
                 "model: {kind: synthetic, fail: 0.97}\n"
                 "space: {a: {int: [1, 1000]}, b: {float: [1, 9]}}\n"
                 "objective: {minimize: loss}\n"
                 "resource: {unit: steps, min: 4, max: 16, eta: 4}\n"
                 "search: random\nfinals: none\nbudget: {trials: 40}\n"},
        {"odd",
         "study: \"<script>alert(1) \\\"quoted\\\" & 'single' <b>bold "
         "Τριήρης 三段櫂船 <!--\"\n"
         "model: {kind: synthetic, noise: 0.01, fail: 0.1}\n"
         "space:\n"
         "  w: {choice: [\"</script>\", \"<img src=x onerror=alert(1)>\", "
         "\"a & b\", \"'single' \\\"double\\\"\", \"τρία\", \"三\", "
         "\"<!--\"]}\n"
         "  x: {int: [1, 8]}\n"
         "objective: {minimize: loss}\n"
         "baseline: {w: \"</script>\", x: 3}\n"
         "resource: {unit: steps, min: 4, max: 64, eta: 4}\n"
         "search: random\nbudget: {trials: 40}\n"
         "finals: {top: 3, repeats: 3}\n"}};

const char *world_text(const char *name)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i].name, name) == 0) {
            return texts[i].text;
        }
    }
    return NULL;
}

/* The simulator measures no memory: some for the charts of it. */
static void add_memory(tri_event *event)
{
    if (event->kind == TRI_EV_FINISHED || event->kind == TRI_EV_PAUSED) {
        event->u.outcome.peak_bytes = (100 + event->u.outcome.run % 7 * 60)
                                      << 20;
    }
}

#ifdef TRI_HAVE_SEARCH
static tri_status think(void *ctx, const tri_snapshot *snapshot,
                        tri_ev_proposals *out)
{
    world *w = ctx;

    if (!w->thinker) {
        TRI_TRY(tri_thinker_create(w->study, 1, NULL, 0, &w->thinker));
    }
    return tri_thinker_answer(w->thinker, snapshot, NULL, out);
}
#endif

static tri_status each(void *ctx, const tri_event *event,
                       const tri_commands *commands, tri_ctl *ctl)
{
    world *w = ctx;
    tri_event copy = *event;
    tri_commands own;

    (void)commands;
    TRI_TRY(tri_ledger_note(&w->ledger, event, 0, ctl));
    if (w->record) {
        if (w->study->memory_bytes > 0) {
            add_memory(&copy);
        }
        TRI_TRY(tri_ctl_feed(w->recorded, &copy, &own));
        TRI_TRY(tri_record_event(w->record, &copy, &own, w->recorded));
    }
    return TRI_OK;
}

static void must(tri_status st)
{
    if (st != TRI_OK) {
        fprintf(stderr, "%s\n", tri_error_last()->sentence);
    }
    assert_int_equal(st, TRI_OK);
}

static void close_record(world *w)
{
    const tri_record_end end = {.status = 0, .reason = "done"};

    if (w->record) {
        must(tri_record_close(w->record, w->recorded, &end, 0));
    }
    w->record = NULL;
}

void world_live(world *w, const char *text, int workers, const char *path)
{
    const tri_record_facts facts = {.build = "test",
                                    .mpi_library = "",
                                    .pml = "",
                                    .level = "",
                                    .hostnames = "",
                                    .topology_xml = "",
                                    .machine_class = "",
                                    .command_line = ""};
    tri_sim_settings settings;
    tri_sim_result result;
    tri_curve *curve = NULL;
    int epoch;

    memset(w, 0, sizeof *w);
    tri_ledger_init(&w->ledger);
    tri_sim_defaults(&settings);
    settings.workers = workers;
    settings.seed = 1;
    settings.reports = 1;
    settings.each = each;
    settings.ctx = w;
#ifdef TRI_HAVE_SEARCH
    settings.think = think;
    settings.think_ctx = w;
#endif
    must(tri_study_parse(text, strlen(text), "study.yaml", NULL, NULL,
                         &w->study));
    if (path) {
        must(tri_record_prepare());
        must(tri_record_open(path, 0, &facts, &w->record, &w->recorded,
                             &epoch));
    }
    must(tri_curve_create(w->study, settings.cost_s, &curve));
    must(tri_sim_run(w->study, curve, &settings, &result, &w->ctl));
    close_record(w);
    tri_sim_result_fini(&result);
    tri_curve_destroy(curve);
#ifdef TRI_HAVE_SEARCH
    tri_thinker_destroy(w->thinker);
#endif
    tri_study_destroy(w->study);
}

void world_fini(world *w)
{
    tri_ctl_destroy(w->recorded);
    tri_ctl_destroy(w->ctl);
    tri_ledger_fini(&w->ledger);
}

json_t *world_data(const world *w)
{
    const tri_report_source source = {.ctl = w->ctl,
                                      .ledger = &w->ledger,
                                      .file = "study.h5",
                                      .state = "done",
                                      .unit = "loss"};
    json_t *data = NULL;

    must(tri_report_data(&source, &data));
    return data;
}

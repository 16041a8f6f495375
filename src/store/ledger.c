/*
 * Keeping the ledger; see the header.
 */
#include "src/store/ledger.h"

#include "src/store/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tri_ledger_init(tri_ledger *l)
{
    memset(l, 0, sizeof *l);
}

void tri_ledger_fini(tri_ledger *l)
{
    int i;

    for (i = 0; i < l->n_openings; ++i) {
        tri_opening *o = &l->openings[i];

        free(o->version);
        free(o->command_line);
        free(o->level);
        free(o->pml);
        free(o->machine_class);
        free(o->mpi_library);
        free(o->machine);
    }
    for (i = 0; i < l->n_ranks; ++i) {
        free(l->ranks[i].host);
        free(l->ranks[i].device);
    }
    free(l->openings);
    free(l->runs);
    free(l->ended);
    free(l->ranks);
    memset(l, 0, sizeof *l);
}

/* Make room for `need` elements of `size` bytes. */
static tri_status grow(void **list, int64_t *capacity, int64_t need,
                       size_t size)
{
    int64_t wanted = *capacity ? *capacity : 64;
    void *grown;

    if (need <= *capacity) {
        return TRI_OK;
    }
    while (wanted < need) {
        wanted *= 2;
    }
    grown = realloc(*list, (size_t)wanted * size);
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the ledger");
    }
    *list = grown;
    *capacity = wanted;
    return TRI_OK;
}

static tri_status note_run(tri_ledger *l, int64_t run)
{
    void *list = l->runs;

    TRI_TRY(grow(&list, &l->runs_capacity, run + 1, sizeof *l->runs));
    l->runs = list;
    while (l->n_runs <= run) {
        l->runs[l->n_runs++] = (tri_run_fact){-1, -1, 0};
    }
    return TRI_OK;
}

static tri_status note_end(tri_ledger *l, int64_t run)
{
    void *list = l->ended;

    TRI_TRY(note_run(l, run));
    if (l->runs[run].row >= 0) {
        return TRI_OK;
    }
    TRI_TRY(grow(&list, &l->ended_capacity, l->n_ended + 1, sizeof *l->ended));
    l->ended = list;
    l->runs[run].row = l->n_ended;
    l->ended[l->n_ended++] = run;
    return TRI_OK;
}

static tri_status note_runs(tri_ledger *l, const tri_ctl *ctl)
{
    const int64_t *list;
    tri_run_view run;
    int i, n = tri_ctl_changed_runs(ctl, &list);

    for (i = 0; i < n; ++i) {
        tri_ctl_run(ctl, list[i], &run);
        if (run.state == TRI_RUN_ENDED) {
            TRI_TRY(note_end(l, list[i]));
        }
    }
    return TRI_OK;
}

/* The tail is the last field of a packed outcome: it ends where the event
 * ends, so it need not be stored again. */
static tri_status note_stderr(tri_ledger *l, const tri_ev_outcome *outcome,
                              const tri_ctl *ctl)
{
    tri_run_fact *fact;
    tri_run_view run;

    if (outcome->stderr_tail.bytes == 0 || outcome->run < 0 ||
        outcome->run >= tri_ctl_n_runs(ctl)) {
        return TRI_OK;
    }
    tri_ctl_run(ctl, outcome->run, &run);
    if (run.attempt != outcome->attempt) {
        return TRI_OK; /* of an attempt that is over */
    }
    TRI_TRY(note_run(l, outcome->run));
    fact = &l->runs[outcome->run];
    if (fact->stderr_offset < 0) {
        fact->stderr_bytes = (int64_t)outcome->stderr_tail.bytes;
        fact->stderr_offset = l->blob_bytes - fact->stderr_bytes;
    }
    return TRI_OK;
}

static char *copy_of(const char *s)
{
    return strdup(s ? s : "");
}

static tri_status note_open(tri_ledger *l, const tri_event *event)
{
    const tri_ev_open *open = &event->u.open;
    size_t bytes = (size_t)(l->n_openings + 1) * sizeof *l->openings;
    tri_opening *grown = realloc(l->openings, bytes);
    tri_opening *o;

    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the ledger");
    }
    l->openings = grown;
    o = &l->openings[l->n_openings++];
    o->epoch = open->epoch;
    o->started_s = open->started_s;
    o->open_s = o->last_s = event->time_s;
    o->version = copy_of(open->build);
    o->command_line = copy_of(open->command_line);
    o->level = copy_of(open->level);
    o->pml = copy_of(open->pml);
    o->machine_class = copy_of(open->machine_class);
    o->mpi_library = copy_of(open->mpi_library);
    o->machine = copy_of(open->machine);
    o->memory_bytes = open->memory_bytes;
    if (!o->version || !o->command_line || !o->level || !o->pml ||
        !o->machine_class || !o->mpi_library || !o->machine) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the ledger");
    }
    return TRI_OK;
}

static void note_width(int *width, const char *text)
{
    int n = text ? (int)strlen(text) : 0;

    *width = n > *width ? n : *width;
}

/* The rank's row, a new one if need be; NULL where there is no memory. */
static tri_rank_fact *rank_fact(tri_ledger *l, int rank)
{
    int row = tri_ledger_rank_row(l, rank);
    tri_rank_fact *grown;

    if (row >= 0) {
        return &l->ranks[row];
    }
    grown = realloc(l->ranks, (size_t)(l->n_ranks + 1) * sizeof *grown);
    if (!grown) {
        return NULL;
    }
    l->ranks = grown;
    grown[l->n_ranks] = (tri_rank_fact){.rank = rank};
    return &grown[l->n_ranks++];
}

static tri_status note_rank(tri_ledger *l, const tri_ev_pool *pool)
{
    tri_rank_fact *fact = rank_fact(l, pool->rank);

    note_width(&l->host_bytes, pool->host);
    note_width(&l->device_bytes, pool->device);
    if (!fact) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the ledger");
    }
    fact->cores = pool->cores;
    if (pool->state == TRI_RANK_UP) {
        fact->at =
                (tri_place){pool->package, pool->numa, pool->cache, pool->core};
        snprintf(fact->binding, sizeof fact->binding, "%s",
                 pool->binding ? pool->binding : "");
        snprintf(fact->cpus, sizeof fact->cpus, "%s",
                 pool->cpus ? pool->cpus : "");
    }
    free(fact->host);
    free(fact->device);
    fact->host = copy_of(pool->host);
    fact->device = copy_of(pool->device);
    if (!fact->host || !fact->device) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the ledger");
    }
    return TRI_OK;
}

static tri_status note_event(tri_ledger *l, const tri_event *event,
                             const tri_ctl *ctl)
{
    switch (event->kind) {
    case TRI_EV_OPEN:
        return note_open(l, event);
    case TRI_EV_POOL:
        return note_rank(l, &event->u.pool);
    case TRI_EV_PROPOSALS:
        note_width(&l->model_bytes, event->u.proposals.model);
        note_width(&l->hyper_bytes, event->u.proposals.hyper);
        return TRI_OK;
    case TRI_EV_FINISHED:
    case TRI_EV_PAUSED:
    case TRI_EV_FAILED:
    case TRI_EV_LOST:
    case TRI_EV_INTERRUPTED:
        return note_stderr(l, &event->u.outcome, ctl);
    default:
        return TRI_OK;
    }
}

tri_status tri_ledger_note(tri_ledger *l, const tri_event *event, size_t bytes,
                           const tri_ctl *ctl)
{
    l->n_events += 1;
    l->blob_bytes += (int64_t)bytes;
    TRI_TRY(note_event(l, event, ctl));
    if (l->n_openings > 0) {
        l->openings[l->n_openings - 1].last_s = event->time_s;
    }
    return note_runs(l, ctl);
}

int tri_ledger_rank_row(const tri_ledger *l, int rank)
{
    int i;

    for (i = 0; i < l->n_ranks; ++i) {
        if (l->ranks[i].rank == rank) {
            return i;
        }
    }
    return -1;
}

const char *tri_ledger_level(const tri_ledger *l, int epoch)
{
    int i;

    for (i = l->n_openings - 1; i >= 0; --i) {
        if (l->openings[i].epoch == epoch) {
            return l->openings[i].level;
        }
    }
    return "";
}

tri_widths tri_ledger_widths(const tri_ledger *l, const tri_ctl *ctl)
{
    tri_widths w = {0,
                    0,
                    0,
                    l->host_bytes,
                    l->device_bytes,
                    l->model_bytes,
                    l->hyper_bytes,
                    0,
                    0};
    char text[TRI_ROW_TEXT_BYTES];
    tri_trial_view trial;
    tri_run_view run;
    int64_t i;

    for (i = 0; i < tri_ctl_n_trials(ctl); ++i) {
        tri_ctl_trial(ctl, i, &trial);
        note_width(&w.rule, trial.rule);
    }
    for (i = 0; i < l->n_ended; ++i) {
        tri_ctl_run(ctl, l->ended[i], &run);
        tri_rank_set_print(run.ranks, run.n_ranks, text, sizeof text);
        note_width(&w.rank_set, text);
        tri_ctl_run_hosts(ctl, l->ended[i], text, sizeof text);
        note_width(&w.hosts, text);
    }
    for (i = 0; i < l->n_openings; ++i) {
        note_width(&w.version, l->openings[i].version);
        note_width(&w.command_line, l->openings[i].command_line);
    }
    return w;
}

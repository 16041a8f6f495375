/*
 * Facts of the machine and of the record, by which a study can be repeated.
 */
#include "src/report/part.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define HOSTS 500

static void add(json_t *list, const char *name, json_t *value)
{
    json_t *row = json_array();

    json_array_append_new(row, json_string(name));
    json_array_append_new(row, value);
    json_array_append_new(list, row);
}

static void add_text(json_t *list, const char *name, const char *text)
{
    if (text && *text) {
        add(list, name, tri_report_string(text));
    }
}

static json_t *date_of(double s)
{
    char text[40];
    time_t when = (time_t)s;
    struct tm tm;

    if (!isfinite(s) || s <= 0 || !gmtime_r(&when, &tm)) {
        return json_null();
    }
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm);
    return json_string(text);
}

/* The limit of a rank, as given or as `auto` came out. */
static void add_memory(json_t *list, const tri_study *study,
                       const tri_opening *o)
{
    uint64_t bytes =
            study->memory_bytes ? study->memory_bytes : o->memory_bytes;
    char text[80];

    if (bytes > 0) {
        snprintf(text, sizeof text, "%.4g GiB (%s)",
                 (double)bytes / 1073741824.0,
                 study->memory_bytes ? "as the study says"
                                     : "auto: its share of its host");
        add_text(list, "memory limit of a rank", text);
    }
}

static json_t *machine(const tri_report_part *p)
{
    const tri_ledger *l = p->source->ledger;
    json_t *a = json_array();
    tri_progress s;

    tri_ctl_progress(p->ctl, &s);
    add(a, "ranks in the pool", json_integer(s.ranks_total));
    add(a, "ranks struck", json_integer(s.ranks_struck));
    add(a, "ranks lost", json_integer(s.ranks_lost));
    if (s.ranks_benched > 0) {
        add(a, "ranks benched as slow", json_integer(s.ranks_benched));
    }
    add_text(a, "machine class", tri_ctl_machine_class(p->ctl));
    if (l->n_openings > 0) {
        const tri_opening *o = &l->openings[l->n_openings - 1];

        add_text(a, "rank 0's host", o->machine);
        add_text(a, "MPI library", o->mpi_library);
        add_text(a, "MPI transport (pml)", o->pml);
        add_text(a, "survival level", o->level);
        add_memory(a, p->study, o);
    }
    return a;
}

static json_t *record(const tri_report_part *p)
{
    const tri_ledger *l = p->source->ledger;
    const tri_replay *r = p->source->replay;
    json_t *a = json_array();
    char text[200];

    add_text(a, "file", p->source->file);
    snprintf(text, sizeof text, "%" PRIu64, p->source->seed);
    add_text(a, "seed", text);
    if (l->n_openings > 0) {
        const tri_opening *o = &l->openings[l->n_openings - 1];

        add_text(a, "trireme", o->version);
        add_text(a, "command line", o->command_line);
    }
    add_text(a, "scheduler", tri_sched_name(p->study->scheduler.kind));
    add_text(a, "proposer", p->study->search.proposer);
    add_text(a, "predictor", p->study->search.predictor);
    if (r) {
        snprintf(text, sizeof text,
                 "%" PRId64 " events, %" PRId64 " decisions, %" PRId64
                 " of them otherwise than recorded",
                 r->events, r->commands, r->mismatches);
        add_text(a, "replayed for this page", text);
    }
    return a;
}

static json_t *openings(const tri_report_part *p)
{
    const tri_ledger *l = p->source->ledger;
    json_t *a = json_array();

    for (int i = 0; i < l->n_openings; i++) {
        const tri_opening *o = &l->openings[i];
        json_t *row = json_array();

        json_array_append_new(row, json_integer(o->epoch));
        json_array_append_new(row, date_of(o->started_s));
        json_array_append_new(row, tri_report_real(o->last_s - o->open_s));
        json_array_append_new(row, tri_report_string(o->version));
        json_array_append_new(row, tri_report_string(o->level));
        json_array_append_new(row, tri_report_string(o->pml));
        json_array_append_new(row, tri_report_string(o->machine_class));
        json_array_append_new(row, tri_report_string(o->command_line));
        json_array_append_new(a, row);
    }
    return a;
}

static int is_first_of_host(const tri_ledger *l, int i)
{
    const char *host = l->ranks[i].host ? l->ranks[i].host : "";

    for (int k = 0; k < i; k++) {
        if (strcmp(l->ranks[k].host ? l->ranks[k].host : "", host) == 0) {
            return 0;
        }
    }
    return 1;
}

static int ranks_of_host(const tri_ledger *l, int i)
{
    const char *host = l->ranks[i].host ? l->ranks[i].host : "";
    int n = 0;

    for (int k = i; k < l->n_ranks; k++) {
        n += strcmp(l->ranks[k].host ? l->ranks[k].host : "", host) == 0;
    }
    return n;
}

/* Each host once: its ranks, cores, device, binding of the first. */
static json_t *hosts(const tri_report_part *p)
{
    const tri_ledger *l = p->source->ledger;
    json_t *a = json_array();

    for (int i = 0; i < l->n_ranks && json_array_size(a) < HOSTS; i++) {
        const tri_rank_fact *r = &l->ranks[i];
        json_t *row;

        if (!is_first_of_host(l, i)) {
            continue;
        }
        row = json_array();
        json_array_append_new(row, tri_report_string(r->host));
        json_array_append_new(row, json_integer(ranks_of_host(l, i)));
        json_array_append_new(row, json_integer(r->cores));
        json_array_append_new(row, tri_report_string(r->device));
        json_array_append_new(row, tri_report_string(r->binding));
        json_array_append_new(a, row);
    }
    return a;
}

json_t *tri_report_facts(const tri_report_part *p)
{
    json_t *o = json_object();

    json_object_set_new(o, "machine", machine(p));
    json_object_set_new(o, "record", record(p));
    json_object_set_new(o, "openings", openings(p));
    json_object_set_new(o, "hosts", hosts(p));
    return o;
}

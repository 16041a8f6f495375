/*
 * Devices and setup of a rank, at its start.
 */
#include "mpi_workers/process_base.h"

#include "mpi_workers/p2p.h"
#include "mpi_workers/process_env.h"
#include "mpi_workers/setup.h"
#include "trireme/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A worker of the same host is silent for so long at most. */
#define PEERS_S 30.0

enum { /* tags on the communicator of peers, before any group forms there */
    TAG_GIVEN = 101,
    TAG_ALL_GIVEN
};

extern char **environ;

/* ---- devices ------------------------------------------------------------ */

/* The workers of this host in the order of their ranks, owned; *mine: which of
 * them this rank is. */
static int *host_workers(const tri_world *w, int *n, int *mine)
{
    int *ranks = calloc((size_t)w->size, sizeof *ranks);

    *n = 0;
    for (int i = 1; ranks && i < w->size; i++) {
        if (strcmp(w->seats[i].node, w->seats[w->rank].node) == 0) {
            *mine = i == w->rank ? *n : *mine;
            ranks[(*n)++] = i;
        }
    }
    return ranks;
}

static int is_missing(tri_status st)
{
    return st == TRI_EPEER || st == TRI_ETIMEOUT;
}

/* Tell those behind `mine` what all were given.  One that has died is taken to
 * have been given what this one was. */
static tri_status gather(const tri_world *w, const int *ranks, int n, int mine,
                         tri_devices_given *given)
{
    int one = (int)sizeof *given;
    tri_status st;

    for (int i = 0; i < n; i++) {
        st = i > mine ? tri_p2p_receive(w->peers, ranks[i], TAG_GIVEN,
                                        &given[i], one, PEERS_S)
                      : TRI_EPEER;
        if (is_missing(st)) {
            given[i] = given[mine];
        } else {
            TRI_TRY(st);
        }
    }
    for (int i = mine + 1; i < n; i++) {
        st = tri_p2p_send(w->peers, ranks[i], TAG_ALL_GIVEN, given, n * one,
                          PEERS_S);
        if (!is_missing(st)) {
            TRI_TRY(st);
        }
    }
    return TRI_OK;
}

/* What all were given, by way of the first of them that lives. */
static tri_status share(const tri_world *w, const int *ranks, int n, int mine,
                        tri_devices_given *given)
{
    int one = (int)sizeof *given;

    for (int first = 0; first < mine; first++) {
        tri_status st = tri_p2p_send(w->peers, ranks[first], TAG_GIVEN,
                                     &given[mine], one, PEERS_S);

        if (st == TRI_OK) {
            st = tri_p2p_receive(w->peers, ranks[first], TAG_ALL_GIVEN, given,
                                 n * one, PEERS_S);
        }
        if (st != TRI_EPEER) {
            return st;
        }
    }
    TRI_TRY(gather(w, ranks, n, mine, given));
    tri_error_clear();
    return TRI_OK;
}

/* How many devices Slurm says that the job has on this host; 0: nothing. */
static int devices_on_host(void)
{
    const char *text = getenv("SLURM_GPUS_ON_NODE");
    int n = text ? atoi(text) : 0;

    return n > 0 ? n : 0;
}

static tri_status find_devices(const tri_world *w, const tri_study *study,
                               tri_process_base *b)
{
    const tri_process_spec *spec = &study->model.u.process;
    tri_devices_given *given = NULL;
    int n = 0;
    int mine = 0;
    int *ranks = host_workers(w, &n, &mine);
    tri_status st;

    given = ranks ? calloc((size_t)n, sizeof *given) : NULL;
    if (!given) {
        free(ranks);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a host's devices");
    }
    tri_devices_inherit(spec, &given[mine]);
    st = share(w, ranks, n, mine, given);
    if (st == TRI_OK) {
        snprintf(b->shown, sizeof b->shown, "%s", given[mine].list);
        st = tri_devices_assign(spec, given, n, devices_on_host(), mine,
                                &b->devices, b->remark, sizeof b->remark);
    }
    if (st == TRI_OK && b->devices.is_set) {
        snprintf(b->shown, sizeof b->shown, "%s", b->devices.own);
    }
    if (mine > 0) {
        b->remark[0] = 0;
    }
    free(given);
    free(ranks);
    return st;
}

/* ---- what outlives a rank ----------------------------------------------- */

/* Without one a rank works as well, and what it leaves when killed stays. */
static void open_sweeper(tri_process_base *b)
{
    if (tri_sweeper_open(&b->sweeper) != TRI_OK) {
        TRI_LOG(TRI_LOG_WARN, "nobody would clear up after this rank: %s",
                tri_error_last()->sentence);
        tri_error_clear();
    }
}

/* ---- setup -------------------------------------------------------------- */

static tri_status find_env(const tri_study *study, tri_process_base *b)
{
    const tri_process_spec *spec = &study->model.u.process;
    char **clean = NULL;
    tri_status st;

    TRI_TRY(tri_env_scrub(environ, spec,
                          b->sweeper ? tri_sweeper_mark(b->sweeper) : NULL,
                          &clean));
    if (!spec->setup.text) {
        b->env = clean;
        return TRI_OK;
    }
    st = tri_setup_run(spec, clean, study->timeouts.startup_s,
                       study->timeouts.grace_s, &b->env);
    tri_env_free(clean);
    return st;
}

/* ---- both --------------------------------------------------------------- */

tri_status tri_process_base_open(const tri_world *w, const tri_study *study,
                                 tri_process_base **out)
{
    tri_process_base *b = calloc(1, sizeof *b);
    tri_status st;

    if (!b) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a worker");
    }
    st = find_devices(w, study, b);
    if (st == TRI_OK) {
        open_sweeper(b);
        st = find_env(study, b);
    }
    if (st != TRI_OK) {
        tri_process_base_close(b);
        return st;
    }
    *out = b;
    return TRI_OK;
}

void tri_process_base_close(tri_process_base *b)
{
    if (b) {
        tri_env_free(b->env);
        tri_sweeper_close(b->sweeper);
        free(b);
    }
}

int tri_process_base_wasted(const tri_process_spec *spec,
                            const char *const *lists, int n, char *buf,
                            size_t bytes)
{
    tri_devices_given given;

    tri_devices_inherit(spec, &given);
    if (given.list[0] && getenv("SLURM_GPUS_PER_TASK")) {
        snprintf(buf, bytes, "%s", given.list);
        return 1;
    }
    tri_devices_alone(given.list, lists, n, buf, bytes);
    return buf[0] != 0;
}

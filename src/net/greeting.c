/*
 * What ranks say of themselves when they come: where they are, which devices
 * they show their processes, and why one of them can run nothing.  Odd things
 * are said once for the whole job.
 */
#include "src/net/driver.h"

#include "mpi_workers/process_base.h"
#include "trireme/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All ranks say hello within this, or go without; a setup comes on top. */
#define HELLO_S 60.0

double tri_greeting_limit_s(const tri_study *study)
{
    int sets_up = study->model.kind == TRI_MODEL_PROCESS &&
                  study->model.u.process.setup.text;

    return HELLO_S +
           (sets_up ? study->timeouts.startup_s + study->timeouts.grace_s : 0);
}

void tri_greeting_note(tri_driver *d, const tri_msg_hello *m, int from)
{
    tri_peer *p = &d->peers[from];

    p->cores = m->cores;
    p->pid = m->pid;
    snprintf(p->host, sizeof p->host, "%s", m->host);
    snprintf(p->device, sizeof p->device, "%s", m->device);
    p->at = (tri_place){m->package, m->numa, m->cache, m->core};
    snprintf(p->binding, sizeof p->binding, "%s", m->binding);
    snprintf(p->cpus, sizeof p->cpus, "%s", m->cpus);
    if (m->trouble && m->trouble[0]) {
        p->gone = 1;
        snprintf(p->trouble, sizeof p->trouble, "%s", m->trouble);
    }
    if (m->remark && m->remark[0] && d->remarks.n++ == 0) {
        snprintf(d->remarks.host, sizeof d->remarks.host, "%s",
                 d->world->seats[from].node);
        snprintf(d->remarks.text, sizeof d->remarks.text, "%s", m->remark);
    }
}

/* ---- ranks that can run nothing ----------------------------------------- */

static int is_in(const tri_driver *d, int rank)
{
    return d->peers[rank].said_hello && !d->peers[rank].gone;
}

static tri_status judge_troubles(const tri_driver *d)
{
    int n = 0;
    int n_fit = 0;
    int first = 0;

    for (int i = 1; i < d->world->size; i++) {
        int has_trouble = d->peers[i].trouble[0] != 0;

        first = has_trouble && n == 0 ? i : first;
        n += has_trouble;
        n_fit += is_in(d, i);
    }
    if (n == 0) {
        return TRI_OK;
    }
    if (n_fit == 0) {
        return TRI_FAIL(TRI_EINVAL, "no rank can run a trial; rank %d (%s): %s",
                        first, d->world->seats[first].node,
                        d->peers[first].trouble);
    }
    TRI_LOG_JOB(TRI_LOG_WARN, "%d %s left out; rank %d (%s): %s", n,
                n == 1 ? "rank is" : "ranks are", first,
                d->world->seats[first].node, d->peers[first].trouble);
    return TRI_OK;
}

/* ---- devices ------------------------------------------------------------ */

/* Who shows what, a rank behind the other, as far as a line goes: "n1: 0 1 2,3;
 * n2: 0 1". */
static void say_shown(const tri_driver *d)
{
    const tri_seat *seats = d->world->seats;
    char line[400] = "";
    const char *node = "";
    size_t used = 0;
    int seeing = 0;

    for (int i = 1; i < d->world->size && used < sizeof line - 1; i++) {
        const char *shown = d->peers[i].device;

        if (!is_in(d, i)) {
            continue;
        }
        seeing += shown[0] != 0;
        if (strcmp(seats[i].node, node) != 0) {
            used += (size_t)snprintf(line + used, sizeof line - used,
                                     "%s%s:", used > 0 ? "; " : "",
                                     seats[i].node);
            node = seats[i].node;
        }
        used = used < sizeof line ? used : sizeof line - 1;
        used += (size_t)snprintf(line + used, sizeof line - used, " %s",
                                 shown[0] ? shown : "none");
    }
    if (seeing > 0) {
        TRI_LOG_JOB(TRI_LOG_INFO, "devices by rank: %s%s", line,
                    used < sizeof line ? "" : " ...");
    }
}

static void say_blind(const tri_driver *d)
{
    int seeing = 0;
    int blind = 0;
    int n = 0;

    for (int i = d->world->size - 1; i > 0; i--) {
        if (is_in(d, i) && d->peers[i].device[0]) {
            seeing = i;
        } else if (is_in(d, i)) {
            blind = i;
            n++;
        }
    }
    if (seeing > 0 && n > 0) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "%d %s no device, as rank %d (%s), while others do, as "
                    "rank %d (%s: %s)",
                    n, n == 1 ? "rank sees" : "ranks see", blind,
                    d->world->seats[blind].node, seeing,
                    d->world->seats[seeing].node, d->peers[seeing].device);
    }
}

/* Rank 0 trains nothing: a device that only it was given lies idle. */
static void say_wasted(const tri_driver *d)
{
    const tri_seat *seats = d->world->seats;
    const char **lists = calloc((size_t)d->world->size, sizeof *lists);
    char alone[TRI_DEVICE_BYTES];
    int n = 0;

    for (int i = 1; lists && i < d->world->size; i++) {
        if (is_in(d, i) && strcmp(seats[i].node, seats[0].node) == 0) {
            lists[n++] = d->peers[i].device;
        }
    }
    if (lists && tri_process_base_wasted(&d->study->model.u.process, lists, n,
                                         alone, sizeof alone)) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "rank 0 (%s) was given a device that no other rank shows "
                    "(%s): it trains nothing, so that device is idle; start "
                    "one rank more than devices, with --gpus-per-node instead "
                    "of --gpus-per-task",
                    seats[0].node, alone);
    }
    free(lists);
}

static void say_remark(const tri_driver *d)
{
    char others[48] = "";

    if (d->remarks.n > 1) {
        snprintf(others, sizeof others, " (%d hosts say such things)",
                 d->remarks.n);
    }
    if (d->remarks.n > 0) {
        TRI_LOG_JOB(TRI_LOG_WARN, "devices of %s: %s%s", d->remarks.host,
                    d->remarks.text, others);
    }
}

tri_status tri_greeting_judge(const tri_driver *d)
{
    TRI_TRY(judge_troubles(d));
    if (d->study->model.kind == TRI_MODEL_PROCESS &&
        d->study->model.u.process.devices.how != TRI_DEVICES_NONE) {
        say_shown(d);
        say_remark(d);
        say_blind(d);
        say_wasted(d);
    }
    return TRI_OK;
}

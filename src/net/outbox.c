/*
 * From commands to messages and deeds.
 */
#include "src/net/driver.h"

#include "trireme/log.h"

#include <stdio.h>
#include <string.h>

/* Send; a rank that cannot be reached will be found silent. */
static void send(tri_driver *d, int to, const tri_message *m)
{
    if (to < 1 || to >= d->world->size) {
        TRI_LOG(TRI_LOG_ERROR, "no rank %d to send %s to", to,
                tri_message_name(m->kind));
    } else if (tri_channel_send(d->channel, to, m) != TRI_OK) {
        TRI_LOG(TRI_LOG_WARN, "%s", tri_error_last()->sentence);
    }
}

static void send_command(tri_driver *d, int to, const tri_command *command)
{
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_COMMAND;
    m.u.command = *command;
    send(d, to, &m);
}

void tri_driver_beat(tri_driver *d)
{
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_BEAT;
    for (int i = 1; i < d->world->size; i++) {
        if (!d->peers[i].gone) {
            send(d, i, &m);
        }
    }
}

void tri_driver_call_off(tri_driver *d, int64_t run, int rank)
{
    tri_command c = {.kind = TRI_CMD_VERDICT};
    tri_run_view v;

    tri_ctl_run(d->ctl, run, &v);
    if (v.n_ranks < 1 || v.ranks[0] == rank || d->peers[v.ranks[0]].gone) {
        return;
    }
    c.u.verdict = (tri_cmd_verdict){.run = v.run,
                                    .attempt = v.attempt,
                                    .verdict = TRI_VERDICT_STOP,
                                    .next_run = -1,
                                    .next_rung = -1,
                                    .rank = v.ranks[0]};
    send_command(d, v.ranks[0], &c);
}

void tri_driver_leave(tri_driver *d)
{
    tri_command leave;

    if (d->left) {
        return;
    }
    memset(&leave, 0, sizeof leave);
    leave.kind = TRI_CMD_LEAVE;
    for (int i = 1; i < d->world->size; i++) {
        send_command(d, i, &leave); /* also to those that were given up */
    }
    d->left = 1;
}

void tri_driver_give_up(tri_driver *d, int rank)
{
    const tri_command strike = {.kind = TRI_CMD_STRIKE,
                                .u.strike = {.rank = rank}};

    if (d->peers[rank].gone) {
        return;
    }
    for (int i = 1; i < d->world->size; i++) {
        if (!d->peers[i].gone) {
            send_command(d, i, &strike);
        }
    }
    d->peers[rank].gone = 1;
    d->peers[rank].is_up = 0;
    d->has_lost = 1;
}

void tri_driver_strike(tri_driver *d, int rank)
{
    if (rank >= 1 && rank < d->world->size && !d->peers[rank].gone) {
        tri_driver_give_up(d, rank);
        TRI_LOG_JOB(TRI_LOG_WARN, "rank %d on %s is struck from the pool", rank,
                    d->peers[rank].host);
    }
}

static void end(tri_driver *d, const tri_cmd_end *c)
{
    d->ended = 1;
    d->status = c->status;
    d->resumable = c->resumable;
    snprintf(d->why, sizeof d->why, "%s", c->why ? c->why : "");
}

static void send_all(tri_driver *d, const int32_t *ranks, int n,
                     const tri_command *c)
{
    for (int i = 0; i < n; i++) {
        send_command(d, ranks[i], c);
    }
}

static tri_status carry_out(tri_driver *d, const tri_command *c)
{
    switch (c->kind) {
    case TRI_CMD_ASSIGN:
        TRI_TRY(tri_driver_expect(d, &c->u.assign));
        send_all(d, c->u.assign.ranks, c->u.assign.n_ranks, c);
        break;
    case TRI_CMD_GO:
        send_all(d, c->u.go.ranks, c->u.go.n_ranks, c);
        break;
    case TRI_CMD_VERDICT:
        send_command(d, c->u.verdict.rank, c);
        break;
    case TRI_CMD_THINK:
        return tri_driver_think(d, &c->u.think);
    case TRI_CMD_DROP_CHECKPOINT:
        return tri_driver_drop_checkpoint(d, &c->u.drop_checkpoint);
    case TRI_CMD_STRIKE:
        tri_driver_strike(d, c->u.strike.rank);
        break;
    case TRI_CMD_LEAVE:
        tri_driver_leave(d);
        break;
    case TRI_CMD_END:
        end(d, &c->u.end);
        break;
    default:
        break;
    }
    return TRI_OK;
}

tri_status tri_driver_carry_out(tri_driver *d, const tri_commands *commands)
{
    for (int i = 0; i < commands->n; i++) {
        TRI_TRY(carry_out(d, &commands->list[i]));
    }
    return TRI_OK;
}

/*
 * The loop of rank 0.
 */
#include "src/net/driver.h"

#include "src/base/grain.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Messages taken before commands leave. */
#define INBOX_MOST 64
#define BEAT_S     1.0
#define VIEW_S     0.1
/* A pause of the loop itself beyond which limits are shifted. */
#define GAP_S 1.0
/* After a clock event that settled nothing. */
#define CLOCK_S 0.05

double tri_driver_now(const tri_driver *d)
{
    double now = tri_grain(d->base_s + tri_now() - d->start_s, TRI_GRAIN_EVENT);

    return now > d->last_s ? now : d->last_s;
}

/* Whether a refused event is no more than a message that came too late or
 * wrong; running out of memory, say, is more. */
static int is_harmless(tri_status st)
{
    return st == TRI_EINVAL || st == TRI_ENOTFOUND || st == TRI_ERANGE ||
           st == TRI_EMALFORMED;
}

tri_status tri_driver_feed(tri_driver *d, tri_event *event)
{
    tri_commands commands = {NULL, 0};
    tri_status st;

    event->time_s = tri_driver_now(d);
    st = tri_ctl_feed(d->ctl, event, &commands);
    if (st != TRI_OK && is_harmless(st) && event->kind != TRI_EV_OPEN &&
        event->kind != TRI_EV_EDITED) {
        TRI_LOG(TRI_LOG_WARN, "event %s was refused: %s",
                tri_event_name(event->kind), tri_error_last()->sentence);
        return TRI_OK;
    }
    TRI_TRY(st);
    d->last_s = event->time_s;
    d->changed = d->changed || event->kind == TRI_EV_FINISHED;
    TRI_TRY(tri_record_event(d->record, event, &commands, d->ctl));
    d->is_synced = 0;
    if (event->kind == TRI_EV_FINISHED) {
        tri_driver_say_slow(d);
    }
    TRI_TRY(tri_driver_carry_out(d, &commands));
    return tri_driver_form(d);
}

static tri_status feed_clock(tri_driver *d, double now)
{
    tri_event event;

    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_CLOCK;
    event.u.clock.gap_s = d->gap_s;
    d->gap_s = 0;
    d->clock_s = now;
    return tri_driver_feed(d, &event);
}

/* Time passes: only where the inbox is empty, so that nothing is judged late
 * that lies there. */
static tri_status tick(tri_driver *d)
{
    double now = tri_driver_now(d);

    return now < tri_ctl_next_deadline(d->ctl) || now < d->clock_s + CLOCK_S
                   ? TRI_OK
                   : feed_clock(d, now);
}

static void show(tri_driver *d, double now)
{
    if (d->settings->view && (d->changed || now >= d->view_s)) {
        d->settings->view(d->settings->ctx, d->ctl);
        d->view_s = now + VIEW_S;
        d->changed = 0;
    }
}

/* Whether the loop itself stood still (the process was stopped, a disk was
 * slow): nobody is to be blamed for that time.  Told before what waits in the
 * inbox: it shifts limits, and no result is to find the time used up. */
static tri_status note_gap(tri_driver *d)
{
    double now = tri_now();
    double gap = now - d->loop_s;

    if (gap > GAP_S) {
        d->gap_s += gap;
        for (int i = 1; i < d->world->size; i++) {
            d->peers[i].heard_s += gap;
        }
    }
    d->loop_s = now;
    return d->gap_s > 0 ? feed_clock(d, tri_driver_now(d)) : TRI_OK;
}

/* What is due by the clock whatever arrives. */
static tri_status keep_up(tri_driver *d)
{
    double now = tri_now();

    if (now >= d->beat_s) {
        tri_driver_beat(d);
        d->beat_s = now + BEAT_S;
    }
    tri_channel_reap(d->channel);
    show(d, now);
    return tri_record_sync(d->record, 0);
}

/* Groups that began together end together, and between two such bursts the
 * pause would grow; so there are about as many looks as there are words. */
static double longest_pause(const tri_driver *d)
{
    double quiet_s = (tri_now() - d->word_s) / 16;

    return fmax(d->between_s / 2, quiet_s);
}

/* Ranks that cannot wake this one: they are asked. */
static int n_deaf(const tri_driver *d)
{
    int n = 0;

    for (int i = 1; i < d->world->size; i++) {
        n += !d->peers[i].gone && !tri_bell_reaches(d->world->bell, i);
    }
    return n;
}

/* Until a rank of this host rings, or it is time to look. */
static void rest(tri_driver *d, tri_pause *pause, int asks)
{
    if (asks) {
        pause->longest_s = longest_pause(d);
        tri_bell_wait(d->world->bell, tri_pause_next(pause));
    } else {
        tri_bell_pause(d->world->bell, pause);
    }
}

tri_status tri_driver_run(tri_driver *d)
{
    tri_pause pause = {0};
    int asks = n_deaf(d) > 0;

    d->loop_s = tri_now();
    while (!d->ended) {
        int n;

        TRI_TRY(note_gap(d));
        if (d->ended) {
            break;
        }
        n = tri_driver_receive(d, INBOX_MOST);

        if (n < 0) {
            return tri_error_last()->code;
        }
        TRI_TRY(tri_driver_signals(d));
        TRI_TRY(tri_driver_hear(d));
        if (n == 0 && !d->ended) {
            TRI_TRY(tri_driver_find_lost(d));
            TRI_TRY(tick(d));
        }
        TRI_TRY(keep_up(d));
        if (d->end_by_s > 0 && tri_now() > d->end_by_s) {
            break;
        }
        if (n > 0) {
            tri_pause_reset(&pause);
        } else if (!d->ended) {
            rest(d, &pause, asks);
        }
    }
    return TRI_OK;
}

/*
 * Placement of groups on hosts: best fit over buckets of hosts with the same
 * number of free slots, aligned blocks within a host.
 */
#include "src/ctl/pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void tri_pack_fini(tri_pack *p)
{
    free(p->free_slot);
    free(p->host_of);
    free(p->hosts);
    free(p->bucket);
    *p = (tri_pack){0};
}

static void link_host(tri_pack *p, int h)
{
    tri_pack_host *host = &p->hosts[h];
    int *first = &p->bucket[host->n_free];

    host->prev = -1;
    host->next = *first;
    if (*first >= 0) {
        p->hosts[*first].prev = h;
    }
    *first = h;
}

static void unlink_host(tri_pack *p, int h)
{
    tri_pack_host *host = &p->hosts[h];

    if (host->prev >= 0) {
        p->hosts[host->prev].next = host->next;
    } else {
        p->bucket[host->n_free] = host->next;
    }
    if (host->next >= 0) {
        p->hosts[host->next].prev = host->prev;
    }
}

static void find_hosts(tri_pack *p)
{
    for (int i = 0; i < p->n_slots; i++) {
        tri_pack_host *host = &p->hosts[p->host_of[i]];

        if (!i || p->host_of[i] != p->host_of[i - 1]) {
            host->begin = i;
        }
        host->end = i + 1;
        if (host->end - host->begin > p->most) {
            p->most = host->end - host->begin;
        }
    }
}

tri_status tri_pack_init(tri_pack *p, const int *host_of, int n_slots)
{
    size_t n = (size_t)n_slots;

    tri_pack_fini(p);
    p->n_slots = n_slots;
    p->n_hosts = n_slots ? host_of[n_slots - 1] + 1 : 0;
    p->free_slot = calloc(n + 1, sizeof *p->free_slot);
    p->host_of = calloc(n + 1, sizeof *p->host_of);
    p->hosts = calloc((size_t)p->n_hosts + 1, sizeof *p->hosts);
    p->bucket = calloc(n + 1, sizeof *p->bucket);
    if (!p->free_slot || !p->host_of || !p->hosts || !p->bucket) {
        tri_pack_fini(p);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a pool of %d", n_slots);
    }
    memcpy(p->host_of, host_of, n * sizeof *host_of);
    memset(p->bucket, -1, (n + 1) * sizeof *p->bucket);
    find_hosts(p);
    for (int h = p->n_hosts - 1; h >= 0; h--) {
        link_host(p, h);
    }
    return TRI_OK;
}

void tri_pack_set_free(tri_pack *p, int slot, int is_free)
{
    int h = p->host_of[slot];
    int change = is_free ? 1 : -1;

    if (p->free_slot[slot] == (is_free != 0)) {
        return;
    }
    p->free_slot[slot] = is_free != 0;
    unlink_host(p, h);
    p->hosts[h].n_free += change;
    p->n_free += change;
    link_host(p, h);
}

/* Whether all of slots [at, at + n) are free. */
static int all_free(const tri_pack *p, int at, int n)
{
    for (int i = 0; i < n; i++) {
        if (!p->free_slot[at + i]) {
            return 0;
        }
    }
    return 1;
}

/* Where a block of n begins, `step` apart from the host's begin; -1. */
static int find_block(const tri_pack *p, const tri_pack_host *host, int n,
                      int step)
{
    for (int at = host->begin; at + n <= host->end; at += step) {
        if (all_free(p, at, n)) {
            return at;
        }
    }
    return -1;
}

/* Take n free slots of host h, of which it has as many. */
static void take_of(tri_pack *p, int h, int n, int *out)
{
    const tri_pack_host *host = &p->hosts[h];
    int step = 1, at, k = 0;

    if (n == 1) {
        const uint8_t *first = memchr(&p->free_slot[host->begin], 1,
                                      (size_t)(host->end - host->begin));

        out[0] = (int)(first - p->free_slot);
        tri_pack_set_free(p, out[0], 0);
        return;
    }
    while (step < n) {
        step *= 2;
    }
    at = find_block(p, host, n, step);
    if (at < 0) {
        at = find_block(p, host, n, 1);
    }
    for (int i = at < 0 ? host->begin : at; k < n; i++) {
        assert(i < host->end);
        if (p->free_slot[i]) {
            out[k++] = i;
            tri_pack_set_free(p, i, 0);
        }
    }
}

/* The fullest host that has room for n, else the emptiest; *room: how many it
 * can give. */
static int choose_host(const tri_pack *p, int n, int *room)
{
    for (int f = n; f <= p->most; f++) {
        if (p->bucket[f] >= 0) {
            *room = n;
            return p->bucket[f];
        }
    }
    for (int f = n - 1 < p->most ? n - 1 : p->most; f > 0; f--) {
        if (p->bucket[f] >= 0) {
            *room = f;
            return p->bucket[f];
        }
    }
    return -1;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int tri_pack_take(tri_pack *p, int n, int *out)
{
    int have = 0;

    if (n > p->n_free) {
        return 0;
    }
    while (have < n) {
        int room = 0;
        int h = choose_host(p, n - have, &room);

        assert(h >= 0);
        take_of(p, h, room, out + have);
        have += room;
    }
    if (n > 1) {
        qsort(out, (size_t)n, sizeof *out, ascending);
    }
    return 1;
}

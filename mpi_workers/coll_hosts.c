/*
 * Collectives across hosts: shared memory inside each, and messages between
 * the first ranks of the hosts, which go through the places of sums.
 *
 *     all: into shared memory; barrier
 *     first rank: exchange with the first ranks of the other hosts
 *     barrier; all: out of shared memory
 *
 * Each byte so crosses the network once for a host, not once for a rank.  A sum
 * goes straight to every other host where it is small or there are two of them:
 * one message each way.  Otherwise it goes around in as many pieces as there
 * are hosts, which sends the least; each piece is summed on one way and then
 * handed on: the same bits on all.
 *
 * Where an exchange fails the first rank gives the shared memory up with whom
 * it has lost, so those that wait for it say the same.
 */
#include "mpi_workers/coll_ways.h"

#include "mpi_workers/wait.h"
#include "mpi_workers/words.h"

#include <stdlib.h>
#include <string.h>

#ifdef TRI_REAL_DOUBLE
#define MPI_REAL_TYPE MPI_DOUBLE
#else
#define MPI_REAL_TYPE MPI_FLOAT
#endif

#define TAG 31910
/* Up to so much is sent to every other host. */
#define SMALL ((int64_t)(16 << 10) / (int64_t)sizeof(tri_real))
/* A message has to be worth its latency. */
#define LEAST ((int64_t)(512 << 10) / (int64_t)sizeof(tri_real))

typedef struct span { /* ranks next to each other on one host */
    int host, first, last;
    int64_t from, to; /* what of theirs is exchanged now */
} span;

struct tri_hosts {
    int n, mine; /* hosts, in the order of their first ranks */
    int *first;  /* rank of each */
    int *here;   /* ranks of this one */
    int n_here;  /* how many, and on the host that has most */
    int most_here;
    span *spans;
    int n_spans;
    MPI_Request *requests;
    int *peers;     /* of the requests */
    tri_real *room; /* what is received to be added; allocated where needed */
};

/* ---- who is where -------------------------------------------------------- */

static uint64_t name_hash(void)
{
    char host[64];
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    tri_shared_host(host, sizeof host);
    for (const char *at = host; *at; at++) {
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    }
    return hash;
}

/* [out] *names, owned: of all ranks. */
static tri_status tell_names(MPI_Comm comm, int size, uint64_t **names)
{
    uint64_t *all = malloc(((size_t)size + 1) * sizeof *all);
    MPI_Request request;

    if (!all) { /* the others find this rank silent */
        return TRI_FAIL(TRI_ECOMM, "no memory for %d ranks' hosts", size);
    }
    all[size] = name_hash();
    if (MPI_Iallgather(&all[size], 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, comm,
                       &request) != MPI_SUCCESS) {
        free(all);
        return TRI_FAIL(TRI_ECOMM, "the group could not tell its hosts");
    }
    /* where that fails they are MPI's; NOLINTNEXTLINE(clang-analyzer-unix.*) */
    TRI_TRY(tri_wait_until(&request, comm, -1, TRI_NO_DEADLINE));
    *names = all;
    return TRI_OK;
}

static int count_hosts(const uint64_t *names, int size)
{
    int n = 0;

    for (int i = 0; i < size; i++) {
        int k = 0;

        while (names[k] != names[i]) {
            k++;
        }
        n += k == i;
    }
    return n;
}

static int host_of(const tri_hosts *h, const uint64_t *names, int rank)
{
    int k = 0;

    while (k < h->n && names[h->first[k]] != names[rank]) {
        k++;
    }
    return k;
}

/* Fill in what the names say; `count`, n zeros, is for the ranks of each. */
static void sort_out(tri_hosts *h, const uint64_t *names, int rank, int size,
                     int *count)
{
    h->n = 0;
    for (int i = 0; i < size; i++) {
        int host = host_of(h, names, i);

        if (host == h->n) {
            h->first[h->n++] = i;
        }
        if (i == 0 || h->spans[h->n_spans - 1].host != host) {
            h->spans[h->n_spans++] = (span){.host = host, .first = i};
        }
        h->spans[h->n_spans - 1].last = i;
        count[host]++;
        h->most_here = count[host] > h->most_here ? count[host] : h->most_here;
    }
    h->mine = host_of(h, names, rank);
    for (int i = 0; i < size; i++) {
        if (names[i] == names[rank]) {
            h->here[h->n_here++] = i;
        }
    }
}

static int allocate(tri_hosts *h, int n, int size)
{
    size_t most = (size_t)n * (size_t)size; /* every span to every host */

    h->first = malloc((size_t)n * sizeof *h->first);
    h->here = malloc((size_t)size * sizeof *h->here);
    h->spans = malloc((size_t)size * sizeof *h->spans);
    h->requests = malloc(most * sizeof(MPI_Request));
    h->peers = malloc(most * sizeof *h->peers);
    return h->first && h->here && h->spans && h->requests && h->peers;
}

void tri_hosts_close(tri_hosts *h)
{
    if (h) {
        free(h->first);
        free(h->here);
        free(h->spans);
        free(h->requests);
        free(h->peers);
        free(h->room);
        free(h);
    }
}

static tri_status create(MPI_Comm comm, const uint64_t *names, int size, int n,
                         tri_hosts **out)
{
    tri_hosts *h = calloc(1, sizeof *h);
    int *count = calloc((size_t)n, sizeof *count);
    int ok = h && count && allocate(h, n, size);
    int64_t room;
    int rank;

    if (ok) {
        MPI_Comm_rank(comm, &rank);
        sort_out(h, names, rank, size, count);
        room = n == 2 ? tri_hosts_chunk(h) : n * SMALL;
        room = room > tri_hosts_chunk(h) ? room : tri_hosts_chunk(h);
        h->room = malloc((size_t)room * sizeof *h->room);
    }
    free(count);
    if (!ok || !h->room) {
        tri_hosts_close(h);
        return TRI_FAIL(TRI_ECOMM, "no memory for a group on %d hosts", n);
    }
    *out = h;
    return TRI_OK;
}

tri_status tri_hosts_open(MPI_Comm comm, tri_hosts **out)
{
    uint64_t *names = NULL;
    tri_status st = TRI_OK;
    int size;
    int n;

    MPI_Comm_size(comm, &size);
    TRI_TRY(tell_names(comm, size, &names));
    n = count_hosts(names, size);
    *out = NULL;
    if (n > 1) {
        st = create(comm, names, size, n, out);
    }
    free(names);
    return st;
}

int tri_hosts_here(const tri_hosts *h, const int **ranks)
{
    *ranks = h->here;
    return h->n_here;
}

int64_t tri_hosts_chunk(const tri_hosts *h)
{
    int64_t chunk = tri_coll_chunk(h->most_here);

    return chunk > LEAST ? chunk : LEAST;
}

/* ---- messages ------------------------------------------------------------ */

static void note(tri_hosts *h, int *n, int rc, int peer, tri_status *st)
{
    if (rc == MPI_SUCCESS) {
        h->peers[(*n)++] = peer;
    } else {
        *st = TRI_FAIL(TRI_ECOMM, "a message between hosts failed");
    }
}

static void receive(tri_coll *c, int host, void *data, int64_t bytes, int *n,
                    tri_status *st)
{
    tri_hosts *h = c->hosts;
    int peer = h->first[host];

    note(h, n,
         MPI_Irecv(data, (int)bytes, MPI_BYTE, peer, TAG, c->comm,
                   &h->requests[*n]),
         peer, st);
}

static void send_on(tri_coll *c, int host, const void *data, int64_t bytes,
                    int *n, tri_status *st)
{
    tri_hosts *h = c->hosts;
    int peer = h->first[host];

    note(h, n,
         MPI_Isend(data, (int)bytes, MPI_BYTE, peer, TAG, c->comm,
                   &h->requests[*n]),
         peer, st);
}

/* Wait for the n messages that were begun, unless `st` says it was in vain. */
static tri_status finish(tri_coll *c, int n, tri_status st)
{
    tri_hosts *h = c->hosts;

    for (int i = 0; i < n && st == TRI_OK; i++) {
        st = tri_wait_until(&h->requests[i], c->comm, h->peers[i],
                            TRI_NO_DEADLINE);
        if (st != TRI_OK) {
            st = tri_shared_give_up(c->shared, h->peers[i], st);
        }
    }
    c->entangled = c->entangled || st != TRI_OK;
    return st;
}

/* ---- sums ---------------------------------------------------------------- */

static void add(tri_real *restrict sum, const tri_real *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        sum[i] += x[i];
    }
}

/* To and from every other host; added in the order of hosts. */
static tri_status add_straight(tri_coll *c, tri_real *sums, int64_t n)
{
    tri_hosts *h = c->hosts;
    int64_t bytes = n * (int64_t)sizeof *sums;
    tri_status st = TRI_OK;
    int k = 0;

    for (int g = 0; g < h->n; g++) {
        int64_t at = h->n == 2 ? 0 : g * n;

        if (g != h->mine) {
            receive(c, g, h->room + at, bytes, &k, &st);
            send_on(c, g, sums, bytes, &k, &st);
        }
    }
    TRI_TRY(finish(c, k, st));
    if (h->n == 2) { /* a + b is b + a */
        add(sums, h->room, n);
        return TRI_OK;
    }
    memcpy(h->room + h->mine * n, sums, (size_t)bytes);
    memcpy(sums, h->room, (size_t)bytes);
    for (int g = 1; g < h->n; g++) {
        add(sums, h->room + g * n, n);
    }
    return TRI_OK;
}

/* Where piece `g` of n elements begins; g may be any number. */
static int64_t begins(const tri_hosts *h, int64_t n, int g)
{
    return n * g / h->n;
}

static int around(const tri_hosts *h, int g)
{
    return ((g % h->n) + h->n) % h->n;
}

/* Hand piece `give` on, and take piece `get` from the one before into `to`. */
static tri_status turn(tri_coll *c, tri_real *sums, int64_t n, int give,
                       int get, tri_real *to)
{
    tri_hosts *h = c->hosts;
    const int64_t real = (int64_t)sizeof *sums;
    int64_t at = begins(h, n, give);
    tri_status st = TRI_OK;
    int k = 0;

    receive(c, around(h, h->mine - 1), to,
            (begins(h, n, get + 1) - begins(h, n, get)) * real, &k, &st);
    send_on(c, around(h, h->mine + 1), sums + at,
            (begins(h, n, give + 1) - at) * real, &k, &st);
    return finish(c, k, st);
}

static tri_status add_around(tri_coll *c, tri_real *sums, int64_t n)
{
    const tri_hosts *h = c->hosts;

    for (int i = 0; i < h->n - 1; i++) {
        int get = around(h, h->mine - i - 1);
        int64_t at = begins(h, n, get);

        TRI_TRY(turn(c, sums, n, around(h, h->mine - i), get, h->room));
        add(sums + at, h->room, begins(h, n, get + 1) - at);
    }
    for (int i = 0; i < h->n - 1; i++) {
        int get = around(h, h->mine - i);

        TRI_TRY(turn(c, sums, n, around(h, h->mine - i + 1), get,
                     sums + begins(h, n, get)));
    }
    return TRI_OK;
}

tri_status tri_hosts_add(tri_coll *c, tri_real *sums, int64_t n)
{
    int straight = c->hosts->n == 2 || n <= SMALL;

    TRI_TRY(tri_shared_barrier(c->shared));
    if (c->here == 0) {
        TRI_TRY((straight ? add_straight : add_around)(c, sums, n));
    }
    return tri_shared_barrier(c->shared);
}

/* Twice what has to be sent: the sum of all of it. */
static tri_status reduce_scatter(tri_coll *c, tri_real *x, int64_t n)
{
    return tri_coll_shared_sum(c, x, n);
}

/* ---- each one's part ------------------------------------------------------
 */

/* Every host's spans, which lie in `at`, to every other. */
static tri_status exchange(tri_coll *c, char *at)
{
    tri_hosts *h = c->hosts;
    tri_status st = TRI_OK;
    int k = 0;

    for (int i = 0; i < h->n_spans; i++) {
        const span *s = &h->spans[i];

        for (int g = 0; g < h->n && s->to > s->from; g++) {
            if (s->host == h->mine && g != h->mine) {
                send_on(c, g, at + s->from, s->to - s->from, &k, &st);
            }
        }
        if (s->host != h->mine && s->to > s->from) {
            receive(c, s->host, at + s->from, s->to - s->from, &k, &st);
        }
    }
    return finish(c, k, st);
}

static tri_status exchange_all(tri_coll *c, void *at)
{
    TRI_TRY(tri_shared_barrier(c->shared));
    if (c->here == 0) {
        TRI_TRY(exchange(c, at));
    }
    return tri_shared_barrier(c->shared);
}

static int64_t within(int64_t x, int64_t most)
{
    return x < 0 ? 0 : x > most ? most : x;
}

/* Of the ranks' parts of n elements what lies in the `len` from `at` on. */
static void cut_spans(const tri_coll *c, int64_t n, int64_t at, int64_t len)
{
    const int64_t real = (int64_t)sizeof(tri_real);

    for (int i = 0; i < c->hosts->n_spans; i++) {
        span *s = &c->hosts->spans[i];
        int64_t first;
        int64_t last;
        int64_t count;

        tri_coll_part(c, s->first, n, &first, &count);
        tri_coll_part(c, s->last, n, &last, &count);
        s->from = within(first - at, len) * real;
        s->to = within(last + count - at, len) * real;
    }
}

static tri_status gather(tri_coll *c, tri_real *x, int64_t n)
{
    int64_t mine;
    int64_t count;

    tri_coll_part(c, c->rank, n, &mine, &count);
    for (int64_t at = 0; at < n; at += c->chunk) {
        tri_real *all = tri_coll_place(c, c->turn++, c->n_here);
        int64_t len = n - at < c->chunk ? n - at : c->chunk;
        int64_t from = within(mine - at, len);
        int64_t to = within(mine + count - at, len);

        cut_spans(c, n, at, len);
        memcpy(all + from, x + at + from, (size_t)(to - from) * sizeof *x);
        TRI_TRY(exchange_all(c, all));
        memcpy(x + at, all, (size_t)len * sizeof *x);
    }
    return TRI_OK;
}

static tri_status tell(tri_coll *c, const void *mine, int bytes, void *all)
{
    char *at = (char *)tri_coll_place(c, c->turn++, c->n_here);

    if ((int64_t)bytes * c->size > c->chunk * (int64_t)sizeof(tri_real)) {
        return TRI_FAIL(TRI_ECOMM, "%d ranks have too much to say", c->size);
    }
    for (int i = 0; i < c->hosts->n_spans; i++) {
        span *s = &c->hosts->spans[i];

        s->from = (int64_t)s->first * bytes;
        s->to = ((int64_t)s->last + 1) * bytes;
    }
    memcpy(at + (size_t)c->rank * (size_t)bytes, mine, (size_t)bytes);
    TRI_TRY(exchange_all(c, at));
    memcpy(all, at, (size_t)c->size * (size_t)bytes);
    return TRI_OK;
}

const tri_coll_ops tri_coll_hosts = {.name = "shared memory and messages",
                                     .sum = tri_coll_shared_sum,
                                     .reduce_scatter = reduce_scatter,
                                     .gather = gather,
                                     .tell = tell,
                                     .exchange = tri_coll_mpi_exchange};

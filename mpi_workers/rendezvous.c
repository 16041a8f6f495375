/*
 * Finds the address, port, hosts and devices of a group's processes.
 */
#include "mpi_workers/rendezvous.h"

#include "mpi_workers/p2p.h"
#include "mpi_workers/place.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Where the system's range cannot be read; and what is given of the rest. */
#define EPHEMERAL_LOW  32768
#define EPHEMERAL_HIGH 60999
#define LEAST_PORT     10000
#define MOST_PORT      65535
/* Ports given lately, not to be given again: a peer of the last run may still
 * knock there. */
#define N_RECENT 64
/* The least distance of two tries of one key. */
#define TRY_STRIDE 4099

enum { /* tags on the group's communicator */
    TAG_BYTES = 1,
    TAG_CARD,
    TAG_CARDS
};

/* ---- ports --------------------------------------------------------------- */

void tri_rendezvous_ports(int low, int high, int *first, int *n)
{
    int below = low - LEAST_PORT;
    int above = MOST_PORT - high;

    if (below < 1000 && above < 1000) { /* all is ephemeral: any will do */
        *first = LEAST_PORT;
        *n = MOST_PORT - LEAST_PORT;
    } else if (below >= above) {
        *first = LEAST_PORT;
        *n = below;
    } else {
        *first = high + 1;
        *n = above;
    }
}

static void read_ports(int *first, int *n)
{
    FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    int low;
    int high;

    if (!f || fscanf(f, "%d %d", &low, &high) != 2) {
        low = EPHEMERAL_LOW;
        high = EPHEMERAL_HIGH;
    }
    if (f) {
        fclose(f);
    }
    tri_rendezvous_ports(low, high, first, n);
}

static int can_bind(int family, const struct sockaddr *at, socklen_t bytes)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;
    int good;

    if (fd < 0) {
        return family == AF_INET6; /* there is no such protocol */
    }
    if (family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    }
    good = bind(fd, at, bytes) == 0;
    close(fd);
    return good;
}

static int is_free(int port)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    memset(&v4, 0, sizeof v4);
    v4.sin_family = AF_INET;
    v4.sin_port = htons((uint16_t)port);
    memset(&v6, 0, sizeof v6);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons((uint16_t)port);
    return can_bind(AF_INET, (struct sockaddr *)&v4, sizeof v4) &&
           can_bind(AF_INET6, (struct sockaddr *)&v6, sizeof v6);
}

/* Alike on all ranks of a job, so that keys alone tell their ports apart. */
static uint64_t job_offset(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PMIX_NAMESPACE",
                                        "OMPI_MCA_ess_base_jobid", "PMI_JOBID"};
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *s = getenv(names[i]);

        for (; s && *s; s++) {
            h = (h ^ (unsigned char)*s) * 1099511628211u;
        }
    }
    return h;
}

static int recent[N_RECENT];

static int is_recent(int port)
{
    for (int i = 0; i < N_RECENT; i++) {
        if (recent[i] == port) {
            return 1;
        }
    }
    return 0;
}

static void note_recent(int port)
{
    static int at;

    recent[at] = port;
    at = (at + 1) % N_RECENT;
}

static int find_port(uint64_t key, int attempt)
{
    int first;
    int n;
    int port = 0;
    uint64_t from;

    read_ports(&first, &n);
    from = job_offset() % (uint64_t)n + key % (uint64_t)n +
           (uint64_t)attempt * TRY_STRIDE;
    for (int i = 0; i < n; i++) {
        port = first + (int)((from + (uint64_t)i * 127) % (uint64_t)n);
        if (!is_recent(port) && is_free(port)) {
            break;
        }
    }
    note_recent(port);
    return port;
}

/* ---- this host ----------------------------------------------------------- */

static int is_reachable(const struct sockaddr *at)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)at;

    return at && at->sa_family == AF_INET &&
           ntohl(v4->sin_addr.s_addr) >> 24 != 127;
}

static int print_address(const struct sockaddr *at, char *buf, size_t bytes)
{
    return is_reachable(at) &&
           getnameinfo(at, sizeof(struct sockaddr_in), buf, (socklen_t)bytes,
                       NULL, 0, NI_NUMERICHOST) == 0;
}

/* What the host's own name stands for, unless that is loopback. */
static int find_named(char *buf, size_t bytes)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char name[256] = "";
    int found = 0;

    gethostname(name, sizeof name - 1);
    if (getaddrinfo(name, NULL, &hints, &list) != 0) {
        return 0;
    }
    for (struct addrinfo *a = list; a && !found; a = a->ai_next) {
        found = print_address(a->ai_addr, buf, bytes);
    }
    freeaddrinfo(list);
    return found;
}

static int find_interface(char *buf, size_t bytes)
{
    struct ifaddrs *list = NULL;
    int found = 0;

    if (getifaddrs(&list) != 0) {
        return 0;
    }
    for (struct ifaddrs *a = list; a && !found; a = a->ifa_next) {
        int bridge = strncmp(a->ifa_name, "docker", 6) == 0 ||
                     strncmp(a->ifa_name, "virbr", 5) == 0;

        found = (a->ifa_flags & IFF_UP) && !bridge &&
                print_address(a->ifa_addr, buf, bytes);
    }
    freeifaddrs(list);
    return found;
}

static void find_address(char *buf, size_t bytes)
{
    if (!find_named(buf, bytes) && !find_interface(buf, bytes) &&
        gethostname(buf, bytes - 1) != 0) {
        snprintf(buf, bytes, "localhost");
    }
    buf[bytes - 1] = 0;
}

/* ---- what the cards say -------------------------------------------------- */

static int is_first_of_host(const tri_card *cards, int i)
{
    for (int j = 0; j < i; j++) {
        if (strcmp(cards[j].host, cards[i].host) == 0) {
            return 0;
        }
    }
    return 1;
}

static int count_host(const tri_card *cards, int n, const char *host)
{
    int count = 0;

    for (int i = 0; i < n; i++) {
        count += strcmp(cards[i].host, host) == 0;
    }
    return count;
}

static tri_status print_hosts(const tri_card *cards, int n, tri_rendezvous *r)
{
    size_t bytes = 1;
    char *once;
    char *slots;
    char *lines;

    for (int i = 0; i < n; i++) {
        bytes += strlen(cards[i].host) + 16;
    }
    r->hosts = once = calloc(1, bytes);
    r->host_slots = slots = calloc(1, bytes);
    r->rank_hosts = lines = calloc(1, bytes);
    if (!once || !slots || !lines) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a group's hosts");
    }
    for (int i = 0; i < n; i++) {
        const char *host = cards[i].host;
        const char *comma = i > 0 ? "," : "";

        lines += sprintf(lines, "%s\n", host);
        if (is_first_of_host(cards, i)) {
            once += sprintf(once, "%s%s", comma, host);
            slots += sprintf(slots, "%s%s:%d", comma, host,
                             count_host(cards, n, host));
        }
    }
    return TRI_OK;
}

/* The devices of this host's members together, in their order. */
static tri_status join_devices(const tri_card *cards, int n, tri_rendezvous *r)
{
    const char **lists = calloc(n > 0 ? (size_t)n : 1, sizeof *lists);
    int n_lists = 0;

    if (!lists) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a group's devices");
    }
    for (int i = 0; i < n; i++) {
        if (cards[i].variable[0] &&
            strcmp(cards[i].host, cards[r->rank].host) == 0) {
            lists[n_lists++] = cards[i].devices;
        }
    }
    r->devices.is_set = cards[r->rank].variable[0] != 0;
    snprintf(r->devices.variable, sizeof r->devices.variable, "%s",
             cards[r->rank].variable);
    tri_devices_join(lists, n_lists, r->devices.own, sizeof r->devices.own);
    free(lists);
    return TRI_OK;
}

tri_status tri_rendezvous_settle(const tri_card *cards, int n, int rank,
                                 tri_rendezvous *out)
{
    tri_rendezvous r = {.rank = rank, .size = n, .port = cards[0].port};
    const char *here = cards[rank].host;
    tri_status st;

    assert(n > 0 && rank < n && here);
    for (int i = 0; i < n; i++) {
        int first = is_first_of_host(cards, i);

        if (first && strcmp(cards[i].host, here) == 0) {
            r.group_rank = r.n_hosts;
        }
        r.n_hosts += first;
    }
    r.local_rank = count_host(cards, rank, here);
    r.local_size = count_host(cards, n, here);
    snprintf(r.address, sizeof r.address, "%s",
             r.n_hosts == 1 ? "127.0.0.1" : cards[0].address);
    st = print_hosts(cards, n, &r);
    if (st == TRI_OK) {
        st = join_devices(cards, n, &r);
    }
    if (st != TRI_OK) {
        tri_rendezvous_fini(&r);
        return st;
    }
    *out = r;
    return TRI_OK;
}

void tri_rendezvous_fini(tri_rendezvous *r)
{
    free(r->hosts);
    free(r->host_slots);
    free(r->rank_hosts);
    r->hosts = r->host_slots = r->rank_hosts = NULL;
}

/* ---- sharing the cards --------------------------------------------------- */

/* On the way a card is four texts, one behind the other: host, address,
 * variable, devices; and the port as a fifth. */
#define N_TEXTS    5
#define CARD_BYTES (256 + 64 + 64 + TRI_DEVICE_BYTES + 16)

static int print_card(uint64_t key, int attempt, int leads,
                      const tri_devices *mine, char *buf)
{
    int is_set = mine && mine->is_set;
    char host[256];
    char address[64];
    int port = leads ? find_port(key, attempt) : 0;

    tri_place_node(host, sizeof host);
    address[0] = 0;
    if (leads) {
        find_address(address, sizeof address);
    }
    return snprintf(buf, CARD_BYTES, "%s%c%s%c%s%c%s%c%d", host, 0, address, 0,
                    is_set ? mine->variable : "", 0, is_set ? mine->own : "", 0,
                    port) +
           1;
}

typedef struct deck { /* the texts of all cards, one rank behind the other */
    char *data;
    int32_t bytes;
} deck;

static tri_status append(deck *d, const char *text, int bytes)
{
    char *grown = realloc(d->data, (size_t)d->bytes + (size_t)bytes + 1);

    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a group's places");
    }
    d->data = grown;
    memcpy(d->data + d->bytes, text, (size_t)bytes);
    d->bytes += bytes;
    d->data[d->bytes] = 0;
    return TRI_OK;
}

static tri_status send_text(MPI_Comm comm, int to, int tag, const char *text,
                            int32_t bytes, double limit_s)
{
    TRI_TRY(tri_p2p_send(comm, to, TAG_BYTES, &bytes, (int)sizeof bytes,
                         limit_s));
    return tri_p2p_send(comm, to, tag, text, bytes, limit_s);
}

static tri_status receive_text(MPI_Comm comm, int from, int tag, deck *d,
                               double limit_s)
{
    int32_t bytes;
    char *text;
    tri_status st;

    TRI_TRY(tri_p2p_receive(comm, from, TAG_BYTES, &bytes, (int)sizeof bytes,
                            limit_s));
    if (bytes < N_TEXTS || bytes > 1 << 28) {
        return TRI_FAIL(TRI_ECOMM, "a rank's place of %d bytes", (int)bytes);
    }
    text = malloc((size_t)bytes);
    if (!text) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a group's places");
    }
    st = tri_p2p_receive(comm, from, tag, text, bytes, limit_s);
    if (st == TRI_OK) {
        st = append(d, text, bytes);
    }
    free(text);
    return st;
}

/* All cards on all ranks, by way of the leader, who can name a silent one. */
static tri_status share(MPI_Comm comm, int rank, int size, const char *card,
                        int bytes, double limit_s, deck *d)
{
    if (rank > 0) {
        TRI_TRY(send_text(comm, 0, TAG_CARD, card, bytes, limit_s));
        return receive_text(comm, 0, TAG_CARDS, d, limit_s);
    }
    TRI_TRY(append(d, card, bytes));
    for (int i = 1; i < size; i++) {
        TRI_TRY(receive_text(comm, i, TAG_CARD, d, limit_s));
    }
    for (int i = 1; i < size; i++) {
        TRI_TRY(send_text(comm, i, TAG_CARDS, d->data, d->bytes, limit_s));
    }
    return TRI_OK;
}

static const char *next_text(const deck *d, const char **at)
{
    const char *text = *at;

    if (text >= d->data + d->bytes) {
        return "";
    }
    *at += strlen(text) + 1;
    return text;
}

static tri_status read_deck(const deck *d, int n, int rank, tri_rendezvous *out)
{
    tri_card *cards = calloc(n > 0 ? (size_t)n : 1, sizeof *cards);
    const char *at = d->data;
    tri_status st;

    assert(n > 0); /* this rank is one of them */
    if (!cards) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a group's places");
    }
    for (int i = 0; i < n; i++) {
        cards[i].host = next_text(d, &at);
        cards[i].address = next_text(d, &at);
        cards[i].variable = next_text(d, &at);
        cards[i].devices = next_text(d, &at);
        cards[i].port = atoi(next_text(d, &at));
    }
    st = tri_rendezvous_settle(cards, n, rank, out);
    free(cards);
    return st;
}

tri_status tri_rendezvous_meet(MPI_Comm comm, uint64_t key, int attempt,
                               const tri_devices *mine, double limit_s,
                               tri_rendezvous *out)
{
    char card[CARD_BYTES];
    deck d = {0};
    tri_status st;
    int rank;
    int size;
    int bytes;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    bytes = print_card(key, attempt, rank == 0, mine, card);
    st = share(comm, rank, size, card, bytes, limit_s, &d);
    if (st == TRI_OK) {
        st = read_deck(&d, size, rank, out);
    }
    free(d.data);
    return st;
}

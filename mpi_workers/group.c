/*
 * Forms groups, caches their communicators by rank set, and lets members
 * agree.  Knows nothing of trials.
 */
#include "mpi_workers/group.h"

#include "mpi_workers/p2p.h"
#include "mpi_workers/wait.h"
#include "mpi_workers/watchdog.h"
#include "trireme/log.h"

#include <stdlib.h>
#include <string.h>

enum {
    TAG_HAVE = 1,
    TAG_USE = 2
}; /* on `peers` */

typedef struct entry {
    MPI_Comm comm;
    int64_t id; /* the same on every member, given by the leader */
    int kept;   /* stays cached after leave */
    int n;
    int32_t *ranks;
} entry;

struct tri_groups {
    MPI_Comm peers;
    int me;
    int most;
    entry *entries;
    int n, room;
    int64_t created;
};

typedef struct have { /* member to leader */
    uint64_t key;
    int64_t id; /* 0: nothing cached */
    int64_t room;
} have;

typedef struct use { /* leader to member */
    uint64_t key;
    int64_t id;     /* of the communicator */
    int32_t cached; /* use what you have, else create */
    int32_t keep;
} use;

tri_status tri_groups_create(MPI_Comm peers, int most, tri_groups **out)
{
    tri_groups *g = calloc(1, sizeof *g);

    if (!g) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for groups");
    }
    g->peers = peers;
    g->most = most;
    MPI_Comm_rank(peers, &g->me);
    *out = g;
    return TRI_OK;
}

int tri_groups_n_cached(const tri_groups *g)
{
    return g->n;
}

static void remove_entry(tri_groups *g, int i, int frees)
{
    if (frees) {
        MPI_Comm_free(&g->entries[i].comm);
    }
    free(g->entries[i].ranks);
    g->entries[i] = g->entries[--g->n];
}

/* By rank set: so all ranks free what they share in the same order. */
static int compare_entries(const void *a, const void *b)
{
    const entry *x = a;
    const entry *y = b;

    for (int i = 0; i < x->n && i < y->n; i++) {
        if (x->ranks[i] != y->ranks[i]) {
            return x->ranks[i] < y->ranks[i] ? 1 : -1;
        }
    }
    return x->n < y->n ? 1 : -(x->n > y->n);
}

void tri_groups_destroy(tri_groups *g, int frees)
{
    if (!g) {
        return;
    }
    if (g->n > 0) {
        qsort(g->entries, (size_t)g->n, sizeof *g->entries, compare_entries);
    }
    while (g->n > 0) {
        remove_entry(g, g->n - 1, frees);
    }
    free(g->entries);
    free(g);
}

static int find(const tri_groups *g, const int32_t *ranks, int n)
{
    for (int i = 0; i < g->n; i++) {
        if (g->entries[i].n == n && memcmp(g->entries[i].ranks, ranks,
                                           (size_t)n * sizeof *ranks) == 0) {
            return i;
        }
    }
    return -1;
}

/* Receive a `have` or `use` of this forming; those of earlier ones that came
 * to nothing are dropped. */
static tri_status receive_of(MPI_Comm peers, int from, int tag, void *message,
                             int bytes, uint64_t key, double limit_s)
{
    uint64_t got;

    do {
        TRI_TRY(tri_p2p_receive(peers, from, tag, message, bytes, limit_s));
        memcpy(&got, message, sizeof got);
    } while (got != key);
    return TRI_OK;
}

/* The leader hears what the members have and answers. */
static tri_status lead(tri_groups *g, const int32_t *ranks, int n,
                       const have *mine, double limit_s, use *out)
{
    use answer = {mine->key, mine->id, mine->id != 0, mine->room > 0};
    have theirs;

    for (int i = 1; i < n; i++) {
        TRI_TRY(receive_of(g->peers, ranks[i], TAG_HAVE, &theirs,
                           (int)sizeof theirs, mine->key, limit_s));
        answer.cached = answer.cached && theirs.id == mine->id;
        answer.keep = answer.keep && theirs.room > 0;
    }
    if (answer.cached) {
        answer.keep = 1;
    } else {
        answer.id = ((int64_t)(g->me + 1) << 32) + ++g->created;
    }
    for (int i = 1; i < n; i++) {
        TRI_TRY(tri_p2p_send(g->peers, ranks[i], TAG_USE, &answer,
                             (int)sizeof answer, limit_s));
    }
    *out = answer;
    return TRI_OK;
}

static tri_status follow(tri_groups *g, int leader, const have *mine,
                         double limit_s, use *out)
{
    TRI_TRY(tri_p2p_send(g->peers, leader, TAG_HAVE, mine, (int)sizeof *mine,
                         limit_s));
    return receive_of(g->peers, leader, TAG_USE, out, (int)sizeof *out,
                      mine->key, limit_s);
}

static tri_status make(tri_groups *g, const int32_t *ranks, int n, uint64_t key,
                       double limit_s, MPI_Comm *out)
{
    MPI_Group all;
    MPI_Group some;
    double before;
    int rc;

    MPI_Comm_group(g->peers, &all);
    MPI_Group_incl(all, n, ranks, &some);
    before = tri_watchdog_begin(limit_s);
    rc = MPI_Comm_create_group(g->peers, some, (int)(key & 0x3fff), out);
    tri_watchdog_end(before);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    if (rc != MPI_SUCCESS || *out == MPI_COMM_NULL) {
        return TRI_FAIL(TRI_ECOMM,
                        "the group of %d ranks led by rank %d "
                        "cannot be created",
                        n, ranks[0]);
    }
    MPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
    return TRI_OK;
}

static tri_status add(tri_groups *g, const int32_t *ranks, int n,
                      const use *answer, MPI_Comm comm)
{
    int32_t *copy = malloc((size_t)n * sizeof *copy);
    entry *more = g->entries;

    if (copy && g->n == g->room) {
        more = realloc(more, (size_t)(g->room + 8) * sizeof *more);
        if (more) {
            g->entries = more;
            g->room += 8;
        }
    }
    if (!copy || !more) {
        free(copy);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a group");
    }
    memcpy(copy, ranks, (size_t)n * sizeof *copy);
    g->entries[g->n++] = (entry){comm, answer->id, answer->keep, n, copy};
    return TRI_OK;
}

tri_status tri_groups_enter(tri_groups *g, const int32_t *ranks, int n,
                            uint64_t key, double limit_s, MPI_Comm *out)
{
    int at = find(g, ranks, n);
    have mine = {key, at < 0 ? 0 : g->entries[at].id, g->most - g->n};
    use answer;
    MPI_Comm comm = MPI_COMM_NULL;

    if (ranks[0] == g->me) {
        TRI_TRY(lead(g, ranks, n, &mine, limit_s, &answer));
    } else {
        TRI_TRY(follow(g, ranks[0], &mine, limit_s, &answer));
    }
    if (answer.cached) {
        *out = g->entries[at].comm;
        return TRI_OK;
    }
    if (at >= 0) { /* a peer has dropped it: it cannot be freed together */
        remove_entry(g, at, 0);
    }
    TRI_TRY(make(g, ranks, n, key, limit_s, &comm));
    TRI_TRY(add(g, ranks, n, &answer, comm));
    *out = comm;
    return TRI_OK;
}

void tri_groups_leave(tri_groups *g, MPI_Comm comm, int broken)
{
    for (int i = 0; i < g->n; i++) {
        if (g->entries[i].comm == comm) {
            if (broken || !g->entries[i].kept) {
                remove_entry(g, i, !broken);
            }
            return;
        }
    }
}

/* ---- votes ------------------------------------------------------------- */

static int outranks(int32_t theirs, int32_t best)
{
    int scope = (int)tri_status_scope((tri_status)theirs);

    return theirs != TRI_OK && scope > (int)tri_status_scope((tri_status)best);
}

/* Fold the vote of a higher rank into `sum`. */
static void fold(tri_vote *sum, const tri_vote *v)
{
    if (outranks(v->status, sum->status)) {
        sum->status = v->status;
        sum->rank = v->rank;
        sum->reason = v->reason;
        memcpy(sum->sentence, v->sentence, sizeof sum->sentence);
    }
    sum->all = sum->all && v->all;
    sum->any = sum->any || v->any;
    if (!sum->has && v->has) {
        sum->has = 1;
        memcpy(sum->x, v->x, sizeof sum->x);
        if (sum->status == TRI_OK) {
            memcpy(sum->sentence, v->sentence, sizeof sum->sentence);
        }
    }
    for (int i = 0; i < 3; i++) {
        if (v->max[i] > sum->max[i]) {
            sum->max[i] = v->max[i];
        }
    }
}

tri_status tri_group_vote(MPI_Comm comm, tri_vote *vote, double limit_s)
{
    int rank;
    int n;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    vote->rank = rank;
    if (n == 1) { /* alone it beats as well */
        tri_wait_look();
    }
    if (rank == 0) {
        tri_vote sum = *vote;
        tri_vote theirs;

        for (int i = 1; i < n; i++) {
            TRI_TRY(tri_p2p_receive(comm, i, TRI_TAG_VOTE, &theirs,
                                    (int)sizeof theirs, limit_s));
            fold(&sum, &theirs);
        }
        for (int i = 1; i < n; i++) {
            TRI_TRY(tri_p2p_send(comm, i, TRI_TAG_ANSWER, &sum, (int)sizeof sum,
                                 limit_s));
        }
        *vote = sum;
        return TRI_OK;
    }
    TRI_TRY(tri_p2p_send(comm, 0, TRI_TAG_VOTE, vote, (int)sizeof *vote,
                         limit_s));
    return tri_p2p_receive(comm, 0, TRI_TAG_ANSWER, vote, (int)sizeof *vote,
                           limit_s);
}

tri_status tri_group_agree(MPI_Comm comm, tri_status mine, double limit_s)
{
    tri_vote vote;

    memset(&vote, 0, sizeof vote);
    vote.status = (int32_t)mine;
    if (mine != TRI_OK) {
        memccpy(vote.sentence, tri_error_last()->sentence, 0,
                sizeof vote.sentence - 1);
    }
    TRI_TRY(tri_group_vote(comm, &vote, limit_s));
    if (vote.status != TRI_OK && mine == TRI_OK) {
        return TRI_FAIL((tri_status)vote.status, "%s", vote.sentence);
    }
    return (tri_status)vote.status;
}

/*
 * Lists of what ranks hold.
 */
#include "mpi_workers/ckpt_list.h"

#include "mpi_workers/p2p.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG_LIST = 201,
    TAG_ALL
};

static int sign(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_set(const tri_ckpt_entry *a, const tri_ckpt_entry *b)
{
    int c = strcmp(a->set, b->set);

    c = c ? c : sign(a->id, b->id);
    return c ? c : strcmp(a->name, b->name);
}

static int compare(const void *x, const void *y)
{
    const tri_ckpt_entry *a = x;
    const tri_ckpt_entry *b = y;
    int c = by_set(a, b);

    c = c ? c : sign(a->rank, b->rank);
    return c ? c : sign(a->cut.from, b->cut.from);
}

static tri_status take_room(int n, tri_ckpt_list *out)
{
    out->at = calloc((size_t)n + 1, sizeof *out->at);
    out->n = 0;
    return out->at ? TRI_OK
                   : TRI_FAIL(TRI_ENOMEM, "no memory for a checkpoint's list");
}

static void sort(tri_ckpt_list *list)
{
    qsort(list->at, (size_t)list->n, sizeof *list->at, compare);
}

tri_status tri_ckpt_list_own(int rank, const tri_ckpt_part *parts, int n,
                             tri_ckpt_list *out)
{
    TRI_TRY(take_room(n, out));
    for (int i = 0; i < n; i++) {
        const tri_ckpt_part *p = &parts[i];
        tri_ckpt_entry *e = &out->at[out->n];

        if (!p->owned || p->n <= 0) {
            continue;
        }
        out->n++;
        snprintf(e->set, sizeof e->set, "%s", p->set);
        snprintf(e->name, sizeof e->name, "%s", p->tensor->name);
        e->id = p->tensor->id;
        e->rank = rank;
        e->cut = tri_cut_of(p->tensor, p->from, p->n);
        e->sum = tri_cut_sum(&e->cut, p->at);
        e->at = p->at;
    }
    sort(out);
    return TRI_OK;
}

void tri_ckpt_list_fini(tri_ckpt_list *list)
{
    free(list->at);
    list->at = NULL;
    list->n = 0;
}

/* A list as one message after its length. */
static tri_status send_list(MPI_Comm comm, int to, int tag,
                            const tri_ckpt_list *list)
{
    TRI_TRY(tri_p2p_send(comm, to, tag, &list->n, (int)sizeof list->n,
                         TRI_CKPT_PATIENCE_S));
    return tri_p2p_send(comm, to, tag, list->at,
                        (int)((size_t)list->n * sizeof *list->at),
                        TRI_CKPT_PATIENCE_S);
}

/* Append what `from` sends; `st` is what is wrong here already: then it is only
 * received.  Scope group only. */
static tri_status receive_list(MPI_Comm comm, int from, int tag,
                               tri_ckpt_list *list, tri_status *st)
{
    size_t each = sizeof *list->at;
    tri_ckpt_entry *got;
    tri_ckpt_entry *more;
    tri_status link;
    int n = 0;

    TRI_TRY(tri_p2p_receive(comm, from, tag, &n, (int)sizeof n,
                            TRI_CKPT_PATIENCE_S));
    got = malloc((size_t)n * each + 1);
    if (!got) {
        return TRI_FAIL(TRI_ECOMM, "no memory for a checkpoint's list");
    }
    link = tri_p2p_receive(comm, from, tag, got, (int)((size_t)n * each),
                           TRI_CKPT_PATIENCE_S);
    more = link == TRI_OK ? realloc(list->at, (size_t)(list->n + n + 1) * each)
                          : NULL;
    if (more) {
        list->at = more;
        memcpy(more + list->n, got, (size_t)n * each);
        for (int i = 0; i < n; i++) {
            more[list->n + i].at = NULL;
        }
        list->n += n;
    } else if (link == TRI_OK) {
        *st = TRI_FAIL(TRI_ENOMEM, "no memory for a checkpoint's list");
    }
    free(got);
    return link;
}

tri_status tri_ckpt_list_gather(MPI_Comm comm, const tri_ckpt_list *own,
                                tri_ckpt_list *out)
{
    tri_status st = TRI_OK;
    tri_status link = TRI_OK;
    tri_ckpt_list all = {0};
    int rank;
    int size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank > 0) {
        *out = all;
        return send_list(comm, 0, TAG_LIST, own);
    }
    st = take_room(own->n, &all);
    if (st == TRI_OK && own->n > 0) {
        memcpy(all.at, own->at, (size_t)own->n * sizeof *own->at);
        all.n = own->n;
    }
    for (int i = 1; i < size && link == TRI_OK; i++) {
        link = receive_list(comm, i, TAG_LIST, &all, &st);
    }
    st = link != TRI_OK ? link : st;
    if (st != TRI_OK) {
        tri_ckpt_list_fini(&all);
        return st;
    }
    sort(&all);
    *out = all;
    return TRI_OK;
}

tri_status tri_ckpt_list_share(MPI_Comm comm, const tri_ckpt_list *all,
                               tri_ckpt_list *out)
{
    tri_status st = TRI_OK;
    tri_ckpt_list got = {0};
    int rank;
    int size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (rank > 0) {
        TRI_TRY(receive_list(comm, 0, TAG_ALL, &got, &st));
        *out = got;
        return st;
    }
    for (int i = 1; i < size; i++) {
        TRI_TRY(send_list(comm, i, TAG_ALL, all));
    }
    *out = *all;
    return TRI_OK;
}

int tri_ckpt_list_next(const tri_ckpt_list *list, int i)
{
    int end = i + 1;

    while (end < list->n && by_set(&list->at[i], &list->at[end]) == 0) {
        end++;
    }
    return end;
}

tri_status tri_ckpt_list_check(const tri_ckpt_list *list, int i, int end)
{
    const tri_ckpt_entry *first = &list->at[i];
    int64_t whole = tri_cut_whole(&first->cut);
    int64_t held = 0;

    for (; i < end; i++) {
        held += list->at[i].cut.n;
    }
    if (held != whole) {
        return TRI_FAIL(TRI_EDATA,
                        "%lld of the %lld elements of %s are held by the ranks "
                        "of the group",
                        (long long)held, (long long)whole, first->name);
    }
    return TRI_OK;
}

uint64_t tri_ckpt_list_sum(const tri_ckpt_list *list, int i, int end)
{
    uint64_t sum = 0;

    for (; i < end; i++) {
        sum += list->at[i].sum;
    }
    return sum;
}

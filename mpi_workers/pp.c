/*
 * The interpreter of pipeline schedules.
 */
#include "mpi_workers/pp.h"

#include "mpi_workers/wait.h"

#include <stdlib.h>

#ifdef TRI_REAL_DOUBLE
#define MPI_REAL_TYPE MPI_DOUBLE
#else
#define MPI_REAL_TYPE MPI_FLOAT
#endif

/* Requests of a slot. */
enum {
    RECV_F,
    SEND_F,
    RECV_B,
    SEND_B,
    WAYS
};

static MPI_Request *request(tri_pipeline *p, int slot, int way)
{
    return &p->requests[slot * WAYS + way];
}

tri_status tri_pipeline_init(const tri_model_ops *ops, tri_model *model,
                             const tri_schedule_shape *shape, int stage,
                             const tri_schedule *schedule, tri_pipeline *out)
{
    tri_pipeline p = {.ops = ops,
                      .model = model,
                      .schedule = schedule,
                      .comm = MPI_COMM_NULL,
                      .stage = stage,
                      .stages = shape->stages,
                      .m = shape->m};
    int i;

    p.requests = malloc((size_t)(schedule->slots * WAYS) * sizeof(MPI_Request));
    if (!p.requests) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a pipeline");
    }
    for (i = 0; i < schedule->slots * WAYS; i++) {
        p.requests[i] = MPI_REQUEST_NULL;
    }
    *out = p;
    return TRI_OK;
}

void tri_pipeline_fini(tri_pipeline *p)
{
    free(p->requests);
    p->requests = NULL;
}

static int goes_on(int way)
{
    return way == SEND_F || way == RECV_B;
}

/* The last stage goes on at the first, with the next chunk. */
static int peer_of(const tri_pipeline *p, int way)
{
    return (p->stage + (goes_on(way) ? 1 : p->stages - 1)) % p->stages;
}

/* A message is named by the chunk on the far side of the border that it
 * crosses, its micro-batch and its direction. */
static int tag_of(const tri_pipeline *p, int way, tri_op op)
{
    int chunk = op.chunk + (goes_on(way) && p->stage == p->stages - 1);

    return 2 * (chunk * p->m + op.k) + (way == RECV_B || way == SEND_B);
}

static void await(tri_pipeline *p, int slot, int way)
{
    if (*p->link != TRI_OK) {
        return;
    }
    *p->link = tri_wait_until(request(p, slot, way), p->comm, peer_of(p, way),
                              TRI_NO_DEADLINE);
}

/* The requests of a pipeline that is given up: what was to be received and
 * has not begun to come is taken back, the rest is left to MPI. */
static void abandon(tri_pipeline *p)
{
    for (int i = 0; i < p->schedule->slots * WAYS; i++) {
        MPI_Request *r = &p->requests[i];
        int done = *r == MPI_REQUEST_NULL;

        if (!done && (i % WAYS == RECV_F || i % WAYS == RECV_B)) {
            MPI_Cancel(r);
            MPI_Test(r, &done, MPI_STATUS_IGNORE);
        }
        p->entangled = p->entangled || !done;
        *r = MPI_REQUEST_NULL;
    }
}

static void start(tri_pipeline *p, int way, tri_port port, tri_op op)
{
    int peer = peer_of(p, way), tag = tag_of(p, way, op);
    tri_real *at = p->ops->port(p->model, port, op.slot);
    int count = (int)p->ops->port_count(p->model);
    MPI_Request *r = request(p, op.slot, way);
    int rc;

    if (*p->link != TRI_OK) {
        return;
    }
    rc = way == RECV_F || way == RECV_B
                 ? MPI_Irecv(at, count, MPI_REAL_TYPE, peer, tag, p->comm, r)
                 : MPI_Isend(at, count, MPI_REAL_TYPE, peer, tag, p->comm, r);

    if (rc != MPI_SUCCESS) {
        *r = MPI_REQUEST_NULL;
        *p->link = TRI_FAIL(TRI_ECOMM, "a message between stages failed");
    }
}

/* A buffer is written again only when its last send is over. */
static void compute(tri_pipeline *p, tri_op op)
{
    if (op.kind == TRI_OP_F) {
        await(p, op.slot, SEND_F);
        await(p, op.slot, RECV_F);
        p->ops->forward(p->model, op.slot);
    } else {
        await(p, op.slot, SEND_B);
        await(p, op.slot, RECV_B);
        p->ops->backward(p->model, op.slot);
    }
}

tri_status tri_pipeline_run(tri_pipeline *p, int64_t step, int64_t first_sample,
                            int micro_batch)
{
    int i;

    for (i = 0; i < p->schedule->n && *p->link == TRI_OK; i++) {
        tri_op op = p->schedule->ops[i];

        switch (op.kind) {
        case TRI_OP_F:
            p->ops->load(p->model, op.slot, step,
                         first_sample + (int64_t)op.k * micro_batch);
            compute(p, op);
            break;
        case TRI_OP_B:
            compute(p, op);
            break;
        case TRI_OP_RECV_F:
            start(p, RECV_F, TRI_PORT_IN, op);
            break;
        case TRI_OP_SEND_F:
            start(p, SEND_F, TRI_PORT_OUT, op);
            break;
        case TRI_OP_RECV_B:
            start(p, RECV_B, TRI_PORT_D_OUT, op);
            break;
        case TRI_OP_SEND_B:
            start(p, SEND_B, TRI_PORT_D_IN, op);
            break;
        }
    }
    for (i = 0; i < p->schedule->slots; i++) {
        await(p, i, SEND_F);
        await(p, i, SEND_B);
    }
    if (*p->link != TRI_OK) {
        abandon(p);
    }
    return *p->link;
}

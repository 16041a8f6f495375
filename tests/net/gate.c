/*
 * A word in shared memory, and the step of a leader that looks at it.
 */
#include "tests/net/gate.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/run_internal.h"
#include "mpi_workers/shared.h"
#include "mpi_workers/wait.h"

#include <stdatomic.h>

#define LONGEST_S 30.0
#define REPORTS   2 /* by then rank 0 sees the run at work */

static tri_shared *memory;

/* The phase + 1; 0: open. */
static atomic_int *gate(void)
{
    return tri_shared_at(memory);
}

tri_status tri_gate_init(void)
{
    TRI_TRY(tri_shared_open(MPI_COMM_WORLD, sizeof(atomic_int), &memory));
    return memory ? TRI_OK : TRI_FAIL(TRI_EINVAL, "the ranks share no memory");
}

void tri_gate_close(int phase)
{
    atomic_store(gate(), phase + 1);
}

void tri_gate_open(void)
{
    atomic_store(gate(), 0);
}

static int holds(const tri_run *r)
{
    return r->a->n_ranks > 1 && r->report.seq >= REPORTS &&
           atomic_load(gate()) == (int)r->a->phase + 1;
}

/* By the linker's names: what tri_run_observe is, and what is called for it. */
void tri_gate_real(tri_run *r,
                   const tri_step *s) __asm__("__real_tri_run_observe");
void tri_gate_observe(tri_run *r,
                      const tri_step *s) __asm__("__wrap_tri_run_observe");

void tri_gate_observe(tri_run *r, const tri_step *s)
{
    double end_s = tri_now() + LONGEST_S;

    tri_gate_real(r, s);
    while (holds(r) && tri_now() < end_s) {
        tri_wait_look(); /* rank 0 hears that it is there */
        tri_sleep(1e-3);
    }
}

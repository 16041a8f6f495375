/*
 * A wish that a long computation ends early: asked by one thread, read by
 * another between pieces of work.
 *
 * Nothing else is handed over by it, so that it needs no order in memory.
 * C++ sees the name alone, and may pass a pointer on.
 */
#ifndef TRIREME_CANCEL_H
#define TRIREME_CANCEL_H

typedef struct tri_cancel tri_cancel;

#ifndef __cplusplus
#include <stdatomic.h>
#include <stddef.h>

struct tri_cancel { /* all zeros: not asked */
    atomic_int asked;
};

static inline void tri_cancel_ask(tri_cancel *c)
{
    atomic_store_explicit(&c->asked, 1, memory_order_relaxed);
}

/* `c` may be NULL: never. */
static inline int tri_is_cancelled(const tri_cancel *c)
{
    return c != NULL &&
           atomic_load_explicit(&c->asked, memory_order_relaxed) != 0;
}
#endif

#endif

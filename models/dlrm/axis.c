/*
 * The data axis of one rank.
 */
#include "trireme/model.h"

#include <string.h>

static void nothing(void *ctx, int64_t n, tri_real *x)
{
    (void)ctx;
    (void)n;
    (void)x;
}

static void keep(void *ctx, const tri_parcels *to, const void *send,
                 const tri_parcels *from, void *recv, int most)
{
    (void)ctx;
    (void)most;
    memcpy((char *)recv + from->at[0], (const char *)send + to->at[0],
           (size_t)to->bytes[0]);
}

const tri_axis *tri_axis_serial(void)
{
    static const tri_axis serial = {.parts = 1,
                                    .part = 0,
                                    .exchange = keep,
                                    .sum = nothing,
                                    .scatter = nothing,
                                    .gather = nothing};

    return &serial;
}

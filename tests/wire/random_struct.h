/*
 * Structs of the protocol filled with random values from their descriptions,
 * and compared by them.  For the tests of the wire and the store.
 */
#ifndef TRI_TESTS_WIRE_RANDOM_STRUCT_H
#define TRI_TESTS_WIRE_RANDOM_STRUCT_H

#include "src/wire/fields.h"
#include "trireme/rng.h"

/* Memory of one random struct, freed whole. */
typedef struct pool {
    void *blocks[4096];
    int n;
} pool;

void pool_drop(pool *p);

/* Fill the zeroed struct at `base` with values of every field. */
void random_struct(const tri_struct_desc *desc, void *base, tri_rng *rng,
                   pool *p);
/* Whether two structs are equal, field by field, doubles by their bits; on
 * failure *where names the field. */
int same_struct(const tri_struct_desc *desc, const void *a, const void *b,
                const char **where);

/* A random event, command or message of `kind`. */
tri_event random_event(int kind, tri_rng *rng, pool *p);
tri_command random_command(int kind, tri_rng *rng, pool *p);
tri_message random_message(int kind, tri_rng *rng, pool *p);

#endif

/*
 * The table of proposers, by the names that study files use.
 */
#include "trireme/propose.h"

#include "src/propose/inline.h"

#include <string.h>

typedef struct named {
    const char *name;
    const tri_proposer_ops *ops;
} named;

/* The first name of a proposer is its own; `auto` is led by a thinker, and this
 * is what it falls back on. */
static const named table[] = {{"random", &tri_proposer_random},
                              {"quasi", &tri_proposer_quasi},
                              {"auto", &tri_proposer_quasi}};

const tri_proposer_ops *tri_proposer_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return table[i].ops;
        }
    }
    return NULL;
}

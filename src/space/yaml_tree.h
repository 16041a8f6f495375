/*
 * A YAML text as a tree with places, read through libyaml within bounds on
 * size and depth.  Anchors, aliases and tags are refused (an alias can make a
 * small text huge); so are duplicate keys and second documents.  Knows nothing
 * of studies.
 */
#ifndef TRI_SPACE_YAML_TREE_H
#define TRI_SPACE_YAML_TREE_H

#include "src/space/pile.h"

typedef enum tri_yaml_kind {
    TRI_YAML_SCALAR,
    TRI_YAML_LIST,
    TRI_YAML_MAP
} tri_yaml_kind;

typedef struct tri_yaml tri_yaml;
struct tri_yaml {
    tri_yaml_kind kind;
    const char *key; /* of an entry of a map, else NULL */
    int key_line, key_column;
    const char *text;             /* of a scalar */
    int plain;                    /* a scalar without quotes */
    int n;                        /* items or entries */
    const tri_yaml *first, *next; /* items in order; siblings */
    int line, column;             /* from 1 */
};

/* Read text[0..bytes).  [out] `out`: lives in `pile`.  TRI_EPARSE with the
 * place; TRI_ERANGE beyond the bounds. */
tri_status tri_yaml_read(const char *text, size_t bytes, tri_pile *pile,
                         const tri_yaml **out);
/* The entry of a map, NULL if there is none or it is no map. */
const tri_yaml *tri_yaml_get(const tri_yaml *map, const char *key);
/* Whether two trees say the same, whatever the order of keys. */
int tri_yaml_equal(const tri_yaml *a, const tri_yaml *b);

#endif

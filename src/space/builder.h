/*
 * What a builder has collected, shared by the files that collect it and that
 * make a space of it.
 */
#ifndef TRI_SPACE_BUILDER_H
#define TRI_SPACE_BUILDER_H

#include "src/space/space_priv.h"

typedef struct tri_built_item { /* a text that becomes an expression, with its
                                   place */
    const char *name;
    const char *text;
    int built_in, line, column;
} tri_built_item;

typedef struct tri_built_param {
    tri_param param;
    const char *when;
    int line, column;
} tri_built_param;

typedef struct tri_built_constant {
    const char *name;
    tri_value value;
} tri_built_constant;

struct tri_space_builder {
    tri_pile pile;
    tri_built_param *params;
    size_t n_params, cap_params;
    tri_built_constant *constants;
    size_t n_constants, cap_constants;
    tri_built_item *rules;
    size_t n_rules, cap_rules;
    tri_built_item *features;
    size_t n_features, cap_features;
    tri_built_item ranks;
    const char **words;
    size_t n_words, cap_words;
    int *word_slots; /* words by hash, -1: free */
    size_t n_slots;  /* a power of two, or 0 */
    tri_value *rows;
    int64_t n_rows;
};

/* The parameter of that name, -1 if there is none. */
int tri_space_builder_find(const tri_space_builder *b, const char *name);

#endif

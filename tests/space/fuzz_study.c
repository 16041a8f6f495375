/*
 * Fuzz target of the study reader: any bytes as a study, and as the table that
 * one refers to.  What is read must be usable: its first, last and a random
 * configuration are valid ones with a layout.
 */
#include "trireme/study.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* An assertion that release builds keep. */
static void must(int truth)
{
    if (!truth) {
        __builtin_trap();
    }
}

typedef struct bytes_of {
    const uint8_t *data;
    size_t bytes;
} bytes_of;

/* The study's own bytes, behind the first blank line, are the table. */
static tri_status give(void *ctx, const char *path, char **data, size_t *bytes)
{
    const bytes_of *all = ctx;
    const char *at = memmem(all->data, all->bytes, "\n\n", 2);
    size_t skip = at ? (size_t)(at - (const char *)all->data) + 2 : 0;

    (void)path;
    *bytes = all->bytes - skip;
    *data = malloc(*bytes + 1);
    if (!*data) {
        return TRI_FAIL(TRI_EIO, "no memory");
    }
    memcpy(*data, all->data + skip, *bytes);
    (*data)[*bytes] = '\0';
    return TRI_OK;
}

static void use(const tri_study *s, const tri_config *c)
{
    char text[4096];
    tri_layout layout;
    int ranks;

    must(tri_space_valid(s->space, c, NULL));
    (void)tri_space_print(s->space, c, text, sizeof text);
    (void)tri_space_ranks(s->space, c, &ranks);
    (void)tri_study_layout(s, c, &layout);
    (void)tri_space_hash(s->space, c);
}

static void use_all(const tri_study *s)
{
    int n = tri_space_n_params(s->space);
    int64_t count = tri_space_count(s->space), index;
    tri_config *c = malloc(((size_t)n * 9 + 1) * sizeof *c);
    tri_rng rng = tri_rng_stream(1, 1, TRI_RNG_TEST);
    int64_t at;

    if (!c) {
        return;
    }
    for (at = 0; count > 0 && at < count; at += count - 1) {
        must(tri_space_at(s->space, at, c) == TRI_OK);
        must(tri_space_index(s->space, c, &index) == TRI_OK && index == at);
        use(s, c);
        if (at == count - 1) {
            break;
        }
    }
    if (tri_space_sample(s->space, &rng, c) == TRI_OK) {
        use(s, c);
        (void)tri_space_neighbours(s->space, c, c + n, 8);
    }
    free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    bytes_of all = {data, bytes};
    tri_study *s;

    if (bytes > 20000) {
        return 0; /* long texts only take longer */
    }
    if (tri_study_parse((const char *)data, bytes, "fuzz.yaml", give, &all,
                        &s) == TRI_OK) {
        use_all(s);
        tri_study_destroy(s);
    }
    return 0;
}

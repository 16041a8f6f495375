/*
 * Samples of click prediction: dense features, ids and a click.
 *
 * The format of Criteo's data sets: a line a sample, fields apart by a tab:
 * the label (0 or 1), 13 integers and 26 categories in hexadecimal, any of
 * them empty.  An integer x becomes log(1 + max(x, 0)), an empty one 0; a
 * category becomes a row of its field's table by a hash, an empty one none.
 *
 * A text is read whole, so that what is wrong is said before anything runs.
 * This file opens nothing.
 */
#ifndef TRI_MODELS_CRITEO_H
#define TRI_MODELS_CRITEO_H

#include "trireme/model.h"

#include <stddef.h>

#define TRI_CRITEO_DENSE  13
#define TRI_CRITEO_SPARSE 26
#define TRI_CLICKS_TABLES 32 /* at most */

typedef struct tri_criteo {
    int64_t n;
    float *dense;  /* n x 13 */
    int64_t *hash; /* n x 26, from 0 up; -1: empty */
    signed char *click;
} tri_criteo;

/* Read text[0..bytes); `name` is the file's, for errors.  [out] `out`: owned,
 * tri_criteo_close.  TRI_EDATA with name, line and column of what is wrong;
 * TRI_ENOMEM. */
TRI_API tri_status tri_criteo_read(const unsigned char *text, size_t bytes,
                                   const char *name, tri_criteo *out);
TRI_API void tri_criteo_close(tri_criteo *c);

/* A stream of samples without a file: their shape. */
typedef struct tri_clicks {
    uint64_t seed;
    int dense, tables, pooling;
    const int64_t *rows; /* of each table */
    double zipf;         /* the id of rank k has weight 1 / k^zipf */
    /* Of each table, by tri_clicks_prepare: how far neighbours in popularity
     * are apart; (rows + 1)^(1 - zipf). */
    int64_t apart[TRI_CLICKS_TABLES];
    double power[TRI_CLICKS_TABLES];
} tri_clicks;

/* Behind the fields above, before the first sample. */
TRI_API void tri_clicks_prepare(tri_clicks *c);

/* Sample (step, sample): standard normal dense[], the ids of table t from
 * ids[t stride] on, and (returned) whether it is clicked: a Bernoulli draw of a
 * fixed function of both.  Popular ids are spread over the rows of a table. */
TRI_API int tri_clicks_sample(const tri_clicks *c, int64_t step, int64_t sample,
                              int64_t stride, tri_real *dense, int32_t *ids);

#endif

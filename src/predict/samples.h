/*
 * What predictors ask of their samples.
 */
#ifndef TRI_SRC_PREDICT_SAMPLES_H
#define TRI_SRC_PREDICT_SAMPLES_H

#include "trireme/predict.h"

/* Whether the resource is an input at all. */
static inline int tri_resources_differ(const tri_samples *s)
{
    for (int i = 1; s->resource && i < s->n; i++) {
        if (s->resource[i] != s->resource[0]) {
            return 1;
        }
    }
    return 0;
}

#endif

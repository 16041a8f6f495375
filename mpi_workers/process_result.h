/*
 * Whether what a process reported is a result of its run: it has done its
 * resource, and said what the objective needs; else a sentence of what is
 * missing.  Pure: no MPI, no process, no clock.
 */
#ifndef TRI_MPI_WORKERS_PROCESS_RESULT_H
#define TRI_MPI_WORKERS_PROCESS_RESULT_H

#include "mpi_workers/news.h"
#include "trireme/study.h"

/* What was heard from the process that is measured. */
typedef struct tri_heard {
    int64_t lines; /* with a step */
    int64_t steps; /* that they cover; fewer than `step` after a checkpoint */
    int64_t step;  /* the last */
    int has_tokens, has_samples, has_loss, has_own;
    double tokens, samples; /* of these steps, the warm-up's too */
    char names[256];        /* of keys seen, for sentences */
} tri_heard;

/* Count a line; of no steps: a metric that came after its step. */
void tri_heard_add(tri_heard *h, const tri_news_line *line);

/*
 * Whether it is a result.  `ended`: the rank whose process ended by itself
 * with status 0, which is one only after the whole `resource` (of which
 * warm-up counts: it shrinks where a process ends early); -1: it was taken to
 * its last step.  [out] `why`: else a sentence.
 */
int tri_heard_is_result(const tri_heard *h, const tri_study *study,
                        int64_t resource, int ended, char *why, size_t bytes);
/* Whether a resource that is counted by tokens or samples is; judged once some
 * lines were heard.  [out] `why`: else a sentence. */
int tri_heard_is_counted(const tri_heard *h, const tri_study *study, char *why,
                         size_t bytes);
/* The last step that a line may sensibly have, where `target` is the last one
 * to do (-1: not known). */
int64_t tri_heard_step_limit(const tri_study *study, int64_t target,
                             int64_t resource);

#endif

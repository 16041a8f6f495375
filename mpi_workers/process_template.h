/*
 * Templates of a process trial's command: "{lr}" stands for a parameter of the
 * configuration or a fact of the run; "{{" and "}}" for a brace.  Text only:
 * no shell, no quoting; an argument stays one argument whatever its value.
 */
#ifndef TRI_MPI_WORKERS_PROCESS_TEMPLATE_H
#define TRI_MPI_WORKERS_PROCESS_TEMPLATE_H

#include "trireme/study.h"

/* Facts that templates may name beside parameters, and TRIREME_* variables
 * show. */
typedef struct tri_facts {
    int rank, world_size, local_rank, local_world_size;
    int64_t run, trial, resource;
    int rung, attempt, epoch;
    uint64_t seed;
    const char *master_addr;
    int master_port;
    const char *study_dir; /* absolute */
} tri_facts;

/* Of the names that tri_study_facts lists: */
/* The text of a fact; 0 where there is none of that name. */
int tri_fact_print(const tri_facts *facts, const char *name, char *buf,
                   size_t bytes);

/* The text of a parameter's value: words as they are, without quotes; nothing
 * for an inactive one. */
void tri_value_plain(tri_value v, char *buf, size_t bytes);

/* Expand `from` for a configuration.  [out] malloc'd, owned.  An inactive
 * parameter is the empty text.  TRI_EINVAL: an unknown placeholder or an open
 * brace; TRI_ENOMEM. */
tri_status tri_template_expand(const char *from, const tri_study *study,
                               const tri_config *config, const tri_facts *facts,
                               char **out);
/*
 * The command of the study's process: its elements expanded, behind sh -c where
 * it says `shell`.  An element that names an inactive parameter is left out
 * with all of its group; a shell's text has the empty text there.  [out] NULL-
 * terminated, owned: tri_template_argv_free.  Errors as above.
 */
tri_status tri_template_argv(const tri_study *study, const tri_config *config,
                             const tri_facts *facts, char ***out);
void tri_template_argv_free(char **argv);
/* Whether every placeholder of `from` is known; errors as above. */
tri_status tri_template_check(const char *from, const tri_study *study);

#endif

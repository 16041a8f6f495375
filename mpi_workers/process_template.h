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
    int group_rank, n_hosts; /* this host among the trial's */
    int64_t run, trial, resource;
    const char *resource_unit; /* "steps", where it is the last one to do */
    int64_t resume_step;       /* steps that the checkpoint has behind it */
    int rung, attempt, epoch;
    uint64_t seed;
    int master_port;
    /* texts, borrowed; NULL is the empty one */
    const char *master_addr;
    const char *study_dir;       /* absolute */
    const char *checkpoint_dir;  /* where this run is to save itself */
    const char *resume_dir;      /* what it goes on from */
    const char *hosts;           /* "n1,n2" */
    const char *host_slots;      /* "n1:4,n2:4" */
    const char *host_file;       /* launch: leader */
    const char *scratch;         /* this run's own folder */
    const char *device_variable; /* set to `device`; NULL: is inherited */
    const char *device;          /* "0,1" */
} tri_facts;

/* Of the names that tri_study_facts lists: */
/* The text of a fact, in `buf` or borrowed from *facts; NULL where there is
 * none of that name.  Numbers need 24 bytes. */
const char *tri_fact_text(const tri_facts *facts, const char *name, char *buf,
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

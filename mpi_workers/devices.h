/*
 * Which devices a rank shows its process: the rules, over lists as launchers
 * and CUDA_VISIBLE_DEVICES have them ("0,1,2,3", "GPU-8932,GPU-17ab").  Rank 0
 * trains nothing and is not among the workers.  Text only: asks no driver, and
 * of the environment only what tri_devices_inherit reads.
 *
 * auto, for the workers of one host:
 * - all were given the same list (srun --gpus-per-node, mpirun): the i-th gets
 *   the i-th share of it, as many devices each; what is left over is unused;
 * - no device was given to two of them (srun --gpus-per-task): each keeps its
 *   own;
 * - none was given any, lists overlap, or there are fewer devices than
 *   workers: nothing is set, and what is inherited stays.
 * A map gives the i-th worker of each host its i-th entry.
 *
 * A process is shown the devices of all members of its group on its host, the
 * first of each member first, so that LOCAL_RANK indexes them.
 */
#ifndef TRI_MPI_WORKERS_DEVICES_H
#define TRI_MPI_WORKERS_DEVICES_H

#include "trireme/study.h"

#define TRI_DEVICE_BYTES 512 /* of a list; eight UUIDs */

typedef struct tri_devices { /* of one worker */
    char variable[64];       /* that shows them; "" where none is known */
    int is_set;              /* its process is shown `own` and its group's; else
                              * what it inherits stays */
    char own[TRI_DEVICE_BYTES];
} tri_devices;

typedef struct tri_devices_given { /* to one worker by the launcher */
    char variable[64];
    char list[TRI_DEVICE_BYTES]; /* "" none */
} tri_devices_given;

/* What this process inherits: of the variable that the study names, or of the
 * first known one that is there.  "NoDevFiles", "-1" and such are none. */
void tri_devices_inherit(const tri_process_spec *spec, tri_devices_given *out);

/*
 * The devices of worker `i` of a host, whose `n` workers in the order of their
 * ranks were given `given`.  `n_node`: how many devices the launcher says that
 * the job has there (SLURM_GPUS_ON_NODE); 0: it says nothing.  [out] `out`, and
 * into `remark` a sentence for the log about the whole host, the same whatever
 * `i` is; "" where all is as it should be.  TRI_EINVAL: the map has no entry.
 */
tri_status tri_devices_assign(const tri_process_spec *spec,
                              const tri_devices_given *given, int n, int n_node,
                              int i, tri_devices *out, char *remark,
                              size_t bytes);

/* The union of `n` lists, the first device of each, then the second of each;
 * every device once.  Into buf; what does not fit is left out. */
void tri_devices_join(const char *const *lists, int n, char *buf, size_t bytes);
/* Of `list` what none of the `n` others has; into buf. */
void tri_devices_alone(const char *list, const char *const *others, int n,
                       char *buf, size_t bytes);

#endif

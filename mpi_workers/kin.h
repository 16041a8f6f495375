/*
 * Other ranks of this host that are alive but have not said anything yet: they
 * are children of the process that started this one.
 */
#ifndef TRI_MPI_WORKERS_KIN_H
#define TRI_MPI_WORKERS_KIN_H

#include <sys/types.h>

/* Processes with the parent of this one, it itself and `known` (n of them; 0
 * are skipped) left out, that have not ended.  -1 where that says nothing of
 * ranks: the system does not tell, or one of the known has another parent. */
int tri_kin_others(const pid_t *known, int n);
/* Ranks that the launcher started on this host, this one included; 0 where it
 * does not say. */
int tri_kin_expected(void);

#endif

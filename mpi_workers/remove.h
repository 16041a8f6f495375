/*
 * Removing what a run leaves on disk: files, and folders with all that is in
 * them, following no symbolic link and entering no other file system.  Needs
 * only libc, for the guard's program has a part of it.
 */
#ifndef TRI_MPI_WORKERS_REMOVE_H
#define TRI_MPI_WORKERS_REMOVE_H

/* Remove `path`, a file or a folder, within `limit_s` seconds.  0: it is not
 * there any more; else the first errno: ETIME where the time did not suffice,
 * EXDEV where another file system is mounted in it. */
int tri_remove_path(const char *path, double limit_s);

/* Remove up to `n` folders above `path`, as long as they are empty. */
void tri_remove_parents(const char *path, int n);

#endif

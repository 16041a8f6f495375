/*
 * Loops over many numbers, compiled for several generations of processors; the
 * one that runs is chosen when the program starts.  The address sanitizer is
 * not ready that early.
 */
#ifndef TRI_SRC_PREDICT_CLONES_H
#define TRI_SRC_PREDICT_CLONES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
        !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TRI_CLONES                                                             \
    __attribute__((                                                            \
            target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TRI_CLONES
#endif

#endif

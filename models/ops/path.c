/*
 * The choice of a path.
 */
#include "models/ops/path.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[TRI_PATHS] = {"base", "avx2", "avx512"};
static int chosen = -1;

#if TRI_HAS_PATHS
tri_path tri_path_best(void)
{
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        return TRI_PATH_AVX512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
        return TRI_PATH_AVX2;
    }
    return TRI_PATH_BASE;
}
#else
tri_path tri_path_best(void)
{
    return TRI_PATH_BASE;
}
#endif

static tri_path named(const char *name)
{
    int k;

    for (k = 0; name && k < TRI_PATHS; k++) {
        if (strcmp(name, names[k]) == 0) {
            return (tri_path)k;
        }
    }
    return TRI_PATHS;
}

void tri_path_use(tri_path path)
{
    tri_path best = tri_path_best();

    __atomic_store_n(&chosen, (int)(path < best ? path : best),
                     __ATOMIC_RELAXED);
}

tri_path tri_path_now(void)
{
    int now = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

    if (now < 0) {
        tri_path_use(named(getenv("TRIREME_KERNELS")));
        now = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    }
    return (tri_path)now;
}

const char *tri_path_name(tri_path path)
{
    return path >= 0 && path < TRI_PATHS ? names[path] : "none";
}

/*
 * Which instructions the kernels use: one source, compiled for each path, the
 * path chosen when a kernel runs.
 *
 * At first it is the best that the processor has, or what TRIREME_KERNELS
 * (avx512, avx2, base) names if the processor has that.  Choosing is not for
 * threads at work.
 */
#ifndef TRI_MODELS_PATH_H
#define TRI_MODELS_PATH_H

typedef enum tri_path {
    TRI_PATH_BASE,
    TRI_PATH_AVX2,   /* and FMA: x86-64-v3 */
    TRI_PATH_AVX512, /* F, BW, CD, DQ, VL: x86-64-v4 */
    TRI_PATHS
} tri_path;

/* The best of this processor; those below it work too. */
tri_path tri_path_best(void);
tri_path tri_path_now(void);
/* Use `path`, or the best if the processor has less. */
void tri_path_use(tri_path path);
/* Static storage. */
const char *tri_path_name(tri_path path);

/*
 * A kernel, with its body behind:
 *
 *     TRI_KERNEL(static void, scale, (tri_real by, int64_t n, tri_real *x),
 *                (by, n, x))
 *     {
 *         ...
 *     }
 *
 * The body is a loop that the compiler vectorises, of what it can inline.
 */
#if defined(__x86_64__) && defined(__GNUC__) &&                                \
        (__GNUC__ >= 12 || defined(__clang__))
#define TRI_HAS_PATHS 1
/* clang-format off */
#define TRI_KERNEL(result, name, params, args)                                 \
    static inline __attribute__((always_inline)) void name##_body params;      \
    __attribute__((target("arch=x86-64-v4")))                                  \
    static void name##_avx512 params { name##_body args; }                     \
    __attribute__((target("arch=x86-64-v3")))                                  \
    static void name##_avx2 params { name##_body args; }                       \
    static void name##_base params { name##_body args; }                       \
    result name params                                                         \
    {                                                                          \
        switch (tri_path_now()) {                                              \
        case TRI_PATH_AVX512: name##_avx512 args; break;                       \
        case TRI_PATH_AVX2: name##_avx2 args; break;                           \
        default: name##_base args; break;                                      \
        }                                                                      \
    }                                                                          \
    static inline __attribute__((always_inline)) void name##_body params
#else
#define TRI_HAS_PATHS 0
#define TRI_KERNEL(result, name, params, args) result name params
#endif
/* clang-format on */

#endif

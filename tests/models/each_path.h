/*
 * Run a program's tests on every path of the kernels that this processor has.
 */
#ifndef TRI_TESTS_MODELS_EACH_PATH_H
#define TRI_TESTS_MODELS_EACH_PATH_H

#include "models/ops/path.h"

#include <stdio.h>

#define run_on_each_path(tests)                                                \
    do {                                                                       \
        int path, failed = 0;                                                  \
                                                                               \
        for (path = 0; path <= (int)tri_path_best(); path++) {                 \
            tri_path_use((tri_path)path);                                      \
            printf("kernels: %s\n", tri_path_name(tri_path_now()));            \
            failed += cmocka_run_group_tests(tests, NULL, NULL);               \
        }                                                                      \
        return failed;                                                         \
    } while (0)

#endif

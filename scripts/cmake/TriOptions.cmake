# Compile flags of our own code, on one INTERFACE target that is neither
# exported nor installed; nothing touches CMAKE_C_FLAGS.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(tri_options INTERFACE)
target_compile_definitions(tri_options INTERFACE _GNU_SOURCE
        TRI_VERSION="${PROJECT_VERSION}")
# No fused multiply-add: pure code must give the same bits on every processor.
target_compile_options(tri_options INTERFACE
        -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
        -Wpointer-arith -Wwrite-strings -Wvla -Wno-unused-parameter
        -ffp-contract=off -fno-math-errno
        $<$<BOOL:${TRI_WERROR}>:-Werror>)
# A decision of the controller is spread over many short functions of many
# files: seen as one they take a sixth less time.  Only what says so (property
# TRI_LTO) is linked in that way, which takes seconds; tests are not.
if(TRI_LTO AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_link_options(tri_options INTERFACE
            $<IF:$<BOOL:$<TARGET_PROPERTY:TRI_LTO>>,-flto=auto,-fno-lto>)
endif()
if(TRI_POISON)
    target_compile_definitions(tri_options INTERFACE TRI_POISON=1)
endif()
if(TRI_SANITIZE)
    # Instrumented code confuses the compiler about what is initialised.
    target_compile_options(tri_options INTERFACE
            -fsanitize=${TRI_SANITIZE} -fno-omit-frame-pointer
            $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
            -fno-sanitize-recover=undefined)
    target_link_options(tri_options INTERFACE -fsanitize=${TRI_SANITIZE})
endif()
if(TRI_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "TRI_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
    endif()
    target_compile_options(tri_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# tri_add_test(name SOURCES file... [NPROCS n] [LABELS l...] [LINK target...]
#              [TIMEOUT s] [ARGS arg...])
# A test program of its own (cmocka).  With NPROCS it runs under mpiexec, with
# oversubscription and yielding, and holds the lock `mpi` so that such tests do
# not stack.  LABELS default to `unit`, or `mpi` with NPROCS.
#
# tri_add_script_test(name COMMAND arg... [LABELS l...] [TIMEOUT s])
# A test that is a script; it may run mpiexec itself (then label it `mpi`).
#
# tri_add_fuzzer(name SOURCES file... [LINK target...] [CORPUS dir] [RUNS n])
# A fuzz target (LLVMFuzzerTestOneInput).  Under clang with -DTRI_FUZZ=ON it is
# a libFuzzer program; elsewhere a small driver runs the corpus and RUNS seeded
# mutations of it, the same ones every time.
find_package(cmocka QUIET)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# The environment of a test.  Under MPI (a second argument that is true) leaks
# are not looked for: Open MPI itself leaks at exit.
function(tri_test_environment name)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
            OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
            OMPI_MCA_rmaps_base_oversubscribe=1
            OMPI_MCA_mpi_yield_when_idle=1
            OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
            OMPI_MCA_hwloc_base_binding_policy=none
            ASAN_OPTIONS=detect_leaks=$<IF:$<BOOL:${ARGN}>,0,1>
            UBSAN_OPTIONS=print_stacktrace=1
            TRI_SHARED_DIR=${CMAKE_SOURCE_DIR}/../shared)
endfunction()

function(tri_finish_test name default_label)
    cmake_parse_arguments(T "" "TIMEOUT" "LABELS" ${ARGN})
    if(NOT T_LABELS)
        set(T_LABELS ${default_label})
    endif()
    if(NOT T_TIMEOUT)
        set(T_TIMEOUT 120)
    endif()
    set(under_mpi 0)
    if("mpi" IN_LIST T_LABELS OR default_label STREQUAL "mpi")
        set(under_mpi 1)
        set_tests_properties(${name} PROPERTIES PROCESSORS 2
                RESOURCE_LOCK mpi)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}"
            TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 77)
    tri_test_environment(${name} ${under_mpi})
endfunction()

function(tri_add_test name)
    cmake_parse_arguments(T "" "NPROCS;TIMEOUT" "SOURCES;LABELS;LINK;ARGS"
            ${ARGN})
    if(T_NPROCS AND NOT TRI_MPI)
        return()
    endif()
    add_executable(${name} ${T_SOURCES})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE tri_options PkgConfig::CMOCKA
            ${T_LINK})
    target_compile_definitions(${name} PRIVATE
            TRI_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(T_NPROCS)
        add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_PREFLAGS}
                ${MPIEXEC_NUMPROC_FLAG} ${T_NPROCS} $<TARGET_FILE:${name}>
                ${MPIEXEC_POSTFLAGS} ${T_ARGS})
        set(label mpi)
    else()
        add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
        set(label unit)
    endif()
    tri_finish_test(${name} ${label} LABELS ${T_LABELS} TIMEOUT ${T_TIMEOUT})
endfunction()

function(tri_add_script_test name)
    cmake_parse_arguments(T "" "TIMEOUT" "COMMAND;LABELS" ${ARGN})
    add_test(NAME ${name} COMMAND ${T_COMMAND})
    tri_finish_test(${name} unit LABELS ${T_LABELS} TIMEOUT ${T_TIMEOUT})
endfunction()

function(tri_add_fuzzer name)
    cmake_parse_arguments(T "" "CORPUS;RUNS" "SOURCES;LINK" ${ARGN})
    if(NOT T_RUNS)
        set(T_RUNS 2000)
    endif()
    add_executable(${name} ${T_SOURCES})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE tri_options ${T_LINK} tri_core)
    target_compile_definitions(${name} PRIVATE
            TRI_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(TRI_FUZZ)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        # libFuzzer writes into the first folder, and its finds beside it.
        set(found ${CMAKE_CURRENT_BINARY_DIR}/${name}-found)
        file(MAKE_DIRECTORY ${found})
        add_test(NAME ${name} COMMAND ${name} -runs=${T_RUNS} -seed=1
                -artifact_prefix=${found}- ${found} ${T_CORPUS})
    else()
        target_sources(${name} PRIVATE
                ${CMAKE_SOURCE_DIR}/tests/house/fuzz_main.c)
        add_test(NAME ${name} COMMAND ${name} ${T_RUNS} ${T_CORPUS})
    endif()
    set_tests_properties(${name} PROPERTIES WORKING_DIRECTORY
            ${CMAKE_CURRENT_SOURCE_DIR})
    tri_finish_test(${name} unit)
endfunction()

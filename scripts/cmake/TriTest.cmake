# tri_add_test(name SOURCES file... [NPROCS n] [LABELS l...] [LINK target...]
#              [TIMEOUT s] [ARGS arg...])
# A test program of its own (cmocka).  With NPROCS it runs under mpiexec, with
# oversubscription and yielding, and holds the lock `mpi` so that such tests do
# not stack.  LABELS default to `unit`, or `mpi` with NPROCS.
find_package(cmocka QUIET)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

function(tri_test_environment name)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
            OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
            OMPI_MCA_rmaps_base_oversubscribe=1
            OMPI_MCA_mpi_yield_when_idle=1
            OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
            OMPI_MCA_hwloc_base_binding_policy=none
            ASAN_OPTIONS=detect_leaks=$<IF:$<BOOL:${ARGN}>,0,1>
            TRI_SHARED_DIR=${CMAKE_SOURCE_DIR}/../shared)
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
        set_tests_properties(${name} PROPERTIES PROCESSORS 2
                RESOURCE_LOCK mpi)
        set(default_label mpi)
        tri_test_environment(${name} 1)
    else()
        add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
        set(default_label unit)
        tri_test_environment(${name} 0)
    endif()
    if(NOT T_LABELS)
        set(T_LABELS ${default_label})
    endif()
    if(NOT T_TIMEOUT)
        set(T_TIMEOUT 120)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}"
            TIMEOUT ${T_TIMEOUT})
endfunction()

# Pieces of a worker that need no MPI.
foreach(name bell kin checkpoint_dir process_logs metrics news patterns child guard sweeper ending measure place process_text process_result watchdog)
    tri_add_test(worker_${name} SOURCES ${name}.c LINK tri_worker)
endforeach()
# Forming, thousands of times.
tri_add_test(worker_groups SOURCES groups.c NPROCS 5 LINK tri_worker)
if(TARGET worker_groups)
    add_test(NAME worker_groups_100000 COMMAND ${MPIEXEC_EXECUTABLE}
            ${MPIEXEC_PREFLAGS} ${MPIEXEC_NUMPROC_FLAG} 5
            $<TARGET_FILE:worker_groups> ${MPIEXEC_POSTFLAGS} 100000)
    tri_finish_test(worker_groups_100000 mpi LABELS mpi slow TIMEOUT 600)
endif()
tri_add_test(worker_channel SOURCES channel.c NPROCS 2 LINK tri_worker)
tri_add_test(worker_roll SOURCES roll.c NPROCS 5 LINK tri_worker)
tri_add_fuzzer(worker_fuzz_metrics SOURCES fuzz_metrics.c LINK tri_worker
        CORPUS corpus_metrics RUNS 20000)
tri_add_fuzzer(worker_fuzz_patterns SOURCES fuzz_patterns.c LINK tri_worker
        CORPUS corpus_patterns RUNS 5000)
# What a process is given: devices, hosts, scratch, the setup's environment.
foreach(name devices setup surroundings)
    tri_add_test(worker_${name} SOURCES ${name}.c LINK tri_worker)
endforeach()
# What users' own programs say: the header and the module made for them.
tri_add_test(worker_report SOURCES report.c LINK tri_worker)
tri_add_script_test(worker_report_header COMMAND
        ${CMAKE_CURRENT_SOURCE_DIR}/report_header.sh ${CMAKE_SOURCE_DIR}
        ${CMAKE_C_COMPILER})
tri_add_script_test(worker_report_python COMMAND
        ${CMAKE_CURRENT_SOURCE_DIR}/report_python.sh ${CMAKE_SOURCE_DIR})
tri_add_test(worker_rendezvous SOURCES rendezvous.c NPROCS 3 LINK tri_worker)

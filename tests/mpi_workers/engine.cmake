# The training engine's tests.
tri_add_test(engine_shard SOURCES shard.c LINK tri_worker_f64)
tri_add_test(engine_corpus SOURCES corpus.c LINK tri_worker_f64)
tri_add_test(engine_schedule SOURCES schedule.c LINK tri_worker_f64)
tri_add_test(engine_parity SOURCES parity.c parity_draw.c
        LINK tri_worker_f64 m NPROCS 8
        TIMEOUT 300)
if(TARGET engine_parity)
    add_test(NAME engine_parity_200 COMMAND ${MPIEXEC_EXECUTABLE}
            ${MPIEXEC_PREFLAGS} ${MPIEXEC_NUMPROC_FLAG} 8
            $<TARGET_FILE:engine_parity> ${MPIEXEC_POSTFLAGS} 200)
    tri_finish_test(engine_parity_200 mpi LABELS mpi slow TIMEOUT 600)
    # As on two hosts.
    set(half ${MPIEXEC_PREFLAGS} ${MPIEXEC_NUMPROC_FLAG} 4 -x)
    add_test(NAME engine_parity_hosts COMMAND ${MPIEXEC_EXECUTABLE}
            ${half} TRIREME_HOST_NAME=a $<TARGET_FILE:engine_parity> 30 :
            ${half} TRIREME_HOST_NAME=b $<TARGET_FILE:engine_parity> 30)
    tri_finish_test(engine_parity_hosts mpi LABELS mpi slow TIMEOUT 300)
endif()
tri_add_test(engine_parity_f32 SOURCES parity.c parity_draw.c
        LINK tri_worker m NPROCS 8)
tri_add_test(engine_dlrm SOURCES dlrm.c LINK tri_worker_f64 m NPROCS 8
        TIMEOUT 300)
tri_add_test(engine_trainer SOURCES trainer.c LINK tri_worker m NPROCS 4)
tri_add_test(engine_no_alloc SOURCES no_alloc.c LINK tri_worker NPROCS 4)
target_link_options(engine_no_alloc PRIVATE -Wl,--wrap=malloc
        -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=mmap
        -Wl,--wrap=mprotect)
tri_add_test(engine_kind SOURCES engine.c LINK tri_worker m NPROCS 2)
tri_add_test(engine_wait SOURCES wait.c LINK tri_worker NPROCS 4)
# Odd and even numbers of ranks.
foreach(n 2 5)
    tri_add_test(engine_coll_${n} SOURCES coll.c LINK tri_worker NPROCS ${n})
endforeach()
# Checkpoints.
tri_add_test(engine_ckpt_cut SOURCES ckpt_cut.c LINK tri_worker_f64)
tri_add_test(engine_ckpt SOURCES ckpt.c parity_draw.c LINK tri_worker_f64 m
        NPROCS 8 TIMEOUT 300)
# A thousand failures.
tri_add_test(engine_contain SOURCES contain.c LINK tri_worker m NPROCS 4
        TIMEOUT 300)
foreach(call malloc calloc realloc strdup free mmap munmap)
    if(TARGET engine_contain)
        target_link_options(engine_contain PRIVATE -Wl,--wrap=${call})
    endif()
endforeach()

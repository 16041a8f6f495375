# The training engine's tests.
tri_add_test(engine_shard SOURCES shard.c LINK tri_worker_f64)
tri_add_test(engine_schedule SOURCES schedule.c LINK tri_worker_f64)
tri_add_test(engine_parity SOURCES parity.c LINK tri_worker_f64 m NPROCS 8
        TIMEOUT 180)

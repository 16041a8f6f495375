# The training engine's tests.
tri_add_test(engine_parity SOURCES parity.c LINK tri_worker_f64 m NPROCS 8
        TIMEOUT 180)

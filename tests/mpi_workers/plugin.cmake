# ---- trials that are a shared object
add_subdirectory(plugins)
set(plugins TRI_PLUGINS="${CMAKE_BINARY_DIR}/tests/plugins")
set(test_plugins tri_plugin_ways tri_plugin_ways_unsaved tri_plugin_no_close
        tri_plugin_next_version tri_plugin_other_mpi tri_plugin_loads_crash
        tri_plugin_loads_hang tri_plugin_loads_exit
        tri_plugin_loads_exit_at_once)
tri_add_test(worker_plugin SOURCES plugin.c LINK tri_worker)
tri_add_test(worker_plugin_group SOURCES plugin_group.c NPROCS 3
        LINK tri_worker)
foreach(name worker_plugin worker_plugin_group)
    target_compile_definitions(${name} PRIVATE ${plugins})
    add_dependencies(${name} ${test_plugins})
endforeach()

# What was found, said once at the end of configuring.
message(STATUS "trireme ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}")
message(STATUS "  MPI      ${TRI_MPI} ${MPI_C_VERSION}")
message(STATUS "  HDF5     ${HDF5_VERSION} parallel ${HDF5_IS_PARALLEL}")
message(STATUS "  OpenBLAS ${CBLAS_VERSION}")
message(STATUS "  hwloc    ${Hwloc_VERSION}")
if(ECHARTS_FOUND)
    message(STATUS "  ECharts  ${ECHARTS_VERSION} ${ECHARTS_DIR}")
else()
    message(STATUS "  ECharts  not found: reports have no charts "
            "(scripts/deps fetches it)")
endif()
if(CURSES_FOUND)
    message(STATUS "  ncurses  ${CURSES_LIBRARIES}")
else()
    message(STATUS "  ncurses  not found: status --watch has no screen "
            "(scripts/deps installs it)")
endif()
message(STATUS "  tests    ${TRI_TESTS}  sanitizers '${TRI_SANITIZE}'")

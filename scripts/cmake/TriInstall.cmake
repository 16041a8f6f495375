# What is installed: the program, the libraries that stand alone (core, models,
# sim, store), the public headers, and how CMake and make find them.
include(CMakePackageConfigHelpers)

set(TRI_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/trireme)
set(TRI_STORE ${HDF5_FOUND})
foreach(lib core sim models store)
    if(TARGET tri_${lib})
        set_target_properties(tri_${lib} PROPERTIES EXPORT_NAME ${lib})
        install(TARGETS tri_${lib} EXPORT triremeTargets
                ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endforeach()
if(TARGET trireme)
    install(TARGETS trireme RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/scripts/slurm/tune.sbatch
            DESTINATION ${CMAKE_INSTALL_DATADIR}/trireme/slurm)
    # For users' own Python trainers; the like for C is a header.
    install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/models/process/trireme_report.py
            DESTINATION ${CMAKE_INSTALL_DATADIR}/trireme)
endif()
install(DIRECTORY include/trireme DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

install(EXPORT triremeTargets NAMESPACE trireme:: DESTINATION ${TRI_CONFIG_DIR})
configure_package_config_file(scripts/cmake/triremeConfig.cmake.in
        ${CMAKE_BINARY_DIR}/triremeConfig.cmake
        INSTALL_DESTINATION ${TRI_CONFIG_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/triremeConfigVersion.cmake
        COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/triremeConfig.cmake
        ${CMAKE_BINARY_DIR}/triremeConfigVersion.cmake
        scripts/cmake/FindCBLAS.cmake scripts/cmake/FindISAL.cmake
        DESTINATION ${TRI_CONFIG_DIR})

configure_file(scripts/cmake/trireme.pc.in ${CMAKE_BINARY_DIR}/trireme.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/trireme.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Third parties: found once here; what each is for stands in README.md.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_package(ISAL REQUIRED)
find_package(CBLAS)
# One flavour in the program, since both would bind to the symbols of one: the
# parallel one with MPI; without, any, or none (then there is no study file).
set(HDF5_PREFER_PARALLEL ${TRI_MPI})
find_package(HDF5 1.10.7 COMPONENTS C)
if(HDF5_FOUND AND NOT TARGET HDF5::HDF5)
    add_library(HDF5::HDF5 ALIAS hdf5::hdf5)
endif()
if(TRI_MPI)
    find_package(MPI 3.1 REQUIRED COMPONENTS C)
    find_package(Hwloc 2.1 REQUIRED)
    if(NOT HDF5_FOUND OR NOT CBLAS_FOUND)
        message(FATAL_ERROR "trireme with MPI needs HDF5 and OpenBLAS; "
                "scripts/deps installs them, -DTRI_MPI=OFF does without")
    endif()
endif()
# Charts of reports, embedded into the program; without, reports have tables.
find_package(ECharts QUIET)
# The screen of status --watch; without, it prints plain text.
set(CURSES_NEED_NCURSES TRUE)
set(CURSES_NEED_WIDE TRUE)
find_package(Curses QUIET)
if(CURSES_FOUND AND NOT TARGET Curses::Wide)
    add_library(Curses::Wide INTERFACE IMPORTED)
    target_include_directories(Curses::Wide INTERFACE ${CURSES_INCLUDE_DIRS})
    target_link_libraries(Curses::Wide INTERFACE ${CURSES_LIBRARIES})
    target_compile_definitions(Curses::Wide INTERFACE
            _XOPEN_SOURCE_EXTENDED=1)
endif()

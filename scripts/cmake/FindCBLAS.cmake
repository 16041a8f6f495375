# OpenBLAS with its C interface.  The stock FindBLAS does not look for cblas.h.
# Gives CBLAS::CBLAS and CBLAS_VERSION (from pkg-config, where known).
pkg_check_modules(PC_OPENBLAS QUIET openblas)
find_path(CBLAS_INCLUDE_DIR cblas.h HINTS ${PC_OPENBLAS_INCLUDE_DIRS}
        PATH_SUFFIXES openblas openblas-pthread)
find_library(CBLAS_LIBRARY openblas HINTS ${PC_OPENBLAS_LIBRARY_DIRS})
set(CBLAS_VERSION ${PC_OPENBLAS_VERSION})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CBLAS REQUIRED_VARS CBLAS_LIBRARY
        CBLAS_INCLUDE_DIR VERSION_VAR CBLAS_VERSION)
if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
    add_library(CBLAS::CBLAS UNKNOWN IMPORTED)
    set_target_properties(CBLAS::CBLAS PROPERTIES
            IMPORTED_LOCATION ${CBLAS_LIBRARY}
            INTERFACE_INCLUDE_DIRECTORIES ${CBLAS_INCLUDE_DIR})
endif()
mark_as_advanced(CBLAS_INCLUDE_DIR CBLAS_LIBRARY)

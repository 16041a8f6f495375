# The library of charts that `trireme report` puts into its pages: a folder
# with echarts.min.js, LICENSE and NOTICE.  scripts/deps fetches it to where
# this looks; -DTRI_ECHARTS=FOLDER names another, -DTRI_ECHARTS=OFF none.
# Sets ECHARTS_FOUND, ECHARTS_DIR, ECHARTS_VERSION.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/echarts.txt pinned REGEX "^version ")
string(REPLACE "version " "" pinned "${pinned}")
set(TRI_ECHARTS "" CACHE STRING
        "Folder of echarts.min.js, for reports; OFF: none")

set(ECHARTS_FOUND FALSE)
set(ECHARTS_VERSION "")
if(TRI_ECHARTS STREQUAL "")
    if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
        set(cache $ENV{XDG_CACHE_HOME})
    else()
        set(cache $ENV{HOME}/.cache)
    endif()
    set(ECHARTS_DIR ${cache}/trireme/echarts-${pinned})
else()
    set(ECHARTS_DIR ${TRI_ECHARTS})
endif()
if(TRI_ECHARTS STREQUAL "OFF")
    set(ECHARTS_DIR "")
elseif(EXISTS ${ECHARTS_DIR}/echarts.min.js AND EXISTS ${ECHARTS_DIR}/NOTICE
        AND EXISTS ${ECHARTS_DIR}/LICENSE)
    file(READ ${ECHARTS_DIR}/echarts.min.js text)
    if(text MATCHES "\\.version=\"([0-9.]+)\"")
        set(ECHARTS_VERSION ${CMAKE_MATCH_1})
    endif()
    set(ECHARTS_FOUND TRUE)
    unset(text)
elseif(NOT TRI_ECHARTS STREQUAL "")
    message(FATAL_ERROR "no echarts.min.js, LICENSE and NOTICE in "
            "TRI_ECHARTS=${TRI_ECHARTS}")
endif()

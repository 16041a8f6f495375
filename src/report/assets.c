/*
 * The files are taken in by the assembler, byte for byte, where CMake says.
 */
#include "src/report/assets.h"

#define EMBED(name, file)                                                      \
    __asm__(".section .rodata\n"                                               \
            ".globl tri_asset_" name "\n"                                      \
            ".hidden tri_asset_" name "\n"                                     \
            ".globl tri_asset_" name "_end\n"                                  \
            ".hidden tri_asset_" name "_end\n"                                 \
            "tri_asset_" name ":\n"                                            \
            ".incbin \"" file "\"\n"                                           \
            "tri_asset_" name "_end:\n"                                        \
            ".byte 0\n"                                                        \
            ".previous\n")

EMBED("page", TRI_REPORT_DIR "/page.html");
EMBED("style", TRI_REPORT_DIR "/page.css");
EMBED("tables", TRI_REPORT_DIR "/tables.js");
EMBED("charts", TRI_REPORT_DIR "/charts.js");
EMBED("draw", TRI_REPORT_DIR "/draw.js");
#ifdef TRI_ECHARTS_DIR
EMBED("library", TRI_ECHARTS_DIR "/echarts.min.js");
EMBED("notice", TRI_ECHARTS_DIR "/NOTICE");
#else
EMBED("library", "/dev/null");
EMBED("notice", "/dev/null");
#endif

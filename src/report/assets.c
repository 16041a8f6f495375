/*
 * The files are taken in by the assembler, byte for byte, where CMake says.
 */
#include "src/report/assets.h"

#define EMBED(name, content)                                                   \
    __asm__(".section .rodata\n"                                               \
            ".globl tri_asset_" name "\n"                                      \
            ".hidden tri_asset_" name "\n"                                     \
            ".globl tri_asset_" name "_end\n"                                  \
            ".hidden tri_asset_" name "_end\n"                                 \
            "tri_asset_" name ":\n" content "tri_asset_" name "_end:\n"        \
            ".byte 0\n"                                                        \
            ".previous\n")
#define FILE_OF(path) ".incbin \"" path "\"\n"

EMBED("page", FILE_OF(TRI_REPORT_DIR "/page.html"));
EMBED("style", FILE_OF(TRI_REPORT_DIR "/page.css"));
EMBED("tables", FILE_OF(TRI_REPORT_DIR "/tables.js"));
EMBED("charts", FILE_OF(TRI_REPORT_DIR "/charts.js"));
EMBED("draw", FILE_OF(TRI_REPORT_DIR "/draw.js"));
#ifdef TRI_ECHARTS_DIR
EMBED("library", FILE_OF(TRI_ECHARTS_DIR "/echarts.min.js"));
EMBED("notice", FILE_OF(TRI_ECHARTS_DIR "/NOTICE"));
#else
EMBED("library", "");
EMBED("notice", "");
#endif

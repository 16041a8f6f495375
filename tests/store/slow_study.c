/*
 * Writes a study slowly, for readers that follow it:
 *
 *   slow_study FILE.h5 [MS]      MS between events, 20
 */
#include "tests/store/tiny.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    tiny_settings settings;
    tiny_result result;

    if (argc < 2) {
        fprintf(stderr, "usage: slow_study FILE.h5 [MS]\n");
        return 1;
    }
    tiny_defaults(&settings, argv[1]);
    settings.pause_ms = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 20;
    result = tiny_drive(&settings);
    if (result.status != TRI_OK) {
        fprintf(stderr, "slow_study: %s\n", tri_error_last()->sentence);
        return 1;
    }
    return result.end_status;
}

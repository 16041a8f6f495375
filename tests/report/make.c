/*
 * Makes study files for the tests in a browser and the benchmark.
 *
 *   report_make NAME WORKERS FILE.h5
 */
#include "tests/report/world.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *text = argc == 4 ? world_text(argv[1]) : NULL;
    world w;

    if (!text) {
        fprintf(stderr, "usage: report_make one|thirty|thousand|ten-thousand|"
                        "model|failures|odd WORKERS FILE.h5\n");
        return 1;
    }
    world_live(&w, text, atoi(argv[2]), argv[3]);
    printf("%lld runs\n", (long long)tri_ctl_n_runs(w.ctl));
    world_fini(&w);
    return 0;
}

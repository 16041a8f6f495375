/*
 * The program trireme-plugin (plugin_probe.h): loads a library and tells.
 */
#include "mpi_workers/plugin_load.h"
#include "mpi_workers/plugin_probe.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    tri_plugin_found found;
    tri_plugin plugin = {0};

    if (argc != 2) {
        fputs("usage: " TRI_PLUGIN_PROGRAM " LIBRARY (trireme check does)\n",
              stderr);
        return 1;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(&found, 0, sizeof found);
    found.status = (int32_t)tri_plugin_load(argv[1], &plugin);
    found.saves = plugin.checkpoint ? 1 : 0;
    if (found.status != TRI_OK) {
        snprintf(found.sentence, sizeof found.sentence, "%s",
                 tri_error_last()->sentence);
    }
    if (write(TRI_PLUGIN_FOUND_FD, &found, sizeof found) !=
        (ssize_t)sizeof found) {
        return 1;
    }
    for (;;) { /* what the library has registered for the end is not run */
        kill(getpid(), SIGKILL);
    }
}

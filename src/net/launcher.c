/*
 * What the launcher and the batch system say of this job.
 */
#include "src/net/driver.h"

#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The end of the year 9999, in seconds since 1970. */
#define LAST_SECOND 253402300800.0

const char *tri_launcher_level(void)
{
    return tri_world_outlives() ? "heartbeat" : "resume";
}

/* The value of the control variable `pml`: what the user asked for. */
static int asked_pml(char *buf, size_t bytes)
{
    char value[256] = "";
    MPI_T_cvar_handle handle;
    int at;
    int n = 0;

    if (MPI_T_cvar_get_index("pml", &at) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(at, NULL, &handle, &n) != MPI_SUCCESS) {
        return 0;
    }
    if (n < (int)sizeof value) {
        MPI_T_cvar_read(handle, value);
    }
    MPI_T_cvar_handle_free(&handle);
    if (!value[0] || value[0] == '^' || strchr(value, ',')) {
        return 0;
    }
    snprintf(buf, bytes, "%s", value);
    return 1;
}

void tri_launcher_pml(char *buf, size_t bytes)
{
    int provided;
    int at;

    snprintf(buf, bytes, "auto");
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
        return;
    }
    /* components that were not chosen are closed, and their variables gone */
    if (!asked_pml(buf, bytes) &&
        MPI_T_pvar_get_index("pml_ob1_unexpected_msgq_length",
                             MPI_T_PVAR_CLASS_SIZE, &at) == MPI_SUCCESS) {
        snprintf(buf, bytes, "ob1");
    }
    MPI_T_finalize();
}

static void say_no_time(int *said, const char *name, const char *text)
{
    if (!*said) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "%s is \"%.40s\", no time in seconds since 1970; it is "
                    "not used",
                    name, text);
    }
    *said = 1;
}

double tri_launcher_deadline(const char **source)
{
    static const char *const names[] = {"TRIREME_DEADLINE",
                                        "SLURM_JOB_END_TIME"};
    static int said[2]; /* once: it is asked for more than once */
    double least = NAN;

    *source = "";
    for (int i = 0; i < 2; i++) {
        const char *text = getenv(names[i]);
        char *end;
        double at;

        if (!text || !*text) {
            continue;
        }
        at = strtod(text, &end);
        if (end == text || *end || !(at > 0 && at < LAST_SECOND)) {
            say_no_time(&said[i], names[i], text);
        } else if (!(at >= least)) {
            least = at;
            *source = names[i];
        }
    }
    return least;
}

void tri_launcher_class(const tri_rank_place *place, char *buf, size_t bytes)
{
    const char *text = getenv("TRIREME_MACHINE_CLASS");

    if (text && *text) {
        snprintf(buf, bytes, "%s", text);
    } else {
        /* of the machine, not of this job's share: a resume in another
         * allocation is no other class */
        snprintf(buf, bytes, "%s x %ld", place->cpu,
                 sysconf(_SC_NPROCESSORS_CONF));
    }
}

/*
 * The log on standard error: "trireme: warn: ...", one write a line, so that
 * lines of several ranks and threads do not mix.
 */
#include "src/app/app.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *_Atomic clear_text = "";

void tri_app_log_clear(const char *text)
{
    clear_text = text;
}

static void to_stderr(void *ctx, tri_log_level level, int rank,
                      const char *line)
{
    char buf[1200];
    char who[24] = "";
    int n;

    (void)ctx;
    if (rank > 0) {
        snprintf(who, sizeof who, "rank %d: ", rank);
    }
    n = snprintf(buf, sizeof buf, "%strireme: %s%s: %s\n", clear_text, who,
                 tri_log_level_name(level), line);
    if (n >= (int)sizeof buf) {
        n = (int)sizeof buf - 1;
        buf[n - 1] = '\n';
    }
    if (write(STDERR_FILENO, buf, (size_t)n) < 0) {
        return; /* nowhere to say it */
    }
}

static tri_log_level level_of(int quiet, int verbose)
{
    const char *env = getenv("TRIREME_LOG");
    tri_log_level level = TRI_LOG_INFO;

    if (env && tri_log_level_parse(env, &level) != TRI_OK) {
        fprintf(stderr, "trireme: warn: TRIREME_LOG: %s\n",
                tri_error_last()->sentence);
        tri_error_clear();
    }
    if (quiet) {
        level = TRI_LOG_ERROR;
    } else if (verbose) {
        level = verbose > 1 ? TRI_LOG_TRACE : TRI_LOG_DEBUG;
    }
    return level;
}

void tri_app_log_setup(int quiet, int verbose, int rank)
{
    tri_log_setup(to_stderr, NULL, level_of(quiet, verbose), rank);
}

static int whole_number(const char *text)
{
    return text ? (int)strtol(text, NULL, 10) : 0;
}

int tri_app_launch_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);

        if (text && *text) {
            return whole_number(text);
        }
    }
    /* srun without a PMI: its ranks know their number by Slurm alone */
    return getenv("SLURM_STEP_ID") ? whole_number(getenv("SLURM_PROCID")) : 0;
}

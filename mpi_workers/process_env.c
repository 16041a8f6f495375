/*
 * Builds the environment of a process trial.
 */
#include "mpi_workers/process_env.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the launcher that started this rank; a site's other OMPI_MCA_ settings
 * are kept. */
static const char *const scrubbed[] = {"OMPI_COMM_WORLD_*",
                                       "OMPI_UNIVERSE_SIZE",
                                       "OMPI_APP_CTX*",
                                       "OMPI_NUM_APP_CTX",
                                       "OMPI_FIRST_RANKS",
                                       "OMPI_FILE_LOCATION",
                                       "OMPI_ARGV",
                                       "OMPI_COMMAND",
                                       "OMPI_MCA_orte_*",
                                       "OMPI_MCA_ess*",
                                       "OMPI_MCA_pmix*",
                                       "OMPI_MCA_initial_wdir",
                                       "PMIX_*",
                                       "PMI_*",
                                       "SLURM_STEP*",
                                       "SLURM_PROCID",
                                       "SLURM_LOCALID",
                                       "SLURM_NODEID",
                                       "SLURM_GTIDS",
                                       "SLURM_TASK_PID",
                                       "SLURM_SRUN_COMM_*",
                                       "SLURM_CPU_BIND*",
                                       "SLURM_MPI_TYPE",
                                       "SLURM_PMI*",
                                       "SLURM_LAUNCH_NODE_IPADDR",
                                       "SLURM_DISTRIBUTION",
                                       "SLURM_UMASK",
                                       NULL};

/* Whether the name in "NAME=..." is `pattern`, whose end may be *. */
static int matches(const char *variable, const char *pattern)
{
    size_t name = strcspn(variable, "=");
    size_t bytes = strlen(pattern);

    if (bytes > 0 && pattern[bytes - 1] == '*') {
        return name >= bytes - 1 && strncmp(variable, pattern, bytes - 1) == 0;
    }
    return name == bytes && strncmp(variable, pattern, bytes) == 0;
}

int tri_env_is_scrubbed(const char *variable, const char *const *keep,
                        int n_keep)
{
    for (int i = 0; i < n_keep; i++) {
        if (matches(variable, keep[i])) {
            return 0;
        }
    }
    for (int i = 0; scrubbed[i]; i++) {
        if (matches(variable, scrubbed[i])) {
            return 1;
        }
    }
    return 0;
}

typedef struct list {
    char **at;
    int n, room;
} list;

static int same_name(const char *a, const char *b)
{
    size_t bytes = strcspn(a, "=");

    return strcspn(b, "=") == bytes && strncmp(a, b, bytes) == 0;
}

/* Add "NAME=value", taken; a later one of the same name wins. */
static tri_status put(list *l, char *variable)
{
    if (!variable) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an environment");
    }
    for (int i = 0; i < l->n; i++) {
        if (same_name(l->at[i], variable)) {
            free(l->at[i]);
            l->at[i] = variable;
            return TRI_OK;
        }
    }
    if (l->n + 2 > l->room) {
        char **grown = realloc(l->at, (size_t)(l->room + 64) * sizeof *grown);

        if (!grown) {
            free(variable);
            return TRI_FAIL(TRI_ENOMEM, "no memory for an environment");
        }
        l->at = grown;
        l->room += 64;
    }
    l->at[l->n++] = variable;
    l->at[l->n] = NULL;
    return TRI_OK;
}

static tri_status set(list *l, const char *name, const char *value)
{
    char *variable = NULL;

    if (asprintf(&variable, "%s=%s", name, value) < 0) {
        variable = NULL;
    }
    return put(l, variable);
}

/* TRIREME_<NAME> in capitals. */
static tri_status set_own(list *l, const char *name, const char *value)
{
    char upper[160] = "TRIREME_";
    size_t at = strlen(upper);

    for (; *name && at + 1 < sizeof upper; name++) {
        upper[at++] = (char)toupper((unsigned char)*name);
    }
    upper[at] = 0;
    return set(l, upper, value);
}

static tri_status set_params(list *l, const tri_study *study,
                             const tri_config *config)
{
    char value[4096];

    for (int i = 0; i < tri_space_n_params(study->space); i++) {
        const tri_param *p = tri_space_param(study->space, i);

        tri_value_plain(config[i], value, sizeof value);
        TRI_TRY(set_own(l, p->name, value));
    }
    return TRI_OK;
}

static tri_status set_facts(list *l, const tri_facts *facts)
{
    static const char *const plain[] = {"rank",        "world_size",
                                        "local_rank",  "local_world_size",
                                        "master_addr", "master_port"};
    static const char *const upper[] = {"RANK",        "WORLD_SIZE",
                                        "LOCAL_RANK",  "LOCAL_WORLD_SIZE",
                                        "MASTER_ADDR", "MASTER_PORT"};
    const char *const *names = tri_study_facts();
    char value[4096];

    for (int i = 0; names[i]; i++) {
        tri_fact_print(facts, names[i], value, sizeof value);
        TRI_TRY(set_own(l, names[i], value));
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        tri_fact_print(facts, plain[i], value, sizeof value);
        TRI_TRY(set(l, upper[i], value));
    }
    return set(l, "TRIREME_FD", "1");
}

static tri_status set_users(list *l, const tri_study *study,
                            const tri_config *config, const tri_facts *facts)
{
    const tri_process_spec *spec = &study->model.u.process;

    for (int i = 0; i < spec->n_env; i++) {
        char *value;
        tri_status st;

        TRI_TRY(tri_template_expand(spec->env[i].value, study, config, facts,
                                    &value));
        st = set(l, spec->env[i].key, value);
        free(value);
        TRI_TRY(st);
    }
    return TRI_OK;
}

static tri_status build(list *l, char *const *from, const tri_study *study,
                        const tri_config *config, const tri_facts *facts)
{
    const tri_process_spec *spec = &study->model.u.process;

    for (int i = 0; from[i]; i++) {
        if (!tri_env_is_scrubbed(from[i], spec->keep_env, spec->n_keep_env)) {
            TRI_TRY(put(l, strdup(from[i])));
        }
    }
    TRI_TRY(set_params(l, study, config));
    TRI_TRY(set_facts(l, facts));
    return set_users(l, study, config, facts);
}

tri_status tri_env_build(char *const *from, const tri_study *study,
                         const tri_config *config, const tri_facts *facts,
                         char ***out)
{
    list l = {0};
    tri_status st = build(&l, from, study, config, facts);

    if (st != TRI_OK) {
        tri_env_free(l.at);
        return st;
    }
    *out = l.at;
    return TRI_OK;
}

void tri_env_free(char **env)
{
    for (int i = 0; env && env[i]; i++) {
        free(env[i]);
    }
    free(env);
}

/*
 * Builds the environment of a process trial.
 */
#include "mpi_workers/process_env.h"

#include "mpi_workers/child.h"

#include <jansson.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the launcher that started this rank: Open MPI (4, and PRRTE of 5), PMI,
 * MPICH, MVAPICH; a site's other OMPI_MCA_ settings are kept. */
static const char *const of_mpi[] = {"OMPI_COMM_WORLD_*",
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
                                     "OMPI_MCA_num_procs",
                                     "PRTE_LAUNCHED",
                                     "PRTE_MCA_ess*",
                                     "PRTE_MCA_prte_*",
                                     "PMIX_*",
                                     "PMI_*",
                                     "MPI_LOCALRANKID",
                                     "MPI_LOCALNRANKS",
                                     "MV2_COMM_WORLD_*",
                                     NULL};
/* Of a Slurm step (srun(1), OUTPUT ENVIRONMENT VARIABLES): of its tasks, and
 * options of it that an srun from within would take for its own.  What is said
 * of the job and its nodes is kept. */
static const char *const of_slurm[] = {
        "SLURM_STEP*",          "SLURM_PROCID",
        "SLURM_LOCALID",        "SLURM_NODEID",
        "SLURM_GTIDS",          "SLURM_TASK_PID",
        "SLURM_SRUN_COMM_*",    "SLURM_CPU_BIND*",
        "SLURM_MEM_BIND*",      "SLURM_GPU_BIND",
        "SLURM_TRES_BIND",      "SLURM_TRES_PER_TASK",
        "SLURM_GPUS_PER_TASK",  "SLURM_MPI_TYPE",
        "SLURM_PMI*",           "SLURM_LAUNCH_NODE_IPADDR",
        "SLURM_DIST*",          "SLURM_HOSTFILE",
        "SLURM_MULTI_PROG",     "SLURM_OVERCOMMIT",
        "SLURM_UMASK",          "SLURM_NTASKS*",
        "SLURM_NPROCS",         "SLURM_RESV_PORTS",
        "SLURM_TOPOLOGY_ADDR*", NULL};

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

static int is_among(const char *variable, const char *const *patterns)
{
    for (; *patterns; patterns++) {
        if (matches(variable, *patterns)) {
            return 1;
        }
    }
    return 0;
}

int tri_env_is_scrubbed(const char *variable, const char *const *keep,
                        int n_keep)
{
    for (int i = 0; i < n_keep; i++) {
        if (matches(variable, keep[i])) {
            return 0;
        }
    }
    return is_among(variable, of_mpi) || is_among(variable, of_slurm);
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

/* Variables that torch and others read, by the fact that they hold.  Those of
 * one process are its launcher's to set where only the leader starts one. */
static const struct {
    const char *name, *fact;
    int is_of_process;
} common[] = {{"RANK", "rank", 1},
              {"LOCAL_RANK", "local_rank", 1},
              {"LOCAL_WORLD_SIZE", "local_world_size", 1},
              {"GROUP_RANK", "group_rank", 1},
              {"WORLD_SIZE", "world_size", 0},
              {"MASTER_ADDR", "master_addr", 0},
              {"MASTER_PORT", "master_port", 0}};

static const char *fact_text(const tri_facts *facts, const char *name,
                             char *buf, size_t bytes)
{
    const char *text = tri_fact_text(facts, name, buf, bytes);

    return text ? text : "";
}

static tri_status set_facts(list *l, const tri_process_spec *spec,
                            const tri_facts *facts)
{
    const char *const *names = tri_study_facts();
    char buf[64];

    for (int i = 0; names[i]; i++) {
        TRI_TRY(set_own(l, names[i],
                        fact_text(facts, names[i], buf, sizeof buf)));
    }
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++) {
        if (!spec->leader || !common[i].is_of_process) {
            TRI_TRY(set(l, common[i].name,
                        fact_text(facts, common[i].fact, buf, sizeof buf)));
        }
    }
    if (facts->device_variable) {
        TRI_TRY(set(l, facts->device_variable,
                    facts->device ? facts->device : ""));
    }
    snprintf(buf, sizeof buf, "%d", TRI_CHILD_FD);
    return set(l, "TRIREME_FD", buf);
}

/* Python holds back what it prints into a pipe, 8 KiB at a time, and with it
 * the times of steps; whoever has set this knows better. */
static tri_status set_python(list *l)
{
    for (int i = 0; i < l->n; i++) {
        if (same_name(l->at[i], "PYTHONUNBUFFERED")) {
            return TRI_OK;
        }
    }
    return set(l, "PYTHONUNBUFFERED", "1");
}

/* ---- the configuration as JSON ------------------------------------------- */

/* `text` in quotes; owned, NULL where it is no UTF-8. */
static char *quote(const char *text)
{
    json_t *string = json_string(text);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

    json_decref(string);
    return quoted;
}

/* As typed values; null where a parameter is inactive. */
static char *json_of(tri_value v)
{
    char buf[64];

    if (v.type == TRI_WORD) {
        return quote(v.u.word);
    }
    if (v.type == TRI_INACTIVE) {
        return strdup("null");
    }
    tri_value_print(v, buf, sizeof buf);
    return strdup(buf);
}

static int write_config(FILE *to, const tri_study *study,
                        const tri_config *config)
{
    int good = 1;

    fputc('{', to);
    for (int i = 0; i < tri_space_n_params(study->space) && good; i++) {
        char *name = quote(tri_space_param(study->space, i)->name);
        char *value = json_of(config[i]);

        good = name && value;
        if (good) {
            fprintf(to, "%s%s: %s", i > 0 ? ", " : "", name, value);
        }
        free(name);
        free(value);
    }
    fputc('}', to);
    return good;
}

static tri_status set_config(list *l, const tri_study *study,
                             const tri_config *config)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    int good = to && write_config(to, study, config);
    tri_status st;

    if (to && fclose(to) != 0) {
        good = 0;
    }
    st = good ? set(l, "TRIREME_CONFIG", text)
              : TRI_FAIL(TRI_EINVAL, "the configuration cannot be written as "
                                     "JSON for TRIREME_CONFIG");
    free(text);
    return st;
}

/* ---- the whole ---------------------------------------------------------- */

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
    for (int i = 0; from[i]; i++) {
        TRI_TRY(put(l, strdup(from[i])));
    }
    TRI_TRY(set_python(l));
    TRI_TRY(set_params(l, study, config));
    TRI_TRY(set_config(l, study, config));
    TRI_TRY(set_facts(l, &study->model.u.process, facts));
    return set_users(l, study, config, facts);
}

tri_status tri_env_scrub(char *const *from, const tri_process_spec *spec,
                         const char *mark, char ***out)
{
    list l = {0};
    tri_status st = TRI_OK;

    for (int i = 0; from[i] && st == TRI_OK; i++) {
        if (!tri_env_is_scrubbed(from[i], spec->keep_env, spec->n_keep_env)) {
            st = put(&l, strdup(from[i]));
        }
    }
    if (st == TRI_OK && mark) {
        st = put(&l, strdup(mark));
    }
    if (st == TRI_OK && !l.at) {
        l.at = calloc(1, sizeof *l.at);
        st = l.at ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory");
    }
    if (st != TRI_OK) {
        tri_env_free(l.at);
        return st;
    }
    *out = l.at;
    return TRI_OK;
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

/*
 * Lines of a shell that a torchrun line and a Slurm script share.
 */
#include "src/app/emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void tri_emit_heading(const tri_emit_job *job, FILE *out)
{
    const tri_space *space = job->study->space;
    size_t bytes = tri_space_print(space, job->config, NULL, 0) + 1;
    char *config = malloc(bytes);

    fputs("# The winner of study ", out);
    tri_emit_comment(job->study->name, out);
    fprintf(out, ", trial %" PRId64 ": ", job->trial);
    if (config) {
        tri_space_print(space, job->config, config, bytes);
        tri_emit_comment(config, out);
        free(config);
    }
    fprintf(out, "\n# %d rank%s: ", job->ranks, job->ranks == 1 ? "" : "s");
    tri_emit_comment(job->assumed, out);
    fputc('\n', out);
}

/* ---- before the command -------------------------------------------------- */

/* Whether the shell of `setup` is one whose text can stand in the script. */
static int is_bash(const tri_process_spec *p)
{
    const char *name = p->setup.n_shell > 0 ? p->setup.shell[0] : "bash";
    const char *slash = strrchr(name, '/');

    name = slash ? slash + 1 : name;
    return strcmp(name, "bash") == 0 || strcmp(name, "sh") == 0;
}

void tri_emit_shebang(const tri_emit_job *job, FILE *out)
{
    const tri_process_spec *p = &job->study->model.u.process;
    const char *option = "";

    if (job->study->model.kind == TRI_MODEL_PROCESS && p->setup.text &&
        is_bash(p) && p->setup.n_shell == 2 && p->setup.shell[1][0] == '-' &&
        !strpbrk(p->setup.shell[1], " \t\n")) {
        option = p->setup.shell[1]; /* the system passes one on */
    }
    fprintf(out, "#!/bin/bash%s%s\n", *option ? " " : "", option);
}

/* A shell with options may have read what the setup needs: profiles, modules.
 */
static void print_shell(const tri_process_spec *p, FILE *out)
{
    if (p->setup.n_shell > 1) {
        fputs("# The study's setup was run by", out);
        for (int i = 0; i < p->setup.n_shell; i++) {
            fputc(' ', out);
            tri_emit_quote(p->setup.shell[i], out);
        }
        fputs(":\n", out);
    }
}

/* Each line of `text` behind `prefix`. */
static void print_lines(const char *text, const char *prefix, FILE *out)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        fprintf(out, "%s%.*s\n", prefix, (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void print_setup(const tri_process_spec *p, int strict, FILE *out)
{
    if (!p->setup.text) {
        return;
    }
    if (!is_bash(p)) {
        fprintf(out,
                "# The study's setup is for another shell (%s); do before:"
                "\n",
                p->setup.shell[0]);
        print_lines(p->setup.text, "#   ", out);
        return;
    }
    print_shell(p, out);
    fputs(strict ? "set +u\n" : "", out);
    print_lines(p->setup.text, "", out);
    fputs(strict ? "set -u\n" : "", out);
}

static void print_study_dir(const tri_emit_job *job, FILE *out)
{
    char folder[4096];

    tri_emit_folder(job->study->path, folder, sizeof folder);
    fputs("STUDY_DIR=$(cd -- ", out);
    tri_emit_quote(folder, out);
    fputs(" && pwd)\nexport STUDY_DIR\n", out);
}

/* Launchers give each process a device of its own, or show it all. */
static void print_devices(const tri_process_spec *p, FILE *out)
{
    if (p->devices.how != TRI_DEVICES_MAP) {
        return;
    }
    fprintf(out, "# The study gave the workers of a host, in order, %s:\n#  ",
            p->devices.variable ? p->devices.variable : "CUDA_VISIBLE_DEVICES");
    for (int i = 0; i < p->devices.n_map; i++) {
        fputc(' ', out);
        tri_emit_quote(p->devices.map[i], out);
    }
    fputc('\n', out);
}

void tri_emit_before(const tri_emit_job *job, const tri_emit_command *c,
                     int strict, FILE *out)
{
    if (c->stands_for) {
        fprintf(out,
                "# A study of kind %s has no command: train.py stands for "
                "yours.\n",
                c->stands_for);
        return;
    }
    if (job->study->path[0] != '/') {
        fputs("# Start it in the folder in which the study was started.\n",
              out);
    }
    fprintf(out,
            "# It trains for %" PRId64
            " %s as the study did, without the steps of warm-up there.\n",
            job->resource, tri_unit_name(job->study->resource.unit));
    print_devices(&job->study->model.u.process, out);
    print_setup(&job->study->model.u.process, strict, out);
    if (c->moves) {
        print_study_dir(job, out);
    }
    if (c->cwd && !c->enters) {
        fprintf(out, "cd -- %s\n", c->cwd);
    }
}

/* ---- the command --------------------------------------------------------- */

void tri_emit_words(const tri_emit_command *c, int first, FILE *out)
{
    for (int i = first; i < c->n_words; i++) {
        fprintf(out, "%s%s", i > first ? " " : "", c->words[i].shell);
    }
}

void tri_emit_exports(const tri_emit_command *c, FILE *out)
{
    for (int i = 0; i < c->n_env; i++) {
        fprintf(out, "export %s=%s\n", c->env[i].key, c->env[i].value);
    }
    if (c->scratch) {
        fputs("mkdir -p -- \"$TRIREME_SCRATCH\"\n", out);
    }
    if (c->enters) {
        fprintf(out, "cd -- %s\n", c->cwd);
    }
}

void tri_emit_rank_words(const tri_emit_command *c, FILE *out)
{
    if (!c->per_rank) {
        fputs("exec \"$@\"\n", out);
        return;
    }
    tri_emit_exports(c, out);
    fputs("exec ", out);
    tri_emit_words(c, 0, out);
    fputc('\n', out);
}

void tri_emit_each_rank(const char *script, FILE *out)
{
    char end[64] = "END";

    while (strstr(script, end) && strlen(end) + 2 < sizeof end) {
        strcat(end, "_");
    }
    fprintf(out, "IFS= read -r -d '' each_rank <<'%s' || true\n%s%s\n", end,
            script, end);
}

void tri_emit_leader(const tri_emit_job *job, const tri_emit_command *c,
                     FILE *out)
{
    fputs("# The study's command starts its ranks itself (launch: leader).\n",
          out);
    if (c->per_rank) {
        fprintf(out,
                "export RANK=0 LOCAL_RANK=0 GROUP_RANK=0 WORLD_SIZE=%d "
                "LOCAL_WORLD_SIZE=%d\n",
                job->ranks, job->per_node);
    }
    if (c->hosts) {
        fprintf(out,
                "HOSTS=$(IFS=,; echo \"${hosts[*]}\")\n"
                "HOST_SLOTS=$(printf '%%s:%d,' \"${hosts[@]}\")\n"
                "HOST_SLOTS=${HOST_SLOTS%%,}\n"
                "HOST_FILE=$(mktemp)\n"
                "for host in \"${hosts[@]}\"; do\n"
                "    for ((i = 0; i < %d; i++)); do echo \"$host\"; done\n"
                "done > \"$HOST_FILE\"\n"
                "export HOSTS HOST_SLOTS HOST_FILE\n",
                job->per_node, job->per_node);
    }
}

void tri_emit_train(const tri_emit_job *job, FILE *out)
{
    const tri_space *space = job->study->space;
    size_t bytes = tri_space_print(space, job->config, NULL, 0) + 1;
    char *config = malloc(bytes);

    fputs("trireme train ", out);
    tri_emit_quote(job->study->path, out);
    if (config) {
        tri_space_print(space, job->config, config, bytes);
        fputs(" \\\n    --set ", out);
        tri_emit_quote(config, out);
        free(config);
    }
    if (job->study->resource.unit == TRI_UNIT_STEPS) {
        fprintf(out, " --steps %" PRId64, job->resource);
    }
    fputc('\n', out);
}

/*
 * The winner as a batch script of Slurm: complete but for what a site wants.
 */
#include "src/app/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ------------------------------------------------------------- */

/* A name without what a shell or Slurm would take for more than a letter. */
static void print_job_name(const char *name, FILE *out)
{
    for (; *name; name++) {
        int plain = isalnum((unsigned char)*name) || strchr("_.-", *name);

        fputc(plain ? *name : '_', out);
    }
}

/* "#SBATCH --name=value" of a parameter that has such a name. */
static void print_named(const tri_emit_job *job, const tri_emit_name *name,
                        tri_value v, FILE *out)
{
    const char *text = name->text;
    const char *word;
    char buf[64];
    size_t n;

    if (!name->whole && v.type == TRI_BOOL && !v.u.i) {
        return;
    }
    while ((word = tri_emit_next_word(&text, &n))) {
        fputs("#SBATCH ", out);
        tri_emit_fill(job, word, n, out);
        if (!name->whole && v.type != TRI_BOOL) {
            fputc('=', out);
            tri_emit_quote(tri_emit_plain(v, buf, sizeof buf), out);
        }
        fputc('\n', out);
    }
}

/* Whether each line is an option: a value's line break ends the comment that it
 * stands in, and what came after would run. */
static int are_options(const char *text)
{
    for (; *text; text += strcspn(text, "\n") + 1) {
        if (strncmp(text, "#SBATCH ", 8) != 0) {
            return 0;
        }
    }
    return 1;
}

static tri_status print_on_lines(const tri_emit_job *job, const char *param,
                                 const tri_emit_name *name, tri_value v,
                                 FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    tri_status st = TRI_OK;

    if (!f) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a script");
    }
    print_named(job, name, v, f);
    fclose(f);
    if (are_options(text)) {
        fputs(text, out);
    } else {
        st = TRI_FAIL(TRI_EINVAL,
                      "emit: slurm: the value of %.60s has a line break in it, "
                      "which no #SBATCH line can hold",
                      param);
    }
    free(text);
    return st;
}

static tri_status print_options(const tri_emit_job *job, FILE *out)
{
    const tri_space *space = job->study->space;

    fputs("#SBATCH --job-name=", out);
    print_job_name(job->study->name, out);
    fprintf(out, "\n#SBATCH --nodes=%d\n#SBATCH --ntasks-per-node=%d\n",
            job->nodes, job->per_node);
    if (job->devices) {
        fprintf(out, "#SBATCH --gpus-per-node=%d\n", job->per_node);
    }
    for (int i = 0; i < tri_space_n_params(space); i++) {
        const tri_param *p = tri_space_param(space, i);
        tri_value v = job->config[p->column];
        tri_emit_name name;

        if (v.type != TRI_INACTIVE &&
            tri_emit_find_name(job, TRI_EMIT_SLURM, p->name, v, &name)) {
            TRI_TRY(print_on_lines(job, p->name, &name, v, out));
        }
    }
    fprintf(out,
            "# Add what your site wants: --time, --partition, --account%s."
            "\n",
            job->devices ? "" : ", --gpus-per-node");
    return TRI_OK;
}

/* ---- the command --------------------------------------------------------- */

/* Where rank 0 listens, and the list of hosts. */
static void print_rendezvous(FILE *out)
{
    fputs("mapfile -t hosts < <(scontrol show hostnames "
          "\"$SLURM_JOB_NODELIST\")\n"
          "export MASTER_ADDR=\"${hosts[0]}\"\n"
          "export MASTER_PORT=$((10000 + SLURM_JOB_ID % 20000))\n",
          out);
}

/* What each rank does, as a text for bash -c. */
static void print_rank(const tri_emit_job *job, const tri_emit_command *c,
                       FILE *out)
{
    fprintf(out,
            "export RANK=\"$SLURM_PROCID\" WORLD_SIZE=%d\n"
            "export LOCAL_RANK=\"$SLURM_LOCALID\" LOCAL_WORLD_SIZE=%d\n"
            "export GROUP_RANK=\"$SLURM_NODEID\"\n",
            job->ranks, job->per_node);
    tri_emit_rank_words(c, out);
}

static tri_status print_srun(const tri_emit_job *job, const tri_emit_command *c,
                             FILE *out)
{
    char *script = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&script, &bytes);

    if (!f) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a script");
    }
    print_rank(job, c, f);
    fclose(f);
    if (!c->per_rank) {
        tri_emit_exports(c, out);
    }
    tri_emit_each_rank(script, out);
    free(script);
    fputs("srun bash -c \"$each_rank\"", out);
    if (!c->per_rank) {
        fputs(" bash \\\n    ", out);
        tri_emit_words(c, 0, out);
    }
    fputc('\n', out);
    return TRI_OK;
}

static tri_status print_command(const tri_emit_job *job, FILE *out)
{
    tri_emit_command c;
    tri_status st = TRI_OK;

    TRI_TRY(tri_emit_command_of(job, TRI_EMIT_SLURM, &c));
    tri_emit_before(job, &c, 1, out);
    print_rendezvous(out);
    if (c.is_leader) {
        tri_emit_leader(job, &c, out);
        tri_emit_exports(&c, out);
        tri_emit_words(&c, 0, out);
        fputc('\n', out);
    } else {
        st = print_srun(job, &c, out);
    }
    tri_emit_command_fini(&c);
    return st;
}

tri_status tri_emit_slurm(const tri_emit_job *job, FILE *out)
{
    tri_emit_shebang(job, out);
    tri_emit_heading(job, out);
    TRI_TRY(print_options(job, out));
    fputs("set -euo pipefail\n", out);
    if (tri_emit_is_own(job)) {
        fputs("srun --mpi=pmix ", out);
        tri_emit_train(job, out);
        return TRI_OK;
    }
    return print_command(job, out);
}

/*
 * The winner as a torchrun line.  Options are written with underscores, which
 * every version of torchrun takes.
 */
#include "src/app/emit.h"

#include <ctype.h>
#include <string.h>

/* ---- what torchrun runs -------------------------------------------------- */

static int is_python(const char *word)
{
    const char *slash = word ? strrchr(word, '/') : NULL;
    const char *name = slash ? slash + 1 : word;

    if (!name || strncmp(name, "python", 6) != 0) {
        return 0;
    }
    name += 6;
    return name[strspn(name, "0123456789.")] == '\0';
}

static int ends_in_py(const char *word)
{
    size_t n = word ? strlen(word) : 0;

    return n > 3 && strcmp(word + n - 3, ".py") == 0;
}

static const char *literal(const tri_emit_command *c, int i)
{
    return i < c->n_words ? c->words[i].literal : NULL;
}

/* The first word that torchrun is given, as it runs python scripts itself: it
 * adds the interpreter and -u.  *option: what must stand before it. */
static int first_word(const tri_emit_command *c, const char **option)
{
    const char *word = literal(c, 0);
    int first = 0;

    *option = "";
    if (ends_in_py(word)) {
        return 0;
    }
    if (is_python(word)) {
        first = 1;
        while (literal(c, first) && strcmp(literal(c, first), "-u") == 0) {
            first++;
        }
        word = literal(c, first);
        if (word && strcmp(word, "-m") == 0 && first + 1 < c->n_words) {
            *option = "-m ";
            return first + 1;
        }
        if (first < c->n_words && (!word || word[0] != '-')) {
            return first;
        }
    }
    *option = "--no_python ";
    return 0;
}

/* Assignments on a line. */
#define LINE 78

/* ---- lines --------------------------------------------------------------- */

static void print_assignments(const tri_emit_command *c, FILE *out)
{
    size_t at = 0;

    for (int i = 0; i < c->n_env; i++) {
        size_t n = strlen(c->env[i].key) + strlen(c->env[i].value) + 2;

        if (at > 0 && at + n > LINE) {
            fputs("\\\n", out);
            at = 0;
        }
        fprintf(out, "%s=%s ", c->env[i].key, c->env[i].value);
        at += n;
    }
    if (c->n_env > 0) {
        fputs("\\\n", out);
    }
}

/* `python`: the interpreter that is to run it, NULL: that of torchrun. */
static void print_torchrun(const tri_emit_job *job, const char *python,
                           FILE *out)
{
    if (python) {
        fprintf(out, "%s -m torch.distributed.run", python);
    } else {
        fputs("torchrun", out);
    }
    if (job->nodes == 1) {
        fprintf(out, " --standalone --nnodes=1 --nproc_per_node=%d",
                job->per_node);
    } else {
        fprintf(out,
                " --nnodes=%d --nproc_per_node=%d \\\n"
                "    --rdzv_backend=c10d --rdzv_id=1 \\\n"
                "    --rdzv_endpoint=\"${HEAD:?the name of one of the "
                "nodes}:29500\"",
                job->nodes, job->per_node);
    }
    fputs(" \\\n    ", out);
}

/* An interpreter that the command names by its path, which need not be the one
 * that torchrun belongs to; else NULL. */
static const char *own_python(const tri_emit_command *c, int first)
{
    const char *word = literal(c, 0);

    return first > 0 && word && strchr(word, '/') ? c->words[0].shell : NULL;
}

/* What ranks do where each has words of its own. */
static tri_status print_each_rank(const tri_emit_command *c, FILE *out)
{
    char *script = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&script, &bytes);

    if (!f) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    tri_emit_rank_words(c, f);
    fclose(f);
    tri_emit_each_rank(script, out);
    free(script);
    return TRI_OK;
}

static tri_status print_command(const tri_emit_job *job,
                                const tri_emit_command *c, FILE *out)
{
    const char *option;
    int first = first_word(c, &option);

    if (job->nodes > 1) {
        fprintf(out, "# On each of the %d nodes:\n", job->nodes);
    }
    if (c->per_rank) {
        TRI_TRY(print_each_rank(c, out));
        print_torchrun(job, NULL, out);
        fputs("--no_python bash -c \"$each_rank\"\n", out);
        return TRI_OK;
    }
    print_assignments(c, out);
    print_torchrun(job, own_python(c, first), out);
    fputs(option, out);
    tri_emit_words(c, first, out);
    fputc('\n', out);
    return TRI_OK;
}

/* A command that starts its ranks itself needs no torchrun. */
static void print_leader(const tri_emit_job *job, const tri_emit_command *c,
                         FILE *out)
{
    if (c->hosts && job->nodes == 1) {
        fputs("hosts=(localhost)\n", out);
    } else if (c->hosts) {
        fprintf(out,
                "read -ra hosts <<< \"${NODES:?the names of %d nodes, blanks "
                "between}\"\n",
                job->nodes);
    }
    if (c->per_rank) {
        fputs("export MASTER_ADDR=localhost MASTER_PORT=29500\n", out);
    }
    tri_emit_leader(job, c, out);
    tri_emit_exports(c, out);
    tri_emit_words(c, 0, out);
    fputc('\n', out);
}

tri_status tri_emit_torchrun(const tri_emit_job *job, FILE *out)
{
    tri_emit_command c;
    tri_status st = TRI_OK;

    tri_emit_heading(job, out);
    if (tri_emit_is_own(job)) {
        fprintf(out,
                "# Model kind %s is trireme's own: it needs no "
                "torchrun.\nmpirun -n %d ",
                tri_model_name(job->study->model.kind), job->ranks);
        tri_emit_train(job, out);
        return TRI_OK;
    }
    TRI_TRY(tri_emit_command_of(job, TRI_EMIT_TORCHRUN, &c));
    tri_emit_before(job, &c, 0, out);
    if (c.is_leader) {
        print_leader(job, &c, out);
    } else {
        st = print_command(job, &c, out);
    }
    tri_emit_command_fini(&c);
    return st;
}

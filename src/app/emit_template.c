/*
 * Templates as words of a shell, filled in for the winner.  What only a running
 * rank knows ({rank}, {master_addr}, ...) becomes the variable that torch's
 * launchers set.
 */
#include "src/app/emit.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- quoting ------------------------------------------------------------- */

static int is_plain(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_@%+:,./-", c));
}

void tri_emit_quote(const char *text, FILE *out)
{
    size_t n = strlen(text);
    size_t plain = 0;

    /* "a=b" before a command would be an assignment: not so behind "--" */
    while (is_plain(text[plain]) || (text[plain] == '=' && text[0] == '-')) {
        plain++;
    }
    if (n > 0 && plain == n) {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*text, out);
        }
    }
    fputc('\'', out);
}

void tri_emit_comment(const char *text, FILE *out)
{
    for (; *text; text++) {
        fputc(iscntrl((unsigned char)*text) ? '?' : *text, out);
    }
}

/* ---- facts --------------------------------------------------------------- */

typedef enum scope {
    ANYWHERE, /* the same for the whole job */
    A_RANK,   /* known to a rank alone */
    HOSTS     /* the list of hosts */
} scope;

typedef struct variable {
    const char *fact, *name;
    scope scope;
} variable;

/* Facts that are variables of the shell. */
static const variable variables[] = {
        {"rank", "RANK", A_RANK},
        {"local_rank", "LOCAL_RANK", A_RANK},
        {"group_rank", "GROUP_RANK", A_RANK},
        {"device", "LOCAL_RANK", A_RANK},
        {"world_size", "WORLD_SIZE", A_RANK},
        {"local_world_size", "LOCAL_WORLD_SIZE", A_RANK},
        {"master_addr", "MASTER_ADDR", A_RANK},
        {"master_port", "MASTER_PORT", A_RANK},
        {"scratch", "TMPDIR:-/tmp", ANYWHERE},
        {"checkpoint_dir", "CHECKPOINT_DIR:-checkpoints", ANYWHERE},
        {"hosts", "HOSTS", HOSTS},
        {"host_slots", "HOST_SLOTS", HOSTS},
        {"host_file", "HOST_FILE", HOSTS},
};

static const variable *find_variable(const char *fact)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (strcmp(variables[i].fact, fact) == 0) {
            return &variables[i];
        }
    }
    return NULL;
}

/* The folder of the study file as the record names it. */
void tri_emit_folder(const char *path, char *buf, size_t bytes)
{
    const char *slash = strrchr(path, '/');

    if (!slash) {
        snprintf(buf, bytes, ".");
    } else {
        snprintf(buf, bytes, "%.*s", slash == path ? 1 : (int)(slash - path),
                 path);
    }
}

/* The text of a fact that is no variable. */
static void print_fact(const tri_emit_job *job, const char *name, char *buf,
                       size_t bytes)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"run", job->run},
                   {"trial", job->trial},
                   {"rung", job->rung},
                   {"epoch", job->epoch},
                   {"resource", job->resource},
                   {"n_hosts", job->nodes},
                   {"attempt", 0},
                   {"resume_step", 0}};

    buf[0] = '\0'; /* resume_dir: from scratch */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            snprintf(buf, bytes, "%" PRId64, numbers[i].value);
        }
    }
    if (strcmp(name, "resource_unit") == 0) {
        snprintf(buf, bytes, "%s", tri_unit_name(job->study->resource.unit));
    } else if (strcmp(name, "seed") == 0) {
        snprintf(buf, bytes, "%" PRIu64, job->study->seed);
    } else if (strcmp(name, "study_dir") == 0) {
        tri_emit_folder(job->study->path, buf, bytes);
    }
}

int tri_emit_is_fact(const char *name)
{
    const char *const *names = tri_study_facts();

    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* ---- one template -------------------------------------------------------- */

typedef struct writing {
    const tri_emit_job *job;
    tri_emit_command *command;
    int is_script; /* a text for the shell: nothing is quoted */
    FILE *shell;   /* what is ready */
    FILE *run;     /* literal text since, not yet quoted */
    char *run_text;
    size_t run_bytes;
    int inactive;  /* a placeholder was */
    int variables; /* a fact became one */
} writing;

static tri_status begin_run(writing *w)
{
    w->run_text = NULL;
    w->run = open_memstream(&w->run_text, &w->run_bytes);
    return w->run ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for a command");
}

/* Quote what is literal so far.  `always`: nothing is a word too. */
static void end_run(writing *w, int always)
{
    fclose(w->run);
    if (w->is_script) {
        fputs(w->run_text, w->shell);
    } else if (w->run_bytes > 0 || always) {
        tri_emit_quote(w->run_text, w->shell);
    }
}

static tri_status put_variable(writing *w, const variable *v)
{
    int braces = w->is_script || strchr(v->name, ':') != NULL;

    end_run(w, 0);
    free(w->run_text);
    fprintf(w->shell, w->is_script ? "$%s%s%s" : "\"$%s%s%s\"",
            braces ? "{" : "", v->name, braces ? "}" : "");
    w->variables = 1;
    w->command->per_rank |= v->scope == A_RANK;
    w->command->hosts |= v->scope == HOSTS;
    return begin_run(w);
}

static tri_status put_name(writing *w, const char *name)
{
    static const variable folder = {"study_dir", "STUDY_DIR", ANYWHERE};
    static const variable scratch = {"scratch", "TRIREME_SCRATCH", ANYWHERE};
    const variable *known = find_variable(name);
    char fact[4096];
    char buf[64];
    tri_value v;

    if (w->command->scratch && strcmp(name, "scratch") == 0) {
        return put_variable(w, &scratch);
    }
    if (known) {
        return put_variable(w, known);
    }
    if (w->job->study->model.u.process.cwd && w->job->study->path[0] != '/' &&
        strcmp(name, "study_dir") == 0) {
        w->command->moves = 1;
        return put_variable(w, &folder);
    }
    if (tri_emit_is_fact(name)) {
        print_fact(w->job, name, fact, sizeof fact);
        fputs(fact, w->run);
    } else if (tri_space_lookup(w->job->study->space, w->job->config, name,
                                &v) == TRI_OK) {
        w->inactive |= v.type == TRI_INACTIVE;
        fputs(tri_emit_plain(v, buf, sizeof buf), w->run);
    }
    return TRI_OK;
}

/* Braces are known to close and to name what is known: the study was read. */
static tri_status put_template(writing *w, const char *at)
{
    char name[128];

    while (*at) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;

        if ((*at == '{' || *at == '}') && at[1] == at[0]) {
            fputc(*at, w->run);
            at += 2;
        } else if (close) {
            snprintf(name, sizeof name, "%.*s", (int)(close - at) - 1, at + 1);
            TRI_TRY(put_name(w, name));
            at = close + 1;
        } else {
            fputc(*at++, w->run);
        }
    }
    return TRI_OK;
}

tri_status tri_emit_expand(const tri_emit_job *job, tri_emit_command *command,
                           const char *template, int is_script,
                           tri_emit_word *out, int *inactive)
{
    writing w = {.job = job, .command = command, .is_script = is_script};
    size_t bytes = 0;
    char *shell = NULL;
    tri_status st;

    w.shell = open_memstream(&shell, &bytes);
    if (!w.shell) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    st = begin_run(&w);
    if (st == TRI_OK) {
        st = put_template(&w, template);
    }
    if (w.run) {
        end_run(&w, !w.variables);
    }
    fclose(w.shell);
    if (st != TRI_OK) {
        free(shell);
        free(w.run_text);
        return st;
    }
    if (inactive) {
        *inactive |= w.inactive;
    }
    out->shell = shell;
    out->literal = w.run_text;
    if (w.variables) {
        free(w.run_text);
        out->literal = NULL;
    }
    return TRI_OK;
}

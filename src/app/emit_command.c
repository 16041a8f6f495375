/*
 * The command of a study of processes as words of a shell: its templates
 * filled in for the winner.  What only a running rank knows ({rank},
 * {master_addr}, ...) becomes the variable that torch's launchers set.
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
static void print_folder(const char *path, char *buf, size_t bytes)
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
    if (strcmp(name, "seed") == 0) {
        snprintf(buf, bytes, "%" PRIu64, job->study->seed);
    } else if (strcmp(name, "study_dir") == 0) {
        print_folder(job->study->path, buf, bytes);
    }
}

static int is_fact(const char *name)
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
    const variable *known = find_variable(name);
    char fact[4096];
    char buf[64];
    tri_value v;

    if (known) {
        return put_variable(w, known);
    }
    if (w->job->study->model.u.process.cwd && w->job->study->path[0] != '/' &&
        strcmp(name, "study_dir") == 0) {
        w->command->moves = 1;
        return put_variable(w, &folder);
    }
    if (is_fact(name)) {
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

/* [out] `out`: of a script the text itself, in `literal`.  *inactive (may be
 * NULL) is set where a placeholder is. */
static tri_status expand(const tri_emit_job *job, tri_emit_command *command,
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

/* ---- the command --------------------------------------------------------- */

static void free_word(tri_emit_word *w)
{
    free(w->shell);
    free(w->literal);
    *w = (tri_emit_word){NULL, NULL};
}

/* Take back the words from `first` on where one of their group was inactive. */
static void close_group(tri_emit_command *c, int first, int inactive)
{
    while (inactive && c->n_words > first) {
        free_word(&c->words[--c->n_words]);
    }
}

static tri_status expand_list(const tri_emit_job *job, tri_emit_command *c)
{
    const tri_process_spec *p = &job->study->model.u.process;
    int inactive = 0;
    int first = 0;

    for (int i = 0; i < p->n_argv; i++) {
        if (i > 0 && p->argv_group[i] != p->argv_group[i - 1]) {
            close_group(c, first, inactive);
            first = c->n_words;
            inactive = 0;
        }
        TRI_TRY(expand(job, c, p->argv[i], 0, &c->words[c->n_words],
                       &inactive));
        c->n_words++;
    }
    close_group(c, first, inactive);
    return TRI_OK;
}

/* sh -c TEXT: in the text facts are variables that the shell fills in. */
static tri_status expand_script(const tri_emit_job *job, tri_emit_command *c)
{
    static const char *const before[] = {"sh", "-c"};
    tri_emit_word script;
    size_t bytes = 0;
    char *quoted = NULL;
    FILE *f;

    for (int i = 0; i < 2; i++) {
        TRI_TRY(expand(job, c, before[i], 0, &c->words[c->n_words++], NULL));
    }
    TRI_TRY(expand(job, c, job->study->model.u.process.argv[0], 1, &script,
                   NULL));
    free(script.literal);
    f = open_memstream(&quoted, &bytes);
    if (!f) {
        free(script.shell);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    tri_emit_quote(script.shell, f);
    fclose(f);
    c->words[c->n_words++] = (tri_emit_word){quoted, script.shell};
    return TRI_OK;
}

/* ---- the environment ----------------------------------------------------- */

static tri_status add_variable(const tri_emit_job *job, tri_emit_command *c,
                               const char *name, const char *template)
{
    tri_emit_word word;
    char *copy = strdup(name);
    tri_status st = copy ? expand(job, c, template, 0, &word, NULL)
                         : TRI_FAIL(TRI_ENOMEM, "no memory for a command");

    if (st != TRI_OK) {
        free(copy);
        return st;
    }
    free(word.literal);
    c->env[c->n_env++] = (tri_pair){copy, word.shell};
    return TRI_OK;
}

/* Whether a template of the process names {name}. */
static int is_used(const tri_process_spec *p, const char *name)
{
    char braces[160];
    int used = 0;

    snprintf(braces, sizeof braces, "{%s}", name);
    for (int i = 0; i < p->n_argv; i++) {
        used |= strstr(p->argv[i], braces) != NULL;
    }
    for (int i = 0; i < p->n_env; i++) {
        used |= strstr(p->env[i].value, braces) != NULL;
    }
    return used;
}

/* TRIREME_NAME={name}, as trials have it, where nothing else tells it. */
static tri_status add_trireme(const tri_emit_job *job, tri_emit_command *c,
                              const char *name)
{
    char told[160];
    char braces[160];
    char *p = told;

    if (is_used(&job->study->model.u.process, name)) {
        return TRI_OK;
    }
    snprintf(braces, sizeof braces, "{%s}", name);
    snprintf(told, sizeof told, "TRIREME_%s", name);
    for (; *p; p++) {
        *p = (char)toupper((unsigned char)*p);
    }
    return add_variable(job, c, told, braces);
}

static tri_status expand_env(const tri_emit_job *job, tri_emit_command *c)
{
    static const char *const told[] = {"resource", "seed"};
    const tri_process_spec *p = &job->study->model.u.process;
    const tri_space *space = job->study->space;

    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        TRI_TRY(add_trireme(job, c, told[i]));
    }
    for (int i = 0; i < tri_space_n_params(space); i++) {
        const tri_param *q = tri_space_param(space, i);

        if (job->config[q->column].type != TRI_INACTIVE) {
            TRI_TRY(add_trireme(job, c, q->name));
        }
    }
    for (int i = 0; i < p->n_env; i++) {
        TRI_TRY(add_variable(job, c, p->env[i].key, p->env[i].value));
    }
    return TRI_OK;
}

/* ---- folders ------------------------------------------------------------- */

/* Whether a path begins at the root, or with a fact that does. */
static int is_absolute(const char *path)
{
    char name[128];

    snprintf(name, sizeof name, "%.*s",
             (int)strcspn(path + (*path == '{'), "}"), path + (*path == '{'));
    return *path == '/' || (*path == '{' && is_fact(name));
}

/* `cwd` is relative to the study file. */
static tri_status expand_cwd(const tri_emit_job *job, tri_emit_command *c)
{
    const char *cwd = job->study->model.u.process.cwd;
    tri_emit_word word;
    char folder[4096];
    size_t bytes = 0;
    FILE *f;

    if (!cwd) {
        return TRI_OK;
    }
    TRI_TRY(expand(job, c, cwd, 0, &word, NULL));
    f = open_memstream(&c->cwd, &bytes);
    if (f && !is_absolute(cwd)) {
        print_folder(job->study->path, folder, sizeof folder);
        tri_emit_quote(folder, f);
        fputc('/', f);
    }
    if (f) {
        fputs(word.shell, f);
        fclose(f);
    }
    free_word(&word);
    return f ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for a command");
}

/* ---- stand-ins and additions --------------------------------------------- */

int tri_emit_is_own(const tri_emit_job *job)
{
    tri_model_kind kind = job->study->model.kind;

    return kind != TRI_MODEL_PROCESS && kind != TRI_MODEL_TABLE &&
           kind != TRI_MODEL_SYNTHETIC;
}

static tri_status add_word(tri_emit_command *c, const char *text)
{
    tri_emit_word w = {NULL, strdup(text)};
    size_t bytes = 0;
    FILE *f = open_memstream(&w.shell, &bytes);

    if (f) {
        tri_emit_quote(text, f);
        fclose(f);
    }
    c->words[c->n_words++] = w;
    return f && w.literal ? TRI_OK
                          : TRI_FAIL(TRI_ENOMEM, "no memory for a command");
}

static tri_status add_flags(tri_emit_command *c, const json_t *flags)
{
    size_t n = json_array_size(flags);
    tri_emit_word *more =
            realloc(c->words, ((size_t)c->n_words + n + 4) * sizeof *more);

    if (!more) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    c->words = more;
    if (c->stands_for) {
        TRI_TRY(add_word(c, "python3"));
        TRI_TRY(add_word(c, "train.py"));
    }
    for (size_t i = 0; i < n; i++) {
        TRI_TRY(add_word(c, json_string_value(json_array_get(flags, i))));
    }
    return TRI_OK;
}

/* ---- the whole ----------------------------------------------------------- */

static tri_status expand_process(const tri_emit_job *job, tri_emit_command *c)
{
    const tri_process_spec *p = &job->study->model.u.process;
    int n_params = tri_space_n_params(job->study->space);

    c->is_leader = p->leader;
    c->words = calloc((size_t)p->n_argv + 3, sizeof *c->words);
    c->env = calloc((size_t)(p->n_env + n_params) + 3, sizeof *c->env);
    if (!c->words || !c->env) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    TRI_TRY(p->shell ? expand_script(job, c) : expand_list(job, c));
    TRI_TRY(expand_env(job, c));
    return expand_cwd(job, c);
}

static tri_status expand_all(const tri_emit_job *job, tri_emit_format format,
                             tri_emit_command *c)
{
    int is_process = job->study->model.kind == TRI_MODEL_PROCESS;
    int named = format == TRI_EMIT_TORCHRUN || !is_process;
    json_t *flags = NULL;
    tri_status st;

    if (is_process) {
        TRI_TRY(expand_process(job, c));
    } else {
        c->stands_for = tri_model_name(job->study->model.kind);
    }
    if (named) {
        flags = tri_emit_flags(job, TRI_EMIT_TORCHRUN, !is_process, NULL);
    }
    st = add_flags(c, flags);
    json_decref(flags);
    return st;
}

tri_status tri_emit_command_of(const tri_emit_job *job, tri_emit_format format,
                               tri_emit_command *out)
{
    tri_emit_command c = {.words = NULL};
    tri_status st = expand_all(job, format, &c);

    if (st != TRI_OK) {
        tri_emit_command_fini(&c);
        return st;
    }
    *out = c;
    return TRI_OK;
}

void tri_emit_command_fini(tri_emit_command *c)
{
    for (int i = 0; c->words && i < c->n_words; i++) {
        free_word(&c->words[i]);
    }
    for (int i = 0; c->env && i < c->n_env; i++) {
        free((char *)c->env[i].key);
        free((char *)c->env[i].value);
    }
    free(c->words);
    free(c->env);
    free(c->cwd);
    *c = (tri_emit_command){.words = NULL};
}

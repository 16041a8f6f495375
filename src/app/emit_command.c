/*
 * The command of a winner as words of a shell: what the study starts, or a
 * stand-in where it starts nothing.
 */
#include "src/app/emit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
        TRI_TRY(tri_emit_expand(job, c, p->argv[i], 0, &c->words[c->n_words],
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
        TRI_TRY(tri_emit_expand(job, c, before[i], 0, &c->words[c->n_words++],
                                NULL));
    }
    TRI_TRY(tri_emit_expand(job, c, job->study->model.u.process.argv[0], 1,
                            &script, NULL));
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

/* ---- folders ------------------------------------------------------------- */

/* Whether a path begins at the root, or with a fact that does. */
static int is_absolute(const char *path)
{
    char name[128];

    snprintf(name, sizeof name, "%.*s",
             (int)strcspn(path + (*path == '{'), "}"), path + (*path == '{'));
    return *path == '/' || (*path == '{' && tri_emit_is_fact(name));
}

/* A path of the study, which may be relative to its file, behind `above`: a
 * shell word, owned.  *is_own is set where it names facts of a rank. */
static tri_status expand_path(const tri_emit_job *job, tri_emit_command *c,
                              const char *above, const char *path, int *is_own,
                              char **out)
{
    tri_emit_word word;
    size_t bytes = 0;
    int per_rank = c->per_rank;
    FILE *f;

    c->per_rank = 0;
    TRI_TRY(tri_emit_expand(job, c, path, 0, &word, NULL));
    *is_own = c->per_rank;
    c->per_rank |= per_rank;
    f = open_memstream(out, &bytes);
    if (f) {
        fprintf(f, "%s%s%s", is_absolute(path) ? "" : above,
                is_absolute(path) ? "" : "/", word.shell);
        fclose(f);
    }
    free_word(&word);
    return f ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for a command");
}

/* The study's folder as a shell word, from where the study was started. */
static tri_status quote_folder(const tri_emit_job *job, char **out)
{
    char folder[4096];
    size_t bytes = 0;
    FILE *f = open_memstream(out, &bytes);

    tri_emit_folder(job->study->path, folder, sizeof folder);
    if (f) {
        tri_emit_quote(folder, f);
        fclose(f);
    }
    return f ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for a command");
}

static tri_status expand_cwd(const tri_emit_job *job, tri_emit_command *c)
{
    const char *cwd = job->study->model.u.process.cwd;
    char *folder;
    tri_status st;

    if (!cwd) {
        return TRI_OK;
    }
    TRI_TRY(quote_folder(job, &folder));
    st = expand_path(job, c, folder, cwd, &c->enters, &c->cwd);
    c->enters |= c->scratch && strstr(cwd, "{scratch}");
    free(folder);
    return st;
}

/* TRIREME_SCRATCH, a folder for each process: where the study names one for
 * all, each adds its rank. */
static tri_status add_scratch(const tri_emit_job *job, tri_emit_command *c)
{
    const tri_process_spec *p = &job->study->model.u.process;
    int is_own;
    char *path;
    char *whole;

    c->moves |= !is_absolute(p->scratch);
    TRI_TRY(expand_path(job, c, "\"$STUDY_DIR\"", p->scratch, &is_own, &path));
    whole = malloc(strlen(path) + 16);
    c->env[c->n_env] = (tri_pair){strdup("TRIREME_SCRATCH"), whole};
    if (whole) {
        sprintf(whole, "%s%s", path,
                is_own || p->leader || job->ranks == 1 ? "" : ".\"$RANK\"");
    }
    free(path);
    c->per_rank |= !p->leader;
    return whole && c->env[c->n_env++].key
                   ? TRI_OK
                   : TRI_FAIL(TRI_ENOMEM, "no memory for a command");
}

/* ---- the environment ----------------------------------------------------- */

static tri_status add_variable(const tri_emit_job *job, tri_emit_command *c,
                               const char *name, const char *template)
{
    tri_emit_word word;
    char *copy = strdup(name);
    tri_status st = copy ? tri_emit_expand(job, c, template, 0, &word, NULL)
                         : TRI_FAIL(TRI_ENOMEM, "no memory for a command");

    if (st != TRI_OK) {
        free(copy);
        return st;
    }
    free(word.literal);
    c->env[c->n_env++] = (tri_pair){copy, word.shell};
    return TRI_OK;
}

/* A variable with a text as it stands; takes `text`, NULL: no memory. */
static tri_status add_text(tri_emit_command *c, const char *name, char *text)
{
    size_t bytes = 0;
    char *word = NULL;
    char *copy = strdup(name);
    FILE *f = text && copy ? open_memstream(&word, &bytes) : NULL;

    if (!f) {
        free(text);
        free(copy);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    tri_emit_quote(text, f);
    fclose(f);
    free(text);
    c->env[c->n_env++] = (tri_pair){copy, word};
    return TRI_OK;
}

/* TRIREME_NAME={name}, as trials have it. */
static tri_status add_trireme(const tri_emit_job *job, tri_emit_command *c,
                              const char *name)
{
    char told[160];
    char braces[160];
    char *p = told;

    snprintf(braces, sizeof braces, "{%s}", name);
    snprintf(told, sizeof told, "TRIREME_%s", name);
    for (; *p; p++) {
        *p = (char)toupper((unsigned char)*p);
    }
    return add_variable(job, c, told, braces);
}

static void print_json(json_t *text, FILE *out)
{
    json_dumpf(text, out, JSON_ENCODE_ANY);
    json_decref(text);
}

/* The configuration as trials have it in TRIREME_CONFIG: numbers as they are
 * written elsewhere, null where a parameter is inactive. */
static char *config_text(const tri_emit_job *job)
{
    const tri_space *space = job->study->space;
    size_t bytes = 0;
    char *text = NULL;
    FILE *f = open_memstream(&text, &bytes);

    if (f) {
        fputc('{', f);
    }
    for (int i = 0; f && i < tri_space_n_params(space); i++) {
        const tri_param *q = tri_space_param(space, i);
        tri_value v = job->config[q->column];
        char buf[64];

        fputs(i > 0 ? ", " : "", f);
        print_json(json_string(q->name), f);
        fputs(": ", f);
        if (v.type == TRI_WORD) {
            print_json(json_string(v.u.word), f);
        } else if (v.type == TRI_INACTIVE) {
            fputs("null", f);
        } else {
            fputs(tri_emit_plain(v, buf, sizeof buf), f);
        }
    }
    if (f) {
        fputc('}', f);
        fclose(f);
    }
    return text;
}

/* All that a trial is told of its configuration: whether the trainer takes it
 * from the command alone, nobody knows. */
static tri_status expand_env(const tri_emit_job *job, tri_emit_command *c)
{
    static const char *const told[] = {"resource", "seed"};
    const tri_process_spec *p = &job->study->model.u.process;
    const tri_space *space = job->study->space;

    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        TRI_TRY(add_trireme(job, c, told[i]));
    }
    if (job->study->resource.unit != TRI_UNIT_STEPS) { /* what it counts */
        TRI_TRY(add_trireme(job, c, "resource_unit"));
    }
    for (int i = 0; i < tri_space_n_params(space); i++) {
        const tri_param *q = tri_space_param(space, i);

        if (job->config[q->column].type != TRI_INACTIVE) {
            TRI_TRY(add_trireme(job, c, q->name));
        }
    }
    TRI_TRY(add_text(c, "TRIREME_CONFIG", config_text(job)));
    if (p->scratch) {
        TRI_TRY(add_scratch(job, c));
    }
    for (int i = 0; i < p->n_env; i++) {
        TRI_TRY(add_variable(job, c, p->env[i].key, p->env[i].value));
    }
    return TRI_OK;
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
    c->env = calloc((size_t)(p->n_env + n_params) + 6, sizeof *c->env);
    if (!c->words || !c->env) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a command");
    }
    c->scratch = p->scratch != NULL; /* before templates name it */
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

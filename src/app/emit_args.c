/*
 * The winner as arguments: flags and values, for Megatron-LM and for programs
 * whose command is not known.
 */
#include "src/app/emit.h"

#include <stdlib.h>
#include <string.h>

/* Append a word; `text` is freed. */
static void append(json_t *words, char *text)
{
    json_array_append_new(words, tri_app_json_text(text ? text : ""));
    free(text);
}

static void append_filled(const tri_emit_job *job, json_t *words,
                          const char *word, size_t n)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);

    if (f) {
        tri_emit_fill(job, word, n, f);
        fclose(f);
        append(words, text);
    }
}

/* The words of a name, and the value where it follows.  A boolean is there or
 * not. */
static void append_named(const tri_emit_job *job, const tri_emit_name *name,
                         tri_value v, json_t *words)
{
    const char *text = name->text;
    const char *word;
    char buf[64];
    size_t n;

    if (!*text || (!name->whole && v.type == TRI_BOOL && !v.u.i)) {
        return;
    }
    while ((word = tri_emit_next_word(&text, &n))) {
        append_filled(job, words, word, n);
    }
    if (!name->whole && v.type != TRI_BOOL) {
        json_array_append_new(
                words, tri_app_json_text(tri_emit_plain(v, buf, sizeof buf)));
    }
}

/* The words of one parameter; none where it is left out. */
static void append_param(const tri_emit_job *job, tri_emit_format format,
                         const tri_param *p, int all, json_t *words,
                         json_t *notes)
{
    tri_value v = job->config[p->column];
    tri_emit_name name;
    char flag[160];

    if (v.type == TRI_INACTIVE) {
        return;
    }
    if (tri_emit_find_name(job, format, p->name, v, &name)) {
        append_named(job, &name, v, words);
    } else if (all) {
        snprintf(flag, sizeof flag, "--%s", p->name);
        name = (tri_emit_name){flag, 0};
        append_named(job, &name, v, words);
    } else if (notes) {
        tri_emit_note_unnamed(notes, format, p->name, v);
    }
}

json_t *tri_emit_flags(const tri_emit_job *job, tri_emit_format format, int all,
                       json_t *notes)
{
    const tri_space *space = job->study->space;
    json_t *words = json_array();

    for (int i = 0; i < tri_space_n_params(space); i++) {
        append_param(job, format, tri_space_param(space, i), all, words, notes);
    }
    return words;
}

/* ---- megatron ------------------------------------------------------------ */

/* The sizes of a model of trireme's own, but for those that are searched. */
static void append_sizes(const tri_emit_job *job, json_t *words)
{
    const tri_gpt_spec *g = &job->study->model.u.gpt;
    const struct {
        const char *param, *flag;
        int value;
    } sizes[] = {{"layers", "--num-layers", g->layers},
                 {"hidden", "--hidden-size", g->hidden},
                 {"ffn", "--ffn-hidden-size", g->ffn},
                 {"heads", "--num-attention-heads", g->heads},
                 {"sequence", "--seq-length", g->sequence},
                 {"", "--max-position-embeddings", g->sequence}};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!tri_emit_has(job, sizes[i].param)) {
            json_array_append_new(words, json_string(sizes[i].flag));
            json_array_append_new(words, json_sprintf("%d", sizes[i].value));
        }
    }
}

/* The form of that model, where it is not Megatron's own default. */
static void append_form(const tri_gpt_spec *g, json_t *words)
{
    const struct {
        int is;
        const char *flag, *value;
    } forms[] = {{g->rms, "--normalization", "RMSNorm"},
                 {g->swiglu, "--swiglu", NULL},
                 {g->rope, "--position-embedding-type", "rope"},
                 {g->no_bias, "--disable-bias-linear", NULL},
                 {!g->tied, "--untie-embeddings-and-output-weights", NULL}};
    static const char *const drops[] = {"--hidden-dropout",
                                        "--attention-dropout"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].is) {
            json_array_append_new(words, json_string(forms[i].flag));
        }
        if (forms[i].is && forms[i].value) {
            json_array_append_new(words, json_string(forms[i].value));
        }
    }
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++) {
        json_array_append_new(words, json_string(drops[i]));
        json_array_append_new(words, json_sprintf("%g", g->dropout));
    }
}

/* A line for each flag with what belongs to it. */
static void print_lines(const json_t *words, FILE *out)
{
    size_t n = json_array_size(words);

    for (size_t i = 0; i < n; i++) {
        const char *word = json_string_value(json_array_get(words, i));

        if (i > 0) {
            fputc(strncmp(word, "--", 2) == 0 ? '\n' : ' ', out);
        }
        tri_emit_quote(word, out);
    }
    if (n > 0) {
        fputc('\n', out);
    }
}

static void note_limits(const tri_emit_job *job, json_t *notes)
{
    char buf[64];
    tri_value v;

    if (tri_space_lookup(job->study->space, job->config, "zero", &v) ==
                TRI_OK &&
        strcmp(tri_emit_plain(v, buf, sizeof buf), "1") > 0 &&
        !tri_emit_is_named(job, TRI_EMIT_MEGATRON, "zero")) {
        tri_emit_note(notes,
                      "zero = %s takes Megatron-FSDP, which also needs "
                      "--ckpt-format fsdp_dtensor and "
                      "--no-gradient-accumulation-fusion",
                      tri_emit_plain(v, buf, sizeof buf));
    }
    tri_emit_note(notes, "for %d rank%s: %s", job->ranks,
                  job->ranks == 1 ? "" : "s", job->assumed);
}

tri_status tri_emit_megatron(const tri_emit_job *job, FILE *out, tri_emitted *e)
{
    e->arguments = tri_emit_flags(job, TRI_EMIT_MEGATRON, 0, e->notes);
    if (!e->arguments) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for arguments");
    }
    if (job->study->model.kind == TRI_MODEL_GPT) {
        append_sizes(job, e->arguments);
        append_form(&job->study->model.u.gpt, e->arguments);
    }
    note_limits(job, e->notes);
    print_lines(e->arguments, out);
    return TRI_OK;
}

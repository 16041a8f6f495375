/*
 * What parameters are called elsewhere: the study's `emit`, else the usual
 * names.  Flags are Megatron-LM's (megatron/training/arguments.py), keys
 * DeepSpeed's (docs/_pages/config-json.md).
 */
#include "src/app/emit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- the usual names ----------------------------------------------------- */

/* Names under which studies have the same parameter; the first is the one that
 * the rows below know. */
static const char *const aliases[][10] = {
        {"dp", "data_parallel", "data_parallel_size"},
        {"tp", "tensor_parallel", "tensor_parallel_size",
         "tensor_model_parallel_size"},
        {"pp", "pipeline_parallel", "pipeline_parallel_size",
         "pipeline_model_parallel_size"},
        {"cp", "context_parallel", "context_parallel_size"},
        {"ep", "expert_parallel", "expert_parallel_size",
         "expert_model_parallel_size"},
        {"virtual", "vpp", "virtual_stages", "virtual_pipeline"},
        {"micro_batch", "mbs", "micro_batch_size",
         "train_micro_batch_size_per_gpu"},
        {"global_batch", "gbs", "global_batch_size", "train_batch_size"},
        {"grad_acc", "accumulation", "grad_accumulation",
         "gradient_accumulation", "gradient_accumulation_steps"},
        {"gpus", "n_gpus", "num_gpus", "world_size", "n_ranks"},
        {"zero", "zero_stage"},
        {"recompute", "recomputation", "activation_checkpointing",
         "checkpoint_activations"},
        {"sequence_parallel", "sequence_parallelism"},
        {"lr", "learning_rate"},
        {"min_lr", "min_learning_rate"},
        {"weight_decay", "wd"},
        {"clip", "clip_grad", "grad_clip", "max_grad_norm",
         "gradient_clipping"},
        {"beta1", "adam_beta1"},
        {"beta2", "adam_beta2"},
        {"layers", "num_layers", "n_layers"},
        {"hidden", "hidden_size", "d_model"},
        {"ffn", "ffn_hidden_size"},
        {"heads", "num_heads", "n_heads", "num_attention_heads"},
        {"sequence", "seq", "seq_length", "seq_len", "sequence_length"},
        {"overlap", "overlap_comm"},
};

/* A row with `value` is of that value alone, and its text says all; the first
 * row that fits counts.  `with`: only beside a parameter of that name. */
typedef struct usual {
    const char *param, *value, *with;
    tri_emit_format format;
    const char *text;
} usual;

#define M TRI_EMIT_MEGATRON
#define D TRI_EMIT_DEEPSPEED
#define S TRI_EMIT_SLURM
/* clang-format off */
static const usual usuals[] = {
        /* follows from the number of ranks */
        {"dp", NULL, NULL, M, ""},
        {"gpus", NULL, NULL, M, ""},
        {"tp", NULL, NULL, M, "--tensor-model-parallel-size"},
        {"pp", NULL, NULL, M, "--pipeline-model-parallel-size"},
        {"cp", NULL, NULL, M, "--context-parallel-size"},
        {"ep", NULL, NULL, M, "--expert-model-parallel-size"},
        {"virtual", "1", NULL, M, ""},
        {"virtual", NULL, NULL, M, "--num-virtual-stages-per-pipeline-rank"},
        {"schedule", "1f1b", NULL, M, ""},
        {"schedule", "interleaved", "virtual", M, ""},
        {"micro_batch", NULL, NULL, M, "--micro-batch-size"},
        {"global_batch", NULL, NULL, M, "--global-batch-size"},
        {"grad_acc", NULL, "global_batch", M, ""},
        {"zero", "0", NULL, M, ""},
        {"zero", "1", NULL, M, "--use-distributed-optimizer"},
        {"zero", "2", NULL, M, "--use-megatron-fsdp --use-distributed-optimizer"
         " --data-parallel-sharding-strategy optim_grads"},
        {"zero", "3", NULL, M, "--use-megatron-fsdp --use-distributed-optimizer"
         " --data-parallel-sharding-strategy optim_grads_params"},
        {"recompute", "none", NULL, M, ""},
        {"recompute", "false", NULL, M, ""},
        {"recompute", "selective", NULL, M,
         "--recompute-granularity selective"},
        {"recompute", "full", NULL, M, "--recompute-granularity full"
         " --recompute-method uniform --recompute-num-layers 1"},
        {"recompute", "true", NULL, M, "--recompute-granularity full"
         " --recompute-method uniform --recompute-num-layers 1"},
        {"sequence_parallel", NULL, NULL, M, "--sequence-parallel"},
        {"split", "even", NULL, M, ""},
        {"split", "cost", NULL, M, "--account-for-embedding-in-pipeline-split"
         " --account-for-loss-in-pipeline-split"},
        {"overlap", "none", NULL, M, ""},
        {"overlap", "false", NULL, M, ""},
        {"overlap", "true", NULL, M, "--overlap-grad-reduce"},
        {"overlap", "poke", NULL, M, "--overlap-grad-reduce"},
        {"overlap", "shm", NULL, M, "--overlap-grad-reduce"},
        {"lr", NULL, NULL, M, "--lr"},
        {"min_lr", NULL, NULL, M, "--min-lr"},
        {"weight_decay", NULL, NULL, M, "--weight-decay"},
        {"clip", NULL, NULL, M, "--clip-grad"},
        {"beta1", NULL, NULL, M, "--adam-beta1"},
        {"beta2", NULL, NULL, M, "--adam-beta2"},
        {"layers", NULL, NULL, M, "--num-layers"},
        {"hidden", NULL, NULL, M, "--hidden-size"},
        {"ffn", NULL, NULL, M, "--ffn-hidden-size"},
        {"heads", NULL, NULL, M, "--num-attention-heads"},
        {"sequence", NULL, NULL, M, "--seq-length"},
        {"seed", NULL, NULL, M, "--seed"},
        {"bf16", NULL, NULL, M, "--bf16"},
        {"fp16", NULL, NULL, M, "--fp16"},

        {"dp", NULL, NULL, D, ""},
        {"gpus", NULL, NULL, D, ""},
        {"tp", "1", NULL, D, ""},
        {"tp", NULL, NULL, D, "tensor_parallel.autotp_size"},
        {"pp", "1", NULL, D, ""},
        {"schedule", "1f1b", NULL, D, ""},
        {"micro_batch", NULL, NULL, D, "train_micro_batch_size_per_gpu"},
        {"global_batch", NULL, NULL, D, "train_batch_size"},
        {"grad_acc", NULL, NULL, D, "gradient_accumulation_steps"},
        {"zero", NULL, NULL, D, "zero_optimization.stage"},
        {"recompute", "none", NULL, D, ""},
        {"recompute", "false", NULL, D, ""},
        {"sequence_parallel", "false", NULL, D, ""},
        {"split", "even", NULL, D, ""},
        {"overlap", "none", NULL, D, "zero_optimization.overlap_comm=false"},
        {"overlap", "poke", NULL, D, "zero_optimization.overlap_comm=true"},
        {"overlap", "shm", NULL, D, "zero_optimization.overlap_comm=true"},
        {"overlap", NULL, NULL, D, "zero_optimization.overlap_comm"},
        {"lr", NULL, NULL, D, "optimizer.type=AdamW optimizer.params.lr"},
        {"weight_decay", NULL, NULL, D,
         "optimizer.type=AdamW optimizer.params.weight_decay"},
        {"clip", NULL, NULL, D, "gradient_clipping"},
        {"seed", NULL, NULL, D, "seed"},
        {"bf16", NULL, NULL, D, "bf16.enabled"},
        {"fp16", NULL, NULL, D, "fp16.enabled"},

        {"threads", NULL, NULL, S, "--cpus-per-task"},
};
/* clang-format on */
#undef M
#undef D
#undef S

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static const char *canonical(const char *param)
{
    for (size_t i = 0; i < COUNT_OF(aliases); i++) {
        for (size_t k = 0; k < COUNT_OF(aliases[i]) && aliases[i][k]; k++) {
            if (strcmp(aliases[i][k], param) == 0) {
                return aliases[i][0];
            }
        }
    }
    return param;
}

int tri_emit_has(const tri_emit_job *job, const char *name)
{
    const tri_space *space = job->study->space;

    for (int i = 0; i < tri_space_n_params(space); i++) {
        const tri_param *p = tri_space_param(space, i);

        if (job->config[p->column].type != TRI_INACTIVE &&
            strcmp(canonical(p->name), name) == 0) {
            return 1;
        }
    }
    return 0;
}

static int find_usual(const tri_emit_job *job, tri_emit_format format,
                      const char *param, const char *value, tri_emit_name *out)
{
    const char *name = canonical(param);

    for (size_t i = 0; i < COUNT_OF(usuals); i++) {
        const usual *u = &usuals[i];

        if (u->format == format && strcmp(u->param, name) == 0 &&
            (!u->value || strcmp(u->value, value) == 0) &&
            (!u->with || tri_emit_has(job, u->with))) {
            *out = (tri_emit_name){u->text, u->value != NULL};
            return 1;
        }
    }
    return 0;
}

/* ---- the study's --------------------------------------------------------- */

static const char *find_own(const tri_emit_job *job, tri_emit_format format,
                            const char *key)
{
    const tri_study *s = job->names;

    for (int i = 0; i < s->n_emit; i++) {
        if (strcmp(s->emit[i].format, tri_emit_format_name(format)) != 0) {
            continue;
        }
        for (int k = 0; k < s->emit[i].n_names; k++) {
            if (strcmp(s->emit[i].names[k].key, key) == 0) {
                return s->emit[i].names[k].value;
            }
        }
    }
    return NULL;
}

/* "param=value" of the study; NULL. */
static const char *find_own_value(const tri_emit_job *job,
                                  tri_emit_format format, const char *param,
                                  const char *value)
{
    size_t bytes = strlen(param) + strlen(value) + 2;
    char *key = malloc(bytes);
    const char *found = NULL;

    if (key) {
        snprintf(key, bytes, "%s=%s", param, value);
        found = find_own(job, format, key);
        free(key);
    }
    return found;
}

int tri_emit_is_named(const tri_emit_job *job, tri_emit_format format,
                      const char *param)
{
    char buf[64];
    tri_value v;

    return find_own(job, format, param) ||
           (tri_space_lookup(job->study->space, job->config, param, &v) ==
                    TRI_OK &&
            find_own_value(job, format, param,
                           tri_emit_plain(v, buf, sizeof buf)));
}

int tri_emit_find_name(const tri_emit_job *job, tri_emit_format format,
                       const char *param, tri_value value, tri_emit_name *out)
{
    char buf[64];
    const char *plain = tri_emit_plain(value, buf, sizeof buf);
    const char *own = find_own_value(job, format, param, plain);

    if (own) {
        *out = (tri_emit_name){own, 1};
        return 1;
    }
    own = find_own(job, format, param);
    if (own) {
        *out = (tri_emit_name){own, strchr(own, '{') != NULL};
        return 1;
    }
    return find_usual(job, format, param, plain, out);
}

/* ---- texts --------------------------------------------------------------- */

const char *tri_emit_plain(tri_value v, char *buf, size_t bytes)
{
    buf[0] = '\0';
    if (v.type == TRI_WORD) {
        return v.u.word;
    }
    if (v.type != TRI_INACTIVE) {
        tri_value_print(v, buf, bytes);
    }
    return buf;
}

const char *tri_emit_next_word(const char **text, size_t *n)
{
    const char *word = *text + strspn(*text, " \t\n");

    *n = strcspn(word, " \t\n");
    *text = word + *n;
    return *n ? word : NULL;
}

/* The value of the parameter that stands in braces at `at`. */
static void fill_one(const tri_emit_job *job, const char *at, size_t n,
                     FILE *out)
{
    char name[128];
    char buf[64];
    tri_value v;

    snprintf(name, sizeof name, "%.*s", (int)n, at);
    if (tri_space_lookup(job->study->space, job->config, name, &v) == TRI_OK) {
        fputs(tri_emit_plain(v, buf, sizeof buf), out);
    }
}

void tri_emit_fill(const tri_emit_job *job, const char *text, size_t n,
                   FILE *out)
{
    const char *end = text + n;

    while (text < end) {
        const char *close = NULL;

        if (*text == '{') {
            close = memchr(text, '}', (size_t)(end - text));
        }
        if (!close) {
            fputc(*text++, out);
            continue;
        }
        fill_one(job, text + 1, (size_t)(close - text) - 1, out);
        text = close + 1;
    }
}

void tri_emit_note(json_t *notes, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    json_array_append_new(notes, tri_app_json_text(text));
}

void tri_emit_note_unnamed(json_t *notes, tri_emit_format format,
                           const char *param, tri_value value)
{
    const char *where = tri_emit_format_name(format);
    char buf[64];

    tri_emit_note(notes,
                  "%s = %.60s has no name in %s and is left out; name it in "
                  "the study, emit: {%s: {%s: NAME}}",
                  param, tri_emit_plain(value, buf, sizeof buf), where, where,
                  param);
}

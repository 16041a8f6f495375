/*
 * Names of metrics, and the log lines of well-known trainers.
 */
#include "src/space/study_priv.h"
#include "trireme/pattern.h"

#include <stdio.h>
#include <string.h>

/* ---- names of metrics --------------------------------------------------- */

static const char *const names[] = {"step",
                                    "tokens",
                                    "samples",
                                    "consumed_tokens",
                                    "consumed_samples",
                                    "tokens_per_s",
                                    "samples_per_s",
                                    "step_s",
                                    "loss",
                                    "bytes"};

const char *const *tri_key_names(void)
{
    return names;
}

static tri_key plain_key(const char *name, size_t n, const char *own)
{
    int i;

    if (own && strlen(own) == n && memcmp(name, own, n) == 0) {
        return TRI_KEY_OWN;
    }
    for (i = 0; i < TRI_COUNT_OF(names); i++) {
        if (strlen(names[i]) == n && memcmp(name, names[i], n) == 0) {
            return (tri_key)i;
        }
    }
    return TRI_KEY_NONE;
}

static int ends_with(const char *name, size_t n, const char *end)
{
    size_t bytes = strlen(end);

    return n > bytes && memcmp(name + n - bytes, end, bytes) == 0;
}

/* A name in seconds for "..._ms": of the same length but one. */
static tri_key key_of_ms(const char *name, size_t n, const char *own)
{
    char seconds[80];

    if (n >= sizeof seconds) {
        return TRI_KEY_NONE;
    }
    snprintf(seconds, sizeof seconds, "%.*ss", (int)(n - 2), name);
    return plain_key(seconds, n - 1, own);
}

tri_key tri_key_find(const char *name, const char *own, int ranks,
                     double *scale)
{
    size_t n = strlen(name);
    tri_key key = plain_key(name, n, own);
    double factor = 1;

    if (key == TRI_KEY_NONE &&
        (strcmp(name, "mib") == 0 || strcmp(name, "gib") == 0)) {
        key = TRI_KEY_BYTES;
        factor = name[0] == 'm' ? 1048576.0 : 1073741824.0;
    } else if (key == TRI_KEY_NONE && ends_with(name, n, "_per_s_per_rank")) {
        key = plain_key(name, n - strlen("_per_rank"), own);
        factor = ranks;
    } else if (key == TRI_KEY_NONE && ends_with(name, n, "_ms")) {
        key = key_of_ms(name, n, own);
        factor = 1e-3;
    }
    if (scale) {
        *scale = factor;
    }
    return key;
}

/* ---- trainers ----------------------------------------------------------- */

/*
 * Lines as the trainers' public sources and logs show them, in the forms of
 * several years.  A pattern names what stands around its value, so that lines
 * of validation, of other timers and of totals are not taken.  Ready patterns
 * beside the known metrics (mfu, tflops_per_rank, grad_norm) are of use where
 * they are the objective.
 */
#define NUMBER                                                                 \
    "([-+]?[0-9]+(?:,[0-9]{3})*(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?[KMBGT]?)"
/* A loss may be none. */
#define LOSS "([-+]?(?:[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?|(?i:nan|inf)))"

/* training_log() of megatron/training/training.py, and of its descendants:
 *  [2025-04-13 23:41:12] iteration       10/    1000 | consumed samples:
 *  160 | elapsed time per iteration (ms): 1147.6 | throughput per GPU
 *  (TFLOP/s/GPU): 98.1 | learning rate: 1.0E-05 | global batch size:    16 |
 *  lm loss: 7.399415E+00 | loss scale: 1.0 | grad norm: 2.918 | ...
 * Megatron-DeepSpeed adds consumed tokens and "tokens per gpu per second
 * (tgs)", others "tokens per GPU (tokens/s/GPU)".
 * report_memory() says memory once, in MB of 2^20. */
static const tri_pair megatron[] = {
        {"step", "\\biteration +([0-9]+)/ *(?:[0-9]+|infinity) *\\|"},
        {"step_ms", "\\belapsed time per iteration \\(ms\\): *" NUMBER},
        {"samples", "\\bglobal batch size: *([0-9]+) *\\|"},
        {"consumed_tokens", "\\bconsumed tokens: *([0-9]+) *\\|"},
        {"tokens_per_s_per_rank", "(?i:\\(tokens?/s/gpu\\): *)" NUMBER},
        {"tokens_per_s_per_rank", "\\(tgs\\): *" NUMBER},
        {"loss", "\\| *lm loss:? *" LOSS},
        {"mib", "\\bmemory \\(MB\\).*\\| max reserved: *" NUMBER},
        {"tflops_per_rank", "\\(TFLOP/s/GPU\\): *" NUMBER},
        {"grad_norm", "\\| *grad norm: *" NUMBER},
};

/* deepspeed/runtime/engine.py and utils/timer.py, at every steps_per_print:
 *  [Rank 0] step=20, skipped=17, lr=[5e-05], mom=[(0.9, 0.999)]
 *  epoch=0/micro_step=40/global_step=10, RunningAvgSamplesPerSec=25.0,
 *  CurrSamplesPerSec=25.7, MemAllocated=4.32GB, MaxMemAllocated=38.49GB
 * where earlier versions begin the second line with "0/20, ", and say its
 * rate as SamplesPerSec.  GB are of 2^30. */
static const tri_pair deepspeed[] = {
        {"step", "\\bglobal_step=([0-9]+), *(?:RunningAvg)?SamplesPerSec="},
        {"step", "\\bstep=([0-9]+), skipped="},
        {"step", "\\b[0-9]+/([0-9]+), *(?:RunningAvg)?SamplesPerSec="},
        {"samples_per_s", "\\bCurrSamplesPerSec=" NUMBER},
        {"samples_per_s", "\\bSamplesPerSec=" NUMBER},
        {"samples_per_s", "\\bRunningAvgSamplesPerSec=" NUMBER},
        {"gib", "\\bMaxMemAllocated=" NUMBER " *GB"},
};

/* src/nanotron/trainer.py, of the rank that has the loss:
 *  iteration: 10 / 100 | consumed_tokens: 82K |
 *  elapsed_time_per_iteration_ms: 1.23K | tokens_per_sec: 66.6K |
 *  tokens_per_sec_per_gpu: 33.3K | global_batch_size: 16 | lm_loss: 10.4 |
 *  lr: 0.0003 | model_tflops_per_gpu: 1.2 | hardware_tflops_per_gpu: 1.2 |
 *  grad_norm: 0.5 | cuda_memory_allocated: 1.2G |
 *  cuda_max_memory_reserved: 3.4G | ...
 * where later versions say time_per_iteration_ms, and have the global batch in
 * tokens, not samples, so it is left alone.  Numbers have three digits, so the
 * time is left to the clock. */
static const tri_pair nanotron[] = {
        {"step", "\\biteration: *([0-9]+) */ *[0-9]+ *\\|"},
        {"tokens_per_s", "\\btokens_per_sec: *" NUMBER},
        {"loss", "\\blm_loss: *" LOSS},
        {"bytes", "\\bcuda_max_memory_reserved: *" NUMBER},
        {"tflops_per_rank", "\\bmodel_tflops_per_gpu: *" NUMBER},
        {"grad_norm", "\\bgrad_norm: *" NUMBER},
};

/* torchtitan/components/metrics.py, with or without colours:
 *  step:  2  loss:  6.1098  grad_norm:  4.6416  memory:  2.49GiB(3.14%)
 *  tps: 177,138  tflops: 96.17  mfu: 9.72%
 * tps (wps in 2024) is of one device: what it and those that share its data
 * have done.  A stage that has no loss says -1.  Lines of validation start with
 * "validate step:". */
#define TITAN "(?<!validate )\\bstep: *[0-9]+ +(?:.* )?"
static const tri_pair torchtitan[] = {
        {"step", "(?<!validate )\\bstep: *([0-9]+) +loss:"},
        {"loss", TITAN "loss: *(?!-)" LOSS},
        {"tokens_per_s_per_rank", TITAN "[tw]ps: *" NUMBER},
        {"bytes", TITAN "memory: *([0-9.]+ *[KMGT]iB)"},
        {"tflops_per_rank", TITAN "tflops: *" NUMBER},
        {"mfu", TITAN "mfu: *([0-9.]+%)"},
        {"grad_norm", TITAN "grad_norm: *" NUMBER},
};

/* transformers/trainer_callback.py: a dictionary in Python's form at every
 * logging_steps, on standard output, and unless disable_tqdm is set a bar on
 * standard error, of which the one of training has no text in front:
 *  {'loss': 2.3456, 'grad_norm': 1.2, 'learning_rate': 4.9e-05, 'epoch': 0.02}
 *    1%|1         | 10/1000 [00:05<08:15,  2.00it/s]
 * num_input_tokens_seen is of all processes.  Dictionaries of evaluation and of
 * the end have eval_loss and train_loss; one behind ">>" is said twice. */
#define TRAINER "(?<!>> )\\{'loss': *"
static const tri_pair huggingface[] = {
        {"step", "^ *[0-9]+%\\|[^|]*\\| *([0-9]+)/[0-9]+ \\["},
        {"loss", TRAINER "'?" LOSS},
        {"consumed_tokens", TRAINER ".*'num_input_tokens_seen': *'?([0-9]+)"},
        {"grad_norm", TRAINER ".*'grad_norm': *'?" NUMBER},
};

#define LINES(name, of)                                                        \
    {                                                                          \
        name, of, TRI_COUNT_OF(of)                                             \
    }

static const tri_trainer trainers[] = {
        LINES("megatron-lm", megatron), LINES("deepspeed", deepspeed),
        LINES("nanotron", nanotron), LINES("torchtitan", torchtitan),
        LINES("huggingface", huggingface)};

int tri_n_trainers(void)
{
    return TRI_COUNT_OF(trainers);
}

const tri_trainer *tri_trainer_at(int i)
{
    return i >= 0 && i < TRI_COUNT_OF(trainers) ? &trainers[i] : NULL;
}

const tri_trainer *tri_trainer_find(const char *name)
{
    int i;

    for (i = 0; i < TRI_COUNT_OF(trainers); i++) {
        if (strcmp(trainers[i].name, name) == 0) {
            return &trainers[i];
        }
    }
    return NULL;
}

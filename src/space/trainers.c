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

    if (key == TRI_KEY_NONE && ends_with(name, n, "_per_s_per_rank")) {
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

static const tri_pair megatron[] = {
        {"step", "iteration +(\\d+)/ *\\d+ *\\|"},
};
static const tri_pair deepspeed[] = {
        {"step", "\\bstep=(\\d+), skipped="},
};
static const tri_pair nanotron[] = {
        {"step", "\\biteration: (\\d+) / \\d+"},
};
static const tri_pair torchtitan[] = {
        {"step", "\\bstep: *(\\d+)"},
};
static const tri_pair huggingface[] = {
        {"loss", "\\{'loss': '?([-+0-9.e]+)"},
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

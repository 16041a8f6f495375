/*
 * Failures that are all alike, one after the other, before anything has
 * finished: then it is not the configurations that are wrong but what they are
 * run with, and the rest of the budget would go the same way.  The study gives
 * up and says so; the next opening measures its trials again.
 *
 * Alike are failures of one class whose sentences differ at most in words with
 * a digit in them.  Only of programs that are not ours, and only of classes
 * that are not mostly the configuration's doing: memory and divergence are.
 */
#include "src/ctl/state.h"

#include <string.h>

/* Classes that are tried twice take two runs a trial. */
#define RUNS_ENOUGH   8
#define TRIALS_ENOUGH 4

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_word(char c)
{
    return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* Behind the word that `text` begins with; *numbered: a digit is in it. */
static const char *skip_word(const char *text, int *numbered)
{
    for (*numbered = 0; is_word(*text); text++) {
        *numbered |= is_digit(*text);
    }
    return text;
}

/* Numbers, addresses (0x7f1c) and names made for once (tmp8xq2) differ from
 * run to run. */
static int same_but_numbers(const char *a, const char *b)
{
    while (*a && *b) {
        int x, y;
        const char *a_end = skip_word(a, &x);
        const char *b_end = skip_word(b, &y);

        if (!x || !y) {
            if (*a++ != *b++) {
                return 0;
            }
            continue;
        }
        a = a_end;
        b = b_end;
    }
    return *a == *b;
}

static int may_be_alike(const tri_ctl *ctl, tri_reason reason)
{
    tri_model_kind kind = ctl->study->model.kind;

    if (ctl->no_timeouts) { /* simulated: what fails is on record */
        return 0;
    }
    switch (reason) {
    case TRI_REASON_INFEASIBLE: /* a program that cannot be started */
        return kind == TRI_MODEL_PROCESS;
    case TRI_REASON_IMPORT_ERROR:
    case TRI_REASON_BAD_EXIT:
    case TRI_REASON_RENDEZVOUS:
    case TRI_REASON_HUNG:
        return kind == TRI_MODEL_PROCESS || kind == TRI_MODEL_PLUGIN;
    default:
        return 0;
    }
}

void tri_ctl_forget_alike(tri_ctl *ctl)
{
    ctl->alike = (tri_alike){.sentence = NULL};
}

void tri_ctl_note_alike(tri_ctl *ctl, const tri_run_view *run,
                        tri_reason reason)
{
    const tri_trial_row *t = &ctl->trials[run->trial];
    const char *sentence = run->outcome.sentence ? run->outcome.sentence : "";
    tri_alike *a = &ctl->alike;

    if (t->refused || !may_be_alike(ctl, reason)) {
        tri_ctl_forget_alike(ctl);
        return;
    }
    if (!a->sentence || a->reason != reason ||
        !same_but_numbers(a->sentence, sentence)) {
        *a = (tri_alike){
                .sentence = sentence, .reason = reason, .begun = ctl->n_runs};
    }
    a->runs++;
    a->trials += !t->retried; /* the first time that it fails */
}

int tri_ctl_is_hopeless(const tri_ctl *ctl)
{
    const tri_alike *a = &ctl->alike;

    if (a->runs < RUNS_ENOUGH || a->trials < TRIALS_ENOUGH || ctl->n_finished ||
        ctl->n_results || ctl->n_repeated || ctl->phase != TRI_PHASE_SEARCH) {
        return 0;
    }
    for (int i = 0; i < ctl->n_flying; i++) {
        if (ctl->lives[ctl->flying[i]].run < a->begun) {
            return 0; /* it may do better */
        }
    }
    return 1;
}

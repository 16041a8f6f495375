/*
 * By which rule each place of an answer is filled.
 *
 * Each result brings new proposals, of which the first few are started: a share
 * of every list is not a share of what runs.  So whose a place is goes by the
 * number that its trial will have, which goes on from one answer to the next.
 */
#include "src/propose/thinker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the first configurations one in so many is tried on the word of earlier
 * studies; the others tell whether that is worth anything. */
#define ON_TRUST 3
#define GOLDEN   0.61803398874989485

/* Trials that the study names itself. */
static int64_t n_named(const tri_thinker *t)
{
    return t->study->has_baseline + t->study->n_start;
}

/* How many trials that are proposed come before the first place. */
static int64_t n_before(const tri_thinker *t, const tri_snapshot *s)
{
    return s->n_tried > n_named(t) ? s->n_tried - n_named(t) : 0;
}

static double random_share(const tri_thinker *t)
{
    double share = t->study->search.random_share;

    return t->known.n >= TAU_RECORDS && t->tau < TAU_LEAST
                   ? fmax(share, LOST_SHARE)
                   : share;
}

/* Multiples of the golden ratio, wherever one begins, fall evenly on [0, 1). */
static int is_random(const tri_thinker *t, int64_t number, double share)
{
    tri_rng rng = tri_rng_stream(t->seed, 0, TRI_RNG_EXPLORE);
    double at = tri_rng_unit(&rng) + GOLDEN * (double)number;

    return at - floor(at) < share;
}

/* Before there are results of its own. */
static int trusts_now(const tri_thinker *t)
{
    return t->transfer && !t->model && t->known.n_own < DESIGN &&
           tri_transfer_is_used(t->transfer);
}

void tri_turns_assign(const tri_thinker *t, const tri_snapshot *s, int wanted,
                      tri_turns *p)
{
    int64_t before = n_before(t, s);
    double share = t->model && !t->is_evolution ? random_share(t) : 0;
    int trusts = trusts_now(t);

    memset(p, 0, sizeof *p);
    p->trusted_before = (before + ON_TRUST - 1) / ON_TRUST;
    for (int i = 0; i < wanted; i++) {
        tri_turn kind = trusts && (before + i) % ON_TRUST == 0
                                ? TRI_TURN_TRUSTED
                        : is_random(t, before + i, share) ? TRI_TURN_RANDOM
                                                          : TRI_TURN_LED;

        p->of[i] = kind;
        p->n[kind]++;
    }
}

tri_status tri_turns_arrange(const tri_turns *p, const int *from, const int *n,
                             tri_answer *a)
{
    size_t room = (size_t)a->n + 1;
    tri_choice *choices = malloc(room * sizeof *choices);
    const char **rules = malloc(room * sizeof *rules);
    int used[TRI_TURN_KINDS] = {0};

    if (!choices || !rules) {
        free(choices);
        free((void *)rules);
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    for (int i = 0; i < a->n; i++) {
        int kind = (int)p->of[i];
        int at;

        for (int k = 0; used[kind] == n[kind]; k++) {
            kind = k;
        }
        at = from[kind] + used[kind]++;
        choices[i] = a->choices[at];
        rules[i] = a->rules[at];
    }
    memcpy(a->choices, choices, (size_t)a->n * sizeof *choices);
    memcpy((void *)a->rules, (const void *)rules, (size_t)a->n * sizeof *rules);
    free(choices);
    free((void *)rules);
    return TRI_OK;
}

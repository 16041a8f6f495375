/*
 * A plugin that does whatever the parameter `way` says, most of it wrong. Steps
 * do nothing and take no time (or 5 ms, of the way "slow"); the loss of step s
 * is 100 / (s + x), the metric "score" is 1000 x + s, "here" counts the steps
 * since the trial was opened.
 */
#include <trireme/trial.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trireme_trial {
    const trireme_trial_setup *setup;
    const char *way;
    int rank, size;
    int64_t x, done;
};

static int is(const trireme_trial *t, const char *way)
{
    return strcmp(t->way, way) == 0;
}

/* On the last rank alone. */
static int is_odd_one(const trireme_trial *t, const char *way)
{
    return is(t, way) && t->rank == t->size - 1;
}

static int say(const trireme_trial_setup *s, int code, const char *sentence)
{
    s->say(s->say_ctx, sentence);
    return code;
}

/* ---- opening ----------------------------------------------------------- */

static int print_value(const trireme_trial_value *v, char *buf, size_t bytes)
{
    switch (v->type) {
    case TRIREME_TRIAL_INTEGER:
        return snprintf(buf, bytes, "%s:i%lld ", v->name,
                        (long long)v->integer);
    case TRIREME_TRIAL_REAL:
        return snprintf(buf, bytes, "%s:r%g ", v->name, v->real);
    case TRIREME_TRIAL_BOOLEAN:
        return snprintf(buf, bytes, "%s:b%lld ", v->name,
                        (long long)v->integer);
    case TRIREME_TRIAL_TEXT:
        return snprintf(buf, bytes, "%s:t%s ", v->name, v->text);
    default:
        return snprintf(buf, bytes, "%s:- ", v->name);
    }
}

/* Fails with what it was given. */
static int echo(const trireme_trial_setup *s)
{
    char text[200] = "";
    size_t n = 0;

    for (int32_t i = 0; i < s->n_parameters && n < sizeof text; i++) {
        n += (size_t)print_value(s->parameters[i], text + n, sizeof text - n);
    }
    for (int32_t i = 0; i < s->n_options && n < sizeof text; i++) {
        n += (size_t)print_value(s->options[i], text + n, sizeof text - n);
    }
    return say(s, TRIREME_TRIAL_INFEASIBLE, text);
}

static int restore(trireme_trial *t)
{
    FILE *f;
    long long done = -1;

    if (!t->setup->checkpoint) {
        return TRIREME_TRIAL_OK;
    }
    f = fopen(t->setup->checkpoint, "r");
    if (!f || fscanf(f, "%lld", &done) != 1 || done != t->setup->first_step) {
        if (f) {
            fclose(f);
        }
        return say(t->setup, TRIREME_TRIAL_FAILED, "the checkpoint is none");
    }
    fclose(f);
    t->done = done;
    return TRIREME_TRIAL_OK;
}

static int begin(trireme_trial *t)
{
    MPI_Comm forgotten;

    if (is(t, "echo")) {
        return echo(t->setup);
    }
    if (is(t, "open-fails")) {
        return say(t->setup, TRIREME_TRIAL_INFEASIBLE, "not with this x");
    }
    if (is_odd_one(t, "open-one")) {
        return TRIREME_TRIAL_DEVICE_MEMORY;
    }
    if (is_odd_one(t, "open-aborts")) {
        abort();
    }
    if (is(t, "dups")) {
        MPI_Comm_dup(t->setup->comm, &forgotten);
        MPI_Comm_dup(t->setup->comm, &forgotten);
    }
    if (is(t, "talks")) {
        return say(t->setup, TRIREME_TRIAL_OK, "all is well");
    }
    return restore(t);
}

int trireme_trial_open(const trireme_trial_setup *setup, trireme_trial **out)
{
    trireme_trial *t = calloc(1, sizeof *t);
    int code;

    if (!t) {
        return TRIREME_TRIAL_HOST_MEMORY;
    }
    t->setup = setup;
    t->way = trireme_trial_text(setup, "way", "good");
    t->x = trireme_trial_integer(setup, "x", 0);
    MPI_Comm_rank(setup->comm, &t->rank);
    MPI_Comm_size(setup->comm, &t->size);
    code = begin(t);
    if (code != TRIREME_TRIAL_OK) {
        free(t);
        return code;
    }
    *out = t;
    return TRIREME_TRIAL_OK;
}

/* ---- stepping ---------------------------------------------------------- */

static int tell(trireme_trial *t, trireme_trial_report_fn report, void *ctx)
{
    static const char *const names[] = {"score", "here"};
    double values[] = {(double)(1000 * t->x + t->done),
                       (double)(t->done - t->setup->first_step)};
    trireme_trial_report r = {.struct_bytes = sizeof r,
                              .step = t->done,
                              .samples = 8,
                              .tokens = 100,
                              .has_loss = 1,
                              .loss = 100.0 / (double)(t->done + t->x),
                              .n_metrics = 2,
                              .names = names,
                              .values = values,
                              .bytes = 1000 + (uint64_t)t->rank};

    if (is(t, "nan") && t->done >= 3) {
        r.loss = r.loss / 0.0 - r.loss / 0.0;
    }
    if (is(t, "bare")) {
        r.has_loss = r.n_metrics = 0;
        r.samples = r.tokens = 0;
    }
    if (is(t, "sizeless")) {
        r.struct_bytes = 0;
    }
    if (is(t, "backwards") && t->done > 2) {
        r.step = 1;
    }
    return report(ctx, &r);
}

/* What goes wrong before a step. */
static int trouble(trireme_trial *t)
{
    int stray = 7;

    if (is_odd_one(t, "one") && t->done == 1) {
        return say(t->setup, TRIREME_TRIAL_FAILED, "trouble\nahead");
    }
    if (is_odd_one(t, "crashes") && t->done == 1) {
        raise(SIGSEGV);
    }
    if (is_odd_one(t, "exits") && t->done == 1) {
        exit(0);
    }
    if (is_odd_one(t, "leaves") && t->done == 1) {
        _exit(0);
    }
    if (is(t, "code") && t->done == 1) {
        return 77;
    }
    if (is(t, "diverges") && t->done == 1) {
        return TRIREME_TRIAL_DIVERGED;
    }
    if (is(t, "comm") && t->done == 1) {
        return TRIREME_TRIAL_COMMUNICATION;
    }
    if ((is(t, "ends") || is_odd_one(t, "ends-one")) && t->done == 2) {
        return TRIREME_TRIAL_ENDED;
    }
    if (is(t, "ends-late") && t->done == 5) {
        return TRIREME_TRIAL_ENDED;
    }
    if (is(t, "strays") && t->rank == t->size - 1) {
        MPI_Send(&stray, 1, MPI_INT, 0, 32000, t->setup->comm);
    }
    if (is(t, "slow")) {
        usleep(5000);
    }
    while (is_odd_one(t, "hangs") && t->done == 1) {
        sleep(1000);
    }
    return TRIREME_TRIAL_OK;
}

int trireme_trial_run_until(trireme_trial *t, int64_t step,
                            trireme_trial_report_fn report, void *ctx)
{
    if (is(t, "far")) {
        step += 3;
    }
    while (t->done < step) {
        int code = trouble(t);

        if (code != TRIREME_TRIAL_OK) {
            return code;
        }
        t->done++;
        if (is(t, "hangs")) {
            MPI_Barrier(t->setup->comm);
        }
        if (!is(t, "mute")) {
            tell(t, report, ctx);
        }
    }
    return TRIREME_TRIAL_OK;
}

/* ---- the rest ---------------------------------------------------------- */

#ifndef WITHOUT_CHECKPOINT
int trireme_trial_checkpoint(trireme_trial *t, const char *path)
{
    FILE *f;

    if (t->rank > 0 || is(t, "saves-not")) {
        return TRIREME_TRIAL_OK;
    }
    f = fopen(path, "w");
    if (!f) {
        return say(t->setup, TRIREME_TRIAL_FAILED, "no room for it");
    }
    fprintf(f, "%lld\n", (long long)t->done);
    fclose(f);
    return TRIREME_TRIAL_OK;
}
#endif

#ifndef WITHOUT_CLOSE
void trireme_trial_close(trireme_trial *t, int32_t together)
{
    if (together) {
        MPI_Barrier(t->setup->comm);
    }
    free(t);
}
#endif

#ifndef OTHER_ABI
#define OTHER_ABI 0
#endif

int32_t trireme_trial_abi(void)
{
    return TRIREME_TRIAL_ABI + OTHER_ABI;
}

#ifdef ON_LOAD
__attribute__((constructor)) static void on_load(void)
{
    ON_LOAD;
}
#endif

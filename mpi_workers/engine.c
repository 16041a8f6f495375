/*
 * The training engine as a kind of trial: a study and a layout become a
 * trainer and its text.
 */
#include "mpi_workers/coll.h"
#include "mpi_workers/corpus.h"
#include "mpi_workers/trainer.h"
#include "mpi_workers/words.h"
#include "trireme/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASHED_BYTES ((int64_t)1 << 16)

struct tri_trial {
    tri_corpus corpus;
    tri_criteo samples;
    tri_trainer_setup setup;
    tri_trainer *trainer;
    MPI_Comm comm; /* borrowed */
    tri_ckpt_way way;
    char configuration[TRI_CKPT_TEXT]; /* for readers of checkpoints */
};

static tri_status open_corpus(const tri_study *study, tri_corpus *out)
{
    const tri_gpt_spec *g = &study->model.u.gpt;
    char path[4096];

    if (!g->data || strcmp(g->data, "builtin") == 0) {
        return tri_corpus_open(NULL, g->sequence, out);
    }
    tri_study_resolve(study, g->data, path, sizeof path);
    return tri_corpus_open(path, g->sequence, out);
}

/* The file is kept for the comparison of ranks; what is trained on are its
 * samples. */
static tri_status open_samples(const tri_study *study, tri_trial *t)
{
    const tri_dlrm_spec *d = &study->model.u.dlrm;
    char path[4096];

    if (strcmp(d->data, "synthetic") == 0) {
        return TRI_OK;
    }
    tri_study_resolve(study, d->data, path, sizeof path);
    TRI_TRY(tri_corpus_open(path, 0, &t->corpus));
    return tri_criteo_read(t->corpus.bytes, (size_t)t->corpus.n, path,
                           &t->samples);
}

static tri_trainer_setup setup_of(const tri_trial_setup *s, const tri_trial *t)
{
    const tri_study *study = s->study;
    const tri_corpus *corpus = &t->corpus;

    return (tri_trainer_setup){
            .model = &study->model,
            .layout = s->layout,
            .seed = study->seed,
            .optimizer = {.lr = study->optimizer.lr,
                          .beta1 = study->optimizer.beta1,
                          .beta2 = study->optimizer.beta2,
                          .eps = 1e-8,
                          .weight_decay = study->optimizer.weight_decay},
            .clip = study->optimizer.clip,
            .text = corpus->bytes,
            .text_bytes = corpus->n,
            .samples = t->samples.n ? &t->samples : NULL,
            .quota_bytes = s->quota_bytes,
            .limit_s = study->timeouts.startup_s};
}

/* Ranks on other machines may have found another file of that name. */
static tri_status same_text(MPI_Comm comm, const tri_corpus *corpus)
{
    int64_t some = corpus->n < HASHED_BYTES ? corpus->n : HASHED_BYTES;
    uint64_t mine =
            tri_rng_hash(corpus->bytes, (size_t)some) ^ (uint64_t)corpus->n;
    int same = 0;

    TRI_TRY(tri_coll_same(comm, mine, &same));
    if (!same) {
        return TRI_FAIL(TRI_EDATA,
                        "the text is not the same on all ranks of the group");
    }
    return TRI_OK;
}

static void describe(const tri_trial_setup *s, char *buf, size_t bytes)
{
    static const char *const schedules[] = {"gpipe", "1f1b", "interleaved"};
    const tri_layout *l = &s->layout;

    snprintf(buf, bytes,
             "study %.200s, trial %lld: dp %d, tp %d, pp %d, virtual %d, "
             "sequence_parallel %d, zero %d, schedule %s, micro_batch %d, "
             "global_batch %d",
             s->study->name, (long long)s->trial, l->dp, l->tp, l->pp,
             l->virtual_stages, l->sequence_parallel, l->zero,
             schedules[l->schedule], l->micro_batch, l->global_batch);
}

/* Go on from the checkpoint, if there is one to go on from. */
static tri_status resume(const tri_trial_setup *setup, tri_trainer *trainer)
{
    if (!setup->checkpoint) {
        return TRI_OK;
    }
    TRI_TRY(tri_trainer_load(trainer, setup->checkpoint));
    if (tri_trainer_steps(trainer) != setup->first_step) {
        return TRI_FAIL(TRI_EMALFORMED,
                        "'%s' is of another run: it has %lld steps behind it, "
                        "expected %lld",
                        setup->checkpoint,
                        (long long)tri_trainer_steps(trainer),
                        (long long)setup->first_step);
    }
    return TRI_OK;
}

static tri_status open_trial(const tri_trial_setup *setup, tri_trial **out)
{
    tri_trial *t = calloc(1, sizeof *t);
    tri_status st = TRI_OK;

    if (!t) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for a trial");
    } else if (setup->study->model.kind == TRI_MODEL_GPT) {
        st = open_corpus(setup->study, &t->corpus);
    } else if (setup->study->model.kind == TRI_MODEL_DLRM) {
        st = open_samples(setup->study, t);
    }
    st = tri_coll_agree(setup->comm, st);
    if (st != TRI_OK || !t) {
        goto close;
    }
    if (t->corpus.bytes) {
        TRI_TRY_GOTO(st, same_text(setup->comm, &t->corpus), close);
    }
    t->setup = setup_of(setup, t);
    t->comm = setup->comm;
    TRI_TRY_GOTO(st, tri_trainer_create(&t->setup, t->comm, &t->trainer),
                 close);
    TRI_TRY_GOTO(st, resume(setup, t->trainer), close);
    t->way = setup->outlives ? TRI_CKPT_GATHERED : TRI_CKPT_AUTO;
    describe(setup, t->configuration, sizeof t->configuration);
    *out = t;
    return TRI_OK;
close:
    if (t) {
        tri_trainer_destroy(t->trainer);
        tri_corpus_close(&t->corpus);
        tri_criteo_close(&t->samples);
        free(t);
    }
    return st;
}

static tri_status step(tri_trial *t, int word, tri_step *out)
{
    return tri_trainer_step(t->trainer, word, out);
}

static tri_status save(tri_trial *t, const char *path, int drains,
                       tri_saved *out)
{
    uint64_t bytes = 0;

    (void)drains; /* between two steps, whyever they end */
    TRI_TRY(tri_trainer_save(t->trainer, path, t->way, t->configuration,
                             &bytes));
    *out = (tri_saved){.step = tri_trainer_steps(t->trainer), .bytes = bytes};
    return TRI_OK;
}

/* The rank that brings most; scope group. */
static tri_status find_most(MPI_Comm comm, uint64_t bytes, tri_words *w,
                            int *rank)
{
    struct most {
        double bytes;
        int rank;
    } *most = (void *)w->at.bytes;
    MPI_Request request;
    int rc;

    most->bytes = (double)bytes;
    MPI_Comm_rank(comm, &most->rank);
    rc = MPI_Iallreduce(MPI_IN_PLACE, most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm,
                        &request);
    TRI_TRY(tri_words_wait(w, rc, &request, comm, -1,
                           "agree on who took most memory"));
    *rank = most->rank;
    return TRI_OK;
}

/* All get what `rank` has. */
static tri_status spread(MPI_Comm comm, int rank, tri_words *w,
                         tri_memory *memory)
{
    MPI_Request request;
    int rc;

    memcpy(w->at.bytes, memory, sizeof *memory);
    rc = MPI_Ibcast(w->at.bytes, (int)sizeof *memory, MPI_BYTE, rank, comm,
                    &request);
    TRI_TRY(tri_words_wait(w, rc, &request, comm, rank, "tell its memory"));
    memcpy(memory, w->at.bytes, sizeof *memory);
    return TRI_OK;
}

_Static_assert(sizeof(tri_memory) <= TRI_WORDS_BYTES,
               "it is told in one piece");

static tri_status memory_of_most(MPI_Comm comm, uint64_t bytes, tri_words *w,
                                 tri_memory_told *told)
{
    TRI_TRY(find_most(comm, bytes, w, &told->rank));
    TRI_TRY(spread(comm, told->rank, w, &told->predicted));
    return spread(comm, told->rank, w, &told->actual);
}

static tri_status memory(tri_trial *t, tri_memory_told *out)
{
    tri_memory_told told = {0};
    tri_words *words;
    tri_status st;
    int rank;

    MPI_Comm_rank(t->comm, &rank);
    st = tri_trainer_predict_kinds(&t->setup, rank, &told.predicted);
    TRI_TRY(tri_coll_agree(t->comm, st));
    tri_trainer_kinds(t->trainer, &told.actual);
    words = tri_words_take();
    st = words ? memory_of_most(t->comm, tri_trainer_high_water(t->trainer),
                                words, &told)
               : TRI_ECOMM;
    tri_words_give(words);
    if (st == TRI_OK) {
        *out = told;
    }
    return st;
}

static void close_trial(tri_trial *t)
{
    if (!t) {
        return;
    }
    tri_trainer_destroy(t->trainer);
    tri_corpus_close(&t->corpus);
    tri_criteo_close(&t->samples);
    free(t);
}

const tri_trial_ops tri_trial_engine = {.name = "engine",
                                        .open = open_trial,
                                        .step = step,
                                        .save = save,
                                        .memory = memory,
                                        .close = close_trial};

/*
 * Train a transformer on one rank and write what another program needs to do
 * the same, and what came out:
 *
 *   gpt_curve FILE gpt|llama LAYERS HIDDEN HEADS T VOCAB BATCH STEPS
 *
 * FILE (HDF5): /params/NAME, the initial weights, each in its whole shape, with
 * the attribute `decays`; /tokens, STEPS x BATCH x (T + 1), the inputs of a
 * sample being the first T and its targets the last; /loss, of each step.
 * Single precision, or double as gpt_curve_f64.
 */
#include "models/gpt/gpt.h"
#include "models/optim/optim.h"
#include "trireme/rng.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LR = 500,   /* 1 / */
    DECAY = 10, /* 1 / */
    TEXT = 20000
};

typedef struct curve {
    tri_gpt_shape shape;
    int batch, steps;
    tri_text text;
    tri_model *model;
    const tri_tensors *table;
    tri_region *region;
    tri_real *params, *grads, *m, *v;
    hid_t file;
} curve;

static unsigned char bytes[TEXT];

static hid_t real_type(void)
{
    return sizeof(tri_real) == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
}

static hid_t write_set(hid_t where, const char *name, hid_t type, int n_dims,
                       const hsize_t *dims, const void *data)
{
    hid_t space = H5Screate_simple(n_dims, dims, NULL);
    hid_t set = H5Dcreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);

    if (H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        fprintf(stderr, "gpt_curve: %s is not written\n", name);
        exit(1);
    }
    H5Sclose(space);
    return set;
}

static void write_params(const curve *c)
{
    hid_t group = H5Gcreate2(c->file, "params", H5P_DEFAULT, H5P_DEFAULT,
                             H5P_DEFAULT);
    int k, d;

    for (k = 0; k < c->table->n; k++) {
        const tri_tensor *t = &c->table->at[k];
        hid_t space = H5Screate(H5S_SCALAR), set, attribute;
        int decays = !(t->flags & TRI_TENSOR_NO_DECAY);
        hsize_t dims[TRI_TENSOR_DIMS];

        for (d = 0; d < t->n_dims; d++) {
            dims[d] = (hsize_t)t->shape[d];
        }
        set = write_set(group, t->name, real_type(), t->n_dims, dims,
                        c->params + t->offset);
        attribute = H5Acreate2(set, "decays", H5T_NATIVE_INT, space,
                               H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(attribute, H5T_NATIVE_INT, &decays);
        H5Aclose(attribute);
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Gclose(group);
}

static void write_tokens(const curve *c)
{
    int T = c->shape.sequence, step, i;
    hsize_t dims[3] = {(hsize_t)c->steps, (hsize_t)c->batch, (hsize_t)T + 1};
    int32_t *all = malloc((size_t)(dims[0] * dims[1] * dims[2]) * sizeof *all);

    for (step = 0; all && step < c->steps; step++) {
        for (i = 0; i < c->batch; i++) {
            tri_text_tokens(&c->text, tri_text_place(&c->text, step, i, T),
                            T + 1, c->shape.vocab,
                            all + ((int64_t)step * c->batch + i) * (T + 1));
        }
    }
    H5Dclose(write_set(c->file, "tokens", H5T_NATIVE_INT32, 3, dims, all));
    free(all);
}

static tri_status floats(curve *c, tri_real **out)
{
    void *p = NULL;

    TRI_TRY(tri_region_alloc(c->region,
                             (uint64_t)c->table->count * sizeof(tri_real),
                             "curve", &p));
    memset(p, 0, (size_t)c->table->count * sizeof(tri_real));
    *out = p;
    return TRI_OK;
}

static tri_status open_model(curve *c)
{
    tri_place place = {.stages = 1,
                       .micro_batch = c->batch,
                       .slots = 1,
                       .global_batch = c->batch,
                       .products = tri_products_serial()};
    tri_gpt_part all = {0, c->shape.layers};

    TRI_TRY(tri_gpt_create(&c->shape, &place, &all, &c->text, &c->model));
    c->table = tri_gpt_ops.tensors(c->model);
    TRI_TRY(tri_region_create((uint64_t)4 << 30, 0, &c->region));
    TRI_TRY(floats(c, &c->params));
    TRI_TRY(floats(c, &c->grads));
    TRI_TRY(floats(c, &c->m));
    TRI_TRY(floats(c, &c->v));
    TRI_TRY(tri_gpt_ops.alloc(c->model, c->region));
    tri_tensors_init(c->table, 9, c->params);
    tri_gpt_ops.bind(c->model, c->params, c->grads);
    return TRI_OK;
}

static double train_step(curve *c, int step)
{
    const tri_adamw opt = {1.0 / LR, 0.9, 0.95, 1e-8, 1.0 / DECAY};
    double norm;

    memset(c->grads, 0, (size_t)c->table->count * sizeof *c->grads);
    tri_gpt_ops.load(c->model, 0, step, 0);
    tri_gpt_ops.forward(c->model, 0);
    tri_gpt_ops.backward(c->model, 0);
    norm = sqrt(tri_tensors_sumsq(c->table, c->grads, 0));
    tri_adamw_update(&opt, c->table, step + 1, tri_clip_coefficient(norm, 1),
                     c->grads, c->params, c->m, c->v);
    return tri_gpt_ops.take_loss(c->model);
}

static int run(curve *c, const char *path)
{
    hsize_t n = (hsize_t)c->steps;
    double *loss = calloc((size_t)c->steps, sizeof *loss);
    int step;

    if (!loss || open_model(c) != TRI_OK) {
        fprintf(stderr, "gpt_curve: %s\n", tri_error_last()->sentence);
        free(loss);
        return 1;
    }
    c->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    write_params(c);
    write_tokens(c);
    for (step = 0; step < c->steps; step++) {
        loss[step] = train_step(c, step);
    }
    H5Dclose(write_set(c->file, "loss", H5T_NATIVE_DOUBLE, 1, &n, loss));
    free(loss);
    return H5Fclose(c->file) < 0;
}

int main(int argc, char **argv)
{
    tri_rng rng = tri_rng_stream(3, 1, TRI_RNG_TEST);
    int llama, i, status;
    curve c = {0};

    if (argc != 10) {
        fprintf(stderr, "usage: gpt_curve FILE gpt|llama LAYERS HIDDEN HEADS "
                        "T VOCAB BATCH STEPS\n");
        return 2;
    }
    llama = strcmp(argv[2], "llama") == 0;
    c.shape = (tri_gpt_shape){.layers = atoi(argv[3]),
                              .hidden = atoi(argv[4]),
                              .heads = atoi(argv[5]),
                              .sequence = atoi(argv[6]),
                              .vocab = atoi(argv[7]),
                              .ffn = 4 * atoi(argv[4]),
                              .tied = !llama,
                              .rms = llama,
                              .swiglu = llama,
                              .rope = llama,
                              .no_bias = llama};
    c.batch = atoi(argv[8]);
    c.steps = atoi(argv[9]);
    for (i = 0; i < TEXT; i++) {
        bytes[i] = (unsigned char)(i % 7 * 9 + (int)tri_rng_below(&rng, 4));
    }
    c.text = (tri_text){.bytes = bytes, .n = TEXT, .seed = 5};
    status = run(&c, argv[1]);
    tri_gpt_ops.destroy(c.model);
    tri_region_destroy(c.region);
    return status;
}

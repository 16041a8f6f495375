/*
 * Train a recommendation model on one rank and write what another program
 * needs to do the same, and what came out:
 *
 *   dlrm_curve FILE BATCH STEPS
 *
 * FILE (HDF5): /params/NAME, the initial weights and tables, in their whole
 * shapes; /dense, STEPS x BATCH x features; /ids, STEPS x tables x BATCH x
 * pooling; /click, STEPS x BATCH; /loss, of each step.  Single precision, or
 * double as dlrm_curve_f64.
 */
#include "models/dlrm/dlrm.h"
#include "models/optim/optim.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 9

static const tri_dlrm_shape shape = {.dense = 7,
                                     .tables = 4,
                                     .dim = 12,
                                     .pooling = 2,
                                     .rows = {11, 40, 300, 5},
                                     .n_bottom = 1,
                                     .bottom = {19},
                                     .n_top = 2,
                                     .top = {23, 10},
                                     .zipf = 1.1,
                                     .lr = 0.05};

typedef struct curve {
    int batch, steps;
    tri_model *model;
    const tri_tensors *dense, *sparse;
    tri_region *region;
    tri_real *params, *grads, *m, *v, *rows;
    hid_t file;
} curve;

static hid_t real_type(void)
{
    return sizeof(tri_real) == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
}

static void write_set(hid_t where, const char *name, hid_t type, int n_dims,
                      const hsize_t *dims, const void *data)
{
    hid_t space = H5Screate_simple(n_dims, dims, NULL);
    hid_t set = H5Dcreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);

    if (H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        fprintf(stderr, "dlrm_curve: %s is not written\n", name);
        exit(1);
    }
    H5Sclose(space);
    H5Dclose(set);
}

static void write_params(hid_t group, const tri_tensors *table,
                         const tri_real *params)
{
    int k, d;

    for (k = 0; k < table->n; k++) {
        const tri_tensor *t = &table->at[k];
        hsize_t dims[TRI_TENSOR_DIMS];

        for (d = 0; d < t->n_dims; d++) {
            dims[d] = (hsize_t)t->shape[d];
        }
        write_set(group, t->name, real_type(), t->n_dims, dims,
                  params + t->offset);
    }
}

static int write_samples(const curve *c)
{
    tri_clicks clicks = {.seed = SEED,
                         .dense = shape.dense,
                         .tables = shape.tables,
                         .pooling = shape.pooling,
                         .rows = shape.rows,
                         .zipf = shape.zipf};
    hsize_t n = (hsize_t)c->steps, B = (hsize_t)c->batch;
    hsize_t x_dims[] = {n, B, (hsize_t)shape.dense};
    hsize_t id_dims[] = {n, (hsize_t)shape.tables, B, (hsize_t)shape.pooling};
    int64_t x_step = c->batch * (int64_t)shape.dense, step, i;
    int64_t of_table = c->batch * (int64_t)shape.pooling;
    int64_t id_step = of_table * shape.tables;
    tri_real *x = malloc((size_t)(x_step * c->steps) * sizeof *x);
    int32_t *ids = malloc((size_t)(id_step * c->steps) * sizeof *ids);
    int *click = malloc((size_t)(n * B) * sizeof *click);
    int bad = !x || !ids || !click;

    tri_clicks_prepare(&clicks);
    for (step = 0; !bad && step < c->steps; step++) {
        for (i = 0; i < c->batch; i++) {
            click[step * c->batch + i] =
                    tri_clicks_sample(&clicks, step, i, of_table,
                                      x + step * x_step + i * shape.dense,
                                      ids + step * id_step + i * shape.pooling);
        }
    }
    if (!bad) {
        write_set(c->file, "dense", real_type(), 3, x_dims, x);
        write_set(c->file, "ids", H5T_NATIVE_INT32, 4, id_dims, ids);
        write_set(c->file, "click", H5T_NATIVE_INT, 2, x_dims, click);
    }
    free(x);
    free(ids);
    free(click);
    return bad;
}

static tri_status floats(curve *c, int64_t n, tri_real **out)
{
    void *p = NULL;

    TRI_TRY(tri_region_alloc(c->region, (uint64_t)n * sizeof(tri_real), "curve",
                             &p));
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

    TRI_TRY(tri_dlrm_create(&shape, &place, SEED, &c->model));
    c->dense = tri_dlrm_ops.tensors(c->model);
    c->sparse = tri_dlrm_ops.sparse(c->model);
    TRI_TRY(tri_region_create((uint64_t)1 << 30, 0, &c->region));
    TRI_TRY(floats(c, c->dense->count, &c->params));
    TRI_TRY(floats(c, c->dense->count, &c->grads));
    TRI_TRY(floats(c, c->dense->count, &c->m));
    TRI_TRY(floats(c, c->dense->count, &c->v));
    TRI_TRY(floats(c, c->sparse->count, &c->rows));
    TRI_TRY(tri_dlrm_ops.alloc(c->model, c->region));
    tri_tensors_init(c->dense, SEED, c->params);
    tri_tensors_init(c->sparse, SEED, c->rows);
    tri_dlrm_ops.bind(c->model, c->params, c->grads);
    tri_dlrm_ops.bind_sparse(c->model, c->rows);
    return TRI_OK;
}

static double train_step(curve *c, int step)
{
    const tri_adamw opt = {0.005, 0.9, 0.95, 1e-8, 0.1};
    double clip, squares;

    memset(c->grads, 0, (size_t)c->dense->count * sizeof *c->grads);
    tri_dlrm_ops.load(c->model, 0, step, 0);
    tri_dlrm_ops.forward(c->model, 0);
    tri_dlrm_ops.backward(c->model, 0);
    squares = tri_tensors_sumsq(c->dense, c->grads, 0) +
              tri_dlrm_ops.sparse_end(c->model);
    clip = tri_clip_coefficient(sqrt(squares), 0.1);
    tri_adamw_update(&opt, c->dense, step + 1, clip, c->grads, c->params, c->m,
                     c->v);
    tri_dlrm_ops.sparse_update(c->model, clip);
    return tri_dlrm_ops.take_loss(c->model);
}

static int run(curve *c, const char *path)
{
    hsize_t n = (hsize_t)c->steps;
    double *loss = calloc((size_t)c->steps, sizeof *loss);
    hid_t group;
    int step, bad;

    if (!loss || open_model(c) != TRI_OK) {
        fprintf(stderr, "dlrm_curve: %s\n", tri_error_last()->sentence);
        free(loss);
        return 1;
    }
    c->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    group = H5Gcreate2(c->file, "params", H5P_DEFAULT, H5P_DEFAULT,
                       H5P_DEFAULT);
    write_params(group, c->dense, c->params);
    write_params(group, c->sparse, c->rows);
    H5Gclose(group);
    bad = write_samples(c);
    for (step = 0; step < c->steps; step++) {
        loss[step] = train_step(c, step);
    }
    write_set(c->file, "loss", H5T_NATIVE_DOUBLE, 1, &n, loss);
    free(loss);
    return H5Fclose(c->file) < 0 || bad;
}

int main(int argc, char **argv)
{
    curve c = {0};
    int status;

    if (argc != 4) {
        fprintf(stderr, "usage: dlrm_curve FILE BATCH STEPS\n");
        return 2;
    }
    c.batch = atoi(argv[2]);
    c.steps = atoi(argv[3]);
    status = run(&c, argv[1]);
    tri_dlrm_ops.destroy(c.model);
    tri_region_destroy(c.region);
    return status;
}

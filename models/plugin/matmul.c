/*
 * A plugin for trireme: the distributed matrix product C = A B by SUMMA, over
 * OpenBLAS.  What is tuned: the process grid p x q, the width of the panels
 * that are broadcast, and how they are.
 *
 * Rank (i, j) of the grid holds the i-th of p parts of the rows of A, B and C,
 * and the j-th of q parts of their columns, all row by row.  For each panel of
 * A's columns and B's rows, those who hold it broadcast it along their grid
 * row (A) or column (B), and everybody adds the product of what came to its
 * part of C.  A step is one product; the first one is verified.
 *
 * Sizes are called n (of the matrices), w (of a panel), rows and cols (of this
 * rank's part).
 */
#include <trireme/trial.h>

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_N 32768 /* so that a panel's size fits an int */

typedef struct part { /* of the n rows or columns */
    int at, n;
} part;

struct trireme_trial {
    const trireme_trial_setup *setup;
    int n, w;
    int p, q, i, j;
    int ring;
    MPI_Comm grid, row, column;
    part rows, cols;
    double *a, *b, *c;
    double *panel_a, *panel_b;
    double *x, *y, *z; /* of n, for the verification */
    uint64_t bytes;
    int64_t done;
    double error; /* of the verified product, relative */
};

static part part_of(int n, int parts, int i)
{
    int at = (int)((int64_t)n * i / parts);

    return (part){at, (int)((int64_t)n * (i + 1) / parts) - at};
}

/* Which part holds row or column k. */
static int holder(int n, int parts, int k)
{
    int i = (int)((int64_t)k * parts / n);

    while (k >= part_of(n, parts, i).at + part_of(n, parts, i).n) {
        i++;
    }
    while (k < part_of(n, parts, i).at) {
        i--;
    }
    return i;
}

/* ---- opening ----------------------------------------------------------- */

static int refuse(const trireme_trial_setup *setup, int code,
                  const char *sentence)
{
    setup->say(setup->say_ctx, sentence);
    return code;
}

static double *allocate(trireme_trial *t, int64_t n, int *ok)
{
    double *x = calloc((size_t)n + 1, sizeof *x);

    t->bytes += (uint64_t)n * sizeof *x;
    *ok = *ok && x;
    return x;
}

/* Numbers between -1 and 1 that every rank knows. */
static double entry(int64_t row, int64_t col, int64_t of)
{
    return (double)((row * 31 + col * 17 + of * 7 + row * col % 13) % 101) /
                   50.0 -
           1;
}

static void fill(double *m, part rows, part cols, int64_t of)
{
    for (int64_t r = 0; r < rows.n; r++) {
        for (int64_t c = 0; c < cols.n; c++) {
            m[r * cols.n + c] = entry(rows.at + r, cols.at + c, of);
        }
    }
}

static int read_setup(trireme_trial *t, const trireme_trial_setup *setup)
{
    int64_t n = trireme_trial_integer(setup, "n", 768);
    int64_t p = trireme_trial_integer(setup, "p", 1);
    int64_t q = trireme_trial_integer(setup, "q", 1);
    int64_t w = trireme_trial_integer(setup, "block", 64);
    int size;

    MPI_Comm_size(setup->comm, &size);
    if (n < 1 || n > MOST_N || w < 1 || p < 1 || q < 1 || p > n || q > n) {
        return refuse(setup, TRIREME_TRIAL_INFEASIBLE,
                      "n is from 1 to 32768, block at least 1, p and q are "
                      "from 1 to n");
    }
    if (p * q != size) {
        return refuse(setup, TRIREME_TRIAL_INFEASIBLE,
                      "the grid p x q is not the number of ranks: say ranks: "
                      "p * q");
    }
    t->n = (int)n;
    t->p = (int)p;
    t->q = (int)q;
    t->w = (int)(w < n ? w : n);
    t->ring =
            strcmp(trireme_trial_text(setup, "broadcast", "tree"), "ring") == 0;
    openblas_set_num_threads((int)trireme_trial_integer(setup, "threads", 1));
    return TRIREME_TRIAL_OK;
}

static int make_grid(trireme_trial *t)
{
    int rank;

    if (MPI_Comm_dup(t->setup->comm, &t->grid) != MPI_SUCCESS) {
        return TRIREME_TRIAL_COMMUNICATION;
    }
    MPI_Comm_rank(t->grid, &rank);
    t->i = rank / t->q;
    t->j = rank % t->q;
    t->rows = part_of(t->n, t->p, t->i);
    t->cols = part_of(t->n, t->q, t->j);
    if (MPI_Comm_split(t->grid, t->i, t->j, &t->row) != MPI_SUCCESS ||
        MPI_Comm_split(t->grid, t->j, t->i, &t->column) != MPI_SUCCESS) {
        return TRIREME_TRIAL_COMMUNICATION;
    }
    return TRIREME_TRIAL_OK;
}

/* All ranks have their memory, or none goes on. */
static int make_matrices(trireme_trial *t)
{
    int64_t whole = (int64_t)t->rows.n * t->cols.n;
    int ok = 1;

    t->a = allocate(t, whole, &ok);
    t->b = allocate(t, whole, &ok);
    t->c = allocate(t, whole, &ok);
    t->panel_a = allocate(t, (int64_t)t->rows.n * t->w, &ok);
    t->panel_b = allocate(t, (int64_t)t->cols.n * t->w, &ok);
    t->x = allocate(t, t->n, &ok);
    t->y = allocate(t, t->n, &ok);
    t->z = allocate(t, t->n, &ok);
    if (MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, t->grid) !=
        MPI_SUCCESS) {
        return TRIREME_TRIAL_COMMUNICATION;
    }
    if (!ok) {
        return refuse(t->setup, TRIREME_TRIAL_HOST_MEMORY,
                      "no memory for the matrices");
    }
    fill(t->a, t->rows, t->cols, 1);
    fill(t->b, t->rows, t->cols, 2);
    for (int k = 0; k < t->n; k++) {
        t->x[k] = entry(k, 0, 3);
    }
    return TRIREME_TRIAL_OK;
}

void trireme_trial_close(trireme_trial *t, int32_t together)
{
    MPI_Comm *comms[] = {&t->column, &t->row, &t->grid};

    for (int k = 0; k < 3; k++) {
        if (together && *comms[k] != MPI_COMM_NULL) {
            MPI_Comm_free(comms[k]);
        }
    }
    free(t->a);
    free(t->b);
    free(t->c);
    free(t->panel_a);
    free(t->panel_b);
    free(t->x);
    free(t->y);
    free(t->z);
    free(t);
}

int trireme_trial_open(const trireme_trial_setup *setup, trireme_trial **out)
{
    trireme_trial *t = calloc(1, sizeof *t);
    int code;

    if (!t) {
        return TRIREME_TRIAL_HOST_MEMORY;
    }
    t->setup = setup;
    t->grid = t->row = t->column = MPI_COMM_NULL;
    code = read_setup(t, setup);
    if (code == TRIREME_TRIAL_OK) {
        code = make_grid(t);
    }
    if (code == TRIREME_TRIAL_OK) {
        code = make_matrices(t);
    }
    if (code != TRIREME_TRIAL_OK) { /* the same on all ranks */
        trireme_trial_close(t, code != TRIREME_TRIAL_COMMUNICATION);
        return code;
    }
    *out = t;
    return TRIREME_TRIAL_OK;
}

/* ---- a step ------------------------------------------------------------ */

/* From `root` to all of `comm`: by the library's tree, or from neighbour to
 * neighbour, where the first may begin the next panel early. */
static int spread(const trireme_trial *t, double *panel, int n, int root,
                  MPI_Comm comm)
{
    int rank;
    int size;
    int after;
    int rc = MPI_SUCCESS;

    if (!t->ring) {
        return MPI_Bcast(panel, n, MPI_DOUBLE, root, comm);
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    after = (rank - root + size) % size;
    if (after > 0) {
        rc = MPI_Recv(panel, n, MPI_DOUBLE, (rank + size - 1) % size, 0, comm,
                      MPI_STATUS_IGNORE);
    }
    if (rc == MPI_SUCCESS && after + 1 < size) {
        rc = MPI_Send(panel, n, MPI_DOUBLE, (rank + 1) % size, 0, comm);
    }
    return rc;
}

/* The panel from k on is as wide as asked, but of one holder of each. */
static int width_at(const trireme_trial *t, int k, part of_a, part of_b)
{
    int w = t->w;

    w = k + w > of_a.at + of_a.n ? of_a.at + of_a.n - k : w;
    return k + w > of_b.at + of_b.n ? of_b.at + of_b.n - k : w;
}

static int add_panel(trireme_trial *t, int k, int *w)
{
    int ja = holder(t->n, t->q, k);
    int ib = holder(t->n, t->p, k);
    part of_a = part_of(t->n, t->q, ja);
    part of_b = part_of(t->n, t->p, ib);
    double *panel_b = t->panel_b;

    *w = width_at(t, k, of_a, of_b);
    if (t->j == ja) {
        for (int r = 0; r < t->rows.n; r++) {
            memcpy(t->panel_a + (size_t)r * *w,
                   t->a + (size_t)r * t->cols.n + (k - of_a.at),
                   (size_t)*w * sizeof *t->a);
        }
    }
    if (t->i == ib) { /* it lies in one piece */
        panel_b = t->b + (size_t)(k - of_b.at) * t->cols.n;
    }
    if (spread(t, t->panel_a, t->rows.n * *w, ja, t->row) != MPI_SUCCESS ||
        spread(t, panel_b, *w * t->cols.n, ib, t->column) != MPI_SUCCESS) {
        return TRIREME_TRIAL_COMMUNICATION;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, t->rows.n, t->cols.n,
                *w, 1, t->panel_a, *w, panel_b, t->cols.n, k > 0, t->c,
                t->cols.n);
    return TRIREME_TRIAL_OK;
}

static int multiply(trireme_trial *t)
{
    int w;

    for (int k = 0; k < t->n; k += w) {
        int code = add_panel(t, k, &w);

        if (code != TRIREME_TRIAL_OK) {
            return code;
        }
    }
    return TRIREME_TRIAL_OK;
}

/* ---- verification ------------------------------------------------------ */

/* out = M in, where M is distributed and the vectors are everybody's. */
static int apply(const trireme_trial *t, const double *m, const double *in,
                 double *out)
{
    memset(out, 0, (size_t)t->n * sizeof *out);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, t->rows.n, t->cols.n, 1, m,
                t->cols.n, in + t->cols.at, 1, 0, out + t->rows.at, 1);
    return MPI_Allreduce(MPI_IN_PLACE, out, t->n, MPI_DOUBLE, MPI_SUM,
                         t->grid) == MPI_SUCCESS
                   ? TRIREME_TRIAL_OK
                   : TRIREME_TRIAL_COMMUNICATION;
}

/* C x is A (B x), for an x that is nothing special.  The same on all ranks. */
static int verify(trireme_trial *t)
{
    double *product = t->y;
    double largest = 0;
    double off = 0;
    char sentence[120];

    if (apply(t, t->b, t->x, t->y) || apply(t, t->a, t->y, t->z) ||
        apply(t, t->c, t->x, product)) {
        return TRIREME_TRIAL_COMMUNICATION;
    }
    for (int k = 0; k < t->n; k++) {
        largest = fmax(largest, fabs(t->z[k]));
        off = fmax(off, fabs(t->z[k] - product[k]));
    }
    t->error = largest > 0 ? off / largest : off;
    if (!(t->error < 1e-12 * t->n)) {
        snprintf(sentence, sizeof sentence,
                 "C x differs from A (B x) by %.2g of the largest", t->error);
        return refuse(t->setup, TRIREME_TRIAL_FAILED, sentence);
    }
    return TRIREME_TRIAL_OK;
}

/* ---- stepping ---------------------------------------------------------- */

int32_t trireme_trial_abi(void)
{
    return TRIREME_TRIAL_ABI;
}

int trireme_trial_run_until(trireme_trial *t, int64_t step,
                            trireme_trial_report_fn report, void *ctx)
{
    static const char *const names[] = {"gflop", "error"};
    double values[] = {2e-9 * t->n * t->n * t->n, 0};
    trireme_trial_report r = {.struct_bytes = sizeof r,
                              .n_metrics = 2,
                              .bytes = t->bytes,
                              .names = names,
                              .values = values};
    int code = TRIREME_TRIAL_OK;

    while (t->done < step && code == TRIREME_TRIAL_OK) {
        code = multiply(t);
        if (code == TRIREME_TRIAL_OK && t->done == 0) {
            code = verify(t);
        }
        if (code == TRIREME_TRIAL_OK) {
            t->done++;
            r.step = t->done;
            values[1] = t->error;
            report(ctx, &r);
        }
    }
    return code;
}

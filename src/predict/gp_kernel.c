/*
 * Covariances.
 */
#include "src/predict/gp_kernel.h"
#include "src/predict/matern.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

void tri_gp_form_init(tri_gp_form *form, const tri_encoding *e,
                      int has_resource)
{
    *form = (tri_gp_form){.encoding = e,
                          .width = tri_encoding_width(e),
                          .n_axes = tri_encoding_n_axes(e),
                          .has_resource = has_resource};
    form->n = form->n_axes + 2 + (has_resource ? 3 : 0);
}

int tri_gp_at(const tri_gp_form *form, tri_gp_part part)
{
    int at = form->n_axes;

    switch (part) {
    case TRI_GP_F:
        return at;
    case TRI_GP_N:
        return at + 1;
    case TRI_GP_R:
        return form->has_resource ? at + 2 : -1;
    case TRI_GP_B:
        return form->has_resource ? at + 3 : -1;
    case TRI_GP_DECAY:
        return form->has_resource ? at + 4 : -1;
    }
    return -1;
}

int tri_gp_block_init(tri_gp_block *b, const tri_gp_form *form, int n, int rows,
                      int more)
{
    size_t points = (size_t)n;
    size_t d = (size_t)form->width;

    b->k = malloc((points * ((size_t)rows + d + 1 + (size_t)more) + 1) *
                  sizeof *b->k);
    if (!b->k) {
        return 0;
    }
    b->p = (tri_gp_points){.n = n, .scaled = b->k + points * (size_t)rows};
    b->p.square = b->p.scaled + points * d;
    b->more = b->p.square + points;
    return 1;
}

void tri_gp_block_fini(tri_gp_block *b)
{
    free(b->k);
}

/* The square of a standard deviation; 0 where the form has it not. */
static double variance_of(const tri_gp_form *form, const double *theta,
                          tri_gp_part part)
{
    int at = tri_gp_at(form, part);

    return at < 0 ? 0 : exp(2 * theta[at]);
}

void tri_gp_scale(const tri_gp_form *form, const double *theta,
                  tri_gp_points *p)
{
    int d = form->width;

    for (int g = 0; g < form->n_axes; g++) {
        const tri_axis *axis = tri_encoding_axis(form->encoding, g);
        double by = exp(-theta[g]);

        for (int i = 0; i < p->n; i++) {
            for (int k = axis->first; k < axis->first + axis->width; k++) {
                p->scaled[i * d + k] = by * p->x[i * d + k];
            }
        }
    }
    for (int i = 0; i < p->n; i++) {
        const double *row = p->scaled + (size_t)i * (size_t)d;

        p->square[i] = 0;
        for (int k = 0; k < d; k++) {
            p->square[i] += row[k] * row[k];
        }
    }
}

static double share_of(const tri_gp_points *p, int i)
{
    return p->share ? p->share[i] : 1;
}

void tri_gp_cross(const tri_gp_form *form, const double *theta,
                  const tri_gp_points *a, const tri_gp_points *b, double *k,
                  int ld)
{
    double f = variance_of(form, theta, TRI_GP_F);
    double r = variance_of(form, theta, TRI_GP_R);
    double shared = variance_of(form, theta, TRI_GP_B);
    double decay =
            form->has_resource ? exp(theta[tri_gp_at(form, TRI_GP_DECAY)]) : 1;

    if (form->width > 0 && a->n > 0 && b->n > 0) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, a->n, b->n,
                    form->width, -2, a->scaled, form->width, b->scaled,
                    form->width, 0, k, ld);
    }
    for (int i = 0; i < a->n; i++) {
        double *row = k + (size_t)i * (size_t)ld;

        if (form->width > 0) {
            tri_matern(b->n, a->square[i], b->square, row);
        }
        for (int j = 0; j < b->n; j++) {
            double matern = form->width > 0 ? row[j] : 1;
            double along = 0;

            if (form->has_resource) {
                along = decay / (share_of(a, i) + share_of(b, j) + decay);
            }
            row[j] = (f + r * along) * matern + shared * along;
        }
    }
}

void tri_gp_variances(const tri_gp_form *form, const double *theta,
                      const tri_gp_points *p, double *out)
{
    double f = variance_of(form, theta, TRI_GP_F);
    double r = variance_of(form, theta, TRI_GP_R);
    double shared = variance_of(form, theta, TRI_GP_B);

    for (int i = 0; i < p->n; i++) {
        double decay, along;

        out[i] = f;
        if (form->has_resource) {
            decay = exp(theta[tri_gp_at(form, TRI_GP_DECAY)]);
            along = decay / (2 * share_of(p, i) + decay);
            out[i] += (r + shared) * along;
        }
    }
}

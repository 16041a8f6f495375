/*
 * What the ensembles of trees and networks promise alike; trees.c and mlp.c
 * add what is their own.
 */
#ifndef TRI_TESTS_PREDICT_ENSEMBLE_H
#define TRI_TESTS_PREDICT_ENSEMBLE_H

#include "tests/predict/world.h"

/* It orders samples that it has not seen with at least this tau, and its
 * deviations are of the size of its errors. */
void tri_ensemble_learns(const tri_predictor_ops *ops, double tau);
/* It sees that more of the resource is better. */
void tri_ensemble_uses_resource(const tri_predictor_ops *ops);
/* The same seed, the same model; another, another. */
void tri_ensemble_is_seeded(const tri_predictor_ops *ops);
/* One sample, equal ones, equal values, contradictory ones, no column. */
void tri_ensemble_bears_bad_samples(const tri_predictor_ops *ops);
/* A pending run changes no mean, makes no deviation larger, and is forgotten.
 */
void tri_ensemble_knows_pending(const tri_predictor_ops *ops);
/* Draws are about the mean, and near configurations move together. */
void tri_ensemble_draws(const tri_predictor_ops *ops);

#endif

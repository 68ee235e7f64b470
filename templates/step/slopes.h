/* Derivatives of a step at its solution, forwards and in reverse. */
#ifndef SLOPES_INCLUDED
#define SLOPES_INCLUDED
#include "products.h"
#if ROWS || UNILATERAL
#include "dense.h"
#endif
#if FLOATING
#include "turned_torque.h"
#endif
#if SIDES
#include "joint_limits.h"
#endif
#if CONTACTS
#include "contact_slopes.h"
#endif
#if BOUNCING
#include "rebounds.h"
#endif

#if UNILATERAL
/* The first N rows of [slope -up^T; down 0]^-1: columns of the momentum residual (square) and of the loop rows (rows). */
static int inverted(const double *slope, const double *up, const double *down, double *square, double *rows, Work *w) {
  double *K = w->system, *one = w->wide;
  int i, j;
  for (j = 0; j < BIG; j++) {
    for (i = 0; i < BIG; i++) {
      one[i + BIG * j] = i == j;
      K[i + BIG * j] = i < N && j < N ? slope[i + N * j] : i < N ? -up[j - N + ROWS * i] : j < N ? down[i - N + ROWS * j] : 0.0;
    }
  }
  if (solve_dense(K, one, BIG, BIG) == NO_PIVOT) return STATUS_LOOPS_SINGULAR;
  for (i = 0; i < N; i++) {
    for (j = 0; j < N; j++) square[i + N * j] = one[i + BIG * j];
    for (j = 0; j < ROWS; j++) rows[i + N * j] = one[i + BIG * (N + j)];
  }
  return 0;
}

/* Inverts both linear systems of a step's derivatives. With changes r of h F, s of h G, c of g and e of A rate at fixed states,
 * dp_next = -pose.inverse r - pose.rows c and
 * dpd_next = -rate.inverse (rate_by_end dp_next + pose_by_end^T dp + s) - rate.rows (rows_by_end dp_next + e). The step's
 * impulses are in w. Stiff contacts are not in the blocks by poses: see `stiff_product`. */
static int linearise(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, Work *w) {
  double *slope = w->pose.inverse, *slope_rate = w->rate.inverse;
  int i;
#if !FLOATING
  (void)u;
#endif
  blocks_kernel(p, pd, p_next, pd_next, h, alpha, w->model, w->blocks.pose_by_end, w->blocks.pose_by_start,
                w->blocks.inertia, w->blocks.rate_by_end, slope_rate,
#if LAGGING
                w->lag,
#endif
                w->loop.first, w->loop.last, w->kernel);
#if ROWS
  curvature_kernel(p, p_next, pd_next, w->pose.multipliers, w->rate.multipliers, alpha, w->scratch, w->scratch_end,
                   w->blocks.rows_by_end, w->kernel);
  for (i = 0; i < N * N; i++) {
    w->blocks.pose_by_start[i] -= w->scratch[i];
    w->blocks.rate_by_end[i] -= w->scratch_end[i];
  }
#endif
  for (i = 0; i < N * N; i++) {
    slope[i] = w->blocks.pose_by_end[i];
    slope_rate[i] *= h[0];
  }
#if FLOATING
  turn_slopes(p, u, h, w->blocks.pose_by_start);
  turn_slopes(p_next, u, h, w->blocks.rate_by_end);
#endif
#if SIDES
  side_slopes(h, alpha, p_next, pd_next, slope, slope_rate, w);
#endif
#if CONTACTS
  contact_slopes(p, h, alpha, p_next, pd_next, slope, slope_rate, w);
#endif
  if (inverted(slope, w->loop.first, w->loop.last, w->pose.inverse, w->pose.rows, w) != 0) return STATUS_LOOPS_SINGULAR;
#if CONTACTS
  if (inverted(slope_rate, w->loop.last, w->loop.last, w->rate.inverse, w->rate.rows, w) != 0) return STATUS_LOOPS_SINGULAR;
  if (stiffened(0, h, w->pose.inverse, w->pose.rows, w) != 0) return STATUS_LOOPS_SINGULAR;
  return stiffened(1, h, w->rate.inverse, w->rate.rows, w);
#else
  return inverted(slope_rate, w->loop.last, w->loop.last, w->rate.inverse, w->rate.rows, w);
#endif
}

#else
#if ROWS
/* Bordered inverse of one stage: v = x S^-1, then inverse -= v wide. */
static int bordered(double *inverse, const double *x, const double *wide, double *S, double *v, Work *w) {
  double *one = w->dense;
  int i, j;
  for (j = 0; j < ROWS; j++) {
    for (i = 0; i < ROWS; i++) one[i + ROWS * j] = i == j;
  }
  if (solve_dense(S, one, ROWS, ROWS) != 0) return STATUS_LOOPS_SINGULAR;
  product(x, one, N, ROWS, ROWS, 1.0, 0.0, v);
  product(v, wide, N, ROWS, N, -1.0, 1.0, inverse);
  return 0;
}

#endif
/* Solves both linear systems of a step's derivatives. With changes r of h F, s of h G, c of g and e of A rate at fixed states,
 * dp_next = -pose.inverse r - pose.rows c and
 * dpd_next = -rate.inverse (rate_by_end dp_next + pose_by_end^T dp + s) - rate.rows (rows_by_end dp_next + e). */
static int linearise(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, Work *w) {
#if ROWS
  double *rows = w->scratch;
  int i, j;
#endif
  systems_kernel(p, pd, p_next, pd_next, h, u, alpha, w->model, w->pose.inverse, w->pose.back, w->rows_inverse, w->pose.schur, w->pose.load,
                 w->rate.inverse, w->rate.back, w->rate.schur, w->rate.load, w->blocks.pose_by_end, w->blocks.pose_by_start,
                 w->blocks.inertia, w->blocks.rate_by_end, w->kernel);
#if ROWS
  if (bordered(w->pose.inverse, w->pose.back, w->rows_inverse, w->pose.schur, w->pose.rows, w) != 0) return STATUS_LOOPS_SINGULAR;
  product(w->dense, w->pose.load, ROWS, ROWS, 1, 1.0, 0.0, w->pose.multipliers);
  for (j = 0; j < N; j++) {
    for (i = 0; i < ROWS; i++) rows[i + ROWS * j] = w->rate.back[j + N * i]; /* Y^T: ROWS <= N rows fit */
  }
  if (bordered(w->rate.inverse, w->rate.back, rows, w->rate.schur, w->rate.rows, w) != 0) return STATUS_LOOPS_SINGULAR;
#if FLOATING
  {
    double change[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    turn_torque(h, u, p_next, change);
    for (i = 0; i < ROWS; i++) w->rate.load[i] -= h[0] * inner(w->rate.back + N * i + 3, change + 3, 3);
  }
#endif
  product(w->dense, w->rate.load, ROWS, ROWS, 1, 1.0, 0.0, w->rate.multipliers);
  curvature_kernel(p, p_next, pd_next, w->pose.multipliers, w->rate.multipliers, alpha, w->scratch, w->scratch_end,
                   w->blocks.rows_by_end, w->kernel);
  for (i = 0; i < N * N; i++) {
    w->blocks.pose_by_start[i] -= w->scratch[i];
    w->blocks.rate_by_end[i] -= w->scratch_end[i];
  }
#endif
#if FLOATING
  turn_slopes(p, u, h, w->blocks.pose_by_start);
  turn_slopes(p_next, u, h, w->blocks.rate_by_end);
#endif
  return 0;
}

#endif
/* Reverse derivative after `linearise`: seeds at the end -> gradients at the start; adds to alpha_bar and h_bar unless they are null. */
static void pull_back(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, const double *p_next_bar, const double *pd_next_bar,
                     double *p_bar, double *pd_bar, double *u_bar, double *alpha_bar, double *h_bar, Work *w) {
  double *x = w->pull, *y = x + N, *v = y + N, *z = v + ROWS, *q = w->seed;
  int j;
  product_transposed(w->rate.inverse, pd_next_bar, N, N, 1, 1.0, 0.0, y);
  product_transposed(w->rate.rows, pd_next_bar, ROWS, N, 1, 1.0, 0.0, z);
  memcpy(q, p_next_bar, N * sizeof(double));
  product_transposed(w->blocks.rate_by_end, y, N, N, 1, -1.0, 1.0, q);
  product_transposed(w->blocks.rows_by_end, z, N, ROWS, 1, -1.0, 1.0, q);
#if CONTACTS
  stiff_pull(1, w->contact.rate_by_end, pd_next_bar, q, w);
#endif
  product_transposed(w->pose.inverse, q, N, N, 1, 1.0, 0.0, x);
  product_transposed(w->pose.rows, q, ROWS, N, 1, 1.0, 0.0, v);
  product_transposed(w->blocks.pose_by_start, x, N, N, 1, -1.0, 0.0, p_bar);
#if CONTACTS
  stiff_pull(0, w->contact.slid_by_start, q, p_bar, w);
#endif
  product(w->blocks.pose_by_end, y, N, N, 1, -1.0, 1.0, p_bar);
  product_transposed(w->blocks.inertia, x, N, N, 1, h[0], 0.0, pd_bar);
#if UNILATERAL && LAGGING
  product_transposed(w->lag, y, N, N, 1, -1.0, 1.0, pd_bar);
#endif
  for (j = 0; j < N; j++) u_bar[j] = h[0] * h[0] / 2.0 * (x[j] + y[j]);
#if FLOATING
  for (j = 0; j < 3; j++) {
    double unit[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, torque[3];
    unit[3 + j] = 1.0;
    on_hinges(p_next, unit, torque);
    u_bar[3 + j] = h[0] * h[0] / 2.0 * (x[3 + j] + inner(torque, y + 3, 3));
  }
#endif
#if BOUNCING
  rebound_pull(p, pd, u, h, alpha, q, pd_next_bar, p_bar, pd_bar, u_bar, alpha_bar, h_bar, w);
#endif
  if (alpha_bar != 0 && h_bar != 0) {
    parameters_kernel(p, pd, u, h, p_next, pd_next, alpha, w->pose.multipliers, w->rate.multipliers, x, v, y, z, alpha_bar, h_bar,
                      w->kernel);
#if SIDES
    side_gradients(h, alpha, p_next, pd_next, x, y, alpha_bar, h_bar, w);
#endif
#if CONTACTS
    contact_gradients(p, h, alpha, p_next, pd_next, x, y, q, pd_next_bar, alpha_bar, h_bar, w);
#endif
  }
}

#endif

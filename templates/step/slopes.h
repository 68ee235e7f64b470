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
 * dp_next = -inverse r - V1 c and dpd_next = -response (K1 dp_next + D^T dp + s) - V2 (B1 dp_next + e). The step's
 * impulses are in w. Stiff contacts are not in K0 and K1: see `stiff_product`. */
static int linearise(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, Work *w) {
  double *slope = w->inverse, *slope_rate = w->response;
  int i;
#if !FLOATING
  (void)u;
#endif
  blocks_kernel(p, pd, p_next, pd_next, h, alpha, w->model, w->blocks.D, w->blocks.K0, w->blocks.M0, w->blocks.K1, slope_rate,
#if LAGGING
                w->lag,
#endif
                w->A0, w->A, w->kernel);
#if ROWS
  curvature_kernel(p, p_next, pd_next, w->L, w->H, alpha, w->C, w->C1, w->blocks.B1, w->kernel);
  for (i = 0; i < N * N; i++) {
    w->blocks.K0[i] -= w->C[i];
    w->blocks.K1[i] -= w->C1[i];
  }
#endif
  for (i = 0; i < N * N; i++) {
    slope[i] = w->blocks.D[i];
    slope_rate[i] *= h[0];
  }
#if FLOATING
  turn_slopes(p, u, h, w->blocks.K0);
  turn_slopes(p_next, u, h, w->blocks.K1);
#endif
#if SIDES
  side_slopes(h, alpha, p_next, pd_next, slope, slope_rate, w);
#endif
#if CONTACTS
  contact_slopes(p, h, alpha, p_next, pd_next, slope, slope_rate, w);
#endif
  if (inverted(slope, w->A0, w->A, w->inverse, w->V1, w) != 0) return STATUS_LOOPS_SINGULAR;
#if CONTACTS
  if (inverted(slope_rate, w->A, w->A, w->response, w->V2, w) != 0) return STATUS_LOOPS_SINGULAR;
  if (stiffened(0, h, w->inverse, w->V1, w) != 0) return STATUS_LOOPS_SINGULAR;
  return stiffened(1, h, w->response, w->V2, w);
#else
  return inverted(slope_rate, w->A, w->A, w->response, w->V2, w);
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
 * dp_next = -inverse r - V1 c and dpd_next = -response (K1 dp_next + D^T dp + s) - V2 (B1 dp_next + e). */
static int linearise(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, Work *w) {
#if ROWS
  double *rows = w->C;
  int i, j;
#endif
  systems_kernel(p, pd, p_next, pd_next, h, u, alpha, w->model, w->inverse, w->X, w->W, w->S, w->WF,
                 w->response, w->Y, w->T, w->WG, w->blocks.D, w->blocks.K0, w->blocks.M0, w->blocks.K1, w->kernel);
#if ROWS
  if (bordered(w->inverse, w->X, w->W, w->S, w->V1, w) != 0) return STATUS_LOOPS_SINGULAR;
  product(w->dense, w->WF, ROWS, ROWS, 1, 1.0, 0.0, w->L);
  for (j = 0; j < N; j++) {
    for (i = 0; i < ROWS; i++) rows[i + ROWS * j] = w->Y[j + N * i]; /* Y^T: ROWS <= N rows fit */
  }
  if (bordered(w->response, w->Y, rows, w->T, w->V2, w) != 0) return STATUS_LOOPS_SINGULAR;
#if FLOATING
  {
    double change[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    turn_torque(h, u, p_next, change);
    for (i = 0; i < ROWS; i++) w->WG[i] -= h[0] * inner(w->Y + N * i + 3, change + 3, 3);
  }
#endif
  product(w->dense, w->WG, ROWS, ROWS, 1, 1.0, 0.0, w->H);
  curvature_kernel(p, p_next, pd_next, w->L, w->H, alpha, w->C, w->C1, w->blocks.B1, w->kernel);
  for (i = 0; i < N * N; i++) {
    w->blocks.K0[i] -= w->C[i];
    w->blocks.K1[i] -= w->C1[i];
  }
#endif
#if FLOATING
  turn_slopes(p, u, h, w->blocks.K0);
  turn_slopes(p_next, u, h, w->blocks.K1);
#endif
  return 0;
}

#endif
/* Reverse derivative after `linearise`: seeds at the end -> gradients at the start; adds to alpha_bar and h_bar unless they are null. */
static void pull_back(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, const double *p_next_bar, const double *pd_next_bar,
                     double *p_bar, double *pd_bar, double *u_bar, double *alpha_bar, double *h_bar, Work *w) {
  double *x = w->pull, *y = x + N, *v = y + N, *z = v + ROWS, *q = w->P;
  int j;
  product_transposed(w->response, pd_next_bar, N, N, 1, 1.0, 0.0, y);
  product_transposed(w->V2, pd_next_bar, ROWS, N, 1, 1.0, 0.0, z);
  memcpy(q, p_next_bar, N * sizeof(double));
  product_transposed(w->blocks.K1, y, N, N, 1, -1.0, 1.0, q);
  product_transposed(w->blocks.B1, z, N, ROWS, 1, -1.0, 1.0, q);
#if CONTACTS
  stiff_pull(1, w->R1, pd_next_bar, q, w);
#endif
  product_transposed(w->inverse, q, N, N, 1, 1.0, 0.0, x);
  product_transposed(w->V1, q, ROWS, N, 1, 1.0, 0.0, v);
  product_transposed(w->blocks.K0, x, N, N, 1, -1.0, 0.0, p_bar);
#if CONTACTS
  stiff_pull(0, w->S0, q, p_bar, w);
#endif
  product(w->blocks.D, y, N, N, 1, -1.0, 1.0, p_bar);
  product_transposed(w->blocks.M0, x, N, N, 1, h[0], 0.0, pd_bar);
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
    parameters_kernel(p, pd, u, h, p_next, pd_next, alpha, w->L, w->H, x, v, y, z, alpha_bar, h_bar, w->kernel);
#if SIDES
    side_gradients(h, alpha, p_next, pd_next, x, y, alpha_bar, h_bar, w);
#endif
#if CONTACTS
    contact_gradients(p, h, alpha, p_next, pd_next, x, y, q, pd_next_bar, alpha_bar, h_bar, w);
#endif
  }
}

#endif

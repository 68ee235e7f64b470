/* Functions of an instant for closed loops. */
#ifndef LOOP_ROWS_INCLUDED
#define LOOP_ROWS_INCLUDED
#include "close_loops.h"

/* Block elimination with x = -D^-1 (force) and back = D^-1 A0^T: solves (A back) multipliers = rhs - A x and adds back multipliers
 * to x. `rhs` is the right-hand side, then the multipliers. */
static int border(const double *A, const double *back, double *x, double *rhs, Work *w) {
  double *S = w->dense;
  product(A, back, ROWS, N, ROWS, 1.0, 0.0, S);
  product(A, x, ROWS, N, 1, -1.0, 1.0, rhs);
  if (solve_dense(S, rhs, ROWS, 1) != 0) return STATUS_LOOPS_SINGULAR;
  product(back, rhs, N, ROWS, 1, 1.0, 1.0, x);
  return 0;
}

HIDDEN int STEP(close_rates)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *u = w->gradient;
  int status;
  memcpy(out[0], in[1], N * sizeof(double));
  if (!regular(in[0], in[2], w)) return STATUS_LOOPS_SINGULAR;
  memset(u, 0, N * sizeof(double));
  instant_kernel(in[0], in[1], u, in[2], w->trial, w->back, w->loop.last, w->pose.load, w->kernel);
  memset(w->pose.multipliers, 0, ROWS * sizeof(double));
  status = border(w->loop.last, w->back, out[0], w->pose.multipliers, w);
  if (status != 0) memcpy(out[0], in[1], N * sizeof(double));
  return status;
}

#if !CONTACTS
/* Accelerations and loop forces at an instant. */
static int accelerate(const double *const *in, double *pdd, double *force, Work *w) {
  int j, status;
  memset(pdd, 0, N * sizeof(double));
  memset(force, 0, ROWS * sizeof(double));
  if (!regular(in[0], in[3], w)) return STATUS_LOOPS_SINGULAR;
  instant_kernel(in[0], in[1], in[2], in[3], pdd, w->back, w->loop.last, w->pose.load, w->kernel);
  for (j = 0; j < ROWS; j++) force[j] = -w->pose.load[j];
  status = border(w->loop.last, w->back, pdd, force, w);
  if (status != 0 || !(largest(pdd, N) <= C_HUGE)) {
    memset(pdd, 0, N * sizeof(double));
    memset(force, 0, ROWS * sizeof(double));
    return status != 0 ? status : STATUS_DIVERGED;
  }
  return 0;
}

HIDDEN int STEP(forward_dynamics)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  return accelerate(in, out[0], w->pose.multipliers, w);
}

HIDDEN int STEP(loop_force)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  return accelerate(in, w->trial, out[0], w);
}
#endif

/* Splits torque = u + A^T force + left, with u at motorised joints. With at least as many motors as the mobility, left = 0 and |u| is
 * least; with fewer, |left| is least. */
static int share(const double *torque, const double *A, double *u, double *force, double *left, Work *w) {
  const int ample = MOTORS >= N - ROWS + REDUNDANT, n = ample ? N : PASSIVE, size = n + ROWS;
  double *K = w->dense, *rhs = w->rhs;
  int i, j, k = 0, status;
  memset(K, 0, (size_t)(size * size) * sizeof(double));
  memset(rhs, 0, (size_t)size * sizeof(double));
  for (j = 0; j < N; j++) {
    if (!ample && motor[j]) continue;
    if (!ample || motor[j]) K[k + size * k] = 1.0;
    for (i = 0; i < ROWS; i++) K[k + size * (n + i)] = K[n + i + size * k] = A[i + ROWS * j];
    rhs[k++] = torque[j];
  }
  status = solve_dense(K, rhs, size, 1) != 0 ? STATUS_LOOPS_SINGULAR : 0;
  for (i = 0; i < ROWS; i++) force[i] = status != 0 ? 0.0 : rhs[n + i];
  for (j = k = 0; j < N; j++) {
    const double pull = inner(A + ROWS * j, force, ROWS);
    u[j] = !motor[j] || status != 0 ? 0.0 : ample ? rhs[j] : torque[j] - pull;
    left[j] = torque[j] - u[j] - pull;
  }
  return status;
}

HIDDEN int STEP(inverse_dynamics)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *torque = w->gradient, *offset = w->direction;
  int j, status;
  for (j = 0; j < 3; j++) memset(out[j], 0, (j == 1 ? ROWS : N) * sizeof(double));
  if (!regular(in[0], in[3], w)) return STATUS_LOOPS_SINGULAR;
  held_kernel(in[0], in[1], in[2], in[3], torque, w->loop.last, offset, w->kernel);
  status = share(torque, w->loop.last, out[0], out[1], out[2], w);
  for (j = 0; j < N; j++) out[0][j] += motor[j] ? offset[j] : 0.0;
  return status;
}

#endif

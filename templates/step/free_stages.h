/* Both stages of a step without unilateral rows: Newton's method with a border of the loops' rows. */
#ifndef FREE_STAGES_INCLUDED
#define FREE_STAGES_INCLUDED
#include "convergence.h"
#include "products.h"
#if ROWS
#include "dense.h"
#endif
#if ROWS
#include "loops_closed.h"
#endif
#if FLOATING
#include "turned_torque.h"
#endif

/* The same where S = A back and rhs - A x are known already: S multipliers = rhs, x += back multipliers. */
INLINE int add_border(double *S, const double *back, double *x, double *rhs) {
  int i, k;
#if ROWS == 0
  (void)S;
#elif ROWS == 1 && !REDUNDANT
  if (!(fabs(S[0]) > 0.0)) return STATUS_LOOPS_SINGULAR;
  rhs[0] /= S[0];
#elif ROWS == 2 && !REDUNDANT
  /* By Cramer's rule, one division; the pivots would be `most` and determinant / most. */
  const double most = fabs(S[1]) > fabs(S[0]) ? fabs(S[1]) : fabs(S[0]), determinant = S[0] * S[3] - S[1] * S[2];
  const double square = most * most, first = rhs[0], inverse = 1.0 / determinant;
  if (!(fabs(determinant) > C_PIVOT_RATIO * square && square > C_PIVOT_RATIO * fabs(determinant))) return STATUS_LOOPS_SINGULAR;
  rhs[0] = (S[3] * first - S[2] * rhs[1]) * inverse;
  rhs[1] = (S[0] * rhs[1] - S[1] * first) * inverse;
#else
  if (solve_dense(S, rhs, ROWS, 1) != 0) return STATUS_LOOPS_SINGULAR;
#endif
  for (k = 0; k < ROWS; k++) {
    for (i = 0; i < N; i++) x[i] += back[i + N * k] * rhs[k];
  }
  return 0;
}

/* Solves F = A0^T L and g = 0 for p_next, which holds the first guess; leaves L, momentum, inertia and A of the end in w. Newton
 * once, then chord iterations on F, in all of which g is linearised anew; the contraction they show bounds the error that is
 * left, and a slow one calls for Newton again. The end is the last of them. */
static int solve_pose(const double *p, const double *u, const double *h, const double *alpha, double *p_next, Work *w) {
  double *record = w->record, *terms = w->terms, *correction = w->correction, *factors = w->factors;
  double *A0 = w->loop.first, *A = w->loop.last, *back = w->back, *L = w->pose.multipliers, *S = w->dense;
  const double *model = w->model;
  double last = 0.0, size = 0.0, rate;
  int k, j, ending = 0, settled, stalled, fresh = 0;
  for (k = 0; k <= C_MAX_POSE; k++) {
    if (ending) {
      end_kernel(p_next, p, record, terms, u, factors, h, back, alpha, model, correction, w->momentum, w->mass, S, L, A,
#if ROWS
                 w->force + N, w->loop.gap, w->loop.every,
#endif
                 w->kernel);
    } else if (fresh) {
      chord_kernel(p_next, p, record, terms, factors, back, alpha, model, correction, S, L, w->kernel);
    } else {
      newton_kernel(p_next, p, record, terms, A0, alpha, model, correction, factors, back, S, L, w->kernel);
    }
    if (add_border(S, back, correction, L) != 0) return largest(correction, N) <= C_FAR_POSE ? STATUS_LOOPS_SINGULAR : STATUS_POSE_NOT_FOUND;
    size = largest(correction, N);
    if (!(size <= C_FAR_POSE)) return ROWS ? STATUS_LOOP_NOT_CLOSED : STATUS_POSE_NOT_FOUND;
    for (j = 0; j < N; j++) p_next[j] += correction[j];
    if (k == 0) {
      last = size;
      fresh = size <= C_NEAR_POSE; /* farther off, two Newton iterations save a chord */
      continue;
    }
    rate = contraction(size, last);
    last = size;
    if (!ending && !fresh && size * rate * rate <= C_LAST_CORRECTION) { /* quadratic: the end is next */
      ending = fresh = 1;
      continue;
    }
    fresh = rate <= C_SLOW;
    settled = within_tolerance(size, rate);
    stalled = !fresh && as_small_as_rounding(size, largest(p_next, N));
    if (ending && (stalled || (settled && size <= C_LAST_CORRECTION))) {
      const double inverse = 1.0 / h[0];
      for (k = 0; k < N; k++) {
        for (j = 0; j < ROWS; j++) w->momentum[k] += A0[j + ROWS * k] * (L[j] * inverse);
      }
#if ROWS
      if (size > C_ROWS_TOLERANCE) gradient_kernel(p_next, alpha, model, A, w->kernel);
#endif
      return 0;
    }
    ending = stalled || (fresh && last_is_next(size, rate));
  }
  return ROWS && !(size <= C_FAR_GUESS) ? STATUS_LOOP_NOT_CLOSED : STATUS_POSE_NOT_FOUND;
}

/* M rate = momentum + h friction(rate) + A^T H / h and A rate = 0: Newton on the gradient of a convex function among the rates
 * that the loops allow, with a line search that never passes far beyond the minimum along the direction. Leaves H in w. */
static int solve_rate(const double *h, const double *alpha, double *rate, Work *w) {
  const double *mass = w->mass, *momentum = w->momentum, *model = w->model, *A = w->loop.last;
  double *gradient = w->gradient, *direction = w->direction, *trial = w->trial, *H = w->rate.multipliers, *S = w->dense;
  double *back = w->back, *pull = w->correction;
  int k, i, j, status;
  for (j = 0; j < LINKS && alpha[COULOMB + j] == 0.0; j++) {
  }
  if (j == LINKS) {
    velocity_kernel(mass, h, momentum, A, alpha, model, rate, back, S, H, w->kernel);
    status = add_border(S, back, rate, H);
    for (j = 0; j < ROWS; j++) H[j] *= h[0];
    if (!(largest(rate, N) <= C_FAR_RATE)) return STATUS_RATE_NOT_FOUND;
    return status;
  }
  memset(rate, 0, N * sizeof(double));
  velocity_gradient_kernel(mass, momentum, h, rate, alpha, model, gradient, w->kernel);
  for (k = 0; k < C_MAX_RATE; k++) {
    double start, slope, t = 1.0, size;
    rate_kernel(mass, h, rate, gradient, A, alpha, model, direction, back, S, H, w->kernel);
    status = add_border(S, back, direction, H);
    size = largest(direction, N);
    if (!(size <= C_FAR_RATE)) return STATUS_RATE_NOT_FOUND;
    if (status != 0) return status;
    /* The loops' part of the gradient does no work along the direction; taken off, its rounding does not either. */
    product_transposed(A, H, N, ROWS, 1, 1.0, 0.0, pull);
    for (j = 0, start = 0.0; j < N; j++) start += (gradient[j] - pull[j]) * direction[j];
    for (i = 0; i < C_MAX_LINE; i++) {
      for (j = 0; j < N; j++) trial[j] = rate[j] + t * direction[j];
      velocity_gradient_kernel(mass, momentum, h, trial, alpha, model, gradient, w->kernel);
      for (j = 0, slope = 0.0; j < N; j++) slope += (gradient[j] - pull[j]) * direction[j];
      if (far_enough(size * t, slope, start)) break;
      t *= C_SHRINK;
    }
    memcpy(rate, trial, N * sizeof(double));
    if (rate_is_found(size * t, largest(rate, N))) {
      for (j = 0; j < ROWS; j++) H[j] *= h[0];
      return 0;
    }
  }
  return STATUS_RATE_NOT_FOUND;
}

/* Both stages of a step from a first guess in p_next, moved by `off` where that is known. */
static int solve_free(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                      const double *alpha, double *off, double *p_next, double *pd_next, Work *w) {
  const double *guess = w->guess;
  int j, status = STATUS_POSE_NOT_FOUND;
  if (off != 0 && largest(off, N) <= C_FAR_GUESS) {
    for (j = 0; j < N; j++) p_next[j] += off[j];
    status = solve_pose(p, u, h, alpha, p_next, w);
    if (status != 0) memcpy(p_next, guess, N * sizeof(double));
  }
  if (status != 0) status = solve_pose(p, u, h, alpha, p_next, w);
#if ROWS
  if (status != 0) { /* the motion turns far: a first guess from half the step */
    const double part = 0.5 * h[0];
    double *middle = w->trial;
    start_kernel(p, pd, u, &part, alpha, w->model, w->record, w->terms, middle, w->loop.first, w->loop.gap, w->force, w->kernel);
    if (solve_pose(p, u, &part, alpha, middle, w) == 0) {
      start_kernel(p, pd, u, h, alpha, w->model, w->record, w->terms, p_next, w->loop.first, w->loop.gap, w->force, w->kernel);
      for (j = 0; j < N; j++) p_next[j] = 2.0 * middle[j] - p[j];
      status = solve_pose(p, u, h, alpha, p_next, w);
    }
  }
#endif
  if (status == 0) {
    for (j = 0; off != 0 && j < N; j++) off[j] = p_next[j] - guess[j];
    for (j = 0; kick != 0 && j < N; j++) w->momentum[j] += kick[j];
#if FLOATING
    turn_torque(h, u, p_next, w->momentum);
#if ROWS
    on_hinges(p_next, u, w->trial);
    for (j = 0; j < 3; j++) w->force[N + 3 + j] += w->trial[j] - u[3 + j];
#endif
#endif
    status = solve_rate(h, alpha, pd_next, w);
#if ROWS
    if (status == 0 && refuted_turns(h, p, pd, kick, p_next, pd_next, w)) status = STATUS_STEP_REFUTED;
    if (status == 0 && refuted_loops(w->loop.gap, w->loop.last, w->loop.every, pd_next)) { /* at the last correction's start, or really? */
      closing_kernel(p_next, alpha, w->loop.gap, w->loop.every, w->kernel);
      if (refuted_loops(w->loop.gap, 0, w->loop.every, pd_next)) status = STATUS_STEP_REFUTED;
    }
#endif
  }
#if !ROWS
  (void)pd;
#endif
  return status;
}

#endif

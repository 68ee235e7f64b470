/* The joint-space step with closed loops, joint limits and contacts (fixed or floating base), its derivatives and rollouts, and
 * functions of an instant. constrained_step_model.h describes the robot: sizes, parts, indices, kernels. */
#include "constrained_work.h"
#if UNILATERAL
#include "cones.h"
#else
#include "free_stages.h"
#endif
#if ROWS
#include "loop_rows.h"
#endif
#include "slopes.h"

/* `kick` is an impulse on the joints at the end of the step. `off` is the error of the previous step's first guess, which corrects
 * the guess of this step and is replaced by its error; 0 if there is none, and the start is then checked to be closed. */
static int advance_from(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                        const double *alpha, double *off, double *p_next, double *pd_next, Work *w) {
  int status = STATUS_POSE_NOT_FOUND;
  if (!(h[0] >= C_LEAST_STEP)) {
    memcpy(p_next, p, N * sizeof(double));
    memcpy(pd_next, pd, N * sizeof(double));
    return STATUS_STEP_NOT_FORWARDS;
  }
  start_kernel(p, pd, u, h, alpha, w->model, w->record, w->terms, p_next, w->loop.first, w->loop.gap,
#if UNILATERAL
               w->energy,
#elif ROWS
               w->force,
#endif
               w->kernel);
#if ROWS
  if (off == 0 && openness(w->loop.gap) > C_OPEN) status = STATUS_LOOP_OPEN;
#endif
  memcpy(w->guess, p_next, N * sizeof(double));
#if UNILATERAL
  status = solve_next(p, pd, u, kick, h, alpha, status, off, p_next, pd_next, w);
#else
  if (status != STATUS_LOOP_OPEN) status = solve_free(p, pd, u, kick, h, alpha, off, p_next, pd_next, w);
#endif
  if (status != 0) {
    memcpy(p_next, p, N * sizeof(double));
    memcpy(pd_next, pd, N * sizeof(double));
  }
  return status;
}

static int advance(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                   double *p_next, double *pd_next, Work *w) {
  return advance_from(p, pd, u, 0, h, alpha, 0, p_next, pd_next, w);
}

#if CONTACTS
#include "contact_force.h"
#endif

#if FLOATING
/* joint_step with a warm start from the previous call with this work array; `first`: a cold start. */
HIDDEN int STEP(onward)(int first, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *off = w->off;
  if (first) memset(off, 0, (N + 1) * sizeof(double));
  prepare(in[4], w);
  return advance_from(in[0], in[1], in[2], 0, in[3], in[4], ROWS && first ? 0 : off, out[0], out[1], w);
}

#endif
static int differentiate(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                         const double *alpha, double *const *out, Work *w) {
  double *carried = w->scratch, *Z1 = w->pose.inverse, *Z2 = w->rate.inverse;
#if EXACT
  double smooth[2 * N], *p_next = smooth, *pd_next = smooth + N;
#else
  double *p_next = out[0], *pd_next = out[1];
#endif
  const double half = h[0] * h[0] / 2.0;
  int status, i, j;
  prepare(alpha, w);
  status = advance_from(p, pd, u, kick, h, alpha, 0, out[0], out[1], w);
#if EXACT
  prepare_slopes(alpha, w);
  if (status == 0) status = advance_from(p, pd, u, kick, h, alpha, 0, p_next, pd_next, w);
#endif
  if (status != 0) return status;
  if (linearise(p, pd, u, h, alpha, p_next, pd_next, w) != 0) return STATUS_LOOPS_SINGULAR;
  product(Z2, w->blocks.rate_by_end, N, N, N, -1.0, 0.0, carried);
  product(w->rate.rows, w->blocks.rows_by_end, N, ROWS, N, -1.0, 1.0, carried);
  product(Z1, w->blocks.pose_by_start, N, N, N, -1.0, 0.0, out[2]);
#if CONTACTS
  stiff_product(1, w->contact.rate_by_end, carried, w);
  stiff_product(0, w->contact.slid_by_start, out[2], w);
#endif
  product(Z1, w->blocks.inertia, N, N, N, h[0], 0.0, out[3]);
  for (i = 0; i < N * N; i++) out[4][i] = half * Z1[i];
  product(carried, out[2], N, N, N, 1.0, 0.0, out[5]);
  for (j = 0; j < N; j++) { /* - response D^T */
    for (i = 0; i < N; i++) {
      double sum = 0.0;
      int k;
      for (k = 0; k < N; k++) sum += Z2[i + N * k] * w->blocks.pose_by_end[j + N * k];
      out[5][i + N * j] -= sum;
    }
  }
  product(carried, out[3], N, N, N, 1.0, 0.0, out[6]);
#if UNILATERAL && LAGGING
  product(Z2, w->lag, N, N, N, -1.0, 1.0, out[6]);
#endif
  for (i = 0; i < N * N; i++) out[7][i] = half * Z2[i];
#if FLOATING
  turn_columns(p_next, out[7]);
#endif
  product(carried, out[4], N, N, N, 1.0, 1.0, out[7]);
#if BOUNCING
  rebound_slopes(p, pd, u, h, alpha, carried, out, w);
#endif
  return 0;
}

#if UNILATERAL
/* Writes iterations, levels, evaluations and impulses of the last step to column k of `out`. */
static void note(int k, const double *h, double *const *out, const Work *w) {
  int stage, i, next = 1;
  memcpy(out[0] + 5 * (ptrdiff_t)k, w->count, 5 * sizeof(double));
  for (stage = 0; stage < 2 && ROWS > 0; stage++, next++) {
    for (i = 0; i < ROWS; i++) out[next][(ptrdiff_t)k * ROWS + i] = (stage ? w->rate.multipliers : w->pose.multipliers)[i] / h[0];
  }
  for (stage = 0; stage < 2 && SIDES > 0; stage++, next++) {
    memcpy(out[next] + (ptrdiff_t)k * SIDES, (stage ? w->push_rate : w->push), SIDES * sizeof(double));
  }
  for (stage = 0; stage < 2 && TOUCHES > 0; stage++, next++) {
    memcpy(out[next] + (ptrdiff_t)k * TOUCHES, (stage ? w->push_rate : w->push) + SIDES, TOUCHES * sizeof(double));
  }
}
#if FLOATING
void STEP(note)(int k, const double *h, double *const *out, const double *w) { note(k, h, out, (const Work *)(const void *)w); }
#endif

#endif
#include "trajectory.h"

static int roll(int steps, const double *const *in, double *P, double *PD, double *const *noted, Work *w) {
  double *off = w->off;
  int k;
  memset(off, 0, (N + 1) * sizeof(double));
  memcpy(P, in[0], N * sizeof(double));
  memcpy(PD, in[1], N * sizeof(double));
  prepare(in[4], w);
  for (k = 0; k < steps; k++) {
    const ptrdiff_t at = (ptrdiff_t)k * N;
    const int status = advance_from(P + at, PD + at, in[2] + at, 0, in[3], in[4], k == 0 ? 0 : off, P + at + N, PD + at + N,
                                    w);
    if (status != 0) {
      hold_from(k, steps, P, PD);
      return status;
    }
#if UNILATERAL
    if (noted != 0) note(k, in[3], noted, w);
#else
    (void)noted;
#endif
  }
  return 0;
}

HIDDEN int STEP(rollout)(int steps, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  return roll(steps, in, out[0], out[1], 0, w);
}

#if UNILATERAL
HIDDEN int STEP(rollout_impulses)(int steps, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  return roll(steps, in, out[0], out[1], out + 2, w);
}

#endif
#include "step_functions.h"

#if ALPHA_JACOBIAN && !UNILATERAL
HIDDEN int STEP(jac_alpha_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *p_next = w->bar, *pd_next = p_next + N, *carried = w->scratch;
  double *F = w->rows, *g = F + N * NA, *G = g + ROWS * NA, *rates = G + N * NA;
  const int status = linearised(in, w);
  if (status != 0) return status;
  by_alpha_kernel(in[0], in[1], in[2], in[3], p_next, pd_next, in[4], w->pose.multipliers, w->rate.multipliers, F, g, G, rates, w->kernel);
  product(w->rate.inverse, w->blocks.rate_by_end, N, N, N, -1.0, 0.0, carried);
  product(w->rate.rows, w->blocks.rows_by_end, N, ROWS, N, -1.0, 1.0, carried);
  product(w->pose.inverse, F, N, N, NA, -1.0, 0.0, out[0]);
  product(w->pose.rows, g, N, ROWS, NA, -1.0, 1.0, out[0]);
  product(carried, out[0], N, N, NA, 1.0, 0.0, out[1]);
  product(w->rate.inverse, G, N, N, NA, -1.0, 1.0, out[1]);
  product(w->rate.rows, rates, N, ROWS, NA, -1.0, 1.0, out[1]);
  return 0;
}
#endif

HIDDEN int STEP(node_torque)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  const double half_h = 0.5 * in[3][0];
  double *rate = w->bar, *torque = rate + N, *offset = torque + N, *left = offset + N;
  int j, status;
  (void)j;
  if (!(in[3][0] >= C_LEAST_STEP)) return STATUS_STEP_NOT_FORWARDS;
  prepare(in[4], w);
  node_kernel(in[0], in[1], in[2], in[3], in[4], w->model, left, w->momentum, w->mass, w->loop.last,
              w->kernel);
#if UNILATERAL
  for (j = 0; j < N; j++) torque[j] = (in[2][j] - in[0][j]) / (4.0 * half_h); /* mean rate, at which friction is evaluated */
  status = node_rate(&half_h, in[1], torque, in[4], rate, w);
#else
  status = solve_rate(&half_h, in[4], rate, w);
#endif
  if (status != 0) return status;
#if ROWS
  memset(torque, 0, N * sizeof(double));
  memset(w->trial, 0, N * sizeof(double));
  node_torque_kernel(torque, w->trial, in[4], offset, w->kernel); /* at rest and without torque: the sensor's offset */
  node_torque_kernel(left, rate, in[4], torque, w->kernel);
  for (j = 0; j < N; j++) torque[j] -= offset[j];
  status = share(torque, w->loop.last, out[0], w->pose.multipliers, left, w);
  for (j = 0; j < N; j++) out[0][j] += motor[j] ? offset[j] : 0.0;
  return status;
#else
  (void)offset;
  node_torque_kernel(left, rate, in[4], out[0], w->kernel);
  return 0;
#endif
}

#if !defined(FOR_V3) && !FLOATING
#include "work_sizes.h"
SIZED(jac_kicked_step, 0)
#endif

/* Functions of a step for joint_step.c and constrained_step.c. */
#include "step_interface.h"

HIDDEN int STEP(joint_step)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  prepare(in[4], w);
  return advance(in[0], in[1], in[2], in[3], in[4], out[0], out[1], w);
}

HIDDEN int STEP(jac_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  return differentiate(in[0], in[1], in[2], 0, in[3], in[4], out, w);
}

HIDDEN int STEP(jac_kicked_step)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  return differentiate(in[0], in[1], in[2], in[3], in[4], in[5], out, w);
}

#if !TOGETHER
/* A step, with end and linearisation in w. */
static int linearised(const double *const *in, Work *w) {
  double *p_next = w->bar, *pd_next = p_next + N;
  int status;
  prepare_slopes(in[4], w);
  status = advance(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, w);
  return status != 0 ? status : linearise(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, w);
}

#if ALPHA_JACOBIAN && BY_ROWS
/* Row by row, from unit seeds. */
HIDDEN int PARAMETER_JACOBIAN(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *p_next = w->bar, *pd_next = p_next + N, *bars = pd_next + N, *seed = w->rows, *row = seed + 2 * N;
  const int status = linearised(in, w);
  int r, j;
  if (status != 0) return status;
  memset(seed, 0, 2 * N * sizeof(double));
  for (r = 0; r < 2 * N; r++) {
    memset(row, 0, (NA + 1) * sizeof(double));
    seed[r] = 1.0;
    pull_back(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, seed, seed + N, bars, bars + N, bars + 2 * N, row, row + NA, w);
    seed[r] = 0.0;
    for (j = 0; j < NA; j++) out[r / N][r % N + N * j] = row[j];
  }
  return 0;
}
#endif

HIDDEN int STEP(vjp_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *p_next = w->bar, *pd_next = p_next + N;
  const int status = linearised(in, w);
  if (status != 0) return status;
  out[3][0] = 0.0;
  memset(out[4], 0, NA * sizeof(double));
  pull_back(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, in[5], in[6], out[0], out[1], out[2], out[4], out[3], w);
  return 0;
}

HIDDEN int STEP(vjp_trajectory)(int steps, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  const double *U = in[0], *h = in[1], *alpha = in[2], *P = in[3], *PD = in[4], *p_bars = in[5], *pd_bars = in[6];
  double *p_bar = w->bar, *pd_bar = p_bar + N, *p_seed = pd_bar + N, *pd_seed = p_seed + N;
  int k, j;
#if EXACT
  double smooth[2 * N];
#endif
  if (!(h[0] >= C_LEAST_STEP)) return STATUS_STEP_NOT_FORWARDS;
  prepare_slopes(alpha, w);
  if (out[3] != 0) out[3][0] = 0.0;
  if (out[4] != 0) memset(out[4], 0, NA * sizeof(double));
  memcpy(p_bar, p_bars + (ptrdiff_t)steps * N, N * sizeof(double));
  memcpy(pd_bar, pd_bars + (ptrdiff_t)steps * N, N * sizeof(double));
  for (k = steps - 1; k >= 0; k--) {
    const ptrdiff_t at = (ptrdiff_t)k * N;
    const double *p_next = P + at + N, *pd_next = PD + at + N;
    int status;
    memcpy(p_seed, p_bar, N * sizeof(double));
    memcpy(pd_seed, pd_bar, N * sizeof(double));
#if EXACT
    status = advance(P + at, PD + at, U + at, h, alpha, smooth, smooth + N, w);
    if (status != 0) return status;
    p_next = smooth;
    pd_next = smooth + N;
#elif UNILATERAL
    status = recover(P + at, PD + at, U + at, h, alpha, p_next, pd_next, w);
    if (status != 0) return status;
#endif
    status = linearise(P + at, PD + at, U + at, h, alpha, p_next, pd_next, w);
    if (status != 0) return status;
    pull_back(P + at, PD + at, U + at, h, alpha, p_next, pd_next, p_seed, pd_seed, p_bar, pd_bar, out[2] + at, out[4], out[3],
              w);
    for (j = 0; j < N; j++) {
      p_bar[j] += p_bars[at + j];
      pd_bar[j] += pd_bars[at + j];
    }
  }
  memcpy(out[0], p_bar, N * sizeof(double));
  memcpy(out[1], pd_bar, N * sizeof(double));
  return 0;
}
#endif

HIDDEN int STEP(vjp_rollout)(int steps, const double *const *in, double *const *out, double *work) {
  double *P = work + WORK_SIZE + LANES_ROLLOUT, *PD = P + (ptrdiff_t)N * (steps + 1);
  const double *along[7] = {in[2], in[3], in[4], P, PD, in[5], in[6]};
  double *const trajectory[2] = {P, PD};
  const int status = STEP(rollout)(steps, in, trajectory, work);
  return status != 0 ? status : STEP(vjp_trajectory)(steps, along, out, work);
}

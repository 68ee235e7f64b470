/* One step in joint space of a tree of joints, its derivatives, rollouts and what is asked about them. joint_step_model.h says what a
 * robot has: its sizes, its parts, its kernels. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "on_path.h"
#include "joint_step_model.h"

/* For step_functions.h: derivatives of a deep tree come step by step, and those by alpha row by row; of others together. */
#define STEP ON_PATH
#define TOGETHER !DEEP
#define STEP_SIZE(name) ROBOT(JOINED_AS_THEY_ARE(name, _work_size))
#ifndef FOR_V3
#define BY_ROWS (DEEP && !SLOPES) /* where a joint's place is a parameter too */
#define PARAMETER_JACOBIAN INNER(jac_alpha_joint_step)
#endif

enum { SMOOTH = 5, SWEEPS = 80 * N + 72 }; /* differences of a rollout's poses from which its next one is guessed; doubles of Sweeps */

typedef struct { /* what a step knows of its start */
  double record[RECORD], terms[N];
} Start;

typedef struct {
  double model[NM + 1]; /* numbers of the robot */
  Start start, next;    /* of this step and, in a rollout, of the one after */
  double iterate[N], correction[N], factors[FACTORS], mass[MASS], momentum[N];
  double gradient[N], direction[N], trial[N], x[N], y[N];
  double bar[8 * N];                          /* two nodes and their seeds; of deep trees a state, its gradient and seeds */
  double rows[DEEP ? ROW : 1];                /* of deep trees, for the Jacobian by parameters */
  double smooth[DEEP ? 1 : (SMOOTH + 1) * N]; /* of others: for guesses of a rollout */
  double shed[N];
  double blocks[DEEP ? 1 : 16 * N * N], sought[8 * N]; /* of four steps */
  double composed[SIXTH ? 38 * N + 18 * N * N : 1]; /* of steps of higher order */
  double joints[DEEP ? JOINT * N : 1], sweeps[DEEP ? SWEEPS : 1]; /* of deep trees: for derivatives */
  double kernel[KERNEL_WORK + 1];
} Work;

enum { WORK_SIZE = sizeof(Work) / sizeof(double), NP = N };

#if DEEP
#include "tree_jacobian.h"
#if SLOPES
#include "tree_parameters.h"
#endif
#endif

/* What a step's kernels share that only the parameters decide. */
static void prepare(const double *alpha, Work *w) { prepare_kernel(alpha, w->model, w->kernel); }
#define prepare_slopes prepare

static double largest(const double *x) {
  double result = 0.0;
  int k;
  for (k = 0; k < N; k++) {
    const double a = fabs(x[k]);
    if (!(a <= result) && result == result) result = a; /* written so that NaN is kept */
  }
  return result;
}

#include "convergence.h"
#include "trajectory.h"

static double inner(const double *x, const double *y) {
  double result = 0.0;
  int k;
  for (k = 0; k < N; k++) result += x[k] * y[k];
  return result;
}

/* Solves F = 0 for p_next, which holds the first guess, and leaves momentum and inertia of the end in w. Newton once, then chord
 * iterations; the contraction they show bounds the error that is left, and a slow one calls for Newton again. The end is the
 * last chord iteration: its momentum is that of the corrected pose, its inertia that of the pose before; of deep trees it is worked out
 * apart. */
static int solve_pose(const double *p, const double *u, const double *h, const double *alpha, double *p_next, Work *w) {
  double *record = w->start.record, *terms = w->start.terms, *iterate = w->iterate;
  double *correction = w->correction, *factors = w->factors;
  const double *model = w->model;
  double last, size, rate;
  int k, settled, stalled, fresh = 1;
#if !DEEP
  int j, ending = 0;
#endif
  newton_kernel(p_next, p, record, terms, alpha, model, iterate, correction, factors, w->kernel);
  last = largest(correction);
  memcpy(p_next, iterate, N * sizeof(double));
  for (k = 0; k < C_MAX_POSE; k++) {
#if !DEEP
    if (ending) {
      end_kernel(p_next, p, record, terms, u, factors, h, alpha, model, correction, w->momentum, w->mass, w->kernel);
      for (j = 0; j < N; j++) iterate[j] = p_next[j] + correction[j];
    } else if (fresh) {
#else
    if (fresh) {
#endif
      chord_kernel(p_next, p, record, terms, factors, alpha, model, iterate, correction, w->kernel);
    } else {
      newton_kernel(p_next, p, record, terms, alpha, model, iterate, correction, factors, w->kernel);
    }
    size = largest(correction);
    if (!(size <= C_FAR_POSE)) return STATUS_POSE_NOT_FOUND;
    memcpy(p_next, iterate, N * sizeof(double));
    rate = contraction(size, last);
    last = size;
    fresh = rate <= C_SLOW;
    settled = within_tolerance(size, rate);
    stalled = !fresh && as_small_as_rounding(size, largest(p_next));
#if DEEP
    if (settled || stalled) {
      end_kernel(p_next, p, u, h, record, alpha, model, w->momentum, w->mass, w->kernel);
      return 0;
    }
#else
    if (ending && (stalled || (settled && size <= C_LAST_CORRECTION))) return 0;
    ending = stalled || (fresh && last_is_next(size, rate));
#endif
  }
  return STATUS_POSE_NOT_FOUND;
}

/* (M) rate = momentum + h * friction(rate): Newton on the gradient of a convex function, with a line search that never
 * passes far beyond the minimum along the direction. `rate` holds the first guess. Coefficients of friction that
 * vary with the rate are those at the rates `begun`. */
static int solve_rate(const double *begun, const double *h, const double *alpha, double *rate, Work *w) {
  const double *mass = w->mass, *momentum = w->momentum, *model = w->model;
  double *gradient = w->gradient, *direction = w->direction, *trial = w->trial;
  int k, i, j;
  for (j = 0; j < LINKS && NO_COULOMB(alpha, j); j++) {
  }
  if (j == LINKS) {
    velocity_kernel(mass, momentum, h, begun, alpha, model, rate, w->kernel);
    return largest(rate) <= C_FAR_RATE ? 0 : STATUS_RATE_NOT_FOUND;
  }
  velocity_gradient_kernel(mass, momentum, h, rate, begun, alpha, model, gradient, w->kernel);
  for (k = 0; k < C_MAX_RATE; k++) {
    double start, slope, t = 1.0, size;
    velocity_newton_kernel(mass, h, rate, gradient, begun, alpha, model, direction, w->kernel);
    size = largest(direction);
    if (!(size <= C_FAR_RATE)) return STATUS_RATE_NOT_FOUND;
    start = inner(gradient, direction);
    for (i = 0; i < C_MAX_LINE; i++) {
      for (j = 0; j < N; j++) trial[j] = rate[j] + t * direction[j];
      velocity_gradient_kernel(mass, momentum, h, trial, begun, alpha, model, gradient, w->kernel);
      slope = inner(gradient, direction);
      if (far_enough(size * t, slope, start)) break;
      t *= C_SHRINK;
    }
    memcpy(rate, trial, N * sizeof(double));
    if (rate_is_found(size * t, largest(rate))) return 0;
  }
  return STATUS_RATE_NOT_FOUND;
}

#if !DEEP && defined(DISPATCHED) && defined(FOR_V3)
/* The rate at the end of one lane of joint_step_lanes.h that begins with `begun`. */
HIDDEN int ROBOT(rate_v3)(const double *mass, const double *momentum, const double *model, const double *begun,
                          const double *h, const double *alpha, double *rate, double *work);
int ROBOT(rate_v3)(const double *mass, const double *momentum, const double *model, const double *begun, const double *h,
                   const double *alpha, double *rate, double *work) {
  Work *const w = (Work *)(void *)work;
  memcpy(w->model, model, NM * sizeof(double));
  memcpy(w->mass, mass, MASS * sizeof(double));
  memcpy(w->momentum, momentum, N * sizeof(double));
  memcpy(rate, begun, N * sizeof(double));
  return solve_rate(begun, h, alpha, rate, w);
}
#endif

/* `kick` is an impulse on the joints at the end of the step. `off` is the error of the previous step's first guess, which corrects
 * the guess of this step and is replaced by its error; 0 if there is none. */
static int advance_from(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                        const double *alpha, double *off, double *p_next, double *pd_next, Work *w) {
  double *guess = w->x;
  int j, status = STATUS_POSE_NOT_FOUND;
  if (!(h[0] >= C_LEAST_STEP)) {
    memcpy(p_next, p, N * sizeof(double));
    memcpy(pd_next, pd, N * sizeof(double));
    return STATUS_STEP_NOT_FORWARDS;
  }
  start_kernel(p, pd, u, h, alpha, w->model, w->start.record, w->start.terms, p_next, w->kernel);
  memcpy(guess, p_next, N * sizeof(double));
  if (off != 0 && largest(off) <= C_FAR_GUESS) {
    for (j = 0; j < N; j++) p_next[j] += off[j];
    status = solve_pose(p, u, h, alpha, p_next, w);
    if (status != 0) memcpy(p_next, guess, N * sizeof(double));
  }
  if (status != 0) status = solve_pose(p, u, h, alpha, p_next, w);
  if (status == 0) {
    for (j = 0; off != 0 && j < N; j++) off[j] = p_next[j] - guess[j];
    for (j = 0; kick != 0 && j < N; j++) w->momentum[j] += kick[j];
    memcpy(pd_next, pd, N * sizeof(double));
    status = solve_rate(pd, h, alpha, pd_next, w);
  }
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

#if DEEP
/* What every joint adds to the derivatives of a step; there always are some. */
static int linearise(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, Work *w) {
  (void)u;
  joints_kernel(p, pd, p_next, pd_next, h, alpha, w->model, w->joints, w->kernel);
  return 0;
}

/* Pulls seeds at the end of a linearised step back to its start; adds to alpha_bar and h_bar where they are asked for. */
static void pull_back(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                      const double *p_next, const double *pd_next, const double *p_next_bar, const double *pd_next_bar,
                      double *p_bar, double *pd_bar, double *u_bar, double *alpha_bar, double *h_bar, Work *w) {
  tree_adjoint(w->joints, h[0], p_next_bar, pd_next_bar, p_bar, pd_bar, u_bar, w->x, w->y, w->sweeps);
  if (alpha_bar != 0 && h_bar != 0) {
    adjoint_parameters_kernel(p, pd, u, h, p_next, pd_next, alpha, w->model, w->x, w->y, alpha_bar, h_bar, w->kernel);
  }
}
#else
#if defined(ON_X86) && defined(FOR_V3)
/* Steps of one trajectory side by side, in joint_step_lanes.h; the same text for two instruction sets. */
typedef int rates_beside(const double *P, double *PD, const double *h, const double *alpha, const double *model, double *work);
typedef int blocks_beside(int linear, const double *P, const double *PD, const double *PD_bar, const double *h,
                          const double *alpha, const double *model, double *blocks, double *sought, double *work);
HIDDEN rates_beside ROBOT(rates_lanes4), ROBOT(rates_lanes4_v4);
HIDDEN blocks_beside ROBOT(blocks_lanes4), ROBOT(blocks_lanes4_v4);
#if SIXTH
typedef int sixth_beside(const double *const *in, double *const *out, const double *model, double *work);
HIDDEN sixth_beside ROBOT(sixth_lanes4), ROBOT(sixth_lanes4_v4);
#endif
#define BESIDE(name) (ROBOT(path_kernel)() == X86_64_V4 ? ROBOT(name##_lanes4_v4) : ROBOT(name##_lanes4))
#endif

#include "rollout.h"
#include "adjoint.h"
#endif

static int differentiate(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                         const double *alpha, double *const *out, Work *w) {
  int status;
  prepare(alpha, w);
  status = advance_from(p, pd, u, kick, h, alpha, 0, out[0], out[1], w);
  if (status != 0) return status;
#if DEEP
  (void)linearise(p, pd, u, h, alpha, out[0], out[1], w);
  tree_jacobian(w->joints, h[0], out + 2, w->sweeps);
#else
  jacobian_kernel(p, pd, out[0], out[1], h, alpha, w->model, out[2], out[3], out[4], out[5], out[6], out[7],
             w->kernel);
#endif
  return 0;
}

#if ALPHA_JACOBIAN && !DEEP && !defined(FOR_V3)
HIDDEN int INNER(jac_alpha_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *p_next = w->bar, *pd_next = p_next + N;
  int status;
  prepare(in[4], w);
  status = advance(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, w);
  if (status != 0) return status;
  jacobian_alpha_kernel(in[0], in[1], in[2], in[3], p_next, pd_next, in[4], out[0], out[1], w->kernel);
  return 0;
}
#endif

#if !DEEP
HIDDEN int ON_PATH(vjp_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *P = w->bar, *PD = P + 2 * N, *P_bar = PD + 2 * N, *PD_bar = P_bar + 2 * N;
  int status;
  prepare(in[4], w);
  status = advance(in[0], in[1], in[2], in[3], in[4], P + N, PD + N, w);
  if (status != 0) return status;
  memcpy(P, in[0], N * sizeof(double));
  memcpy(PD, in[1], N * sizeof(double));
  memset(P_bar, 0, 4 * N * sizeof(double));
  memcpy(P_bar + N, in[5], N * sizeof(double));
  memcpy(PD_bar + N, in[6], N * sizeof(double));
  out[3][0] = 0.0;
  memset(out[4], 0, NA * sizeof(double));
  pull_back(1, in[2], in[3], in[4], P, PD, P_bar, PD_bar, out[0], out[1], out[2], out[4], out[3], w);
  return 0;
}
#endif

#if SIXTH
#include "orders.h"
#endif
HIDDEN int ON_PATH(node_torque)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  const double half_h = 0.5 * in[3][0];
  double *rate = w->bar, *begun = rate + N, *u = out[0];
  int status, k;
  if (!(in[3][0] >= C_LEAST_STEP)) return STATUS_STEP_NOT_FORWARDS;
  prepare(in[4], w);
  node_kernel(in[0], in[1], in[2], in[3], in[4], w->model, u, w->momentum, w->mass, w->kernel);
  memset(rate, 0, N * sizeof(double));
  for (k = 0; k < N; k++) begun[k] = (in[2][k] - in[0][k]) / (4.0 * half_h); /* the law is taken at the mean rate */
  status = solve_rate(begun, &half_h, in[4], rate, w);
  if (status != 0) return status;
  node_torque_kernel(u, rate, in[4], w->x, w->kernel);
  memcpy(u, w->x, N * sizeof(double));
  return 0;
}

HIDDEN int ON_PATH(rollout)(int steps, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *P = out[0], *PD = out[1], *off = w->y;
  int k = 0, status = 0;
  memcpy(P, in[0], N * sizeof(double));
  memcpy(PD, in[1], N * sizeof(double));
  prepare(in[4], w);
#if !DEEP
  if (in[3][0] >= C_LEAST_STEP && frictionless(in[4])) {
    status = glide(steps, in[2], in[3], in[4], P, PD, &k, w);
  } else {
#endif
  memset(off, 0, N * sizeof(double));
  for (k = 0; k < steps; k++) {
    const ptrdiff_t at = (ptrdiff_t)k * N;
    status = advance_from(P + at, PD + at, in[2] + at, 0, in[3], in[4], off, P + at + N, PD + at + N, w);
    if (status != 0) break;
  }
#if !DEEP
  }
#endif
  if (status != 0) hold_from(k, steps, P, PD);
  return status;
}

#if !DEEP
HIDDEN int ON_PATH(vjp_trajectory)(int steps, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  if (!(in[1][0] >= C_LEAST_STEP)) return STATUS_STEP_NOT_FORWARDS;
  prepare(in[2], w);
  if (out[3] != 0) out[3][0] = 0.0;
  if (out[4] != 0) memset(out[4], 0, NA * sizeof(double));
  pull_back(steps, in[0], in[1], in[2], in[3], in[4], in[5], in[6], out[0], out[1], out[2], out[4], out[3], w);
  return 0;
}
#endif

#include "step_functions.h"

#if ALPHA_JACOBIAN && DEEP && SLOPES
HIDDEN int ON_PATH(jac_alpha_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *p_next = w->bar, *pd_next = p_next + N, *shares = w->rows, *own = shares + SHARES, *slopes = own + 2 * NM;
  const int status = linearised(in, w);
  if (status != 0) return status;
  shares_kernel(in[0], in[1], p_next, pd_next, in[3], in[4], w->model, shares, w->kernel);
  own_kernel(in[0], in[1], in[2], in[3], p_next, pd_next, in[4], w->model, own, w->kernel);
  slopes_kernel(in[4], slopes, w->kernel);
  memset(out[0], 0, N * NA * sizeof(double));
  memset(out[1], 0, N * NA * sizeof(double));
  parameter_sides((const Joint *)(const void *)w->joints, in[3][0], shares, own, slopes, out[0], out[1]);
  respond_all((const Joint *)(const void *)w->joints, 1.0 / in[3][0], NA, out[0], out[1], (Sweeps *)(void *)w->sweeps);
  return 0;
}
#endif

#ifndef FOR_V3
#include "work_sizes.h"
SIZED(jac_kicked_step, 0)
#endif

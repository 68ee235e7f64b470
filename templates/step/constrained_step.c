/* The joint-space step with closed loops, joint limits and contacts (fixed or floating base), its derivatives and rollouts, and
 * functions of an instant. constrained_step_model.h describes the robot: sizes, parts, indices, kernels. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "constrained_step_model.h"
#include "on_path.h"

/* Compiled for several instruction sets, except for a floating base without limits and contacts. floating.c calls the chart_ functions. */
#if FLOATING && CHART_PATHS && defined(DISPATCHED)
#define STEP(name) ON_PATH(JOINED(chart_, name))
#elif FLOATING
#define STEP(name) ROBOT(JOINED(chart_, name))
#else
#define STEP(name) ON_PATH(name)
#endif
#define STEP_SIZE(name) ROBOT(JOINED_AS_THEY_ARE(name, _work_size))

enum {
  PASSIVE = N - MOTORS,
  BIG = N + ROWS,
  LINE = (BIG + 8) / 8 * 8, /* see lines.h */
  CONES = SIDES + CONTACTS,
  PUSHES = SIDES + TOUCHES,
  IMPULSES = PUSHES + CONTACTS,              /* one more per contact, for `apart` */
  WIDE = 3 + SPUN + 2 * ROLLED,              /* upper bound of rows per contact, see discs.h */
  SHARE = WIDE * WIDE,
  RHOS = CONES + 2 * TURNED * CONTACTS,
  STIFF = TOUCHES < 3 * N ? TOUCHES : 3 * N /* upper bound of rows in `stiffened` */
};

typedef struct {           /* derivatives of the residuals of both stages, by columns */
  double D[N * N];         /* pose stage by the end's pose; transposed, rate stage by the start's pose */
  double K0[N * N];        /* pose stage by the start's pose */
  double M0[N * N];        /* pose stage by the start's rates, over -h: the inertia there */
  double K1[N * N];        /* rate stage by the end's pose */
  double B1[ROWS * N + 1]; /* rates of the rows of loops by the end's pose */
} Blocks;

typedef struct { /* matrices by columns */
  double model[NM + 1], record[RECORD + 1], terms[N], correction[N], factors[N * N], mass[N * N], momentum[N];
  double gradient[N], direction[N], trial[N], guess[N], off[N + 1];
  double bar[6 * N]; /* a state, its gradient and seeds */
  double A0[ROWS * N + 1], A[ROWS * N + 1];
  double back[N * ROWS + 1]; /* D^-1 A^T or inertia^-1 A^T */
  double gap[ALL + 1], all[ALL * N + 1];
  double L[ROWS + 1]; /* multipliers of the pose and of the rate stage */
  double H[ROWS + 1], dense[BORDER * BORDER], rhs[BORDER];
  double inverse[N * N]; /* derivatives: D^-1, then the bordered inverse; rate stage: `response` */
  double X[N * ROWS + 1], W[ROWS * N + 1], S[ROWS * ROWS + 1], WF[ROWS + 1], response[N * N], Y[N * ROWS + 1];
  double T[ROWS * ROWS + 1], WG[ROWS + 1];
  Blocks blocks;
  double V1[N * ROWS + 1], V2[N * ROWS + 1];
  double C[N * N]; /* scratch */
  double C1[N * N], P[2 * N + 2 * ROWS];
  double pull[2 * N + 2 * ROWS]; /* x, y, v, z of a pull-back */
  double kernel[KERNEL_WORK + 1];
  double rows[2 * (N + ROWS) * NA]; /* derivatives by alpha */
  double push[IMPULSES + 1], push_rate[IMPULSES + 1]; /* impulses of limits and contacts in both stages */
  double rho[RHOS + 1], cone[2 * SIDES + 1], lead[SIDES + 1], slopes[UNILATERAL ? N * N : 1];
  double system[UNILATERAL ? BIG * LINE : 1];
  double lu[UNILATERAL ? (2 * N + 1) * LINE : 1]; /* LU factors of the slopes and solved columns of impulses, in rows of LINE */
  double columns[UNILATERAL ? N * LINE : 1], free[UNILATERAL ? N : 1], wide[UNILATERAL ? BIG * BIG : 1], change[BIG + IMPULSES + 1];
  double start[BIG + IMPULSES + 1], first[UNILATERAL ? N : 1], known[UNILATERAL ? N : 1];
  double count[UNILATERAL ? 5 : 1]; /* iterations and level of both stages, evaluations */
  double lag[UNILATERAL ? N * N : 1], law[LAW * CONTACTS + 1], sign[CONTACTS + 1], gaps[CONTACTS + 1], J0[TOUCHES * N + 1];
  double J[TOUCHES * N + 1], by[TOUCHES * N + 1], turn[TOUCHES * N + 1], GY[TOUCHES * LINE + 1], S0[TOUCHES * N + 1];
  double S1[TOUCHES * N + 1], R1[TOUCHES * N + 1], touch[TOUCHES + 1], shares[SHARE * CONTACTS + 1], x_touch[TOUCHES + 1];
  double psi[4 * CONTACTS + 1], touch_bar[2 * TOUCHES + (1 + LAW) * CONTACTS + 1], frames[9 * CONTACTS + 1];
  double stiff[2 * CONTACTS + 1]; /* flags of both stages: contact is treated by `stiffened` */
  double stiff_g[2 * SHARE * CONTACTS + 1], stiff_t[2 * N * TOUCHES + 1], stiff_m[2 * N * TOUCHES + 1];
  double stiff_x[N * STIFF + 1]; /* scratch */
  double stiff_k[STIFF * STIFF + 1], stiff_y[STIFF * N + 1], stiff_by[STIFF + 1];
  double energy[UNILATERAL ? 5 : 1]; /* kinetic at the start; gravity's and springs' at both ends */
  double depth[CONES + 1]; /* penetration depths of limits and contacts at the start */
  double moved[TOUCHES * LINE + 1]; /* contact rates due to each column of impulses and due to the free step */
  double before[2 * IMPULSES + 1]; /* impulses of the last step's pose stage and their change, see `extrapolate` */
  double more[IMPULSES + 1], more_before[2 * IMPULSES + 1]; /* impulses of the rate stage minus those of the pose stage */
  double off_before[2 * N]; /* error of its first guess and its change */
  double shift[BOUNCING ? 2 * CONTACTS : 1]; /* see rebounds.h */
  double seen[BOUNCING ? 3 * CONTACTS : 1], by_seen[BOUNCING ? 10 * CONTACTS : 1];
  double kept[1]; /* factor on the restitution */
  double force[!UNILATERAL ? 2 * N : 1]; /* generalised forces at both ends */
} Work;

enum { WORK_SIZE = sizeof(Work) / sizeof(double), NP = N };
/* For step_functions.h. */
#define TOGETHER 0
#define LANES_ROLLOUT 0
#define BY_ROWS UNILATERAL
#define PARAMETER_JACOBIAN STEP(jac_alpha_joint_step)

#if FLOATING
#include "turned_torque.h"
#endif
/* Intermediate values of the kernels that depend on the parameters alone. */
static void prepare(const double *alpha, Work *w) {
  prepare_kernel(alpha, w->model, w->kernel);
#if CONTACTS
  law_kernel(alpha, w->law, w->kernel);
#endif
}

/* `prepare` for derivatives: exact friction cones are differentiated with the slip alpha[SLOPE_SLIP] at least. */
static void prepare_slopes(const double *alpha, Work *w) {
#if EXACT
  int k;
  prepare(alpha, w);
  for (k = 0; k < CONTACTS; k++) {
    double *slip = w->law + LAW * k + LAW_SLIP;
    if (slip[0] < alpha[SLOPE_SLIP]) slip[0] = alpha[SLOPE_SLIP];
  }
#else
  prepare(alpha, w);
#endif
}

static double largest(const double *x, int n) {
  int64_t most = 0;
  double result;
  int k;
  for (k = 0; k < n; k++) { /* magnitudes are ordered as their bits, and NaN is beyond them all */
    int64_t bits;
    memcpy(&bits, x + k, sizeof bits);
    bits &= INT64_MAX;
    most = bits > most ? bits : most;
  }
  memcpy(&result, &most, sizeof result);
  return result;
}

#if SLACK
/* The largest violation of a loop row beyond its slack. */
static double openness(const double *g) {
  double result = 0.0;
  int k;
  for (k = 0; k < ALL; k++) {
    const double a = fabs(g[k]) - slack[k];
    if (!(a <= result) && result == result) result = a;
  }
  return result;
}
#else
static double openness(const double *g) { return largest(g, ALL); }
#endif

#if ROWS
#include "loops_closed.h"
#endif
#include "products.h"
#if UNILATERAL
#include "lines.h"
#endif
#if ROWS || UNILATERAL
#include "dense.h"
#endif

#if ROWS
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

#endif
#if UNILATERAL
#include "cones.h"
#else
#include "convergence.h"
#include "free_stages.h"
#endif

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
  start_kernel(p, pd, u, h, alpha, w->model, w->record, w->terms, p_next, w->A0, w->gap,
#if UNILATERAL
               w->energy,
#elif ROWS
               w->force,
#endif
               w->kernel);
  if (off == 0 && openness(w->gap) > C_OPEN) status = STATUS_LOOP_OPEN;
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

#include "slopes.h"
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
  double *carried = w->C, *Z1 = w->inverse, *Z2 = w->response;
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
  product(Z2, w->blocks.K1, N, N, N, -1.0, 0.0, carried);
  product(w->V2, w->blocks.B1, N, ROWS, N, -1.0, 1.0, carried);
  product(Z1, w->blocks.K0, N, N, N, -1.0, 0.0, out[2]);
#if CONTACTS
  stiff_product(1, w->R1, carried, w);
  stiff_product(0, w->S0, out[2], w);
#endif
  product(Z1, w->blocks.M0, N, N, N, h[0], 0.0, out[3]);
  for (i = 0; i < N * N; i++) out[4][i] = half * Z1[i];
  product(carried, out[2], N, N, N, 1.0, 0.0, out[5]);
  for (j = 0; j < N; j++) { /* - response D^T */
    for (i = 0; i < N; i++) {
      double sum = 0.0;
      int k;
      for (k = 0; k < N; k++) sum += Z2[i + N * k] * w->blocks.D[j + N * k];
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
    for (i = 0; i < ROWS; i++) out[next][(ptrdiff_t)k * ROWS + i] = (stage ? w->H : w->L)[i] / h[0];
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
  double *p_next = w->bar, *pd_next = p_next + N, *carried = w->C;
  double *F = w->rows, *g = F + N * NA, *G = g + ROWS * NA, *rates = G + N * NA;
  const int status = linearised(in, w);
  if (status != 0) return status;
  by_alpha_kernel(in[0], in[1], in[2], in[3], p_next, pd_next, in[4], w->L, w->H, F, g, G, rates, w->kernel);
  product(w->response, w->blocks.K1, N, N, N, -1.0, 0.0, carried);
  product(w->V2, w->blocks.B1, N, ROWS, N, -1.0, 1.0, carried);
  product(w->inverse, F, N, N, NA, -1.0, 0.0, out[0]);
  product(w->V1, g, N, ROWS, NA, -1.0, 1.0, out[0]);
  product(carried, out[0], N, N, NA, 1.0, 0.0, out[1]);
  product(w->response, G, N, N, NA, -1.0, 1.0, out[1]);
  product(w->V2, rates, N, ROWS, NA, -1.0, 1.0, out[1]);
  return 0;
}
#endif

#if ROWS
#include "loop_rows.h"
#endif

HIDDEN int STEP(node_torque)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  const double half_h = 0.5 * in[3][0];
  double *rate = w->bar, *torque = rate + N, *offset = torque + N, *left = offset + N;
  int j, status;
  (void)j;
  if (!(in[3][0] >= C_LEAST_STEP)) return STATUS_STEP_NOT_FORWARDS;
  prepare(in[4], w);
  node_kernel(in[0], in[1], in[2], in[3], in[4], w->model, left, w->momentum, w->mass, w->A,
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
  status = share(torque, w->A, out[0], w->L, left, w);
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

/* Step of a robot with a floating base. The base is three prismatic and three revolute joints (chart.h) in its own frame at the
 * start of each step, where all six are zero. With R the rotation of that frame, s the slides and a the hinges, the base moves to
 * x + R s and R Rx(a1) Ry(a2) Rz(a3), with rates R s' and R E(a) a'. Derivatives are by d and phi in x + d, (1, phi/2) q and by the
 * joints. floating_model.h describes the robot. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "floating_model.h"
#include "chart.h"

enum {
  NP = N + 1, /* size of a position (base position, quaternion, joints); N: of rates (base velocity, angular velocity, joints) */
  FRAME = 12  /* further parameters of the tree: rotation (row by row) and position of its frame */
};

typedef struct {
  double alpha[NA], frame[FRAME];    /* parameters of the tree; must be contiguous */
  double p[N], pd[N], u[N];          /* start of its step */
  double p_end[N], pd_end[N];        /* end of its step */
  double P[2 * N], PD[2 * N];        /* start and end as a trajectory */
  double P_bar[2 * N], PD_bar[2 * N];
  double p_bar[N], pd_bar[N], u_bar[N], h_bar[1], alpha_bar[NA + FRAME]; /* gradients of the tree */
  double seed_p[N], seed_pd[N];
  double p_next[NP], pd_next[N];
  double by_alpha[2 * N * (NA + FRAME)];
  double tree[TREE_WORK];
} Work;

enum { WORK_SIZE = sizeof(Work) / sizeof(double) };

#include "floating_frame.h"

/* `along`: the first (0) or a later (1) step of a rollout in the same w; -1: a single step. */
static int advance(int along, const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                   double *p_next, double *pd_next, Work *w) {
  const double *in[5] = {w->p, w->pd, w->u, h, w->alpha};
  double *out[2] = {w->p_end, w->pd_end};
  int status = enter(p, pd, u, alpha, w);
  if (status == 0) {
    status = along < 0 ? CHART(joint_step)(in, out, w->tree) : CHART(onward)(along == 0, in, out, w->tree);
  }
  if (status == 0) {
    leave(p, p_next, pd_next, w);
  } else {
    memmove(p_next, p, NP * sizeof(double));
    memmove(pd_next, pd, N * sizeof(double));
  }
  return status;
}

HIDDEN int INNER(joint_step)(const double *const *in, double *const *out, double *work) {
  return advance(-1, in[0], in[1], in[2], in[3], in[4], out[0], out[1], (Work *)(void *)work);
}

/* Transforms `columns` columns of Jacobians of p_next and pd_next from the tree to the world, with the derivative of E(a) a' by a. */
static void rows_out(double *by_p, double *by_pd, int columns, const Work *w) {
  const double *R = w->frame, *a = w->p_end + 3, *rates = w->pd_end + 3;
  double E[9], C[9], x[3], y[3];
  int k, i;
  hinges(a, E);
  hinges_turn(a, rates, C);
  for (k = 0; k < columns; k++) {
    double *p = by_p + N * k, *pd = by_pd + N * k;
    turn(E, pd + 3, x);
    turn(C, p + 3, y);
    for (i = 0; i < 3; i++) x[i] += y[i];
    turn(R, x, pd + 3);
    turn(R, pd, x);
    memcpy(pd, x, sizeof(x));
    turn(E, p + 3, x);
    turn(R, x, p + 3);
    turn(R, p, x);
    memcpy(p, x, sizeof(x));
  }
}

/* Derivatives by the base's six coordinates, from the frame's axes to the world's: J R^T. */
static void columns_out(double *J, const Work *w) {
  const double *R = w->frame;
  int part, i, k;
  for (part = 0; part < 2; part++) {
    for (i = 0; i < N; i++) {
      double x[3], y[3];
      for (k = 0; k < 3; k++) x[k] = J[i + N * (3 * part + k)];
      turn(R, x, y);
      for (k = 0; k < 3; k++) J[i + N * (3 * part + k)] = y[k];
    }
  }
}

HIDDEN int INNER(jac_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[5] = {w->p, w->pd, w->u, in[3], w->alpha}, *rates = w->pd + 3;
  double *found[8] = {w->p_end, w->pd_end, out[2], out[3], out[4], out[5], out[6], out[7]};
  int status = enter(in[0], in[1], in[2], in[4], w), k, i;
  if (status == 0) status = CHART(jac_joint_step)(given, found, w->tree);
  if (status != 0) {
    memcpy(out[0], in[0], NP * sizeof(double));
    memcpy(out[1], in[1], N * sizeof(double));
    return status;
  }
  leave(in[0], out[0], out[1], w);
  for (k = 2; k < 8; k += 3) { /* the angular velocity is held, not the hinges' rates */
    double *by_p = out[k], *by_pd = out[k + 1];
    for (i = 0; i < N; i++) {
      by_p[i + 3 * N] += rates[2] * by_pd[i + 4 * N] - rates[1] * by_pd[i + 5 * N];
      by_p[i + 4 * N] -= rates[2] * by_pd[i + 3 * N];
    }
  }
  for (k = 2; k < 5; k++) rows_out(out[k], out[k + 3], N, w);
  for (k = 2; k < 8; k++) columns_out(out[k], w);
  return 0;
}

#if ALPHA_JACOBIAN
HIDDEN int INNER(jac_alpha_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[5] = {w->p, w->pd, w->u, in[3], w->alpha};
  double *found[2] = {w->by_alpha, w->by_alpha + N * (NA + FRAME)};
  int status = advance(-1, in[0], in[1], in[2], in[3], in[4], w->p_next, w->pd_next, w);
  if (status != 0) return status;
  status = CHART(jac_alpha_joint_step)(given, found, w->tree);
  if (status != 0) return status;
  memcpy(out[0], found[0], (size_t)N * NA * sizeof(double));
  memcpy(out[1], found[1], (size_t)N * NA * sizeof(double));
  rows_out(out[0], out[1], NA, w);
  return 0;
}
#endif

/* Reverse derivative of the step whose start and end are in w: from seeds at its end to gradients at its start; adds to alpha_bar
 * and h_bar unless they are null. */
static int pull_back(const double *h, const double *p_next_bar, const double *pd_next_bar, double *p_bar, double *pd_bar,
                     double *u_bar, double *alpha_bar, double *h_bar, Work *w) {
  const double *R = w->frame, *end = w->p_end, *rates = w->pd + 3;
  const int asked = alpha_bar != 0 && h_bar != 0;
  double *seed = w->P_bar, *seed_pd = w->PD_bar;
  const double *in[7] = {w->u, h, w->alpha, w->P, w->PD, seed, seed_pd};
  double *found[5] = {w->p_bar, w->pd_bar, w->u_bar, asked ? w->h_bar : 0, asked ? w->alpha_bar : 0};
  double E[9], C[9], x[3], y[3];
  int status, i, j;
  memset(seed, 0, sizeof w->P_bar);
  memset(seed_pd, 0, sizeof w->PD_bar);
  into(R, p_next_bar, seed + N);
  into(R, pd_next_bar, seed_pd + N);
  hinges(end + 3, E);
  hinges_turn(end + 3, w->pd_end + 3, C);
  turn_back(E, seed + N + 3, x);
  turn_back(C, seed_pd + N + 3, y);
  for (i = 0; i < 3; i++) seed[N + 3 + i] = x[i] + y[i];
  turn_back(E, seed_pd + N + 3, x);
  memcpy(seed_pd + N + 3, x, sizeof(x));
  memcpy(w->P, w->p, sizeof w->p);
  memcpy(w->P + N, w->p_end, sizeof w->p_end);
  memcpy(w->PD, w->pd, sizeof w->pd);
  memcpy(w->PD + N, w->pd_end, sizeof w->pd_end);
  status = CHART(vjp_trajectory)(1, in, found, w->tree);
  if (status != 0) return status;
  w->p_bar[3] += rates[2] * w->pd_bar[4] - rates[1] * w->pd_bar[5];
  w->p_bar[4] -= rates[2] * w->pd_bar[3];
  out_of(R, w->p_bar, p_bar);
  out_of(R, w->pd_bar, pd_bar);
  out_of(R, w->u_bar, u_bar);
  if (asked) {
    h_bar[0] += w->h_bar[0];
    for (j = 0; j < NA; j++) alpha_bar[j] += w->alpha_bar[j];
  }
  return 0;
}

HIDDEN int INNER(vjp_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const int status = advance(-1, in[0], in[1], in[2], in[3], in[4], w->p_next, w->pd_next, w);
  if (status != 0) return status;
  memcpy(w->seed_p, in[5], N * sizeof(double));
  memcpy(w->seed_pd, in[6], N * sizeof(double));
  out[3][0] = 0.0;
  memset(out[4], 0, NA * sizeof(double));
  return pull_back(in[3], w->seed_p, w->seed_pd, out[0], out[1], out[2], out[4], out[3], w);
}

#include "trajectory.h"

static int roll(int steps, const double *const *in, double *P, double *PD, double *const *noted, Work *w) {
  int k;
  memcpy(P, in[0], NP * sizeof(double));
  memcpy(PD, in[1], N * sizeof(double));
  for (k = 0; k < steps; k++) {
    double *p = P + (ptrdiff_t)k * NP, *pd = PD + (ptrdiff_t)k * N;
    const int status = advance(k > 0, p, pd, in[2] + (ptrdiff_t)k * N, in[3], in[4], p + NP, pd + N, w);
    if (status != 0) {
      hold_from(k, steps, P, PD);
      return status;
    }
#if UNILATERAL
    if (noted != 0) CHART(note)(k, in[3], noted, w->tree);
#else
    (void)noted;
#endif
  }
  return 0;
}

HIDDEN int INNER(rollout)(int steps, const double *const *in, double *const *out, double *work) {
  return roll(steps, in, out[0], out[1], 0, (Work *)(void *)work);
}

#if UNILATERAL
HIDDEN int INNER(rollout_impulses)(int steps, const double *const *in, double *const *out, double *work) {
  return roll(steps, in, out[0], out[1], out + 2, (Work *)(void *)work);
}
#endif

HIDDEN int INNER(vjp_trajectory)(int steps, const double *const *in, double *const *out, double *work) {
  const double *U = in[0], *h = in[1], *alpha = in[2], *P = in[3], *PD = in[4], *p_bars = in[5], *pd_bars = in[6];
  Work *w = (Work *)(void *)work;
  int k, j;
  if (out[3] != 0) out[3][0] = 0.0;
  if (out[4] != 0) memset(out[4], 0, NA * sizeof(double));
  memcpy(out[0], p_bars + (ptrdiff_t)steps * N, N * sizeof(double));
  memcpy(out[1], pd_bars + (ptrdiff_t)steps * N, N * sizeof(double));
  for (k = steps - 1; k >= 0; k--) {
    const ptrdiff_t at = (ptrdiff_t)k * N, place = (ptrdiff_t)k * NP;
    int status = enter(P + place, PD + at, U + at, alpha, w);
    if (status != 0) return status;
    seen(P + place, P + place + NP, w->p_end, w);
    seen_rates(PD + at + N, w->p_end, w->pd_end, w);
    memcpy(w->seed_p, out[0], N * sizeof(double));
    memcpy(w->seed_pd, out[1], N * sizeof(double));
    status = pull_back(h, w->seed_p, w->seed_pd, out[0], out[1], out[2] + at, out[4], out[3], w);
    if (status != 0) return status;
    for (j = 0; j < N; j++) {
      out[0][j] += p_bars[at + j];
      out[1][j] += pd_bars[at + j];
    }
  }
  return 0;
}

HIDDEN int INNER(vjp_rollout)(int steps, const double *const *in, double *const *out, double *work) {
  double *P = work + WORK_SIZE, *PD = P + (ptrdiff_t)NP * (steps + 1);
  const double *along[7] = {in[2], in[3], in[4], P, PD, in[5], in[6]};
  const int status = roll(steps, in, P, PD, 0, (Work *)(void *)work);
  return status != 0 ? status : INNER(vjp_trajectory)(steps, along, out, work);
}

#if ROWS
#include "floating_loops.h"
#endif

#if CONTACTS
HIDDEN int INNER(contact_force)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[5] = {w->p, w->pd, w->u, in[3], w->alpha}, *R = w->frame;
  int status = enter(in[0], in[1], in[2], in[4], w), k;
  if (status != 0) return status;
  status = CHART(contact_force)(given, out, w->tree);
  for (k = 0; k < CONTACTS; k++) {
    double force[3];
    turn(R, out[0] + 3 * k, force);
    memcpy(out[0] + 3 * k, force, sizeof(force));
  }
  return status;
}
#endif

HIDDEN int INNER(node_torque)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[5] = {w->P, w->p, w->p_end, in[3], w->alpha};
  double *found[1] = {w->p_bar};
  int status = see_from(in[1], in[4], w);
  if (status != 0) return status;
  memset(w->p, 0, 6 * sizeof(double));
  memcpy(w->p + 6, in[1] + 7, (N - 6) * sizeof(double));
  seen(in[1], in[0], w->P, w);
  seen(in[1], in[2], w->p_end, w);
  status = CHART(node_torque)(given, found, w->tree);
  if (status == 0) out_of(w->frame, found[0], out[0]);
  return status;
}

#define STEP_SIZE(name) ROBOT(JOINED_AS_THEY_ARE(name, _work_size))
#include "work_sizes.h"

/* Model predictive control by sequential quadratic programming over the emitted step: linearise, solve, line search. mpc_model.h
 * describes the robot.
 *
 * The options bound every loop and so the time of a call. To stop at any time, call with one program at a time and pass the plan
 * back as the guess. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "mpc_model.h"
#include "on_path.h"

#ifdef FOR_V3
#define WIDTH 4 /* doubles in a vector */
#elif defined(__GNUC__) && !defined(__TINYC__)
#define WIDTH 2
#else
#define WIDTH 1
#endif

enum {
  NP = N + FLOATING,        /* size of a position: floating base's position and quaternion; joints */
  BASE = FLOATING ? 6 : 0,  /* rates of the base: velocity, angular velocity */
  XP = NP + N,              /* output of a step: position, rates */
  X = 2 * N,                /* a state: coordinates of a position (mpc_coordinates.h), rates */
  Z = 3 * N,                /* a state and the previous torque */
  SOFT = 4 * N,             /* inequalities of a stage: torque and its change; then, from SOFT, softened state bounds; */
  SLACK = 8 * N,            /* then the signs of their slacks */
  PAIRS = 12 * N,
  ROWS = 4 * WIDTH,         /* of a block in products */
  LX = (X + 3) / 4 * 4,     /* lengths of padded columns */
  LN = (N + 3) / 4 * 4,
  LZ = (Z + 3) / 4 * 4,
  ACTIVE = MOST_ACTIVE,     /* size of the working set (mpc_active.h); a multiple of four */
  SIDE_BY_SIDE = 8,         /* steps per call of `map` */
  STAGE_BLOCKS = 6 * N * N,
  HOLDING = 4 * NP,         /* work of holding.h */
  NEAR = DISTANCES < MOST_NEAR ? DISTANCES : MOST_NEAR /* rows of distances in a stage */
};

enum { START, MOST, MOST_PROGRAM, GAP, STEP, SOFT_POSITION, SOFT_RATE }; /* options */
enum { LEAST, PRICE, HARD };                                          /* keep_apart */
enum { COST, DEFECT, CHANGE, ITERATIONS, PROGRAM_ITERATIONS, VIOLATION, LAST_GAP, LAST_STEP, LEAST_DISTANCE, INFO = LEAST_DISTANCE + (DISTANCES > 0) };

#include "mpc_products.h"
#include "mpc_riccati.h"
#include "mpc_qp.h"
#include "mpc_coordinates.h"

typedef struct { /* of a call; followed by its stages */
  Scratch scratch;
  double ends[SIDE_BY_SIDE * XP], blocks[SIDE_BY_SIDE * STAGE_BLOCKS]; /* outputs of steps, their Jacobians */
  double tip_rotation[9], tip_jacobian[6 * N], parts[HOLDING];
  double p[NP], pd[N], zeros[NP], moved[NP]; /* closed loops: the projected state */
#if DISTANCES
  double distances[DISTANCES], slopes[DISTANCES * N], first[DISTANCES]; /* first: at the start */
  double least, missed; /* over the nodes, of the last merit */
#endif
  double R[N], S[N]; /* weights of torques and their changes; 0 without a motor */
  double kernel[KERNEL_WORK];
} Work;

#include "holding.h"
#include "mpc_linearise.h"

/* The largest multiplier of the dynamics at the program's solution: the price of a defect. */
static double price(Problem *o) {
  double *y = o->scratch->y, *q = o->scratch->q, most = 0.0;
  int k, i;
  memset(q, 0, X * sizeof(double));
  for (k = o->count - 1; k >= 0; k--) {
    const Stage *s = &o->stage[k];
    for (i = 0; i < X; i++) {
      y[i] = q[i] + s->Q[i] * s->x[i] + s->g[i];
      if (o->d[SOFT + i] < C_MPC_NONE) y[i] += s->l[SOFT + i];
      if (o->d[SOFT + X + i] < C_MPC_NONE) y[i] -= s->l[SOFT + X + i];
    }
    if (FLOATING || o->tip) add_product(N, N, s->Qtip, LN, s->x, y, 0);
    near_forces(o, s, y);
    for (i = 0; i < X; i++)
      if (fabs(y[i]) > most) most = fabs(y[i]);
    memset(q, 0, X * sizeof(double));
    add_product(X, X, s->At, LX, y, q, 1);
  }
  return most;
}

/* Torque i after `step` of the step from the base (u_new) to the program's solution (u). */
static double torque_on_way(const Stage *s, int i, double step) {
  return motor[i] ? s->u_new[i] + step * (s->u[i] - s->u_new[i]) : 0.0;
}

/* Sets the iterate to base + step (solution - base); base: (x_new, u_new), solution: (x, u). */
static void move(const Call *a, const Problem *o, double step) {
  int k, i;
  for (k = 0; k < o->count; k++) {
    const Stage *s = &o->stage[k];
    double *u = a->U + (ptrdiff_t)k * N, *p = a->P + (ptrdiff_t)(k + 1) * NP, *pd = a->PD + (ptrdiff_t)(k + 1) * N;
    for (i = 0; i < N; i++) {
      u[i] = torque_on_way(s, i, step);
      pd[i] = s->x_new[N + i] + step * (s->x[N + i] - s->x_new[N + i]);
    }
    place(s->x_new, s->q, s->x, step, p);
    close_node(a, p, pd);
  }
}

static void keep_base(const Call *a, Problem *o) {
  int k;
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    const double *p = a->P + (ptrdiff_t)(k + 1) * NP;
    memcpy(s->u_new, a->U + (ptrdiff_t)k * N, N * sizeof(double));
    coordinates(p, a->PD + (ptrdiff_t)(k + 1) * N, s->x_new);
    if (FLOATING) memcpy(s->q, p + 3, sizeof s->q);
  }
}

/* `move` for the torques alone, with the states of a rollout (single shooting); 0 if a step fails. If a stop is hit within a step, the
 * linearisation holds on one side only, and with `move` the defects soon grow. */
static int roll(const Call *a, const Problem *o, double step) {
  int k, i;
  for (k = 0; k < o->count; k++) {
    for (i = 0; i < N; i++) a->U[(ptrdiff_t)k * N + i] = torque_on_way(&o->stage[k], i, step);
    if (step_values(a, k, a->P + (ptrdiff_t)(k + 1) * NP, a->PD + (ptrdiff_t)(k + 1) * N) != 0) return 0;
  }
  return 1;
}

/* Line search on the merit along the program's solution; *step: the step size. 0: no decrease; 2: converged, the predicted decrease is
 * below the tolerance. */
static int advance(const Call *a, Problem *o, double *step) {
  const double weight = C_MPC_PRICE * price(o) + C_MPC_FLOOR;
  const double goal = objective(o, 0, 1) + o->constant;
  double before, after;
  int k;
  keep_base(a, o);
  before = merit(a, o, weight);
  if (before - goal <= a->options[GAP] * before) {
    move(a, o, 1.0);
    after = merit(a, o, weight);
    if (!(after >= 0.0 && after <= before * (1.0 + a->options[GAP]))) move(a, o, 0.0);
    return 2;
  }
  for (*step = 1.0, k = 0; k < C_MPC_HALVINGS; k++, *step *= 0.5) {
    const double least = before - C_MPC_DECREASE * *step * (before - goal) + C_MPC_ROUNDING * fabs(before);
    move(a, o, *step);
    after = merit(a, o, weight);
    if (after >= 0.0 && after <= least) return 1;
    if (!STOPS || !roll(a, o, *step)) continue;
    after = merit(a, o, weight);
    if (after >= 0.0 && after <= least) return 1;
  }
  move(a, o, 0.0);
  *step = 0.0;
  return 0;
}

/* Clamps the torques to their bounds. */
static void bound_torques(const Call *a, const Problem *o) {
  int k, i;
  for (k = 0; k < o->count; k++)
    for (i = 0; i < N; i++) {
      double *u = a->U + (ptrdiff_t)k * N;
      u[i] = allowed(o->d, i, u[i], k ? u[i - N] : o->u_last[i]);
    }
}

/* First guess. start 0: the given plan, 1: shifted by one step, 2: at rest in the measured pose with the holding torque. */
static void begin(const Call *a, const Problem *o, int start, const double *P, const double *PD, const double *U) {
  const int on = start == 1;
  const size_t size = N * sizeof(double), pose = NP * sizeof(double);
  int k;
  if (start < 2) {
    memcpy(a->U, U + (on ? N : 0), (size_t)(o->count - on) * size);
    memcpy(a->P, P + (on ? NP : 0), (size_t)(o->count + 1 - on) * pose);
    memcpy(a->PD, PD + (on ? N : 0), (size_t)(o->count + 1 - on) * size);
  } else {
    (void)hold(a->p, a->alpha, a->w->parts, a->w->kernel, a->U);
    for (k = 0; k <= o->count; k++) {
      if (k > 0 && k < o->count) memcpy(a->U + (ptrdiff_t)k * N, a->U, size);
      memcpy(a->P + (ptrdiff_t)k * NP, a->p, pose);
      memset(a->PD + (ptrdiff_t)k * N, 0, size);
    }
  }
  if (on) {
    const ptrdiff_t last = (ptrdiff_t)o->count * NP, end = (ptrdiff_t)o->count * N;
    memcpy(a->U + end - N, U + end - N, size);
    memcpy(a->P + last, P + last, pose);
    memcpy(a->PD + end, PD + end, size);
    if (step_values(a, o->count - 1, a->P + last, a->PD + end) != 0) memcpy(a->P + last, P + last, pose);
  }
  memcpy(a->P, a->p, pose);
  memcpy(a->PD, a->pd, size);
  bound_torques(a, o);
  for (k = 1; k <= o->count; k++) close_node(a, a->P + (ptrdiff_t)k * NP, a->PD + (ptrdiff_t)k * N);
}

/* Right-hand sides of the inequalities; 0 if bounds contradict each other. */
static int bounds(const Call *a, Problem *o) {
  const double *low = a->bounds, *high = low + N, *change = high + N, *p_low = change + N, *p_high = p_low + N;
  const double *rate = p_high + N;
  int i;
  for (i = 0; i < N; i++) {
    o->d[i] = high[i];
    o->d[N + i] = -low[i];
    o->d[2 * N + i] = o->d[3 * N + i] = change[i];
    o->d[SOFT + i] = p_high[i];
    o->d[SOFT + X + i] = -p_low[i];
    o->d[SOFT + N + i] = o->d[SOFT + X + N + i] = rate[i];
    o->soft[i] = a->options[SOFT_POSITION];
    o->soft[N + i] = a->options[SOFT_RATE];
    if (!(low[i] < high[i] && change[i] > 0.0 && p_low[i] < p_high[i] && rate[i] > 0.0)) return 0;
    o->u_last[i] = clamp(a->u_last[i], low[i], high[i]);
    if (!motor[i]) {
      o->d[i] = o->d[N + i] = o->d[2 * N + i] = o->d[3 * N + i] = C_MPC_NONE;
      o->u_last[i] = 0.0;
    }
  }
  return o->soft[0] > 0.0 && o->soft[N] > 0.0;
}

/* Outputs of a call without a plan: the measured pose, zero rates, the previous torque clamped to its bounds. */
static int refuse(const Call *a, int count, int status) {
  int k, i;
  for (k = 0; k <= count; k++) {
    for (i = 0; i < NP; i++) a->P[(ptrdiff_t)k * NP + i] = fabs(a->p[i]) <= C_HUGE ? a->p[i] : 0.0;
    for (i = 0; i < N; i++) {
      double u = motor[i] && fabs(a->u_last[i]) <= C_HUGE ? a->u_last[i] : 0.0;
      if (motor[i] && a->bounds[i] <= a->bounds[N + i]) u = clamp(u, a->bounds[i], a->bounds[N + i]);
      if (k < count) a->U[(ptrdiff_t)k * N + i] = fabs(u) <= C_HUGE ? u : 0.0;
      a->PD[(ptrdiff_t)k * N + i] = 0.0;
    }
  }
  return status;
}

/* Sets bounds and weights of the problem; 0 unless inputs are finite, bounds consistent, weights not negative and base quaternions of
 * unit length. */
static int usable(const Call *a, Problem *o) {
  const size_t nodes = (size_t)o->count + 1;
  size_t k;
  int i;
  if (!all_finite(a->p, NP) || !all_finite(a->pd, N) || !all_finite(a->u_last, N) || !all_finite(a->P_ref, nodes * NP) ||
      !all_finite(a->PD_ref, nodes * N) || !all_finite(a->U_ref, (nodes - 1) * N) || !all_finite(a->tip_ref, nodes * 3) ||
      !all_finite(a->weights, 6 * N) || !all_finite(a->tip_weights, 6) || !all_finite(a->bounds, 6 * N) ||
      !all_finite(a->options, 7) || !all_finite(a->h, 1) || !all_finite(a->alpha, NA) || !bounds(a, o)) return 0;
  for (k = 0; FLOATING && k < nodes; k++)
    if (!unit(a->P_ref + k * NP + 3)) return 0;
  if (FLOATING && !unit(a->p + 3)) return 0;
  for (i = 0; i < 6 * N; i++)
    if (a->weights[i] < 0.0) return 0;
  for (o->tip = 0, i = 0; i < 6; i++) {
    if (a->tip_weights[i] < 0.0) return 0;
    if (a->tip_weights[i] > 0.0) o->tip = 1;
  }
  for (i = 0; i < N; i++) {
    a->w->R[i] = motor[i] ? a->weights[2 * N + i] : 0.0;
    a->w->S[i] = motor[i] ? a->weights[3 * N + i] : 0.0;
  }
  return 1;
}

/* The largest change of a torque by the program's solution, relative to 1 + |torque|. */
static double largest_change(const Call *a, const Problem *o) {
  double change = 0.0;
  int k, i;
  for (k = 0; k < o->count; k++)
    for (i = 0; i < N; i++) {
      const double moved = fabs(o->stage[k].u[i] - a->U[(ptrdiff_t)k * N + i]) / (1.0 + fabs(o->stage[k].u[i]));
      if (!(moved <= change)) change = moved;
    }
  return change;
}

/* The largest violation of a state bound. */
static double violation(const Call *a, const Problem *o) {
  double most = 0.0, x[X];
  int k, i;
  for (k = 1; k <= o->count; k++) {
    coordinates(a->P + (ptrdiff_t)k * NP, a->PD + (ptrdiff_t)k * N, x);
    for (i = 0; i < X; i++) {
      if (x[i] - o->d[SOFT + i] > most) most = x[i] - o->d[SOFT + i];
      if (-o->d[SOFT + X + i] - x[i] > most) most = -o->d[SOFT + X + i] - x[i];
    }
  }
  return most;
}

/* The cost of the plan. Torques whose program has not seen the curvature of a hard row of distances that they break go back towards the
 * guess's, half of the way and so on (*step), with the states of a rollout, if `on_way`. */
static double shortened(const Call *a, const Problem *o, int on_way, double *step) {
  double cost = merit(a, o, 0.0);
  int half;
  for (half = 0; on_way && !near_held(a, o) && half < C_MPC_HALVINGS; half++) {
    *step *= 0.5;
    if (!roll(a, o, *step)) continue;
    bound_torques(a, o);
    cost = merit(a, o, 0.0);
  }
  return cost;
}

/* Sequential quadratic programming from the guess; writes info, returns a status. */
static int plan(Call *a, Problem *o, const double *const *in) {
  double gap = 0.0, defect, step = 1.0, change = 0.0;
  const size_t nodes = (size_t)o->count + 1;
  const double *const P = in[P_GUESS_IN], *const PD = in[PD_GUESS_IN], *const U = in[U_GUESS_IN];
  int iteration, status = 0, start = whole(a->options[START]), inner, total = 0, limited;
  if (start < 2 && !(all_finite(P, nodes * NP) && all_finite(PD, nodes * N) && all_finite(U, (nodes - 1) * N))) start = 2;
  begin(a, o, start, P, PD, U);
  for (iteration = 1;; iteration++) {
    defect = linearise(a, o);
    if (defect < 0.0 && iteration == 1 && start < 2) {
      begin(a, o, start = 2, P, PD, U);
      defect = linearise(a, o);
    }
    if (defect < 0.0) return STATUS_MPC_STEP_FAILED;
    status = solve_program(o, whole(a->options[MOST_PROGRAM]), a->options[GAP], &inner, &gap);
    total += inner;
    if (status == 2) return STATUS_MPC_NOT_SOLVED;
    change = largest_change(a, o);
    limited = iteration >= whole(a->options[MOST]);
    if (whole(a->options[MOST]) <= 1) {
      keep_base(a, o);
      move(a, o, 1.0);
    } else {
      const int moved = advance(a, o, &step);
      if (moved == 0 && change > C_MPC_STUCK) status = 1;
      if (moved != 1) break;
    }
    if (change * step <= a->options[STEP]) break;
    if (limited && iteration > 1) status = 1;
    if (limited) break;
  }
  bound_torques(a, o);
  if (!all_finite(a->U, (nodes - 1) * N) || !all_finite(a->P, nodes * NP) || !all_finite(a->PD, nodes * N))
    return STATUS_MPC_NOT_SOLVED;
  a->info[COST] = shortened(a, o, whole(a->options[MOST]) <= 1, &step);
  a->info[DEFECT] = defect;
  a->info[CHANGE] = change;
  a->info[ITERATIONS] = iteration;
  a->info[PROGRAM_ITERATIONS] = total;
  a->info[VIOLATION] = violation(a, o);
  a->info[LAST_GAP] = gap;
  a->info[LAST_STEP] = step;
  if (!near_held(a, o)) return STATUS_MPC_TOO_NEAR;
  return status == 1 || (whole(a->options[MOST]) <= 1 && step < 1.0) ? STATUS_MPC_LIMITED : STATUS_OK;
}

HIDDEN int ON_PATH(mpc)(int steps, const double *const *in, double *const *out, double *work) {
  Problem problem, *const o = &problem;
  Call call, *const a = &call;
  Work *const w = (Work *)(void *)work;
  int status;
  a->p = in[P_IN], a->pd = in[PD_IN], a->u_last = in[U_LAST_IN], a->P_ref = in[P_REF_IN], a->PD_ref = in[PD_REF_IN];
  a->U_ref = in[U_REF_IN], a->tip_ref = in[TIP_REF_IN], a->weights = in[WEIGHTS_IN], a->tip_weights = in[TIP_WEIGHTS_IN];
  a->bounds = in[BOUNDS_IN], a->options = in[OPTIONS_IN], a->h = in[H_IN], a->alpha = in[ALPHA_IN];
  a->U = out[0], a->P = out[1], a->PD = out[2], a->info = out[3];
  memset(a->info, 0, INFO * sizeof(double));
  if (steps < 1) return refuse(a, 0, STATUS_MPC_BAD_INPUT);
  a->w = w;
  o->count = steps;
  o->scratch = &w->scratch;
  o->stage = (Stage *)(void *)(w + 1);
  o->R = w->R, o->S = w->S;
  if (a->h[0] < C_LEAST_STEP) return refuse(a, steps, STATUS_STEP_NOT_FORWARDS);
  if (!usable(a, o)) return refuse(a, steps, STATUS_MPC_BAD_INPUT);
  if (CLOSED) {
    memcpy(w->p, a->p, sizeof w->p);
    memcpy(w->pd, a->pd, sizeof w->pd);
    memset(w->zeros, 0, sizeof w->zeros);
    if (close_node(a, w->p, w->pd) != 0) return refuse(a, steps, STATUS_MPC_STEP_FAILED);
    a->p = w->p, a->pd = w->pd;
  }
  coordinates(a->p, a->pd, o->x0);
  if (!near_begin(a, o, in)) return refuse(a, steps, STATUS_MPC_BAD_INPUT);
  status = plan(a, o, in);
  return status == STATUS_OK || status == STATUS_MPC_LIMITED ? status : refuse(a, steps, status);
}

#ifndef FOR_V3
int ROBOT(mpc_work_size)(int steps) {
  const int head = (int)(sizeof(Work) / sizeof(double)), each = (int)(sizeof(Stage) / sizeof(double));
  if (steps < 0) steps = 0;
  if (steps > (INT_MAX - head) / each) return -1; /* overflow of int */
  return head + steps * each;
}
#endif

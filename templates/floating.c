/* A step of a robot with a floating base, by a tree that stands on three slides and three hinges (chart.h), seen from the
 * base's frame at the start of each step: there they are at zero. With R its rotation, s the slides and a the hinges, the base
 * goes to x + R s and R Rx(a1) Ry(a2) Rz(a3), at rates R s' and R E(a) a'. Derivatives are by x + d, (1, phi/2) q and the joints.
 * floating_model.h says what a robot has. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "floating_model.h"
#include "chart.h"

enum {
  NP = N + 1, /* numbers of a position: place and quaternion of the base, joints; N: rates: velocity and angular velocity of it, joints */
  FRAME = 12  /* what the tree takes besides: rotation by rows, and place, of the frame that it is seen from */
};

typedef struct {
  double alpha[NA], frame[FRAME];    /* the tree's parameters, which lie one behind the other */
  double p[N], pd[N], u[N];          /* its start */
  double p_end[N], pd_end[N];        /* its state at the end */
  double P[2 * N], PD[2 * N];        /* both as a trajectory */
  double P_bar[2 * N], PD_bar[2 * N];
  double p_bar[N], pd_bar[N], u_bar[N], h_bar[1], alpha_bar[NA + FRAME]; /* what the tree gives */
  double seed_p[N], seed_pd[N];
  double p_next[NP], pd_next[N];
  double by_alpha[2 * N * (NA + FRAME)];
  double tree[TREE_WORK];
} Work;

enum { WORK_SIZE = sizeof(Work) / sizeof(double) };

/* A rotation by rows, in w, and what the tree takes behind the parameters. Not 0: no unit quaternion. */
static int see_from(const double *p, const double *alpha, Work *w) {
  const double *q = p + 3;
  double *frame = w->frame;
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  double s, x, y, z, a, b, d;
  if (!(fabs(square - 1.0) <= C_UNIT)) return STATUS_BASE_QUATERNION;
  s = 2.0 / square;
  x = q[1], y = q[2], z = q[3];
  a = s * q[0] * x, b = s * q[0] * y, d = s * q[0] * z;
  memcpy(w->alpha, alpha, NA * sizeof(double));
  frame[0] = 1.0 - s * (y * y + z * z), frame[1] = s * x * y - d, frame[2] = s * x * z + b;
  frame[3] = s * x * y + d, frame[4] = 1.0 - s * (x * x + z * z), frame[5] = s * y * z - a;
  frame[6] = s * x * z - b, frame[7] = s * y * z + a, frame[8] = 1.0 - s * (x * x + y * y);
  memcpy(frame + 9, p, 3 * sizeof(double));
  return 0;
}

/* y = R x, or R^T x. */
static void turn(const double *R, const double *x, double *y) {
  int i;
  for (i = 0; i < 3; i++) y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}
static void turn_back(const double *R, const double *x, double *y) {
  int i;
  for (i = 0; i < 3; i++) y[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

/* The same of the base's six, with the joints as they are. */
static void out_of(const double *R, const double *x, double *y) {
  turn(R, x, y);
  turn(R, x + 3, y + 3);
  memcpy(y + 6, x + 6, (N - 6) * sizeof(double));
}
static void into(const double *R, const double *x, double *y) {
  turn_back(R, x, y);
  turn_back(R, x + 3, y + 3);
  memcpy(y + 6, x + 6, (N - 6) * sizeof(double));
}

/* E(a) by rows: what the hinges' rates make of the angular velocity; and the derivative of E(a) r by a. */
static void hinges(const double *a, double *E) {
  const double c1 = cos(a[0]), s1 = sin(a[0]), c2 = cos(a[1]), s2 = sin(a[1]);
  E[0] = 1.0, E[1] = 0.0, E[2] = s2;
  E[3] = 0.0, E[4] = c1, E[5] = -s1 * c2;
  E[6] = 0.0, E[7] = s1, E[8] = c1 * c2;
}
static void hinges_turn(const double *a, const double *r, double *C) {
  const double c1 = cos(a[0]), s1 = sin(a[0]), c2 = cos(a[1]), s2 = sin(a[1]);
  C[0] = 0.0, C[1] = c2 * r[2], C[2] = 0.0;
  C[3] = -s1 * r[1] - c1 * c2 * r[2], C[4] = s1 * s2 * r[2], C[5] = 0.0;
  C[6] = c1 * r[1] - s1 * c2 * r[2], C[7] = -c1 * s2 * r[2], C[8] = 0.0;
}

static void multiply(const double *p, const double *q, double *r) {
  r[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  r[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  r[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  r[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

/* Start of a step as the tree has it. */
static int enter(const double *p, const double *pd, const double *u, const double *alpha, Work *w) {
  if (see_from(p, alpha, w) != 0) return STATUS_BASE_QUATERNION;
  memset(w->p, 0, 6 * sizeof(double));
  memcpy(w->p + 6, p + 7, (N - 6) * sizeof(double));
  into(w->frame, pd, w->pd);
  into(w->frame, u, w->u);
  return 0;
}

/* What the tree's end is in the world. */
static void leave(const double *p, double *p_next, double *pd_next, const Work *w) {
  const double *R = w->frame, *s = w->p_end, *a = s + 3, *rates = w->pd_end;
  double step[3], q[4], E[9], turned[3], half[3][2], size;
  int i;
  for (i = 0; i < 3; i++) half[i][0] = cos(0.5 * a[i]), half[i][1] = sin(0.5 * a[i]);
  {
    const double x[4] = {half[0][0], half[0][1], 0.0, 0.0}, y[4] = {half[1][0], 0.0, half[1][1], 0.0};
    const double z[4] = {half[2][0], 0.0, 0.0, half[2][1]};
    double xy[4], all[4];
    multiply(x, y, xy);
    multiply(xy, z, all);
    multiply(p + 3, all, q);
  }
  size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  turn(R, s, step);
  for (i = 0; i < 3; i++) p_next[i] = p[i] + step[i];
  for (i = 0; i < 4; i++) p_next[3 + i] = q[i] / size;
  memcpy(p_next + 7, s + 6, (N - 6) * sizeof(double));
  hinges(a, E);
  turn(E, rates + 3, turned);
  turn(R, rates, pd_next);
  turn(R, turned, pd_next + 3);
  memcpy(pd_next + 6, rates + 6, (N - 6) * sizeof(double));
}

/* A position as the tree has it, seen from w's frame, whose base is at p. */
static void seen(const double *p, const double *other, double *s, const Work *w) {
  const double *R = w->frame;
  const double back[4] = {p[3], -p[4], -p[5], -p[6]};
  double step[3], q[4], S[9], f;
  int i;
  for (i = 0; i < 3; i++) step[i] = other[i] - p[i];
  turn_back(R, step, s);
  multiply(back, other + 3, q);
  f = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  S[0] = 1.0 - f * (q[2] * q[2] + q[3] * q[3]), S[1] = f * (q[1] * q[2] - q[0] * q[3]), S[2] = f * (q[1] * q[3] + q[0] * q[2]);
  S[5] = f * (q[2] * q[3] - q[0] * q[1]), S[8] = 1.0 - f * (q[1] * q[1] + q[2] * q[2]);
  s[3] = atan2(-S[5], S[8]);
  s[4] = atan2(S[2], sqrt(S[5] * S[5] + S[8] * S[8]));
  s[5] = atan2(-S[1], S[0]);
  memcpy(s + 6, other + 7, (N - 6) * sizeof(double));
}

/* Rates at that position as the tree has them. */
static void seen_rates(const double *pd, const double *s, double *rates, const Work *w) {
  const double *R = w->frame;
  double E[9], x, y;
  into(R, pd, rates);
  hinges(s + 3, E);
  x = E[4] * rates[4] + E[7] * rates[5];
  y = (E[4] * rates[5] - E[7] * rates[4]) / cos(s[4]);
  rates[3] -= E[2] * y;
  rates[4] = x;
  rates[5] = y;
}

/* `along`: a step of several with the same w, the first (0) or a later one (1); -1: by itself. */
static int advance(int along, const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                   double *p_next, double *pd_next, Work *w) {
  const double *in[5];
  double *out[2];
  int status = enter(p, pd, u, alpha, w);
  if (status == 0) {
    in[0] = w->p, in[1] = w->pd, in[2] = w->u, in[3] = h, in[4] = w->alpha;
    out[0] = w->p_end, out[1] = w->pd_end;
    status = along < 0 ? CHART(joint_step)(in, out, w->tree)
                       : CHART(onward)(along == 0, in, out, w->tree);
  }
  if (status == 0) {
    leave(p, p_next, pd_next, w);
  } else {
    memmove(p_next, p, NP * sizeof(double));
    memmove(pd_next, pd, N * sizeof(double));
  }
  return status;
}

int ROBOT(joint_step)(const double *const *in, double *const *out, double *work) {
  return advance(-1, in[0], in[1], in[2], in[3], in[4], out[0], out[1], (Work *)(void *)work);
}

/* Rows of both ends of `columns` columns, the tree's in the world's: of the angular velocity also by the hinges. */
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

/* Columns by the base's six in world axes: J R^T. */
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

int ROBOT(jac_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[5], *rates = w->pd + 3;
  double *found[8];
  int status = enter(in[0], in[1], in[2], in[4], w), k, i;
  if (status == 0) {
    given[0] = w->p, given[1] = w->pd, given[2] = w->u, given[3] = in[3], given[4] = w->alpha;
    found[0] = w->p_end, found[1] = w->pd_end;
    for (k = 2; k < 8; k++) found[k] = out[k];
    status = CHART(jac_joint_step)(given, found, w->tree);
  }
  if (status != 0) {
    memcpy(out[0], in[0], NP * sizeof(double));
    memcpy(out[1], in[1], N * sizeof(double));
    return status;
  }
  leave(in[0], out[0], out[1], w);
  for (k = 2; k < 8; k += 3) { /* a turn of the base leaves its angular velocity, not the rates of the hinges */
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
int ROBOT(jac_alpha_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[5];
  double *found[2], *p_next = w->p_next, *pd_next = w->pd_next;
  int status = advance(-1, in[0], in[1], in[2], in[3], in[4], p_next, pd_next, w);
  if (status != 0) return status;
  given[0] = w->p, given[1] = w->pd, given[2] = w->u, given[3] = in[3], given[4] = w->alpha;
  found[0] = w->by_alpha, found[1] = found[0] + N * (NA + FRAME);
  status = CHART(jac_alpha_joint_step)(given, found, w->tree);
  if (status != 0) return status;
  memcpy(out[0], found[0], (size_t)N * NA * sizeof(double));
  memcpy(out[1], found[1], (size_t)N * NA * sizeof(double));
  rows_out(out[0], out[1], NA, w);
  return 0;
}
#endif

/* Pulls seeds at the end of a step back to its start, with the tree's start and end in w; adds to alpha_bar and h_bar where they
 * are asked for. */
static int pull_back(const double *h, const double *p_next_bar, const double *pd_next_bar, double *p_bar, double *pd_bar,
                     double *u_bar, double *alpha_bar, double *h_bar, Work *w) {
  const double *R = w->frame, *end = w->p_end, *rates = w->pd + 3;
  const int asked = alpha_bar != 0 && h_bar != 0;
  double *seed = w->P_bar, *seed_pd = w->PD_bar, *found[5];
  const double *in[7];
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
  in[0] = w->u, in[1] = h, in[2] = w->alpha, in[3] = w->P, in[4] = w->PD, in[5] = seed, in[6] = seed_pd;
  found[0] = w->p_bar, found[1] = w->pd_bar, found[2] = w->u_bar;
  found[3] = asked ? w->h_bar : 0, found[4] = asked ? w->alpha_bar : 0;
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

int ROBOT(vjp_joint_step)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const int status = advance(-1, in[0], in[1], in[2], in[3], in[4], w->p_next, w->pd_next, w);
  if (status != 0) return status;
  memcpy(w->seed_p, in[5], N * sizeof(double));
  memcpy(w->seed_pd, in[6], N * sizeof(double));
  out[3][0] = 0.0;
  memset(out[4], 0, NA * sizeof(double));
  return pull_back(in[3], w->seed_p, w->seed_pd, out[0], out[1], out[2], out[4], out[3], w);
}

static int roll(int steps, const double *const *in, double *P, double *PD, double *const *noted, Work *w) {
  int k;
  memcpy(P, in[0], NP * sizeof(double));
  memcpy(PD, in[1], N * sizeof(double));
  for (k = 0; k < steps; k++, P += NP, PD += N) {
    const int status = advance(k > 0, P, PD, in[2] + (ptrdiff_t)k * N, in[3], in[4], P + NP, PD + N, w);
    if (status != 0) {
      for (k++; k < steps; k++) { /* the rest holds the last good state */
        P += NP, PD += N;
        memcpy(P + NP, P, NP * sizeof(double));
        memcpy(PD + N, PD, N * sizeof(double));
      }
      return status;
    }
#if SIDED
    if (noted != 0) CHART(note)(k, in[3], noted, w->tree);
#else
    (void)noted;
#endif
  }
  return 0;
}

int ROBOT(rollout)(int steps, const double *const *in, double *const *out, double *work) {
  return roll(steps, in, out[0], out[1], 0, (Work *)(void *)work);
}

#if SIDED
int ROBOT(rollout_impulses)(int steps, const double *const *in, double *const *out, double *work) {
  return roll(steps, in, out[0], out[1], out + 2, (Work *)(void *)work);
}
#endif

int ROBOT(vjp_trajectory)(int steps, const double *const *in, double *const *out, double *work) {
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

int ROBOT(vjp_rollout)(int steps, const double *const *in, double *const *out, double *work) {
  double *trajectory[2];
  const double *along[7];
  int status;
  trajectory[0] = work + WORK_SIZE;
  trajectory[1] = trajectory[0] + (ptrdiff_t)NP * (steps + 1);
  status = roll(steps, in, trajectory[0], trajectory[1], 0, (Work *)(void *)work);
  if (status != 0) return status;
  along[0] = in[2], along[1] = in[3], along[2] = in[4];
  along[3] = trajectory[0], along[4] = trajectory[1];
  along[5] = in[5], along[6] = in[6];
  return ROBOT(vjp_trajectory)(steps, along, out, work);
}

#if LOOPS
/* What of the base's angular acceleration is not the hinges': E moves with them. */
static void add_moving(const double *rates, double factor, double *pdd) {
  pdd[3] += factor * rates[4] * rates[5];
  pdd[4] -= factor * rates[3] * rates[5];
  pdd[5] += factor * rates[3] * rates[4];
}

#if !CONTACTS
int ROBOT(forward_dynamics)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[4], *R = w->frame;
  double *found[1];
  int status = enter(in[0], in[1], in[2], in[3], w);
  if (status != 0) return status;
  given[0] = w->p, given[1] = w->pd, given[2] = w->u, given[3] = w->alpha;
  found[0] = w->p_bar;
  status = CHART(forward_dynamics)(given, found, w->tree);
  add_moving(given[1], status == 0 ? 1.0 : 0.0, found[0]);
  out_of(R, found[0], out[0]);
  return status;
}

int ROBOT(loop_force)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[4];
  const int status = enter(in[0], in[1], in[2], in[3], w);
  if (status != 0) return status;
  given[0] = w->p, given[1] = w->pd, given[2] = w->u, given[3] = w->alpha;
  return CHART(loop_force)(given, out, w->tree);
}
#endif

int ROBOT(inverse_dynamics)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[4], *R = w->frame;
  double *found[3];
  int status = enter(in[0], in[1], in[2], in[3], w);
  if (status != 0) return status;
  given[0] = w->p, given[1] = w->pd, given[2] = w->u, given[3] = w->alpha;
  add_moving(given[1], -1.0, w->u);
  found[0] = out[0], found[1] = out[1], found[2] = w->p_bar;
  status = CHART(inverse_dynamics)(given, found, w->tree);
  out_of(R, found[2], out[2]);
  return status;
}

int ROBOT(close_loops)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  /* The axes of a fixed base would be the frame's: it is kept as a whole, or free. */
  const double *given[3];
  double *found[1], *fixed = w->pd_bar;
  int status = see_from(in[0], in[2], w), k, kept = 0;
  if (status != 0) return status;
  memset(w->p, 0, 6 * sizeof(double));
  memcpy(w->p + 6, in[0] + 7, (N - 6) * sizeof(double));
  for (k = 0; k < 6; k++) kept = kept || in[1][k] != 0.0;
  for (k = 0; k < N; k++) fixed[k] = k < 6 ? kept : in[1][k];
  given[0] = w->p, given[1] = fixed, given[2] = w->alpha;
  found[0] = w->p_end;
  status = CHART(close_loops)(given, found, w->tree);
  memset(w->pd_end, 0, N * sizeof(double));
  leave(in[0], out[0], w->pd_next, w);
  return status;
}

int ROBOT(close_rates)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[3], *R = w->frame;
  double *found[1];
  int status = enter(in[0], in[1], in[1], in[2], w);
  if (status != 0) return status;
  given[0] = w->p, given[1] = w->pd, given[2] = w->alpha;
  found[0] = w->p_end;
  status = CHART(close_rates)(given, found, w->tree);
  out_of(R, found[0], out[0]);
  return status;
}
#endif

#if CONTACTS
int ROBOT(contact_force)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[5], *R = w->frame;
  int status = enter(in[0], in[1], in[2], in[4], w), k;
  if (status != 0) return status;
  given[0] = w->p, given[1] = w->pd, given[2] = w->u, given[3] = in[3], given[4] = w->alpha;
  status = CHART(contact_force)(given, out, w->tree);
  for (k = 0; k < CONTACTS; k++) {
    double force[3];
    turn(R, out[0] + 3 * k, force);
    memcpy(out[0] + 3 * k, force, sizeof(force));
  }
  return status;
}
#endif

int ROBOT(node_torque)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[5], *R = w->frame;
  double *found[1];
  int status = see_from(in[1], in[4], w);
  if (status != 0) return status;
  memset(w->p, 0, 6 * sizeof(double));
  memcpy(w->p + 6, in[1] + 7, (N - 6) * sizeof(double));
  seen(in[1], in[0], w->P, w);
  seen(in[1], in[2], w->p_end, w);
  given[0] = w->P, given[1] = w->p, given[2] = w->p_end, given[3] = in[3], given[4] = w->alpha;
  found[0] = w->p_bar;
  status = CHART(node_torque)(given, found, w->tree);
  if (status == 0) out_of(R, found[0], out[0]);
  return status;
}

int ROBOT(joint_step_work_size)(void) { return WORK_SIZE; }
int ROBOT(jac_joint_step_work_size)(void) { return WORK_SIZE; }
int ROBOT(vjp_joint_step_work_size)(void) { return WORK_SIZE; }
int ROBOT(node_torque_work_size)(void) { return WORK_SIZE; }
int ROBOT(rollout_work_size)(int steps) { return (void)steps, WORK_SIZE; }
int ROBOT(vjp_trajectory_work_size)(int steps) { return (void)steps, WORK_SIZE; }
int ROBOT(vjp_rollout_work_size)(int steps) {
  const int head = WORK_SIZE + N + NP, each = N + NP;
  if (steps < 0) steps = 0;
  if (steps > (INT_MAX - head) / each) return -1; /* more than an int counts */
  return head + steps * each;
}
#if ALPHA_JACOBIAN
int ROBOT(jac_alpha_joint_step_work_size)(void) { return WORK_SIZE; }
#endif
#if SIDED
int ROBOT(rollout_impulses_work_size)(int steps) { return (void)steps, WORK_SIZE; }
#endif
#if CONTACTS
int ROBOT(contact_force_work_size)(void) { return WORK_SIZE; }
#endif
#if LOOPS
int ROBOT(inverse_dynamics_work_size)(void) { return WORK_SIZE; }
int ROBOT(close_loops_work_size)(void) { return WORK_SIZE; }
int ROBOT(close_rates_work_size)(void) { return WORK_SIZE; }
#if !CONTACTS
int ROBOT(forward_dynamics_work_size)(void) { return WORK_SIZE; }
int ROBOT(loop_force_work_size)(void) { return WORK_SIZE; }
#endif
#endif

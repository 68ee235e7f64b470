/* Linearised model and quadratic cost of mpc.c's stages at an iterate. */

typedef struct { /* arguments of mpc */
  const double *p, *pd, *u_last, *P_ref, *PD_ref, *U_ref, *tip_ref, *weights, *tip_weights, *bounds, *options, *h, *alpha;
  const double *const *obstacles;
  double *U, *P, *PD, *info;
  Work *w;
} Call;

static int all_finite(const double *x, size_t count) {
  size_t k;
  for (k = 0; k < count; k++)
    if (!(fabs(x[k]) <= C_HUGE)) return 0;
  return 1;
}

#include "mpc_clearance.h"

static int whole(double value) { return (int)clamp(value, 0.0, C_MPC_MOST); }

/* Weights of positions and rates at node k = 1 .. count; the last node has its own (terminal cost). */
static const double *node_weights(const Call *a, const Problem *o, int k) {
  return a->weights + (k == o->count ? 4 * N : 0);
}

static const double *tip_weights(const Call *a, const Problem *o, int k) {
  return a->tip_weights + (k == o->count ? 3 : 0);
}

/* Projects a state onto the closed loops; if that fails it becomes NaN, which makes the step fail. */
static int close_node(const Call *a, double *p, double *pd) {
#if CLOSED
  const double *in[3];
  double *out[1];
  int status;
  in[0] = p, in[1] = a->w->zeros, in[2] = a->alpha;
  out[0] = a->w->moved;
  status = ROBOT(close_loops)(in, out, a->w->kernel);
  memcpy(p, a->w->moved, NP * sizeof(double));
  if (status == 0) {
    in[1] = pd;
    status = ROBOT(close_rates)(in, out, a->w->kernel);
    memcpy(pd, a->w->moved, N * sizeof(double));
  }
  if (status != 0) p[0] = NAN;
  return status;
#else
  (void)a, (void)p, (void)pd;
  return 0;
#endif
}

static int step_values(const Call *a, int k, double *p_next, double *pd_next) {
  const double *in[5];
  double *out[2];
  in[0] = a->P + (ptrdiff_t)k * NP, in[1] = a->PD + (ptrdiff_t)k * N, in[2] = a->U + (ptrdiff_t)k * N;
  in[3] = a->h, in[4] = a->alpha;
  out[0] = p_next, out[1] = pd_next;
  return ROBOT(joint_step)(in, out, a->w->kernel);
}

/* Position error (3) of the tip at node k [m]. */
static void tip_error(const Call *a, int k, double *error) {
  const double *in[2];
  double *out[2];
  int i;
  in[0] = a->P + (ptrdiff_t)k * NP, in[1] = a->alpha;
  out[0] = error, out[1] = a->w->tip_rotation;
  ROBOT(tip_pose)(in, out, a->w->kernel);
  for (i = 0; i < 3; i++) error[i] -= a->tip_ref[3 * (ptrdiff_t)k + i];
}

/* Quadratic cost of the base's orientation error `way` (r0 of `turn_between`) in a small rotation of the node. */
static void turn_cost(Stage *s, const double *w, const double *way, double r0) {
  const double r1 = 0.5 * way[3], r2 = 0.5 * way[4], r3 = 0.5 * way[5];
  const double slope[9] = {r0, r3, -r2, -r3, r0, r1, r2, -r1, r0}; /* derivative by that rotation, row by row: r0 - r x */
  int i, j, l;
  if (!FLOATING) return; /* lets the compiler drop the indices beyond N */
  for (l = 0; l < 3; l++)
    for (j = 0; j < 3; j++) {
      s->g[3 + j] += w[3 + l] * slope[3 * l + j] * way[3 + l];
      for (i = 0; i < 3; i++) s->Qtip[3 + i + LN * (3 + j)] += w[3 + l] * slope[3 * l + i] * slope[3 * l + j];
    }
}

/* Quadratic cost of the tip at node k, expanded at its coordinates x. */
static void tip_cost(const Call *a, Problem *o, Stage *s, int k, const double *x) {
  const double *v = tip_weights(a, o, k), *in[2];
  double error[3], *out[1], *J = a->w->tip_jacobian;
  int i, j, l;
  tip_error(a, k, error);
  in[0] = a->P + (ptrdiff_t)k * NP, in[1] = a->alpha;
  out[0] = J;
  ROBOT(tip_jacobian)(in, out, a->w->kernel);
  for (l = 0; l < 3; l++) {
    for (i = 0; i < N; i++) error[l] -= J[l + 6 * i] * x[i];
    o->constant += 0.5 * v[l] * error[l] * error[l];
    for (j = 0; j < N; j++) {
      s->g[j] += v[l] * J[l + 6 * j] * error[l];
      for (i = 0; i < N; i++) s->Qtip[i + LN * j] += v[l] * J[l + 6 * i] * J[l + 6 * j];
    }
  }
}

/* Cost of node k's state, in the stage that ends there. */
static void node_cost(const Call *a, Problem *o, int k) {
  Stage *s = &o->stage[k - 1];
  const double *w = node_weights(a, o, k), *p = a->P + (ptrdiff_t)k * NP, *pd = a->PD + (ptrdiff_t)k * N;
  const double *p_ref = a->P_ref + (ptrdiff_t)k * NP, *pd_ref = a->PD_ref + (ptrdiff_t)k * N;
  double x[X], way[N];
  const double r0 = way_between(p_ref, p, way);
  int i;
  coordinates(p, pd, x);
  for (i = 0; i < X; i++) {
    const int turns = i >= BASE / 2 && i < BASE;
    const double ref = i >= N ? pd_ref[i - N] : FLOATING ? x[i] - way[i] : p_ref[i];
    s->Q[i] = turns ? 0.0 : w[i];
    s->g[i] = turns ? 0.0 : -w[i] * ref;
    o->constant += 0.5 * w[i] * ref * ref; /* rotation: x is zero */
  }
  if (FLOATING || o->tip) memset(s->Qtip, 0, LN * N * sizeof(double));
  if (FLOATING) turn_cost(s, w, way, r0);
  if (o->tip) tip_cost(a, o, s, k, x);
}

/* Steps from `count` nodes of the iterate, first k: ends to x (XP each), Jacobians to `blocks` unless null; 0 if one fails. */
static int steps_from(const Call *a, int k, int count, double *x, double *blocks) {
  enum { S = STAGE_BLOCKS };
  static const int in_size[] = { NP, N, N, 0, 0}, out_size[] = { XP, XP, S, S, S, S, S, S};
  const double *in[5];
  double *out[8];
  int b;
  in[0] = a->P + (ptrdiff_t)k * NP, in[1] = a->PD + (ptrdiff_t)k * N, in[2] = a->U + (ptrdiff_t)k * N;
  in[3] = a->h, in[4] = a->alpha;
  out[0] = x, out[1] = x + NP;
  if (blocks == 0) return ROBOT(map)(ROBOT(joint_step), 5, in_size, in, 2, out_size, out, count, a->w->kernel) == 0;
  for (b = 0; b < 6; b++) out[2 + b] = blocks + b * N * N;
  return ROBOT(map)(ROBOT(jac_joint_step), 5, in_size, in, 8, out_size, out, count, a->w->kernel) == 0;
}

/* Linearised model of stage k from the step's end `next` and its Jacobian's blocks; returns the defect. */
static double stage_model(const Call *a, const Problem *o, int k, const double *next, const double *block) {
  Stage *s = &o->stage[k];
  const double *p = a->P + (ptrdiff_t)k * NP, *pd = a->PD + (ptrdiff_t)k * N, *u = a->U + (ptrdiff_t)k * N;
  double defect = 0.0, way[N], x[X];
  int i, j, b;
  memset(s->A, 0, sizeof s->A);
  memset(s->At, 0, sizeof s->At);
  memset(s->B, 0, sizeof s->B);
  memset(s->Bt, 0, sizeof s->Bt);
  for (b = 0; b < 6; b++) {
    double *target = b % 3 < 2 ? s->A + b / 3 * N + LX * N * (b % 3) : s->B + b / 3 * N;
    for (j = 0; j < N; j++)
      for (i = 0; i < N && (b % 3 < 2 || motor[j]); i++) target[i + LX * j] = block[b * N * N + i + N * j];
  }
  transpose(X, X, s->A, LX, s->At, LX);
  transpose(X, N, s->B, LX, s->Bt, LN);
  memset(s->c, 0, X * sizeof(double));
  coordinates(p, pd, x);
  add_product(X, X, s->A, LX, x, s->c, 0);
  add_product(X, N, s->B, LX, u, s->c, 0);
  memcpy(s->u, u, N * sizeof(double));
  coordinates(p + NP, pd + N, s->x);
  way_between(p + NP, next, way); /* the end's rotation is relative to the next node's */
  for (i = 0; i < N; i++) {
    const double gap = fabs(way[i]), rate_gap = fabs(next[NP + i] - pd[N + i]);
    if (gap > defect) defect = gap;
    if (rate_gap > defect) defect = rate_gap;
    s->c[i] = (FLOATING ? s->x[i] + way[i] : next[i]) - s->c[i];
    s->c[N + i] = next[NP + i] - s->c[N + i];
  }
  return defect;
}

/* Model and cost of every stage at the iterate; returns the largest defect, negative if a step fails. */
static double linearise(const Call *a, Problem *o) {
  double *x = a->w->ends, *blocks = a->w->blocks, defect = 0.0;
  int k, i;
  o->constant = 0.0;
  for (k = 0; k < o->count; k++) {
    const int at = k % SIDE_BY_SIDE;
    double gap;
    if (at == 0 && !steps_from(a, k, o->count - k < SIDE_BY_SIDE ? o->count - k : SIDE_BY_SIDE, x, blocks)) return -1.0;
    gap = stage_model(a, o, k, x + at * XP, blocks + at * STAGE_BLOCKS);
    if (gap > defect) defect = gap;
    if (!near_rows(a, o, k)) return -1.0;
    for (i = 0; i < N; i++) {
      const double ref = a->U_ref[(ptrdiff_t)k * N + i];
      o->stage[k].r[i] = -o->R[i] * ref;
      o->constant += 0.5 * o->R[i] * ref * ref;
    }
    node_cost(a, o, k + 1);
  }
  return defect;
}

/* Merit function: cost of the iterate with penalties plus `weight` times all defects; -1 if a step fails. */
static double merit(const Call *a, const Problem *o, double weight) {
  double sum = 0.0, more, error[3], side[SLACK], x[X], way[N], *ends = a->w->ends;
  int k, i;
  for (k = 0; k < o->count; k++) {
    const double *u = a->U + (ptrdiff_t)k * N, *last = k ? u - N : o->u_last, *ref = a->U_ref + (ptrdiff_t)k * N;
    const double *p = a->P + (ptrdiff_t)(k + 1) * NP, *pd_ref = a->PD_ref + (ptrdiff_t)(k + 1) * N;
    const double *w = node_weights(a, o, k + 1), *v = tip_weights(a, o, k + 1);
    coordinates(p, a->PD + (ptrdiff_t)(k + 1) * N, x);
    way_between(a->P_ref + (ptrdiff_t)(k + 1) * NP, p, way);
    for (i = 0; i < N; i++) {
      sum += 0.5 * o->R[i] * (u[i] - ref[i]) * (u[i] - ref[i]) + 0.5 * o->S[i] * (u[i] - last[i]) * (u[i] - last[i]);
      sum += 0.5 * w[i] * way[i] * way[i];
      sum += 0.5 * w[N + i] * (x[N + i] - pd_ref[i]) * (x[N + i] - pd_ref[i]);
    }
    if (o->tip) {
      tip_error(a, k + 1, error);
      for (i = 0; i < 3; i++) sum += 0.5 * v[i] * error[i] * error[i];
    }
    sides(u, last, x, side);
    for (i = SOFT; i < SLACK; i++)
      if (side[i] > o->d[i]) sum += o->soft[(i - SOFT) % X] * (side[i] - o->d[i]);
    more = near_merit(a, o, k + 1);
    if (more < 0.0) return -1.0;
    sum += more;
    if (weight > 0.0) {
      const double *next = ends + k % SIDE_BY_SIDE * XP;
      if (next == ends && !steps_from(a, k, o->count - k < SIDE_BY_SIDE ? o->count - k : SIDE_BY_SIDE, ends, 0)) return -1.0;
      way_between(p, next, way);
      for (i = 0; i < N; i++) sum += weight * fabs(way[i]);
      for (i = 0; i < N; i++) sum += weight * fabs(next[NP + i] - x[N + i]);
    }
  }
  return sum;
}

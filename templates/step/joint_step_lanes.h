/* Rows of a batch side by side: LANES of them step together, with parameters and h that all rows share. Rows that want more
 * than one Newton iteration wait until there are as many as lanes; those that do not settle then, or are out of range, are
 * left to the function for one row. What a row gives does not depend on the others. */
#include "paths.h"
#include "lanes.h"
#include <stddef.h>
#include "joint_step_model.h"

/* For one lane, in joint_step_v3.c. */
HIDDEN int ROBOT(rate_v3)(const double *mass, const double *momentum, const double *model, const double *begun,
                               const double *h, const double *alpha, double *rate, double *w);

/* The work array of a step, of its Jacobian, of its reverse mode and of a step of sixth order. */
typedef struct {
  V p[N], pd[N], u[N], p_next[N], pd_next[N], record[RECORD], terms[N], iterate[N], correction[N], factors[FACTORS];
  V mass[MASS], momentum[N], kernel[KERNEL_WORK + 1];
} LaneStep;
typedef struct {
  LaneStep step;
  V block[6 * N * N];
} LaneJacobian;
typedef struct {
  LaneStep step;
  V block[4 * N * N], seed[2 * N], p_bar[N], pd_bar[N], u_bar[N], x[N], y[N], slope[N], shed[N];
  V alpha_bar[NA], h_bar[1];
} LaneReverse;
typedef struct {
  LaneStep step;
  V next[RECORD + N], end[N], carried[N];
} LaneSixth;

enum {
  MAX_POSE = C_MAX_POSE,
  MODEL = NM + MASS + 3 * N /* doubles before the vectors: the model, and what one lane's rate is found from */
};

/* Where a member of a work array begins, in V. */
#define PLACE(type, member) ((int)(offsetof(type, member) / sizeof(V)))

/* Lanes whose values are all at most so large. */
static Bits within(const V *x, double most) { return (Bits)(largest(x, N) <= B(most)); }

static int some(Bits mask) {
  int64_t any = 0;
  int j;
  for (j = 0; j < LANES; j++) any |= mask[j];
  return any != 0;
}

#if LANES == 4
static int every(Bits mask) { return !some(~mask); }
#endif

/* A correction beside the one before it. */
INLINE V contraction(V size, V last) { return chosen((Bits)(size == B(0.0)), B(0.0), size / last); }

/* Lanes whose pose is found after so many Newton iterations and some with their last matrix. Each goes its own way through the
 * iterations, whatever the others do; what decides that is worked out for all at once, as their steps are. */
static Bits settle(const V *p, const V *u, const double *h, const double *alpha, const double *model, int newtons, V *p_next,
                   LaneStep *w) {
  V *record = w->record, *terms = w->terms, *iterate = w->iterate, *correction = w->correction;
  V *factors = w->factors, size, last, rate;
  const Bits none = {0};
  Bits going = ~none, found = none, settled, stalled;
  int k, j;
  for (k = 0; k < newtons; k++) {
    newton_kernel(p_next, p, record, terms, alpha, model, iterate, correction, factors, w->kernel);
    memcpy(p_next, iterate, N * sizeof(V));
  }
  last = largest(correction, N);
  for (k = 0; k < MAX_POSE && some(going); k++) {
    const Bits moving = going;
    Bits near, quick, done;
    V ahead;
    chord_kernel(p_next, p, record, terms, factors, alpha, model, iterate, correction, w->kernel);
    size = largest(correction, N);
    rate = contraction(size, last);
    near = (Bits)(size <= B(C_FAR_POSE));
    quick = (Bits)(rate <= B(C_SLOW)); /* of others Newton again, or rounding is all that is left */
    ahead = 4.0 * size * rate; /* at most: the first rate shows half of what follows, and a lane that ends too early starts anew */
    done = (Bits)(ahead <= B(C_LAST_CORRECTION)) & (Bits)(ahead * rate <= B(C_POSE_TOLERANCE));
    found |= moving & near & ((quick & done) | (~quick & (Bits)(size <= B(C_STALL))));
    going &= near & quick & ~done;
    last = chosen(moving, size, last);
    for (j = 0; j < N; j++) p_next[j] = chosen(moving, iterate[j], p_next[j]);
  }
  if (!some(found)) return none;
  end_kernel(p_next, p, record, terms, u, factors, h, alpha, model, correction, w->momentum, w->mass, w->kernel);
  size = largest(correction, N);
  for (j = 0; j < N; j++) p_next[j] += correction[j];
  rate = contraction(size, last);
  settled = (Bits)(rate < B(1.0)) & (Bits)(size * rate <= C_POSE_TOLERANCE * (B(1.0) - rate)) &
            (Bits)(size <= B(C_LAST_CORRECTION));
  stalled = (Bits)(rate > B(C_SLOW)) & (Bits)(size <= B(C_STALL));
  return found & (settled | stalled) & within(p_next, 0.5 * C_LARGE_ANGLE);
}

/* A step of every lane from what stands in the work array; the lanes that made it, as bits. */
static int advance(const double *h, const double *alpha, const double *model, int newtons, double *one, LaneStep *w, double *work) {
  V *p = w->p, *pd_next = w->pd_next;
  Bits reached;
  int found, j, k;
  start_kernel(p, w->pd, w->u, h, alpha, model, w->record, w->terms, w->p_next, w->kernel);
  reached = settle(p, w->u, h, alpha, model, newtons, w->p_next, w) & within(p, 0.5 * C_LARGE_ANGLE);
  for (k = 0; k < LINKS && NO_COULOMB(alpha, k); k++) {
  }
  if (k == LINKS) {
    velocity_kernel(w->mass, w->momentum, h, w->pd, alpha, model, pd_next, w->kernel);
    return bits_of(reached & within(pd_next, C_FAR_RATE));
  }
  found = bits_of(reached);
  for (j = 0; j < LANES; j++) { /* with Coulomb friction every rate is a search of its own */
    double *momentum = one + MASS, *begun = momentum + N, *rate = begun + N;
    if (!(found >> j & 1)) continue;
    scatter(w->mass, MASS, j, one);
    scatter(w->momentum, N, j, momentum);
    scatter(w->pd, N, j, begun);
    if (ROBOT(rate_v3)(one, momentum, model, begun, h, alpha, rate, work) != 0) found &= ~(1 << j);
    for (k = 0; k < N; k++) pd_next[k][j] = rate[k];
  }
  return found;
}

typedef struct { /* a batch's arguments: in[k] of row r starts at in[k] + r * in_size[k] */
  ROBOT(function) one;
  int inputs, outputs;
  const int *in_size, *out_size;
  const double *const *in;
  double *const *out;
  double *work, *model;
  LaneStep *w;
  const int *place, *size;                                /* of every output in the work array */
  void (*derive)(const void *batch, const long *row); /* what follows the step, or 0 */
} Batch;

static long row_alone(const Batch *b, long r) {
  const double *in[7];
  double *out[8];
  int k;
  for (k = 0; k < b->inputs; k++) in[k] = b->in[k] + r * b->in_size[k];
  for (k = 0; k < b->outputs; k++) out[k] = b->out[k] + r * b->out_size[k];
  return b->one(in, out, b->work) != 0;
}

static void gather_input(const Batch *b, int k, const long *row, V *x) { gather(b->in[k], b->in_size[k], row, N, x); }

/* The first `count` of these rows, the last of them in the other lanes; those that did not settle, as bits. */
static int together(const Batch *b, const long *row, int count, int newtons) {
  LaneStep *w = b->w;
  const V *values = (const V *)(const void *)w;
  int found, j, k;
  gather_input(b, 0, row, w->p);
  gather_input(b, 1, row, w->pd);
  gather_input(b, 2, row, w->u);
  found = advance(b->in[3], b->in[4], b->model, newtons, b->model + NM, w, b->work);
  if (found != 0 && b->derive != 0) b->derive(b, row);
  for (k = 0; k < b->outputs; k++) found &= bits_of(finite_lanes(values + b->place[k], b->size[k]));
  for (j = 0; j < count; j++)
    for (k = 0; k < b->outputs; k++)
      if (found >> j & 1) scatter(values + b->place[k], b->size[k], j, b->out[k] + row[j] * b->out_size[k]);
  return ~found & ((1 << count) - 1);
}

/* Rows that wait for a second Newton iteration, at most as many as lanes; the number that failed. */
static long again(const Batch *b, long *row, int count) {
  long failed = 0;
  int left, j;
  if (count == 0) return 0;
  for (j = count; j < LANES; j++) row[j] = row[count - 1];
  left = together(b, row, count, 2);
  for (j = 0; j < count; j++)
    if (left >> j & 1) failed += row_alone(b, row[j]);
  return failed;
}

/* All rows; the number that failed. */
static long many(Batch *b, long rows) {
  long row[LANES], waiting[LANES], r, failed = 0;
  int count, left, late = 0, j;
  if (!(b->in[3][0] >= C_LEAST_STEP)) {
    for (r = 0; r < rows; r++) failed += row_alone(b, r);
    return failed;
  }
  b->model = b->work + ALONE;
  b->w = (LaneStep *)(void *)aligned(b->model + MODEL);
  prepare_kernel(b->in[4], b->model, b->work);
  for (r = 0; r < rows; r += LANES) {
    count = rows - r < LANES ? (int)(rows - r) : LANES;
    for (j = 0; j < LANES; j++) row[j] = r + (j < count ? j : count - 1);
    left = together(b, row, count, 1);
    for (j = 0; j < count; j++) {
      if (!(left >> j & 1)) continue;
      waiting[late++] = row[j];
      if (late == LANES) {
        failed += again(b, waiting, late);
        late = 0;
      }
    }
  }
  return failed + again(b, waiting, late);
}

/* Rows of ROBOT(joint_step) and, below, of its derivatives; the number that failed. */
HIDDEN long ROBOT(MANY(joint_step))(ARGUMENTS);
long ROBOT(MANY(joint_step))(ARGUMENTS) {
  static const int place[] = {PLACE(LaneStep, p_next), PLACE(LaneStep, pd_next)}, size[] = {N, N};
  Batch b = {0};
  b.one = one, b.inputs = 5, b.outputs = 2, b.in_size = in_size, b.out_size = out_size, b.in = in, b.out = out, b.work = work;
  b.place = place, b.size = size;
  return many(&b, rows);
}

#ifndef STEP_ALONE
static void jacobian(const void *batch, const long *row) {
  const Batch *b = batch;
  LaneStep *w = b->w;
  V *block = ((LaneJacobian *)(void *)w)->block;
  (void)row;
  jacobian_kernel(w->p, w->pd, w->p_next, w->pd_next, b->in[3], b->in[4], b->model, block, block + N * N,
                  block + 2 * N * N, block + 3 * N * N, block + 4 * N * N, block + 5 * N * N, w->kernel);
}

HIDDEN long ROBOT(MANY(jac_joint_step))(ARGUMENTS);
long ROBOT(MANY(jac_joint_step))(ARGUMENTS) {
  enum { BLOCK = PLACE(LaneJacobian, block) };
  static const int place[] = {
      PLACE(LaneStep, p_next), PLACE(LaneStep, pd_next), BLOCK, BLOCK + N * N, BLOCK + 2 * N * N, BLOCK + 3 * N * N, BLOCK + 4 * N * N,
      BLOCK + 5 * N * N};
  static const int size[] = {N, N, N * N, N * N, N * N, N * N, N * N, N * N};
  Batch b = {0};
  b.one = one, b.inputs = 5, b.outputs = 8, b.in_size = in_size, b.out_size = out_size, b.in = in, b.out = out, b.work = work;
  b.place = place, b.size = size, b.derive = jacobian;
  return many(&b, rows);
}

/* to -= transposed(A) x; to -= A x. */
static void subtract_pulled(const V *A, const V *x, V *to) {
  int i, j;
  for (j = 0; j < N; j++)
    for (i = 0; i < N; i++) to[j] -= A[i + N * j] * x[i];
}

static void subtract_product(const V *A, const V *x, V *to) {
  int i, j;
  for (j = 0; j < N; j++)
    for (i = 0; i < N; i++) to[i] -= A[i + N * j] * x[j];
}

/* y of the seed on rates, and how the momentum there changes with the pose, times y. */
static void pull_rate(const double *h, const double *alpha, const double *model, LaneReverse *r) {
  LaneStep *w = &r->step;
  int j;
  inertia_kernel(w->p_next, alpha, model, w->record, w->mass, w->kernel);
  velocity_newton_kernel(w->mass, h, w->pd_next, r->seed + N, w->pd, alpha, model, r->y, w->kernel);
  for (j = 0; j < N; j++) r->y[j] = r->y[j] / -h[0];
  momentum_slope_kernel(w->p_next, w->pd_next, r->y, w->record, alpha, model, r->slope, w->kernel);
}

/* The pull_back of joint_step.c for one step. */
static void pull_back(const void *batch, const long *row) {
  const Batch *b = batch;
  const double *h = b->in[3], *alpha = b->in[4], *model = b->model;
  LaneStep *w = b->w;
  LaneReverse *r = (LaneReverse *)(void *)w;
  V *D = r->block, *factors = D + N * N, *K0 = factors + N * N, *K1 = K0 + N * N, *seed = r->seed;
  V *p_bar = r->p_bar, *pd_bar = r->pd_bar, *x = r->x, *y = r->y, *slope = r->slope;
  int j;
  gather_input(b, 5, row, seed);
  gather_input(b, 6, row, seed + N);
  pull_rate(h, alpha, model, r);
  for (j = 0; j < N; j++) seed[j] -= h[0] * slope[j];
  assembly_kernel(w->p, w->p_next, h, alpha, model, D, factors, K0, K1, w->kernel);
  subtract_pulled(K1, y, seed);
  solve_transposed_kernel(factors, seed, alpha, model, x, w->kernel);
  for (j = 0; j < N; j++) r->u_bar[j] = 0.5 * h[0] * h[0] * (x[j] + y[j]);
  inertia_kernel(w->p, alpha, model, w->record, w->mass, w->kernel);
  momentum_slope_kernel(w->p, w->pd, x, w->record, alpha, model, slope, w->kernel);
  for (j = 0; j < N; j++) p_bar[j] = h[0] * slope[j], pd_bar[j] = B(0.0), slope[j] = -h[0] * x[j];
  subtract_pulled(K0, x, p_bar);
  subtract_product(D, y, p_bar);
  subtract_pulled(w->mass, slope, pd_bar);
#if VARYING
  friction_lag_kernel(w->pd_next, y, h, w->pd, alpha, model, r->shed, w->kernel);
  for (j = 0; j < N; j++) pd_bar[j] -= r->shed[j];
#endif
  memset(r->alpha_bar, 0, sizeof r->alpha_bar);
  r->h_bar[0] = B(0.0);
  adjoint_parameters_kernel(w->p, w->pd, w->u, h, w->p_next, w->pd_next, alpha, x, y, r->alpha_bar, r->h_bar, w->kernel);
}

HIDDEN long ROBOT(MANY(vjp_joint_step))(ARGUMENTS);
long ROBOT(MANY(vjp_joint_step))(ARGUMENTS) {
  static const int place[] = {PLACE(LaneReverse, p_bar), PLACE(LaneReverse, pd_bar), PLACE(LaneReverse, u_bar),
                              PLACE(LaneReverse, h_bar), PLACE(LaneReverse, alpha_bar)};
  static const int size[] = {N, N, N, 1, NA};
  Batch b = {0};
  b.one = one, b.inputs = 7, b.outputs = 5, b.in_size = in_size, b.out_size = out_size, b.in = in, b.out = out, b.work = work;
  b.place = place, b.size = size, b.derive = pull_back;
  return many(&b, rows);
}

#if LANES == 4
static const long in_order[] = {0, 1, 2, 3};

/* Rates of consecutive nodes from the momenta that stand in PD, as many as lanes; 0 where an angle is out of range. */
HIDDEN int ROBOT(MANY(rates))(const double *P, double *PD, const double *h, const double *alpha, const double *model, double *work);
int ROBOT(MANY(rates))(const double *P, double *PD, const double *h, const double *alpha, const double *model, double *work) {
  LaneStep *w = (LaneStep *)(void *)aligned(work);
  int j;
  gather(P, N, in_order, N, w->p);
  if (!every(within(w->p, 0.5 * C_LARGE_ANGLE))) return 0;
  gather(PD, N, in_order, N, w->momentum);
  inertia_kernel(w->p, alpha, model, w->record, w->mass, w->kernel);
  velocity_kernel(w->mass, w->momentum, h, w->momentum, alpha, model, w->pd, w->kernel);
  for (j = 0; j < LANES; j++) scatter(w->pd, N, j, PD + j * N);
  return 1;
}

/* What pull_back of joint_step.c needs of consecutive steps, as many as lanes; 0 where an angle is out of range. */
HIDDEN int ROBOT(MANY(blocks))(int linear, const double *P, const double *PD, const double *PD_bar, const double *h,
                                    const double *alpha, const double *model, double *blocks, double *sought, double *work);
int ROBOT(MANY(blocks))(int linear, const double *P, const double *PD, const double *PD_bar, const double *h,
                             const double *alpha, const double *model, double *blocks, double *sought, double *work) {
  LaneReverse *r = (LaneReverse *)(void *)aligned(work);
  LaneStep *w = &r->step;
  V *D = r->block;
  int j, idle = 1;
  gather(P, N, in_order, N, w->p);
  gather(P + N, N, in_order, N, w->p_next);
  if (!every(within(w->p, 0.5 * C_LARGE_ANGLE) & within(w->p_next, 0.5 * C_LARGE_ANGLE))) return 0;
  assembly_kernel(w->p, w->p_next, h, alpha, model, D, D + N * N, D + 2 * N * N, D + 3 * N * N, w->kernel);
  for (j = 0; j < LANES; j++) scatter(D, 4 * N * N, j, blocks + j * 4 * N * N);
  if (!linear) return 1;
  for (j = 0; j < LANES * N && idle; j++) idle = PD_bar[N + j] == 0.0;
  if (idle) {
    memset(sought, 0, 2 * LANES * N * sizeof(double));
    return 1;
  }
  gather(PD, N, in_order, N, w->pd);
  gather(PD + N, N, in_order, N, w->pd_next);
  gather(PD_bar + N, N, in_order, N, r->seed + N);
  pull_rate(h, alpha, model, r);
  for (j = 0; j < LANES; j++) {
    scatter(r->y, N, j, sought + j * 2 * N);
    scatter(r->slope, N, j, sought + j * 2 * N + N);
  }
  return 1;
}
#if SIXTH

/* A step of sixth order, its three chains side by side in momentum form: lanes step with h, h/2, h/3 and are read after one, two
 * and three rounds; the fourth does as the third, and whoever has been read is heeded no more. Poses are foretold from differences
 * of those before: the first step shows an acceleration, the second how it changes. 0 where they do not settle in a few iterations. */
HIDDEN int ROBOT(MANY(sixth))(const double *const *in, double *const *out, const double *model, double *work);
int ROBOT(MANY(sixth))(const double *const *in, double *const *out, const double *model, double *work) {
  static const double parts[] = {1.0, 2.0, 3.0, 3.0}, weight[] = {1.0 / 24.0, -16.0 / 15.0, 81.0 / 40.0};
  const double *alpha = in[4];
  LaneSixth *six = (LaneSixth *)(void *)aligned(work);
  LaneStep *w = &six->step;
  V *p = w->p, *u = w->u, *guess = w->p_next, *record = w->record, *terms = w->terms, *iterate = w->iterate;
  V *correction = w->correction, *factors = w->factors, *momentum = w->momentum, *next = six->next, *end = six->end;
  V *carried = six->carried, *moved = w->pd, *bent = w->mass, h;
  Bits read = {0};
  int round, j, k;
  for (k = 0; k < N; k++) p[k] = B(in[0][k]), w->pd[k] = B(in[1][k]), u[k] = B(in[2][k]);
  for (j = 0; j < LANES; j++) h[j] = in[3][0] / parts[j];
  start_by_lane_kernel(p, w->pd, u, &h, alpha, model, record, terms, guess, w->kernel);
  for (k = 0; k < N; k++) moved[k] *= h;
  for (round = 1; round <= 3; round++) {
    for (k = 0; k < 2; k++) {
      newton_kernel(guess, p, record, terms, alpha, model, iterate, correction, factors, w->kernel);
      memcpy(guess, iterate, N * sizeof(V));
      if (every(within(correction, C_NEAR_NEWTON) | read)) break;
    }
    if (!every(within(correction, C_FORETOLD) | read)) {
      chord_kernel(guess, p, record, terms, factors, alpha, model, iterate, correction, w->kernel);
    }
    for (k = 0; k < MAX_POSE; k++) {
      memcpy(guess, iterate, N * sizeof(V));
      onward_by_lane_kernel(guess, p, record, terms, factors, &h, u, u, alpha, model, correction, iterate, momentum, next,
                            next + RECORD, w->kernel);
      if (every(within(correction, C_ONWARD_CORRECTION) | read)) break;
    }
    if (k == MAX_POSE) return 0;
    memcpy(record, next, RECORD * sizeof(V));
    memcpy(terms, next + RECORD, N * sizeof(V));
    for (k = 0; k < N; k++) {
      const V way = iterate[k] - p[k], bend = (round == 1 ? 2.0 : 1.0) * (way - moved[k]);
      for (j = 0; j < LANES; j++)
        if (parts[j] == round) end[k][j] = iterate[k][j], carried[k][j] = momentum[k][j];
      guess[k] = iterate[k] + way + bend;
      if (round == 2) guess[k] += 1.5 * (bend - bent[k]);
      p[k] = iterate[k], moved[k] = way, bent[k] = bend;
    }
    for (j = 0; j < LANES; j++) read[j] = parts[j] <= round ? -1 : 0;
  }
  inertia_kernel(end, alpha, model, record, w->mass, w->kernel);
  velocity_kernel(w->mass, carried, in[3], carried, alpha, model, guess, w->kernel);
  if (!every(within(end, 0.5 * C_LARGE_ANGLE) & within(guess, C_FAR_RATE))) return 0;
  for (k = 0; k < N; k++) {
    out[0][k] = weight[0] * end[k][0] + weight[1] * end[k][1] + weight[2] * end[k][2];
    out[1][k] = weight[0] * guess[k][0] + weight[1] * guess[k][1] + weight[2] * guess[k][2];
  }
  return 1;
}
#endif
#endif
#endif

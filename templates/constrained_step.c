/* One step in joint space with closed loops, limits and contacts, of a floating base too, its derivatives, rollouts and what is asked
 * about it. constrained_step_model.h says what a robot has: sizes, parts, places, kernels. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "constrained_step_model.h"
#include "on_path.h"

/* For several instruction sets, but for floating bases that nothing acts on; below floating.c it is the step in a frame of its own. */
#if FLOATING && CHART_PATHS
#define STEP(name) ON_PATH(JOINED(chart_, name))
#elif FLOATING
#define STEP(name) ROBOT(JOINED(chart_, name))
#else
#define STEP(name) ON_PATH(name)
#endif
#define STEP_SIZE(name) ROBOT(JOINED_AS_THEY_ARE(name, _work_size))

enum {
  PASSIVE = N - MOTORS,
  MAX_POSE = C_MAX_POSE,
  MAX_RATE = C_MAX_RATE,
  MAX_LINE = C_MAX_LINE,
  MAX_CLOSE = C_MAX_CLOSE,
  MAX_SLIDE = C_MAX_SLIDE,
  MAX_STARTS = C_MAX_STARTS,
  BIG = N + ROWS,
  NONE = ROWS == 0, /* a double that keeps pointers to no rows apart, as `restrict` asks */
#if SIDED
  CONES = SIDES + CONTACTS,
  PUSHES = SIDES + TOUCHES,
  IMPULSES = PUSHES + CONTACTS, /* of a contact one number more, see `apart` */
  STIFF = TOUCHES < 3 * N ? TOUCHES : 3 * N, /* most rows that derivatives take apart */
#endif
  /* layout of the work array, in doubles; matrices by columns */
  W_MODEL = 0,
  W_RECORD = W_MODEL + NM,
  W_TERMS = W_RECORD + RECORD,
  W_CORRECTION = W_TERMS + N,
  W_FACTORS = W_CORRECTION + N,
  W_MASS = W_FACTORS + N * N,
  W_MOMENTUM = W_MASS + N * N,
  W_GRADIENT = W_MOMENTUM + N,
  W_DIRECTION = W_GRADIENT + N,
  W_TRIAL = W_DIRECTION + N,
  W_GUESS = W_TRIAL + N,
  W_OFF = W_GUESS + N,
  W_BAR = W_OFF + N + 1, /* a state, its gradient and seeds */
  W_A0 = W_BAR + 6 * N,
  W_A = W_A0 + ROWS * N + NONE,
  W_BACK = W_A + ROWS * N + NONE, /* D^-1 A^T, or that of the inertia */
  W_GAP = W_BACK + N * ROWS,
  W_ALL = W_GAP + ALL,
  W_L = W_ALL + ALL * N, /* multipliers of the pose and of the rate stage */
  W_H = W_L + ROWS,
  W_DENSE = W_H + ROWS,
  W_RHS = W_DENSE + BORDER * BORDER,
  W_INVERSE = W_RHS + BORDER, /* derivatives: D^-1 and its border, then bordered; the same of the rate stage */
  W_X = W_INVERSE + N * N,
  W_W = W_X + N * ROWS,
  W_S = W_W + ROWS * N,
  W_WF = W_S + ROWS * ROWS,
  W_RESPONSE = W_WF + ROWS,
  W_Y = W_RESPONSE + N * N,
  W_T = W_Y + N * ROWS,
  W_WG = W_T + ROWS * ROWS,
  W_D = W_WG + ROWS,
  W_K0 = W_D + N * N,
  W_M0 = W_K0 + N * N,
  W_K1 = W_M0 + N * N,
  W_B1 = W_K1 + N * N,
  W_V1 = W_B1 + ROWS * N,
  W_V2 = W_V1 + N * ROWS,
  W_C = W_V2 + N * ROWS, /* scratch */
  W_C1 = W_C + N * N,
  W_P = W_C1 + N * N,
  W_PULL = W_P + 2 * N + 2 * ROWS, /* x, y, v, z of a pull-back */
  W_KERNEL = W_PULL + 2 * N + 2 * ROWS,
  W_ROWS = W_KERNEL + KERNEL_WORK, /* derivatives by alpha */
#if SIDED
  W_PUSH = W_ROWS + 2 * (N + ROWS) * NA, /* impulses of limits in both stages */
  W_PUSH_RATE = W_PUSH + IMPULSES,
  W_RHO = W_PUSH_RATE + IMPULSES,
  W_CONE = W_RHO + CONES,
  W_LEAD = W_CONE + 2 * SIDES,
  W_SLOPES = W_LEAD + SIDES,
  W_SYSTEM = W_SLOPES + N * N,
  W_LU = W_SYSTEM + BIG * (BIG + 1), /* factors of the slopes, and the columns of impulses solved with them */
  W_COLUMNS = W_LU + N * N,
  W_FREE = W_COLUMNS + N * BIG,
  W_WIDE = W_FREE + N,
  W_CHANGE = W_WIDE + BIG * BIG,
  W_START = W_CHANGE + BIG + IMPULSES,
  W_FIRST = W_START + BIG + IMPULSES,
  W_KNOWN = W_FIRST + N,
  W_COUNT = W_KNOWN + N, /* iterations and level of both stages, evaluations */
  W_LAG = W_COUNT + 5,
  W_LAW = W_LAG + N * N,
  W_SIGN = W_LAW + 4 * CONTACTS,
  W_GAPS = W_SIGN + CONTACTS,
  W_J0 = W_GAPS + CONTACTS,
  W_J = W_J0 + TOUCHES * N,
  W_BY = W_J + TOUCHES * N,
  W_TURN = W_BY + TOUCHES * N,
  W_GY = W_TURN + TOUCHES * N,
  W_S0 = W_GY + TOUCHES * N,
  W_S1 = W_S0 + TOUCHES * N,
  W_R1 = W_S1 + TOUCHES * N,
  W_TOUCH = W_R1 + TOUCHES * N,
  W_SHARES = W_TOUCH + TOUCHES,
  W_X_TOUCH = W_SHARES + 9 * CONTACTS,
  W_PSI = W_X_TOUCH + TOUCHES,
  W_TOUCH_BAR = W_PSI + 4 * CONTACTS,
  W_FRAMES = W_TOUCH_BAR + 2 * TOUCHES + 5 * CONTACTS,
  W_STIFF = W_FRAMES + 9 * CONTACTS, /* contacts that `stiffened` takes apart, of both stages */
  W_STIFF_G = W_STIFF + 2 * CONTACTS,
  W_STIFF_T = W_STIFF_G + 18 * CONTACTS,
  W_STIFF_M = W_STIFF_T + 2 * N * TOUCHES,
  W_STIFF_X = W_STIFF_M + 2 * N * TOUCHES, /* scratch */
  W_STIFF_K = W_STIFF_X + N * STIFF,
  W_STIFF_Y = W_STIFF_K + STIFF * STIFF,
  W_STIFF_BY = W_STIFF_Y + STIFF * N,
  W_ENERGY = W_STIFF_BY + STIFF, /* kinetic at the start, of gravity and of springs at both ends */
  W_DEPTH = W_ENERGY + 5, /* of limits and contacts at the start */
  W_BEFORE = W_DEPTH + CONES, /* impulses of the last step's pose stage, and by how much those of its rate stage were more */
#if BOUNCING
  W_SHIFT = W_BEFORE + 2 * IMPULSES, /* see rebounds.h */
  W_SEEN = W_SHIFT + 2 * CONTACTS,
  W_BY_SEEN = W_SEEN + 3 * CONTACTS,
  W_KEPT = W_BY_SEEN + 10 * CONTACTS, /* share of the restitution */
  W_SIZE = W_KEPT + 1
#else
  W_SIZE = W_BEFORE + 2 * IMPULSES
#endif
#else
  W_FORCE = W_ROWS + 2 * (N + ROWS) * NA, /* what acts at both ends */
  W_SIZE = W_FORCE + 2 * N
#endif
};

#if FLOATING
/* A torque on a floating base is held in fixed axes: on its three hinges it acts as E^T of it, with E as in floating.c, which is 1 at
 * the start of a step. */
static void on_hinges(const double *p, const double *u, double *torque) {
  const double c1 = cos(p[3]), s1 = sin(p[3]), c2 = cos(p[4]), s2 = sin(p[4]);
  torque[0] = u[3];
  torque[1] = c1 * u[4] + s1 * u[5];
  torque[2] = s2 * u[3] - s1 * c2 * u[4] + c1 * c2 * u[5];
}

/* The impulse of that torque over half a step, in the place of u's own, at the end of the step. */
static void turn_torque(const double *h, const double *u, const double *p_next, double *momentum) {
  double torque[3];
  int i;
  on_hinges(p_next, u, torque);
  for (i = 0; i < 3; i++) momentum[3 + i] += 0.5 * h[0] * (torque[i] - u[3 + i]);
}

/* Its derivatives by the pose, in both systems of a step's derivatives. */
static void turn_slopes(const double *p, const double *u, const double *h, double *K) {
  const double c1 = cos(p[3]), s1 = sin(p[3]), c2 = cos(p[4]), s2 = sin(p[4]), half = 0.5 * h[0] * h[0];
  K[4 + 3 * N] -= half * (c1 * u[5] - s1 * u[4]);
  K[5 + 3 * N] -= half * -c2 * (c1 * u[4] + s1 * u[5]);
  K[5 + 4 * N] -= half * (c2 * u[3] + s2 * (s1 * u[4] - c1 * u[5]));
}

/* Columns 3 to 5 of J by that torque instead of the hinges': J E^T. */
static void turn_columns(const double *p_next, double *J) {
  int i, k;
  for (k = 0; k < N; k++) {
    double column[3];
    for (i = 0; i < 3; i++) {
      double unit[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, torque[3];
      unit[3 + i] = 1.0;
      on_hinges(p_next, unit, torque);
      column[i] = J[k + 3 * N] * torque[0] + J[k + 4 * N] * torque[1] + J[k + 5 * N] * torque[2];
    }
    for (i = 0; i < 3; i++) J[k + (3 + i) * N] = column[i];
  }
}

#endif
/* What a step's kernels share that only the parameters decide. */
static void prepare(const double *alpha, double *w) {
  prepare_kernel(alpha, w + W_MODEL, w + W_KERNEL);
#if CONTACTS
  law_kernel(alpha, w + W_LAW, w + W_KERNEL);
#endif
}

/* The same for derivatives: of steps at the cone itself they are those at a slip of their own. */
static void prepare_slopes(const double *alpha, double *w) {
#if EXACT
  int k;
  prepare(alpha, w);
  for (k = 0; k < CONTACTS; k++) {
    double *slip = w + W_LAW + 4 * k + 3;
    if (slip[0] < alpha[SLOPE_SLIP]) slip[0] = alpha[SLOPE_SLIP];
  }
#else
  prepare(alpha, w);
#endif
}

static double largest(const double *x, int n) {
  double result = 0.0;
  int k;
  for (k = 0; k < n; k++) {
    const double a = fabs(x[k]);
    if (!(a <= result)) result = a; /* written so that NaN is kept */
  }
  return result;
}

#if SLACK
/* The largest gap of a loop beyond that. */
static double openness(const double *g) {
  double result = 0.0;
  int k;
  for (k = 0; k < ALL; k++) {
    const double a = fabs(g[k]) - slack[k];
    if (!(a <= result)) result = a;
  }
  return result;
}
#else
static double openness(const double *g) { return largest(g, ALL); }
#endif

#if ROWS
#include "loops_closed.h"
#endif
#if ROWS || CONTACTS || FLOATING
static double inner(const double *x, const double *y, int n) {
  double result = 0.0;
  int k;
  for (k = 0; k < n; k++) result += x[k] * y[k];
  return result;
}
#endif

/* c = c * keep + factor * a b, of rows x shared and shared x cols. */
static void product(const double *a, const double *b, int rows, int shared, int cols, double factor, double keep, double *c) {
  int i, j, k;
  for (j = 0; j < cols; j++) {
    for (i = 0; i < rows; i++) {
      double sum = 0.0;
      for (k = 0; k < shared; k++) sum += a[i + rows * k] * b[k + shared * j];
      c[i + rows * j] = factor * sum + (keep == 0.0 ? 0.0 : keep * c[i + rows * j]);
    }
  }
}

/* The same with the transpose of a, which is shared x rows. */
static void product_transposed(const double *a, const double *b, int rows, int shared, int cols, double factor, double keep,
                               double *c) {
  int i, j, k;
  for (j = 0; j < cols; j++) {
    for (i = 0; i < rows; i++) {
      double sum = 0.0;
      for (k = 0; k < shared; k++) sum += a[k + shared * i] * b[k + shared * j];
      c[i + rows * j] = factor * sum + (keep == 0.0 ? 0.0 : keep * c[i + rows * j]);
    }
  }
}

#if ROWS || SIDED
#include "dense.h"
#endif

#if ROWS
/* What the border makes of x = -D^-1 (force) and back = D^-1 A0^T: the multipliers, (A back) multipliers = rhs - A x, and x with
 * what they add. `rhs` holds the right-hand side and becomes the multipliers. */
static int border(const double *A, const double *back, double *x, double *rhs, double *w) {
  double *S = w + W_DENSE;
  product(A, back, ROWS, N, ROWS, 1.0, 0.0, S);
  product(A, x, ROWS, N, 1, -1.0, 1.0, rhs);
  if (solve_dense(S, rhs, ROWS, 1) != 0) return 10;
  product(back, rhs, N, ROWS, 1, 1.0, 1.0, x);
  return 0;
}

#endif
#if !SIDED
/* The same where S = A back and rhs - A x are known already: S multipliers = rhs, x += back multipliers. */
INLINE int add_border(double *S, const double *back, double *x, double *rhs) {
  int i, k;
#if ROWS == 0
  (void)S;
#elif ROWS == 1 && !SPARE
  if (!(fabs(S[0]) > 0.0)) return 10;
  rhs[0] /= S[0];
#elif ROWS == 2 && !SPARE
  /* By Cramer's rule, one division; the pivots would be `most` and determinant / most. */
  const double most = fabs(S[1]) > fabs(S[0]) ? fabs(S[1]) : fabs(S[0]), determinant = S[0] * S[3] - S[1] * S[2];
  const double square = most * most, first = rhs[0], inverse = 1.0 / determinant;
  if (!(fabs(determinant) > C_PIVOT_RATIO * square && square > C_PIVOT_RATIO * fabs(determinant))) return 10;
  rhs[0] = (S[3] * first - S[2] * rhs[1]) * inverse;
  rhs[1] = (S[0] * rhs[1] - S[1] * first) * inverse;
#else
  if (solve_dense(S, rhs, ROWS, 1) != 0) return 10;
#endif
  for (k = 0; k < ROWS; k++) {
    for (i = 0; i < N; i++) x[i] += back[i + N * k] * rhs[k];
  }
  return 0;
}

/* Solves F = A0^T L and g = 0 for p_next, which holds the first guess; leaves L, momentum, inertia and A of the end in w. Newton
 * once, then chord iterations on F, in all of which g is linearised anew; the contraction they show bounds the error that is
 * left, and a slow one calls for Newton again. The end is the last of them. */
static int solve_pose(const double *p, const double *u, const double *h, const double *alpha, double *p_next, double *w) {
  double *record = w + W_RECORD, *terms = w + W_TERMS, *correction = w + W_CORRECTION, *factors = w + W_FACTORS;
  double *A0 = w + W_A0, *A = w + W_A, *back = w + W_BACK, *L = w + W_L, *S = w + W_DENSE;
  const double *model = w + W_MODEL;
  double last = 0.0, size = 0.0, rate;
  int k, j, ending = 0, settled, stalled, fresh = 0;
  for (k = 0; k <= MAX_POSE; k++) {
    if (ending) {
      end_kernel(p_next, p, record, terms, u, factors, h, back, alpha, model, correction, w + W_MOMENTUM, w + W_MASS, S, L, A,
#if ROWS
                 w + W_FORCE + N, w + W_GAP, w + W_ALL,
#endif
                 w + W_KERNEL);
    } else if (fresh) {
      chord_kernel(p_next, p, record, terms, factors, back, alpha, model, correction, S, L, w + W_KERNEL);
    } else {
      newton_kernel(p_next, p, record, terms, A0, alpha, model, correction, factors, back, S, L, w + W_KERNEL);
    }
    if (add_border(S, back, correction, L) != 0) return largest(correction, N) <= C_FAR_POSE ? 10 : 1;
    size = largest(correction, N);
    if (!(size <= C_FAR_POSE)) return ROWS ? 13 : 1;
    for (j = 0; j < N; j++) p_next[j] += correction[j];
    if (k == 0) {
      last = size;
      fresh = size <= C_NEAR_POSE; /* farther off, two Newton iterations save a chord */
      continue;
    }
    rate = size == 0.0 ? 0.0 : size / last;
    last = size;
    if (!ending && !fresh && size * rate * rate <= C_LAST_CORRECTION) { /* quadratic: the end is next */
      ending = fresh = 1;
      continue;
    }
    fresh = rate <= C_SLOW;
    settled = rate < 1.0 && size * rate <= C_POSE_TOLERANCE * (1.0 - rate);
    stalled = !fresh && size <= C_STALL * (1.0 + largest(p_next, N)); /* rounding is all that is left */
    if (ending && (stalled || (settled && size <= C_LAST_CORRECTION))) {
      const double inverse = 1.0 / h[0];
      for (k = 0; k < N; k++) {
        for (j = 0; j < ROWS; j++) w[W_MOMENTUM + k] += A0[j + ROWS * k] * (L[j] * inverse);
      }
#if ROWS
      if (size > C_ROWS_TOLERANCE) gradient_kernel(p_next, alpha, model, A, w + W_KERNEL);
#endif
      return 0;
    }
    ending = stalled || (fresh && size * rate <= C_LAST_CORRECTION && size * rate * rate <= C_POSE_TOLERANCE);
  }
  return ROWS && !(size <= C_FAR_GUESS) ? 13 : 1;
}

/* M rate = momentum + h friction(rate) + A^T H / h and A rate = 0: Newton on the gradient of a convex function among the rates
 * that the loops allow, with a line search that never passes far beyond the minimum along the direction. Leaves H in w. */
static int solve_rate(const double *h, const double *alpha, double *rate, double *w) {
  const double *mass = w + W_MASS, *momentum = w + W_MOMENTUM, *model = w + W_MODEL, *A = w + W_A;
  double *gradient = w + W_GRADIENT, *direction = w + W_DIRECTION, *trial = w + W_TRIAL, *H = w + W_H, *S = w + W_DENSE;
  double *back = w + W_BACK, *pull = w + W_CORRECTION;
  int k, i, j, status;
  for (j = 0; j < LINKS && alpha[COULOMB + j] == 0.0; j++) {
  }
  if (j == LINKS) {
    velocity_kernel(mass, h, momentum, A, alpha, model, rate, back, S, H, w + W_KERNEL);
    status = add_border(S, back, rate, H);
    for (j = 0; j < ROWS; j++) H[j] *= h[0];
    if (!(largest(rate, N) <= C_FAR_RATE)) return 2;
    return status;
  }
  memset(rate, 0, N * sizeof(double));
  velocity_gradient_kernel(mass, momentum, h, rate, alpha, model, gradient, w + W_KERNEL);
  for (k = 0; k < MAX_RATE; k++) {
    double start, slope, t = 1.0, size;
    rate_kernel(mass, h, rate, gradient, A, alpha, model, direction, back, S, H, w + W_KERNEL);
    status = add_border(S, back, direction, H);
    size = largest(direction, N);
    if (!(size <= C_FAR_RATE)) return 2;
    if (status != 0) return status;
    /* The loops' part of the gradient does no work along the direction; taken off, its rounding does not either. */
    product_transposed(A, H, N, ROWS, 1, 1.0, 0.0, pull);
    for (j = 0, start = 0.0; j < N; j++) start += (gradient[j] - pull[j]) * direction[j];
    for (i = 0; i < MAX_LINE; i++) {
      for (j = 0; j < N; j++) trial[j] = rate[j] + t * direction[j];
      velocity_gradient_kernel(mass, momentum, h, trial, alpha, model, gradient, w + W_KERNEL);
      for (j = 0, slope = 0.0; j < N; j++) slope += (gradient[j] - pull[j]) * direction[j];
      if (size * t <= C_RATE_TOLERANCE || slope <= C_CURVATURE * -start) break;
      t *= C_SHRINK;
    }
    memcpy(rate, trial, N * sizeof(double));
    if (size * t <= C_RATE_TOLERANCE * (1.0 + largest(rate, N))) {
      for (j = 0; j < ROWS; j++) H[j] *= h[0];
      return 0;
    }
  }
  return 2;
}

#endif
#if SIDED
#include "cones.h"

#endif
/* `kick` is an impulse on the joints at the end of the step. `off` is the error of the previous step's first guess, which corrects
 * the guess of this step and is replaced by its error; 0 if there is none, and the start is then checked to be closed. */
static int advance_from(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                        const double *alpha, double *off, double *p_next, double *pd_next, double *w) {
  double *guess = w + W_GUESS;
  int j, status = 1;
  if (!(h[0] >= C_LEAST_STEP)) {
    memcpy(p_next, p, N * sizeof(double));
    memcpy(pd_next, pd, N * sizeof(double));
    return STATUS_STEP_NOT_FORWARDS;
  }
  start_kernel(p, pd, u, h, alpha, w + W_MODEL, w + W_RECORD, w + W_TERMS, p_next, w + W_A0, w + W_GAP,
#if SIDED
               w + W_ENERGY,
#elif ROWS
               w + W_FORCE,
#endif
               w + W_KERNEL);
  if (off == 0 && openness(w + W_GAP) > C_OPEN) status = 12;
  memcpy(guess, p_next, N * sizeof(double));
#if SIDED
  if (off != 0 && largest(off, N) <= C_FAR_GUESS) {
    for (j = 0; j < N; j++) p_next[j] += off[j];
  }
  if (status != 12) status = solve_sided(p, pd, u, kick, h, alpha, p_next, pd_next, off == 0, off != 0 ? (int)off[N] : 0, w);
  w[W_OFF + N] = status != 0 ? 0.0 : off != 0 && off[N] != 0.0 ? 2.0 : 1.0; /* impulses are known to the next, of two steps or one */
  if (status == 0) {
    for (j = 0; off != 0 && j < N; j++) off[j] = p_next[j] - guess[j];
#if ROWS
    closing_kernel(p_next, alpha, w + W_GAP, w + W_ALL, w + W_KERNEL);
    if (refuted_loops(w + W_GAP, 0, w + W_ALL, pd_next)) status = STATUS_STEP_REFUTED;
#endif
  }
#else
  if (status != 12 && off != 0 && largest(off, N) <= C_FAR_GUESS) {
    for (j = 0; j < N; j++) p_next[j] += off[j];
    status = solve_pose(p, u, h, alpha, p_next, w);
    if (status != 0) memcpy(p_next, guess, N * sizeof(double));
  }
  if (status != 0 && status != 12) status = solve_pose(p, u, h, alpha, p_next, w);
#if ROWS
  if (status != 0 && status != 12) { /* the motion turns far: a first guess from half the step */
    const double part = 0.5 * h[0];
    double *middle = w + W_TRIAL;
    start_kernel(p, pd, u, &part, alpha, w + W_MODEL, w + W_RECORD, w + W_TERMS, middle, w + W_A0, w + W_GAP, w + W_FORCE, w + W_KERNEL);
    if (solve_pose(p, u, &part, alpha, middle, w) == 0) {
      start_kernel(p, pd, u, h, alpha, w + W_MODEL, w + W_RECORD, w + W_TERMS, p_next, w + W_A0, w + W_GAP, w + W_FORCE, w + W_KERNEL);
      for (j = 0; j < N; j++) p_next[j] = 2.0 * middle[j] - p[j];
      status = solve_pose(p, u, h, alpha, p_next, w);
    }
  }
#endif
  if (status == 0) {
    for (j = 0; off != 0 && j < N; j++) off[j] = p_next[j] - guess[j];
    for (j = 0; kick != 0 && j < N; j++) w[W_MOMENTUM + j] += kick[j];
#if FLOATING
    turn_torque(h, u, p_next, w + W_MOMENTUM);
#if ROWS
    on_hinges(p_next, u, w + W_TRIAL);
    for (j = 0; j < 3; j++) w[W_FORCE + N + 3 + j] += w[W_TRIAL + j] - u[3 + j];
#endif
#endif
    status = solve_rate(h, alpha, pd_next, w);
#if ROWS
    if (status == 0 && refuted_turns(h, p, pd, kick, p_next, pd_next, w)) status = STATUS_STEP_REFUTED;
    if (status == 0 && refuted_loops(w + W_GAP, w + W_A, w + W_ALL, pd_next)) { /* at the last correction's start, or really? */
      closing_kernel(p_next, alpha, w + W_GAP, w + W_ALL, w + W_KERNEL);
      if (refuted_loops(w + W_GAP, 0, w + W_ALL, pd_next)) status = STATUS_STEP_REFUTED;
    }
#endif
  }
#endif
  if (status != 0) {
    memcpy(p_next, p, N * sizeof(double));
    memcpy(pd_next, pd, N * sizeof(double));
  }
  return status;
}

static int advance(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                   double *p_next, double *pd_next, double *w) {
  return advance_from(p, pd, u, 0, h, alpha, 0, p_next, pd_next, w);
}

#if SIDED
/* The first N rows of [slope -up^T; down 0]^-1: what belongs to the residual of momentum, and to the rows. */
static int inverted(const double *slope, const double *up, const double *down, double *square, double *rows, double *w) {
  double *K = w + W_SYSTEM, *one = w + W_WIDE;
  int i, j;
  for (j = 0; j < BIG; j++) {
    for (i = 0; i < BIG; i++) {
      one[i + BIG * j] = i == j;
      K[i + BIG * j] = i < N && j < N ? slope[i + N * j] : i < N ? -up[j - N + ROWS * i] : j < N ? down[i - N + ROWS * j] : 0.0;
    }
  }
  if (solve_dense(K, one, BIG, BIG) == 2) return 10;
  for (i = 0; i < N; i++) {
    for (j = 0; j < N; j++) square[i + N * j] = one[i + BIG * j];
    for (j = 0; j < ROWS; j++) rows[i + N * j] = one[i + BIG * (N + j)];
  }
  return 0;
}

/* Both linear systems of the derivatives at a step and its end, inverted: with r and s what enters h F and h G, c and e what enters
 * g and A rate, dp_next = -inverse r - V1 c and dpd_next = -response (K1 dp_next + D^T dp + s) - V2 (B1 dp_next + e). The step's
 * impulses are in w. Contacts that are stiff are not in K0 and K1: see `stiff_product`. */
static int linearise(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, double *w) {
  double *slope = w + W_INVERSE, *slope_rate = w + W_RESPONSE;
  int i;
#if !FLOATING
  (void)u;
#endif
  blocks_kernel(p, pd, p_next, pd_next, h, alpha, w + W_MODEL, w + W_D, w + W_K0, w + W_M0, w + W_K1, slope_rate,
#if LAGGING
                w + W_LAG,
#endif
                w + W_A0, w + W_A, w + W_KERNEL);
#if ROWS
  curvature_kernel(p, p_next, pd_next, w + W_L, w + W_H, alpha, w + W_C, w + W_C1, w + W_B1, w + W_KERNEL);
  for (i = 0; i < N * N; i++) {
    w[W_K0 + i] -= w[W_C + i];
    w[W_K1 + i] -= w[W_C1 + i];
  }
#endif
  for (i = 0; i < N * N; i++) {
    slope[i] = w[W_D + i];
    slope_rate[i] *= h[0];
  }
#if FLOATING
  turn_slopes(p, u, h, w + W_K0);
  turn_slopes(p_next, u, h, w + W_K1);
#endif
#if SIDES
  side_slopes(h, alpha, p_next, pd_next, slope, slope_rate, w);
#endif
#if CONTACTS
  contact_slopes(p, h, alpha, p_next, pd_next, slope, slope_rate, w);
#endif
  if (inverted(slope, w + W_A0, w + W_A, w + W_INVERSE, w + W_V1, w) != 0) return 10;
#if CONTACTS
  if (inverted(slope_rate, w + W_A, w + W_A, w + W_RESPONSE, w + W_V2, w) != 0) return 10;
  if (stiffened(0, h, w + W_INVERSE, w + W_V1, w) != 0) return 10;
  return stiffened(1, h, w + W_RESPONSE, w + W_V2, w);
#else
  return inverted(slope_rate, w + W_A, w + W_A, w + W_RESPONSE, w + W_V2, w);
#endif
}

#else
#if ROWS
/* inverse - (x inverse) border of one stage: v = x S^-1, x' = inverse - v w. */
static int bordered(double *inverse, const double *x, const double *wide, double *S, double *v, double *w) {
  double *one = w + W_DENSE;
  int i, j;
  for (j = 0; j < ROWS; j++) {
    for (i = 0; i < ROWS; i++) one[i + ROWS * j] = i == j;
  }
  if (solve_dense(S, one, ROWS, ROWS) != 0) return 10;
  product(x, one, N, ROWS, ROWS, 1.0, 0.0, v);
  product(v, wide, N, ROWS, N, -1.0, 1.0, inverse);
  return 0;
}

#endif
/* Both linear systems of the derivatives at a step and its end, solved: with r and s what enters h F and h G, c and e what enters
 * g and A rate, dp_next = -inverse r - V1 c and dpd_next = -response (K1 dp_next + D^T dp + s) - V2 (B1 dp_next + e). */
static int linearise(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, double *w) {
#if ROWS
  double *rows = w + W_C;
  int i, j;
#endif
  systems_kernel(p, pd, p_next, pd_next, h, u, alpha, w + W_MODEL, w + W_INVERSE, w + W_X, w + W_W, w + W_S, w + W_WF,
                 w + W_RESPONSE, w + W_Y, w + W_T, w + W_WG, w + W_D, w + W_K0, w + W_M0, w + W_K1, w + W_KERNEL);
#if ROWS
  if (bordered(w + W_INVERSE, w + W_X, w + W_W, w + W_S, w + W_V1, w) != 0) return 10;
  product(w + W_DENSE, w + W_WF, ROWS, ROWS, 1, 1.0, 0.0, w + W_L);
  for (j = 0; j < N; j++) {
    for (i = 0; i < ROWS; i++) rows[i + ROWS * j] = w[W_Y + j + N * i]; /* Y^T: ROWS <= N rows fit */
  }
  if (bordered(w + W_RESPONSE, w + W_Y, rows, w + W_T, w + W_V2, w) != 0) return 10;
#if FLOATING
  {
    double change[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    turn_torque(h, u, p_next, change);
    for (i = 0; i < ROWS; i++) w[W_WG + i] -= h[0] * inner(w + W_Y + N * i + 3, change + 3, 3);
  }
#endif
  product(w + W_DENSE, w + W_WG, ROWS, ROWS, 1, 1.0, 0.0, w + W_H);
  curvature_kernel(p, p_next, pd_next, w + W_L, w + W_H, alpha, w + W_C, w + W_C1, w + W_B1, w + W_KERNEL);
  for (i = 0; i < N * N; i++) {
    w[W_K0 + i] -= w[W_C + i];
    w[W_K1 + i] -= w[W_C1 + i];
  }
#endif
#if FLOATING
  turn_slopes(p, u, h, w + W_K0);
  turn_slopes(p_next, u, h, w + W_K1);
#endif
  return 0;
}

#endif
/* Pulls seeds at the end of a step back to its start, after `linearise`; adds to alpha_bar and h_bar where they are asked for. */
static void pull_back(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                     const double *p_next, const double *pd_next, const double *p_next_bar, const double *pd_next_bar,
                     double *p_bar, double *pd_bar, double *u_bar, double *alpha_bar, double *h_bar, double *w) {
  double *x = w + W_PULL, *y = x + N, *v = y + N, *z = v + ROWS, *q = w + W_P;
  int j;
  product_transposed(w + W_RESPONSE, pd_next_bar, N, N, 1, 1.0, 0.0, y);
  product_transposed(w + W_V2, pd_next_bar, ROWS, N, 1, 1.0, 0.0, z);
  memcpy(q, p_next_bar, N * sizeof(double));
  product_transposed(w + W_K1, y, N, N, 1, -1.0, 1.0, q);
  product_transposed(w + W_B1, z, N, ROWS, 1, -1.0, 1.0, q);
#if CONTACTS
  stiff_pull(1, w + W_R1, pd_next_bar, q, w);
#endif
  product_transposed(w + W_INVERSE, q, N, N, 1, 1.0, 0.0, x);
  product_transposed(w + W_V1, q, ROWS, N, 1, 1.0, 0.0, v);
  product_transposed(w + W_K0, x, N, N, 1, -1.0, 0.0, p_bar);
#if CONTACTS
  stiff_pull(0, w + W_S0, q, p_bar, w);
#endif
  product(w + W_D, y, N, N, 1, -1.0, 1.0, p_bar);
  product_transposed(w + W_M0, x, N, N, 1, h[0], 0.0, pd_bar);
#if SIDED && LAGGING
  product_transposed(w + W_LAG, y, N, N, 1, -1.0, 1.0, pd_bar);
#endif
  for (j = 0; j < N; j++) u_bar[j] = h[0] * h[0] / 2.0 * (x[j] + y[j]);
#if FLOATING
  for (j = 0; j < 3; j++) {
    double unit[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, torque[3];
    unit[3 + j] = 1.0;
    on_hinges(p_next, unit, torque);
    u_bar[3 + j] = h[0] * h[0] / 2.0 * (x[3 + j] + inner(torque, y + 3, 3));
  }
#endif
#if BOUNCING
  rebound_pull(p, pd, u, h, alpha, q, pd_next_bar, p_bar, pd_bar, u_bar, alpha_bar, h_bar, w);
#endif
  if (alpha_bar != 0 && h_bar != 0) {
    parameters_kernel(p, pd, u, h, p_next, pd_next, alpha, w + W_L, w + W_H, x, v, y, z, alpha_bar, h_bar, w + W_KERNEL);
#if SIDES
    side_gradients(h, alpha, p_next, pd_next, x, y, alpha_bar, h_bar, w);
#endif
#if CONTACTS
    contact_gradients(p, h, alpha, p_next, pd_next, x, y, q, pd_next_bar, alpha_bar, h_bar, w);
#endif
  }
}

HIDDEN int STEP(joint_step)(const double *const *in, double *const *out, double *work) {
  prepare(in[4], work);
  return advance(in[0], in[1], in[2], in[3], in[4], out[0], out[1], work);
}
#if CONTACTS

#include "contact_force.h"
#endif

#if FLOATING
/* joint_step after others with the same work array, from what they left in it; `first`: after none. */
HIDDEN int STEP(onward)(int first, const double *const *in, double *const *out, double *work) {
  double *off = work + W_OFF;
  if (first) memset(off, 0, (N + 1) * sizeof(double));
  prepare(in[4], work);
  return advance_from(in[0], in[1], in[2], 0, in[3], in[4], ROWS && first ? 0 : off, out[0], out[1], work);
}

#endif
static int differentiate(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                         const double *alpha, double *const *out, double *work) {
  double *w = work, *carried = w + W_C, *Z1 = w + W_INVERSE, *Z2 = w + W_RESPONSE;
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
  if (linearise(p, pd, u, h, alpha, p_next, pd_next, w) != 0) return 10;
  product(Z2, w + W_K1, N, N, N, -1.0, 0.0, carried);
  product(w + W_V2, w + W_B1, N, ROWS, N, -1.0, 1.0, carried);
  product(Z1, w + W_K0, N, N, N, -1.0, 0.0, out[2]);
#if CONTACTS
  stiff_product(1, w + W_R1, carried, w);
  stiff_product(0, w + W_S0, out[2], w);
#endif
  product(Z1, w + W_M0, N, N, N, h[0], 0.0, out[3]);
  for (i = 0; i < N * N; i++) out[4][i] = half * Z1[i];
  product(carried, out[2], N, N, N, 1.0, 0.0, out[5]);
  for (j = 0; j < N; j++) { /* - response D^T */
    for (i = 0; i < N; i++) {
      double sum = 0.0;
      int k;
      for (k = 0; k < N; k++) sum += Z2[i + N * k] * w[W_D + j + N * k];
      out[5][i + N * j] -= sum;
    }
  }
  product(carried, out[3], N, N, N, 1.0, 0.0, out[6]);
#if SIDED && LAGGING
  product(Z2, w + W_LAG, N, N, N, -1.0, 1.0, out[6]);
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

HIDDEN int STEP(jac_joint_step)(const double *const *in, double *const *out, double *work) {
  return differentiate(in[0], in[1], in[2], 0, in[3], in[4], out, work);
}

HIDDEN int STEP(jac_kicked_step)(const double *const *in, double *const *out, double *work) {
  return differentiate(in[0], in[1], in[2], in[3], in[4], in[5], out, work);
}

#if ALPHA_JACOBIAN && SIDED
HIDDEN int STEP(jac_alpha_joint_step)(const double *const *in, double *const *out, double *work) {
  /* A row for every unit seed. */
  double *w = work, *p_next = w + W_BAR, *pd_next = p_next + N, *bars = pd_next + N, *seed = w + W_ROWS, *row = seed + 2 * N;
  int status, r, j;
  prepare_slopes(in[4], w);
  status = advance(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, w);
  if (status != 0) return status;
  if (linearise(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, w) != 0) return 10;
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
#elif ALPHA_JACOBIAN
HIDDEN int STEP(jac_alpha_joint_step)(const double *const *in, double *const *out, double *work) {
  double *w = work, *p_next = w + W_BAR, *pd_next = p_next + N, *carried = w + W_C;
  double *F = w + W_ROWS, *g = F + N * NA, *G = g + ROWS * NA, *rates = G + N * NA;
  int status;
  prepare(in[4], w);
  status = advance(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, w);
  if (status != 0) return status;
  if (linearise(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, w) != 0) return 10;
  by_alpha_kernel(in[0], in[1], in[2], in[3], p_next, pd_next, in[4], w + W_L, w + W_H, F, g, G, rates, w + W_KERNEL);
  product(w + W_RESPONSE, w + W_K1, N, N, N, -1.0, 0.0, carried);
  product(w + W_V2, w + W_B1, N, ROWS, N, -1.0, 1.0, carried);
  product(w + W_INVERSE, F, N, N, NA, -1.0, 0.0, out[0]);
  product(w + W_V1, g, N, ROWS, NA, -1.0, 1.0, out[0]);
  product(carried, out[0], N, N, NA, 1.0, 0.0, out[1]);
  product(w + W_RESPONSE, G, N, N, NA, -1.0, 1.0, out[1]);
  product(w + W_V2, rates, N, ROWS, NA, -1.0, 1.0, out[1]);
  return 0;
}
#endif

HIDDEN int STEP(vjp_joint_step)(const double *const *in, double *const *out, double *work) {
  double *p_next = work + W_BAR, *pd_next = p_next + N;
  int status;
  prepare_slopes(in[4], work);
  status = advance(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, work);
  if (status != 0) return status;
  out[3][0] = 0.0;
  memset(out[4], 0, NA * sizeof(double));
  if (linearise(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, work) != 0) return 10;
  pull_back(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, in[5], in[6], out[0], out[1], out[2], out[4], out[3], work);
  return 0;
}

#if SIDED
/* Iterations, levels and evaluations of the last step, and its impulses: column k of `out`. */
static void note(int k, const double *h, double *const *out, const double *w) {
  int stage, i, next = 1;
  memcpy(out[0] + 5 * (ptrdiff_t)k, w + W_COUNT, 5 * sizeof(double));
  for (stage = 0; stage < 2 && ROWS > 0; stage++, next++) {
    for (i = 0; i < ROWS; i++) out[next][(ptrdiff_t)k * ROWS + i] = w[(stage ? W_H : W_L) + i] / h[0];
  }
  for (stage = 0; stage < 2 && SIDES > 0; stage++, next++) {
    memcpy(out[next] + (ptrdiff_t)k * SIDES, w + (stage ? W_PUSH_RATE : W_PUSH), SIDES * sizeof(double));
  }
  for (stage = 0; stage < 2 && TOUCHES > 0; stage++, next++) {
    memcpy(out[next] + (ptrdiff_t)k * TOUCHES, w + (stage ? W_PUSH_RATE : W_PUSH) + SIDES, TOUCHES * sizeof(double));
  }
}
#if FLOATING
void STEP(note)(int k, const double *h, double *const *out, const double *w) { note(k, h, out, w); }
#endif

#endif
static int roll(int steps, const double *const *in, double *P, double *PD, double *const *noted, double *work) {
  double *off = work + W_OFF;
  int k;
  memset(off, 0, (N + 1) * sizeof(double));
  memcpy(P, in[0], N * sizeof(double));
  memcpy(PD, in[1], N * sizeof(double));
  prepare(in[4], work);
  for (k = 0; k < steps; k++) {
    const ptrdiff_t at = (ptrdiff_t)k * N;
    const int status = advance_from(P + at, PD + at, in[2] + at, 0, in[3], in[4], k == 0 ? 0 : off, P + at + N, PD + at + N,
                                    work);
    if (status != 0) {
      for (k++; k < steps; k++) { /* the rest holds the last good state */
        memcpy(P + (ptrdiff_t)(k + 1) * N, P + at, N * sizeof(double));
        memcpy(PD + (ptrdiff_t)(k + 1) * N, PD + at, N * sizeof(double));
      }
      return status;
    }
#if SIDED
    if (noted != 0) note(k, in[3], noted, work);
#else
    (void)noted;
#endif
  }
  return 0;
}

HIDDEN int STEP(rollout)(int steps, const double *const *in, double *const *out, double *work) {
  return roll(steps, in, out[0], out[1], 0, work);
}

#if SIDED
HIDDEN int STEP(rollout_impulses)(int steps, const double *const *in, double *const *out, double *work) {
  return roll(steps, in, out[0], out[1], out + 2, work);
}

#endif
HIDDEN int STEP(vjp_trajectory)(int steps, const double *const *in, double *const *out, double *work) {
  const double *U = in[0], *h = in[1], *alpha = in[2], *P = in[3], *PD = in[4], *p_bars = in[5], *pd_bars = in[6];
  double *p_bar = work + W_BAR, *pd_bar = p_bar + N, *p_seed = pd_bar + N, *pd_seed = p_seed + N;
  int k, j;
#if EXACT
  double smooth[2 * N];
#endif
  if (!(h[0] >= C_LEAST_STEP)) return STATUS_STEP_NOT_FORWARDS;
  prepare_slopes(alpha, work);
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
    status = advance(P + at, PD + at, U + at, h, alpha, smooth, smooth + N, work);
    if (status != 0) return status;
    p_next = smooth;
    pd_next = smooth + N;
#elif SIDED
    status = recover(P + at, PD + at, U + at, h, alpha, p_next, pd_next, work);
    if (status != 0) return status;
#endif
    status = linearise(P + at, PD + at, U + at, h, alpha, p_next, pd_next, work);
    if (status != 0) return status;
    pull_back(P + at, PD + at, U + at, h, alpha, p_next, pd_next, p_seed, pd_seed, p_bar, pd_bar, out[2] + at, out[4], out[3],
              work);
    for (j = 0; j < N; j++) {
      p_bar[j] += p_bars[at + j];
      pd_bar[j] += pd_bars[at + j];
    }
  }
  memcpy(out[0], p_bar, N * sizeof(double));
  memcpy(out[1], pd_bar, N * sizeof(double));
  return 0;
}

HIDDEN int STEP(vjp_rollout)(int steps, const double *const *in, double *const *out, double *work) {
  double *P = work + W_SIZE, *PD = P + (ptrdiff_t)N * (steps + 1);
  const double *along[7] = {in[2], in[3], in[4], P, PD, in[5], in[6]};
  const int status = roll(steps, in, P, PD, 0, work);
  return status != 0 ? status : STEP(vjp_trajectory)(steps, along, out, work);
}

#if ROWS
#include "close_loops.h"

HIDDEN int STEP(close_rates)(const double *const *in, double *const *out, double *work) {
  double *u = work + W_GRADIENT;
  int status;
  memcpy(out[0], in[1], N * sizeof(double));
  if (!told(in[0], in[2], work)) return 10;
  memset(u, 0, N * sizeof(double));
  instant_kernel(in[0], in[1], u, in[2], work + W_TRIAL, work + W_BACK, work + W_A, work + W_WF, work + W_KERNEL);
  memset(work + W_L, 0, ROWS * sizeof(double));
  status = border(work + W_A, work + W_BACK, out[0], work + W_L, work);
  if (status != 0) memcpy(out[0], in[1], N * sizeof(double));
  return status;
}

#if !CONTACTS
/* Accelerations and the loops' forces at an instant. */
static int accelerate(const double *const *in, double *pdd, double *force, double *work) {
  int j, status;
  memset(pdd, 0, N * sizeof(double));
  memset(force, 0, ROWS * sizeof(double));
  if (!told(in[0], in[3], work)) return 10;
  instant_kernel(in[0], in[1], in[2], in[3], pdd, work + W_BACK, work + W_A, work + W_WF, work + W_KERNEL);
  for (j = 0; j < ROWS; j++) force[j] = -work[W_WF + j];
  status = border(work + W_A, work + W_BACK, pdd, force, work);
  if (status != 0 || !(largest(pdd, N) <= C_HUGE)) {
    memset(pdd, 0, N * sizeof(double));
    memset(force, 0, ROWS * sizeof(double));
    return status != 0 ? status : 4;
  }
  return 0;
}

HIDDEN int STEP(forward_dynamics)(const double *const *in, double *const *out, double *work) {
  return accelerate(in, out[0], work + W_L, work);
}

HIDDEN int STEP(loop_force)(const double *const *in, double *const *out, double *work) {
  return accelerate(in, work + W_TRIAL, out[0], work);
}
#endif

/* torque = motors' u + A^T force + what is left: motors at joints that have one. As many as the mobility, or more: nothing is left,
 * and u is the least; fewer: what is left is the least. */
static int share(const double *torque, const double *A, double *u, double *force, double *left, double *w) {
  const int ample = MOTORS >= N - ROWS + SPARE, n = ample ? N : PASSIVE, size = n + ROWS;
  double *K = w + W_DENSE, *rhs = w + W_RHS;
  int i, j, k = 0, status;
  memset(K, 0, (size_t)(size * size) * sizeof(double));
  memset(rhs, 0, (size_t)size * sizeof(double));
  for (j = 0; j < N; j++) {
    if (!ample && motor[j]) continue;
    if (!ample || motor[j]) K[k + size * k] = 1.0;
    for (i = 0; i < ROWS; i++) K[k + size * (n + i)] = K[n + i + size * k] = A[i + ROWS * j];
    rhs[k++] = torque[j];
  }
  status = solve_dense(K, rhs, size, 1) != 0 ? 10 : 0;
  for (i = 0; i < ROWS; i++) force[i] = status != 0 ? 0.0 : rhs[n + i];
  for (j = k = 0; j < N; j++) {
    const double pull = inner(A + ROWS * j, force, ROWS);
    u[j] = !motor[j] || status != 0 ? 0.0 : ample ? rhs[j] : torque[j] - pull;
    left[j] = torque[j] - u[j] - pull;
  }
  return status;
}

HIDDEN int STEP(inverse_dynamics)(const double *const *in, double *const *out, double *work) {
  double *torque = work + W_GRADIENT, *offset = work + W_DIRECTION;
  int j, status;
  for (j = 0; j < 3; j++) memset(out[j], 0, (j == 1 ? ROWS : N) * sizeof(double));
  if (!told(in[0], in[3], work)) return 10;
  held_kernel(in[0], in[1], in[2], in[3], torque, work + W_A, offset, work + W_KERNEL);
  status = share(torque, work + W_A, out[0], out[1], out[2], work);
  for (j = 0; j < N; j++) out[0][j] += motor[j] ? offset[j] : 0.0;
  return status;
}
#endif

HIDDEN int STEP(node_torque)(const double *const *in, double *const *out, double *work) {
  const double half_h = 0.5 * in[3][0];
  double *rate = work + W_BAR, *torque = rate + N, *offset = torque + N, *left = offset + N;
  int j, status;
  (void)j;
  if (!(in[3][0] >= C_LEAST_STEP)) return STATUS_STEP_NOT_FORWARDS;
  prepare(in[4], work);
  node_kernel(in[0], in[1], in[2], in[3], in[4], work + W_MODEL, left, work + W_MOMENTUM, work + W_MASS, work + W_A,
              work + W_KERNEL);
#if SIDED
  for (j = 0; j < N; j++) torque[j] = (in[2][j] - in[0][j]) / (4.0 * half_h); /* friction's law is taken at the mean rate */
  status = node_rate(&half_h, in[1], torque, in[4], rate, work);
#else
  status = solve_rate(&half_h, in[4], rate, work);
#endif
  if (status != 0) return status;
#if ROWS
  memset(torque, 0, N * sizeof(double));
  memset(work + W_TRIAL, 0, N * sizeof(double));
  node_torque_kernel(torque, work + W_TRIAL, in[4], offset, work + W_KERNEL); /* at rest, of no torque: the sensor's offset */
  node_torque_kernel(left, rate, in[4], torque, work + W_KERNEL);
  for (j = 0; j < N; j++) torque[j] -= offset[j];
  status = share(torque, work + W_A, out[0], work + W_L, left, work);
  for (j = 0; j < N; j++) out[0][j] += motor[j] ? offset[j] : 0.0;
  return status;
#else
  (void)offset;
  node_torque_kernel(left, rate, in[4], out[0], work + W_KERNEL);
  return 0;
#endif
}

#if !defined(FOR_V3) && !FLOATING
enum { WORK_SIZE = W_SIZE, NP = N };
#include "work_sizes.h"
SIZED(jac_kicked_step)
#endif

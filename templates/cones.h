#ifndef DIFFPBD_EVALUATIONS
/* Most evaluations of a step's equations, all levels of both stages together; where they are spent the step ends in status 14. Those
 * that must know the longest time of a step choose it when they compile (-DDIFFPBD_EVALUATIONS=60). */
#define DIFFPBD_EVALUATIONS 1000000
#endif

/* A stage of a step, with what acts on one side alone: its impulses are unknowns beside the pose and the rates. */
typedef struct {
  const double *p, *pd, *u, *h, *alpha;
  const double *end;   /* the pose at the end, of the rate stage; 0: the pose stage */
  double least;        /* slip is no less [rad/s or m/s] */
  double slip, impulse; /* the least slip of all, the largest load times h */
  double rows;         /* square of the rows of what acts on one side */
  int spent;           /* evaluations */
  int acting;          /* 0: nothing acts on one side */
  int linear;          /* no friction but a viscous one: the rate stage's equations without what acts on one side are linear */
  int apart;           /* normal and friction of a contact have rows of their own */
  int fresh, landing;  /* D is worked out anew; pose stage: the residual comes with momentum and inertia */
  int known;           /* D is that of the rate stage, which is linear */
  int factored, columns; /* what is known of D of the last `fresh`: its factors, and what they make of impulses */
  int sorted, nearer;  /* `far` has been determined; a row that was far has come near since */
  int seen;            /* contacts are known at x */
  int far[CONES];      /* of what acts on one side: so far away that Newton's method needs no slope of its impulse */
} Stage;

#if SIDES
#include "joint_limits.h"

#endif
#if CONTACTS
#include "contacts.h"
#if BOUNCING
#include "rebounds.h"
#endif

#endif
/* Residual of a stage at x (pose or rates), impulses of the loops and of what acts on one side, and what `newton` needs to better it;
 * returns the square of its norm. All in momenta: the pose stage is divided by h. Impulses of what is far are set, not read. */
static double evaluate(Stage *s, const double *x, const double *loops, double *impulse, double *w) {
  double *F = w + W_GRADIENT, *D = w + W_SLOPES, *g = w + W_GAP, *A = w + W_A;
  const double *model = w + W_MODEL, *along = s->end ? A : w + W_A0, scale = s->end ? 1.0 : 1.0 / s->h[0];
  double sum = 0.0;
  int i, j, k;
  s->nearer = 0;
  s->spent++;
  if (s->fresh) s->factored = 0;
  if (s->end != 0 && s->linear && !s->fresh) {
    for (i = 0; i < N; i++) F[i] = -w[W_MOMENTUM + i];
    for (j = 0; j < N; j++) {
      for (i = 0; i < N; i++) F[i] += D[i + N * j] * x[j];
    }
    product(A, x, ROWS, N, 1, 1.0, 0.0, g);
  } else if (s->end != 0) {
    s->factored = 0;
    rate_system_kernel(w + W_MASS, w + W_MOMENTUM, s->h, x,
#if LAGGING
                       s->pd,
#endif
                       s->alpha, model, F, D, w + W_KERNEL);
    product(A, x, ROWS, N, 1, 1.0, 0.0, g);
  } else if (s->fresh) {
    pose_kernel(x, s->p, w + W_RECORD, w + W_TERMS, s->alpha, model, F, D, g, A, w + W_KERNEL);
  } else if (s->landing) {
    landing_kernel(x, s->p, w + W_RECORD, w + W_TERMS, s->u, s->h, s->alpha, model, F, w + W_MOMENTUM, w + W_MASS, g, A,
                   w + W_ENERGY + 3, w + W_KERNEL);
  } else {
    residual_kernel(x, s->p, w + W_RECORD, w + W_TERMS, s->alpha, model, F, g, A, w + W_KERNEL);
  }
  for (i = 0; i < N; i++) {
    F[i] *= scale;
    for (k = 0; k < ROWS; k++) F[i] -= along[k + ROWS * i] * loops[k];
  }
  for (k = 0; k < ROWS; k++) sum += g[k] * g[k] * scale * scale;
  s->rows = 0.0;
  if (s->acting) {
#if SIDES
    s->rows += add_sides(s, x, impulse, F, w);
#endif
#if CONTACTS
    s->rows += add_contacts(s, x, impulse + SIDES, F, w);
#endif
    s->sorted = 1;
    sum += s->rows;
  }
  for (j = 0; j < N; j++) sum += F[j] * F[j];
  return sum;
}

/* Solves a system of `size` rows, the right-hand side behind each, by elimination with partial pivoting. Not 0: it is singular. */
static int solve_system(double *K, int size, double *x) {
  double *line[BIG];
  int i, j, k;
  for (i = 0; i < size; i++) line[i] = K + (size + 1) * i;
  for (k = 0; k < size; k++) {
    double *pivot, most = fabs(line[k][k]), inverse;
    int best = k;
    for (i = k + 1; i < size; i++) {
      if (fabs(line[i][k]) > most) most = fabs(line[best = i][k]);
    }
    if (!(most > 0.0)) return 1;
    pivot = line[best];
    line[best] = line[k];
    line[k] = pivot;
    inverse = 1.0 / pivot[k];
    for (i = k + 1; i < size; i++) {
      const double f = line[i][k] * inverse;
      double *other = line[i];
      if (f == 0.0) continue;
      for (j = k + 1; j <= size; j++) other[j] -= f * pivot[j];
    }
    pivot[k] = inverse;
  }
  for (i = size - 1; i >= 0; i--) {
    double sum = line[i][size];
    for (j = i + 1; j < size; j++) sum -= line[i][j] * x[j];
    x[i] = sum * line[i][i];
  }
  return 0;
}

/* The same of three rows, of which none is far larger than another, by Cramer's rule. */
static int solve_three(double *K, double *x) {
  const double *a = K, *b = K + 4, *c = K + 8;
  const double p = b[1] * c[2] - b[2] * c[1], q = b[2] * c[0] - b[0] * c[2], r = b[0] * c[1] - b[1] * c[0];
  const double determinant = a[0] * p + a[1] * q + a[2] * r, inverse = 1.0 / determinant;
  if (!(fabs(determinant) > C_CONE_PIVOT)) return solve_system(K, 3, x);
  x[0] = (a[3] * p + b[3] * (c[1] * a[2] - c[2] * a[1]) + c[3] * (a[1] * b[2] - a[2] * b[1])) * inverse;
  x[1] = (a[3] * q + b[3] * (c[2] * a[0] - c[0] * a[2]) + c[3] * (a[2] * b[0] - a[0] * b[2])) * inverse;
  x[2] = (a[3] * r + b[3] * (c[0] * a[1] - c[1] * a[0]) + c[3] * (a[0] * b[1] - a[1] * b[0])) * inverse;
  return 0;
}

/* Factors of D, or where the robot is small (STRAIGHT) its inverse, which is nearly an inertia and needs no pivots, by columns; not 0: it is not. */
static int factor(const double *D, double scale, double *LU, double *w) {
#if STRAIGHT
  double pivots[N], inverse = 1.0 / scale;
  int i;
  inverse_kernel(D, LU, pivots, w + W_KERNEL);
  for (i = 0; i < N; i++) {
    const double share = pivots[i] * D[i + N * i];
    if (!(share > 0.0 && share * C_CONE_PIVOT < 1.0)) return 1;
  }
  for (i = 0; i < N * N; i++) LU[i] *= inverse;
#else
  int i, j, k;
  (void)w;
  for (i = 0; i < N * N; i++) LU[i] = scale * D[i];
  for (k = 0; k < N; k++) {
    double *column = LU + N * k;
    const double inverse = 1.0 / column[k];
    if (!(column[k] > C_CONE_PIVOT * scale * D[k + N * k])) return 1;
    column[k] = inverse;
    for (i = k + 1; i < N; i++) column[i] *= inverse;
    for (j = k + 1; j < N; j++) {
      double *other = LU + N * j;
      const double f = other[k];
      for (i = k + 1; i < N; i++) other[i] -= column[i] * f;
    }
  }
#endif
  return 0;
}

static void factored(const double *LU, double *x) {
#if STRAIGHT
  double found[N];
  int i, k;
  for (i = 0; i < N; i++) found[i] = LU[i] * x[0];
  for (k = 1; k < N; k++) {
    for (i = 0; i < N; i++) found[i] += LU[i + N * k] * x[k];
  }
  memcpy(x, found, sizeof found);
#else
  int i, k;
  for (k = 0; k < N; k++) {
    for (i = k + 1; i < N; i++) x[i] -= LU[i + N * k] * x[k];
  }
  for (k = N - 1; k >= 0; k--) {
    x[k] *= LU[k + N * k];
    for (i = 0; i < k; i++) x[i] -= LU[i + N * k] * x[k];
  }
#endif
}

/* D's factors, and the columns that they make of the impulses of loops and of what acts; not 0: it has none. */
static int prepare_columns(Stage *s, int size, double *w) {
  const double *along = s->end ? w + W_A : w + W_A0;
  double *LU = w + W_LU, *X = w + W_COLUMNS;
  int i, k, at = ROWS;
  if (!s->factored) {
    if (factor(w + W_SLOPES, s->end ? 1.0 : 1.0 / s->h[0], LU, w) != 0) return 1;
    s->factored = 1;
    s->columns = 0;
  }
  if (s->columns) return 0;
  for (k = 0; k < ROWS; k++) {
    for (i = 0; i < N; i++) X[N * k + i] = along[k + ROWS * i];
  }
#if SIDES
  for (k = 0; k < SIDES && at < size; k++) {
    if (s->far[k]) continue;
    memset(X + N * at, 0, N * sizeof(double));
    X[N * at++ + side_of[k]] = side_slope[k];
  }
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS && at < size; k++) {
    if (s->far[SIDES + k]) continue;
    memcpy(X + N * at, w + (s->end ? W_J : W_J0) + N * touch_row[k], (size_t)(N * touch_size(k)) * sizeof(double));
    at += touch_size(k);
  }
#endif
  for (k = 0; k < size; k++) factored(LU, X + N * k);
  s->columns = 1;
  return 0;
}

/* full = what z, impulses of loops and of what acts, adds to what the coordinates change by without them. */
static void spread(const Stage *s, const double *z, int size, double *full, const double *w) {
  int i, k, at = ROWS;
  memcpy(full, w + W_FREE, N * sizeof(double));
  for (k = 0; k < size; k++) {
    for (i = 0; i < N; i++) full[i] += w[W_COLUMNS + N * k + i] * z[k];
  }
  memcpy(full + N, z, ROWS * sizeof(double));
  memset(full + BIG, 0, IMPULSES * sizeof(double));
  for (k = 0; k < SIDES && at < size; k++) {
    if (!s->far[k]) full[BIG + k] = z[at++];
  }
#if CONTACTS
  for (k = 0; k < CONTACTS && at < size; k++) {
    for (i = touch_row[k]; i < touch_row[k + 1] && !s->far[SIDES + k]; i++) full[BIG + SIDES + i] = z[at++];
  }
#endif
}

/* x and G of what acts, after a change `full`; the square of its rows and those of the loops. */
static double ahead(Stage *s, const double *x, const double *impulse, const double *full, double *w) {
  const double *g = w + W_GAP, *A = w + W_A, scale = s->end ? 1.0 : 1.0 / s->h[0];
  double sum = 0.0;
  int i, k;
  s->spent++;
  for (k = 0; k < ROWS; k++) {
    double left = g[k];
    for (i = 0; i < N; i++) left += A[k + ROWS * i] * full[i];
    sum += left * left * scale * scale;
  }
#if SIDES
  for (k = 0; k < SIDES; k++) sum += s->far[k] ? 0.0 : side_ahead(s, k, impulse, full, x, w);
#else
  (void)x;
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS; k++) sum += s->far[SIDES + k] ? 0.0 : touch_ahead(s, k, impulse, full, w);
#endif
  return sum;
}

/* Newton's change of z where `full` is what changes so far, or (`plain`) where nothing does but x and G are used as if it were. */
static int change_impulses(const Stage *s, int size, int plain, const double *full, double *z, double *w) {
  const double *g = w + W_GAP, *A = w + W_A, *X = w + W_COLUMNS;
  double *K = w + W_SYSTEM;
  int i, j, k, at = ROWS;
  for (k = 0; k < ROWS; k++) {
    double *line = K + (size + 1) * k;
    line[size] = -g[k];
    for (j = 0; j < size; j++) line[j] = 0.0;
    for (i = 0; i < N; i++) {
      line[size] -= A[k + ROWS * i] * full[i];
      for (j = 0; j < size; j++) line[j] += A[k + ROWS * i] * X[N * j + i];
    }
  }
#if SIDES
  for (k = 0; k < SIDES && at < size; k++) {
    double *line = K + (size + 1) * at;
    const double G = w[W_CONE + SIDES + k];
    if (s->far[k]) continue;
    line[size] = -w[W_CONE + k] - (plain ? G * full[side_of[k]] : 0.0);
    for (j = 0; j < size; j++) line[j] = G * X[N * j + side_of[k]];
    line[at++] += 1.0;
  }
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS && at < size; k++) {
    if (s->far[SIDES + k]) continue;
    touch_lines(s, k, size, at, X, plain ? full : 0, K, w);
    at += touch_size(k);
  }
#endif
  for (k = ROWS; k < size; k++) { /* rows of what presses are large */
    double *line = K + (size + 1) * k, share = 1.0 / largest(line, size);
    for (j = 0; j <= size; j++) line[j] *= share;
  }
  return size == 3 ? solve_three(K, z) : solve_system(K, size, z);
}

/* Impulses z of what acts where everything else is linear, by Newton's method with a line search from z. 0: found. */
static int settle(Stage *s, const double *x, const double *impulse, int size, double least, double *z, double *full, double *w) {
  double change[BIG], trial[BIG], sum;
  int k, i, j;
  if (s->spent >= DIFFPBD_EVALUATIONS) return 1;
  spread(s, z, size, full, w);
  sum = ahead(s, x, impulse, full, w);
  for (k = 0; k < C_CONE_INNER; k++) {
    double t = 1.0, found = sum;
    if (sum <= least * least) return 0;
    if (!(sum <= C_HUGE) || change_impulses(s, size, 0, full, change, w) != 0) return 1;
    for (i = 0; i <= C_CONE_INNER_HALVINGS; i++, t *= 0.5) {
      for (j = 0; j < size; j++) trial[j] = z[j] + t * change[j];
      if (s->spent >= DIFFPBD_EVALUATIONS) return 1;
      spread(s, trial, size, full, w);
      found = ahead(s, x, impulse, full, w);
      if (found <= (1.0 - 0.2 * t) * sum) break;
    }
    if (!(found < sum)) return sum <= 1e4 * least * least ? 0 : 1;
    memcpy(z, trial, (size_t)size * sizeof(double));
    sum = found;
  }
  return sum <= least * least ? 0 : 1;
}

/* Newton's change (of x, loops and impulses) with the impulses of loops and of what acts on one side as unknowns beside those that
 * the factors of D leave: few where little acts. While their rows are far from solved they are solved first, all else linear. Not
 * 0: D has no factors. */
static int newton_by_impulses(Stage *s, const double *x, const double *impulse, int pushes, double *full, double *w) {
  const int size = ROWS + pushes;
  const double scale = largest(impulse, PUSHES) + s->impulse;
  double z[BIG], *free = w + W_FREE;
  int i;
  if (prepare_columns(s, size, w) != 0) return 1;
  for (i = 0; i < N; i++) free[i] = -w[W_GRADIENT + i];
  factored(w + W_LU, free);
  memset(z, 0, sizeof z);
  if (size == 0) {
    spread(s, z, size, full, w);
    return 0;
  }
  if (pushes > 0 && !s->apart && s->rows > C_CONE_AHEAD * C_CONE_AHEAD * scale * scale) {
    const double least = (s->end && s->linear ? 0.5 * C_CONE_RESIDUAL : C_CONE_INNER_RESIDUAL) * scale, known = s->least;
    int status = settle(s, x, impulse, size, least, z, full, w);
    if (status != 0) {
      double slip = C_CONE_TOP;
      memset(z, 0, sizeof z);
      for (; slip > known && slip > s->slip && slip <= C_CONE_TOP; slip *= 0.1) {
        s->least = slip;
        (void)settle(s, x, impulse, size, C_CONE_ROUGH * scale, z, full, w);
      }
      s->least = known;
      status = settle(s, x, impulse, size, least, z, full, w);
    }
    if (status == 0) return 0;
    if (s->spent >= DIFFPBD_EVALUATIONS) return 1;
    memset(z, 0, sizeof z);
    memset(full, 0, (BIG + IMPULSES) * sizeof(double));
    (void)ahead(s, x, impulse, full, w);
  }
  if (change_impulses(s, size, 1, free, z, w) != 0) return 1;
  spread(s, z, size, full, w);
  return 0;
}

/* The same with the impulses eliminated: of what acts on one side there may be much. Not 0: the system is singular. */
static int newton_by_coordinates(Stage *s, double *full, double *w) {
  const double *F = w + W_GRADIENT, *D = w + W_SLOPES, *g = w + W_GAP, *A = w + W_A;
  const double scale = s->end ? 1.0 : 1.0 / s->h[0], *along = s->end ? A : w + W_A0;
  double *K = w + W_SYSTEM, *impulse = full + BIG;
  int i, j, k;
  for (i = 0; i < N; i++) {
    double *line = K + (BIG + 1) * i;
    for (j = 0; j < N; j++) line[j] = scale * D[i + N * j];
    for (k = 0; k < ROWS; k++) line[N + k] = -along[k + ROWS * i];
    line[BIG] = -F[i];
  }
  for (k = 0; k < ROWS; k++) {
    double *line = K + (BIG + 1) * (N + k);
    for (j = 0; j < N; j++) line[j] = A[k + ROWS * j];
    for (j = 0; j < ROWS; j++) line[N + j] = 0.0;
    line[BIG] = -g[k];
  }
#if SIDES
  for (k = 0; k < SIDES && s->acting; k++) {
    double *line = K + (BIG + 1) * side_of[k];
    if (s->far[k]) continue;
    line[BIG] -= side_slope[k] * w[W_CONE + k];
    line[side_of[k]] += side_slope[k] * w[W_CONE + SIDES + k];
  }
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS && s->acting; k++) {
    if (!s->far[SIDES + k]) touch_square(s, k, K, w);
  }
#endif
  if (solve_system(K, BIG, full) != 0) return 1;
  memset(impulse, 0, IMPULSES * sizeof(double));
#if SIDES
  for (i = 0; i < SIDES && s->acting; i++) {
    if (!s->far[i]) impulse[i] = -w[W_CONE + i] - w[W_CONE + SIDES + i] * full[side_of[i]];
  }
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS && s->acting; k++) {
    if (s->far[SIDES + k]) continue;
    for (i = touch_row[k]; i < touch_row[k + 1]; i++) impulse[SIDES + i] = -w[W_X_TOUCH + i] - inner(w + W_GY + N * i, full, N);
  }
#endif
  return 0;
}

/* Newton's change by the smaller of the two systems. */
static int newton(Stage *s, const double *x, const double *impulse, double *full, double *w) {
  int k, pushes = 0, status;
  for (k = 0; k < SIDES && s->acting; k++) pushes += !s->far[k];
#if CONTACTS
  for (k = 0; k < CONTACTS && s->acting; k++) pushes += s->far[SIDES + k] ? 0 : touch_size(k);
#endif
  status = pushes > N || newton_by_impulses(s, x, impulse, pushes, full, w) != 0 ? newton_by_coordinates(s, full, w) : 0;
#if ROUGH_ANY
  for (k = 0; k < CONTACTS && s->apart; k++) {
    const double *psi = w + W_PSI + 4 * k, *by = w + (s->end ? W_J : W_BY) + N * touch_row[k];
    double value = -psi[0];
    int q;
    if (touch_size(k) != 3) continue;
    for (q = 0; q < 3; q++) value -= psi[1 + q] * inner(by + N * q, full, N);
    full[BIG + SIDES + TOUCHES + k] = value;
  }
#endif
  return status;
}

/* Impulses of a stage that knows none. */
static void cold(Stage *s, const double *x, double most, double *impulse, double *w) {
#if SIDES
  cold_sides(s, x, most, impulse, w);
#endif
#if CONTACTS
  cold_contacts(s, x, most, impulse + SIDES, w);
#else
  (void)w;
#endif
}

/* Newton's method with a line search. x, loops and impulse are the start and the result; D of the pose stage is kept while iterations
 * contract. Returns 0 when a full step is of the size of rounding, or the contraction predicts that the next will be, or the residual
 * is below `rough`; 3 when the evaluations are used up. */
static int descend(Stage *s, double *x, double *loops, double *impulse, int most, double rough, double *w) {
  double *full = w + W_CHANGE, *trial = w + W_START, left, last = 0.0, before = C_HUGE, most_impulse;
  int k, i, j;
  s->fresh = !s->known;
  s->landing = s->sorted = 0;
  if (s->spent >= DIFFPBD_EVALUATIONS) return 3;
  most_impulse = s->impulse + largest(impulse, PUSHES);
  left = evaluate(s, x, loops, impulse, w);
  most_impulse += C_CONE_IMPULSE * sqrt(left); /* beyond it nothing is pressed, and no residual is small beside it */
  for (k = 0; k < most; k++) {
    double t = 1.0, size, rate, nearly, sum = left, scale = largest(impulse, PUSHES) + s->impulse;
    if (!(scale <= most_impulse)) scale = most_impulse;
    if (!(left <= C_HUGE)) return k == 0 ? 2 : 1;
    if (rough > 0.0 && left <= rough * rough) return 0;
    {
      const double least = C_CONE_RESIDUAL * scale, stall = C_CONE_STALL * scale;
      if (left <= least * least || (left <= stall * stall && left > 0.1 * before)) { /* rounding is all that is left */
        memset(full, 0, BIG * sizeof(double));
        return 0;
      }
      before = left;
    }
    w[W_COUNT + (s->end ? 1 : 0)] += 1.0;
    if (newton(s, x, impulse, full, w) != 0) return 1;
    size = largest(full, N);
    if (!(size <= (C_FAR_RATE))) return 1;
    rate = last > 0.0 ? size / last : 1.0; /* no contraction is known but after a full change */
    nearly = (s->end ? C_CONE_NEARLY_RATE : C_CONE_NEARLY) * scale;
    if ((!s->acting || (left <= nearly * nearly && largest(full + BIG, PUSHES) <= C_CONE_NEARLY * scale)) &&
        (size <= (s->end ? C_CONE_RATE : C_LAST_CORRECTION) * (1.0 + largest(x, N)) ||
         (rate <= C_SLOW && size * rate <= (s->end ? C_CONE_SETTLED_RATE : C_POSE_TOLERANCE)))) {
      for (j = 0; j < N; j++) x[j] += full[j];
      for (j = 0; j < ROWS; j++) loops[j] += full[N + j];
      for (j = 0; j < IMPULSES; j++) impulse[j] += full[BIG + j];
      return 0;
    }
    s->landing = (k == 0 || rate <= C_SLOW) && size * (s->fresh ? size : rate) <= C_LAST_CORRECTION;
    s->fresh = !s->landing && !(s->end != 0 && s->linear) &&
               (k == 0 ? size > C_CONE_CHORD : rate > C_SLOW || (!s->fresh && size * rate * rate > C_CONE_ANEW));
    for (i = 0; i <= C_CONE_HALVINGS; i++) {
      for (j = 0; j < N; j++) trial[j] = x[j] + t * full[j];
      for (j = 0; j < ROWS; j++) trial[N + j] = loops[j] + t * full[N + j];
      for (j = 0; j < IMPULSES; j++) trial[BIG + j] = impulse[j] + t * full[BIG + j];
      if (s->spent >= DIFFPBD_EVALUATIONS) return 3;
      sum = evaluate(s, trial, trial + N, trial + BIG, w);
      if (sum <= (1.0 - 0.2 * t) * left || ((s->nearer || (i == 0 && size <= C_CONE_NEAR)) && sum <= C_HUGE)) break;
      t *= 0.5;
      s->landing = 0;
    }
    last = t == 1.0 ? size : 0.0;
    memcpy(x, trial, N * sizeof(double));
    memcpy(loops, trial + N, ROWS * sizeof(double));
    memcpy(impulse, trial + BIG, IMPULSES * sizeof(double));
    left = sum;
  }
  return 1;
}

/* Continuation in the slip: from far above it down to it, each solve from the last solution; `patient` lets each solve converge. */
static int follow(Stage *s, double *x, double *loops, double *impulse, double top, double factor, int patient, double *w) {
  int status = 1;
  for (s->least = top;; s->least *= factor) {
    const int last = s->least <= s->slip, most = patient ? C_CONE_PATIENT : last ? C_CONE_LAST : C_CONE_LEVEL;
    const double rough = last || patient ? 0.0 : C_CONE_ROUGH * s->impulse * sqrt(s->least / top);
    if (last) s->least = 0.0;
    status = descend(s, x, loops, impulse, most, rough, w);
    if (last || status == 3 || !(largest(x, N) <= C_FAR_RATE)) return status;
  }
}

#if ROUGH_ANY
/* The same with rows apart, then together again from where that ended. */
static int follow_apart(Stage *s, double *x, double *loops, double *impulse, double *w) {
  s->apart = 1;
  (void)follow(s, x, loops, impulse, C_CONE_TOP, 0.1, 0, w);
  s->apart = 0;
  {
    const int status = descend(s, x, loops, impulse, C_CONE_LAST, 0.0, w);
    if (status == 0 || status == 3) return status;
  }
  return follow(s, x, loops, impulse, C_CONE_TOP, 0.3, 1, w);
}

#endif
enum {
  WARM,
  COLD,
  FALLING,
  SLOWER,
#if ROUGH_ANY
  APART,
#endif
  PATIENT,
  LEVELS = PATIENT + 4
};

/* A stage by the first of its levels that solves it: at the final slip, from `impulse` where it is known, then from none known; along
 * a falling slip; along it with rows apart, where there is friction; ever more slowly. */
static int solve_stage(Stage *s, double *x, double *loops, double *impulse, int warm, double *w) {
  static const double tops[] = { 2.0, 20.0, 200.0, 2000.0 }, factors[] = { 0.1, 0.3, 0.5, 0.7 };
  double *first = w + W_FIRST, top;
  int level, status, k;
  memset(w + W_RHO, 0, CONES * sizeof(double));
  memcpy(first, x, N * sizeof(double));
  for (level = warm ? WARM : COLD; level < LEVELS; level++) {
    k = level < PATIENT ? 0 : level - PATIENT;
    top = C_CONE_TOP * (level >= PATIENT ? tops[k] : level == SLOWER ? 10.0 : 1.0);
    if (level > WARM) {
      memcpy(x, first, N * sizeof(double));
      memset(loops, 0, ROWS * sizeof(double));
      s->least = level > COLD ? top : 0.0;
      cold(s, x, 1.0, impulse, w);
    }
    w[W_COUNT + 2 + (s->end ? 1 : 0)] = level > SLOWER ? 2.0 : level > COLD ? 1.0 : 0.0;
    s->least = 0.0;
    status = level <= COLD     ? descend(s, x, loops, impulse, C_CONE_FIRST, 0.0, w)
             : level == FALLING ? follow(s, x, loops, impulse, top, 0.01, 0, w)
             : level == SLOWER  ? follow(s, x, loops, impulse, top, 0.1, 0, w)
#if ROUGH_ANY
             : level == APART ? follow_apart(s, x, loops, impulse, w)
#endif
                              : follow(s, x, loops, impulse, top, factors[k], 1, w);
    w[W_COUNT + 4] = s->spent;
    for (k = 0; k < N && status == 0 && !s->end; k++) status = !(fabs(x[k] - first[k]) <= (turning[k] ? C_FAR_TURN : C_FAR_POSE));
    if (status == 0) return 0;
    if (status == 3) return 14;
    if (status == 2 && level > WARM) return s->end ? 2 : 1; /* nothing finite to start from */
  }
  /* Where no limit presses the step itself is at fault. */
  return largest(impulse, PUSHES) > C_CONE_ROUGH * s->impulse ? 14 : s->end ? 2 : 1;
}

/* A step's start as its stages see it. */
static void begin(Stage *s, const double *p, const double *pd, const double *u, const double *h, const double *alpha, double *w) {
  int k;
  s->p = p;
  s->pd = pd;
  s->u = u;
  s->h = h;
  s->alpha = alpha;
  s->end = 0;
  s->least = 0.0;
  s->acting = CONES > 0; /* none: laws of friction that change with the rate on closed loops */
  s->apart = s->linear = s->known = s->factored = s->seen = s->spent = 0;
#if !LAGGING
  for (s->linear = 1, k = 0; k < LINKS; k++) s->linear &= alpha[COULOMB + k] == 0.0;
#endif
  s->slip = C_HUGE;
  s->impulse = 0.0;
#if SIDES
  s->slip = alpha[LIMIT_SLIP];
  s->impulse = alpha[LIMIT_LOAD] * h[0];
  side_leads(p, h, alpha, w + W_LEAD);
#endif
#if CONTACTS
  memset(w + W_TURN, 0, TOUCHES * N * sizeof(double));
  touch_start_kernel(p, alpha, w + W_MODEL, w + W_GAPS, w + W_J0, w + W_SIGN, w + W_KERNEL);
#if BOUNCING
  rebounds(p, pd, u, h, alpha, w);
#endif
  for (k = 0; k < CONTACTS; k++) {
    const double *law = w + W_LAW + 4 * k;
    if (law[3] < s->slip) s->slip = law[3];
    if (law[2] * h[0] > s->impulse) s->impulse = law[2] * h[0];
  }
#else
  (void)w;
#endif
  if (!(s->slip > 0.0)) s->slip = C_HUGE; /* no falling slip would come down to it: the stage ends by its status */
  (void)k;
}

/* The end of the pose stage, where impulses are known, is the start of the rate stage. */
static void landed(Stage *s, const double *p_next, const double *loops, const double *impulse, double *w) {
  double *momentum = w + W_MOMENTUM;
  int j;
  if (s->landing && largest(w + W_CHANGE, N) <= C_CONE_SETTLED_RATE) {
    /* Worked out one correction before the end, which is below rounding but for the gaps. */
#if CONTACTS
    for (j = 0; j < CONTACTS; j++) w[W_GAPS + j] += inner(w + W_J + N * touch_row[j], w + W_CHANGE, N);
#endif
  } else {
    landing_kernel(p_next, s->p, w + W_RECORD, w + W_TERMS, s->u, s->h, s->alpha, w + W_MODEL, w + W_GRADIENT, momentum, w + W_MASS,
                   w + W_GAP, w + W_A, w + W_ENERGY + 3, w + W_KERNEL);
#if CONTACTS
    touch_kernel(p_next, w + W_SIGN, s->alpha, w + W_MODEL, w + W_GAPS, w + W_J, w + W_KERNEL);
#endif
  }
#if FLOATING
  turn_torque(s->h, s->u, p_next, momentum);
#endif
  product_transposed(w + W_A0, loops, N, ROWS, 1, 1.0, 1.0, momentum);
#if SIDES
  for (j = 0; j < SIDES; j++) momentum[side_of[j]] += side_slope[j] * impulse[j];
#endif
#if CONTACTS
  for (j = 0; j < TOUCHES; j++) {
    int i;
    for (i = 0; i < N; i++) momentum[i] += w[W_J0 + N * j + i] * impulse[SIDES + j];
  }
#endif
  s->end = p_next;
  s->factored = s->known = 0;
}

#include "certificate.h"

/* Rates that the momentum comes to where the impulses of the second half are those of the first: the start of a linear rate stage. */
static void balance(Stage *s, double *x, double *w) {
  double *F = w + W_GRADIENT;
  int i, j;
  rate_system_kernel(w + W_MASS, w + W_MOMENTUM, s->h, x,
#if LAGGING
                     s->pd,
#endif
                     s->alpha, w + W_MODEL, F, w + W_SLOPES, w + W_KERNEL);
  for (i = 0; i < N; i++) {
    for (j = 0; j < ROWS; j++) F[i] -= w[W_A + j + ROWS * i] * w[W_H + j];
  }
#if SIDES
  for (j = 0; j < SIDES; j++) F[side_of[j]] -= side_slope[j] * w[W_PUSH_RATE + j];
#endif
#if CONTACTS
  for (j = 0; j < TOUCHES; j++) {
    for (i = 0; i < N; i++) F[i] -= w[W_J + N * j + i] * w[W_PUSH_RATE + SIDES + j];
  }
#endif
  s->known = 1;
  if (largest(F, N) <= C_CONE_RESIDUAL * (s->impulse + largest(w + W_PUSH_RATE, PUSHES)) || factor(w + W_SLOPES, 1.0, w + W_LU, w) != 0) return;
  s->factored = 1;
  s->columns = 0;
  factored(w + W_LU, F);
  for (i = 0; i < N; i++) x[i] -= F[i];
}

/* Impulses of a pose stage from those of `known` steps before, which change alike from step to step where they change little. */
static void first_half(int known, double *w) {
  double *impulse = w + W_PUSH, *before = w + W_BEFORE, *more = before + IMPULSES;
  double change[IMPULSES];
  int k;
  for (k = 0; k < IMPULSES; k++) {
    change[k] = impulse[k] - before[k];
    more[k] = w[W_PUSH_RATE + k] - impulse[k];
    before[k] = impulse[k];
  }
  if (known < 2 || !(largest(change, PUSHES) <= C_CONE_ALIKE * largest(impulse, PUSHES))) return;
  for (k = 0; k < IMPULSES; k++) impulse[k] += change[k];
}

/* Those of a rate stage from its pose stage, by what they were more in the step before if that is little. */
static void second_half(double *w) {
  const double *more = w + W_BEFORE + IMPULSES;
  const int alike = largest(more, PUSHES) <= C_CONE_ALIKE * largest(w + W_PUSH, PUSHES);
  int k;
  for (k = 0; k < IMPULSES; k++) w[W_PUSH_RATE + k] = w[W_PUSH + k] + (alike ? more[k] : 0.0);
}

/* From the end of the pose stage to that of the step, and what becomes of it. */
static int finish(Stage *s, const double *p, const double *pd, const double *u, const double *kick, const double *h,
                  const double *alpha, const double *p_next, double *pd_next, double *w) {
  double *L = w + W_L, *H = w + W_H;
  int j, status;
  landed(s, p_next, L, w + W_PUSH, w);
  for (j = 0; kick != 0 && j < N; j++) w[W_MOMENTUM + j] += kick[j];
  memcpy(pd_next, pd, N * sizeof(double));
  memcpy(H, L, ROWS * sizeof(double));
  second_half(w); /* what presses in one half presses in the other */
  if (s->linear) balance(s, pd_next, w);
  status = solve_stage(s, pd_next, H, w + W_PUSH_RATE, 1, w);
  for (j = 0; j < ROWS; j++) {
    L[j] *= h[0];
    H[j] *= h[0];
  }
  if (status == 0 && refuted(p, pd, u, kick, h, alpha, p_next, pd_next, w)) status = STATUS_STEP_REFUTED;
  return status;
}

/* The pose stage of a share of a step, from its own first guess where `pace` is 0, else from where p_next and the impulses are, which
 * moved at that pace over another share. */
static int share_of(Stage *s, double share, double pace, const double *p, const double *pd, const double *u, const double *h,
                    const double *alpha, double *p_next, double *w) {
  double *guess = w + W_FIRST, *L = w + W_L;
  int j;
  start_kernel(p, pd, u, h, alpha, w + W_MODEL, w + W_RECORD, w + W_TERMS, guess, w + W_A0, w + W_GAP, w + W_ENERGY, w + W_KERNEL);
  begin(s, p, pd, u, h, alpha, w);
  s->spent = (int)w[W_COUNT + 4];
  for (j = 0; j < N; j++) p_next[j] = pace > 0.0 ? p[j] + (p_next[j] - p[j]) * (share / pace) : guess[j];
  for (j = 0; j < ROWS && !(pace > 0.0); j++) L[j] = 0.0;
  return solve_stage(s, p_next, L, w + W_PUSH, pace > 0.0, w);
}

/* The equations of a step may have more ends than one. That of the motion is connected with the start as the step becomes short: it is
 * found from a share of the step, and followed to the whole. */
static int approach(const double *p, const double *pd, const double *u, const double *kick, const double *h, const double *alpha,
                    double *p_next, double *pd_next, double *w) {
  static const double shares[] = { 0.5, 0.125, 0.03125 };
  double kept[BIG + IMPULSES];
  int i, k, status = 14;
  Stage s;
  for (i = 0; i < 3 && w[W_COUNT + 4] <= C_APPROACH_MOST; i++) {
    double share = shares[i], next = 1.0, part = share * h[0];
    status = share_of(&s, share, 0.0, p, pd, u, &part, alpha, p_next, w);
    for (k = 0; k < C_APPROACH_PARTS && w[W_COUNT + 4] <= C_APPROACH_MOST && status == 0 && share < 1.0; k++) {
      memcpy(kept, p_next, N * sizeof(double));
      memcpy(kept + N, w + W_L, ROWS * sizeof(double));
      memcpy(kept + BIG, w + W_PUSH, IMPULSES * sizeof(double));
      part = next * h[0];
      if (share_of(&s, next, share, p, pd, u, next < 1.0 ? &part : h, alpha, p_next, w) == 0) {
        share = next;
        next = 1.0;
        continue;
      }
      memcpy(p_next, kept, N * sizeof(double));
      memcpy(w + W_L, kept + N, ROWS * sizeof(double));
      memcpy(w + W_PUSH, kept + BIG, IMPULSES * sizeof(double));
      next = 0.5 * (share + next);
    }
    if (status == 0 && share < 1.0) status = 14;
    if (status == 0) status = finish(&s, p, pd, u, kick, h, alpha, p_next, pd_next, w);
    if (status == 0) return 0;
  }
  return status;
}

/* Both stages from a first guess in p_next. `alone`: no step went before; `warm`: the impulses of so many are in w. */
static int solve_once(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                       const double *alpha, double *p_next, double *pd_next, int alone, int warm, double *w) {
  double *L = w + W_L;
  Stage s;
  int j, status, other;
  begin(&s, p, pd, u, h, alpha, w);
#if SIDES
  if (alone && side_outside(p, alpha)) return STATUS_OUTSIDE_LIMITS;
#endif
  depths(p, alpha, w);
#if CONTACTS
  for (j = 0; j < CONTACTS && alone; j++) {
    if (w[W_GAPS + j] < -C_INSIDE && w[W_LAW + 4 * j + 1] == 0.0) return 15; /* what gives way may be deep */
  }
#else
  (void)alone;
#endif
  memset(w + W_COUNT, 0, 5 * sizeof(double));
  memset(w + W_BEFORE + IMPULSES, 0, IMPULSES * sizeof(double));
  if (warm) first_half(warm, w);
  for (j = 0; j < ROWS; j++) L[j] = warm ? L[j] / h[0] : 0.0;
  status = solve_stage(&s, p_next, L, w + W_PUSH, warm, w);
  if (status == 0) status = finish(&s, p, pd, u, kick, h, alpha, p_next, pd_next, w);
  if (status == 0) return 0;
#if BOUNCING
  if (status == STATUS_STEP_REFUTED && rebounding(w)) return status; /* with less of the restitution, not of the step */
#endif
  other = approach(p, pd, u, kick, h, alpha, p_next, pd_next, w);
  return other == 0 ? 0 : status;
}

/* The same; where what bounces ends in no motion, as where it would gain energy, with less and less of the restitution. */
static int solve_sided(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                       const double *alpha, double *p_next, double *pd_next, int alone, int warm, double *w) {
#if BOUNCING
  double guess[N];
  int k, status;
  memcpy(guess, p_next, sizeof guess);
  for (k = 0, status = 0; k < KEPTS; k++) {
    w[W_KEPT] = kept_shares[k];
    if (k > 0) memcpy(p_next, guess, sizeof guess);
    status = solve_once(p, pd, u, kick, h, alpha, p_next, pd_next, alone, k == 0 ? warm : 0, w);
    if (status == 0 || !rebounding(w)) break;
    if (status != STATUS_STEP_REFUTED && k < KEPTS - 2) k = KEPTS - 2; /* not found at all: without */
  }
  return status;
#else
  return solve_once(p, pd, u, kick, h, alpha, p_next, pd_next, alone, warm, w);
#endif
}

/* The impulses of a stage whose end is known: at the final slip from there, else as a step finds them. */
static int recover_stage(Stage *s, const double *known, double *loops, double *impulse, double *w) {
  double *x = w + W_KNOWN;
  memset(w + W_RHO, 0, CONES * sizeof(double));
  memset(loops, 0, ROWS * sizeof(double));
  memcpy(x, known, N * sizeof(double));
  cold(s, x, C_HUGE, impulse, w);
  if (descend(s, x, loops, impulse, C_CONE_FIRST, 0.0, w) == 0) return 0;
  memcpy(x, known, N * sizeof(double));
  return solve_stage(s, x, loops, impulse, 0, w) == 0 ? 0 : 14;
}

/* Finds the impulses of a step whose both ends are known. */
static int recover_once(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                   const double *p_next, const double *pd_next, double *w) {
  double *L = w + W_L, *H = w + W_H;
  Stage s;
  int j;
  start_kernel(p, pd, u, h, alpha, w + W_MODEL, w + W_RECORD, w + W_TERMS, w + W_KNOWN, w + W_A0, w + W_GAP, w + W_ENERGY, w + W_KERNEL);
  begin(&s, p, pd, u, h, alpha, w);
  if (recover_stage(&s, p_next, L, w + W_PUSH, w) != 0) return 14;
#if BOUNCING
  if (!same_end(w + W_KNOWN, p_next)) return 14;
#endif
  landed(&s, p_next, L, w + W_PUSH, w);
  if (recover_stage(&s, pd_next, H, w + W_PUSH_RATE, w) != 0) return 14;
#if BOUNCING
  if (!same_end(w + W_KNOWN, pd_next)) return 14;
#endif
  for (j = 0; j < ROWS; j++) {
    L[j] *= h[0];
    H[j] *= h[0];
  }
  return 0;
}

/* The same, with as much of the restitution as leads to these ends. */
static int recover(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                   const double *p_next, const double *pd_next, double *w) {
#if BOUNCING
  int k, status = 14;
  for (k = 0; k < KEPTS && status != 0; k++) {
    w[W_KEPT] = kept_shares[k];
    status = recover_once(p, pd, u, h, alpha, p_next, pd_next, w);
    if (!rebounding(w)) break;
  }
  return status;
#else
  return recover_once(p, pd, u, h, alpha, p_next, pd_next, w);
#endif
}

/* Rates at a node from its momentum, under friction alone; `begun`: where friction's law is taken. */
static int node_rate(const double *h, const double *p, const double *begun, const double *alpha, double *rate, double *w) {
  Stage s;
  int j;
  s.p = s.end = p;
  s.pd = begun;
  s.h = h;
  s.alpha = alpha;
  s.least = 0.0;
  s.acting = s.apart = s.linear = s.known = s.factored = s.seen = s.spent = 0;
  memset(rate, 0, N * sizeof(double));
  memset(w + W_H, 0, ROWS * sizeof(double));
  if (descend(&s, rate, w + W_H, w + W_PUSH_RATE, C_MAX_RATE, 0.0, w) != 0) return 2;
  for (j = 0; j < ROWS; j++) w[W_H + j] *= h[0];
  return 0;
}

/* The Newton step of a stage: a system in the impulses or one in the coordinates, whichever is smaller. */
#ifndef CONE_SYSTEMS_INCLUDED
#define CONE_SYSTEMS_INCLUDED
#include "products.h"
#include "lines.h"
#include "stage.h"
#if SIDES
#include "joint_limits.h"
#endif
#if CONTACTS
#include "contacts.h"
#endif

/* Solves a system of `size` rows, the right-hand side behind each, by elimination with partial pivoting. Not 0: it is singular. */
static int solve_system(double *K, int size, double *x) {
  double *line[BIG], right[BIG];
  int i, k;
  for (i = 0; i < size; i++) line[i] = K + LINE * i;
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
      if (f != 0.0) add_line(line[i], -f, pivot, size + 1);
    }
    pivot[k] = inverse;
  }
  for (i = 0; i < size; i++) right[i] = line[i][size];
  for (k = size - 1; k >= 0; k--) {
    x[k] = right[k] * line[k][k];
    for (i = 0; i < k; i++) right[i] -= line[i][k] * x[k];
  }
  return 0;
}

/* solve_system for three rows of similar size, by Cramer's rule. */
static int solve_three(double *K, double *x) {
  const double *a = K, *b = K + LINE, *c = K + 2 * LINE;
  const double p = b[1] * c[2] - b[2] * c[1], q = b[2] * c[0] - b[0] * c[2], r = b[0] * c[1] - b[1] * c[0];
  const double determinant = a[0] * p + a[1] * q + a[2] * r, inverse = 1.0 / determinant;
  if (!(fabs(determinant) > C_CONE_PIVOT)) return solve_system(K, 3, x);
  x[0] = (a[3] * p + b[3] * (c[1] * a[2] - c[2] * a[1]) + c[3] * (a[1] * b[2] - a[2] * b[1])) * inverse;
  x[1] = (a[3] * q + b[3] * (c[2] * a[0] - c[0] * a[2]) + c[3] * (a[2] * b[0] - a[0] * b[2])) * inverse;
  x[2] = (a[3] * r + b[3] * (c[0] * a[1] - c[1] * a[0]) + c[3] * (a[0] * b[1] - a[1] * b[0])) * inverse;
  return 0;
}

/* Factors of D, which is close to an inertia matrix and needs no pivoting: the columns of the upper and of the lower factor, then the
 * inverse pivots. For a small robot (STRAIGHT) the inverse by columns. Not 0: D is singular. */
static int factor(const double *D, double scale, double *LU, Work *w) {
#if STRAIGHT
  double pivots[N], inverse = 1.0 / scale;
  int i;
  inverse_kernel(D, LU, pivots, w->kernel);
  for (i = 0; i < N; i++) {
    const double share = pivots[i] * D[i + N * i];
    if (!(share > 0.0 && share * C_CONE_PIVOT < 1.0)) return 1;
  }
  for (i = 0; i < N * N; i++) LU[i] *= inverse;
#else
  double *lower = LU + N * LINE, *inverses = LU + 2 * N * LINE;
  int i, j, k;
  (void)w;
  memset(LU, 0, 2 * N * LINE * sizeof(double));
  for (k = 0; k < N; k++) {
    for (i = 0; i < N; i++) LU[i + LINE * k] = scale * D[i + N * k];
  }
  for (k = N - 1; k >= 0; k--) { /* from the tips: entries between branches stay zero */
    double *column = LU + LINE * k;
    if (!(column[k] > C_CONE_PIVOT * scale * D[k + N * k])) return 1;
    inverses[k] = 1.0 / column[k];
    scale_line(column, inverses[k], k);
    for (j = 0; j < k; j++) {
      const double f = lower[k + LINE * j] = LU[k + LINE * j];
      if (f != 0.0) add_line(LU + LINE * j, -f, column, k);
    }
  }
#endif
  return 0;
}

static void solve_factored(const double *LU, double *x) {
#if STRAIGHT
  double found[N];
  int i, k;
  for (i = 0; i < N; i++) found[i] = LU[i] * x[0];
  for (k = 1; k < N; k++) {
    for (i = 0; i < N; i++) found[i] += LU[i + N * k] * x[k];
  }
  memcpy(x, found, sizeof found);
#else
  const double *lower = LU + N * LINE, *inverses = LU + 2 * N * LINE;
  double found[LINE] = {0.0};
  int k;
  memcpy(found, x, N * sizeof(double));
  for (k = N - 1; k >= 0; k--) {
    x[k] = found[k];
    add_line(found, -x[k], LU + LINE * k, k);
  }
  memcpy(found, x, N * sizeof(double));
  for (k = 0; k < N; k++) {
    x[k] = found[k] * inverses[k];
    add_line(found, -x[k], lower + LINE * k, N);
  }
#endif
}

/* solve_factored for `size` columns, by rows of LINE. */
static void solve_columns(const double *LU, int size, double *X) {
#if STRAIGHT
  double given[N * LINE];
  int i;
  memcpy(given, X, sizeof given);
  for (i = 0; i < N; i++) sum_lines(X + LINE * i, LU + i, N, given, N, size);
#else
  const double *lower = LU + N * LINE, *inverses = LU + 2 * N * LINE;
  int i, k;
  for (k = N - 1; k > 0; k--) {
    for (i = 0; i < k; i++) {
      if (LU[i + LINE * k] != 0.0) add_line(X + LINE * i, -LU[i + LINE * k], X + LINE * k, size);
    }
  }
  for (k = 0; k < N; k++) {
    scale_line(X + LINE * k, inverses[k], size);
    for (i = k + 1; i < N; i++) {
      if (lower[i + LINE * k] != 0.0) add_line(X + LINE * i, -lower[i + LINE * k], X + LINE * k, size);
    }
  }
#endif
}

/* Factors of D; the change of the coordinates by each impulse of loops and near rows (columns), and without impulses (`free`). Not 0: D
 * is singular. */
static int prepare_columns(Stage *s, int size, Work *w) {
  const double *along = s->end ? w->loop.last : w->loop.first;
  double *LU = w->lu, *X = w->columns, *free = w->free;
  int i, k, at = ROWS;
  if (!s->factored) {
    if (factor(w->slopes, s->end ? 1.0 : 1.0 / s->h[0], LU, w) != 0) return 1;
    s->factored = 1;
    s->columns = 0;
  }
  if (s->columns) {
    for (i = 0; i < N; i++) free[i] = -w->gradient[i];
    solve_factored(LU, free);
    for (i = 0; i < N; i++) X[LINE * i + size] = free[i];
    return 0;
  }
  memset(X, 0, N * LINE * sizeof(double));
  for (i = 0; i < N; i++) X[LINE * i + size] = -w->gradient[i];
  for (k = 0; k < ROWS; k++) {
    for (i = 0; i < N; i++) X[LINE * i + k] = along[k + ROWS * i];
  }
#if SIDES
  for (k = 0; k < SIDES && at < size; k++) {
    if (s->far[k]) continue;
    X[LINE * side_of[k] + at++] = side_slope[k];
  }
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS && at < size; k++) {
    const double *J = (s->end ? w->contact.last : w->contact.first) + N * touch_row[k];
    int r;
    if (s->far[SIDES + k]) continue;
    for (r = 0; r < touch_size(k); r++, at++) {
      for (i = 0; i < N; i++) X[LINE * i + at] = J[N * r + i];
    }
  }
#endif
  solve_columns(LU, size + 1, X);
  for (i = 0; i < N; i++) free[i] = X[LINE * i + size];
  s->columns = 1;
  return 0;
}

/* full = change of the coordinates by the impulses z of loops and near rows. z ends in 1, for the change without impulses. */
static void change_by(const Stage *s, const double *z, int size, double *full, const Work *w) {
  int i, k, at = ROWS;
  for (i = 0; i < N; i++) full[i] = inner_line(w->columns + LINE * i, z, size + 1);
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

/* x and G of the near rows after the change `full` by impulses z (0: none); returns the squared norm of these rows and the loops'. */
static double predict_rows(Stage *s, const double *x, const double *impulse, const double *z, int size, const double *full, Work *w) {
  const double *g = w->loop.gap, *A = w->loop.last, scale = s->end ? 1.0 : 1.0 / s->h[0];
  double sum = 0.0;
  int i, k;
  s->spent++;
  for (k = 0; k < ROWS; k++) {
    double left = g[k];
    for (i = 0; i < N; i++) left += A[k + ROWS * i] * full[i];
    sum += left * left * scale * scale;
  }
#if SIDES
  for (k = 0; k < SIDES; k++) sum += s->far[k] ? 0.0 : predict_side(s, k, impulse, full, x, w);
#else
  (void)x;
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS; k++) sum += s->far[SIDES + k] ? 0.0 : predict_touch(s, k, impulse, z, size, full, w);
#else
  (void)z;
  (void)size;
#endif
  return sum;
}

/* Newton step of z from the change `full`; with `plain`, x and G are those before that change. */
static int change_impulses(const Stage *s, int size, int plain, const double *full, double *z, Work *w) {
  const double *g = w->loop.gap, *A = w->loop.last, *X = w->columns;
  double *K = w->system;
  int i, k, at = ROWS;
  for (k = 0; k < ROWS; k++) {
    double *line = K + LINE * k, left = -g[k];
    memset(line, 0, LINE * sizeof(double));
    for (i = 0; i < N; i++) {
      left -= A[k + ROWS * i] * full[i];
      add_line(line, A[k + ROWS * i], X + LINE * i, size);
    }
    line[size] = left;
  }
#if SIDES
  for (k = 0; k < SIDES && at < size; k++) {
    double *line = K + LINE * at;
    const double G = w->cone[SIDES + k];
    if (s->far[k]) continue;
    memcpy(line, X + LINE * side_of[k], LINE * sizeof(double));
    scale_line(line, G, LINE);
    line[size] = -w->cone[k] - (plain ? G * full[side_of[k]] : 0.0);
    line[at++] += 1.0;
  }
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS && at < size; k++) {
    if (s->far[SIDES + k]) continue;
    touch_lines(k, size, at, plain, K, w);
    at += touch_size(k);
  }
#endif
  for (k = ROWS; k < size; k++) { /* rows of loaded contacts are large: scaled */
    double *line = K + LINE * k, right = line[size], share;
    line[size] = 0.0;
    share = 1.0 / largest(line, line_end(size));
    line[size] = right;
    scale_line(line, share, size + 1);
  }
  return BIG > 2 && size == 3 ? solve_three(K, z) : solve_system(K, size, z);
}

/* Impulses z of the near rows with everything else linearised, by Newton's method with a line search from z. 0: found. */
static int solve_impulses(Stage *s, const double *x, const double *impulse, int size, double least, double *z, double *full, Work *w) {
  double change[BIG], trial[LINE] = {0.0}, sum;
  int k, i, j;
  if (s->spent >= DIFFPBD_EVALUATIONS) return 1;
  trial[size] = z[size] = 1.0;
  change_by(s, z, size, full, w);
  sum = predict_rows(s, x, impulse, z, size, full, w);
  for (k = 0; k < C_CONE_INNER; k++) {
    double t = 1.0, found = sum;
    if (sum <= least * least) return 0;
    if (!(sum <= C_HUGE) || change_impulses(s, size, 0, full, change, w) != 0) return 1;
    for (i = 0; i <= C_CONE_INNER_HALVINGS; i++, t *= 0.5) {
      for (j = 0; j < size; j++) trial[j] = z[j] + t * change[j];
      if (s->spent >= DIFFPBD_EVALUATIONS) return 1;
      change_by(s, trial, size, full, w);
      found = predict_rows(s, x, impulse, trial, size, full, w);
      if (found <= (1.0 - 0.2 * t) * sum) break;
    }
    if (!(found < sum)) return sum <= 1e4 * least * least ? 0 : 1;
    memcpy(z, trial, (size_t)size * sizeof(double));
    sum = found;
  }
  return sum <= least * least ? 0 : 1;
}

/* Newton step (of x, loops and impulses) by a system in the impulses alone, which is small where few rows are near. While their residual
 * is large these rows are solved first, everything else linearised. Not 0: D is singular. */
static int newton_by_impulses(Stage *s, const double *x, const double *impulse, int pushes, double *full, Work *w) {
  const int size = ROWS + pushes;
  const double scale = largest(impulse, PUSHES) + s->impulse;
  double z[LINE];
  if (prepare_columns(s, size, w) != 0) return 1;
  memset(z, 0, sizeof z);
  z[size] = 1.0;
  if (size == 0) {
    change_by(s, z, size, full, w);
    return 0;
  }
#if CONTACTS
  touch_moved(s, size, w);
#endif
  if (pushes > 0 && !s->apart && s->rows > C_CONE_AHEAD * C_CONE_AHEAD * scale * scale) {
    const double least = (s->end && s->linear ? 0.5 * C_CONE_RESIDUAL : C_CONE_INNER_RESIDUAL) * scale, known = s->least;
    int status = solve_impulses(s, x, impulse, size, least, z, full, w);
    if (status != 0) {
      double slip = C_CONE_TOP;
      memset(z, 0, sizeof z);
      for (; slip > known && slip > s->slip && slip <= C_CONE_TOP; slip *= 0.1) {
        s->least = slip;
        (void)solve_impulses(s, x, impulse, size, C_CONE_ROUGH * scale, z, full, w);
      }
      s->least = known;
      status = solve_impulses(s, x, impulse, size, least, z, full, w);
    }
    if (status == 0) return 0;
    if (s->spent >= DIFFPBD_EVALUATIONS) return 1;
    memset(z, 0, sizeof z);
    memset(full, 0, (BIG + IMPULSES) * sizeof(double));
    (void)predict_rows(s, x, impulse, 0, size, full, w);
  }
  if (change_impulses(s, size, 1, w->free, z, w) != 0) return 1;
  z[size] = 1.0;
  change_by(s, z, size, full, w);
  return 0;
}

/* Newton step by a system in the coordinates, impulses eliminated: for many near rows. Not 0: the system is singular. */
static int newton_by_coordinates(Stage *s, double *full, Work *w) {
  const double *F = w->gradient, *D = w->slopes, *g = w->loop.gap, *A = w->loop.last;
  const double scale = s->end ? 1.0 : 1.0 / s->h[0], *along = s->end ? A : w->loop.first;
  double *K = w->system, *impulse = full + BIG;
  int i, j, k;
  for (i = 0; i < N; i++) {
    double *line = K + LINE * i;
    for (j = 0; j < N; j++) line[j] = scale * D[i + N * j];
    for (k = 0; k < ROWS; k++) line[N + k] = -along[k + ROWS * i];
    line[BIG] = -F[i];
    for (j = BIG + 1; j < LINE; j++) line[j] = 0.0;
  }
  for (k = 0; k < ROWS; k++) {
    double *line = K + LINE * (N + k);
    for (j = 0; j < N; j++) line[j] = A[k + ROWS * j];
    for (j = N; j < LINE; j++) line[j] = 0.0;
    line[BIG] = -g[k];
  }
#if SIDES
  for (k = 0; k < SIDES && s->acting; k++) {
    double *line = K + LINE * side_of[k];
    if (s->far[k]) continue;
    line[BIG] -= side_slope[k] * w->cone[k];
    line[side_of[k]] += side_slope[k] * w->cone[SIDES + k];
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
    if (!s->far[i]) impulse[i] = -w->cone[i] - w->cone[SIDES + i] * full[side_of[i]];
  }
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS && s->acting; k++) {
    if (s->far[SIDES + k]) continue;
    for (i = touch_row[k]; i < touch_row[k + 1]; i++) {
      impulse[SIDES + i] = -w->contact.residual[i] - inner(w->contact.eliminated + LINE * i, full, N);
    }
  }
#endif
  return 0;
}

/* Newton step by the smaller of the two systems. */
static int newton(Stage *s, const double *x, const double *impulse, double *full, Work *w) {
  int k, pushes = 0, status;
  for (k = 0; k < SIDES && s->acting; k++) pushes += !s->far[k];
#if CONTACTS
  for (k = 0; k < CONTACTS && s->acting; k++) pushes += s->far[SIDES + k] ? 0 : touch_size(k);
#endif
  status = pushes > N || newton_by_impulses(s, x, impulse, pushes, full, w) != 0 ? newton_by_coordinates(s, full, w) : 0;
#if FRICTION_ANY
  for (k = 0; k < CONTACTS && s->apart; k++) {
    const double *psi = w->contact.apart + 4 * k, *by = (s->end ? w->contact.last : w->contact.by) + N * touch_row[k];
    double value = -psi[0];
    int q;
    if (touch_size(k) < 3) continue;
    for (q = 0; q < 3; q++) value -= psi[1 + q] * inner(by + N * q, full, N);
    full[BIG + SIDES + TOUCHES + k] = value;
  }
#endif
  return status;
}

#endif

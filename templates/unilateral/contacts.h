/* What contacts do to a step. */
#ifndef CONTACTS_INCLUDED
#define CONTACTS_INCLUDED
#include "contact_rows.h"
#include "products.h"
#include "lines.h"
#include "stage.h"
#if TURNED
#include "discs.h"
#endif

static void touch_law(const Stage *s, int k, double *law, const Work *w) {
  memcpy(law, w->contact.law + LAW * k, LAW * sizeof(double));
  if (law[LAW_SLIP] < s->least) law[LAW_SLIP] = s->least;
}

/* Row, x and G of a contact; `more`: rho of its friction against turning. */
static void touch_cone(int k, const double *impulse, const double *rate, const double *gap, const double *h, const double *law,
                       const double *rho, const double *more, double *row, double *x, double *G, Work *w) {
#if FRICTION_ALL
  (void)k;
  contact_kernel(impulse, rate, gap, h, law, rho, row, x, G, w->kernel);
#elif !FRICTION_ANY
  (void)k;
  smooth_contact_kernel(impulse, rate, gap, h, law, rho, row, x, G, w->kernel);
#else
  if (touch_size(k) >= 3) contact_kernel(impulse, rate, gap, h, law, rho, row, x, G, w->kernel);
  else smooth_contact_kernel(impulse, rate, gap, h, law, rho, row, x, G, w->kernel);
#endif
#if TURNED
  if (touch_size(k) > 3) add_discs(k, impulse, impulse[0] - row[0] / law[LAW_FRICTION], rate, h, law, more, row, x, G, w);
#else
  (void)more;
#endif
}

/* Rows of a contact times x, in their places. */
static void touch_rates(int k, const double *rows, const double *x, double *product) {
  const double *J = rows + N * touch_row[k];
  double *y = product + touch_row[k];
  int j;
#if FRICTION_ANY
  if (touch_size(k) >= 3) {
    double a = 0.0, b = 0.0, c = 0.0;
#if TURNED
    int r;
    for (r = 3; r < touch_size(k); r++) y[r] = inner(J + N * r, x, N);
#endif
    for (j = 0; j < N; j++) {
      a += J[j] * x[j];
      b += J[N + j] * x[j];
      c += J[2 * N + j] * x[j];
    }
    y[0] = a;
    y[1] = b;
    y[2] = c;
    return;
  }
#endif
  for (j = 0, y[0] = 0.0; j < N; j++) y[0] += J[j] * x[j];
}

/* The contacts of a stage at x: gaps, rows J, what rows change by with the coordinates (Y, the turning of the tangents at the end as it
 * was last worked out), and the rates of surfaces against each other, of the pose stage across alone. */
static void touch(const Stage *s, const double *x, Work *w) {
  double *J = w->contact.last, *Y = w->contact.by, *rate = w->contact.rate, *turn = w->contact.turn;
  const double *J0 = w->contact.first;
  int r, j, k;
  if (s->end != 0) {
    for (k = 0; k < CONTACTS; k++) touch_rates(k, J, x, rate);
#if BOUNCING
    for (k = 0; k < CONTACTS; k++) rate[touch_row[k]] -= w->bounce.shift[2 * k + 1];
#endif
    return;
  }
  touch_kernel(x, w->contact.sign, s->alpha, w->model, w->contact.gap, J, w->kernel);
  for (k = 0; k < CONTACTS; k++) {
    const double half = 0.5 / s->h[0], twice = 2.0 / s->h[0];
    for (j = 0, r = N * touch_row[k]; j < N; j++) Y[r + j] = twice * J[r + j];
    rate[touch_row[k]] = 0.0;
    for (r = touch_row[k] + 1; r < touch_row[k + 1]; r++) {
#if FLOATING
      for (j = N * r; j < N * r + N; j++) Y[j] = half * (J0[j] + J[j]) + turn[j];
#else
      double sum = 0.0;
      for (j = 0; j < N; j++) {
        const double value = half * (J0[N * r + j] + J[N * r + j]);
        sum += value * (x[j] - s->p[j]);
        Y[N * r + j] = value + turn[N * r + j];
      }
      rate[r] = sum;
#endif
    }
  }
#if FLOATING
  slid_kernel(s->p, x, J0, J, s->h, rate, w->kernel);
#endif
#if BOUNCING
  for (k = 0; k < CONTACTS; k++) rate[touch_row[k]] -= w->bounce.shift[2 * k];
#endif
}

/* What rates across change by as the tangents at the end turn, at the x of `touch`, where any is near; it goes with D. */
static void touch_turning(const Stage *s, const double *x, Work *w) {
  double *turn = w->contact.turn, moved = 0.0;
  int k, j, near = 0;
  for (j = 0; j < N; j++) {
    if (FLAT && !turning[j]) continue; /* tangents of a plane that stands turn as bodies do */
    moved = fabs(x[j] - s->p[j]) > moved ? fabs(x[j] - s->p[j]) : moved;
  }
  for (k = 0; k < CONTACTS; k++) near += !s->far[SIDES + k] && touch_size(k) >= 3;
  if (near == 0 || moved < C_CONE_TURN) return;
  touch_slopes_kernel(s->p, x, w->contact.sign, w->contact.first, s->h, s->alpha, w->model, turn, w->kernel);
  for (k = 0; k < CONTACTS; k++) {
    double *Y = w->contact.by + N * touch_row[k];
    const double half = 0.5 / s->h[0];
    for (j = 0; j < N; j++) turn[N * touch_row[k] + j] = 0.0;
    for (j = N; j < N * touch_size(k); j++) {
      const double straight = half * (w->contact.first[N * touch_row[k] + j] + w->contact.last[N * touch_row[k] + j]);
      Y[j] = turn[N * touch_row[k] + j];
      turn[N * touch_row[k] + j] -= straight;
    }
  }
}

/* Those of limits' `cold_sides`, none across. */
static void cold_contacts(Stage *s, const double *x, double most, double *impulse, Work *w) {
  const double half = 0.5 * s->h[0];
  int k;
  touch(s, x, w);
  s->seen = 1;
  memset(impulse, 0, (TOUCHES + CONTACTS) * sizeof(double));
  for (k = 0; k < CONTACTS; k++) {
    double law[LAW], kappa, top, away = w->contact.gap[k] / half + w->contact.rate[touch_row[k]];
    touch_law(s, k, law, w);
    kappa = law[LAW_LOAD] * half * law[LAW_SLIP];
    top = most * half * law[LAW_LOAD];
    impulse[touch_row[k]] = away * top > kappa ? kappa / away : top;
    impulse[TOUCHES + k] = law[LAW_SLIP]; /* psi of `apart` */
  }
}

/* ρ of so many rows of a contact: the inverse of what an impulse changes its rates by, roughly; `inverse`: of D's diagonal. */
static double touch_mass(const Stage *s, int rows, const double *J, const double *Y, const double *inverse) {
  const double scale = s->end ? 1.0 : s->h[0];
  double most = 0.0;
  int r, j;
  for (r = 0; r < rows; r++) {
    double share = 0.0;
    for (j = 0; j < N; j++) share += J[N * r + j] * Y[N * r + j] * inverse[j];
    if (fabs(share) > most) most = fabs(share);
  }
  return most > 0.0 ? 1.0 / (scale * most) : 1.0;
}

/* The impulse of a contact that is far, in its place; 0: it is not. One that gives way never is: how open it is, is up to its impulse. */
static int touch_far(const Stage *s, int k, const double *law, const double *rho, double *impulse, Work *w) {
  double found[WIDE], by, opening;
  const double *rate = w->contact.rate + touch_row[k], *gap = w->contact.gap + k;
  if (law[LAW_COMPLIANCE] > 0.0) return 0;
#if FRICTION_ALL
  distant_kernel(impulse, rate, gap, s->h, law, found, &by, &opening, w->kernel);
#elif !FRICTION_ANY
  smooth_distant_kernel(impulse, rate, gap, s->h, law, found, &by, &opening, w->kernel);
#else
  if (touch_size(k) >= 3) distant_kernel(impulse, rate, gap, s->h, law, found, &by, &opening, w->kernel);
  else smooth_distant_kernel(impulse, rate, gap, s->h, law, found, &by, &opening, w->kernel);
#endif
  if (s->apart || !(opening > 0.0 && by <= C_CONE_FAR * rho[0])) return 0;
#if TURNED
  if (touch_size(k) > 3 && !far_discs(k, found, rate, s->h, law, w->rho + CONES + 2 * k, w)) return 0;
#endif
  memcpy(impulse, found, (size_t)touch_size(k) * sizeof(double));
  return 1;
}

/* F -= J^T impulse of a contact whose rows are from `first` on. */
INLINE void touch_push(const double *J, int first, int size, const double *impulse, double *F) {
  int i, r;
  if (size >= 3) {
    const double a = impulse[first], b = impulse[first + 1], c = impulse[first + 2];
    for (i = 0; i < N; i++) F[i] = F[i] - J[i] * a - J[N + i] * b - J[2 * N + i] * c;
    for (r = 3; TURNED && r < size; r++) {
      for (i = 0; i < N; i++) F[i] -= J[N * r + i] * impulse[first + r];
    }
  } else {
    for (i = 0; i < N; i++) F[i] -= J[i] * impulse[first];
  }
}

/* Adds what contacts do, as `add_sides`. */
static double add_contacts(Stage *s, const double *x, double *impulse, double *F, Work *w) {
  const double *along = (s->end ? w->contact.last : w->contact.first), *by = (s->end ? w->contact.last : w->contact.by);
  double inverse[N], sum = 0.0;
  int k, i, r, q, known = 0;
  if (!s->seen) touch(s, x, w);
  s->seen = 0;
  for (k = 0; k < CONTACTS; k++) {
    const int first = touch_row[k], size = touch_size(k);
    const double *J = along + N * first;
    double law[LAW], row[WIDE], *G = w->contact.slope + SHARE * k, *X = w->contact.residual + first, *rho = w->rho + SIDES + k;
    const double *more = w->rho + (TURNED ? CONES + 2 * k : 0);
    int far = s->far[SIDES + k];
    touch_law(s, k, law, w);
    if (rho[0] == 0.0) {
      for (i = 0; i < N && !known; i++) inverse[i] = 1.0 / fabs(w->slopes[i + N * i]);
      known = 1;
      rho[0] = touch_mass(s, size < 3 ? size : 3, J, by + N * first, inverse);
#if TURNED
      for (i = 0; i < 2 && size > 3; i++) {
        const int at = N * disc_row(k, i);
        w->rho[CONES + 2 * k + i] = touch_mass(s, disc_size(k, i), J + at, by + N * first + at, inverse);
      }
#endif
    }
    if (!s->classified || far) {
      s->far[SIDES + k] = touch_far(s, k, law, rho, impulse + first, w);
      if (!s->far[SIDES + k]) s->columns = 0;
      s->approached |= s->classified && !s->far[SIDES + k];
    }
    far = s->far[SIDES + k];
#if FRICTION_ANY
    if (s->apart && size >= 3) {
      double rows[4], *psi = w->contact.apart + 4 * k;
      apart_kernel(impulse + first, impulse + TOUCHES + k, w->contact.rate + first, w->contact.gap + k, s->h, law, rho, rows, X, G, psi,
                   row, w->kernel);
      sum += rows[3] * rows[3];
      for (r = 0; r < 3; r++) psi[1 + r] = row[r];
      memcpy(row, rows, 3 * sizeof(double));
#if TURNED
      if (size > 3) add_discs(k, impulse + first, impulse[first] - rows[0], w->contact.rate + first, s->h, law, more, row, X, G, w);
#endif
    } else if (!far) {
      touch_cone(k, impulse + first, w->contact.rate + first, w->contact.gap + k, s->h, law, rho, more, row, X, G, w);
    }
#else
    if (!far) touch_cone(k, impulse + first, w->contact.rate + first, w->contact.gap + k, s->h, law, rho, more, row, X, G, w);
#endif
    for (q = 0; q < size; q++) sum += far ? 0.0 : row[q] * row[q];
    touch_push(J, first, size, impulse, F);
  }
  if (s->fresh && !s->end) touch_turning(s, x, w);
  return sum;
}

/* Y times the columns of impulses and of what changes without them: of every contact that is near. */
static void touch_moved(const Stage *s, int size, Work *w) {
  int k, r;
  for (k = 0; k < CONTACTS; k++) {
    for (r = touch_row[k]; r < touch_row[k + 1] && !s->far[SIDES + k]; r++) {
      sum_lines(w->contact.moved + LINE * r, (s->end ? w->contact.last : w->contact.by) + N * r, 1, w->columns, N, size + 1);
    }
  }
}

/* x and G of a contact where impulses change by z (0: nothing changes) and coordinates with them, its rates and gap linearly; `full`
 * has its impulses. Returns the square of its row. */
static double predict_touch(const Stage *s, int k, const double *impulse, const double *z, int columns, const double *full, Work *w) {
  const int first = touch_row[k], size = touch_size(k);
  double law[LAW], row[WIDE], rate[WIDE] = {0.0}, pushed[WIDE] = {0.0}, gap = w->contact.gap[k], sum = 0.0;
  int r;
  touch_law(s, k, law, w);
  for (r = 0; r < size; r++) {
    const double change = z != 0 ? inner_line(w->contact.moved + LINE * (first + r), z, columns + 1) : 0.0;
    rate[r] = w->contact.rate[first + r] + (r > 0 || s->end ? change : 0.0);
    if (r == 0 && !s->end) gap += 0.5 * s->h[0] * change;
    pushed[r] = impulse[SIDES + first + r] + full[BIG + SIDES + first + r];
  }
  touch_cone(k, pushed, rate, &gap, s->h, law, w->rho + SIDES + k, w->rho + (TURNED ? CONES + 2 * k : 0), row, w->contact.residual + first,
             w->contact.slope + SHARE * k, w);
  for (r = 0; r < size; r++) sum += row[r] * row[r];
  return sum;
}

/* Rows of a contact in the system of impulses: δ + G Y (free + columns δ) = −x, or (not `plain`) without what is free. */
static void touch_lines(int k, int size, int at, int plain, double *K, const Work *w) {
  const int first = touch_row[k], rows = touch_size(k);
  const double *G = w->contact.slope + SHARE * k, *X = w->contact.residual + first, *moved = w->contact.moved + LINE * first;
  int q;
  for (q = 0; q < rows; q++) {
    double *line = K + LINE * (at + q);
    sum_lines(line, G + q, rows, moved, rows, size + 1);
    line[size] = -X[q] - (plain ? line[size] : 0.0);
    line[at + q] += 1.0;
  }
}

/* Adds a contact to the system of coordinates; leaves G Y. What three rows do is added before it is stored, in the order of rows. */
static void touch_square(const Stage *s, int k, double *K, Work *w) {
  const int first = touch_row[k];
  const double *J = (s->end ? w->contact.last : w->contact.first) + N * first, *Y = (s->end ? w->contact.last : w->contact.by) + N * first;
  const double *G = w->contact.slope + SHARE * k, *X = w->contact.residual + first;
  double *GY = w->contact.eliminated + LINE * first;
  int i, j;
#if FRICTION_ANY
  if (touch_size(k) == 3) {
    double one[LINE] = {0.0}, two[LINE] = {0.0}, three[LINE] = {0.0};
    for (j = 0; j < N; j++) {
      const double a = Y[j], b = Y[N + j], c = Y[2 * N + j];
      one[j] = G[0] * a + G[3] * b + G[6] * c;
      two[j] = G[1] * a + G[4] * b + G[7] * c;
      three[j] = G[2] * a + G[5] * b + G[8] * c;
    }
    one[BIG] = -X[0];
    two[BIG] = -X[1];
    three[BIG] = -X[2];
    for (i = 0; i < N; i++) {
      const double a = J[i], b = J[N + i], c = J[2 * N + i];
      double *line = K + LINE * i;
      if (a == 0.0 && b == 0.0 && c == 0.0) continue;
      add_line(line, a, one, LINE);
      add_line(line, b, two, LINE);
      add_line(line, c, three, LINE);
    }
    memcpy(GY, one, sizeof one);
    memcpy(GY + LINE, two, sizeof two);
    memcpy(GY + 2 * LINE, three, sizeof three);
    return;
  }
#endif
#if TURNED
  if (touch_size(k) > 3) {
    const int size = touch_size(k);
    int q, r;
    for (q = 0; q < size; q++) {
      double *line = GY + LINE * q;
      memset(line, 0, LINE * sizeof(double));
      for (r = 0; r < size; r++) {
        for (j = 0; j < N && G[q + size * r] != 0.0; j++) line[j] += G[q + size * r] * Y[N * r + j];
      }
      line[BIG] = -X[q];
      for (i = 0; i < N; i++) {
        if (J[N * q + i] != 0.0) add_line(K + LINE * i, J[N * q + i], line, LINE);
      }
    }
    return;
  }
#endif
  memset(GY, 0, LINE * sizeof(double));
  for (j = 0; j < N; j++) GY[j] = G[0] * Y[j];
  GY[BIG] = -X[0];
  for (i = 0; i < N; i++) {
    if (J[i] != 0.0) add_line(K + LINE * i, J[i], GY, LINE);
  }
}

#endif

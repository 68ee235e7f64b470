/* The dual program of mpc_active.h:  minimise  1/2 m'H m - v'm,  0 <= m <= most.
 *
 * Newton's steps of the free multipliers are projected onto the bounds; each raises the value, so the multipliers are of use wherever
 * they end. */

enum { LOWEST, BETWEEN, HIGHEST }; /* multiplier: 0, free, at its upper bound */

/* w->left: what the multipliers leave of the violations, the slope of the dual program. Returns its value. */
static double leftover(Active *w) {
  double value = 0.0;
  int i;
  memset(w->left, 0, sizeof w->left);
  add_product(w->count, w->count, w->H, ACTIVE, w->multiplier, w->left, 0);
  for (i = 0; i < w->count; i++) {
    value += (w->violated[i] - 0.5 * w->left[i]) * w->multiplier[i];
    w->left[i] = w->violated[i] - w->left[i];
  }
  return value;
}

/* The set of every multiplier by the slope, except those that are blocked at a bound; returns whether all free slopes are zero. */
static int sorted(Active *w) {
  int i, done = 1;
  for (i = 0; i < w->count; i++) {
    const double left = w->left[i], good = 0.5 * w->missed[i];
    const int low = w->multiplier[i] <= 0.0, high = w->multiplier[i] >= w->most[i];
    w->set[i] = low && (left <= good || w->blocked[i]) ? LOWEST : high && (left >= -good || w->blocked[i]) ? HIGHEST : BETWEEN;
    if (w->set[i] == BETWEEN && fabs(left) > good) done = 0;
  }
  return done;
}

/* w->way: Newton's step of the free multipliers; returns their number. */
static int newton(Active *w) {
  int at[ACTIVE], m = 0, i, j;
  double *L = w->L, *x = w->y, v[ACTIVE];
  for (i = 0; i < w->count; i++)
    if (w->set[i] == BETWEEN) at[m++] = i;
  for (j = 0; j < m; j++) { /* Cholesky, column after column, from the first row of j's four */
    const int first = j / 4 * 4;
    const double *from = w->H + ACTIVE * at[j];
    double *to = L + ACTIVE * j;
    for (i = first; i < m; i++) to[i] = from[at[i]];
    for (; i % 4; i++) to[i] = 0.0;
    to[j] += C_MPC_RIDGE * from[at[j]];
    for (i = 0; i < j; i++) v[i] = -L[j + ACTIVE * i];
    add_product(m - first, j, L + first, ACTIVE, v, to + first, 0);
    to[j] = to[j] > C_MPC_PIVOT * from[at[j]] ? 1.0 / sqrt(to[j]) : 0.0;
    for (i = j + 1; i < m; i++) to[i] *= to[j];
  }
  for (i = 0; i < m; i++) x[i] = w->left[at[i]];
  for (j = 0; j < m; j++) {
    x[j] *= L[j + ACTIVE * j];
    for (i = j + 1; i < m; i++) x[i] -= L[i + ACTIVE * j] * x[j];
  }
  memset(w->way, 0, sizeof w->way);
  for (j = m - 1; j >= 0; j--) {
    for (i = j + 1; i < m; i++) x[j] -= L[i + ACTIVE * j] * x[i];
    w->way[at[j]] = x[j] *= L[j + ACTIVE * j];
  }
  return m;
}

/* Sets the multipliers to from + step way within their bounds; returns the dual program's value. */
static double moved(Active *w, const double *from, double step) {
  int i;
  for (i = 0; i < w->count; i++) w->multiplier[i] = clamp(from[i] + step * w->way[i], 0.0, w->most[i]);
  return leftover(w);
}

/* Newton's step until the first multipliers reach a bound, where they stay until the others are solved for. */
static double until_bound(Active *w, const double *from) {
  double step = 1.0, room[ACTIVE];
  int i;
  for (i = 0; i < w->count; i++) {
    const double way = w->way[i];
    room[i] = way < 0.0 ? from[i] / -way : way > 0.0 ? (w->most[i] - from[i]) / way : C_MPC_NONE;
    if (room[i] < step) step = room[i];
  }
  for (i = 0; i < w->count; i++) {
    w->blocked[i] |= room[i] <= step;
    if (room[i] <= step) w->way[i] = w->way[i] < 0.0 ? -C_MPC_NONE : C_MPC_NONE;
  }
  return moved(w, from, step);
}

/* Solves the dual program with at most *rows rows factorised in all, and takes them off; 0: not to the end. Newton's steps are projected
 * onto the bounds (Bertsekas 1982); where that does not raise the value they end at the first bound. */
static int multipliers(Active *w, int *rows) {
  double value = leftover(w), found, from[ACTIVE];
  int blocked = 0;
  memset(w->blocked, 0, sizeof w->blocked);
  for (;;) {
    if (sorted(w)) {
      if (!blocked) return 1;
      memset(w->blocked, 0, sizeof w->blocked);
      blocked = 0;
      if (sorted(w)) return 1;
    }
    if (*rows <= 0) return 0;
    *rows -= newton(w);
    memcpy(from, w->multiplier, sizeof from);
    found = moved(w, from, 1.0);
    if (found > value) {
      value = found;
      continue;
    }
    value = until_bound(w, from);
    blocked = 1;
  }
}

/* Dual active-set method for the program of mpc_qp.h, used if few of its inequalities are active; no barrier.
 *
 * A row with gradient g and multiplier m adds m g to the gradient of the cost. The backward recursion of `solve_stages` turns g into the
 * row's column f (N numbers a stage), and a unit of multiplier j changes row i by -f_i.f_j. So the multipliers
 *
 *   minimise  1/2 m'H m - v'm,  0 <= m <= price of a unit of violation,  H = F'F,  v: violations with m = 0.
 *
 * The working set starts with the rows active at the guess and grows by violated ones; inactive rows are dropped when it gets full. */

#include "mpc_bounds.h"
#include "mpc_dual.h"

static double *column(Stage *s, int j) { return s->F + LN * j; }

/* Adds `factor` times the gradient of row `kind` to the stage's linear cost. */
static void add_slope(Stage *s, int kind, double factor) {
  int i;
  if (kind < N) s->bu[kind] += factor;
  else if (kind < 2 * N) s->bu[kind - N] -= factor;
  else if (kind < 3 * N) s->bd[kind - 2 * N] += factor;
  else if (kind < SOFT) s->bd[kind - 3 * N] -= factor;
  else if (kind < SOFT + X) s->bx[kind - SOFT] += factor;
  else if (kind < SLACK) s->bx[kind - SOFT - X] -= factor;
  else
    for (i = 0; i < N; i++) s->bx[i] -= factor * near_slope(s, kind - SLACK)[i];
}

static void no_slopes(Problem *o) {
  int k;
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    memset(s->bx, 0, X * sizeof(double));
    memset(s->bu, 0, N * sizeof(double));
    memset(s->bd, 0, N * sizeof(double));
  }
}

/* Columns f and part of H of the rows from `from` on, which are sorted by descending stage. */
static void columns(Problem *o, int from) {
  Active *w = &o->scratch->active;
  const int count = w->count;
  int reached = from, k, i, j;
  memset(w->H + ACTIVE * from, 0, (size_t)(count - from) * ACTIVE * sizeof(double));
  for (k = w->stage[from]; k >= 0; k--) {
    Stage *s = &o->stage[k];
    double *q = w->q, *F = column(s, from);
    const int first = reached;
    for (; reached < count && w->stage[reached] == k; reached++) {
      memset(q + LZ * (reached - from), 0, LZ * sizeof(double));
      memset(s->bx, 0, X * sizeof(double));
      if (w->kind[reached] >= SOFT) add_slope(s, w->kind[reached], 1.0), memcpy(q + LZ * (reached - from), s->bx, X * sizeof(double));
    }
    products(N, reached - from, X, s->Bt, LN, q, LZ, F, LN, 0);
    for (j = from; j < reached; j++, F += LN, q += LZ) {
      for (i = 0; i < N; i++) F[i] += q[X + i];
      if (j >= first && w->kind[j] < SOFT) {
        const int kind = w->kind[j];
        F[kind % N] += kind / N % 2 ? -1.0 : 1.0;
      }
      forward(s->L, F);
    }
    q = w->q, F = column(s, from);
    if (k > 0) {
      products(X, reached - from, X, s->At, LX, q, LZ, w->y, LZ, 0);
      products(Z, reached - from, N, s->Kt, LZ, F, LN, q, LZ, 0);
      for (j = from; j < reached; j++) {
        double *to = q + LZ * (j - from), *y = w->y + LZ * (j - from);
        for (i = 0; i < X; i++) to[i] = y[i] - to[i];
        for (i = X; i < Z; i++) to[i] = -to[i];
        if (j >= first && w->kind[j] >= 2 * N && w->kind[j] < SOFT) to[X + w->kind[j] % N] -= w->kind[j] < 3 * N ? 1.0 : -1.0;
      }
    }
    for (j = 0; j < reached; j++) { /* columns of earlier stages are zero here */
      const double *f = column(s, j);
      const int none = j < from && w->stage[j] < k;
      for (i = 0; i < N; i++) w->G[j + ACTIVE * i] = none ? 0.0 : f[i];
    }
    for (j = from; j < reached; j++) add_product(reached, N, w->G, ACTIVE, column(s, j), w->H + ACTIVE * j, 0);
  }
  for (j = from; j < count; j++)
    for (i = 0; i < j; i++) w->H[j + ACTIVE * i] = w->H[i + ACTIVE * j];
}

/* Drops inactive rows from the working set. */
static void leave(Problem *o) {
  Active *w = &o->scratch->active;
  int at[ACTIVE], count = 0, i, j, k;
  for (i = 0; i < w->count; i++)
    if (w->set[i] != LOWEST) at[count++] = i;
  for (j = 0; j < count; j++) {
    const int from = at[j];
    for (k = 0; k <= w->stage[from] && from > j; k++) memcpy(column(&o->stage[k], j), column(&o->stage[k], from), LN * sizeof(double));
    for (i = 0; i < count; i++) w->H[i + ACTIVE * j] = w->H[at[i] + ACTIVE * from];
    w->stage[j] = w->stage[from], w->kind[j] = w->kind[from], w->set[j] = w->set[from];
    w->multiplier[j] = w->multiplier[from], w->most[j] = w->most[from];
    w->violated[j] = w->violated[from], w->missed[j] = w->missed[from];
  }
  w->count = count;
}

/* Tolerance of a row's violation. */
static double missed(const Problem *o, int kind) {
  return C_MPC_MISSED * (kind < SLACK ? scale_of(o, kind) / C_MPC_INSIDE : 1.0);
}

/* Adds row `kind` of stage k, violated by `violated` with m = 0; 0: the working set is full. */
static int add_row(Problem *o, int k, int kind, double violated) {
  Active *w = &o->scratch->active;
  const int j = w->count;
  if (j == ACTIVE) return 0;
  w->count++;
  w->stage[j] = k, w->kind[j] = kind, w->set[j] = BETWEEN, w->multiplier[j] = 0.0;
  w->violated[j] = violated;
  w->missed[j] = missed(o, kind);
  w->most[j] = kind < SOFT ? C_MPC_NONE : kind < SLACK ? o->soft[(kind - SOFT) % X] : near_cost(&o->stage[k], kind - SLACK);
  return 1;
}

/* Violations of every stage's bounds by x_new, u_new, to its t_new. */
static void violations(Problem *o) {
  double side[SLACK];
  int k, i;
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    sides(s->u_new, k ? s[-1].u_new : o->u_last, s->x_new, side);
    for (i = 0; i < SLACK; i++) s->t_new[i] = side[i] - o->d[i];
  }
}

/* The index of stage k's row `kind` among the first `count` rows; -1: none. */
static int at_row(const Active *w, int count, int k, int kind) {
  int j;
  for (j = 0; j < count; j++)
    if (w->stage[j] == k && w->kind[j] == kind) return j;
  return -1;
}

/* Puts the rows from `from` on, which are sorted by ascending stage, in descending order. */
static void descending(Active *w, int from) {
  int i = from, j = w->count - 1;
  for (; i < j; i++, j--) {
    const int stage = w->stage[i], kind = w->kind[i];
    const double violated = w->violated[i], missed = w->missed[i], most = w->most[i];
    w->stage[i] = w->stage[j], w->kind[i] = w->kind[j];
    w->violated[i] = w->violated[j], w->missed[i] = w->missed[j], w->most[i] = w->most[j];
    w->stage[j] = stage, w->kind[j] = kind, w->violated[j] = violated, w->missed[j] = missed, w->most[j] = most;
  }
}

/* Adds the rows that x_new, u_new violate (only the worst distance of a stage) or, with `guess`, those active at x, u. Returns their
 * number. *left: a violated row was not added, because there are enough of earlier stages, on which it depends, or it is there already. */
static int join(Problem *o, int guess, int *left) {
  Active *w = &o->scratch->active;
  const int before = w->count;
  int k, i, j;
  *left = 0;
  violations(o);
  for (k = 0; k < o->count; k++) {
    const Stage *s = &o->stage[k];
    double side[SLACK + NEAR + 1], at_guess[SLACK + NEAR + 1], most = 0.0;
    int worst = -1;
    if (!guess && w->count - before >= C_MPC_JOINED) {
      *left = 1;
      break;
    }
    memcpy(side, s->t_new, SLACK * sizeof(double));
    near_sides(o, s, s->x_new, side + SLACK);
    if (guess) sides(s->u, k ? s[-1].u : o->u_last, s->x, at_guess);
    if (guess) near_sides(o, s, s->x, at_guess + SLACK);
    for (i = 0; i < SLACK + o->near; i++) {
      const double d = i < SLACK ? o->d[i] : near_room(s, i - SLACK), good = missed(o, i);
      const double violated = i < SLACK ? side[i] : side[i] - d;
      if (d >= C_MPC_NONE) continue;
      if (!(guess ? at_guess[i] > d - C_MPC_TOUCHES * good : violated > good)) continue;
      j = at_row(w, before, k, i);
      if (j >= 0) *left |= w->set[j] != HIGHEST;
      else if (i < SLACK || guess) *left |= !add_row(o, k, i, violated);
      else if (violated > most) most = violated, worst = i;
    }
    if (worst >= 0) *left |= !add_row(o, k, worst, most);
  }
  descending(w, before);
  return w->count - before;
}

/* Copies the solution and its multipliers to the stages. */
static void take(Problem *o) {
  const Active *w = &o->scratch->active;
  int k, j;
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    memcpy(s->x, s->x_new, X * sizeof(double));
    memcpy(s->u, s->u_new, N * sizeof(double));
    memset(s->l, 0, PAIRS * sizeof(double));
  }
  for (j = 0; j < w->count; j++) {
    Stage *s = &o->stage[w->stage[j]];
    if (w->kind[j] < SLACK) s->l[w->kind[j]] = w->multiplier[j];
    else near_set(s, w->kind[j] - SLACK, w->multiplier[j]);
  }
}

/* Solves the program after `unbounded` in at most `most` rounds; *rounds: their number. 0: not solved. */
static int few(Problem *o, int most, int *rounds) {
  Active *w = &o->scratch->active;
  int left, solved = 1, rows = C_MPC_EXCHANGES * ACTIVE, i, j;
  w->count = 0;
  for (*rounds = 1;; ++*rounds) {
    int joined, from;
    if (w->count > ACTIVE / 2) leave(o);
    from = w->count;
    joined = join(o, *rounds == 1, &left);
    if (joined == 0 && *rounds == 1) joined = join(o, 0, &left);
    if (joined == 0 || *rounds > most || rows <= 0) return joined == 0 && !left && solved;
    columns(o, from);
    for (j = from; j < w->count; j++)
      for (i = 0; i < from; i++) w->violated[j] += w->H[i + ACTIVE * j] * w->multiplier[i];
    solved = multipliers(w, &rows);
    no_slopes(o);
    for (j = 0; j < w->count; j++) add_slope(&o->stage[w->stage[j]], w->kind[j], w->multiplier[j]);
    solve_stages(o);
  }
}

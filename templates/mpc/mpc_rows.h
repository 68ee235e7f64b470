/* Distance constraints of the plan: the NEAR least distances of every node, linearised at the iterate:
 *
 *   -J x <= room,  room = distance - J x of the iterate - asked;  softened: a metre of violation costs `cost`.
 *
 * They are further inequalities of a stage, with slacks and multipliers of their own: NEAR of the rows, then NEAR of the softening.
 * The merit and the reported distance use all distances. */

#if DISTANCES

#define ABOUT 1e-2 /* m: at the start of a program a row this close counts as violated: fewest iterations */

static double near_side(const Stage *s, const double *x, int r) {
  const double *J = s->J + N * r;
  double sum = 0.0;
  int i;
  for (i = 0; i < N; i++) sum -= J[i] * x[i];
  return sum;
}

static void near_sides(const Problem *o, const Stage *s, const double *x, double *side) {
  int r;
  for (r = 0; r < o->near; r++) side[r] = near_side(s, x, r);
}

#define near_slope(s, r) ((s)->J + N * (r))
#define near_room(s, r) ((s)->room[r])
#define near_cost(s, r) ((s)->cost[r])
#define near_set(s, r, value) ((s)->ln[r] = (value))

/* Adds the rows' gradient to the barrier's and sets their curvature hc. */
static void near_barrier(const Problem *o, Stage *s) {
  int r, i, j;
  memset(s->hc, 0, sizeof s->hc);
  for (r = 0; r < o->near; r++) {
    const double *J = s->J + N * r, row = s->ln[r] / s->tn[r], slack = s->ln[r + NEAR] / s->tn[r + NEAR];
    const double share = row / (row + slack), h = row * slack / (row + slack);
    const double b = (1.0 - share) * s->kn[r] - share * (s->kn[r + NEAR] - s->cost[r]) - h * s->room[r];
    for (i = 0; i < N; i++) s->bx[i] -= b * J[i];
    for (j = 0; j < N; j++)
      for (i = 0; i < N; i++) s->hc[i + LN * j] += h * J[j] * J[i];
  }
}

static void near_curvature(const Problem *o, const Stage *s, double *P) {
  int i, j;
  for (j = 0; j < N && o->near; j++)
    for (i = 0; i < N; i++) P[i + LZ * j] += s->hc[i + LN * j];
}

/* No barrier and no multipliers. */
static void near_none(Stage *s) {
  memset(s->hc, 0, sizeof s->hc);
  memset(s->ln, 0, sizeof s->ln);
}

/* The step towards a target, at most `step`, that keeps a number positive. */
static double near_share(double step, double from, double to) {
  return to < (1.0 - 1.0 / step) * from ? from / (from - to) : step;
}

/* Slacks and multipliers after a full Newton step; returns the longest step, at most `step`, that keeps them positive. */
static double near_targets(const Problem *o, Stage *s, double step) {
  int r;
  for (r = 0; r < o->near; r++) {
    const int w = r + NEAR;
    const double h = s->ln[r] / s->tn[r], slack = s->ln[w] / s->tn[w], over = s->room[r] - near_side(s, s->x_new, r);
    s->tn_new[w] = (s->kn[r] + s->kn[w] - s->cost[r] - h * over) / (h + slack);
    s->tn_new[r] = over + s->tn_new[w];
    s->ln_new[w] = s->kn[w] - slack * s->tn_new[w];
    s->ln_new[r] = s->kn[r] - h * s->tn_new[r];
    step = near_share(near_share(step, s->tn[w], s->tn_new[w]), s->ln[w], s->ln_new[w]);
    step = near_share(near_share(step, s->tn[r], s->tn_new[r]), s->ln[r], s->ln_new[r]);
  }
  return step;
}

static double near_complementarity(const Problem *o, const Stage *s, double step) {
  double sum = 0.0;
  int i;
  for (i = 0; i < 2 * o->near; i++)
    sum += (s->tn[i] + step * (s->tn_new[i] - s->tn[i])) * (s->ln[i] + step * (s->ln_new[i] - s->ln[i]));
  return sum;
}

/* Penalty of x for violated rows. */
static double near_penalty(const Problem *o, const Stage *s, const double *x) {
  double sum = 0.0;
  int r;
  for (r = 0; r < o->near; r++) {
    const double over = near_side(s, x, r) - s->room[r];
    if (over > 0.0) sum += s->cost[r] * over;
  }
  return sum;
}

static int near_broken(const Problem *o, const Stage *s) {
  int r;
  for (r = 0; r < o->near; r++)
    if (!(near_side(s, s->x_new, r) <= s->room[r])) return 1;
  return 0;
}

/* Starting point on the central path: every product is `mean`, multipliers add up to the price. Returns the penalty of violated rows. */
static double near_initial(const Problem *o, Stage *s, double mean) {
  double cost = 0.0;
  int r;
  for (r = 0; r < o->near; r++) {
    const int w = r + NEAR;
    const double price = s->cost[r], broken = price * (near_side(s, s->x, r) - s->room[r]);
    const double root = sqrt(broken * broken + 4.0 * mean * mean) + 2.0 * mean;
    s->ln[r] = 2.0 * mean * price / (root - broken);
    s->ln[w] = 2.0 * mean * price / (root + broken);
    s->tn[r] = mean / s->ln[r];
    s->tn[w] = mean / s->ln[w];
    if (broken > -ABOUT * price) cost += broken + ABOUT * price;
  }
  memcpy(s->tn_new, s->tn, sizeof s->tn);
  memcpy(s->ln_new, s->ln, sizeof s->ln);
  return cost;
}

/* kappa of the predictor (`mean` below 0), or of the corrector. */
static void near_aim(const Problem *o, Stage *s, double mean) {
  int i;
  for (i = 0; i < 2 * o->near; i++)
    s->kn[i] = s->ln[i] + (mean < 0.0 ? 0.0 : (mean - (s->tn_new[i] - s->tn[i]) * (s->ln_new[i] - s->ln[i])) / s->tn[i]);
}

static void near_move(const Problem *o, Stage *s, double step) {
  int i;
  for (i = 0; i < 2 * o->near; i++) {
    s->tn[i] += step * (s->tn_new[i] - s->tn[i]);
    s->ln[i] += step * (s->ln_new[i] - s->ln[i]);
  }
}

/* Adds the rows' multipliers to the gradient of the cost. */
static void near_forces(const Problem *o, const Stage *s, double *y) {
  int r, i;
  for (r = 0; r < o->near; r++)
    for (i = 0; i < N; i++) y[i] -= s->ln[r] * s->J[i + N * r];
}
#else
#define near_sides(o, s, x, side) ((void)0)
#define near_slope(s, r) ((s)->x)
#define near_room(s, r) 0.0
#define near_cost(s, r) 0.0
#define near_set(s, r, value) ((void)0)
#define near_barrier(o, s) ((void)0)
#define near_curvature(o, s, P) ((void)0)
#define near_none(s) ((void)0)
#define near_targets(o, s, step) (step)
#define near_complementarity(o, s, step) 0.0
#define near_penalty(o, s, x) 0.0
#define near_broken(o, s) 0
#define near_initial(o, s, mean) 0.0
#define near_aim(o, s, mean) ((void)0)
#define near_move(o, s, step) ((void)0)
#define near_forces(o, s, y) ((void)0)
#endif

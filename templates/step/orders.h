/* Steps of fourth and sixth order: weighted sums of chains of steps over fractions of h from the same state, with constant torques. A
 * step backwards in time is a step forwards from (p, -pd) with its end rates negated. Fourth order: Suzuki 1990; sixth:
 * extrapolation of a step whose error is even in h (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.9). */
enum { MOST_CHAINS = 3, MOST_RUNS = 3, MOST_STEPS = 3, NODES = 9 }; /* NODES: at most, of an order */

typedef struct { /* equal steps, over `share` of h in total */
  double share;
  int steps;
} Run;

typedef struct {
  double weight;
  int runs;
  Run run[MOST_RUNS];
} Chain;

typedef struct {
  int chains;
  Chain chain[MOST_CHAINS];
} Order;

#define SUZUKI 0.41449077179437573714 /* 1 / (4 - 4^(1/3)) */
static const Order fourth_order = {1, {{1.0, 3, {{2.0 * SUZUKI, 2}, {1.0 - 4.0 * SUZUKI, 1}, {2.0 * SUZUKI, 2}}}}};
static const Order sixth_order = {3, {{1.0 / 24.0, 1, {{1.0, 1}}}, {-16.0 / 15.0, 1, {{1.0, 2}}}, {81.0 / 40.0, 1, {{1.0, 3}}}}};

/* Offsets in w->composed. */
enum {
  O_NODES = 0, /* p and pd of every node of a single step */
  O_HELD = O_NODES + 2 * N * NODES,
  O_SEEDS = O_HELD + MOST_STEPS * N,
  O_BARS = O_SEEDS + 2 * N * (MOST_STEPS + 1),
  O_SEED = O_BARS + MOST_STEPS * N,
  O_TOTAL = O_SEED + 6 * N,
  O_OWN = O_TOTAL + 6 * N * N,
  O_MOVED = O_OWN + 6 * N * N
};

static double turned(const Run *run) { return run->share < 0.0 ? -1.0 : 1.0; }

/* Step size of a run. */
static double part(const Run *run, const double *h) { return fabs(run->share) * h[0] / run->steps; }

static void scaled(double factor, const double *x, double *to) {
  int j;
  for (j = 0; j < N; j++) to[j] = factor * x[j];
}

static void add(double factor, const double *x, double *to) {
  int j;
  for (j = 0; j < N; j++) to[j] += factor * x[j];
}

/* Computes the nodes of every chain, run by run: poses, then rates (negated in a backward run). p_next and pd_next are the weighted
 * sum of the ends, or the start if the returned status is not 0. */
static int compose(const Order *o, const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                   double *nodes, double *p_next, double *pd_next, Work *w) {
  double *held = w->composed + O_HELD;
  const double *p_from, *pd_from;
  double *P = nodes;
  int c, r, j, done, status;
  for (j = 0; j < MOST_STEPS; j++) memcpy(held + j * N, u, N * sizeof(double));
  memset(p_next, 0, N * sizeof(double));
  memset(pd_next, 0, N * sizeof(double));
  for (c = 0; c < o->chains; c++) {
    const Chain *chain = o->chain + c;
    double way = 1.0; /* sign of pd_from */
    p_from = p, pd_from = pd;
    for (r = 0; r < chain->runs; r++) {
      const Run *run = chain->run + r;
      const double step = part(run, h);
      double *PD = P + (run->steps + 1) * N;
      memcpy(P, p_from, N * sizeof(double));
      scaled(way * turned(run), pd_from, PD);
      status = step >= C_LEAST_STEP ? glide(run->steps, held, &step, alpha, P, PD, &done, w) : STATUS_STEP_NOT_FORWARDS;
      if (status != 0) {
        memcpy(p_next, p, N * sizeof(double));
        memcpy(pd_next, pd, N * sizeof(double));
        return status;
      }
      way = turned(run);
      p_from = P + run->steps * N, pd_from = PD + run->steps * N;
      P = PD + (run->steps + 1) * N;
    }
    add(chain->weight, p_from, p_next);
    add(chain->weight * way, pd_from, pd_next);
  }
  return 0;
}

/* Prepares the model; the status says whether h and friction allow these steps. */
static int begun(const double *h, const double *alpha, Work *w) {
  if (!(h[0] >= C_LEAST_STEP)) return STATUS_STEP_NOT_FORWARDS;
  prepare_kernel(alpha, w->model, w->kernel);
  return frictionless(alpha) ? 0 : STATUS_FRICTION_REFUSED;
}

/* A step without derivatives: its nodes need not be kept. */
static int composed_step(const Order *o, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
#if defined(ON_X86) && defined(FOR_V3)
  if (o == &sixth_order && BESIDE(sixth)(in, out, w->model, work + WORK_SIZE)) return 0;
#endif
  return compose(o, in[0], in[1], in[2], in[3], in[4], w->composed + O_NODES, out[0], out[1], w);
}

static int single(const Order *o, const double *const *in, double *const *out, double *work) {
  const int status = begun(in[3], in[4], (Work *)(void *)work);
  if (status == STATUS_STEP_NOT_FORWARDS) {
    memcpy(out[0], in[0], N * sizeof(double));
    memcpy(out[1], in[1], N * sizeof(double));
  }
  return status != 0 ? status : composed_step(o, in, out, work);
}

/* to = A x + B y, of columns x and y. */
static void product(const double *A, const double *x, const double *B, const double *y, double *to) {
  int i, j;
  memset(to, 0, N * sizeof(double));
  for (j = 0; j < N; j++)
    for (i = 0; i < N; i++) to[i] += A[i + N * j] * x[j] + B[i + N * j] * y[j];
}

/* Chain rule for blocks by p, pd and u of p_next, then of pd_next: extends those of a chain (total) by one step (own). */
static void follow(const double *own, double *total, double *moved) {
  const int square = N * N;
  int b, j, k;
  for (b = 0; b < 3; b++)
    for (j = 0; j < N; j++) {
      const double *x = total + b * square + j * N, *y = x + 3 * square;
      for (k = 0; k < 2; k++) product(own + 3 * k * square, x, own + (3 * k + 1) * square, y, moved + (b + 3 * k) * square + j * N);
    }
  for (k = 0; k < 2; k++)
    for (j = 0; j < square; j++) moved[(2 + 3 * k) * square + j] += own[(2 + 3 * k) * square + j];
  memcpy(total, moved, 6 * N * N * sizeof(double));
}

/* A step and its Jacobian; `out` as in jac_joint_step. */
static int single_slopes(const Order *o, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *own = w->composed + O_OWN, *total = w->composed + O_TOTAL, *moved = w->composed + O_MOVED;
  const double *P = w->composed + O_NODES;
  int c, r, k, b, j, status = begun(in[3], in[4], w);
  if (status == 0) status = compose(o, in[0], in[1], in[2], in[3], in[4], w->composed + O_NODES, out[0], out[1], w);
  if (status != 0) return status;
  for (b = 0; b < 6; b++) memset(out[2 + b], 0, N * N * sizeof(double));
  for (c = 0; c < o->chains; c++) {
    const Chain *chain = o->chain + c;
    for (r = 0; r < chain->runs; r++) {
      const Run *run = chain->run + r;
      const double step = part(run, in[3]);
      const double *PD = P + (run->steps + 1) * N;
      for (k = 0; k < run->steps; k++) {
        double *to = r + k == 0 ? total : own;
        jacobian_kernel(P + k * N, PD + k * N, P + (k + 1) * N, PD + (k + 1) * N, &step, in[4], w->model, to, to + N * N,
                        to + 2 * N * N, to + 3 * N * N, to + 4 * N * N, to + 5 * N * N, w->kernel);
        if (run->share < 0.0) /* derivatives by and of negated rates */
          for (j = 0; j < N * N; j++) to[N * N + j] *= -1.0, to[3 * N * N + j] *= -1.0, to[5 * N * N + j] *= -1.0;
        if (r + k != 0) follow(own, total, moved);
      }
      P = PD + (run->steps + 1) * N;
    }
    for (b = 0; b < 6; b++)
      for (j = 0; j < N * N; j++) out[2 + b][j] += chain->weight * total[b * N * N + j];
  }
  return 0;
}

/* Reverse derivative of a step along its nodes: from seeds at its end to gradients at its start; adds to alpha_bar and h_bar unless
 * they are null. p_bar and pd_bar may be the arrays of the seeds. */
static void pull_composed(const Order *o, const double *u, const double *h, const double *alpha, const double *nodes,
                          const double *p_next_bar, const double *pd_next_bar, double *p_bar, double *pd_bar, double *u_bar,
                          double *alpha_bar, double *h_bar, Work *w) {
  double *held = w->composed + O_HELD, *seeds = w->composed + O_SEEDS, *bars = w->composed + O_BARS;
  double *seed = w->composed + O_SEED, *into = seed + 2 * N, *from = into + 2 * N;
  const double *first = nodes, *P;
  int c, r, j;
  for (j = 0; j < MOST_STEPS; j++) memcpy(held + j * N, u, N * sizeof(double));
  memset(into, 0, 2 * N * sizeof(double));
  memset(u_bar, 0, N * sizeof(double));
  for (c = 0; c < o->chains; c++) {
    const Chain *chain = o->chain + c;
    scaled(chain->weight, p_next_bar, seed);
    scaled(chain->weight, pd_next_bar, seed + N);
    for (r = 0; r < chain->runs; r++) first += 2 * N * (chain->run[r].steps + 1);
    P = first;
    for (r = chain->runs - 1; r >= 0; r--) {
      const Run *run = chain->run + r;
      const int nodes_of = run->steps + 1;
      const double step = part(run, h);
      double step_bar = 0.0;
      P -= 2 * N * nodes_of;
      memset(seeds, 0, 2 * (size_t)nodes_of * N * sizeof(double));
      memcpy(seeds + run->steps * N, seed, N * sizeof(double));
      scaled(turned(run), seed + N, seeds + (nodes_of + run->steps) * N);
      pull_back(run->steps, held, &step, alpha, P, P + nodes_of * N, seeds, seeds + nodes_of * N, from, from + N, bars, alpha_bar,
                h_bar != 0 ? &step_bar : 0, w);
      memcpy(seed, from, N * sizeof(double));
      scaled(turned(run), from + N, seed + N);
      for (j = 0; j < run->steps; j++) add(1.0, bars + j * N, u_bar);
      if (h_bar != 0) h_bar[0] += fabs(run->share) / run->steps * step_bar;
    }
    add(1.0, seed, into);
    add(1.0, seed + N, into + N);
  }
  memcpy(p_bar, into, N * sizeof(double));
  memcpy(pd_bar, into + N, N * sizeof(double));
}

/* Reverse derivative of a step; `in` and `out` as in vjp_joint_step. */
static int single_back(const Order *o, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *nodes = w->composed + O_NODES, *end = w->composed + O_TOTAL;
  int status = begun(in[3], in[4], w);
  if (status == 0) status = compose(o, in[0], in[1], in[2], in[3], in[4], nodes, end, end + N, w);
  if (status != 0) return status;
  out[3][0] = 0.0;
  memset(out[4], 0, NA * sizeof(double));
  pull_composed(o, in[2], in[3], in[4], nodes, in[5], in[6], out[0], out[1], out[2], out[4], out[3], w);
  return 0;
}

/* `in` and `out` as in rollout; after a failed step the last good state is repeated. */
static int composed_rollout(const Order *o, int steps, const double *const *in, double *const *out, double *work) {
  double *P = out[0], *PD = out[1];
  int k, status = begun(in[3], in[4], (Work *)(void *)work);
  memcpy(P, in[0], N * sizeof(double));
  memcpy(PD, in[1], N * sizeof(double));
  for (k = 0; k < steps; k++, P += N, PD += N) {
    const double *const given[] = {P, PD, in[2] + (ptrdiff_t)k * N, in[3], in[4]};
    double *const found[] = {P + N, PD + N};
    if (status == 0) status = composed_step(o, given, found, work);
    if (status != 0) {
      memcpy(P + N, P, N * sizeof(double));
      memcpy(PD + N, PD, N * sizeof(double));
    }
  }
  return status;
}

/* Reverse derivative of the rollout, `in` and `out` as in vjp_rollout: a forward pass that keeps the nodes, then backwards. */
static int composed_rollout_back(const Order *o, int steps, const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *nodes = work + WORK_SIZE + LANES_SIXTH_ORDER_STEP, *p = nodes + (ptrdiff_t)steps * 2 * N * NODES, *pd = p + N;
  double *next = pd + N, *p_bar = out[0], *pd_bar = out[1];
  int k, status = begun(in[3], in[4], w);
  memcpy(p, in[0], N * sizeof(double));
  memcpy(pd, in[1], N * sizeof(double));
  for (k = 0; k < steps && status == 0; k++) {
    status = compose(o, p, pd, in[2] + (ptrdiff_t)k * N, in[3], in[4], nodes + (ptrdiff_t)k * 2 * N * NODES, next, next + N, w);
    memcpy(p, next, 2 * N * sizeof(double));
  }
  if (status != 0) return status;
  if (out[3] != 0) out[3][0] = 0.0;
  if (out[4] != 0) memset(out[4], 0, NA * sizeof(double));
  memcpy(p_bar, in[5] + (ptrdiff_t)steps * N, N * sizeof(double));
  memcpy(pd_bar, in[6] + (ptrdiff_t)steps * N, N * sizeof(double));
  for (k = steps - 1; k >= 0; k--) {
    const ptrdiff_t at = (ptrdiff_t)k * N;
    pull_composed(o, in[2] + at, in[3], in[4], nodes + (ptrdiff_t)k * 2 * N * NODES, p_bar, pd_bar, p_bar, pd_bar, out[2] + at,
                  out[4], out[3], w);
    add(1.0, in[5] + at, p_bar);
    add(1.0, in[6] + at, pd_bar);
  }
  return 0;
}

#define ARGUMENTS const double *const *in, double *const *out, double *work
HIDDEN int ON_PATH(fourth_order_step)(ARGUMENTS) { return single(&fourth_order, in, out, work); }
HIDDEN int ON_PATH(sixth_order_step)(ARGUMENTS) { return single(&sixth_order, in, out, work); }
HIDDEN int ON_PATH(jac_fourth_order_step)(ARGUMENTS) { return single_slopes(&fourth_order, in, out, work); }
HIDDEN int ON_PATH(jac_sixth_order_step)(ARGUMENTS) { return single_slopes(&sixth_order, in, out, work); }
HIDDEN int ON_PATH(vjp_fourth_order_step)(ARGUMENTS) { return single_back(&fourth_order, in, out, work); }
HIDDEN int ON_PATH(vjp_sixth_order_step)(ARGUMENTS) { return single_back(&sixth_order, in, out, work); }
HIDDEN int ON_PATH(fourth_order_rollout)(int steps, ARGUMENTS) { return composed_rollout(&fourth_order, steps, in, out, work); }
HIDDEN int ON_PATH(sixth_order_rollout)(int steps, ARGUMENTS) { return composed_rollout(&sixth_order, steps, in, out, work); }
HIDDEN int ON_PATH(vjp_fourth_order_rollout)(int steps, ARGUMENTS) { return composed_rollout_back(&fourth_order, steps, in, out, work); }
HIDDEN int ON_PATH(vjp_sixth_order_rollout)(int steps, ARGUMENTS) { return composed_rollout_back(&sixth_order, steps, in, out, work); }
#undef ARGUMENTS

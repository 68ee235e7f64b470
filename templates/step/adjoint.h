/* Offsets of the blocks of a step's derivatives, N x N each, column-major. */
enum { B_D = 0, B_FACTORS = N * N, B_K0 = 2 * N * N, B_K1 = 3 * N * N, BLOCKS = 4 * N * N };

/* to -= factor A^T x */
static void subtract_pulled(const double *A, double factor, const double *x, double *to) {
  int j;
  for (j = 0; j < N; j++) to[j] -= factor * inner(A + N * j, x);
}

/* to -= A x */
static void subtract_product(const double *A, const double *x, double *to) {
  int i, j;
  for (j = 0; j < N; j++)
    for (i = 0; i < N; i++) to[i] -= A[i + N * j] * x[j];
}

/* Solves h (M + h slope of friction) y = seed; y and seed may be the same array. begun: rates at the start. */
static void pull_rate(const double *begun, const double *h, const double *pd, const double *alpha, const double *seed, double *y,
                      Work *w) {
  double *direction = w->direction;
  int j;
  velocity_newton_kernel(w->mass, h, pd, seed, begun, alpha, w->model, direction, w->kernel);
  for (j = 0; j < N; j++) y[j] = -direction[j] / h[0];
}

/* Computes the blocks of four steps from `first` in vector lanes, without friction also y and momentum slope of the seeds on their end
 * rates, to w->blocks and w->sought step after step. Returns 0 if that is not available. */
static int assembled(int linear, int first, int steps, const double *P, const double *PD, const double *PD_bar, const double *h,
                     const double *alpha, Work *w) {
#if defined(ON_X86) && defined(FOR_V3)
  const ptrdiff_t at = (ptrdiff_t)first * N;
  if (steps < 4) return 0;
  return BESIDE(blocks)(linear, P + at, PD + at, PD_bar + at, h, alpha, w->model, w->blocks, w->sought, (double *)(void *)(w + 1));
#else
  (void)linear, (void)first, (void)steps, (void)P, (void)PD, (void)PD_bar, (void)h, (void)alpha, (void)w;
  return 0;
#endif
}

/* Multiplier y of a step from its seed on rates, whose effect through the pose is subtracted from the seed on the pose. */
static void pull_seed(int linear, const double *rate_bar, const double *h, const double *pd, const double *p_next,
                      const double *pd_next, const double *alpha, Work *w) {
  double *x = w->x, *y = w->y, *seed = w->smooth, *turned = seed + N, *slope = turned + N;
  int j;
  inertia_kernel(p_next, alpha, w->model, w->next.record, w->mass, w->kernel);
  memcpy(turned, rate_bar, N * sizeof(double));
  if (linear) {
    pull_rate(pd, h, pd_next, alpha, turned, turned, w);
    for (j = 0; j < N; j++) y[j] += turned[j];
  } else {
    subtract_pulled(w->mass, -h[0], x, turned);
#if VARYING
    for (j = 0; j < N; j++) turned[j] -= w->shed[j];
#endif
    pull_rate(pd, h, pd_next, alpha, turned, y, w);
    for (j = 0; j < N; j++) turned[j] = y[j] - x[j];
  }
  momentum_slope_kernel(p_next, pd_next, turned, w->next.record, alpha, w->model, slope, w->kernel);
  for (j = 0; j < N; j++) seed[j] -= h[0] * slope[j];
}

/* Reverse derivative of a trajectory: from seeds (N x (steps + 1)) to gradients by its start and torques; adds to alpha_bar and h_bar
 * unless they are null. From the last step to the first, one transposed solve gives a step's multipliers x of h F and y of h G from
 * those of the following step; without friction a node's rates have no seed but their own. */
static void pull_back(int steps, const double *U, const double *h, const double *alpha, const double *P, const double *PD,
                      const double *P_bar, const double *PD_bar, double *p0_bar, double *pd0_bar, double *U_bar,
                      double *alpha_bar, double *h_bar, Work *w) {
  const double *model = w->model, *mass = w->mass;
  double *record = w->next.record, *own = w->blocks, *x = w->x, *y = w->y;
  double *seed = w->smooth, *slope = seed + 2 * N;
#if VARYING
  double *shed = w->shed; /* gradient by the start rates, on which friction coefficients depend */
#endif
  const int linear = frictionless(alpha);
  int k, j, first = steps, ready = 0;
  memset(x, 0, N * sizeof(double));
  memset(y, 0, N * sizeof(double));
  memset(own, 0, BLOCKS * sizeof(double));
#if VARYING
  memset(shed, 0, N * sizeof(double));
#endif
  for (k = steps - 1; k >= 0; k--) {
    const double *p = P + (ptrdiff_t)k * N, *pd = PD + (ptrdiff_t)k * N, *p_next = p + N, *pd_next = pd + N;
    const double *rate_bar = PD_bar + (ptrdiff_t)(k + 1) * N;
    memcpy(seed, P_bar + (ptrdiff_t)(k + 1) * N, N * sizeof(double));
    subtract_pulled(own + B_K0, 1.0, x, seed); /* blocks of the following step */
    subtract_product(own + B_D, y, seed);
    memcpy(y, x, N * sizeof(double));
    if (k < first) {
      first = k > 3 ? k - 3 : 0;
      ready = assembled(linear, first, steps, P, PD, PD_bar, h, alpha, w);
    }
    if (ready && linear) {
      const double *sought = w->sought + (k - first) * 2 * N;
      for (j = 0; j < N; j++) y[j] += sought[j], seed[j] -= h[0] * sought[N + j];
    } else if (!linear || largest(rate_bar) != 0.0) {
      pull_seed(linear, rate_bar, h, pd, p_next, pd_next, alpha, w);
    }
    own = w->blocks + (ready ? (k - first) * BLOCKS : 0);
    if (!ready) assembly_kernel(p, p_next, h, alpha, model, own + B_D, own + B_FACTORS, own + B_K0, own + B_K1, w->kernel);
    subtract_pulled(own + B_K1, 1.0, y, seed);
    solve_transposed_kernel(own + B_FACTORS, seed, alpha, model, x, w->kernel);
    for (j = 0; j < N; j++) U_bar[(ptrdiff_t)k * N + j] = 0.5 * h[0] * h[0] * (x[j] + y[j]);
#if VARYING
    if (!linear) friction_lag_kernel(pd_next, y, h, pd, alpha, model, shed, w->kernel);
#endif
    if (alpha_bar != 0 && h_bar != 0) {
      adjoint_parameters_kernel(p, pd, U + (ptrdiff_t)k * N, h, p_next, pd_next, alpha, x, y, alpha_bar, h_bar, w->kernel);
    }
  }
  memcpy(p0_bar, P_bar, N * sizeof(double));
  memcpy(pd0_bar, PD_bar, N * sizeof(double));
  if (steps == 0) return;
  inertia_kernel(P, alpha, model, record, w->mass, w->kernel);
  momentum_slope_kernel(P, PD, x, record, alpha, model, slope, w->kernel);
  subtract_pulled(own + B_K0, 1.0, x, p0_bar);
  subtract_product(own + B_D, y, p0_bar);
  for (j = 0; j < N; j++) p0_bar[j] += h[0] * slope[j];
  subtract_pulled(mass, -h[0], x, pd0_bar);
#if VARYING
  for (j = 0; j < N; j++) pd0_bar[j] -= shed[j];
#endif
}

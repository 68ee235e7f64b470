/* Rollouts and their gradients. */
#if EVERY || defined(ONLY_rollout) || defined(ONLY_vjp_rollout)
/* The nodes of a rollout, to be written by `node`(k, p, pd); the largest of what its steps left. What follows a step that fails is its start. */
INSIDE V rolled_out(const Arguments &a, long long s, const V *h, Parameters alpha, const V *model, auto node) {
  V p[N], pd[N], u[N], p_next[N], pd_next[N], left = 0;
  take(given(a.in[0], s), p);
  take(given(a.in[1], s), pd);
  node(0, p, pd);
  ROLLED
  for (long long k = 0; k < a.steps; k++) {
    if (settled(left)) {
      take(given(a.in[2], s, k), u);
      const V own = advance(p, pd, u, 0, h, alpha, model, p_next, pd_next);
      left = own > left ? own : left;
      if (settled(left)) {
        take(p_next, p);
        take(pd_next, pd);
      }
    }
    node(k + 1, p, pd);
  }
  return left;
}
#endif

#if EVERY || defined(ONLY_rollout)
ENTRY(rollout) {
  STATE(a.count, t)
  PREPARED(3, 4)
  row(a.out[2], s)[0] = rolled_out(a, s, h, alpha, model, [&](long long k, const V *p, const V *pd) {
    take(p, row(a.out[0], s, k));
    take(pd, row(a.out[1], s, k));
  });
}
#endif

#if EVERY || defined(ONLY_vjp_rollout)
/* p0, pd0, U, h, alpha, P_bar, PD_bar -> p0_bar, pd0_bar, U_bar, h_bar, alpha_bar, left: four entries one after another. The nodes stand
 * in the workspace, then what derivatives of every step need, then the multipliers x of h F and y of h G; as in pull_back of joint_step.c. */
enum {
  W_BLOCKS = 4 * N * N,      /* of a step: D, factors, K0, K1 */
  W_STEP = 4 * N + W_BLOCKS, /* p, pd of a node, multipliers x, y, blocks */
  B_D = 0,
  B_FACTORS = N * N,
  B_K0 = 2 * N * N,
  B_K1 = 3 * N * N
};

CONSTANT long long work_vjp_rollout[2] = {2 * N, W_STEP};

INSIDE Vector node_of(const Arguments &a, long long s, long long k) { return space(a, s, k * 2 * N); }

INSIDE Vector multipliers_of(const Arguments &a, long long s, long long k) { return space(a, s, 2 * N * (a.steps + 1) + k * 2 * N); }

INSIDE Vector blocks_of(const Arguments &a, long long s, long long k, int which) {
  return space(a, s, 2 * N * (a.steps + 1) + 2 * N * a.steps + k * W_BLOCKS + which);
}

/* The second half of a node: its rates. */
INSIDE Vector after(Vector x, int count) { return {x.at + count * x.stride, x.stride}; }

ENTRY(vjp_rollout_forward) {
  STATE(a.count, t)
  PREPARED(3, 4)
  row(a.out[5], s)[0] = rolled_out(a, s, h, alpha, model, [&](long long k, const V *p, const V *pd) {
    take(p, node_of(a, s, k));
    take(pd, after(node_of(a, s, k), N));
  });
}

/* A thread a step of a state. */
ENTRY(vjp_rollout_blocks) {
  STATE(a.count * a.steps, t % a.count)
  PREPARED(3, 4)
  const long long k = t / a.count;
  V p[N], p_next[N];
  take(node_of(a, s, k), p);
  take(node_of(a, s, k + 1), p_next);
  assembly_kernel(p, p_next, h, alpha, model, blocks_of(a, s, k, B_D), blocks_of(a, s, k, B_FACTORS), blocks_of(a, s, k, B_K0),
                  blocks_of(a, s, k, B_K1), NOTHING);
}

/* to -= factor * transposed(A) x; to -= A x. */
INSIDE void subtract_pulled(auto A, V factor, const V *x, V *to) {
  UNROLLED
  for (int j = 0; j < N; j++) {
    V sum = 0;
    UNROLLED
    for (int i = 0; i < N; i++) sum += A[i + N * j] * x[i];
    to[j] -= factor * sum;
  }
}

INSIDE void subtract_product(auto A, const V *x, V *to) {
  UNROLLED
  for (int j = 0; j < N; j++) {
    UNROLLED
    for (int i = 0; i < N; i++) to[i] -= A[i + N * j] * x[j];
  }
}

/* Seeds on node k; with ENDS they are given for the last node alone. */
INSIDE void take_seed(const Arguments &a, int which, long long s, long long k, V *to) {
#ifdef ENDS
  for (int j = 0; j < N; j++) to[j] = k == a.steps ? given(a.in[which], s)[j] : V(0);
#else
  take(given(a.in[which], s, k), to);
#endif
}

/* Nothing follows from a rollout that failed. */
INSIDE void without_gradients(const Arguments &a, long long s) {
  for (int j = 0; j < N; j++) row(a.out[0], s)[j] = row(a.out[1], s)[j] = 0;
  for (long long k = 0; k < a.steps; k++)
    for (int j = 0; j < N; j++) row(a.out[2], s, k)[j] = multipliers_of(a, s, k)[j] = multipliers_of(a, s, k)[N + j] = 0;
}

/* Pulls the seed `turned` on the rates at a step's end to y, and through the momentum there to the seed on the pose. `x` is the multiplier of
 * the step after it, `shed` what that step's coefficients of friction make of the rates it starts from. */
INSIDE void pull_rate(const V *h, auto alpha, const V *model, bool linear, const V *p_next, const V *pd, const V *pd_next, const V *x,
                      const V *shed, V *turned, V *y, V *seed) {
  V record[RECORD], mass[MASS], slope[N];
  inertia_kernel(p_next, alpha, model, record, mass, NOTHING);
  if (!linear) {
    subtract_pulled(mass, -h[0], x, turned);
    UNROLLED
    for (int j = 0; VARYING && j < N; j++) turned[j] -= shed[j];
  }
  velocity_newton_kernel(mass, h, pd_next, turned, pd, alpha, model, slope, NOTHING);
  UNROLLED
  for (int j = 0; j < N; j++) {
    const V pulled = -slope[j] / h[0];
    turned[j] = linear ? pulled : pulled - x[j];
    y[j] = linear ? y[j] + pulled : pulled;
  }
  momentum_slope_kernel(p_next, pd_next, turned, record, alpha, model, slope, NOTHING);
  UNROLLED
  for (int j = 0; j < N; j++) seed[j] -= h[0] * slope[j];
}

/* Adds to the seeds on the first node what the first step makes of its multipliers. */
INSIDE void pull_to_start(const Arguments &a, long long s, const V *h, auto alpha, const V *model, const V *x, const V *y, const V *shed,
                          V *seed, V *turned) {
  V p[N], pd[N], record[RECORD], mass[MASS], slope[N];
  take(node_of(a, s, 0), p);
  take(after(node_of(a, s, 0), N), pd);
  inertia_kernel(p, alpha, model, record, mass, NOTHING);
  momentum_slope_kernel(p, pd, x, record, alpha, model, slope, NOTHING);
  subtract_pulled(blocks_of(a, s, 0, B_K0), 1, x, seed);
  subtract_product(blocks_of(a, s, 0, B_D), y, seed);
  subtract_pulled(mass, -h[0], x, turned);
  UNROLLED
  for (int j = 0; j < N; j++) seed[j] += h[0] * slope[j];
  UNROLLED
  for (int j = 0; VARYING && j < N; j++) turned[j] -= shed[j];
}

ENTRY(vjp_rollout_sweep) {
  STATE(a.count, t)
  PREPARED(3, 4)
  V pd[N], p_next[N], pd_next[N], x[N] = {}, y[N] = {}, seed[N], turned[N], factors[FACTORS], shed[N] = {};
  if (!settled(row(a.out[5], s)[0])) {
    without_gradients(a, s);
    return;
  }
  const bool linear = frictionless(alpha);
  ROLLED
  for (long long k = a.steps - 1; k >= 0; k--) {
    take(after(node_of(a, s, k), N), pd);
    take(node_of(a, s, k + 1), p_next);
    take(after(node_of(a, s, k + 1), N), pd_next);
    take_seed(a, 5, s, k + 1, seed);
    if (k < a.steps - 1) { /* of the step after this one */
      subtract_pulled(blocks_of(a, s, k + 1, B_K0), 1, x, seed);
      subtract_product(blocks_of(a, s, k + 1, B_D), y, seed);
    }
    take(x, y);
    take_seed(a, 6, s, k + 1, turned);
    if (!linear || largest(turned) != V(0)) pull_rate(h, alpha, model, linear, p_next, pd, pd_next, x, shed, turned, y, seed);
    subtract_pulled(blocks_of(a, s, k, B_K1), 1, y, seed);
    take(blocks_of(a, s, k, B_FACTORS), factors, FACTORS);
    solve_transposed_kernel(factors, seed, alpha, model, x, NOTHING);
    UNROLLED
    for (int j = 0; j < N; j++) {
      row(a.out[2], s, k)[j] = V(0.5) * h[0] * h[0] * (x[j] + y[j]);
      multipliers_of(a, s, k)[j] = x[j];
      multipliers_of(a, s, k)[N + j] = y[j];
    }
#if VARYING
    if (!linear) friction_lag_kernel(pd_next, y, h, pd, alpha, model, shed, NOTHING);
#endif
  }
  take_seed(a, 5, s, 0, seed);
  take_seed(a, 6, s, 0, turned);
  if (a.steps > 0) pull_to_start(a, s, h, alpha, model, x, y, shed, seed, turned);
  take(seed, row(a.out[0], s));
  take(turned, row(a.out[1], s));
}

LONE_ENTRY(vjp_rollout_parameters) {
  STATE(a.count, t)
  PREPARED(3, 4)
  const Vector alpha_bar = row(a.out[4], s);
  V h_bar[1] = {};
  (void)model;
  for (int j = 0; j < NA; j++) alpha_bar[j] = 0;
  ROLLED
  for (long long k = 0; k < a.steps; k++) {
    V p[N], pd[N], u[N], p_next[N], pd_next[N], x[N], y[N];
    take(node_of(a, s, k), p);
    take(after(node_of(a, s, k), N), pd);
    take(node_of(a, s, k + 1), p_next);
    take(after(node_of(a, s, k + 1), N), pd_next);
    take(given(a.in[2], s, k), u);
    take(multipliers_of(a, s, k), x);
    take(after(multipliers_of(a, s, k), N), y);
    adjoint_parameters_kernel(p, pd, u, h, p_next, pd_next, alpha, x, y, alpha_bar, h_bar, NOTHING);
  }
  row(a.out[3], s)[0] = h_bar[0];
}
#endif

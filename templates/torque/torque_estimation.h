/* Torques of a window of steps by Gauss-Newton. Linearised, step k is z' = A z + B du with z the change of (p, pd); the quadratic
 * model of the loss is minimised by one recursion from the window's end to its start and one back, so the work grows
 * linearly with the number of steps. The cost to go after step k is 1/2 s' V s + v' s with s = (z', du of step k); it
 * depends on du because the loss has the torques' changes. Matrices are dense, column-major. */
#define N2 (2 * N)

typedef struct {
  double zz[N2 * N2], zu[N2 * N], uu[N * N], z[N2], u[N];
} Value;

typedef struct { /* of one node or step */
  double rates[RATES], slopes[RATES * N2]; /* angular velocities of links, then rates of slides; derivative by (p, pd) */
  double blocks[6 * N * N];                /* of the step's Jacobian */
  Value V;
  double left[N * N2], Quz[N * N2]; /* left: B' Vzz + Vuz */
  double factors[N * N], pivots[N]; /* of Quu; inverse pivots */
  double product[N2 * N2], z[N2], next[N2];
  double alpha[NA]; /* parameters of the steps: friction is zero if it is known */
  double inner[INNER_WORK];
} Work;

typedef struct { /* one per step */
  double A[N2 * N2], B[N2 * N];
  double gain[N * N2], carry[N * N], step[N]; /* du = -step - gain z + carry (du of the step before) */
  double reference[RATES];                    /* recorded rates at the step's end */
  double kick[N];                             /* known friction impulse at the step's end */
  double change[N];                           /* du */
} Step;

/* in[] */
enum {
  P0 = P0_IN, PD0 = PD0_IN, U_START = U_START_IN, P_REF = P_REF_IN, PD_REF = PD_REF_IN, U_PREV = U_PREV_IN,
  WEIGHTS = LAMBDAS_IN, KNOWN = KNOWN_FRICTION_IN, STEP = H_IN, ALPHA = ALPHA_IN
};

static int all_finite(const double *x, ptrdiff_t count) {
  ptrdiff_t k;
  for (k = 0; k < count; k++)
    if (!(fabs(x[k]) <= C_HUGE)) return 0;
  return 1;
}

static double square(double x) { return x * x; }

/* C = a C + A^T B (A: inner x rows, B: inner x cols). */
static void add_transposed(int rows, int cols, int inner, const double *A, const double *B, double a, double *C) {
  int i, j, k;
  for (j = 0; j < cols; j++)
    for (i = 0; i < rows; i++) {
      double sum = 0.0;
      for (k = 0; k < inner; k++) sum += A[k + inner * i] * B[k + inner * j];
      C[i + rows * j] = (a == 0.0 ? 0.0 : a * C[i + rows * j]) + sum;
    }
}

/* C = a C + s A B (A: rows x inner, B: inner x cols). */
static void add_product(int rows, int cols, int inner, double s, const double *A, const double *B, double a, double *C) {
  int i, j, k;
  for (j = 0; j < cols; j++) {
    double *column = C + rows * j;
    for (i = 0; i < rows; i++) column[i] = a == 0.0 ? 0.0 : a * column[i];
    for (k = 0; k < inner; k++) {
      const double b = s * B[k + inner * j];
      for (i = 0; i < rows; i++) column[i] += A[i + rows * k] * b;
    }
  }
}

/* a = L D L^T in place, L unit lower. A pivot of the size of rounding belongs to a torque that the loss does not depend on:
 * its inverse is set to zero, and so is that torque's change. */
static void factor(double *a, double *pivots) {
  int i, j, k;
  for (j = 0; j < N; j++) {
    double d = a[j + N * j];
    const double least = C_UNSEEN * d;
    for (k = 0; k < j; k++)
      if (pivots[k] != 0.0) d -= square(a[j + N * k]) / pivots[k];
    pivots[j] = d > least ? 1.0 / d : 0.0;
    for (i = j + 1; i < N; i++) {
      double x = a[i + N * j];
      for (k = 0; k < j; k++)
        if (pivots[k] != 0.0) x -= a[i + N * k] * a[j + N * k] / pivots[k];
      a[i + N * j] = x * pivots[j];
    }
  }
}

static void solve(const double *a, const double *pivots, double *x) {
  int i, j;
  for (j = 0; j < N; j++)
    for (i = j + 1; i < N; i++) x[i] -= a[i + N * j] * x[j];
  for (j = 0; j < N; j++) x[j] *= pivots[j];
  for (j = N - 1; j >= 0; j--)
    for (i = j + 1; i < N; i++) x[j] -= a[i + N * j] * x[i];
}

static const double *torque_before(const double *const *in, const double *U, int k) {
  return k == 0 ? in[U_PREV] : U + (ptrdiff_t)(k - 1) * N;
}

/* A and B of a step from the blocks of its Jacobian; a joint without motor has no torque. */
static void assemble(const double *blocks, Step *own) {
  int j;
  for (j = 0; j < N; j++) {
    memcpy(own->A + N2 * j, blocks + N * j, N * sizeof(double));
    memcpy(own->A + N2 * j + N, blocks + 3 * N * N + N * j, N * sizeof(double));
    memcpy(own->A + N2 * (N + j), blocks + N * N + N * j, N * sizeof(double));
    memcpy(own->A + N2 * (N + j) + N, blocks + 4 * N * N + N * j, N * sizeof(double));
    memcpy(own->B + N2 * j, blocks + 2 * N * N + N * j, N * sizeof(double));
    memcpy(own->B + N2 * j + N, blocks + 5 * N * N + N * j, N * sizeof(double));
    if (!motor[j]) memset(own->B + N2 * j, 0, N2 * sizeof(double));
  }
}

/* Rollout from the window's start with torques U; stores A and B of every step and computes the loss. */
static int evaluate(int steps, const double *const *in, const double *U, double *P, double *PD, double *loss, Work *w,
                    Step *own) {
  const double *weights = in[WEIGHTS];
  double total = 0.0;
  int k, i, j;
  memcpy(P, in[P0], N * sizeof(double));
  memcpy(PD, in[PD0], N * sizeof(double));
  for (k = 0; k < steps; k++, own++) {
    const ptrdiff_t at = (ptrdiff_t)k * N;
    const double *before = torque_before(in, U, k), *step_in[6];
    double *step_out[8];
    int status;
    step_in[0] = P + at, step_in[1] = PD + at, step_in[2] = U + at;
    step_in[3] = own->kick, step_in[4] = in[STEP], step_in[5] = w->alpha;
    step_out[0] = P + at + N, step_out[1] = PD + at + N;
    for (j = 0; j < 6; j++) step_out[2 + j] = w->blocks + j * N * N;
    status = ROBOT(jac_kicked_step)(step_in, step_out, w->inner);
    if (status != 0) return status;
    assemble(w->blocks, own);
    rates_kernel(P + at + N, PD + at + N, in[ALPHA], w->rates, w->inner);
    for (i = 0; i < N; i++) {
      total += weights[0] * square(P[at + N + i] - in[P_REF][at + i]) + weights[2] * square(U[at + i] - before[i]);
    }
    for (i = 0; i < RATES; i++) total += weights[1] * square(w->rates[i] - own->reference[i]);
  }
  *loss = total / ((double)N * steps);
  return 0;
}

/* Adds the quadratic model of the loss at the end of a step to V: exact gradient, Gauss-Newton curvature. */
static void add_node(const double *const *in, const double *p, const double *pd, const double *p_ref,
                     const double *reference, Work *w) {
  const double *weights = in[WEIGHTS], *rates = w->rates, *slopes = w->slopes;
  double *V = w->V.zz, *v = w->V.z;
  int i, j, k;
  rates_jacobian_kernel(p, pd, in[ALPHA], w->rates, w->slopes, w->slopes + RATES * N, w->inner);
  for (j = 0; j < N2; j++) {
    for (i = 0; i <= j; i++) {
      double sum = 0.0;
      for (k = 0; k < RATES; k++) sum += slopes[k + RATES * i] * slopes[k + RATES * j];
      V[i + N2 * j] += weights[1] * sum;
      if (i != j) V[j + N2 * i] += weights[1] * sum;
    }
    for (k = 0; k < RATES; k++) v[j] += weights[1] * slopes[k + RATES * j] * (rates[k] - reference[k]);
  }
  for (j = 0; j < N; j++) {
    V[j + N2 * j] += weights[0];
    v[j] += weights[0] * (p[j] - p_ref[j]);
  }
}

/* Gains of a step from V after it; `first`: the window's first step, whose start is fixed. */
static void gains(double smooth, const double *u, const double *before, int first, Work *w, Step *own) {
  Value *V = &w->V;
  int i, j;
  for (j = 0; j < N2; j++)
    for (i = 0; i < N; i++) w->left[i + N * j] = V->zu[j + N2 * i];
  add_transposed(N, N2, N2, own->B, V->zz, 1.0, w->left);
  memcpy(w->factors, V->uu, N * N * sizeof(double));
  add_product(N, N, N2, 1.0, w->left, own->B, 1.0, w->factors);
  add_transposed(N, N, N2, own->B, V->zu, 1.0, w->factors);
  memcpy(own->step, V->u, N * sizeof(double));
  add_transposed(N, 1, N2, own->B, V->z, 1.0, own->step);
  for (j = 0; j < N; j++) {
    w->factors[j + N * j] += smooth;
    own->step[j] += smooth * (u[j] - before[j]);
  }
  factor(w->factors, w->pivots);
  solve(w->factors, w->pivots, own->step);
  if (first) return;
  add_product(N, N2, N2, 1.0, w->left, own->A, 0.0, w->Quz);
  memcpy(own->gain, w->Quz, N * N2 * sizeof(double));
  for (j = 0; j < N2; j++) solve(w->factors, w->pivots, own->gain + N * j);
  memset(own->carry, 0, N * N * sizeof(double));
  for (j = 0; j < N; j++) {
    own->carry[j + N * j] = smooth;
    solve(w->factors, w->pivots, own->carry + N * j);
  }
}

/* V before a step: A' Vzz A - Quz' gain, Quz' carry, smooth (1 - carry). */
static void value_before(double smooth, const double *u, const double *before, Work *w, const Step *own) {
  Value *V = &w->V;
  int i, j;
  add_product(N2, N2, N2, 1.0, V->zz, own->A, 0.0, w->product);
  add_transposed(N2, N2, N2, own->A, w->product, 0.0, V->zz);
  add_transposed(N2, N2, N, w->Quz, own->gain, 0.0, w->product);
  for (j = 0; j < N2 * N2; j++) V->zz[j] -= w->product[j];
  add_transposed(N2, N, N, w->Quz, own->carry, 0.0, V->zu);
  add_transposed(N2, 1, N2, own->A, V->z, 0.0, w->product);
  memcpy(V->z, w->product, N2 * sizeof(double));
  add_transposed(N2, 1, N, w->Quz, own->step, 0.0, w->product);
  for (j = 0; j < N2; j++) V->z[j] -= w->product[j];
  for (j = 0; j < N; j++) {
    for (i = 0; i < N; i++) V->uu[i + N * j] = (i == j ? smooth : 0.0) - smooth * own->carry[i + N * j];
    V->u[j] = smooth * (own->step[j] - (u[j] - before[j]));
  }
}

/* Backward recursion: the gains of every step. */
static void backward(int steps, const double *const *in, const double *U, const double *P, const double *PD, Work *w,
                     Step *own) {
  const double smooth = in[WEIGHTS][2];
  int k;
  memset(&w->V, 0, sizeof w->V);
  for (k = steps - 1; k >= 0; k--) {
    const ptrdiff_t at = (ptrdiff_t)k * N;
    const double *before = torque_before(in, U, k);
    add_node(in, P + at + N, PD + at + N, in[P_REF] + at, own[k].reference, w);
    gains(smooth, U + at, before, k == 0, w, own + k);
    if (k > 0) value_before(smooth, U + at, before, w, own + k);
  }
}

/* Forward recursion: the change of every torque; returns the largest. */
static double forward(int steps, Work *w, Step *own) {
  double size = 0.0;
  int k, i;
  for (k = 0; k < steps; k++, own++) {
    for (i = 0; i < N; i++) own->change[i] = -own->step[i];
    if (k > 0) {
      add_product(N, 1, N2, -1.0, own->gain, w->z, 1.0, own->change);
      add_product(N, 1, N, 1.0, own->carry, own[-1].change, 1.0, own->change);
      add_product(N2, 1, N2, 1.0, own->A, w->z, 0.0, w->next);
    }
    add_product(N2, 1, N, 1.0, own->B, own->change, k > 0 ? 1.0 : 0.0, w->next);
    memcpy(w->z, w->next, N2 * sizeof(double));
    for (i = 0; i < N; i++)
      if (!(fabs(own->change[i]) <= size) && size == size) size = fabs(own->change[i]); /* written so that NaN is kept */
  }
  return size;
}

/* The impulse of friction along a recorded step, from rates `before` to `pd`. */
static void friction_impulse(const double *const *in, const double *before, const double *pd, double *kick, Work *w) {
  int j;
#if VARYING
  friction_kernel(before, pd, in[ALPHA], kick, w->inner);
#else
  const double *friction_in[2];
  friction_in[0] = pd, friction_in[1] = in[ALPHA];
  (void)before;
  ROBOT(friction_torque)(friction_in, &kick, w->inner);
#endif
  for (j = 0; j < N; j++) kick[j] *= in[STEP][0];
}

/* Values that do not depend on the torques: recorded rates, and known friction. */
static void prepare(int steps, const double *const *in, Work *w, Step *own) {
  const int known = in[KNOWN][0] != 0.0, start[] = FRICTION_STARTS;
  size_t k;
  memcpy(w->alpha, in[ALPHA], NA * sizeof(double));
  for (k = 0; known && k < sizeof start / sizeof *start; k++) memset(w->alpha + start[k], 0, JOINTS * sizeof(double));
  for (k = 0; k < (size_t)steps; k++, own++) {
    const double *pd = in[PD_REF] + k * N;
    memset(own->kick, 0, N * sizeof(double));
    if (known) friction_impulse(in, k == 0 ? in[PD0] : pd - N, pd, own->kick, w);
    rates_kernel(in[P_REF] + k * N, pd, in[ALPHA], own->reference, w->inner);
  }
}

/* Outputs of a call without an estimate: zeros instead of NaN. */
static int refuse(int steps, double *const *out, int status) {
  const size_t count = steps > 0 ? (size_t)steps * N : 0;
  memset(out[0], 0, count * sizeof(double));
  memset(out[1], 0, (count + N) * sizeof(double));
  memset(out[2], 0, (count + N) * sizeof(double));
  *out[3] = *out[4] = 0.0;
  return status;
}

static int usable(const double *const *in, ptrdiff_t count) {
  return all_finite(in[P0], N) && all_finite(in[PD0], N) && all_finite(in[U_START], count) && all_finite(in[P_REF], count) &&
         all_finite(in[PD_REF], count) && all_finite(in[U_PREV], N) && all_finite(in[WEIGHTS], 3) && all_finite(in[KNOWN], 1) &&
         all_finite(in[STEP], 1) && all_finite(in[ALPHA], NA);
}

/* Line search along the change (largest entry `size`) for a loss that does not rise; returns the step size, 0: none. */
static double improve(int steps, const double *const *in, double *const *out, double scale, double size, Work *w, Step *own) {
  const ptrdiff_t count = (ptrdiff_t)steps * N;
  double *trial = (double *)(void *)(own + steps), t = 1.0, found = 0.0;
  ptrdiff_t i;
  int line;
  for (line = 0; line < C_MAX_LINE; line++) {
    for (i = 0; i < count; i++) trial[i] = motor[i % N] ? out[0][i] + t * own[i / N].change[i % N] : 0.0;
    if (evaluate(steps, in, trial, out[1], out[2], &found, w, own) == 0 && found <= *out[3] * (1.0 + C_LOSS_ROUNDING)) {
      memcpy(out[0], trial, (size_t)count * sizeof(double));
      *out[3] = found;
      return t;
    }
    if (size * t <= C_TORQUE_ROUNDING * scale) break;
    t *= C_SHRINK;
  }
  return 0.0;
}

/* out: U, P, PD, loss, change; `own` is followed by room for one number per torque. */
static int estimated(int steps, const double *const *in, double *const *out, Work *w, Step *own) {
  const ptrdiff_t count = (ptrdiff_t)steps * N;
  double *U = out[0], *P = out[1], *PD = out[2], *loss = out[3], *change = out[4];
  ptrdiff_t i;
  int status, iteration;
  *loss = *change = 0.0;
  if (in[STEP][0] < C_LEAST_STEP) return refuse(steps, out, STATUS_STEP_NOT_FORWARDS);
  if (!usable(in, count)) return refuse(steps, out, STATUS_ESTIMATE_BAD_INPUT);
  if (steps < 1) {
    memcpy(P, in[P0], N * sizeof(double));
    memcpy(PD, in[PD0], N * sizeof(double));
    return 0;
  }
  for (i = 0; i < count; i++) U[i] = motor[i % N] ? in[U_START][i] : 0.0;
  prepare(steps, in, w, own);
  status = evaluate(steps, in, U, P, PD, loss, w, own);
  if (status != 0) return status;
  if (!(*loss <= C_HUGE)) return refuse(steps, out, STATUS_ESTIMATE_BAD_INPUT);
  for (iteration = 0; iteration < C_MAX_GAUSS_NEWTON; iteration++) {
    double size, scale = 1.0, t;
    backward(steps, in, U, P, PD, w, own);
    size = forward(steps, w, own);
    if (!(size <= C_HUGE)) break;
    for (i = 0; i < count; i++)
      if (1.0 + fabs(U[i]) > scale) scale = 1.0 + fabs(U[i]);
    *change = size; /* the full step, not the part that the line search accepts */
    t = improve(steps, in, out, scale, size, w, own);
    if (t == 0.0) break;
    if (size * t <= C_TORQUE_TOLERANCE * scale) return 0;
  }
  return evaluate(steps, in, U, P, PD, loss, w, own); /* P and PD may be of a rejected trial */
}

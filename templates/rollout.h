/* Whether no joint has friction, without which momentum is all that a step hands to the next. */
static int frictionless(const double *alpha) {
  int k;
  for (k = 0; k < LINKS; k++)
    if (!NO_FRICTION(alpha, k)) return 0;
  return 1;
}

/* A step in momentum form, from the record and the terms in w to those of the next: p_next holds the first guess, `momentum`
 * becomes that at the end. Newton, then chord iterations, of which the last one works out the next record. Returns 1 where the pose is not found, for whatever reason. */
static int pass(const double *p, const double *u, const double *u_next, const double *h, const double *alpha, double *p_next,
                double *momentum, Work *w) {
  double *record = w->start.record, *terms = w->start.terms, *iterate = w->iterate, *next = w->next.record;
  double *correction = w->correction, *factors = w->factors;
  const double *model = w->model;
  double last, size, rate;
  int k, fresh = 1, ending = 0;
  newton_kernel(p_next, p, record, terms, alpha, model, iterate, correction, factors, w->kernel);
  last = largest(correction);
  if (!(last <= C_FAR_POSE)) return 1;
  rate = last; /* the first iteration with these factors contracts by about the size of the correction before it */
  for (k = 0; k < C_MAX_POSE; k++) {
    memcpy(p_next, iterate, N * sizeof(double));
    ending = fresh && 2.0 * last * rate <= C_ONWARD_CORRECTION;
    if (ending) {
      onward_kernel(p_next, p, record, terms, factors, h, u, u_next, alpha, model, correction, iterate, momentum, next,
                    w->next.terms, w->kernel);
    } else if (fresh) {
      chord_kernel(p_next, p, record, terms, factors, alpha, model, iterate, correction, w->kernel);
    } else {
      newton_kernel(p_next, p, record, terms, alpha, model, iterate, correction, factors, w->kernel);
    }
    size = largest(correction);
    if (!(size <= C_FAR_POSE)) return 1;
    rate = size == 0.0 ? 0.0 : size / last;
    last = size;
    fresh = rate <= C_SLOW;
    if (ending && (size <= C_ONWARD_CORRECTION || (!fresh && size <= C_STALL * (1.0 + largest(p_next))))) {
      memcpy(p_next, iterate, N * sizeof(double));
      w->start = w->next;
      return 0;
    }
  }
  return 1;
}

/* Rates of the nodes first, ..., last of P from the momenta that stand in PD; returns how many it found. */
static int rates_of(const double *P, double *PD, int first, int last, const double *h, const double *alpha, Work *w) {
  int k = first;
#if defined(ON_X86) && defined(FOR_V3)
  for (; k + 3 <= last; k += 4) {
    double *four = PD + (ptrdiff_t)k * N;
    int j;
    if (!BESIDE(rates)(P + (ptrdiff_t)k * N, four, h, alpha, w->model, (double *)(void *)(w + 1))) break;
    for (j = 0; j < 4; j++)
      if (!(largest(four + j * N) <= C_FAR_RATE)) return k + j - first;
  }
#endif
  for (; k <= last; k++) {
    double *momentum = PD + (ptrdiff_t)k * N;
    inertia_kernel(P + (ptrdiff_t)k * N, alpha, w->model, w->next.record, w->mass, w->kernel);
    memcpy(w->momentum, momentum, N * sizeof(double));
    velocity_kernel(w->mass, w->momentum, h, w->momentum, alpha, w->model, momentum, w->kernel);
    if (!(largest(momentum) <= C_FAR_RATE)) break;
  }
  return k - first;
}

/* What the second differences of poses are beyond what torques make of them, in w->smooth; row j + 1 holds differences of row
 * j over the steps, so that row j + 1 says by how much the first j + 1 together foretold the last one wrongly. Adds to `guess` what
 * they foretell for the next step. */
static void foretell(int rows, const double *smooth, double *guess) {
  int i, j, best = 1;
  for (i = 2; i < rows; i++)
    if (largest(smooth + i * N) < largest(smooth + best * N)) best = i;
  for (i = 0; i < rows && i < best; i++)
    for (j = 0; j < N; j++) guess[j] += smooth[i * N + j];
}

/* Whether a step is so long that other poses solve it too, of which a foretold one may be nearest. */
static int leaps(const double *p, const double *p_next) {
  int j, found = 0;
  for (j = 0; j < N; j++) found |= !(fabs(p_next[j] - p[j]) <= C_LONG_STEP);
  return found;
}

/* Rollout without friction; returns a status, and leaves in `done` the number of good steps. Where the first guess leads nowhere,
 * or far, the step is made by itself. */
static int glide(int steps, const double *U, const double *h, const double *alpha, double *P, double *PD, int *done, Work *w) {
  double *smooth = w->smooth, *pushed = smooth + SMOOTH * N, *push = w->gradient;
  int k, i, j, status, known = 0, rows = -1; /* nodes with rates; differences, -1: the step's start is not known yet */
  for (k = 0; k < steps; k++) {
    const double *p = P + (ptrdiff_t)k * N, *u = U + (ptrdiff_t)k * N, *u_next = k + 1 < steps ? u + N : u;
    double *p_next = P + (ptrdiff_t)(k + 1) * N, *next = PD + (ptrdiff_t)(k + 1) * N;
    if (rows < 0) {
      start_kernel(p, PD + (ptrdiff_t)k * N, u, h, alpha, w->model, w->start.record, w->start.terms, p_next, w->kernel);
    } else {
      for (j = 0; j < N; j++) push[j] = 0.5 * h[0] * h[0] * (u[j] + u[j - N]);
      solve_kernel(w->factors, push, alpha, w->model, pushed, w->kernel);
      for (j = 0; j < N; j++) pushed[j] += p[j] + (p[j] - p[j - N]);
      memcpy(p_next, pushed, N * sizeof(double));
      foretell(rows, smooth, p_next);
    }
    if (pass(p, u, u_next, h, alpha, p_next, next, w) == 0 && !leaps(p, p_next)) {
      if (rows >= 0) {
        rows += rows < SMOOTH;
        for (j = 0; j < N; j++) {
          double change = p_next[j] - pushed[j];
          for (i = 0; i < rows; i++) {
            const double before = smooth[i * N + j];
            smooth[i * N + j] = change;
            change -= before;
          }
        }
      } else {
        rows = 0;
      }
      continue;
    }
    rows = -1;
    known += rates_of(P, PD, known + 1, k, h, alpha, w);
    if (known < k) {
      *done = known;
      return 2;
    }
    status = advance(p, PD + (ptrdiff_t)k * N, u, h, alpha, p_next, next, w);
    if (status != 0) {
      *done = k;
      return status;
    }
    known = k + 1;
  }
  known += rates_of(P, PD, known + 1, k, h, alpha, w);
  *done = known;
  return known < k ? 2 : 0;
}

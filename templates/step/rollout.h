/* Whether no joint has friction; then a step passes only its momentum to the next. */
static int frictionless(const double *alpha) {
  int k;
  for (k = 0; k < LINKS; k++)
    if (!NO_FRICTION(alpha, k)) return 0;
  return 1;
}

/* A step in momentum form, from w->start to the start of the next step. p_next: first guess, then the pose; momentum: that at the end.
 * Newton's method, then chord iterations; the last one also computes the next record. Returns 1 if it does not converge. */
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
    rate = contraction(size, last);
    last = size;
    fresh = rate <= C_SLOW;
    if (ending && (size <= C_ONWARD_CORRECTION || (!fresh && as_small_as_rounding(size, largest(p_next))))) {
      memcpy(p_next, iterate, N * sizeof(double));
      w->start = w->next;
      return 0;
    }
  }
  return 1;
}

/* Replaces the momenta in PD of the nodes first to last of P by rates; returns the number of nodes solved. */
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

/* Adds to `guess` an extrapolation of the poses' second differences without the torques' part. `smooth`: row 0 is the last of these,
 * row j its j-th backward difference, which is the error of extrapolating with rows 0 to j - 1; so the best order is chosen by it. */
static void extrapolate(int rows, const double *smooth, double *guess) {
  int i, j, best = 1;
  for (i = 2; i < rows; i++)
    if (largest(smooth + i * N) < largest(smooth + best * N)) best = i;
  for (i = 0; i < rows && i < best; i++)
    for (j = 0; j < N; j++) guess[j] += smooth[i * N + j];
}

/* Whether a step is so long that its equations have other solutions, to one of which the extrapolated guess may lead. */
static int leaps(const double *p, const double *p_next) {
  int j, found = 0;
  for (j = 0; j < N; j++) found |= !(fabs(p_next[j] - p[j]) <= C_LONG_STEP);
  return found;
}

/* Rollout without friction; returns a status; done: number of successful steps. A step that does not converge from the extrapolated
 * guess, or is long, is solved with a cold start. */
static int glide(int steps, const double *U, const double *h, const double *alpha, double *P, double *PD, int *done, Work *w) {
  double *smooth = w->smooth, *pushed = smooth + SMOOTH * N, *push = w->gradient;
  int k, i, j, status, known = 0, rows = -1; /* known: nodes with rates; rows: of smooth; -1: w->start is not set */
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
      extrapolate(rows, smooth, p_next);
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
      return STATUS_RATE_NOT_FOUND;
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

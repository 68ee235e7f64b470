/* Ends of joints' ranges. Of end i: gap = side_slope * coordinate side_of + side_shift - side_sign * bound, which is entry side_entry of
 * alpha. */
static double side_gap(const double *alpha, const double *pose, int i) {
  return side_slope[i] * pose[side_of[i]] + side_shift[i] - side_sign[i] * alpha[side_entry[i]];
}

/* By how much less a joint that starts outside is led in by the end of a step: 0, or below it what would be too quick. */
static void side_leads(const double *p, const double *h, const double *alpha, double *lead) {
  int i;
  for (i = 0; i < SIDES; i++) {
    const double left = side_gap(alpha, p, i) + C_LIMIT_INWARDS * h[0];
    lead[i] = left < 0.0 ? left : 0.0;
  }
}

/* Whether a joint is outside by more than that leads in, or has no range. */
static int side_outside(const double *p, const double *alpha) {
  int i, found = 0;
  for (i = 0; i < SIDES; i++) found |= side_gap(alpha, p, i) < -C_LIMIT_OUTSIDE;
  for (i = 0; i < SIDES; i += 2) found |= side_gap(alpha, p, i) + side_gap(alpha, p, i + 1) < 0.0;
  return found;
}

static double side_slip(const Stage *s) { return s->alpha[LIMIT_SLIP] > s->least ? s->alpha[LIMIT_SLIP] : s->least; }

/* The part of the rate at which a gap opens that is unknown in a stage: none of the pose's. */
static double side_rate(const Stage *s, const double *x, int i) { return s->end ? side_slope[i] * x[side_of[i]] : 0.0; }

/* Impulses from which a stage starts that knows none: those of the gap at x, up to what half the load (or `most`) gives. */
static void cold_sides(const Stage *s, const double *x, double most, double *impulse, const Work *w) {
  const double half = 0.5 * s->h[0], kappa = s->alpha[LIMIT_LOAD] * half * side_slip(s), top = most * half * s->alpha[LIMIT_LOAD];
  int i;
  for (i = 0; i < SIDES; i++) {
    const double away = (side_gap(s->alpha, s->end ? s->end : x, i) - w->lead[i]) / half + side_rate(s, x, i);
    impulse[i] = away * top > kappa ? kappa / away : top;
  }
}

/* Adds what limits do to the residual F; returns the square of their rows. */
static double add_sides(Stage *s, const double *x, double *impulse, double *F, Work *w) {
  const double inverse = 1.0 / s->h[0], slip = side_slip(s);
  const double scale = s->end ? 1.0 : inverse;
  double sum = 0.0;
  int i;
  for (i = 0; i < SIDES; i++) {
    const double slope = side_slope[i], towards = s->end ? slope : 2.0 * inverse * slope;
    const double gap = side_gap(s->alpha, s->end ? s->end : x, i) - w->lead[i], rate = side_rate(s, x, i);
    double row, *X = w->cone + i, *G = X + SIDES, *rho = w->rho + i;
    const int j = side_of[i];
    if (rho[0] == 0.0) rho[0] = fabs(scale * w->slopes[j + N * j] / (slope * towards));
    if (!s->sorted || s->far[i]) {
      double found, by, opening;
      distant_side_kernel(&rate, &gap, s->h, s->alpha + LIMIT_LOAD, &slip, &found, &by, &opening, w->kernel);
      s->far[i] = !s->apart && opening > 0.0 && by <= C_CONE_FAR * rho[0];
      if (s->far[i]) {
        impulse[i] = found;
        F[j] -= slope * found;
        continue;
      }
      s->columns = 0;
      s->nearer |= s->sorted;
    }
    side_kernel(impulse + i, &rate, &gap, rho, s->h, s->alpha + LIMIT_LOAD, &slip, &row, X, G, w->kernel);
    F[j] -= slope * impulse[i];
    G[0] *= towards;
    sum += row * row;
  }
  return sum;
}

/* x and G of a limit where impulses and coordinates change by `full`; returns the square of its row. */
static double side_ahead(const Stage *s, int i, const double *impulse, const double *full, const double *x, Work *w) {
  const double slip = side_slip(s), change = side_slope[i] * full[side_of[i]], pushed = impulse[i] + full[BIG + i];
  const double gap = side_gap(s->alpha, s->end ? s->end : x, i) - w->lead[i] + (s->end ? 0.0 : change);
  const double rate = side_rate(s, x, i) + (s->end ? change : 0.0);
  double row, *X = w->cone + i;
  side_kernel(&pushed, &rate, &gap, w->rho + i, s->h, s->alpha + LIMIT_LOAD, &slip, &row, X, X + SIDES, w->kernel);
  X[SIDES] *= s->end ? side_slope[i] : 2.0 / s->h[0] * side_slope[i];
  return row * row;
}

/* What limits add at a step's end to the slopes of both stages, times h, by what each of them solves for, and to K1; by the start,
 * where that is outside, to K0 and D. */
static void side_slopes(const double *h, const double *alpha, const double *p_next, const double *pd_next, double *slope,
                        double *slope_rate, Work *w) {
  int i;
  for (i = 0; i < SIDES; i++) {
    const double square = side_slope[i] * side_slope[i], gap = side_gap(alpha, p_next, i) - w->lead[i], still = 0.0, one = 1.0;
    const double rate = side_slope[i] * pd_next[side_of[i]];
    const int j = side_of[i] + N * side_of[i];
    double row, x, G;
    side_kernel(w->push + i, &still, &gap, &one, h, alpha + LIMIT_LOAD, alpha + LIMIT_SLIP, &row, &x, &G, w->kernel);
    slope[j] += 2.0 * square * G;
    if (w->lead[i] < 0.0) w->K0[j] -= 2.0 * square * G;
    side_kernel(w->push_rate + i, &rate, &gap, &one, h, alpha + LIMIT_LOAD, alpha + LIMIT_SLIP, &row, &x, &G, w->kernel);
    slope_rate[j] += h[0] * square * G;
    w->K1[j] += 2.0 * square * G;
    if (w->lead[i] < 0.0) w->D[j] -= 2.0 * square * G;
  }
}

/* What the impulses of limits add to the gradients by the parameters and h. */
static void side_gradients(const double *h, const double *alpha, const double *p_next, const double *pd_next, const double *x,
                           const double *y, double *alpha_bar, double *h_bar, Work *w) {
  int i, stage;
  for (i = 0; i < SIDES; i++) {
    const double gap = side_gap(alpha, p_next, i) - w->lead[i];
    for (stage = 0; stage < 2; stage++) {
      const double pull = side_slope[i] * (stage ? y : x)[side_of[i]], rate = stage ? side_slope[i] * pd_next[side_of[i]] : 0.0;
      double gap_bar = 0.0;
      side_parameters_kernel(&pull, (stage ? w->push_rate : w->push) + i, &rate, &gap, h, alpha + LIMIT_LOAD, alpha + LIMIT_SLIP,
                             h_bar, alpha_bar + LIMIT_LOAD, alpha_bar + LIMIT_SLIP, &gap_bar, w->kernel);
      if (w->lead[i] < 0.0) h_bar[0] -= C_LIMIT_INWARDS * gap_bar;
      else alpha_bar[side_entry[i]] -= side_sign[i] * gap_bar;
    }
  }
}

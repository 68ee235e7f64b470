/* Joint limits. Of limit i: gap = side_slope * coordinate side_of + side_shift - side_sign * bound, which is entry side_entry of
 * alpha. */
#ifndef JOINT_LIMITS_INCLUDED
#define JOINT_LIMITS_INCLUDED
#include "stage.h"

static double side_gap(const double *alpha, const double *pose, int i) {
  return side_slope[i] * pose[side_of[i]] + side_shift[i] - side_sign[i] * alpha[side_entry[i]];
}

/* A joint that starts outside its range is led in at a bounded rate: `lead` is what it may still be outside at the end of the step,
 * 0 or negative. */
static void side_leads(const double *p, const double *h, const double *alpha, double *lead) {
  int i;
  for (i = 0; i < SIDES; i++) {
    const double left = side_gap(alpha, p, i) + C_LIMIT_INWARDS * h[0];
    lead[i] = left < 0.0 ? left : 0.0;
  }
}

/* Whether a joint starts outside by more than is corrected, or has an empty range. */
static int side_outside(const double *p, const double *alpha) {
  int i, found = 0;
  for (i = 0; i < SIDES; i++) found |= side_gap(alpha, p, i) < -C_LIMIT_OUTSIDE;
  for (i = 0; i < SIDES; i += 2) found |= side_gap(alpha, p, i) + side_gap(alpha, p, i + 1) < 0.0;
  return found;
}

static double side_slip(const Stage *s) { return s->alpha[LIMIT_SLIP] > s->least ? s->alpha[LIMIT_SLIP] : s->least; }

/* Rate at which a gap opens, as far as it is unknown in the stage: 0 in the pose stage. */
static double side_rate(const Stage *s, const double *x, int i) { return s->end ? side_slope[i] * x[side_of[i]] : 0.0; }

/* Impulses for a cold start: those of the gap at x, at most `most` of the load. */
static void cold_sides(const Stage *s, const double *x, double most, double *impulse, const Work *w) {
  const double half = 0.5 * s->h[0], kappa = s->alpha[LIMIT_LOAD] * half * side_slip(s), top = most * half * s->alpha[LIMIT_LOAD];
  int i;
  for (i = 0; i < SIDES; i++) {
    const double away = (side_gap(s->alpha, s->end ? s->end : x, i) - w->lead[i]) / half + side_rate(s, x, i);
    impulse[i] = away * top > kappa ? kappa / away : top;
  }
}

/* Adds the limits' impulses to the residual F; returns the squared norm of their rows. */
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
    if (!s->classified || s->far[i]) {
      double found, by, opening;
      distant_side_kernel(&rate, &gap, s->h, s->alpha + LIMIT_LOAD, &slip, &found, &by, &opening, w->kernel);
      s->far[i] = !s->apart && opening > 0.0 && by <= C_CONE_FAR * rho[0];
      if (s->far[i]) {
        impulse[i] = found;
        F[j] -= slope * found;
        continue;
      }
      s->columns = 0;
      s->approached |= s->classified;
    }
    side_kernel(impulse + i, &rate, &gap, rho, s->h, s->alpha + LIMIT_LOAD, &slip, &row, X, G, w->kernel);
    F[j] -= slope * impulse[i];
    G[0] *= towards;
    sum += row * row;
  }
  return sum;
}

/* x and G of a limit after the change `full`; returns the square of its row. */
static double predict_side(const Stage *s, int i, const double *impulse, const double *full, const double *x, Work *w) {
  const double slip = side_slip(s), change = side_slope[i] * full[side_of[i]], pushed = impulse[i] + full[BIG + i];
  const double gap = side_gap(s->alpha, s->end ? s->end : x, i) - w->lead[i] + (s->end ? 0.0 : change);
  const double rate = side_rate(s, x, i) + (s->end ? change : 0.0);
  double row, *X = w->cone + i;
  side_kernel(&pushed, &rate, &gap, w->rho + i, s->h, s->alpha + LIMIT_LOAD, &slip, &row, X, X + SIDES, w->kernel);
  X[SIDES] *= s->end ? side_slope[i] : 2.0 / s->h[0] * side_slope[i];
  return row * row;
}

/* Adds the limits' slopes at a step's end, times h, to both stages' slopes by their unknowns and to rate_by_end; for a start outside,
 * also to pose_by_start and D. */
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
    if (w->lead[i] < 0.0) w->blocks.pose_by_start[j] -= 2.0 * square * G;
    side_kernel(w->push_rate + i, &rate, &gap, &one, h, alpha + LIMIT_LOAD, alpha + LIMIT_SLIP, &row, &x, &G, w->kernel);
    slope_rate[j] += h[0] * square * G;
    w->blocks.rate_by_end[j] += 2.0 * square * G;
    if (w->lead[i] < 0.0) w->blocks.pose_by_end[j] -= 2.0 * square * G;
  }
}

/* Adds the limits' part to the gradients by the parameters and h. */
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

#endif

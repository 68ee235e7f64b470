/* Restitution: w->bounce.shift holds the change of each bouncing contact's closing rate in both stages, w->bounce.by_seen its
 * derivatives by gap, approach rate and acceleration at the start, restitution and h. See codegen/graph/contact/rebounds.py. */
#ifndef REBOUNDS_INCLUDED
#define REBOUNDS_INCLUDED
#include "contact_rows.h"
#include "products.h"

enum { SEEN = 3, BY = 2 * (SEEN + 2), KEPTS = 8 };

/* Shares of the restitution, tried in this order. */
static const double kept_shares[KEPTS] = { 1.0, 0.9995, 0.998, 0.99, 0.96, 0.85, 0.5, 0.0 };

static void rebounds(const double *p, const double *pd, const double *u, const double *h, const double *alpha, Work *w) {
  double *shift = w->bounce.shift, *by = w->bounce.by_seen, *seen = w->bounce.seen;
  int k, some = 0;
  memset(shift, 0, 2 * CONTACTS * sizeof(double));
  memset(by, 0, BY * CONTACTS * sizeof(double));
  for (k = 0; k < CONTACTS; k++) some |= bounce_entry[k] >= 0 && alpha[bounce_entry[k]] > 0.0;
  if (!some || !(w->bounce.kept[0] > 0.0)) return;
  approach_kernel(p, pd, u, alpha, seen, w->kernel);
  for (k = 0; k < CONTACTS; k++) {
    const double e = bounce_entry[k] < 0 ? 0.0 : w->bounce.kept[0] * alpha[bounce_entry[k]];
    if (!(e > 0.0)) continue;
    rebound_kernel(seen + SEEN * k, &e, h, shift + 2 * k, by + BY * k, w->kernel);
    by[BY * k + 2 * SEEN] *= w->bounce.kept[0];
    by[BY * k + 2 * SEEN + 1] *= w->bounce.kept[0];
  }
}

/* Whether any contact bounces in the step. */
static int rebounding(const Work *w) {
  int k, found = 0;
  for (k = 0; k < CONTACTS; k++) found |= w->bounce.shift[2 * k] > 0.0;
  return found;
}

/* Whether the solution found is the given one. */
static int same_end(const double *found, const double *known) {
  int j, same = 1;
  for (j = 0; j < N; j++) same &= fabs(found[j] - known[j]) <= C_SAME_END * (1.0 + fabs(known[j]));
  return same;
}

/* Derivative of a stage's solution by the shift of contact k (N): h inverse J^T G of its normal, or T of a stiff one. */
static void thrown(int stage, int k, const double *h, double *column, const Work *w) {
  const double *G = w->stiff.slope + SHARE * (stage * CONTACTS + k), *J = (stage ? w->contact.last : w->contact.first) + N * touch_row[k];
  const double *inverse = (stage ? w->rate.inverse : w->pose.inverse);
  double push[N];
  int i, j, q;
  if (w->stiff.is[stage * CONTACTS + k] != 0.0) {
    memcpy(column, w->stiff.by_rate + N * (stage * TOUCHES + touch_row[k]), N * sizeof(double));
    return;
  }
  memset(push, 0, sizeof push);
  for (q = 0; q < touch_size(k); q++) {
    for (i = 0; i < N; i++) push[i] += h[0] * J[N * q + i] * G[q];
  }
  memset(column, 0, N * sizeof(double));
  for (j = 0; j < N; j++) {
    for (i = 0; i < N; i++) column[i] += inverse[i + N * j] * push[j];
  }
}

/* Adds the effect of bouncing contacts to the Jacobians of a step by p, pd and u. `carried`: derivative of the rates at the end by the
 * pose there. */
static void rebound_slopes(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                           const double *carried, double *const *out, Work *w) {
  double rows[2][3 * N], first[N], second[N], after[N], unused[NA], *bar = w->bounce.seen;
  int k, i, j, stage, r;
  memset(unused, 0, sizeof unused);
  for (k = 0; k < CONTACTS; k++) {
    const double *by = w->bounce.by_seen + BY * k;
    if (largest(by, BY) == 0.0) continue;
    for (stage = 0; stage < 2; stage++) {
      memset(rows[stage], 0, sizeof rows[stage]);
      memset(bar, 0, SEEN * CONTACTS * sizeof(double));
      for (i = 0; i < SEEN; i++) bar[SEEN * k + i] = by[2 * i + stage];
      approach_parameters_kernel(p, pd, u, alpha, bar, rows[stage], rows[stage] + N, rows[stage] + 2 * N, unused, w->kernel);
    }
    thrown(0, k, h, first, w);
    thrown(1, k, h, second, w);
    product(carried, first, N, N, 1, 1.0, 0.0, after);
    for (r = 0; r < 3; r++) {
      for (j = 0; j < N; j++) {
        for (i = 0; i < N; i++) {
          out[2 + r][i + N * j] += first[i] * rows[0][N * r + j];
          out[5 + r][i + N * j] += after[i] * rows[0][N * r + j] + second[i] * rows[1][N * r + j];
        }
      }
    }
  }
}

/* The transpose of rebound_slopes: from seeds of the pose stage's solution (through the rate stage too) and of the rate stage's. */
static void rebound_pull(const double *p, const double *pd, const double *u, const double *h, const double *alpha, const double *x_seed,
                         const double *y_seed, double *p_bar, double *pd_bar, double *u_bar, double *alpha_bar, double *h_bar,
                         Work *w) {
  double column[N], unused[NA], *bar = w->bounce.seen;
  int k, i, some = 0;
  memset(bar, 0, SEEN * CONTACTS * sizeof(double));
  memset(unused, 0, sizeof unused);
  for (k = 0; k < CONTACTS; k++) {
    const double *by = w->bounce.by_seen + BY * k;
    double pose, rate;
    if (largest(by, BY) == 0.0) continue;
    some = 1;
    thrown(0, k, h, column, w);
    pose = inner(column, x_seed, N);
    thrown(1, k, h, column, w);
    rate = inner(column, y_seed, N);
    for (i = 0; i < SEEN; i++) bar[SEEN * k + i] = pose * by[2 * i] + rate * by[2 * i + 1];
    if (alpha_bar == 0 || h_bar == 0) continue;
    alpha_bar[bounce_entry[k]] += pose * by[2 * SEEN] + rate * by[2 * SEEN + 1];
    h_bar[0] += pose * by[2 * SEEN + 2] + rate * by[2 * SEEN + 3];
  }
  if (some) approach_parameters_kernel(p, pd, u, alpha, bar, p_bar, pd_bar, u_bar, alpha_bar != 0 ? alpha_bar : unused, w->kernel);
}

#endif

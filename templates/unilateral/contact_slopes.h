/* Derivatives of a step by what its contacts do. */
#ifndef CONTACT_SLOPES_INCLUDED
#define CONTACT_SLOPES_INCLUDED
#include "contacts.h"
#include "dense.h"

/* square += factor * J^T G Y of one contact, J and Y by rows at `along` and `by`. */
static void touch_product(int k, const double *along, const double *G, const double *by, double factor, double *square) {
  const int first = touch_row[k], size = touch_size(k);
  int i, j, q, r;
  for (j = 0; j < N; j++) {
    for (q = 0; q < size; q++) {
      double value = 0.0;
      for (r = 0; r < size; r++) value += G[q + size * r] * by[N * (first + r) + j];
      for (i = 0; i < N; i++) square[i + N * j] += factor * along[N * (first + q) + i] * value;
    }
  }
}

/* G of the contacts of a stage in its place; adds h J^T G Y to the slope, h J^T G `start` to K, but for contacts in which that is far
 * beyond the slope: its digits would be lost. Those are marked, for `stiffened`, where their rows are few. */
static void stage_slopes(const Stage *s, const double *h, const double *along, const double *by, const double *start, double *slope,
                         double *K, Work *w) {
  const int stage = s->end != 0;
  const double *impulses = (stage ? w->push_rate : w->push) + SIDES, ones[2] = {1.0, 1.0};
  double *added = w->scratch, *stiff = w->stiff.is + stage * CONTACTS;
  int i, j, k, rows = 0;
  for (k = 0; k < CONTACTS; k++) {
    double law[LAW], row[WIDE], x[WIDE], *G = w->stiff.slope + SHARE * (stage * CONTACTS + k);
    touch_law(s, k, law, w);
    touch_cone(k, impulses + touch_row[k], w->contact.rate + touch_row[k], w->contact.gap + k, h, law, ones, ones, row, x, G, w);
    stiff[k] = 0.0;
#if !REDUNDANT
    for (j = 0; j < N; j++) {
      double most = 0.0;
      for (i = 0; i < touch_size(k) * touch_size(k); i++) {
        const int at = N * touch_row[k] + j;
        most += fabs(along[at + N * (i % touch_size(k))] * G[i] * by[at + N * (i / touch_size(k))]);
      }
      if (h[0] * most > C_CONE_STIFF * fabs(slope[j + N * j])) stiff[k] = 1.0;
    }
    if (stiff[k] != 0.0) rows += touch_size(k);
#endif
  }
  memset(added, 0, N * N * sizeof(double));
  for (k = 0; k < CONTACTS; k++) {
    const double *G = w->stiff.slope + SHARE * (stage * CONTACTS + k);
    if (rows > STIFF) stiff[k] = 0.0;
    if (stiff[k] != 0.0) continue;
    touch_product(k, along, G, by, h[0], added);
    touch_product(k, along, G, start, h[0], K);
  }
  for (i = 0; i < N * N; i++) slope[i] += added[i];
  (void)j;
}

/* What the stiff contacts of a stage change in the inverse of its system (first N rows: `square`, and `rows` of the loops), with their
 * impulses as the unknowns: M = inverse h J^T (1 + G Y inverse h J^T)^-1 and T = M G, N x TOUCHES, are what their impulses and rates
 * move coordinates by; the new inverse, inverse - T Y inverse, has not the digits for that: its product with h J^T G cancels. */
static int stiffened(int stage, const double *h, double *square, double *rows, Work *w) {
  const double *along = (stage ? w->contact.last : w->contact.first), *stiff = w->stiff.is + stage * CONTACTS;
  const double *by = (stage ? w->contact.last : w->contact.slid_by_end);
  double *T = w->stiff.by_rate + stage * N * TOUCHES, *M = w->stiff.by_impulse + stage * N * TOUCHES, *X = w->stiff.columns;
  double *K = w->stiff.system, *solved = w->stiff.solved, *found = w->stiff.found;
  double share[STIFF];
  int index[STIFF], size = 0, at = 0, i, j, k, q, r;
  for (k = 0; k < CONTACTS; k++) {
    for (r = touch_row[k]; r < touch_row[k + 1] && stiff[k] != 0.0; r++) {
      product(square, along + N * r, N, N, 1, h[0], 0.0, X + N * size);
      index[size++] = r;
    }
  }
  if (size == 0) return 0;
  for (k = 0; k < CONTACTS; k++) { /* transposed, and no row far larger than another */
    const double *G = w->stiff.slope + SHARE * (stage * CONTACTS + k);
    const int n = touch_size(k), first = at;
    for (q = 0; q < n && stiff[k] != 0.0; q++, at++) {
      double *line = K + size * at;
      for (j = 0; j < size; j++) {
        line[j] = at == j;
        for (r = 0; r < n; r++) line[j] += G[q + n * r] * inner(by + N * index[first + r], X + N * j, N);
      }
      share[at] = 1.0 / largest(line, size);
      for (j = 0; j < size; j++) line[j] *= share[at];
    }
  }
  for (i = 0; i < N; i++) {
    for (j = 0; j < size; j++) solved[j + size * i] = X[i + N * j];
  }
  if (solve_dense(K, solved, size, N) == NO_PIVOT) return STATUS_LOOPS_SINGULAR;
  for (j = 0; j < size; j++) {
    for (i = 0; i < N; i++) M[i + N * index[j]] = solved[j + size * i] * share[j];
  }
  for (k = 0; k < CONTACTS; k++) {
    const int first = N * touch_row[k], n = touch_size(k);
    if (stiff[k] != 0.0) product(M + first, w->stiff.slope + SHARE * (stage * CONTACTS + k), N, n, n, 1.0, 0.0, T + first);
  }
  for (j = 0; j < N + ROWS; j++) {
    double *column = j < N ? square + N * j : rows + N * (j - N);
    for (k = 0; k < size; k++) found[k] = inner(by + N * index[k], column, N);
    for (k = 0; k < size; k++) {
      for (i = 0; i < N; i++) column[i] -= T[N * index[k] + i] * found[k];
    }
  }
  return 0;
}

/* square -= T start of the stiff contacts of a stage: what the start moves its end by through them. */
static void stiff_product(int stage, const double *start, double *square, const Work *w) {
  const double *T = w->stiff.by_rate + stage * N * TOUCHES, *stiff = w->stiff.is + stage * CONTACTS;
  int i, j, k, r;
  for (k = 0; k < CONTACTS; k++) {
    for (r = touch_row[k]; r < touch_row[k + 1] && stiff[k] != 0.0; r++) {
      for (j = 0; j < N; j++) {
        for (i = 0; i < N; i++) square[i + N * j] -= T[N * r + i] * start[N * r + j];
      }
    }
  }
}

/* bar -= (T start)^T seed of the stiff contacts of a stage. */
static void stiff_pull(int stage, const double *start, const double *seed, double *bar, const Work *w) {
  const double *T = w->stiff.by_rate + stage * N * TOUCHES, *stiff = w->stiff.is + stage * CONTACTS;
  int j, k, r;
  for (k = 0; k < CONTACTS; k++) {
    for (r = touch_row[k]; r < touch_row[k + 1] && stiff[k] != 0.0; r++) {
      const double value = inner(T + N * r, seed, N);
      for (j = 0; j < N; j++) bar[j] -= value * start[N * r + j];
    }
  }
}

/* What contacts add at a step's end to the slopes of both stages, times h, by what each of them solves for, and to the blocks by poses. */
static void contact_slopes(const double *p, const double *h, const double *alpha, const double *p_next, const double *pd_next,
                           double *slope, double *slope_rate, Work *w) {
  double *S0 = w->contact.slid_by_start, *S1 = w->contact.slid_by_end, *R1 = w->contact.rate_by_end;
  double *J0 = w->contact.first, *J = w->contact.last;
  Stage s;
  int i, j, k;
  s.p = p;
  s.h = h;
  s.alpha = alpha;
  s.least = 0.0;
  touch_start_kernel(p, alpha, w->model, w->contact.gap, J0, w->contact.sign, w->kernel);
  touch_curvature_kernel(p, p_next, pd_next, w->contact.sign, w->push + SIDES, w->push_rate + SIDES, h, alpha, w->model, w->scratch,
                         w->scratch_end, S0, S1, R1, w->kernel);
  for (i = 0; i < N * N; i++) {
    w->blocks.pose_by_start[i] -= h[0] * w->scratch[i];
    w->blocks.rate_by_end[i] -= h[0] * w->scratch_end[i];
  }
  s.end = 0;
  touch(&s, p_next, w);
  for (k = 0; k < CONTACTS; k++) {
    for (j = 0; j < N; j++) {
      const int at = N * touch_row[k] + j;
      S1[at] = 2.0 / h[0] * J[at];
      R1[at] += S1[at];
    }
  }
  stage_slopes(&s, h, J0, S1, S0, slope, w->blocks.pose_by_start, w);
  s.end = p_next;
  touch(&s, pd_next, w);
  stage_slopes(&s, h, J, J, R1, slope_rate, w->blocks.rate_by_end, w);
}

/* What the impulses of contacts add to the gradients by the parameters and h. Rows are those of `contact_slopes`; the multipliers x and
 * y came from the seeds x_seed and y_seed. */
static void contact_gradients(const double *p, const double *h, const double *alpha, const double *p_next, const double *pd_next,
                              const double *x, const double *y, const double *x_seed, const double *y_seed, double *alpha_bar,
                              double *h_bar, Work *w) {
  double *slid_bar = w->contact.bar, *rates_bar = slid_bar + TOUCHES, *gap_bar = rates_bar + TOUCHES, *law_bar = gap_bar + CONTACTS;
  Stage s;
  int k, r, stage;
  s.p = p;
  s.h = h;
  s.alpha = alpha;
  s.least = 0.0;
  memset(slid_bar, 0, (2 * TOUCHES + (1 + LAW) * CONTACTS) * sizeof(double));
  for (stage = 0; stage < 2; stage++) {
    s.end = stage ? p_next : 0;
    touch(&s, stage ? pd_next : p_next, w);
    for (k = 0; k < CONTACTS; k++) {
      const int first = touch_row[k];
      const double *impulse = (stage ? w->push_rate : w->push) + SIDES + first, *rate = w->contact.rate + first, *gap = w->contact.gap + k;
      double pull[WIDE], *rate_bar = (stage ? rates_bar : slid_bar) + first, *law = w->contact.law + LAW * k;
      for (r = 0; r < touch_size(k); r++) {
        const int at = N * (first + r);
        pull[r] = w->stiff.is[stage * CONTACTS + k] != 0.0
                      ? inner(w->stiff.by_impulse + stage * N * TOUCHES + at, stage ? y_seed : x_seed, N)
                      : h[0] * inner((stage ? w->contact.last : w->contact.first) + at, stage ? y : x, N);
      }
#if TURNED
      if (touch_size(k) > 3) disc_gradients(k, impulse, rate, h, law, pull, rate_bar, h_bar, law_bar + LAW * k, w);
#endif
#if FRICTION_ALL
      contact_parameters_kernel(impulse, rate, gap, h, law, pull, rate_bar, gap_bar + k, h_bar, law_bar + LAW * k, w->kernel);
#elif !FRICTION_ANY
      smooth_contact_parameters_kernel(impulse, rate, gap, h, law, pull, rate_bar, gap_bar + k, h_bar, law_bar + LAW * k, w->kernel);
#else
      if (touch_size(k) >= 3) {
        contact_parameters_kernel(impulse, rate, gap, h, law, pull, rate_bar, gap_bar + k, h_bar, law_bar + LAW * k, w->kernel);
      } else {
        smooth_contact_parameters_kernel(impulse, rate, gap, h, law, pull, rate_bar, gap_bar + k, h_bar, law_bar + LAW * k,
                                         w->kernel);
      }
#endif
    }
  }
  touch_parameters_kernel(p, p_next, pd_next, w->contact.sign, x, y, w->push + SIDES, w->push_rate + SIDES, slid_bar, rates_bar,
                          gap_bar, law_bar, h, alpha, w->model, alpha_bar, h_bar, w->kernel);
}

#endif

/* The closed pose nearest to one that is given. */
#ifndef CLOSE_LOOPS_INCLUDED
#define CLOSE_LOOPS_INCLUDED
#include "dense.h"
#include "loops_closed.h"

#define FULL_TURN 6.283185307179586 /* rad */

/* Arguments of close_loops: the target pose, flags of fixed coordinates, parameters. */
typedef struct {
  const double *target, *fixed, *alpha;
  Work *w;
} Closing;

/* Loop rows and their Jacobian at p, in w: zero for rows with slack and, with `kept`, for fixed coordinates. Returns the squared norm. */
static double gaps(const Closing *c, const double *p, int kept) {
  double *g = c->w->loop.gap, *A = c->w->loop.every;
  int i, j;
  closing_kernel(p, c->alpha, g, A, c->w->kernel);
#if SLACK
  for (i = 0; i < ALL; i++) {
    if (slack[i] == 0.0) continue;
    g[i] = 0.0;
    for (j = 0; j < N; j++) A[i + ALL * j] = 0.0;
  }
#endif
  for (j = 0; j < N && kept; j++) {
    for (i = 0; i < ALL && c->fixed[j] != 0.0; i++) A[i + ALL * j] = 0.0;
  }
  return inner(g, g, ALL);
}

/* Pivoted Cholesky factorisation A A^T = L L^T down to pivots of `share` times the first; returns the rank. */
static int factor_rows(double share, int *order, Work *w) {
  double *K = w->dense, first = 0.0;
  const double *A = w->loop.every;
  int i, j, k;
  for (i = 0; i < ALL; i++) {
    order[i] = i;
    for (j = 0; j <= i; j++) {
      double sum = 0.0;
      for (k = 0; k < N; k++) sum += A[i + ALL * k] * A[j + ALL * k];
      K[i + ALL * j] = K[j + ALL * i] = sum;
    }
  }
  for (k = 0; k < ALL; k++) {
    int best = k;
    double root;
    for (i = k + 1; i < ALL; i++) {
      if (K[i + ALL * i] > K[best + ALL * best]) best = i;
    }
    if (k == 0) first = K[best + ALL * best];
    if (!(K[best + ALL * best] > share * first)) break;
    if (best != k) {
      exchange(K + k, K + best, ALL, ALL);
      exchange(K + ALL * k, K + ALL * best, ALL, 1);
    }
    i = order[k];
    order[k] = order[best];
    order[best] = i;
    root = sqrt(K[k + ALL * k]);
    for (i = k; i < ALL; i++) K[i + ALL * k] /= root;
    for (j = k + 1; j < ALL; j++) {
      for (i = k + 1; i < ALL; i++) {
        if (i >= j) K[i + ALL * j] -= K[i + ALL * k] * K[j + ALL * k];
        else K[i + ALL * j] = 0.0;
      }
    }
    for (j = k + 1; j < ALL; j++) {
      for (i = k + 1; i < j; i++) K[i + ALL * j] = K[j + ALL * i];
    }
  }
  return k;
}

/* Least-norm solution x = A^T (A A^T)^-1 b of the independent rows that `factor_rows` chose. */
static void least_change(const double *b, int rank, const int *order, double *x, Work *w) {
  const double *L = w->dense;
  double *z = w->rhs, y[ALL];
  int i, k;
  for (k = 0; k < rank; k++) {
    z[k] = b[order[k]];
    for (i = 0; i < k; i++) z[k] -= L[k + ALL * i] * z[i];
    z[k] /= L[k + ALL * k];
  }
  for (k = rank - 1; k >= 0; k--) {
    for (i = k + 1; i < rank; i++) z[k] -= L[i + ALL * k] * z[i];
    z[k] /= L[k + ALL * k];
  }
  for (k = 0; k < ALL; k++) y[order[k]] = k < rank ? z[k] : 0.0;
  product_transposed(w->loop.every, y, N, ALL, 1, 1.0, 0.0, x);
}

/* Gauss-Newton with least-norm steps on all rows, from p; returns 1 if it converges to a closed pose. */
static int land_closed(const Closing *c, double *p) {
  Work *const w = c->w;
  double *best = w->guess, *change = w->trial, *g = w->loop.gap, step = 1.0, left = 0.0;
  int order[ALL], k, j;
  memcpy(best, p, N * sizeof(double));
  for (k = 0; k < C_MAX_CLOSE; k++) {
    double longest;
    const double size = gaps(c, p, 1);
    if (!(size < C_HUGE)) break;
    if (k == 0 || size < left) {
      memcpy(best, p, N * sizeof(double));
      left = size;
      step = step < 0.5 ? 2.0 * step : 1.0;
      least_change(g, factor_rows(C_CLOSE_SHARE, order, w), order, change, w);
    } else {
      step *= 0.5;
    }
    longest = step * largest(change, N);
    if (!(longest > C_CLOSE_LEAST)) break;
    if (longest > C_CLOSE_FAR) longest = C_CLOSE_FAR / longest;
    else longest = 1.0;
    for (j = 0; j < N; j++) p[j] = best[j] - step * longest * change[j];
  }
  memcpy(p, best, N * sizeof(double));
  closing_kernel(p, c->alpha, g, w->loop.every, w->kernel);
  return openness(g) <= C_CLOSED;
}

/* Whether the rows have full rank at p. In a singular pose the loop rows do not determine the motion. */
static int regular(const double *p, const double *alpha, Work *w) {
  int order[ALL];
  Closing c;
  c.target = c.fixed = 0, c.alpha = alpha, c.w = w;
  (void)gaps(&c, p, 0);
  return factor_rows(C_PIVOT_RATIO, order, w) >= ROWS - REDUNDANT;
}

static double far_off(const Closing *c, const double *p) {
  double sum = 0.0;
  int j;
  for (j = 0; j < N; j++) sum += (p[j] - c->target[j]) * (p[j] - c->target[j]);
  return sum;
}

/* Moves a closed pose along the free motion to the nearest pose to the target: projected gradient descent with Barzilai-Borwein step
 * sizes. Returns the squared distance. */
static double slide(const Closing *c, double *p) {
  Work *const w = c->w;
  double *slope = w->gradient, *last = w->direction, *moved = w->correction, *normal = w->momentum;
  double *q = w->bar + 2 * N, y[ALL], here = far_off(c, p), step = 1.0;
  int order[ALL], k, j, tries;
  for (k = 0; k < C_MAX_SLIDE; k++) {
    double square, curved = 0.0, along = 0.0;
    (void)gaps(c, p, 1);
    for (j = 0; j < N; j++) slope[j] = c->fixed[j] != 0.0 ? 0.0 : c->target[j] - p[j];
    product(w->loop.every, slope, ALL, N, 1, 1.0, 0.0, y);
    least_change(y, factor_rows(C_CLOSE_SHARE, order, w), order, normal, w);
    for (j = 0; j < N; j++) slope[j] -= normal[j];
    if (!(largest(slope, N) > C_CLOSE_SLOPE)) break;
    for (j = 0; j < N && k > 0; j++) {
      along += moved[j] * moved[j];
      curved += moved[j] * (last[j] - slope[j]);
    }
    step = along < C_CLOSE_STRIDE * curved && curved < C_CLOSE_STRIDE * along ? along / curved : 1.0;
    square = inner(slope, slope, N);
    for (tries = 0; tries < C_CLOSE_TRIES; tries++) {
      const double longest = step * largest(slope, N);
      double there = here;
      if (longest > C_CLOSE_FAR) step *= C_CLOSE_FAR / longest;
      for (j = 0; j < N; j++) q[j] = p[j] + step * slope[j];
      if (land_closed(c, q) && (there = far_off(c, q)) < here - C_CLOSE_GAIN * step * square && regular(q, c->alpha, w)) {
        for (j = 0; j < N; j++) moved[j] = q[j] - p[j];
        here = there;
        break;
      }
      step *= 0.25;
    }
    if (tries == C_CLOSE_TRIES) break;
    memcpy(p, q, N * sizeof(double));
    memcpy(last, slope, N * sizeof(double));
  }
  return here;
}

/* Starts at the given pose; if that does not close, or only far away, at others further and further off. The nearest result is taken. */
HIDDEN int STEP(close_loops)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *p = w->bar, *found = w->bar + N, least = C_HUGE;
  int status = STATUS_LOOP_NOT_CLOSED, k, j;
  Closing c;
  c.target = in[0], c.fixed = in[1], c.alpha = in[2], c.w = w;
  memcpy(out[0], in[0], N * sizeof(double));
  if (!(largest(in[0], N) < C_HUGE)) return STATUS_LOOP_NOT_CLOSED;
  for (k = 0; k < C_MAX_STARTS; k++) {
    double distance;
    for (j = 0; j < N; j++) {
      double x = 0.5 + k * start_weyl[j];
      x -= floor(x);
      p[j] = in[0][j];
      if (in[1][j] == 0.0) p[j] += start_spread[j] * (2.0 * x - 1.0) * k / (C_MAX_STARTS - 1.0);
    }
    if (!land_closed(&c, p)) continue;
    if (k == 0 && far_off(&c, p) == 0.0) return 0;
    for (j = 0; j < N; j++) {
      if (start_turns[j] && in[1][j] == 0.0) p[j] -= FULL_TURN * floor((p[j] - in[0][j]) / FULL_TURN + 0.5);
    }
    if (!regular(p, c.alpha, w)) {
      if (status == STATUS_LOOP_NOT_CLOSED) status = STATUS_LOOPS_SINGULAR;
      continue;
    }
    distance = slide(&c, p);
    if (distance < least) {
      least = distance;
      memcpy(found, p, N * sizeof(double));
      status = 0;
    }
    if (k == 0 && least <= C_CLOSE_SURE * C_CLOSE_SURE) break;
  }
  if (status == 0) memcpy(out[0], found, N * sizeof(double));
  return status;
}

#endif

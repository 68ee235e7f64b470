/* How far loops are open, and whether a step is refuted by them. */
#ifndef LOOPS_CLOSED_INCLUDED
#define LOOPS_CLOSED_INCLUDED
#include "products.h"

#if SLACK
/* The largest violation of a loop row beyond its slack. */
static double openness(const double *g) {
  double result = 0.0;
  int k;
  for (k = 0; k < ALL; k++) {
    const double a = fabs(g[k]) - slack[k];
    if (!(a <= result) && result == result) result = a;
  }
  return result;
}
#else
static double openness(const double *g) { return largest(g, ALL); }
#endif

/* `looked`: indices of the loop rows that are not identically zero. A step is refuted if one of them is open at its end, or opens. */
static int opens(double rate, int row, double most) {
  return !(fabs(rate) <= (SLACK ? C_PARTED_RATE * (1.0 + most) + slack[row] * most : C_PARTED_RATE * (1.0 + most)));
}

/* gap: of all rows. A: Jacobian of the independent rows, `others`: of the remaining ones; if A is 0, `others` is that of all rows. */
static int refuted_loops(const double *gap, const double *A, const double *others, const double *pd_next) {
  const double most = largest(pd_next, N);
  int i, j, k;
  for (k = 0; k < LOOKED; k++) {
    double rate = 0.0;
    i = looked[k];
    if (!(fabs(gap[i]) <= (SLACK ? C_PARTED + slack[i] : C_PARTED))) return 1;
    if (A == 0) {
      for (j = 0; j < N; j++) rate += others[i + ALL * j] * pd_next[j];
    } else if (kept[i] >= 0) {
      for (j = 0; j < N; j++) rate += A[kept[i] + ROWS * j] * pd_next[j];
    } else {
      for (j = 0; j < N; j++) rate += others[other[i] + (ALL - ROWS) * j] * pd_next[j];
    }
    if (opens(rate, i, most)) return 1;
  }
  return 0;
}

#if !UNILATERAL
/* Whether the rows added energy. Ideal constraints do no work, but along the chord of a step they do, of third order in h; unbounded
 * if they turn the momentum far in one step. Computed is twice the balance of kinetic energy at both ends and work of the forces.
 * Tolerated is a quarter of the squared turns (a chord is off its tangent) and the difference between half kicks and chord. */
static int given_energy(const double *h, const double *p, const double *pd, const double *p_next, const double *pd_next,
                        const Work *w) {
  const double *momentum = w->momentum, *terms = w->terms, *first = w->force, *last = first + N;
  const double inverse = 1.0 / h[0], half = 0.5 * h[0], fast = largest(pd_next, N);
  double before = 0.0, after = 0.0, work = 0.0, beside = 0.0, turned = 0.0, left = 0.0;
  int j;
  for (j = 0; j < N; j++) {
    const double moved = p_next[j] - p[j], pace = moved * inverse;
    before += pd[j] * (inverse * terms[j] - half * first[j]);
    after += pd_next[j] * momentum[j];
    work += (first[j] + last[j]) * moved;
    beside += first[j] * (pd[j] - pace) + last[j] * (pd_next[j] - pace);
    left += fabs(momentum[j]);
    if (turning[j]) turned += moved * moved;
  }
  return !(after - before - work <= (C_GAINED + 0.25 * turned) * (before > after ? before : after) + half * fabs(beside) +
                                        C_PARTED_RATE * (1.0 + fast) * left);
}

/* Whether the change of pose disagrees with the rates at both ends. For one body sin(turn) = h rate; a turn that differs more from the
 * mean rate belongs to another root. Rows gain energy in proportion to that difference times the change of momenta, so energy is
 * checked only if the pose differs, and not after a kick, which adds energy itself. */
static int refuted_turns(const double *h, const double *p, const double *pd, const double *kick, const double *p_next,
                         const double *pd_next, const Work *w) {
  const double half = 0.5 * h[0];
  double most = 0.0, way = 0.0;
  int j;
  for (j = 0; j < N; j++) {
    const double moved = p_next[j] - p[j], off = fabs(moved - half * (pd[j] + pd_next[j]));
    if (turning[j] && !(off <= C_MOST_TURNED)) return 1;
    if (off > most) most = off;
    if (fabs(moved) > way) way = fabs(moved);
  }
  if (kick != 0 || most <= C_ON_MEAN * way) return 0;
  return given_energy(h, p, pd, p_next, pd_next, w);
}

#endif

#endif

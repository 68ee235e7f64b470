/* The solution of a stage: Newton's method, then continuations in the slip, each slower than the last. */
#ifndef CONE_LEVELS_INCLUDED
#define CONE_LEVELS_INCLUDED
#include "cone_systems.h"
#include "stage_residual.h"

/* Impulses for a cold start of a stage. */
static void cold(Stage *s, const double *x, double most, double *impulse, Work *w) {
#if SIDES
  cold_sides(s, x, most, impulse, w);
#endif
#if CONTACTS
  cold_contacts(s, x, most, impulse + SIDES, w);
#else
  (void)w;
#endif
}

/* How an iteration ends without a solution. */
enum { STALLED = 1, NOT_FINITE_START, SPENT };

/* Newton's method with a line search. x, loops and impulse are the start and the result; D of the pose stage is kept while iterations
 * contract. Returns 0 when a full step is of the size of rounding, or the contraction predicts that the next will be, or the residual
 * is below `tolerance` (0: none). */
static int descend(Stage *s, double *x, double *loops, double *impulse, int most, double tolerance, Work *w) {
  double *full = w->change, *trial = w->start, left, last = 0.0, before = C_HUGE, most_impulse;
  int k, i, j;
  s->fresh = !s->known;
  s->landing = s->classified = 0;
  if (s->spent >= DIFFPBD_EVALUATIONS) return SPENT;
  most_impulse = s->impulse + largest(impulse, PUSHES);
  left = evaluate(s, x, loops, impulse, w);
  most_impulse += C_CONE_IMPULSE * sqrt(left); /* so that a diverging impulse does not make every residual look small */
  for (k = 0; k < most; k++) {
    double t = 1.0, size, rate, nearly, sum = left, scale = largest(impulse, PUSHES) + s->impulse;
    if (!(scale <= most_impulse)) scale = most_impulse;
    if (!(left <= C_HUGE)) return k == 0 ? NOT_FINITE_START : STALLED;
    if (tolerance > 0.0 && left <= tolerance * tolerance) return 0;
    {
      const double least = C_CONE_RESIDUAL * scale, stall = C_CONE_STALL * scale;
      if (left <= least * least || (left <= stall * stall && left > 0.1 * before)) { /* only rounding is left */
        memset(full, 0, BIG * sizeof(double));
        return 0;
      }
      before = left;
    }
    w->count[(s->end ? 1 : 0)] += 1.0;
    if (newton(s, x, impulse, full, w) != 0) return STALLED;
    size = largest(full, N);
    if (!(size <= (C_FAR_RATE))) return STALLED;
    rate = last > 0.0 ? size / last : 1.0; /* a contraction is known only after a full step */
    nearly = (s->end ? C_CONE_NEARLY_RATE : C_CONE_NEARLY) * scale;
    if ((!s->acting || (left <= nearly * nearly && largest(full + BIG, PUSHES) <= C_CONE_NEARLY * scale)) &&
        (size <= (s->end ? C_CONE_RATE : C_LAST_CORRECTION) * (1.0 + largest(x, N)) ||
         (rate <= C_SLOW && size * rate <= (s->end ? C_CONE_SETTLED_RATE : C_POSE_TOLERANCE)))) {
      for (j = 0; j < N; j++) x[j] += full[j];
      for (j = 0; j < ROWS; j++) loops[j] += full[N + j];
      for (j = 0; j < IMPULSES; j++) impulse[j] += full[BIG + j];
      return 0;
    }
    s->landing = (k == 0 || rate <= C_SLOW) && size * (s->fresh ? size : rate) <= C_LAST_CORRECTION;
    s->fresh = !s->landing && !(s->end != 0 && s->linear) &&
               (k == 0 ? size > C_CONE_CHORD : rate > C_SLOW || (!s->fresh && size * rate * rate > C_CONE_ANEW));
    for (i = 0; i <= C_CONE_HALVINGS; i++) {
      for (j = 0; j < N; j++) trial[j] = x[j] + t * full[j];
      for (j = 0; j < ROWS; j++) trial[N + j] = loops[j] + t * full[N + j];
      for (j = 0; j < IMPULSES; j++) trial[BIG + j] = impulse[j] + t * full[BIG + j];
      if (s->spent >= DIFFPBD_EVALUATIONS) return SPENT;
      sum = evaluate(s, trial, trial + N, trial + BIG, w);
      if (sum <= (1.0 - 0.2 * t) * left || ((s->approached || (i == 0 && size <= C_CONE_NEAR)) && sum <= C_HUGE)) break;
      t *= 0.5;
      s->landing = 0;
    }
    last = t == 1.0 ? size : 0.0;
    memcpy(x, trial, N * sizeof(double));
    memcpy(loops, trial + N, ROWS * sizeof(double));
    memcpy(impulse, trial + BIG, IMPULSES * sizeof(double));
    left = sum;
  }
  return STALLED;
}

/* Continuation in the slip: from far above it down to it, each solve from the last solution; `patient` lets each solve converge. */
static int follow(Stage *s, double *x, double *loops, double *impulse, double top, double factor, int patient, Work *w) {
  int status = STALLED;
  for (s->least = top;; s->least *= factor) {
    const int last = s->least <= s->slip, most = patient ? C_CONE_PATIENT : last ? C_CONE_LAST : C_CONE_LEVEL;
    const double tolerance = last || patient ? 0.0 : C_CONE_ROUGH * s->impulse * sqrt(s->least / top);
    if (last) s->least = 0.0;
    status = descend(s, x, loops, impulse, most, tolerance, w);
    if (last || status == SPENT || !(largest(x, N) <= C_FAR_RATE)) return status;
  }
}

#if FRICTION_ANY
/* Continuation with separate rows for normal and friction, then Newton's method on the joint rows from its solution. */
static int follow_apart(Stage *s, double *x, double *loops, double *impulse, Work *w) {
  s->apart = 1;
  (void)follow(s, x, loops, impulse, C_CONE_TOP, 0.1, 0, w);
  s->apart = 0;
  {
    const int status = descend(s, x, loops, impulse, C_CONE_LAST, 0.0, w);
    if (status == 0 || status == SPENT) return status;
  }
  return follow(s, x, loops, impulse, C_CONE_TOP, 0.3, 1, w);
}

#endif
enum {
  WARM,
  COLD,
  FALLING,
  SLOWER,
#if FRICTION_ANY
  APART,
#endif
  PATIENT,
  LEVELS = PATIENT + 4
};

/* Solves a stage by the first level that succeeds: Newton's method with a warm start, then with a cold one; continuation in the slip;
 * continuation with separate rows, if there is friction; slower and slower continuations. */
static int solve_stage(Stage *s, double *x, double *loops, double *impulse, int warm, Work *w) {
  static const double tops[] = { 2.0, 20.0, 200.0, 2000.0 }, factors[] = { 0.1, 0.3, 0.5, 0.7 };
  const int unsolved = s->end ? STATUS_RATE_NOT_FOUND : STATUS_POSE_NOT_FOUND;
  double *first = w->first, top;
  int level, status, k;
  memset(w->rho, 0, RHOS * sizeof(double));
  memcpy(first, x, N * sizeof(double));
  for (level = warm ? WARM : COLD; level < LEVELS; level++) {
    k = level < PATIENT ? 0 : level - PATIENT;
    top = C_CONE_TOP * (level >= PATIENT ? tops[k] : level == SLOWER ? 10.0 : 1.0);
    if (level > WARM) {
      memcpy(x, first, N * sizeof(double));
      memset(loops, 0, ROWS * sizeof(double));
      s->least = level > COLD ? top : 0.0;
      cold(s, x, 1.0, impulse, w);
    }
    w->count[2 + (s->end ? 1 : 0)] = level > SLOWER ? 2.0 : level > COLD ? 1.0 : 0.0;
    s->least = 0.0;
    status = level <= COLD     ? descend(s, x, loops, impulse, C_CONE_FIRST, 0.0, w)
             : level == FALLING ? follow(s, x, loops, impulse, top, 0.01, 0, w)
             : level == SLOWER  ? follow(s, x, loops, impulse, top, 0.1, 0, w)
#if FRICTION_ANY
             : level == APART ? follow_apart(s, x, loops, impulse, w)
#endif
                              : follow(s, x, loops, impulse, top, factors[k], 1, w);
    w->count[4] = s->spent;
    for (k = 0; k < N && status == 0 && !s->end; k++) status = !(fabs(x[k] - first[k]) <= (turning[k] ? C_FAR_TURN : C_FAR_POSE));
    if (status == 0) return 0;
    if (status == SPENT) return STATUS_LIMIT_NOT_RESOLVED;
    if (status == NOT_FINITE_START && level > WARM) return unsolved;
  }
  /* Without loaded rows it is the free step that failed. */
  return largest(impulse, PUSHES) > C_CONE_ROUGH * s->impulse ? STATUS_LIMIT_NOT_RESOLVED : unsolved;
}

#endif

/* Both stages of a step with unilateral rows. */
#ifndef CONES_INCLUDED
#define CONES_INCLUDED
#include "cone_levels.h"
#include "certificate.h"
#if ROWS
#include "loops_closed.h"
#endif
#if BOUNCING
#include "rebounds.h"
#endif
#if FLOATING
#include "turned_torque.h"
#endif

/* Initialises a stage at the start of a step. */
static void begin(Stage *s, const double *p, const double *pd, const double *u, const double *h, const double *alpha, Work *w) {
  int k;
  s->p = p;
  s->pd = pd;
  s->u = u;
  s->h = h;
  s->alpha = alpha;
  s->end = 0;
  s->least = 0.0;
  s->acting = CONES > 0; /* none: a closed loop with rate-dependent friction */
  s->apart = s->linear = s->known = s->factored = s->seen = s->spent = 0;
#if !LAGGING
  for (s->linear = 1, k = 0; k < LINKS; k++) s->linear &= alpha[COULOMB + k] == 0.0;
#endif
  s->slip = C_HUGE;
  s->impulse = 0.0;
#if SIDES
  s->slip = alpha[LIMIT_SLIP];
  s->impulse = alpha[LIMIT_LOAD] * h[0];
  side_leads(p, h, alpha, w->lead);
#endif
#if CONTACTS
  memset(w->contact.turn, 0, TOUCHES * N * sizeof(double));
  touch_start_kernel(p, alpha, w->model, w->contact.gap, w->contact.first, w->contact.sign, w->kernel);
#if BOUNCING
  rebounds(p, pd, u, h, alpha, w);
#endif
  for (k = 0; k < CONTACTS; k++) {
    const double *law = w->contact.law + LAW * k;
    if (law[LAW_SLIP] < s->slip) s->slip = law[LAW_SLIP];
    if (law[LAW_LOAD] * h[0] > s->impulse) s->impulse = law[LAW_LOAD] * h[0];
  }
#else
  (void)w;
#endif
  if (!(s->slip > 0.0)) s->slip = C_HUGE; /* continuation would never reach it; the stage ends with a status */
  (void)k;
}

/* Momentum, inertia and rows at the end of the pose stage, where the rate stage starts. */
static void start_rate_stage(Stage *s, const double *p_next, const double *loops, const double *impulse, Work *w) {
  double *momentum = w->momentum;
  int j;
  if (s->landing && largest(w->change, N) <= C_CONE_SETTLED_RATE) {
    /* Computed one correction ago; only the gaps notice that correction. */
#if CONTACTS
    for (j = 0; j < CONTACTS; j++) w->contact.gap[j] += inner(w->contact.last + N * touch_row[j], w->change, N);
#endif
  } else {
    landing_kernel(p_next, s->p, w->record, w->terms, s->u, s->h, s->alpha, w->model, w->gradient, momentum, w->mass,
                   w->loop.gap, w->loop.last, w->energy + 3, w->kernel);
#if CONTACTS
    touch_kernel(p_next, w->contact.sign, s->alpha, w->model, w->contact.gap, w->contact.last, w->kernel);
#endif
  }
#if FLOATING
  turn_torque(s->h, s->u, p_next, momentum);
#endif
  product_transposed(w->loop.first, loops, N, ROWS, 1, 1.0, 1.0, momentum);
#if SIDES
  for (j = 0; j < SIDES; j++) momentum[side_of[j]] += side_slope[j] * impulse[j];
#endif
#if CONTACTS
  for (j = 0; j < TOUCHES; j++) {
    int i;
    for (i = 0; i < N; i++) momentum[i] += w->contact.first[N * j + i] * impulse[SIDES + j];
  }
#endif
  s->end = p_next;
  s->factored = s->known = 0;
}

/* First guess of a linear rate stage: the rates if its impulses were those of the pose stage. */
static void balance(Stage *s, double *x, Work *w) {
  double *F = w->gradient;
  int i, j;
  rate_system_kernel(w->mass, w->momentum, s->h, x,
#if LAGGING
                     s->pd,
#endif
                     s->alpha, w->model, F, w->slopes, w->kernel);
  for (i = 0; i < N; i++) {
    for (j = 0; j < ROWS; j++) F[i] -= w->loop.last[j + ROWS * i] * w->rate.multipliers[j];
  }
#if SIDES
  for (j = 0; j < SIDES; j++) F[side_of[j]] -= side_slope[j] * w->push_rate[j];
#endif
#if CONTACTS
  for (j = 0; j < TOUCHES; j++) {
    for (i = 0; i < N; i++) F[i] -= w->contact.last[N * j + i] * w->push_rate[SIDES + j];
  }
#endif
  s->known = 1;
  if (largest(F, N) <= C_CONE_RESIDUAL * (s->impulse + largest(w->push_rate, PUSHES)) || factor(w->slopes, 1.0, w->lu, w) != 0) return;
  s->factored = 1;
  s->columns = 0;
  solve_factored(w->lu, F);
  for (i = 0; i < N; i++) x[i] -= F[i];
}

/* Extrapolates n values over the steps, in place: by their last change and, if `known` > 1, by their second difference. Each is used
 * only if it is small in the first `judged` values. last: x and its change in the step before; updated. */
static void extrapolate(int known, double *x, double *last, int n, int judged) {
  double *before = last + n, change[N + IMPULSES], more[N + IMPULSES], size;
  int k, alike;
  for (k = 0; k < n; k++) {
    change[k] = x[k] - last[k];
    more[k] = change[k] - before[k];
    last[k] = x[k];
    before[k] = change[k];
  }
  size = largest(change, judged);
  if (known < 1 || !(size <= C_CONE_ALIKE * largest(x, judged))) return;
  alike = known > 1 && largest(more, judged) <= C_CONE_ALIKE * size;
  for (k = 0; k < n; k++) x[k] += change[k] + (alike ? more[k] : 0.0);
}

/* Warm start of a pose stage's impulses from the last `known` steps. */
static void guess_pose_impulses(int known, Work *w) {
  double *more = w->more;
  int k;
  for (k = 0; k < IMPULSES; k++) more[k] = w->push_rate[k] - w->push[k];
  extrapolate(known - 1, w->push, w->before, IMPULSES, PUSHES);
  extrapolate(known - 1, more, w->more_before, IMPULSES, PUSHES);
}

/* Warm start of a rate stage: the pose stage's impulses plus their difference in the last step, if that is small. */
static void guess_rate_impulses(Work *w) {
  const double *more = w->more;
  const int alike = largest(more, PUSHES) <= C_CONE_ALIKE * largest(w->push, PUSHES);
  int k;
  for (k = 0; k < IMPULSES; k++) w->push_rate[k] = w->push[k] + (alike ? more[k] : 0.0);
}

/* The rate stage of a step, then its certificate. */
static int finish(Stage *s, const double *p, const double *pd, const double *u, const double *kick, const double *h,
                  const double *alpha, const double *p_next, double *pd_next, Work *w) {
  double *L = w->pose.multipliers, *H = w->rate.multipliers;
  int j, status;
  start_rate_stage(s, p_next, L, w->push, w);
  for (j = 0; kick != 0 && j < N; j++) w->momentum[j] += kick[j];
  memcpy(pd_next, pd, N * sizeof(double));
  memcpy(H, L, ROWS * sizeof(double));
  guess_rate_impulses(w);
  if (s->linear) balance(s, pd_next, w);
  status = solve_stage(s, pd_next, H, w->push_rate, 1, w);
  for (j = 0; j < ROWS; j++) {
    L[j] *= h[0];
    H[j] *= h[0];
  }
  if (status == 0 && refuted(p, pd, u, kick, h, alpha, p_next, pd_next, w)) status = STATUS_STEP_REFUTED;
  return status;
}

/* The pose stage over `share` of a step. The first guess is p_next and the impulses of the share `pace`, extrapolated; 0: a cold start. */
static int solve_share(Stage *s, double share, double pace, const double *p, const double *pd, const double *u, const double *h,
                    const double *alpha, double *p_next, Work *w) {
  double *guess = w->first, *L = w->pose.multipliers;
  int j;
  start_kernel(p, pd, u, h, alpha, w->model, w->record, w->terms, guess, w->loop.first, w->loop.gap, w->energy, w->kernel);
  begin(s, p, pd, u, h, alpha, w);
  s->spent = (int)w->count[4];
  for (j = 0; j < N; j++) p_next[j] = pace > 0.0 ? p[j] + (p_next[j] - p[j]) * (share / pace) : guess[j];
  for (j = 0; j < ROWS && !(pace > 0.0); j++) L[j] = 0.0;
  return solve_stage(s, p_next, L, w->push, pace > 0.0, w);
}

/* Continuation in the length of the step. The equations may have several solutions; the physical one tends to the start as the step
 * gets shorter. So a short step is solved first and followed to the whole one. */
static int approach(const double *p, const double *pd, const double *u, const double *kick, const double *h, const double *alpha,
                    double *p_next, double *pd_next, Work *w) {
  static const double shares[] = { 0.5, 0.125, 0.03125 };
  double kept[BIG + IMPULSES];
  int i, k, status = STATUS_LIMIT_NOT_RESOLVED;
  Stage s;
  for (i = 0; i < 3 && w->count[4] <= C_APPROACH_MOST; i++) {
    double share = shares[i], next = 1.0, part = share * h[0];
    status = solve_share(&s, share, 0.0, p, pd, u, &part, alpha, p_next, w);
    for (k = 0; k < C_APPROACH_PARTS && w->count[4] <= C_APPROACH_MOST && status == 0 && share < 1.0; k++) {
      memcpy(kept, p_next, N * sizeof(double));
      memcpy(kept + N, w->pose.multipliers, ROWS * sizeof(double));
      memcpy(kept + BIG, w->push, IMPULSES * sizeof(double));
      part = next * h[0];
      if (solve_share(&s, next, share, p, pd, u, next < 1.0 ? &part : h, alpha, p_next, w) == 0) {
        share = next;
        next = 1.0;
        continue;
      }
      memcpy(p_next, kept, N * sizeof(double));
      memcpy(w->pose.multipliers, kept + N, ROWS * sizeof(double));
      memcpy(w->push, kept + BIG, IMPULSES * sizeof(double));
      next = 0.5 * (share + next);
    }
    if (status == 0 && share < 1.0) status = STATUS_LIMIT_NOT_RESOLVED;
    if (status == 0) status = finish(&s, p, pd, u, kick, h, alpha, p_next, pd_next, w);
    if (status == 0) return 0;
  }
  return status;
}

/* Both stages from the first guess in p_next. `alone`: the first step of a motion; `warm`: number of earlier steps whose impulses are
 * in w. */
static int solve_once(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                       const double *alpha, double *p_next, double *pd_next, int alone, int warm, Work *w) {
  double *L = w->pose.multipliers;
  Stage s;
  int j, status, other;
  begin(&s, p, pd, u, h, alpha, w);
#if SIDES
  if (alone && side_outside(p, alpha)) return STATUS_OUTSIDE_LIMITS;
#endif
  depths(p, alpha, w);
#if CONTACTS
  for (j = 0; j < CONTACTS && alone; j++) { /* a compliant contact may be deep */
    if (w->contact.gap[j] < -C_INSIDE && w->contact.law[LAW * j + LAW_COMPLIANCE] == 0.0) return STATUS_CONTACT_INSIDE;
  }
#else
  (void)alone;
#endif
  memset(w->count, 0, 5 * sizeof(double));
  memset(w->more, 0, IMPULSES * sizeof(double));
  if (warm) guess_pose_impulses(warm, w);
  for (j = 0; j < ROWS; j++) L[j] = warm ? L[j] / h[0] : 0.0;
  status = solve_stage(&s, p_next, L, w->push, warm, w);
  if (status == 0) status = finish(&s, p, pd, u, kick, h, alpha, p_next, pd_next, w);
  if (status == 0) return 0;
#if BOUNCING
  if (status == STATUS_STEP_REFUTED && rebounding(w)) return status; /* `solve_unilateral` reduces the restitution, not the step */
#endif
  other = approach(p, pd, u, kick, h, alpha, p_next, pd_next, w);
  return other == 0 ? 0 : status;
}

/* solve_once; if a bounce is refuted, for instance because it gains energy, the restitution is reduced step by step. */
static int solve_unilateral(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                       const double *alpha, double *p_next, double *pd_next, int alone, int warm, Work *w) {
#if BOUNCING
  double guess[N];
  int k, status;
  memcpy(guess, p_next, sizeof guess);
  for (k = 0, status = 0; k < KEPTS; k++) {
    w->bounce.kept[0] = kept_shares[k];
    if (k > 0) memcpy(p_next, guess, sizeof guess);
    status = solve_once(p, pd, u, kick, h, alpha, p_next, pd_next, alone, k == 0 ? warm : 0, w);
    if (status == 0 || !rebounding(w)) break;
    if (status != STATUS_STEP_REFUTED && k < KEPTS - 2) k = KEPTS - 2; /* no solution: no restitution */
  }
  return status;
#else
  return solve_once(p, pd, u, kick, h, alpha, p_next, pd_next, alone, warm, w);
#endif
}

/* The next step of a rollout. `off`: error of the first guess in the last step, by which this guess is corrected; 0: a single step. A
 * start that is not closed (LOOP_OPEN) is passed on. */
static int solve_next(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                        const double *alpha, int status, double *off, double *p_next, double *pd_next, Work *w) {
  const double *guess = w->guess;
  const int known = off != 0 ? (int)off[N] : 0; /* earlier steps that are known, up to 3 */
  int j;
  if (off != 0) {
    double error[N];
    memcpy(error, off, sizeof error);
    extrapolate(known - 1, error, w->off_before, N, N);
    for (j = 0; j < N && largest(off, N) <= C_FAR_GUESS; j++) p_next[j] += error[j];
  }
  if (status != STATUS_LOOP_OPEN) status = solve_unilateral(p, pd, u, kick, h, alpha, p_next, pd_next, off == 0, known, w);
  w->off[N] = status != 0 ? 0.0 : known < 3 ? known + 1.0 : 3.0; /* for the next step's warm start */
  if (status == 0) {
    for (j = 0; off != 0 && j < N; j++) off[j] = p_next[j] - guess[j];
#if ROWS
    closing_kernel(p_next, alpha, w->loop.gap, w->loop.every, w->kernel);
    if (refuted_loops(w->loop.gap, 0, w->loop.every, pd_next)) status = STATUS_STEP_REFUTED;
#endif
  }
  return status;
}

#if !EXACT
/* The impulses of a stage whose solution is known: Newton's method from that solution, else the whole search. */
static int recover_stage(Stage *s, const double *known, double *loops, double *impulse, Work *w) {
  double *x = w->known;
  memset(w->rho, 0, RHOS * sizeof(double));
  memset(loops, 0, ROWS * sizeof(double));
  memcpy(x, known, N * sizeof(double));
  cold(s, x, C_HUGE, impulse, w);
  if (descend(s, x, loops, impulse, C_CONE_FIRST, 0.0, w) == 0) return 0;
  memcpy(x, known, N * sizeof(double));
  return solve_stage(s, x, loops, impulse, 0, w) == 0 ? 0 : STATUS_LIMIT_NOT_RESOLVED;
}

/* The impulses of a step whose start and end are given. */
static int recover_once(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                   const double *p_next, const double *pd_next, Work *w) {
  double *L = w->pose.multipliers, *H = w->rate.multipliers;
  Stage s;
  int j;
  start_kernel(p, pd, u, h, alpha, w->model, w->record, w->terms, w->known, w->loop.first, w->loop.gap, w->energy, w->kernel);
  begin(&s, p, pd, u, h, alpha, w);
  if (recover_stage(&s, p_next, L, w->push, w) != 0) return STATUS_LIMIT_NOT_RESOLVED;
#if BOUNCING
  if (!same_end(w->known, p_next)) return STATUS_LIMIT_NOT_RESOLVED;
#endif
  start_rate_stage(&s, p_next, L, w->push, w);
  if (recover_stage(&s, pd_next, H, w->push_rate, w) != 0) return STATUS_LIMIT_NOT_RESOLVED;
#if BOUNCING
  if (!same_end(w->known, pd_next)) return STATUS_LIMIT_NOT_RESOLVED;
#endif
  for (j = 0; j < ROWS; j++) {
    L[j] *= h[0];
    H[j] *= h[0];
  }
  return 0;
}

/* recover_once with the share of restitution that leads to the given end. */
static int recover(const double *p, const double *pd, const double *u, const double *h, const double *alpha,
                   const double *p_next, const double *pd_next, Work *w) {
#if BOUNCING
  int k, status = STATUS_LIMIT_NOT_RESOLVED;
  for (k = 0; k < KEPTS && status != 0; k++) {
    w->bounce.kept[0] = kept_shares[k];
    status = recover_once(p, pd, u, h, alpha, p_next, pd_next, w);
    if (!rebounding(w)) break;
  }
  return status;
#else
  return recover_once(p, pd, u, h, alpha, p_next, pd_next, w);
#endif
}
#endif

/* Rates at a node of a transcription from its momentum, with joint friction whose coefficients are those at the rates `begun`. */
static int node_rate(const double *h, const double *p, const double *begun, const double *alpha, double *rate, Work *w) {
  Stage s;
  int j;
  s.p = s.end = p;
  s.pd = begun;
  s.h = h;
  s.alpha = alpha;
  s.least = 0.0;
  s.acting = s.apart = s.linear = s.known = s.factored = s.seen = s.spent = 0;
  memset(rate, 0, N * sizeof(double));
  memset(w->rate.multipliers, 0, ROWS * sizeof(double));
  if (descend(&s, rate, w->rate.multipliers, w->push_rate, C_MAX_RATE, 0.0, w) != 0) return STATUS_RATE_NOT_FOUND;
  for (j = 0; j < ROWS; j++) w->rate.multipliers[j] *= h[0];
  return 0;
}

#endif

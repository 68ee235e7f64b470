/* Judges a step that was found, by what it is and not by how it was solved. */
#ifndef CERTIFICATE_INCLUDED
#define CERTIFICATE_INCLUDED
#include "products.h"
#if SIDES
#include "joint_limits.h"
#endif
#if CONTACTS
#include "contact_rows.h"
#endif
#if TURNED
#include "discs.h"
#endif
#if BOUNCING
#include "rebounds.h"
#endif

/* Depths of penetration at the start of a step, which `refuted` allows for. */
static void depths(const double *p, const double *alpha, Work *w) {
  int k;
#if SIDES
  for (k = 0; k < SIDES; k++) {
    const double gap = side_gap(alpha, p, k);
    w->depth[k] = gap < 0.0 ? w->lead[k] - gap : 0.0; /* the way it is led inwards */
  }
#else
  (void)p;
  (void)alpha;
#endif
  for (k = 0; k < CONTACTS; k++) w->depth[SIDES + k] = w->contact.gap[k] < 0.0 ? -w->contact.gap[k] : 0.0;
}

/* Whether an impulse lies outside its cone, or a penetration is deeper than the smoothing allows. */
static int pushed_wrongly(const double *h, const double *alpha, const double *p_next, const Work *w) {
  const double *first = w->push, *second = w->push_rate;
  const double small = C_CERTAIN_IMPULSE * (largest(first, PUSHES) + largest(second, PUSHES));
#if SIDES || CONTACTS
  int k;
#endif
#if SIDES
  for (k = 0; k < SIDES; k++) {
    if (!(first[k] >= -small && second[k] >= -small && side_gap(alpha, p_next, k) - w->lead[k] >= -C_CERTAIN_GAP)) return 1;
  }
#else
  (void)alpha;
  (void)p_next;
#endif
#if CONTACTS
  for (k = 0; k < CONTACTS; k++) {
    const double *law = w->contact.law + LAW * k, *a = first + SIDES + touch_row[k], *b = second + SIDES + touch_row[k];
    double smooth = 0.5 * h[0] * law[LAW_SLIP], open = w->contact.gap[k] + C_CERTAIN_GAP;
    if (law[LAW_COMPLIANCE] > 0.0) open += 2.0 * law[LAW_COMPLIANCE] * a[0] / h[0];
    if (!(a[0] >= -small && b[0] >= -small)) return 1;
    if (touch_size(k) >= 3) {
      const double most = law[LAW_FRICTION] * a[0] + small, other = law[LAW_FRICTION] * b[0] + small;
      smooth *= law[LAW_FRICTION];
      open += smooth;
      if (!(a[1] * a[1] + a[2] * a[2] <= most * most && b[1] * b[1] + b[2] * b[2] <= other * other)) return 1;
    }
#if TURNED
    if (touch_size(k) > 3 && (turned_wrongly(k, a, small) || turned_wrongly(k, b, small))) return 1;
#endif
    if (!(open >= 0.0)) return 1;
  }
#else
  (void)h;
#endif
#if !SIDES && !CONTACTS
  (void)small;
#endif
  return 0;
}

#if !WRENCHES
/* Upper bound of the energy from limits and contacts: the work of the smoothing, and of pushing out what started inside. */
static double pushes_gave(const double *h, const double *alpha, const Work *w) {
  const double *first = w->push, *second = w->push_rate, half = 0.5 * h[0], inverse = 1.0 / h[0];
  double given = 0.0;
#if SIDES || CONTACTS
  int k;
#endif
#if SIDES
  for (k = 0; k < SIDES; k++) given += 2.0 * (first[k] * w->depth[k] * inverse + half * alpha[LIMIT_LOAD] * alpha[LIMIT_SLIP]);
#endif
  (void)alpha;
  (void)second;
  (void)first;
  (void)half;
  (void)inverse;
#if CONTACTS
  for (k = 0; k < CONTACTS; k++) {
    const double *law = w->contact.law + LAW * k, *a = first + SIDES + touch_row[k], *b = second + SIDES + touch_row[k];
    const double smooth = half * law[LAW_SLIP] * (touch_size(k) >= 3 ? 2.0 * law[LAW_FRICTION] : 1.0);
    if (law[LAW_COMPLIANCE] > 0.0 && w->contact.gap[k] < 0.0) given -= 2.0 * inverse * b[0] * w->contact.gap[k];
    given += 2.0 * (a[0] * w->depth[SIDES + k] * inverse + smooth * law[LAW_LOAD]);
  }
#endif
  return given;
}

/* Tolerance of the energy balance, from `turned` (sum of the squared turns) and `most` (the larger kinetic energy).
 * A chord is across its tangent by half a turn, 1 - cos(turn) instead of turn^2/2: a quarter of the squared turn of the energy, and of
 * the springs'. What changes the momenta acts along the pose of one end, half a turn off the chord: half a turn of the product, in
 * the norm of the inertia, of that change (its square: change of rates times change of momenta) and of the momenta themselves. */
static double may_be_off(const double *p, const double *pd, const double *u, const double *kick, const double *h,
                         const double *alpha, const double *p_next, const double *pd_next, double turned, double most,
                         const Work *w) {
  const double *M = w->mass, *energy = w->energy, *terms = w->terms, inverse = 1.0 / h[0], half = 0.5 * h[0];
  double off = pushes_gave(h, alpha, w), change = 0.0;
  int i, j;
  for (j = 0; j < N; j++) {
    const double moved = p_next[j] - p[j];
    double held = -inverse * terms[j];
    for (i = 0; i < N; i++) held += M[i + N * j] * pd_next[i];
    change += held * (pd_next[j] - pd[j]);
    off += fabs(u[j] * (moved - half * (pd[j] + pd_next[j])));
    if (kick != 0) off += fabs(kick[j] * pd_next[j]) + fabs(kick[j] * moved) * inverse;
  }
#if ROWS
#if BOUNCING
  if (rebounding(w)) off += 0.25 * turned * most; /* not C_GAINED: repeated bounces would add it up */
  else
#endif
    off += C_GAINED * most; /* gain of rows along a chord: see loops_closed.h */
#endif
#if BOUNCING
  /* A rebound keeps its energy, so no dissipation hides a gain (with friction, Newton's law of restitution may gain energy: Kane and
   * Levinson 1985). Tolerated is what the chord is shorter than its arc. */
  if (rebounding(w)) return off + turned * most / 12.0 + 0.25 * (energy[2] + energy[4]) + C_BOUNCED * most;
#endif
  return off + 0.25 * (turned * most + energy[2] + energy[4]) + sqrt(0.5 * turned * most * fabs(change)) +
         C_CERTAIN_ENERGY * (most + fabs(energy[1]) + fabs(energy[3]));
}

#endif
/* The certificate of a step, independent of how it was solved; not 0: it is refuted. A turn differs from the mean of both ends' rates by
 * at most `most_off`: beyond it sin(turn) = h rate has other solutions. Rows are closed. Impulses are in their cones. Energy comes
 * from torques, gravity and springs alone; the tolerance is computed only if energy grew. */
static int refuted(const double *p, const double *pd, const double *u, const double *kick, const double *h, const double *alpha,
                   const double *p_next, const double *pd_next, Work *w) {
  const double half = 0.5 * h[0];
#if BOUNCING
  const double most_off = rebounding(w) ? C_BOUNCED_OFF : C_MOST_OFF;
#else
  const double most_off = C_MOST_OFF;
#endif
#if !WRENCHES
  const double *M = w->mass, *energy = w->energy;
  double kinetic = 0.0, given = 0.0, turned = 0.0, most;
#endif
  int i, j;
  for (j = 0; j < N; j++) {
    const double moved = p_next[j] - p[j], off = fabs(moved - half * (pd[j] + pd_next[j]));
#if !WRENCHES
    const double fast = h[0] * (fabs(pd[j]) > fabs(pd_next[j]) ? pd[j] : pd_next[j]);
    double held = 0.0;
    for (i = 0; i < N; i++) held += M[i + N * j] * pd_next[i];
    kinetic += held * pd_next[j];
    given += u[j] * moved;
    if (turning[j]) turned += fast * fast;
#endif
    if (turning[j]) {
      if (!(off <= most_off)) return 1;
    } else if (!(off <= C_HUGE)) {
      return 1;
    }
  }
#if ROWS
  for (j = 0; j < ROWS; j++) {
    double rate = 0.0, size = 0.0;
    for (i = 0; i < N; i++) {
      const double part = w->loop.last[j + ROWS * i] * pd_next[i];
      rate += part;
      size += fabs(part);
    }
    if (!(fabs(w->loop.gap[j]) <= C_OPEN && fabs(rate) <= C_RATE_LEFT * (1.0 + size))) return 1;
  }
#endif
  if (pushed_wrongly(h, alpha, p_next, w) != 0) return 1;
#if WRENCHES
  (void)u;
  (void)kick;
  (void)i;
  return 0; /* a wrench with a fixed axis in the world has no potential: energy is not checked */
#else
  kinetic *= 0.5;
  most = energy[0] > kinetic ? energy[0] : kinetic;
  given = kinetic + energy[3] + energy[4] - (energy[0] + energy[1] + energy[2] + given);
  if (given <= 0.0) return 0;
  return !(given <= may_be_off(p, pd, u, kick, h, alpha, p_next, pd_next, turned, most, w));
#endif
}

#endif

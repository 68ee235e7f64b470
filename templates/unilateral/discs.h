/* Spinning (0) and rolling (1) friction of contacts, as impulses divided by their lever arms: rows after the three of sliding. See
 * codegen/joint_space/contact/discs.py. */
#ifndef DISCS_INCLUDED
#define DISCS_INCLUDED
#include "contact_rows.h"

static int disc_size(int k, int kind) {
  const int more = touch_size(k) - 3;
  return kind == 0 ? (more == 1 || more == 3) : more >= 2 ? 2 : 0;
}
static int disc_row(int k, int kind) { return kind == 0 ? 3 : 3 + disc_size(k, 0); }

/* Appends spinning and rolling to row, x and G (3 x 3) of sliding. normal: impulse that the contact's cone requires; rho: of both
 * kinds. */
static void add_discs(int k, const double *impulse, double normal, const double *rate, const double *h, const double *law,
                      const double *rho, double *row, double *x, double *G, Work *w) {
  const int size = touch_size(k);
  double sliding[9];
  int kind, q, r;
  memcpy(sliding, G, sizeof sliding);
  memset(G, 0, (size_t)(size * size) * sizeof(double));
  for (r = 0; r < 3; r++) {
    for (q = 0; q < 3; q++) G[q + size * r] = sliding[q + 3 * r];
  }
  for (kind = 0; kind < 2; kind++) {
    const int at = disc_row(k, kind), count = disc_size(k, kind);
    const double slip = law[LEVERS + kind] * law[LAW_SLIP];
    double lean[2] = {0.0, 0.0}, own[4] = {0.0};
    if (count == 0) continue;
#if SPUN
    if (count == 1) spun_kernel(&normal, impulse + at, rate + at, h, law + LAW_LOAD, &slip, rho, row + at, x + at, lean, own, w->kernel);
#endif
#if ROLLED
    if (count == 2) {
      rolled_kernel(&normal, impulse + at, rate + at, h, law + LAW_LOAD, &slip, rho + 1, row + at, x + at, lean, own, w->kernel);
    }
#endif
    for (q = 0; q < count; q++) {
      x[at + q] -= lean[q] * (impulse[0] - normal - x[0]);
      for (r = 0; r < 3; r++) G[at + q + size * r] = lean[q] * sliding[3 * r];
      for (r = 0; r < count; r++) G[at + q + size * (at + r)] = own[q + count * r];
    }
  }
}

/* Spinning and rolling impulses of a distant contact, evaluated explicitly; 0: it is not distant. */
static int far_discs(int k, double *impulse, const double *rate, const double *h, const double *law, const double *rho, Work *w) {
  int kind, far = 1;
  for (kind = 0; kind < 2; kind++) {
    const int at = disc_row(k, kind), count = disc_size(k, kind);
    const double slip = law[LEVERS + kind] * law[LAW_SLIP];
    double by = 0.0;
    if (count == 0) continue;
#if SPUN
    if (count == 1) spun_far_kernel(impulse, rate + at, h, law + LAW_LOAD, &slip, impulse + at, &by, w->kernel);
#endif
#if ROLLED
    if (count == 2) rolled_far_kernel(impulse, rate + at, h, law + LAW_LOAD, &slip, impulse + at, &by, w->kernel);
#endif
    far &= by <= C_CONE_FAR * rho[kind];
  }
  return far;
}

/* Whether a spinning or rolling impulse lies outside its disc. */
static int turned_wrongly(int k, const double *impulse, double small) {
  const double most = impulse[0] + small;
  int kind, q, wrong = 0;
  for (kind = 0; kind < 2; kind++) {
    double square = 0.0;
    for (q = 0; q < disc_size(k, kind); q++) square += impulse[disc_row(k, kind) + q] * impulse[disc_row(k, kind) + q];
    wrong |= !(square <= most * most);
  }
  return wrong;
}

/* Gradients of these impulses by rates, h and law; that by the normal impulse is added to pull[0]. */
static void disc_gradients(int k, const double *impulse, const double *rate, const double *h, const double *law, double *pull,
                           double *rate_bar, double *h_bar, double *law_bar, Work *w) {
  int kind;
  for (kind = 0; kind < 2; kind++) {
    const int at = disc_row(k, kind), count = disc_size(k, kind);
    const double slip = law[LEVERS + kind] * law[LAW_SLIP];
    double slip_bar = 0.0;
    if (count == 0) continue;
#if SPUN
    if (count == 1) {
      spun_parameters_kernel(impulse, impulse + at, rate + at, h, law + LAW_LOAD, &slip, pull + at, pull, rate_bar + at, h_bar,
                             law_bar + LAW_LOAD, &slip_bar, w->kernel);
    }
#endif
#if ROLLED
    if (count == 2) {
      rolled_parameters_kernel(impulse, impulse + at, rate + at, h, law + LAW_LOAD, &slip, pull + at, pull, rate_bar + at, h_bar,
                               law_bar + LAW_LOAD, &slip_bar, w->kernel);
    }
#endif
    law_bar[LEVERS + kind] += slip_bar * law[LAW_SLIP];
    law_bar[LAW_SLIP] += slip_bar * law[LEVERS + kind];
  }
}

#endif

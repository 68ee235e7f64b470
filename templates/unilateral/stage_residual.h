/* The residual of a stage. */
#ifndef STAGE_RESIDUAL_INCLUDED
#define STAGE_RESIDUAL_INCLUDED
#include "products.h"
#include "stage.h"
#if SIDES
#include "joint_limits.h"
#endif
#if CONTACTS
#include "contacts.h"
#endif

/* Residual of a stage at x (pose or rates) and the given impulses of loops and unilateral rows, with the slopes that `newton` needs.
 * Returns its squared norm. Units are momenta: the pose stage is divided by h. Impulses of distant rows are outputs. */
static double evaluate(Stage *s, const double *x, const double *loops, double *impulse, Work *w) {
  double *F = w->gradient, *D = w->slopes, *g = w->loop.gap, *A = w->loop.last;
  const double *model = w->model, *along = s->end ? A : w->loop.first, scale = s->end ? 1.0 : 1.0 / s->h[0];
  double sum = 0.0;
  int i, j, k;
  s->approached = 0;
  s->spent++;
  if (s->fresh) s->factored = 0;
  if (s->end != 0 && s->linear && !s->fresh) {
    for (i = 0; i < N; i++) F[i] = -w->momentum[i];
    for (j = 0; j < N; j++) {
      for (i = 0; i < N; i++) F[i] += D[i + N * j] * x[j];
    }
    product(A, x, ROWS, N, 1, 1.0, 0.0, g);
  } else if (s->end != 0) {
    s->factored = 0;
    rate_system_kernel(w->mass, w->momentum, s->h, x,
#if LAGGING
                       s->pd,
#endif
                       s->alpha, model, F, D, w->kernel);
    product(A, x, ROWS, N, 1, 1.0, 0.0, g);
  } else if (s->fresh) {
    pose_kernel(x, s->p, w->record, w->terms, s->alpha, model, F, D, g, A, w->kernel);
  } else if (s->landing) {
    landing_kernel(x, s->p, w->record, w->terms, s->u, s->h, s->alpha, model, F, w->momentum, w->mass, g, A,
                   w->energy + 3, w->kernel);
  } else {
    residual_kernel(x, s->p, w->record, w->terms, s->alpha, model, F, g, A, w->kernel);
  }
  for (i = 0; i < N; i++) {
    F[i] *= scale;
    for (k = 0; k < ROWS; k++) F[i] -= along[k + ROWS * i] * loops[k];
  }
  for (k = 0; k < ROWS; k++) sum += g[k] * g[k] * scale * scale;
  s->rows = 0.0;
  if (s->acting) {
#if SIDES
    s->rows += add_sides(s, x, impulse, F, w);
#endif
#if CONTACTS
    s->rows += add_contacts(s, x, impulse + SIDES, F, w);
#endif
    s->classified = 1;
    sum += s->rows;
  }
  for (j = 0; j < N; j++) sum += F[j] * F[j];
  return sum;
}

#endif

/* A torque u on a floating base is constant in fixed axes: the generalised torque on its three hinges is E^T u, with E as in
 * floating.c (identity at the start of a step). */
#ifndef TURNED_TORQUE_INCLUDED
#define TURNED_TORQUE_INCLUDED
#include "constrained_work.h"

static void on_hinges(const double *p, const double *u, double *torque) {
  const double c1 = cos(p[3]), s1 = sin(p[3]), c2 = cos(p[4]), s2 = sin(p[4]);
  torque[0] = u[3];
  torque[1] = c1 * u[4] + s1 * u[5];
  torque[2] = s2 * u[3] - s1 * c2 * u[4] + c1 * c2 * u[5];
}

/* Half a step's impulse at its end: replaces u of the hinges by E^T u. */
static void turn_torque(const double *h, const double *u, const double *p_next, double *momentum) {
  double torque[3];
  int i;
  on_hinges(p_next, u, torque);
  for (i = 0; i < 3; i++) momentum[3 + i] += 0.5 * h[0] * (torque[i] - u[3 + i]);
}

/* Adds derivatives of -h^2/2 E^T u by the pose to a block by poses. */
static void turn_slopes(const double *p, const double *u, const double *h, double *K) {
  const double c1 = cos(p[3]), s1 = sin(p[3]), c2 = cos(p[4]), s2 = sin(p[4]), half = 0.5 * h[0] * h[0];
  K[4 + 3 * N] -= half * (c1 * u[5] - s1 * u[4]);
  K[5 + 3 * N] -= half * -c2 * (c1 * u[4] + s1 * u[5]);
  K[5 + 4 * N] -= half * (c2 * u[3] + s2 * (s1 * u[4] - c1 * u[5]));
}

/* Columns 3 to 5 of J by the torque in fixed axes instead of the hinges': J E^T. */
static void turn_columns(const double *p_next, double *J) {
  int i, k;
  for (k = 0; k < N; k++) {
    double column[3];
    for (i = 0; i < 3; i++) {
      double unit[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, torque[3];
      unit[3 + i] = 1.0;
      on_hinges(p_next, unit, torque);
      column[i] = J[k + 3 * N] * torque[0] + J[k + 4 * N] * torque[1] + J[k + 5 * N] * torque[2];
    }
    for (i = 0; i < 3; i++) J[k + (3 + i) * N] = column[i];
  }
}

#endif

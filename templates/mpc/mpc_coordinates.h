/* Coordinates of mpc.c: positions, with a floating base's orientation as a rotation relative to the node's own quaternion. */

static int unit(const double *q) {
  return fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) <= C_UNIT;
}

/* Coordinates (X) of a node's state; the relative rotation is zero. */
static void coordinates(const double *p, const double *pd, double *x) {
  int i;
  for (i = 0; i < BASE / 2; i++) x[i] = p[i], x[3 + i] = 0.0;
  for (i = BASE; i < N; i++) x[i] = p[i + FLOATING];
  memcpy(x + N, pd, N * sizeof(double));
}

#include "turned.h"

/* turn = 2 vec(r) with r = p q^-1 and scalar part r0 >= 0, which is returned. */
static double turn_between(const double *q, const double *p, double *turn) {
  const double r0 = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3], sign = r0 < 0.0 ? -1.0 : 1.0;
  const double x = sign * (p[1] * q[0] - p[0] * q[1] - p[2] * q[3] + p[3] * q[2]);
  const double y = sign * (p[2] * q[0] - p[0] * q[2] - p[3] * q[1] + p[1] * q[3]);
  const double z = sign * (p[3] * q[0] - p[0] * q[3] - p[1] * q[2] + p[2] * q[1]);
  turn[0] = 2.0 * x, turn[1] = 2.0 * y, turn[2] = 2.0 * z;
  return fabs(r0);
}

/* Difference of two positions in coordinates (N); returns r0 of `turn_between`. */
static double way_between(const double *from, const double *other, double *way) {
  int i;
  for (i = BASE; i < N; i++) way[i] = other[i + FLOATING] - from[i + FLOATING];
  for (i = 0; i < BASE / 2; i++) way[i] = other[i] - from[i];
  return FLOATING ? turn_between(from + 3, other + 3, way + 3) : 1.0;
}

/* Position p at x + step (to - x) in coordinates; q: the quaternion at x. */
static void place(const double *x, const double *q, const double *to, double step, double *p) {
  double way[N];
  int i;
  for (i = 0; i < N; i++) way[i] = step * (to[i] - x[i]);
  for (i = BASE; i < N; i++) p[i + FLOATING] = x[i] + way[i];
  for (i = 0; i < BASE / 2; i++) p[i] = x[i] + way[i];
  if (FLOATING) turned(q, way + 3, p + 3);
}

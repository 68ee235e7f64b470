/* Coordinates of mpc.c: of a base that floats, its turn counted from a node's own quaternion; else positions as they are. */

static int unit(const double *q) {
  return fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) <= C_UNIT;
}

/* Coordinates (X) of a node's state, whose own turn is zero. */
static void coordinates(const double *p, const double *pd, double *x) {
  int i;
  for (i = 0; i < BASE / 2; i++) x[i] = p[i], x[3 + i] = 0.0;
  for (i = BASE; i < N; i++) x[i] = p[i + FLOATING];
  memcpy(x + N, pd, N * sizeof(double));
}

#include "turned.h"

/* 2 vec(r) with r = p q^-1, whose scalar part, not negative, comes back. */
static double turn_between(const double *q, const double *p, double *turn) {
  const double r0 = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3], sign = r0 < 0.0 ? -1.0 : 1.0;
  const double x = sign * (p[1] * q[0] - p[0] * q[1] - p[2] * q[3] + p[3] * q[2]);
  const double y = sign * (p[2] * q[0] - p[0] * q[2] - p[3] * q[1] + p[1] * q[3]);
  const double z = sign * (p[3] * q[0] - p[0] * q[3] - p[1] * q[2] + p[2] * q[1]);
  turn[0] = 2.0 * x, turn[1] = 2.0 * y, turn[2] = 2.0 * z;
  return fabs(r0);
}

/* The way from one position to another as coordinates (N); comes back: of `turn_between`. */
static double way_between(const double *from, const double *other, double *way) {
  int i;
  for (i = BASE; i < N; i++) way[i] = other[i + FLOATING] - from[i + FLOATING];
  for (i = 0; i < BASE / 2; i++) way[i] = other[i] - from[i];
  return FLOATING ? turn_between(from + 3, other + 3, way + 3) : 1.0;
}

/* The position that is `step` of the way from coordinates x, with quaternion q, to coordinates `to`. */
static void place(const double *x, const double *q, const double *to, double step, double *p) {
  double way[N];
  int i;
  for (i = 0; i < N; i++) way[i] = step * (to[i] - x[i]);
  for (i = BASE; i < N; i++) p[i + FLOATING] = x[i] + way[i];
  for (i = 0; i < BASE / 2; i++) p[i] = x[i] + way[i];
  if (FLOATING) turned(q, way + 3, p + 3);
}

/* Transforms between the world and the base's frame at the start of a step, in which the tree is computed. */

/* Stores the base's rotation matrix (row by row), its position and the parameters in w. Not 0: the quaternion has no unit length. */
static int see_from(const double *p, const double *alpha, Work *w) {
  const double *q = p + 3;
  double *frame = w->frame;
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  double s, x, y, z, a, b, d;
  if (!(fabs(square - 1.0) <= C_UNIT)) return STATUS_BASE_QUATERNION;
  s = 2.0 / square;
  x = q[1], y = q[2], z = q[3];
  a = s * q[0] * x, b = s * q[0] * y, d = s * q[0] * z;
  memcpy(w->alpha, alpha, NA * sizeof(double));
  frame[0] = 1.0 - s * (y * y + z * z), frame[1] = s * x * y - d, frame[2] = s * x * z + b;
  frame[3] = s * x * y + d, frame[4] = 1.0 - s * (x * x + z * z), frame[5] = s * y * z - a;
  frame[6] = s * x * z - b, frame[7] = s * y * z + a, frame[8] = 1.0 - s * (x * x + y * y);
  memcpy(frame + 9, p, 3 * sizeof(double));
  return 0;
}

/* y = R x, or R^T x. */
static void turn(const double *R, const double *x, double *y) {
  int i;
  for (i = 0; i < 3; i++) y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}
static void turn_back(const double *R, const double *x, double *y) {
  int i;
  for (i = 0; i < 3; i++) y[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

/* Rotates both 3-vectors of the base and copies the joints: `out_of` to the world, `into` to the frame. */
static void out_of(const double *R, const double *x, double *y) {
  turn(R, x, y);
  turn(R, x + 3, y + 3);
  memcpy(y + 6, x + 6, (N - 6) * sizeof(double));
}
static void into(const double *R, const double *x, double *y) {
  turn_back(R, x, y);
  turn_back(R, x + 3, y + 3);
  memcpy(y + 6, x + 6, (N - 6) * sizeof(double));
}

/* E(a), row by row: angular velocity = E(a) a'. hinges_turn: derivative of E(a) r by a. */
static void hinges(const double *a, double *E) {
  const double c1 = cos(a[0]), s1 = sin(a[0]), c2 = cos(a[1]), s2 = sin(a[1]);
  E[0] = 1.0, E[1] = 0.0, E[2] = s2;
  E[3] = 0.0, E[4] = c1, E[5] = -s1 * c2;
  E[6] = 0.0, E[7] = s1, E[8] = c1 * c2;
}
static void hinges_turn(const double *a, const double *r, double *C) {
  const double c1 = cos(a[0]), s1 = sin(a[0]), c2 = cos(a[1]), s2 = sin(a[1]);
  C[0] = 0.0, C[1] = c2 * r[2], C[2] = 0.0;
  C[3] = -s1 * r[1] - c1 * c2 * r[2], C[4] = s1 * s2 * r[2], C[5] = 0.0;
  C[6] = c1 * r[1] - s1 * c2 * r[2], C[7] = -c1 * s2 * r[2], C[8] = 0.0;
}

static void multiply(const double *p, const double *q, double *r) {
  r[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
  r[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
  r[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
  r[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

/* The start of a step in coordinates of the tree. */
static int enter(const double *p, const double *pd, const double *u, const double *alpha, Work *w) {
  if (see_from(p, alpha, w) != 0) return STATUS_BASE_QUATERNION;
  memset(w->p, 0, 6 * sizeof(double));
  memcpy(w->p + 6, p + 7, (N - 6) * sizeof(double));
  into(w->frame, pd, w->pd);
  into(w->frame, u, w->u);
  return 0;
}

/* The end of the tree's step in the world. */
static void leave(const double *p, double *p_next, double *pd_next, const Work *w) {
  const double *R = w->frame, *s = w->p_end, *a = s + 3, *rates = w->pd_end;
  double step[3], q[4], E[9], turned[3], half[3][2], size;
  int i;
  for (i = 0; i < 3; i++) half[i][0] = cos(0.5 * a[i]), half[i][1] = sin(0.5 * a[i]);
  {
    const double x[4] = {half[0][0], half[0][1], 0.0, 0.0}, y[4] = {half[1][0], 0.0, half[1][1], 0.0};
    const double z[4] = {half[2][0], 0.0, 0.0, half[2][1]};
    double xy[4], all[4];
    multiply(x, y, xy);
    multiply(xy, z, all);
    multiply(p + 3, all, q);
  }
  size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  turn(R, s, step);
  for (i = 0; i < 3; i++) p_next[i] = p[i] + step[i];
  for (i = 0; i < 4; i++) p_next[3 + i] = q[i] / size;
  memcpy(p_next + 7, s + 6, (N - 6) * sizeof(double));
  hinges(a, E);
  turn(E, rates + 3, turned);
  turn(R, rates, pd_next);
  turn(R, turned, pd_next + 3);
  memcpy(pd_next + 6, rates + 6, (N - 6) * sizeof(double));
}

/* s: position `other` in coordinates of the tree; p: the position that w's frame belongs to. */
static void seen(const double *p, const double *other, double *s, const Work *w) {
  const double *R = w->frame;
  const double back[4] = {p[3], -p[4], -p[5], -p[6]};
  double step[3], q[4], S[9], f;
  int i;
  for (i = 0; i < 3; i++) step[i] = other[i] - p[i];
  turn_back(R, step, s);
  multiply(back, other + 3, q);
  f = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  S[0] = 1.0 - f * (q[2] * q[2] + q[3] * q[3]), S[1] = f * (q[1] * q[2] - q[0] * q[3]), S[2] = f * (q[1] * q[3] + q[0] * q[2]);
  S[5] = f * (q[2] * q[3] - q[0] * q[1]), S[8] = 1.0 - f * (q[1] * q[1] + q[2] * q[2]);
  s[3] = atan2(-S[5], S[8]);
  s[4] = atan2(S[2], sqrt(S[5] * S[5] + S[8] * S[8]));
  s[5] = atan2(-S[1], S[0]);
  memcpy(s + 6, other + 7, (N - 6) * sizeof(double));
}

/* Rates at position s in coordinates of the tree. */
static void seen_rates(const double *pd, const double *s, double *rates, const Work *w) {
  const double *R = w->frame;
  double E[9], x, y;
  into(R, pd, rates);
  hinges(s + 3, E);
  x = E[4] * rates[4] + E[7] * rates[5];
  y = (E[4] * rates[5] - E[7] * rates[4]) / cos(s[4]);
  rates[3] -= E[2] * y;
  rates[4] = x;
  rates[5] = y;
}

/* The inequalities of a stage: their left sides, their opposite bounds and their scales. */

/* Left sides of the 8 N inequalities  row . z <= d  of a stage: torque, change of torque, state; upper and lower. */
static void sides(const double *u, const double *last, const double *x, double *side) {
  int i;
  for (i = 0; i < N; i++) {
    side[i] = u[i];
    side[N + i] = -u[i];
    side[2 * N + i] = u[i] - last[i];
    side[3 * N + i] = last[i] - u[i];
  }
  for (i = 0; i < X; i++) {
    side[SOFT + i] = x[i];
    side[SOFT + X + i] = -x[i];
  }
}

static double clamp(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

/* Index of the inequality for the opposite bound. */
static int opposite(int i) {
  if (i < SOFT) return i / N % 2 ? i - N : i + N;
  return i < SOFT + X ? i + X : i - X;
}

/* Scale of the slack of inequality i. */
static double scale_of(const Problem *o, int i) {
  const double half = 0.5 * (o->d[i] + o->d[opposite(i)]);
  return C_MPC_INSIDE * (half < C_MPC_NONE ? half : 1.0);
}

/* Torque i clamped to its bounds and to its change from `last`; 0 without a motor. */
static double allowed(const double *d, int i, double value, double last) {
  return motor[i] ? clamp(clamp(value, last - d[2 * N + i], last + d[2 * N + i]), -d[N + i], d[i]) : 0.0;
}

/* The normalised quaternion (1, turn / 2) q. */
static void turned(const double *q, const double *turn, double *to) {
  const double x = 0.5 * turn[0], y = 0.5 * turn[1], z = 0.5 * turn[2];
  double size;
  int i;
  to[0] = q[0] - x * q[1] - y * q[2] - z * q[3];
  to[1] = q[1] + x * q[0] + y * q[3] - z * q[2];
  to[2] = q[2] + y * q[0] + z * q[1] - x * q[3];
  to[3] = q[3] + z * q[0] + x * q[2] - y * q[1];
  size = sqrt(to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + to[3] * to[3]);
  for (i = 0; i < 4; i++) to[i] /= size;
}

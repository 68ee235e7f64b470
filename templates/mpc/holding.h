/* Motor torques u (N) that hold the pose p at rest: gravity less springs; with closed loops those of inverse_dynamics less sensor
 * offsets; 0 without a motor. `parts` (HOLDING) and `kernel` are work; returns the status of the functions called. */
static int hold(const double *p, const double *alpha, double *parts, double *kernel, double *u) {
  const double *in[4];
  double *out[3];
  int i, status;
#if CLOSED
  memset(parts, 0, NP * sizeof(double));
  in[0] = p, in[1] = in[2] = parts, in[3] = alpha;
  out[0] = u, out[1] = parts + NP, out[2] = parts + 2 * NP;
  status = ROBOT(inverse_dynamics)(in, out, kernel);
  for (i = 0; i < N; i++) u[i] = motor[i] ? u[i] - alpha[torque_offset[i]] : 0.0;
#else
  in[0] = p, in[1] = alpha;
  out[0] = u;
  status = ROBOT(gravity)(in, out, kernel);
  out[0] = parts;
  if (status == 0) status = ROBOT(spring_torque)(in, out, kernel);
  for (i = 0; i < N; i++) u[i] = motor[i] ? u[i] - parts[i] : 0.0;
#endif
  return status;
}

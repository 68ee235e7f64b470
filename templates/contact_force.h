/* Mean forces over a step on the spheres of all contacts, world axes; iterations of both stages, and whether slip was followed down
 * to its value in either. */
HIDDEN int STEP(contact_force)(const double *const *in, double *const *out, double *work) {
  double *p_next = work + W_BAR, *pd_next = p_next + N, *frames = work + W_FRAMES;
  int k, r, i, stage, status;
  prepare(in[4], work);
  memset(out[0], 0, 3 * CONTACTS * sizeof(double));
  memset(work + W_COUNT, 0, 4 * sizeof(double));
  status = advance(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, work);
  memcpy(out[1], work + W_COUNT, 4 * sizeof(double));
  if (status != 0) return status;
  for (stage = 0; stage < 2; stage++) {
    const double *impulse = work + (stage ? W_PUSH_RATE : W_PUSH) + SIDES;
    directions_kernel(stage ? p_next : in[0], work + W_SIGN, in[4], work + W_MODEL, frames, work + W_KERNEL);
    for (k = 0; k < CONTACTS; k++) {
      for (r = 0; r < touch_size(k); r++) {
        for (i = 0; i < 3; i++) out[0][i + 3 * k] += frames[9 * k + 3 * r + i] * impulse[touch_row[k] + r] / in[3][0];
      }
    }
  }
  return 0;
}

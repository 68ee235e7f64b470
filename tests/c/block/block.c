/* What mpc.c and torque_estimation.c call: the implicit Euler step, of mass alpha[0] under friction alpha[1]. */
#include "robot.h"

static void move(const double *const *in, double kick, const double *h, const double *alpha, double *const *out) {
  out[1][0] = (alpha[0] * in[1][0] + h[0] * in[2][0] + kick) / (alpha[0] + h[0] * alpha[1]);
  out[0][0] = in[0][0] + h[0] * out[1][0];
}

static void slopes(const double *h, const double *alpha, double *const *block) {
  const double lead = alpha[0] + h[0] * alpha[1];
  block[3][0] = 0.0, block[4][0] = alpha[0] / lead, block[5][0] = h[0] / lead;
  block[0][0] = 1.0, block[1][0] = h[0] * block[4][0], block[2][0] = h[0] * block[5][0];
}

int own_joint_step(const double *const *in, double *const *out, double *work) {
  (void)work;
  move(in, 0.0, in[3], in[4], out);
  return 0;
}

int own_jac_joint_step(const double *const *in, double *const *out, double *work) {
  (void)work;
  move(in, 0.0, in[3], in[4], out);
  slopes(in[3], in[4], out + 2);
  return 0;
}

int own_jac_kicked_step(const double *const *in, double *const *out, double *work) {
  (void)work;
  move(in, in[3][0], in[4], in[5], out);
  slopes(in[4], in[5], out + 2);
  return 0;
}

int own_gravity(const double *const *in, double *const *out, double *work) {
  (void)in, (void)work;
  out[0][0] = 0.0;
  return 0;
}

int own_spring_torque(const double *const *in, double *const *out, double *work) { return own_gravity(in, out, work); }

int own_mass_matrix(const double *const *in, double *const *out, double *work) {
  (void)work;
  out[0][0] = in[1][0];
  return 0;
}

int own_friction_torque(const double *const *in, double *const *out, double *work) {
  (void)work;
  out[0][0] = -in[1][1] * in[0][0];
  return 0;
}

int own_tip_pose(const double *const *in, double *const *out, double *work) {
  int k;
  (void)work;
  for (k = 0; k < 9; k++) out[1][k] = k % 4 == 0;
  out[0][0] = in[0][0], out[0][1] = out[0][2] = 0.0;
  return 0;
}

int own_tip_jacobian(const double *const *in, double *const *out, double *work) {
  int k;
  (void)in, (void)work;
  for (k = 0; k < 6; k++) out[0][k] = k == 0;
  return 0;
}

/* Parameters by name, with defaults and bounds, and what they may not be; limits of joints. parameters_model.h has the robot's. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "model.h"
#include "parameters_model.h"

const char *const ROBOT(alpha_name)[] = ALPHA_NAME;
const double ROBOT(alpha_default)[] = ALPHA_DEFAULT;
const double ROBOT(alpha_lower)[] = ALPHA_LOWER;
const double ROBOT(alpha_upper)[] = ALPHA_UPPER;

const char *const ROBOT(joint_name)[] = JOINT_NAME;
const double ROBOT(joint_lower)[] = JOINT_LOWER;
const double ROBOT(joint_upper)[] = JOINT_UPPER;
const double ROBOT(joint_velocity)[] = JOINT_VELOCITY;
const double ROBOT(joint_effort)[] = JOINT_EFFORT;

void ROBOT(alpha_defaults)(double *alpha) { memcpy(alpha, ROBOT(alpha_default), sizeof ROBOT(alpha_default)); }

/* What a value is outside its bounds. */
static int outside(double value, double lower, double upper) {
  if (!(value - value == 0.0)) return STATUS_ALPHA_NOT_FINITE;
  if (value < lower) return STATUS_ALPHA_BELOW;
  return value > upper ? STATUS_ALPHA_ABOVE : STATUS_OK;
}

/* Whether a matrix of inertia (its xx, xy, xz, yy, yz, zz in alpha) has a negative principal moment. */
static int no_body(const double *alpha, const int *at) {
  const double xx = alpha[at[0]], xy = alpha[at[1]], xz = alpha[at[2]], yy = alpha[at[3]], yz = alpha[at[4]], zz = alpha[at[5]];
  const double more = 1.0 + C_BODY_ROUNDING;
  const double least = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
  if (xy * xy > more * xx * yy || xz * xz > more * xx * zz || yz * yz > more * yy * zz) return 1;
  return least < -C_BODY_ROUNDING * xx * yy * zz;
}

/* Whether entries may not be together: a rule is the status and the positions of its entries. */
static int broken(const double *alpha, const int *rule) {
  const int *at = rule + 1;
  if (rule[0] == STATUS_ALPHA_PUSHES) return fabs(alpha[at[0]]) > alpha[at[1]];
  if (rule[0] == STATUS_ALPHA_NO_RANGE) return alpha[at[0]] > alpha[at[1]];
  return no_body(alpha, at);
}

int ROBOT(alpha_check)(const double *alpha, int *entry) {
  int k, status = STATUS_OK, at = -1;
  for (k = 0; k < ALPHA && status == STATUS_OK; k++) {
    status = outside(alpha[k], ROBOT(alpha_lower)[k], ROBOT(alpha_upper)[k]);
    at = k;
  }
  for (k = 0; k < RULES && status == STATUS_OK; k++) {
    if (broken(alpha, rules + 7 * k)) status = rules[7 * k], at = rules[7 * k + 1];
  }
  if (entry != 0 && status != STATUS_OK) *entry = at;
  return status;
}

/* Torques that explain a recorded window of steps. torque_estimation_model.h describes the robot. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "model.h"
#include "torque_estimation_model.h"
#include "torque_estimation.h"

HIDDEN int INNER(estimate_torque)(int steps, const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  return estimated(steps, in, out, w, (Step *)(void *)(w + 1));
}

int ROBOT(estimate_torque_work_size)(int steps) {
  const int head = (int)(sizeof(Work) / sizeof(double)), each = (int)(sizeof(Step) / sizeof(double)) + N;
  if (steps < 0) steps = 0;
  if (steps > (INT_MAX - head) / each) return -1; /* overflow of int */
  return head + steps * each;
}

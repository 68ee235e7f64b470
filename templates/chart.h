/* The step of the tree that a floating base stands on (constrained_step.c), which floating.c makes the robot's. */
#ifndef CHART_INCLUDED
#define CHART_INCLUDED
#include "paths.h"

#define CHART(name) ROBOT(JOINED(chart_, name))
#define STATE_FUNCTION(name) HIDDEN int CHART(name)(const double *const *in, double *const *out, double *work)
#define STEPS_FUNCTION(name) HIDDEN int CHART(name)(int steps, const double *const *in, double *const *out, double *work)

STATE_FUNCTION(joint_step);
STATE_FUNCTION(jac_joint_step);
STATE_FUNCTION(jac_kicked_step);
STATE_FUNCTION(jac_alpha_joint_step);
STATE_FUNCTION(vjp_joint_step);
STATE_FUNCTION(node_torque);
STATE_FUNCTION(contact_force);
STATE_FUNCTION(forward_dynamics);
STATE_FUNCTION(inverse_dynamics);
STATE_FUNCTION(loop_force);
STATE_FUNCTION(close_loops);
STATE_FUNCTION(close_rates);
STEPS_FUNCTION(rollout);
STEPS_FUNCTION(rollout_impulses);
STEPS_FUNCTION(vjp_trajectory);
STEPS_FUNCTION(vjp_rollout);
HIDDEN int CHART(onward)(int first, const double *const *in, double *const *out, double *work);
HIDDEN void CHART(note)(int k, const double *h, double *const *out, const double *w);

#endif

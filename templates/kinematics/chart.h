/* The step of the tree with six joints for a floating base (constrained_step.c), which floating.c calls. */
#ifndef CHART_INCLUDED
#define CHART_INCLUDED
#include "paths.h"

/* CHART(f)(...) calls f for the instruction set in use. */
#if defined(DISPATCHED) && CHART_PATHS
#define CHART_OF(name, path) ROBOT(JOINED(JOINED(chart_, name), path))
#define CHART(name) (ROBOT(path_kernel)() == PORTABLE ? CHART_OF(name, _portable) : CHART_OF(name, _v3))
#define FUNCTION(type, name, arguments) HIDDEN type CHART_OF(name, _portable) arguments; HIDDEN type CHART_OF(name, _v3) arguments
#else
#define CHART(name) ROBOT(JOINED(chart_, name))
#define FUNCTION(type, name, arguments) HIDDEN type CHART(name) arguments
#endif
#define STATE_FUNCTION(name) FUNCTION(int, name, (const double *const *in, double *const *out, double *work))
#define STEPS_FUNCTION(name) FUNCTION(int, name, (int steps, const double *const *in, double *const *out, double *work))

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
STEPS_FUNCTION(onward);
FUNCTION(void, note, (int k, const double *h, double *const *out, const double *w));

#endif

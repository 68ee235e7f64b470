/* Doubles of the work arrays of a step's functions: STEP_SIZE(name) is the name of what tells it. The source has WORK_SIZE, NP (numbers of a
 * position) and, where rows of a batch stand side by side, LANES_..., what these need beyond one. */
#include <limits.h>

#ifndef LANES_JOINT_STEP
#define LANES_JOINT_STEP 0
#define LANES_JAC_JOINT_STEP 0
#define LANES_VJP_JOINT_STEP 0
#define LANES_ROLLOUT 0
#endif
#define SIZED(name, more) int STEP_SIZE(name)(void) { return WORK_SIZE + (more); }
#define SIZED_BY_STEPS(name, more) int STEP_SIZE(name)(int steps) { return (void)steps, WORK_SIZE + (more); }

/* `head`, and `each` for every step; -1: more than an int counts. */
static int sized_with_nodes(int steps, int head, int each) {
  if (steps < 0) steps = 0;
  return steps > (INT_MAX - head) / each ? -1 : head + steps * each;
}

SIZED(joint_step, LANES_JOINT_STEP)
SIZED(jac_joint_step, LANES_JAC_JOINT_STEP)
SIZED(vjp_joint_step, LANES_VJP_JOINT_STEP)
SIZED(node_torque, 0)
SIZED_BY_STEPS(rollout, LANES_ROLLOUT)
SIZED_BY_STEPS(vjp_trajectory, LANES_ROLLOUT)
int STEP_SIZE(vjp_rollout)(int steps) { return sized_with_nodes(steps, WORK_SIZE + LANES_ROLLOUT + N + NP, N + NP); }
#if ALPHA_JACOBIAN
SIZED(jac_alpha_joint_step, 0)
#endif
#if SIXTH
SIZED(fourth_order_step, LANES_SIXTH_ORDER_STEP)
SIZED(sixth_order_step, LANES_SIXTH_ORDER_STEP)
SIZED(jac_fourth_order_step, LANES_SIXTH_ORDER_STEP)
SIZED(jac_sixth_order_step, LANES_SIXTH_ORDER_STEP)
SIZED(vjp_fourth_order_step, LANES_SIXTH_ORDER_STEP)
SIZED(vjp_sixth_order_step, LANES_SIXTH_ORDER_STEP)
SIZED_BY_STEPS(fourth_order_rollout, LANES_SIXTH_ORDER_STEP)
SIZED_BY_STEPS(sixth_order_rollout, LANES_SIXTH_ORDER_STEP)
#define COMPOSED_BACK(steps) sized_with_nodes(steps, WORK_SIZE + LANES_SIXTH_ORDER_STEP + 4 * N, 2 * N * NODES)
int STEP_SIZE(vjp_fourth_order_rollout)(int steps) { return COMPOSED_BACK(steps); }
int STEP_SIZE(vjp_sixth_order_rollout)(int steps) { return COMPOSED_BACK(steps); }
#endif
#if UNILATERAL
SIZED_BY_STEPS(rollout_impulses, 0)
#endif
#if CONTACTS
SIZED(contact_force, 0)
#endif
#if ROWS
SIZED(inverse_dynamics, 0)
SIZED(close_loops, 0)
SIZED(close_rates, 0)
#if !CONTACTS
SIZED(forward_dynamics, 0)
SIZED(loop_force, 0)
#endif
#endif

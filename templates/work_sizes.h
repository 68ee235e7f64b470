/* Doubles of the work arrays of a step's functions: STEP_SIZE(name) is the name of what tells it, WORK_SIZE and NP are the source's. */
#define SIZED(name) int STEP_SIZE(name)(void) { return WORK_SIZE; }
#define SIZED_BY_STEPS(name) int STEP_SIZE(name)(int steps) { return (void)steps, WORK_SIZE; }

SIZED(joint_step)
SIZED(jac_joint_step)
SIZED(vjp_joint_step)
SIZED(node_torque)
SIZED_BY_STEPS(rollout)
SIZED_BY_STEPS(vjp_trajectory)
#if ALPHA_JACOBIAN
SIZED(jac_alpha_joint_step)
#endif
#if SIDED
SIZED_BY_STEPS(rollout_impulses)
#endif
#if CONTACTS
SIZED(contact_force)
#endif
#if ROWS
SIZED(inverse_dynamics)
SIZED(close_loops)
SIZED(close_rates)
#if !CONTACTS
SIZED(forward_dynamics)
SIZED(loop_force)
#endif
#endif

int STEP_SIZE(vjp_rollout)(int steps) {
  const int head = WORK_SIZE + N + NP, each = N + NP;
  if (steps < 0) steps = 0;
  if (steps > (INT_MAX - head) / each) return -1; /* more than an int counts */
  return head + steps * each;
}

/* A point on a massless rod, hinged, with viscous and Coulomb friction. */
#ifndef ROBOT_INCLUDED
#define ROBOT_INCLUDED

typedef int own_function_type(const double *const *in, double *const *out, double *work);
typedef int own_steps_type(int steps, const double *const *in, double *const *out, double *work);
typedef own_function_type *own_function;

own_function_type own_joint_step, own_jac_joint_step, own_jac_kicked_step, own_jac_alpha_joint_step, own_vjp_joint_step;
own_function_type own_node_torque;
own_steps_type own_rollout, own_vjp_trajectory, own_vjp_rollout;
int own_joint_step_work_size(void), own_jac_joint_step_work_size(void), own_jac_kicked_step_work_size(void);
int own_jac_alpha_joint_step_work_size(void), own_vjp_joint_step_work_size(void), own_node_torque_work_size(void);
int own_rollout_work_size(int steps), own_vjp_trajectory_work_size(int steps), own_vjp_rollout_work_size(int steps);

#endif

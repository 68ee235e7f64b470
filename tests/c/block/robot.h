/* A block that slides along x, with viscous friction. */
#ifndef ROBOT_INCLUDED
#define ROBOT_INCLUDED

typedef int own_function_type(const double *const *in, double *const *out, double *work);
typedef own_function_type *own_function;

own_function_type own_joint_step, own_jac_joint_step, own_jac_kicked_step, own_gravity, own_spring_torque, own_friction_torque;
own_function_type own_tip_pose, own_tip_jacobian, own_mass_matrix, own_damped_hold;
int own_damped_hold_work_size(void);
int own_mpc(int steps, const double *const *in, double *const *out, double *work);
int own_mpc_work_size(int steps);
int own_estimate_torque(int steps, const double *const *in, double *const *out, double *work);
int own_estimate_torque_work_size(int steps);
long own_map(own_function fn, int n_in, const int *in_size, const double *const *in, int n_out, const int *out_size,
             double *const *out, long rows, double *work);
const char *own_hash(void), *own_path(void), *own_signature(int k);
int own_abi(void), own_set_path(const char *name);
#define OWN_ALPHA 12
void own_alpha_defaults(double *alpha);
int own_alpha_check(const double *alpha, int *entry);
extern const char *const own_alpha_name[], *const own_joint_name[];
extern const double own_alpha_default[], own_alpha_lower[], own_alpha_upper[];
extern const double own_joint_lower[], own_joint_upper[], own_joint_velocity[], own_joint_effort[];

#endif

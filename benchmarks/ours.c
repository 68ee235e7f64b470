/* Two uses of a generated robot that a user would write: the gradient of a loss on the end of a rollout, and the
   fourth-order extrapolation of its step. Compiled with -DN=joints and -DROBOT(name)=robot_name. */
#include <string.h>

int ROBOT(joint_step)(const double *const *in, double *const *out, double *work);
long ROBOT(map)(int (*fn)(const double *const *, double *const *, double *), int n_in, const int *in_size,
                const double *const *in, int n_out, const int *out_size, double *const *out, long rows, double *work);
int ROBOT(jac_joint_step)(const double *const *in, double *const *out, double *work);
int ROBOT(rollout)(int steps, const double *const *in, double *const *out, double *work);
int ROBOT(vjp_trajectory)(int steps, const double *const *in, double *const *out, double *work);

/* Gradient of |p_N|^2 + |pd_N|^2 by all torques. in: p0, pd0, U, h, alpha;
   out: the outputs of vjp_trajectory (NULL: not wanted), then P, PD, P_bar, PD_bar as scratch, the seeds zero but at the end. */
int ours_gradient(int steps, const double *const *in, double *const *out, double *work)
{
    enum { BARS = 5 };
    const double *at[7];
    int i, status = ROBOT(rollout)(steps, in, out + BARS, work);
    for (i = 0; i < 3; ++i) at[i] = in[i + 2];
    for (i = 0; i < 4; ++i) at[i + 3] = out[BARS + i];
    for (i = 0; i < N; ++i) {
        out[BARS + 2][steps * N + i] = 2 * out[BARS][steps * N + i];
        out[BARS + 3][steps * N + i] = 2 * out[BARS + 1][steps * N + i];
    }
    return status | ROBOT(vjp_trajectory)(steps, at, out, work);
}

/* Richardson's extrapolation of a symmetric step of second order: (4 by two steps of h/2 - one step of h) / 3. */
int ours_order4(const double *const *in, double *const *out, double *work)
{
    const double *at[5];
    double once[2][N], half[2][N], h = 0.5 * in[3][0];
    double *whole[2];
    int i, k, status;
    whole[0] = once[0]; whole[1] = once[1];
    status = ROBOT(joint_step)(in, whole, work);
    at[0] = in[0]; at[1] = in[1]; at[2] = in[2]; at[3] = &h; at[4] = in[4];
    for (k = 0; k < 2; ++k) {
        status |= ROBOT(joint_step)(at, out, work);
        memcpy(half[0], out[0], sizeof half[0]);
        memcpy(half[1], out[1], sizeof half[1]);
        at[0] = half[0]; at[1] = half[1];
    }
    for (k = 0; k < 2; ++k)
        for (i = 0; i < N; ++i) out[k][i] += (out[k][i] - once[k][i]) / 3;
    return status;
}

/* BATCH states at once, as a batched call has them; in and out hold them one after another. */
int ours_batch_step(const double *const *in, double *const *out, double *work)
{
    const int in_size[5] = {N, N, N, 0, 0}, out_size[2] = {N, N};
    return (int)ROBOT(map)(ROBOT(joint_step), 5, in_size, in, 2, out_size, out, BATCH, work);
}

int ours_batch_jacobian(const double *const *in, double *const *out, double *work)
{
    enum { NN = N * N };
    const int in_size[5] = {N, N, N, 0, 0}, out_size[8] = {N, N, NN, NN, NN, NN, NN, NN};
    return (int)ROBOT(map)(ROBOT(jac_joint_step), 5, in_size, in, 8, out_size, out, BATCH, work);
}

/* Rollout of a step and its gradient as loops in C, around any step and vjp of the C interface.
   Compiled with -DN=joints -DSTEP=symbol -DVJP=symbol -DPREFIX(name)=..., included after the generated code for a peer.
   STEP: (p, pd, u, h) -> (p_next, pd_next);  VJP: (p, pd, u, h, p_next_bar, pd_next_bar) -> (p_bar, pd_bar, u_bar). */
#include <string.h>

/* in: p0, pd0, U (N x steps), h; out: P, PD (N x (steps + 1)) */
int ROLLOUT(int steps, const double *const *in, double *const *out, double *work)
{
    int k, status = 0;
    memcpy(out[0], in[0], N * sizeof(double));
    memcpy(out[1], in[1], N * sizeof(double));
    for (k = 0; k < steps; ++k) {
        const double *at[4];
        double *to[2];
        at[0] = out[0] + k * N; at[1] = out[1] + k * N; at[2] = in[2] + k * N; at[3] = in[3];
        to[0] = out[0] + (k + 1) * N; to[1] = out[1] + (k + 1) * N;
        status |= STEP(at, to, work);
    }
    return status;
}

/* Gradient of |p_N|^2 + |pd_N|^2 by all torques. in: as above; out: U_bar (N x steps), P, PD (scratch) */
int GRADIENT(int steps, const double *const *in, double *const *out, double *work)
{
    double bar[4][N];
    int k, i, status = ROLLOUT(steps, in, out + 1, work);
    for (i = 0; i < N; ++i) {
        bar[0][i] = 2 * out[1][steps * N + i];
        bar[1][i] = 2 * out[2][steps * N + i];
    }
    for (k = steps - 1; k >= 0; --k) {
        int from = ((steps - 1 - k) % 2) * 2, into = 2 - from;
        const double *at[6];
        double *to[3];
        at[0] = out[1] + k * N; at[1] = out[2] + k * N; at[2] = in[2] + k * N; at[3] = in[3];
        at[4] = bar[from]; at[5] = bar[from + 1];
        to[0] = bar[into]; to[1] = bar[into + 1]; to[2] = out[0] + k * N;
        status |= VJP(at, to, work);
    }
    return status;
}

#if EVERY || defined(ONLY_estimate_torque)
/* The Gauss-Newton loop of torque_estimation.h as it stands there, over V, a thread a window, whose arguments are copied to a stretch of
 * the workspace without gaps and back. */
OUTSIDE int ROBOT(jac_kicked_step)(const V *const *in, V *const *out, V *) {
  V p[N], pd[N], u[N], kick[N], p_next[N], pd_next[N], model[NM > 0 ? NM : 1];
  const V h[1] = {in[4][0]};
  const Read alpha = {in[5], 1};
  take(in[0], p);
  take(in[1], pd);
  take(in[2], u);
  take(in[3], kick);
  prepare_kernel(alpha, model, NOTHING);
  if (!settled(advance(p, pd, u, kick, h, alpha, model, p_next, pd_next))) return 1;
  take(p_next, out[0]);
  take(pd_next, out[1]);
  jacobian_kernel(p, pd, p_next, pd_next, h, alpha, model, out[2], out[3], out[4], out[5], out[6], out[7], NOTHING);
  return 0;
}

#if !VARYING
OUTSIDE int ROBOT(friction_torque)(const V *const *in, V *const *out, V *) {
  friction_torque_kernel(in[0], in[1], out[0], NOTHING);
  return 0;
}
#endif

typedef V Real;
namespace estimation {
#define double Real
#define static LOCAL
#define JOINTS LINKS
#define INNER_WORK 1
static const int motor[N] = DRIVEN;
#include "torque_estimation.h"
#undef static
#undef double
} // namespace estimation

CONSTANT long long work_estimate_torque[2] = {5 * N + 8 + NA + sizeof(estimation::Work) / sizeof(V),
                                             6 * N + sizeof(estimation::Step) / sizeof(V) + N};

ENTRY(estimate_torque) {
  const long long s = own_index();
  if (s >= a.count) return;
  const long long steps = a.steps;
  const int in_size[] = {N, N, N, N, N, N, 3, 1, 1, NA};
  V *at = a.work + s * (work_estimate_torque[0] + steps * work_estimate_torque[1]), *out[5];
  const V *in[10];
  for (int k = 0; k < 10; k++) {
    const long long columns = k >= 2 && k <= 4 ? steps : 1;
    in[k] = at;
    for (long long j = 0; j < columns; j++) {
      const Read from = given(a.in[k], s, j);
      for (int i = 0; i < in_size[k]; i++) *at++ = from[i];
    }
  }
  const long long columns[] = {steps, steps + 1, steps + 1};
  for (int k = 0; k < 5; k++) {
    out[k] = at;
    at += k < 3 ? N * columns[k] : 1;
  }
  estimation::Work *const w = (estimation::Work *)(void *)at;
  const int status = estimation::estimated((int)steps, in, out, w, (estimation::Step *)(void *)(w + 1));
  for (int k = 0; k < 3; k++)
    for (long long j = 0; j < columns[k]; j++)
      for (int i = 0; i < N; i++) row(a.out[k], s, j)[i] = out[k][j * N + i];
  row(a.out[3], s)[0] = out[3][0];
  row(a.out[4], s)[0] = out[4][0];
  row(a.out[5], s)[0] = status == 0 ? V(0) : INFINITE;
}
#endif

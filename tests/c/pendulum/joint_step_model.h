/* A pendulum by hand, for joint_step.c: M = m l^2, V = -m g l cos p, friction h (viscous p' + coulomb s(p')), s smooth about rest.
 * The discrete Lagrangian has V at the middle of a step's poses:
 *   h F = M (p1 - p0) + h^2/2 V'(middle) - h M pd0 - h^2/2 u = 0,
 *   h G = h M pd1 - M (p1 - p0) + h^2/2 V'(middle) - h^2/2 u + h^2 friction(pd1) = 0. */
#include "lanes.h"

enum { MASS_ENTRY, LENGTH_ENTRY, GRAVITY_ENTRY, COULOMB_ENTRY, VISCOUS_ENTRY };

#define N 1
#define LINKS 1
#define NA 5
#define NM 2 /* M, m g l */
#define RECORD 1 /* h */
#define FACTORS 1
#define MASS 1
#define KERNEL_WORK 1
#define DEEP 0
#define JOINT 1
#define SLOPES 0
#define ROW 15 /* 9 N + 1 + NA */
#define ALPHA_JACOBIAN 1
#define SIXTH 0
#define VARYING 0
#define NO_COULOMB(alpha, k) ((alpha)[COULOMB_ENTRY + (k)] == 0.0)
#define NO_FRICTION(alpha, k) ((alpha)[COULOMB_ENTRY + (k)] == 0.0 && (alpha)[VISCOUS_ENTRY + (k)] == 0.0)
#define LANES_JOINT_STEP 0
#define LANES_JAC_JOINT_STEP 0
#define LANES_VJP_JOINT_STEP 0
#define LANES_ROLLOUT 0
#define REST 0.01 /* rad/s */

static void prepare_kernel(const double *alpha, double *model, double *w) {
  (void)w;
  model[0] = alpha[MASS_ENTRY] * alpha[LENGTH_ENTRY] * alpha[LENGTH_ENTRY];
  model[1] = alpha[MASS_ENTRY] * alpha[GRAVITY_ENTRY] * alpha[LENGTH_ENTRY];
}

static double coulomb_sign(double rate) { return rate / sqrt(rate * rate + REST * REST); }

static double friction_slope(double rate, const double *alpha) {
  const double size = sqrt(rate * rate + REST * REST);
  return alpha[VISCOUS_ENTRY] + alpha[COULOMB_ENTRY] * REST * REST / (size * size * size);
}

/* h F at a pose and its slope by it. */
static double pose_gap(double at, double p, double h, double terms, const double *model, double *slope) {
  const double middle = 0.5 * (at + p);
  *slope = model[0] + 0.25 * h * h * model[1] * cos(middle);
  return model[0] * (at - p) + 0.5 * h * h * model[1] * sin(middle) - terms;
}

static void start_kernel(const double *p, const double *pd, const double *u, const double *h, const double *alpha, const double *model,
                         double *record, double *terms, double *guess, double *w) {
  (void)alpha, (void)w;
  record[0] = h[0];
  terms[0] = h[0] * model[0] * pd[0] + 0.5 * h[0] * h[0] * u[0];
  guess[0] = p[0] + h[0] * pd[0];
}

static void newton_kernel(const double *iterate, const double *p, const double *record, const double *terms, const double *alpha,
                          const double *model, double *next, double *correction, double *factors, double *w) {
  (void)alpha, (void)w;
  correction[0] = -pose_gap(iterate[0], p[0], record[0], terms[0], model, factors) / factors[0];
  next[0] = iterate[0] + correction[0];
}

static void chord_kernel(const double *iterate, const double *p, const double *record, const double *terms, const double *factors,
                         const double *alpha, const double *model, double *next, double *correction, double *w) {
  double slope;
  (void)alpha, (void)w;
  correction[0] = -pose_gap(iterate[0], p[0], record[0], terms[0], model, &slope) / factors[0];
  next[0] = iterate[0] + correction[0];
}

static double end_momentum(double p_next, double p, double u, double h, const double *model) {
  return model[0] * (p_next - p) / h - 0.5 * h * model[1] * sin(0.5 * (p_next + p)) + 0.5 * h * u;
}

static void end_kernel(const double *p_next, const double *p, const double *record, const double *terms, const double *u,
                       const double *factors, const double *h, const double *alpha, const double *model, double *correction,
                       double *momentum, double *M, double *w) {
  double next;
  chord_kernel(p_next, p, record, terms, factors, alpha, model, &next, correction, w);
  momentum[0] = end_momentum(next, p[0], u[0], h[0], model);
  M[0] = model[0];
}

static void onward_kernel(const double *p_next, const double *p, const double *record, const double *terms, const double *factors,
                          const double *h, const double *u, const double *u_next, const double *alpha, const double *model,
                          double *correction, double *next, double *momentum, double *record_next, double *terms_next, double *w) {
  double M;
  end_kernel(p_next, p, record, terms, u, factors, h, alpha, model, correction, momentum, &M, w);
  next[0] = p_next[0] + correction[0];
  record_next[0] = h[0];
  terms_next[0] = h[0] * momentum[0] + 0.5 * h[0] * h[0] * u_next[0];
}

static void velocity_kernel(const double *M, const double *momentum, const double *h, const double *pd_start, const double *alpha,
                            const double *model, double *pd_next, double *w) {
  (void)pd_start, (void)model, (void)w;
  pd_next[0] = momentum[0] / (M[0] + h[0] * alpha[VISCOUS_ENTRY]);
}

static void velocity_gradient_kernel(const double *M, const double *momentum, const double *h, const double *pd, const double *pd_start,
                                     const double *alpha, const double *model, double *gradient, double *w) {
  (void)pd_start, (void)model, (void)w;
  gradient[0] = M[0] * pd[0] - momentum[0] + h[0] * (alpha[VISCOUS_ENTRY] * pd[0] + alpha[COULOMB_ENTRY] * coulomb_sign(pd[0]));
}

static void velocity_newton_kernel(const double *M, const double *h, const double *pd, const double *gradient, const double *pd_start,
                                   const double *alpha, const double *model, double *direction, double *w) {
  (void)pd_start, (void)model, (void)w;
  direction[0] = -gradient[0] / (M[0] + h[0] * friction_slope(pd[0], alpha));
}

static void inertia_kernel(const double *p, const double *alpha, const double *model, double *record, double *M, double *w) {
  (void)p, (void)alpha, (void)record, (void)w;
  M[0] = model[0];
}

static void momentum_slope_kernel(const double *p, const double *pd, const double *y, const double *record, const double *alpha,
                                  const double *model, double *slope, double *w) {
  (void)p, (void)pd, (void)y, (void)record, (void)alpha, (void)model, (void)w;
  slope[0] = 0.0;
}

/* h F by p1 (which is h G by p0), by p0, and h G by p1. */
static void assembly_kernel(const double *p, const double *p_next, const double *h, const double *alpha, const double *model, double *D,
                            double *factors, double *K0, double *K1, double *w) {
  (void)alpha, (void)w;
  pose_gap(p_next[0], p[0], h[0], 0.0, model, D);
  factors[0] = D[0];
  K0[0] = K1[0] = D[0] - 2.0 * model[0];
}

static void solve_kernel(const double *factors, const double *rhs, const double *alpha, const double *model, double *x, double *w) {
  (void)alpha, (void)model, (void)w;
  x[0] = rhs[0] / factors[0];
}
#define solve_transposed_kernel solve_kernel

static void jacobian_kernel(const double *p, const double *pd, const double *p_next, const double *pd_next, const double *h,
                            const double *alpha, const double *model, double *by_p, double *by_pd, double *by_u, double *rate_by_p,
                            double *rate_by_pd, double *rate_by_u, double *w) {
  const double rate = h[0] * (model[0] + h[0] * friction_slope(pd_next[0], alpha)), half = 0.5 * h[0] * h[0];
  double D, factors, K0, K1;
  (void)pd;
  assembly_kernel(p, p_next, h, alpha, model, &D, &factors, &K0, &K1, w);
  by_p[0] = -K0 / D, by_pd[0] = h[0] * model[0] / D, by_u[0] = half / D;
  rate_by_p[0] = (-K1 * by_p[0] - D) / rate, rate_by_pd[0] = -K1 * by_pd[0] / rate, rate_by_u[0] = (half - K1 * by_u[0]) / rate;
}

/* h F and h G by alpha and by h. */
static void by_numbers(const double *p, const double *pd, const double *u, const double *h, const double *p_next, const double *pd_next,
                       const double *alpha, double *F, double *G) {
  const double m = alpha[MASS_ENTRY], l = alpha[LENGTH_ENTRY], g = alpha[GRAVITY_ENTRY], t = h[0], way = p_next[0] - p[0];
  const double s = sin(0.5 * (p[0] + p_next[0])), half = 0.5 * t * t * s, kick = way - t * pd[0], left = t * pd_next[0] - way;
  const double friction = alpha[VISCOUS_ENTRY] * pd_next[0] + alpha[COULOMB_ENTRY] * coulomb_sign(pd_next[0]);
  F[MASS_ENTRY] = l * l * kick + half * g * l, G[MASS_ENTRY] = l * l * left + half * g * l;
  F[LENGTH_ENTRY] = 2.0 * m * l * kick + half * m * g, G[LENGTH_ENTRY] = 2.0 * m * l * left + half * m * g;
  F[GRAVITY_ENTRY] = G[GRAVITY_ENTRY] = half * m * l;
  F[COULOMB_ENTRY] = F[VISCOUS_ENTRY] = 0.0;
  G[COULOMB_ENTRY] = t * t * coulomb_sign(pd_next[0]), G[VISCOUS_ENTRY] = t * t * pd_next[0];
  F[NA] = t * m * g * l * s - m * l * l * pd[0] - t * u[0];
  G[NA] = m * l * l * pd_next[0] + t * m * g * l * s - t * u[0] + 2.0 * t * friction;
}

static void adjoint_parameters_kernel(const double *p, const double *pd, const double *u, const double *h, const double *p_next,
                                      const double *pd_next, const double *alpha, const double *x, const double *y, double *alpha_bar,
                                      double *h_bar, double *w) {
  double F[NA + 1], G[NA + 1];
  int k;
  (void)w;
  by_numbers(p, pd, u, h, p_next, pd_next, alpha, F, G);
  for (k = 0; k < NA; k++) alpha_bar[k] -= F[k] * x[0] + G[k] * y[0];
  h_bar[0] -= F[NA] * x[0] + G[NA] * y[0];
}

static void jacobian_alpha_kernel(const double *p, const double *pd, const double *u, const double *h, const double *p_next,
                                  const double *pd_next, const double *alpha, double *by_alpha, double *rate_by_alpha, double *w) {
  double F[NA + 1], G[NA + 1], model[NM], D, factors, K0, K1;
  int k;
  by_numbers(p, pd, u, h, p_next, pd_next, alpha, F, G);
  prepare_kernel(alpha, model, w);
  assembly_kernel(p, p_next, h, alpha, model, &D, &factors, &K0, &K1, w);
  for (k = 0; k < NA; k++) {
    by_alpha[k] = -F[k] / D;
    rate_by_alpha[k] = -(G[k] + K1 * by_alpha[k]) / (h[0] * (model[0] + h[0] * friction_slope(pd_next[0], alpha)));
  }
}

static void node_kernel(const double *p_prev, const double *p, const double *p_next, const double *h, const double *alpha,
                        const double *model, double *u, double *momentum, double *M, double *w) {
  const double before = end_momentum(p[0], p_prev[0], 0.0, h[0], model);
  const double after = model[0] * (p_next[0] - p[0]) / h[0] + 0.5 * h[0] * model[1] * sin(0.5 * (p[0] + p_next[0]));
  (void)alpha, (void)w;
  u[0] = (after - before) / h[0];
  momentum[0] = 0.5 * (before + after);
  M[0] = model[0];
}

static void node_torque_kernel(const double *u, const double *pd, const double *alpha, double *reading, double *w) {
  (void)w;
  reading[0] = u[0] + alpha[VISCOUS_ENTRY] * pd[0] + alpha[COULOMB_ENTRY] * coulomb_sign(pd[0]);
}

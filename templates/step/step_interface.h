/* What the functions of a step call, of joint_step.c and of constrained_step.c alike; `prepare` and, for derivatives, `prepare_slopes`
 * stand with the work array. */
#ifndef STEP_INTERFACE_INCLUDED
#define STEP_INTERFACE_INCLUDED

static int advance(const double *p, const double *pd, const double *u, const double *h, const double *alpha, double *p_next,
                   double *pd_next, Work *w);
static int differentiate(const double *p, const double *pd, const double *u, const double *kick, const double *h, const double *alpha,
                         double *const *out, Work *w);
#if !TOGETHER /* derivatives step by step */
static int linearise(const double *p, const double *pd, const double *u, const double *h, const double *alpha, const double *p_next,
                     const double *pd_next, Work *w);
static void pull_back(const double *p, const double *pd, const double *u, const double *h, const double *alpha, const double *p_next,
                      const double *pd_next, const double *p_next_bar, const double *pd_next_bar, double *p_bar, double *pd_bar,
                      double *u_bar, double *alpha_bar, double *h_bar, Work *w);
#if UNILATERAL && !EXACT
static int recover(const double *p, const double *pd, const double *u, const double *h, const double *alpha, const double *p_next,
                   const double *pd_next, Work *w);
#endif
#endif
HIDDEN int STEP(rollout)(int steps, const double *const *in, double *const *out, double *work);

#endif

#define N 1
#define NA 2
#define JOINTS 1
#define RATES 1
#define VARYING 0
#define FRICTION_STARTS {1}
#define INNER_WORK 1
enum {
  P0_IN, PD0_IN, U_START_IN, P_REF_IN, PD_REF_IN, U_PREV_IN, LAMBDAS_IN, KNOWN_FRICTION_IN, H_IN, ALPHA_IN
};
static const int motor[] = {1};

static void rates_kernel(const double *p, const double *pd, const double *alpha, double *rates, double *w) {
  (void)p, (void)alpha, (void)w;
  rates[0] = pd[0];
}

static void rates_jacobian_kernel(const double *p, const double *pd, const double *alpha, double *rates, double *by_p, double *by_pd,
                                  double *w) {
  rates_kernel(p, pd, alpha, rates, w);
  by_p[0] = 0.0, by_pd[0] = 1.0;
}

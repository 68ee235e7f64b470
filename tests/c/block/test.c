/* mpc.c, torque_estimation.c, common.c and rows.h on a block that slides, by hand. */
#include "../check.h"
#include "robot.h"
#define MOST_STRETCHES 4
#include "rows.h"

enum { STEPS = 10 };

/* Arguments of a plan, by name, and its results. */
typedef struct {
  double p, pd, u_last, P_ref[STEPS + 1], PD_ref[STEPS + 1], U_ref[STEPS], tip_ref[3 * (STEPS + 1)], weights[6], tip_weights[6];
  double bounds[6], options[7], h, alpha[2], U[STEPS], P[STEPS + 1], PD[STEPS + 1], info[8];
} Plan;

static Plan plan_for(double limit) {
  Plan a = {0};
  const double weights[6] = {3.0, 0.5, 0.02, 0.01, 30.0, 2.0}, bounds[6] = {-limit, limit, 1e20, -1e20, 1e20, 1e20};
  const double options[7] = {2.0, 20.0, 60.0, 1e-11, 1e-10, 1e3, 1e3};
  int k;
  memcpy(a.weights, weights, sizeof weights), memcpy(a.bounds, bounds, sizeof bounds), memcpy(a.options, options, sizeof options);
  for (k = 0; k <= STEPS; k++) a.P_ref[k] = 1.0, a.tip_ref[3 * k] = 1.0;
  a.p = 0.2, a.pd = -0.1, a.u_last = 0.3, a.h = 0.1;
  memcpy(a.alpha, own_alpha_default, sizeof a.alpha);
  return a;
}

static int planned(Plan *a) {
  const double *in[] = {&a->p, &a->pd, &a->u_last, a->P_ref, a->PD_ref, a->U_ref, a->tip_ref, a->weights, a->tip_weights, a->bounds,
                        a->options, &a->h, a->alpha, a->P, a->PD, a->U};
  Plan given = *a;
  double *out[] = {a->U, a->P, a->PD, a->info}, *work = (double *)malloc((size_t)own_mpc_work_size(STEPS) * sizeof(double));
  int status;
  in[13] = given.P, in[14] = given.PD, in[15] = given.U;
  if (work == 0) exit(2);
  status = own_mpc(STEPS, in, out, work);
  free(work);
  return status;
}

/* Cost of torques, each state from the one before. */
static double cost(const Plan *a, const double *U) {
  double p = a->p, pd = a->pd, sum = 0.0;
  int k;
  for (k = 0; k < STEPS; k++) {
    const double change = U[k] - (k ? U[k - 1] : a->u_last), *w = a->weights + (k + 1 == STEPS ? 4 : 0);
    pd = (a->alpha[0] * pd + a->h * U[k]) / (a->alpha[0] + a->h * a->alpha[1]);
    p += a->h * pd;
    sum += 0.5 * (a->weights[2] * U[k] * U[k] + a->weights[3] * change * change + w[0] * (p - a->P_ref[k + 1]) * (p - a->P_ref[k + 1]));
    sum += 0.5 * (w[1] * pd * pd + a->tip_weights[k + 1 == STEPS ? 3 : 0] * (p - 1.0) * (p - 1.0));
  }
  return sum;
}

/* The least cost within bounds, one torque after another until none moves. */
static void descend(const Plan *a, double *U) {
  double moved = 1.0;
  int k, sweep;
  for (sweep = 0; sweep < 200000 && moved > 1e-13; sweep++) {
    for (moved = 0.0, k = 0; k < STEPS; k++) {
      const double was = U[k];
      double left, right, middle, best;
      U[k] = was - 1.0, left = cost(a, U);
      U[k] = was + 1.0, right = cost(a, U);
      U[k] = was, middle = cost(a, U);
      best = was + 0.5 * (left - right) / (left + right - 2.0 * middle);
      U[k] = best < a->bounds[0] ? a->bounds[0] : best > a->bounds[1] ? a->bounds[1] : best;
      if (fabs(U[k] - was) > moved) moved = fabs(U[k] - was);
    }
  }
}

/* A program that ends after a round: torques within bounds, at no more cost than the guess at rest. */
static void ends_early(void) {
  Plan a = plan_for(4.0);
  double rest[STEPS] = {0};
  int k;
  a.options[1] = 1.0, a.options[2] = 1.0;
  CHECK(planned(&a) == 5);
  for (k = 0; k < STEPS; k++) CHECK(fabs(a.U[k]) <= 4.0);
  CHECK(cost(&a, a.U) < cost(&a, rest));
}

/* Beyond a bound of rates, which one round does not keep, the plan brakes. */
static void brakes(void) {
  Plan a = plan_for(4.0);
  int k;
  a.bounds[5] = 0.5;
  a.pd = -2.0;
  a.options[1] = 1.0, a.options[2] = 1.0;
  CHECK(planned(&a) == 5);
  for (k = 0; k < STEPS; k++) CHECK(fabs(a.U[k]) <= 4.0);
  for (k = 1; k <= STEPS; k++) CHECK(fabs(a.PD[k]) <= fabs(a.PD[k - 1]) || fabs(a.PD[k]) <= 0.5);
  CHECK(fabs(a.PD[STEPS]) <= 0.5);
}

static void plans(void) {
  const double limits[] = {100.0, 4.0}, tips[] = {0.0, 5.0};
  int k, l, held;
  for (l = 0; l < 4; l++) {
    Plan a = plan_for(limits[l % 2]);
    double U[STEPS] = {0};
    a.tip_weights[0] = a.tip_weights[3] = tips[l / 2];
    CHECK(planned(&a) == 0);
    descend(&a, U);
    for (held = 0, k = 0; k < STEPS; k++) {
      NEAR(a.U[k], U[k], 1e-5);
      held += fabs(fabs(U[k]) - limits[l % 2]) < 1e-9;
      NEAR(a.P[k + 1], a.P[k] + a.h * a.PD[k + 1], 1e-9);
    }
    CHECK(held == 0 ? l % 2 == 0 : l % 2 == 1);
    NEAR(a.info[0], cost(&a, a.U), 1e-9);
    a.options[0] = 0.0; /* from its own plan */
    CHECK(planned(&a) == 0 && a.info[3] <= 2.0);
    a.options[0] = 1.0; /* a step on */
    CHECK(planned(&a) == 0);
    NEAR(a.U[STEPS / 2], U[STEPS / 2], 1e-5);
  }
}

/* A bound of rates that the plan must give in to, and what it costs. */
static void softened(void) {
  Plan a = plan_for(100.0);
  int k;
  a.bounds[5] = 0.5;
  CHECK(planned(&a) == 0);
  for (k = 1; k <= STEPS; k++) CHECK(fabs(a.PD[k]) <= 0.5 + 1e-6);
  NEAR(a.info[5], 0.0, 1e-6);
  a.pd = -2.0; /* out of bounds at the start: as soon as torques allow */
  CHECK(planned(&a) == 0);
  CHECK(fabs(a.PD[STEPS]) <= 0.5 + 1e-6);
}

static void refused(void) {
  Plan a = plan_for(4.0);
  const double *in[16] = {0};
  double *out[4], work;
  a.h = 0.0;
  CHECK(planned(&a) == 21 && a.U[0] == a.u_last && a.P[STEPS] == a.p);
  a = plan_for(4.0), a.P_ref[3] = NAN;
  CHECK(planned(&a) == 6);
  a = plan_for(4.0), a.weights[2] = -1.0;
  CHECK(planned(&a) == 6);
  a = plan_for(-4.0);
  CHECK(planned(&a) == 6);
  a = plan_for(1e20), a.weights[2] = a.weights[3] = a.weights[0] = a.weights[1] = a.weights[4] = a.weights[5] = 0.0;
  CHECK(planned(&a) == 8); /* nothing determines torques */
  a = plan_for(4.0);
  in[0] = &a.p, in[1] = &a.pd, in[2] = &a.u_last, in[9] = a.bounds;
  out[0] = a.U, out[1] = a.P, out[2] = a.PD, out[3] = a.info;
  CHECK(own_mpc(0, in, out, &work) == 6);
  CHECK(own_mpc_work_size(2147483647) == -1 && own_mpc_work_size(-1) == own_mpc_work_size(0));
}

/* The torque of a tick without a plan: a share of the momentum, at rest none; within bounds; finite for every input. */
static void held(void) {
  double p = 0.3, pd = 0.5, low = -1e20, high = 1e20, delay = 0.0, h = 0.01, alpha[2], u;
  const double *in[] = {&p, &pd, &low, &high, &delay, &h, alpha};
  double *out[] = {&u}, *work = (double *)malloc((size_t)own_damped_hold_work_size() * sizeof(double));
  if (work == 0) exit(2);
  memcpy(alpha, own_alpha_default, sizeof alpha);
  CHECK(own_damped_hold(in, out, work) == 0);
  NEAR(u, -2.0 * 0.5 / (exp(1.0) * 0.015), 1e-9);
  delay = 2.0;
  CHECK(own_damped_hold(in, out, work) == 0);
  NEAR(u, -2.0 * 0.5 / (exp(1.0) * 0.035), 1e-9);
  delay = 0.0, h = 0.001;
  CHECK(own_damped_hold(in, out, work) == 0);
  NEAR(u, -2.0 * 0.5 * 40.0, 1e-9);
  low = -3.0;
  CHECK(own_damped_hold(in, out, work) == 0 && u == -3.0);
  low = 1.0, high = 2.0;
  CHECK(own_damped_hold(in, out, work) == 0 && u == 1.0);
  high = 0.0;
  CHECK(own_damped_hold(in, out, work) == 33 && u == 0.0);
  low = -1.0, high = 1.0, pd = NAN;
  CHECK(own_damped_hold(in, out, work) == 34 && u == 0.0);
  pd = 0.5, delay = -1.0;
  CHECK(own_damped_hold(in, out, work) == 34 && u == 0.0);
  delay = 0.0, h = 0.0;
  CHECK(own_damped_hold(in, out, work) == 21 && u == 0.0);
  h = 0.01, p = INFINITY;
  CHECK(own_damped_hold(in, out, work) == 33 && u == 0.0);
  p = 0.0, alpha[0] = 0.0; /* no inertia, no damping */
  CHECK(own_damped_hold(in, out, work) == 0 && u == 0.0);
  alpha[0] = NAN;
  CHECK(own_damped_hold(in, out, work) == 33 && u == 0.0);
  free(work);
}

/* Torques of a recorded motion, with friction in the model and with friction known. */
static void estimates(void) {
  double p0 = 0.1, pd0 = -0.2, U[STEPS], P[STEPS], PD[STEPS], guess[STEPS] = {0}, before = 0.0, lambdas[3] = {1.0, 1.0, 0.0};
  double known = 0.0, h = 0.05, alpha[2], found[STEPS], poses[STEPS + 1], rates[STEPS + 1], loss, change, p = p0, pd = pd0;
  const double *in[] = {&p0, &pd0, guess, P, PD, &before, lambdas, &known, &h, alpha};
  double *out[] = {found, poses, rates, &loss, &change};
  double *work = (double *)malloc((size_t)own_estimate_torque_work_size(STEPS) * sizeof(double));
  int k;
  if (work == 0) exit(2);
  memcpy(alpha, own_alpha_default, sizeof alpha);
  for (k = 0; k < STEPS; k++) {
    U[k] = some();
    pd = (alpha[0] * pd + h * U[k]) / (alpha[0] + h * alpha[1]), p += h * pd;
    P[k] = p, PD[k] = pd;
  }
  for (known = 0.0; known <= 1.0; known++) {
    CHECK(own_estimate_torque(STEPS, in, out, work) == 0);
    for (k = 0; k < STEPS; k++) NEAR(found[k], U[k], 1e-7);
    NEAR(poses[STEPS], p, 1e-10);
    NEAR(loss, 0.0, 1e-16);
  }
  lambdas[2] = 1e9; /* as even as can be */
  CHECK(own_estimate_torque(STEPS, in, out, work) == 0);
  for (k = 0; k < STEPS; k++) NEAR(found[k], before, 1e-4);
  CHECK(own_estimate_torque(0, in, out, work) == 0 && poses[0] == p0);
  h = -1.0;
  CHECK(own_estimate_torque(STEPS, in, out, work) == 21 && found[0] == 0.0);
  h = 0.05, P[2] = INFINITY;
  CHECK(own_estimate_torque(STEPS, in, out, work) == 9);
  CHECK(own_estimate_torque_work_size(2147483647) == -1);
  free(work);
}

/* (x y, x + 2 y) and its reverse run. */
static int product(const double *const *in, double *const *out, double *work) {
  (void)work;
  out[0][0] = in[0][0] * in[0][1], out[0][1] = in[0][0] + 2.0 * in[0][1];
  return 0;
}

static int product_back(const double *const *in, double *const *out, double *work) {
  (void)work;
  out[0][0] = in[1][0] * in[0][1] + in[1][1], out[0][1] = in[1][0] * in[0][0] + 2.0 * in[1][1];
  return 0;
}

static void rows(void) {
  static const int outputs[][3] = {{2, 0, 1}}, bars[] = {0}, columns[][2] = {{2, 0}};
  static const Rows own = {1, 2, 2, 1, 1, 1, outputs, bars, columns, product, product_back};
  const double x[2] = {3.0, 5.0}, *in[] = {x};
  double value[2], J[4], work[8], *out[] = {value, J};
  rows_of(&own, in, out, work);
  CHECK(value[0] == 15.0 && value[1] == 13.0);
  CHECK(J[0] == 5.0 && J[1] == 1.0 && J[2] == 3.0 && J[3] == 2.0);
}

static void batches(void) {
  const double p[2] = {0.0, 1.0}, pd[2] = {1.0, -1.0}, u = 0.0, h = 0.1, alpha[2] = {1.0, 0.0}, *in[] = {p, pd, &u, &h, alpha};
  const int in_size[] = {1, 1, 0, 0, 0}, out_size[] = {1, 1};
  double ends[2], rates[2], work, *out[] = {ends, rates};
  CHECK(own_map(own_joint_step, 5, in_size, in, 2, out_size, out, 2, &work) == 0);
  CHECK(ends[0] == 0.1 && ends[1] == 0.9 && rates[1] == -1.0);
  CHECK(own_map(own_joint_step, 99, in_size, in, 2, out_size, out, 2, &work) == -1);
  CHECK(strcmp(own_hash(), "none") == 0 && own_abi() == 1 && strcmp(own_path(), "portable") == 0);
  CHECK(own_signature(-1) == 0 && own_signature(0)[0] == 'g' && own_signature(1) == 0);
  CHECK(own_set_path("portable") == 0 && own_set_path("x") == 1);
}

/* The status of parameters one of which is something else, and the entry that is told. */
static int told(int k, double value, int *entry) {
  double alpha[OWN_ALPHA];
  own_alpha_defaults(alpha);
  alpha[k] = value;
  *entry = -7;
  return own_alpha_check(alpha, entry);
}

static void parameters(void) {
  static const struct {
    int k;
    double value;
    int status, entry;
  } cases[] = {
      {0, 0.1, 0, -7}, {0, 0.09, 41, 0}, {0, 9.0, 0, -7}, {0, 9.1, 42, 0}, {5, NAN, 40, 5}, {5, -INFINITY, 40, 5}, {5, -1e300, 0, -7},
      {2, 0.3, 0, -7}, {2, -0.31, 43, 2}, {3, 1.0, 0, -7}, {3, 1.1, 44, 3}, {7, 0.1, 0, -7}, {7, -0.101, 45, 6}, {11, 0.0, 0, -7},
      {11, -1e-9, 41, 11}, {8, 0.2, 45, 6}, {10, 0.2, 45, 6}};
  double alpha[OWN_ALPHA];
  size_t k;
  int entry;
  for (k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    CHECK(told(cases[k].k, cases[k].value, &entry) == cases[k].status);
    CHECK(entry == cases[k].entry);
  }
  own_alpha_defaults(alpha);
  alpha[7] = 0.07, alpha[8] = 0.07, alpha[10] = 0.07; /* every pair is that of a body, and all three are */
  CHECK(own_alpha_check(alpha, 0) == 0);
  alpha[10] = -0.07; /* every pair, and not all three */
  CHECK(own_alpha_check(alpha, 0) == 45);
  CHECK(strcmp(own_alpha_name[2], "asymmetry") == 0 && own_alpha_upper[0] == 9.0 && own_joint_effort[0] == 40.0);
}

int main(void) {
  parameters();
  plans();
  ends_early();
  brakes();
  softened();
  refused();
  held();
  estimates();
  rows();
  batches();
  return failures != 0;
}

/* joint_step.c on a pendulum by hand. */
#include "../check.h"
#include "robot.h"

enum { N_ALPHA = 5, STEPS = 12, STATES = 50 };

static const double free_alpha[N_ALPHA] = {1.3, 0.7, 9.81, 0.0, 0.0}, rough_alpha[N_ALPHA] = {1.3, 0.7, 9.81, 0.2, 0.1};

/* A state: p, pd, u, kick, h, alpha. */
typedef struct {
  double p, pd, u, kick, h, alpha[N_ALPHA];
} State;

static double *room(int size) {
  double *work = (double *)malloc((size_t)size * sizeof(double));
  if (work == 0) exit(2);
  return work;
}

static int step(const State *s, double *end) {
  const double *in[] = {&s->p, &s->pd, &s->u, &s->h, s->alpha};
  double *out[] = {end, end + 1}, *work = room(own_joint_step_work_size());
  const int status = own_joint_step(in, out, work);
  free(work);
  return status;
}

static State random_state(int k) {
  State s = {3.0 * some(), 3.0 * some(), some(), 0.0, 0.001 + 0.02 * fabs(some()), {0}};
  memcpy(s.alpha, k % 2 ? rough_alpha : free_alpha, sizeof s.alpha);
  return s;
}

/* What the equations leave, in coordinates that the model does not use: accelerations from finite differences of the action. */
static double action(const State *s, double p0, double p1) {
  const double m = s->alpha[0], l = s->alpha[1], g = s->alpha[2], v = (p1 - p0) / s->h;
  return s->h * (0.5 * m * l * l * v * v + m * g * l * cos(0.5 * (p0 + p1)));
}

static void equations(void) {
  int k;
  for (k = 0; k < STATES; k++) {
    const State s = random_state(k);
    const double e = 1e-5, inertia = s.alpha[0] * s.alpha[1] * s.alpha[1];
    double end[2], start, finish, friction;
    CHECK(step(&s, end) == 0);
    start = -(action(&s, s.p + e, end[0]) - action(&s, s.p - e, end[0])) / (2.0 * e);
    finish = (action(&s, s.p, end[0] + e) - action(&s, s.p, end[0] - e)) / (2.0 * e) + 0.5 * s.h * s.u;
    friction = s.alpha[4] * end[1] + s.alpha[3] * end[1] / sqrt(end[1] * end[1] + 1e-4);
    NEAR(start, inertia * s.pd + 0.5 * s.h * s.u, 1e-7);
    NEAR(inertia * end[1] + s.h * friction, finish, 1e-7);
  }
}

/* Every number of a state moved: what a difference says of the step's ends. */
static void differences(const State *s, double *number, double *slopes) {
  const double was = *number, e = 1e-6 * (1.0 + fabs(was));
  double up[2], down[2];
  int k;
  *number = was + e;
  CHECK(step(s, up) == 0);
  *number = was - e;
  CHECK(step(s, down) == 0);
  *number = was;
  for (k = 0; k < 2; k++) slopes[k] = (up[k] - down[k]) / (2.0 * e);
}

static void derivatives(void) {
  int k, j;
  for (k = 0; k < STATES; k++) {
    State s = random_state(k);
    const double *in[] = {&s.p, &s.pd, &s.u, &s.h, s.alpha}, *kicked[] = {&s.p, &s.pd, &s.u, &s.kick, &s.h, s.alpha};
    const double seed[2] = {some(), some()}, *seeded[] = {&s.p, &s.pd, &s.u, &s.h, s.alpha, seed, seed + 1};
    double end[2], block[6], kick_block[6], by_alpha[2][N_ALPHA], bars[4 + N_ALPHA], wanted[2];
    double *out[] = {end, end + 1, block, block + 1, block + 2, block + 3, block + 4, block + 5};
    double *kick_out[] = {end, end + 1, kick_block, kick_block + 1, kick_block + 2, kick_block + 3, kick_block + 4, kick_block + 5};
    double *alpha_out[] = {by_alpha[0], by_alpha[1]}, *bar_out[] = {bars, bars + 1, bars + 2, bars + 3, bars + 4};
    double *work = room(own_jac_joint_step_work_size()), *moved[] = {&s.p, &s.pd, &s.u};
    CHECK(own_jac_joint_step(in, out, work) == 0);
    CHECK(own_jac_kicked_step(kicked, kick_out, work) == 0);
    CHECK(own_jac_alpha_joint_step(in, alpha_out, work) == 0);
    CHECK(own_vjp_joint_step(seeded, bar_out, work) == 0);
    CHECK(memcmp(block, kick_block, sizeof block) == 0); /* a kick of none */
    for (j = 0; j < 3; j++) {
      differences(&s, moved[j], wanted);
      NEAR(block[j], wanted[0], 1e-6);
      NEAR(block[3 + j], wanted[1], 1e-5);
      NEAR(bars[j], seed[0] * block[j] + seed[1] * block[3 + j], 1e-10);
    }
    differences(&s, &s.h, wanted);
    NEAR(bars[3], seed[0] * wanted[0] + seed[1] * wanted[1], 1e-4);
    for (j = 0; j < N_ALPHA; j++) {
      NEAR(bars[4 + j], seed[0] * by_alpha[0][j] + seed[1] * by_alpha[1][j], 1e-9);
      if (k % 2 == 0 && j > 2) continue; /* Coulomb friction below zero is none */
      differences(&s, &s.alpha[j], wanted);
      NEAR(by_alpha[0][j], wanted[0], 1e-6);
      NEAR(by_alpha[1][j], wanted[1], 1e-5);
    }
    free(work);
  }
}

/* Torques, nodes and their seeds of a rollout. */
typedef struct {
  double U[STEPS], P[STEPS + 1], PD[STEPS + 1], P_bar[STEPS + 1], PD_bar[STEPS + 1];
} Path;

static void roll(State *s, Path *path) {
  const double *in[] = {&s->p, &s->pd, path->U, &s->h, s->alpha};
  double *out[] = {path->P, path->PD}, *work = room(own_rollout_work_size(STEPS));
  CHECK(own_rollout(STEPS, in, out, work) == 0);
  free(work);
}

static double seen(const Path *path) {
  double sum = 0.0;
  int k;
  for (k = 0; k <= STEPS; k++) sum += path->P_bar[k] * path->P[k] + path->PD_bar[k] * path->PD[k];
  return sum;
}

static void rollouts(void) {
  int k, j;
  for (k = 0; k < 8; k++) {
    State s = random_state(k), at;
    Path path, other;
    double bars[3 + STEPS + N_ALPHA], end[2], u, e = 1e-6, up, down;
    const double *in[] = {&s.p, &s.pd, path.U, &s.h, s.alpha, path.P_bar, path.PD_bar};
    double *out[] = {bars, bars + 1, bars + 2, bars + 2 + STEPS, bars + 3 + STEPS}, *work = room(own_vjp_rollout_work_size(STEPS));
    for (j = 0; j < STEPS; j++) path.U[j] = some();
    for (j = 0; j <= STEPS; j++) path.P_bar[j] = some(), path.PD_bar[j] = some();
    roll(&s, &path);
    for (at = s, j = 0; j < STEPS; j++, at.p = end[0], at.pd = end[1]) {
      at.u = path.U[j];
      CHECK(step(&at, end) == 0);
      NEAR(path.P[j + 1], end[0], 1e-12);
      NEAR(path.PD[j + 1], end[1], 1e-9);
    }
    CHECK(own_vjp_rollout(STEPS, in, out, work) == 0);
    other = path;
    at = s;
    at.p = s.p + e, roll(&at, &other), up = seen(&other);
    at.p = s.p - e, roll(&at, &other), down = seen(&other), at.p = s.p;
    NEAR(bars[0], (up - down) / (2.0 * e), 1e-5);
    u = path.U[3];
    other.U[3] = u + e, roll(&at, &other), up = seen(&other);
    other.U[3] = u - e, roll(&at, &other), down = seen(&other);
    NEAR(bars[2 + 3], (up - down) / (2.0 * e), 1e-5);
    free(work);
  }
}

/* Without friction, torques that no step before foretells: kicks that throw it round, and one that no step knows an end of. */
static void thrown(void) {
  const double kicks[] = {0.0, 30.0, -60.0, 400.0, 700.0, 1e300};
  int k, j, i;
  for (k = 0; k < (int)(sizeof kicks / sizeof kicks[0]); k++)
    for (i = 0; i < STEPS; i += 5) {
      State s = random_state(0), at = s;
      Path path;
      const double *in[] = {&s.p, &s.pd, path.U, &s.h, s.alpha};
      double *out[] = {path.P, path.PD}, end[2], *work = room(own_rollout_work_size(STEPS));
      int status, known = 0;
      at.h = s.h = 0.02;
      for (j = 0; j < STEPS; j++) path.U[j] = 0.1 * some();
      path.U[i] += kicks[k];
      status = own_rollout(STEPS, in, out, work);
      for (j = 0; j < STEPS && known == 0; j++, at.p = end[0], at.pd = end[1]) {
        at.u = path.U[j];
        known = step(&at, end);
        NEAR(path.P[j + 1], end[0], 1e-9); /* of a step without an end both keep its start */
        NEAR(path.PD[j + 1], end[1], 1e-7 * (1.0 + fabs(end[1])));
      }
      CHECK((status != 0) == (known != 0));
      free(work);
    }
}

/* The period of large swings by the arithmetic-geometric mean, and energy that stays. */
static void period(void) {
  const double amplitude = 2.0, l = free_alpha[1], g = free_alpha[2], pi = acos(-1.0);
  double a = 1.0, b = cos(0.5 * amplitude), h = 1e-3, time, last = amplitude, end[2];
  State s = {0.0, 0.0, 0.0, 0.0, 0.0, {0}};
  int k;
  for (k = 0; k < 20; k++) {
    const double mean = 0.5 * (a + b);
    b = sqrt(a * b), a = mean;
  }
  s.p = amplitude, s.h = h;
  memcpy(s.alpha, free_alpha, sizeof s.alpha);
  for (k = 0; s.p > 0.0; k++) {
    last = s.p;
    CHECK(step(&s, end) == 0);
    s.p = end[0], s.pd = end[1];
  }
  time = h * (k - 1 + last / (last - s.p));
  NEAR(4.0 * time, 2.0 * pi * sqrt(l / g) / a, 1e-5);
  for (k = 0; k < 2000; k++) {
    CHECK(step(&s, end) == 0);
    s.p = end[0], s.pd = end[1];
  }
  NEAR(0.5 * l * l * s.pd * s.pd - g * l * cos(s.p), -g * l * cos(amplitude), 1e-5);
}

static void torques(void) {
  State s = random_state(0), at;
  double end[2], then[2], u, *work = room(own_node_torque_work_size());
  const double *in[] = {&s.p, end, then, &s.h, s.alpha};
  double *out[] = {&u};
  s.u = 0.4;
  CHECK(step(&s, end) == 0);
  at = s, at.p = end[0], at.pd = end[1];
  CHECK(step(&at, then) == 0);
  CHECK(own_node_torque(in, out, work) == 0);
  NEAR(u, 0.4, 1e-6);
  free(work);
}

static void refusals(void) {
  State s = random_state(1);
  double end[2];
  s.h = 0.0;
  CHECK(step(&s, end) == 21 && end[0] == s.p && end[1] == s.pd);
  s = random_state(1), s.p = NAN;
  CHECK(step(&s, end) == 1);
  s = random_state(1), s.u = 1e300;
  CHECK(step(&s, end) != 0 && end[0] == s.p);
  CHECK(own_vjp_rollout_work_size(2147483647) == -1 && own_vjp_rollout_work_size(-1) == own_vjp_rollout_work_size(0));
}

int main(void) {
  equations();
  derivatives();
  rollouts();
  thrown();
  period();
  torques();
  refusals();
  return failures != 0;
}

/* Predictive control in C alone: the generated solver steers the generated step along a sine, tick by tick.
 *
 * Build, with the generated folder beside it (any C99 compiler):
 *   make -C ROBOT libROBOT.a
 *   gcc -std=c99 -O2 -IROBOT -o track track.c ROBOT/libROBOT.a -lm      with ROBOT = baxter_bare
 * Run: ./track TICKS EVERY      prints every EVERY-th tick: its number, status, torques and positions
 *      ./track TICKS EVERY LOAD  with a torque [N.m] on the second joint that the planner is not told: an observer finds it
 *      ./track TICKS EVERY LOAD FROM TO  in ticks FROM to TO the reference is not finite: there is no plan, the arm is held
 *
 * Nothing is allocated, here or in the solver. Each tick is one real-time iteration: a bounded number of operations. A
 * controller with more time calls again with the plan as guess until its own clock says stop.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baxter_bare.h"

#define N BAXTER_BARE_JOINTS
#define ALPHA BAXTER_BARE_ALPHA
#define ROBOT(name) baxter_bare_##name
#define HORIZON 20  /* steps */
#define WORK 100000  /* doubles; checked against what the functions ask for */

#include "disturbance.h"

static const double rest[N] = {0.1, -0.55, 0.1, 0.9, 0.0, 0.8, 0.0};    /* [rad] */
static const double effort[N] = {50.0, 50.0, 50.0, 50.0, 15.0, 15.0, 15.0}; /* [N.m] */
static const double amplitude = 0.05, frequency = 4.0;                  /* [rad], [rad/s] */

static double p[N], pd[N], u_last[N], torque[N];
static double P_ref[N * (HORIZON + 1)], PD_ref[N * (HORIZON + 1)], U_ref[N * HORIZON], tip_ref[3 * (HORIZON + 1)];
static double weights[6 * N], tip_weights[6], bounds[6 * N];
static double options[7] = {2.0, 1.0, 10.0, 1e-6, 1e-8, 1e3, 1e3}; /* cold first; one program of at most 10 rounds;
  relative gap and change of u [1] at which to stop; prices [cost per rad, cost per rad/s] of broken bounds */
static double h = 0.01, alpha[ALPHA];
static double P[2][N * (HORIZON + 1)], PD[2][N * (HORIZON + 1)], U[2][N * HORIZON], info[8];
static double work[WORK], no_delay = 0.0;
static double borne[N]; /* load that the last plan knew [N.m] */
static Observer observer;

static void reference(double time, double *position, double *rate) {
  int i;
  for (i = 0; i < N; i++) {
    const double phase = 0.7 * i;
    position[i] = rest[i] + amplitude * (sin(frequency * time + phase) - sin(phase));
    rate[i] = amplitude * frequency * cos(frequency * time + phase);
  }
}

/* The torque of a tick without a plan: holds the pose, bears the known load and damps the motion, within the bounds. A robot's
 * controller whose pose p is not finite calls it with the last one that was, and zeros as pd. */
static int fall_back(double *u) {
  double lower[N], upper[N], *out[1];
  const double *in[7];
  int i, status;
  for (i = 0; i < N; i++) lower[i] = borne[i] - effort[i], upper[i] = borne[i] + effort[i];
  in[0] = p, in[1] = pd, in[2] = lower, in[3] = upper, in[4] = &no_delay, in[5] = &h, in[6] = alpha;
  out[0] = u;
  status = ROBOT(damped_hold)(in, out, work);
  for (i = 0; i < N; i++) u[i] -= borne[i];
  return status;
}

/* The defaults of this robot's parameters that are not zero, by the numbers of the header. */
static void parameters(void) {
  int i;
  alpha[2] = -9.81;
  for (i = 0; i < N; i++) alpha[13 + 2 * N + i] = 0.01;
}

int main(int argc, char **argv) {
  const long ticks = argc > 1 ? atol(argv[1]) : 100, every = argc > 2 ? atol(argv[2]) : 1;
  const long from = argc > 5 ? atol(argv[4]) : ticks, to = argc > 5 ? atol(argv[5]) : ticks;
  const int loaded = argc > 3;
  const double load = loaded ? atof(argv[3]) : 0.0, *in[16], *state[5];
  double *out[4], *next[2];
  long tick;
  int i, k, status;
  if (baxter_bare_mpc_work_size(HORIZON) > WORK || baxter_bare_joint_step_work_size() > WORK) return 3;
  if (baxter_bare_damped_hold_work_size() > WORK) return 3;
  parameters();
  for (i = 0; i < N; i++) {
    p[i] = rest[i];
    weights[i] = weights[4 * N + i] = 1.0;          /* p, and p at the end */
    weights[N + i] = weights[5 * N + i] = 0.02;     /* pd */
    weights[3 * N + i] = 2e-7;                      /* change of torque */
    bounds[i] = -effort[i];
    bounds[N + i] = effort[i];
    bounds[2 * N + i] = 10.0 * effort[i] * h;       /* change in a step */
    bounds[3 * N + i] = -3.0;
    bounds[4 * N + i] = 3.0;
    bounds[5 * N + i] = 2.0;
  }
  state[0] = p, state[1] = alpha;
  next[0] = u_last;
  if (baxter_bare_gravity(state, next, work) != 0) return 4;
  in[0] = p, in[1] = pd, in[2] = u_last, in[3] = P_ref, in[4] = PD_ref, in[5] = U_ref, in[6] = tip_ref, in[7] = weights;
  in[8] = tip_weights, in[9] = bounds, in[10] = options, in[11] = &h, in[12] = alpha;
  out[3] = info;
  observer_start(&observer, h, 0.02, effort);
  for (tick = 0; tick < ticks; tick++) {
    const int now = (int)(tick % 2), before = 1 - now;
    for (k = 0; k <= HORIZON; k++) reference(h * (double)(tick + k), P_ref + k * N, PD_ref + k * N);
    if (tick >= from && tick < to) P_ref[0] = NAN;
    in[13] = P[before], in[14] = PD[before], in[15] = U[before];
    out[0] = U[now], out[1] = P[now], out[2] = PD[now];
    if (loaded) observe(&observer, p, pd, u_last, h, alpha, work);
    /* A disturbance d: the plan of a robot without one whose every torque is d more. Its guess is in such torques too. */
    for (i = 0; i < N; i++) {
      u_last[i] += observer.estimate[i];
      bounds[i] = observer.estimate[i] - effort[i];
      bounds[N + i] = observer.estimate[i] + effort[i];
    }
    status = baxter_bare_mpc(HORIZON, in, out, work);
    if (status == BAXTER_BARE_STATUS_OK || status == BAXTER_BARE_STATUS_MPC_LIMITED) {
      options[0] = 1.0; /* the guess is the last plan, a step on */
      for (i = 0; i < N; i++) u_last[i] = fmin(fmax(U[now][i] - observer.estimate[i], -effort[i]), effort[i]);
      for (i = 0; i < N; i++) borne[i] = observer_lasting(&observer, i);
    } else {
      options[0] = 2.0; /* there is no plan: the next one starts cold, and so does the observer */
      if (fall_back(u_last) != 0) return 5;
      observer_start(&observer, h, 0.02, effort);
    }
    memcpy(torque, u_last, sizeof torque);
    torque[1] += load;
    state[0] = p, state[1] = pd, state[2] = torque, state[3] = &h, state[4] = alpha;
    next[0] = P[before], next[1] = PD[before]; /* the older plan is no longer needed */
    if (baxter_bare_joint_step(state, next, work) != 0) return 6;
    memcpy(p, P[before], sizeof p);
    memcpy(pd, PD[before], sizeof pd);
    for (i = 0; i < N; i++)
      if (!(fabs(p[i]) < 10.0 && fabs(u_last[i]) <= effort[i])) return 7;
    if (tick % every != 0 && tick != ticks - 1) continue;
    printf("%ld %d", tick, status);
    for (i = 0; i < N; i++) printf(" %.17g", u_last[i]);
    for (i = 0; i < N; i++) printf(" %.17g", p[i]);
    printf("\n");
  }
  return 0;
}

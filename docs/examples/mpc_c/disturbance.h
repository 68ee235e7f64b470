/* A disturbance observer in C: what torque [N.m] acts on the joints beside the one that was sent?
 *
 * The same as diffpbd.runtime.mpc.disturbance: the generated step is inverted for the rates measured at its end, by
 * Newton's method (one or two iterations), friction taken at those rates; where a joint sticks or turns round, Coulomb
 * friction can be what it will, so the torque nearest to the load is taken; that is bounded to load ± limit, and the mean of
 * two steps is low-passed. What lasts is the load. Nothing is allocated and nothing is static.
 *
 * Expects N (joints), ROBOT(name) (the prefix of the generated functions), and ALPHA (size of alpha) to be defined. */
#ifndef DISTURBANCE_H
#define DISTURBANCE_H

#include <math.h>
#include <string.h>

enum { COULOMB = 13, VISCOUS = COULOMB + N, WIDTH = VISCOUS + N }; /* where friction stands in alpha, see the header */

typedef struct {
  double p[N], pd[N];  /* the sample before [rad], [rad/s] */
  double estimate[N];  /* [N.m] */
  double load[N];      /* its mean over a second [N.m] */
  double last[N];      /* what the step before showed [N.m] */
  double limit[N];     /* of what may change at once [N.m] */
  double gain, settle, fade; /* shares of a step: 1 - exp(-h / time constant), 1 - exp(-h / 1 s), exp(-h / 0.1 s) */
  int known;           /* whether there is a sample before */
} Observer;

static double observer_within(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

static void observer_start(Observer *o, double h, double time_constant, const double *limit) {
  memset(o, 0, sizeof *o);
  memcpy(o->limit, limit, sizeof o->limit);
  o->gain = 1.0 - exp(-h / time_constant);
  o->settle = 1.0 - exp(-h);
  o->fade = exp(-h / 0.1);
}

/* b becomes the solution of A x = b, A by columns, by elimination with pivots; 0 where A is singular or not finite. */
static int observer_solve(double *A, double *b) {
  int i, j, k, best;
  for (k = 0; k < N; k++) {
    for (best = k, i = k + 1; i < N; i++)
      if (fabs(A[i + N * k]) > fabs(A[best + N * k])) best = i;
    if (!(fabs(A[best + N * k]) > 0.0)) return 0;
    for (j = 0; j < N; j++) {
      const double value = A[k + N * j];
      A[k + N * j] = A[best + N * j];
      A[best + N * j] = value;
    }
    { const double value = b[k]; b[k] = b[best]; b[best] = value; }
    for (i = k + 1; i < N; i++) {
      const double share = A[i + N * k] / A[k + N * k];
      for (j = k; j < N; j++) A[i + N * j] -= share * A[k + N * j];
      b[i] -= share * b[k];
    }
  }
  for (k = N - 1; k >= 0; k--) {
    for (j = k + 1; j < N; j++) b[k] -= A[k + N * j] * b[j];
    b[k] /= A[k + N * k];
    if (!(fabs(b[k]) <= 1e300)) return 0;
  }
  return 1;
}

/* The torque beside u of the step from the sample before to the rates pd; 0 where the step has no answer. */
static int observer_residual(const Observer *o, const double *pd, const double *u, double h, const double *alpha,
                             double *torque, double *work) {
  double smooth[ALPHA], kick[N], total[N], state[2][N], block[6][N * N], change[N], largest;
  const double *in[6];
  double *out[8];
  int i, k;
  in[0] = pd, in[1] = alpha;
  out[0] = kick;
  if (ROBOT(friction_torque)(in, out, work) != 0) return 0;
  memcpy(smooth, alpha, sizeof smooth);
  memset(smooth + COULOMB, 0, 2 * N * sizeof(double)); /* friction comes as the kick */
  for (i = 0; i < N; i++) kick[i] *= h;
  memcpy(torque, o->estimate, N * sizeof(double));
  in[0] = o->p, in[1] = o->pd, in[2] = total, in[3] = kick, in[4] = &h, in[5] = smooth;
  out[0] = state[0], out[1] = state[1];
  for (k = 0; k < 6; k++) out[2 + k] = block[k];
  for (k = 0; k < 4; k++) {
    for (i = 0; i < N; i++) total[i] = u[i] + torque[i];
    if (ROBOT(jac_kicked_step)(in, out, work) != 0) return 0;
    for (i = 0; i < N; i++) change[i] = pd[i] - state[1][i];
    if (!observer_solve(block[5], change)) return 0;
    for (largest = 0.0, i = 0; i < N; i++) {
      torque[i] += change[i];
      if (fabs(change[i]) > largest) largest = fabs(change[i]);
    }
    if (!(largest > 0.01)) break;
  }
  for (i = 0; i < N; i++) {
    const double width = alpha[WIDTH + i], slack = alpha[COULOMB + i] * (1.0 - tanh(o->pd[i] / width) * tanh(pd[i] / width));
    torque[i] = observer_within(o->load[i], torque[i] - slack, torque[i] + slack);
  }
  return 1;
}

/* One tick: the state measured now, the torque u that acted since the sample before (0: none is known, or the sample comes
 * late). A moving arm that reads the same twice is a stale message. */
static void observe(Observer *o, const double *p, const double *pd, const double *u, double h, const double *alpha,
                    double *work) {
  double torque[N];
  int i, finite = 1, moving = 0, found, stale;
  for (i = 0; i < N; i++) {
    finite = finite && fabs(p[i]) <= 1e300 && fabs(pd[i]) <= 1e300;
    moving = moving || pd[i] != 0.0;
  }
  stale = finite && o->known && moving && memcmp(p, o->p, N * sizeof(double)) == 0 && memcmp(pd, o->pd, N * sizeof(double)) == 0;
  found = finite && !stale && o->known && u != 0 && observer_residual(o, pd, u, h, alpha, torque, work);
  for (i = 0; i < N; i++) {
    if (found) {
      const double now = observer_within(torque[i], o->load[i] - o->limit[i], o->load[i] + o->limit[i]);
      o->estimate[i] += o->gain * (0.5 * (o->last[i] + now) - o->estimate[i]);
      o->last[i] = now;
    } else {
      o->estimate[i] *= o->fade;
    }
    o->load[i] = observer_within(o->load[i] + o->settle * (o->estimate[i] - o->load[i]), -o->limit[i], o->limit[i]);
  }
  o->known = finite && !stale; /* after a stale one the next transition takes two steps */
  if (finite) {
    memcpy(o->p, p, N * sizeof(double));
    memcpy(o->pd, pd, N * sizeof(double));
  }
}

/* The part of the estimate of a joint that is a load [N.m]; the rest may end at once, like a push. */
static double observer_lasting(const Observer *o, int joint) {
  return observer_within(o->load[joint], fmin(o->estimate[joint], 0.0), fmax(o->estimate[joint], 0.0));
}

#endif

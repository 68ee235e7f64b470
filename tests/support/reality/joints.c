/* Motors, gears and friction of an arm whose links' mass matrix and forces are given: one step of h, links frozen in it.
   Rigid gears: rotors turn with the links, and friction is the impulse within its bounds that stops a joint if it can
   (projected Gauss-Seidel). Elastic gears: rotor and link are two masses with a spring between, symplectic Euler in
   sub-steps that resolve the fastest oscillation; friction acts on the rotor. */
#include <math.h>

#define MOST 16        /* joints */
#define SWEEPS 50      /* of Gauss-Seidel */
#define SETTLED 1e-12  /* N·m; change of a friction torque in a sweep */
#define RESOLVED 0.25  /* rad; most that the fastest oscillation turns in a sub-step */

typedef struct {
  int n, elastic;
  double rotor[MOST], coulomb[MOST], breakaway[MOST], stribeck[MOST], viscous[MOST]; /* kg·m², N·m, N·m, rad/s, N·m·s/rad */
  double stiffness[MOST], loss[MOST];                                                /* of gears: N·m/rad, N·m·s/rad */
  double q[MOST], dq[MOST], theta[MOST], dtheta[MOST];                               /* links and rotors: rad, rad/s */
  double torque[MOST], force[MOST], mass[MOST * MOST];                               /* of motors, on links; links' */
  double lower[MOST], upper[MOST];                                                   /* rad; hard stops of links */
  double rubbed[MOST];                                                               /* N·m; friction of the last step */
} Joints;

/* w = m^-1 by Cholesky; 0 if m is not positive definite. */
static int inverted(int n, const double *m, double w[MOST][MOST]) {
  double l[MOST][MOST] = {{0}};
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = m[i * n + j];
      for (int k = 0; k < j; k++) s -= l[i][k] * l[j][k];
      if (i == j && s <= 0.0) return 0;
      l[i][j] = i == j ? sqrt(s) : s / l[j][j];
    }
  for (int c = 0; c < n; c++) {
    double x[MOST];
    for (int i = 0; i < n; i++) {
      x[i] = i == c;
      for (int k = 0; k < i; k++) x[i] -= l[i][k] * x[k];
      x[i] /= l[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
      for (int k = i + 1; k < n; k++) x[i] -= l[k][i] * x[k];
      x[i] /= l[i][i];
      w[i][c] = x[i];
    }
  }
  return 1;
}

/* Most that dry friction gives at this speed [N·m]. */
static double dry(const Joints *a, int k, double v) {
  double r = v / a->stribeck[k];
  return a->coulomb[k] + (a->breakaway[k] - a->coulomb[k]) * exp(-r * r);
}

/* Links beyond their hard stops come back to them, by impulses that stop those that go further. An impulse on one joint changes
   the speeds of all; a speed that is only set to zero would add energy to the others. */
static void stopped(Joints *a, double w[MOST][MOST]) {
  int n = a->n, side[MOST], any = 0;
  double given[MOST] = {0};
  for (int k = 0; k < n; k++) {
    double q = fmin(fmax(a->q[k], a->lower[k]), a->upper[k]);
    side[k] = (a->q[k] > q) - (a->q[k] < q);
    any |= side[k];
    a->theta[k] += a->elastic ? 0.0 : q - a->q[k];
    a->q[k] = q;
  }
  if (!any) return;
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (int k = 0; k < n; k++) {
      if (!side[k]) continue;
      double before = given[k];
      given[k] = side[k] * fmin(side[k] * (before - a->dq[k] / w[k][k]), 0.0);
      for (int i = 0; i < n; i++) a->dq[i] += w[i][k] * (given[k] - before);
    }
  for (int k = 0; k < n && !a->elastic; k++) a->dtheta[k] = a->dq[k];
}

static int rigid(Joints *a, double h) {
  int n = a->n;
  double w[MOST][MOST], v[MOST], most[MOST];
  for (int k = 0; k < n; k++) {
    a->mass[k * n + k] += a->rotor[k] + h * a->viscous[k];
    most[k] = dry(a, k, a->dq[k]);
  }
  if (!inverted(n, a->mass, w)) return 1;
  for (int i = 0; i < n; i++) {
    double s = 0.0;
    for (int k = 0; k < n; k++) s += w[i][k] * (a->torque[k] + a->force[k] + a->rubbed[k] - a->viscous[k] * a->dq[k]);
    v[i] = a->dq[i] + h * s;
  }
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    double changed = 0.0;
    for (int k = 0; k < n; k++) {
      double wanted = a->rubbed[k] - v[k] / (h * w[k][k]);
      wanted = fmin(fmax(wanted, -most[k]), most[k]);
      double change = wanted - a->rubbed[k];
      a->rubbed[k] = wanted;
      for (int i = 0; i < n; i++) v[i] += h * w[i][k] * change;
      changed = fmax(changed, fabs(change));
    }
    if (changed < SETTLED) break;
  }
  for (int k = 0; k < n; k++) {
    double way = 0.5 * h * (a->dq[k] + v[k]);
    a->q[k] += way;
    a->theta[k] += way;
    a->dq[k] = a->dtheta[k] = v[k];
  }
  stopped(a, w);
  return 0;
}

static int elastic(Joints *a, double h) {
  int n = a->n;
  double w[MOST][MOST], fastest = 0.0;
  if (!inverted(n, a->mass, w)) return 1;
  for (int i = 0; i < n; i++) {
    double s = a->stiffness[i] / a->rotor[i];
    for (int k = 0; k < n; k++) s += sqrt(a->stiffness[i] * a->stiffness[k]) * fabs(w[i][k]);
    fastest = fmax(fastest, s); /* the largest eigenvalue is no larger than the largest row (Gershgorin) */
  }
  int steps = (int)ceil(h * sqrt(fastest) / RESOLVED);
  double dt = h / steps;
  for (int step = 0; step < steps; step++) {
    double pull[MOST];
    for (int k = 0; k < n; k++) {
      double spring = a->stiffness[k] * (a->theta[k] - a->q[k]) + a->loss[k] * (a->dtheta[k] - a->dq[k]);
      double v = (a->dtheta[k] + dt * (a->torque[k] - spring) / a->rotor[k]) / (1.0 + dt * a->viscous[k] / a->rotor[k]);
      double slip = dt * dry(a, k, a->dtheta[k]) / (a->rotor[k] + dt * a->viscous[k]);
      a->dtheta[k] = copysign(fmax(fabs(v) - slip, 0.0), v);
      a->rubbed[k] = -fmin(slip, fabs(v)) * copysign(a->rotor[k] / dt, v);
      pull[k] = spring + a->force[k];
    }
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) a->dq[i] += dt * w[i][k] * pull[k];
    for (int k = 0; k < n; k++) {
      a->q[k] += dt * a->dq[k];
      a->theta[k] += dt * a->dtheta[k];
    }
    stopped(a, w);
  }
  return 0;
}

/* `mass` (without rotors) and `force` are of the middle of the step; `mass` is spoiled. 0, or 1 where the mass matrix is not
   positive definite. */
int joints_advance(Joints *a, double h) {
  return a->elastic ? elastic(a, h) : rigid(a, h);
}

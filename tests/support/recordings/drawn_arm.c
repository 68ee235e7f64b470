/* The arm of scenarios.py: Newton and Euler over a chain of N hinges, its mass matrix column by column, Gauss's elimination, and
   Runge and Kutta's fourth order. Matrices row-major; link frames as in the description. */
#include <math.h>

#define N 3
#define GRAVITY 9.81

typedef struct {
  double axis[N][3], origin[N][3], mass[N], com[N][3], inertia[N][3], coulomb[N], viscous[N];
  double load, way, stribeck, width;
} Arm;

static void cross(const double *a, const double *b, double *c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static void add_body(double m, const double *c, const double *I, const double *a, const double *w, const double *dw, double *f,
                     double *n) {
  double t[3], u[3], own[3], h[3];
  cross(dw, c, t);
  cross(w, c, u);
  cross(w, u, own);
  for (int i = 0; i < 3; i++) own[i] = m * (a[i] + t[i] + own[i]);
  cross(c, own, t);
  for (int i = 0; i < 3; i++) h[i] = w[i] * I[i];
  cross(w, h, u);
  for (int i = 0; i < 3; i++) f[i] += own[i], n[i] += t[i] + dw[i] * I[i] + u[i];
}

void motors(const Arm *m, const double *q, const double *dq, const double *ddq, double *tau) {
  double w[3] = {0}, dw[3] = {0}, a[3] = {0, 0, GRAVITY}, R[N][9], f[N][3] = {{0}}, n[N][3] = {{0}};
  static const double tip[3] = {0.2, 0, 0}, none[3] = {0};
  for (int k = 0; k < N; k++) {
    const double *z = m->axis[k], s = sin(q[k]), c = cos(q[k]);
    double t[3], u[3], b[3];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) R[k][3 * i + j] = (1 - c) * z[i] * z[j] + (i == j ? c : 0);
    R[k][1] -= s * z[2], R[k][2] += s * z[1], R[k][3] += s * z[2];
    R[k][5] -= s * z[0], R[k][6] -= s * z[1], R[k][7] += s * z[0];
    cross(dw, m->origin[k], t);
    cross(w, m->origin[k], u);
    cross(w, u, b);
    for (int i = 0; i < 3; i++) b[i] += a[i] + t[i], t[i] = w[i], u[i] = dw[i];
    for (int j = 0; j < 3; j++) {
      a[j] = w[j] = dw[j] = 0;
      for (int i = 0; i < 3; i++) a[j] += R[k][3 * i + j] * b[i], w[j] += R[k][3 * i + j] * t[i], dw[j] += R[k][3 * i + j] * u[i];
    }
    cross(w, z, t);
    for (int i = 0; i < 3; i++) dw[i] += z[i] * ddq[k] + t[i] * dq[k];
    for (int i = 0; i < 3; i++) w[i] += z[i] * dq[k];
    add_body(m->mass[k], m->com[k], m->inertia[k], a, w, dw, f[k], n[k]);
    if (k == N - 1 && m->load > 0) add_body(m->load, tip, none, a, w, dw, f[k], n[k]);
  }
  for (int k = N - 1; k >= 0; k--) {
    double F[3] = {0}, M[3] = {0}, t[3];
    tau[k] = n[k][0] * m->axis[k][0] + n[k][1] * m->axis[k][1] + n[k][2] * m->axis[k][2];
    if (!k) break;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) F[i] += R[k][3 * i + j] * f[k][j], M[i] += R[k][3 * i + j] * n[k][j];
    cross(m->origin[k], F, t);
    for (int i = 0; i < 3; i++) f[k - 1][i] += F[i], n[k - 1][i] += M[i] + t[i];
  }
}

void accelerations(const Arm *m, const double *q, const double *dq, const double *torque, double *ddq) {
  double A[N][N], zero[N] = {0}, free[N], unit[N], column[N];
  motors(m, q, dq, zero, free);
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < N; i++) unit[i] = i == k;
    motors(m, q, dq, unit, column);
    for (int i = 0; i < N; i++) A[i][k] = column[i] - free[i];
    ddq[k] = torque[k] - free[k];
  }
  for (int k = 0; k < N; k++)
    for (int i = k + 1; i < N; i++) {
      const double ratio = A[i][k] / A[k][k];
      for (int j = k; j < N; j++) A[i][j] -= ratio * A[k][j];
      ddq[i] -= ratio * ddq[k];
    }
  for (int k = N - 1; k >= 0; k--) {
    for (int j = k + 1; j < N; j++) ddq[k] -= A[k][j] * ddq[j];
    ddq[k] /= A[k][k];
  }
}

static void rates(const Arm *m, const double *u, const double *x, double *dx) {
  const double *q = x, *dq = x + N, *z = x + 2 * N;
  double torque[N];
  for (int k = 0; k < N; k++) {
    double friction = m->coulomb[k] * tanh(dq[k] / m->width) * (1 + m->stribeck * exp(-dq[k] * dq[k] / (0.15 * 0.15)));
    dx[k] = dq[k], dx[2 * N + k] = 0;
    if (m->way > 0) friction = m->coulomb[k] * z[k], dx[2 * N + k] = dq[k] / m->way * (1 - z[k] * (dq[k] > 0 ? 1 : -1));
    torque[k] = u[k] - friction - m->viscous[k] * dq[k];
  }
  accelerations(m, q, dq, torque, dx + N);
}

/* x (3 N): q, dq, friction's state; the wanted motion is sums of three sines (size, omega, phase: 3 rows of N) about `middle`.
   The controller ticks every `held` steps, by a model `known` of the rigid body; out (count, 3 N): q, dq, and the torque that
   follows, or, where the controller is faster than the recording, the mean of the ticks before and after. */
void simulate(const Arm *m, const Arm *known, const double *middle, const double *size, const double *omega, const double *phase,
              double h, int held, int stride, int count, double *out) {
  static const double kp[N] = {150, 120, 40}, kd[N] = {15, 12, 4};
  double x[3 * N] = {0}, u[N] = {0}, before[N], k1[3 * N], k2[3 * N], k3[3 * N], k4[3 * N], y[3 * N];
  for (int step = 0; step < count * stride; step++) {
    for (int k = 0; k < N; k++) before[k] = u[k];
    if (step % held == 0) {
      double q[N], dq[N] = {0}, ddq[N] = {0};
      for (int k = 0; k < N; k++) {
        q[k] = middle[k];
        for (int r = 0; r < 3; r++) {
          const double o = omega[N * r + k], a = o * h * step + phase[N * r + k], s = size[N * r + k];
          q[k] += s * sin(a), dq[k] += s * o * cos(a), ddq[k] -= s * o * o * sin(a);
        }
        if (step == 0) x[k] = q[k], x[N + k] = dq[k];
      }
      motors(known, q, dq, ddq, u);
      for (int k = 0; k < N; k++)
        u[k] += m->coulomb[k] * tanh(dq[k] / 0.05) + m->viscous[k] * dq[k] + kp[k] * (q[k] - x[k]) + kd[k] * (dq[k] - x[N + k]);
    }
    if (step % stride == 0)
      for (int k = 0; k < N; k++) {
        double *row = out + 3 * N * (step / stride);
        row[k] = x[k], row[N + k] = x[N + k], row[2 * N + k] = held < stride && step ? 0.5 * (before[k] + u[k]) : u[k];
      }
    rates(m, u, x, k1);
    for (int i = 0; i < 3 * N; i++) y[i] = x[i] + h / 2 * k1[i];
    rates(m, u, y, k2);
    for (int i = 0; i < 3 * N; i++) y[i] = x[i] + h / 2 * k2[i];
    rates(m, u, y, k3);
    for (int i = 0; i < 3 * N; i++) y[i] = x[i] + h * k3[i];
    rates(m, u, y, k4);
    for (int i = 0; i < 3 * N; i++) x[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
}

/* Derivatives of the dynamics of closed loops at an instant: of outputs o(z, y) with r(z, y) = 0, which is linear in z, and
 * y = (p, pd, u or pdd). loop_instant_model.h describes the robot. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "model.h"
#include "loop_instant_model.h"
#include "dense.h"

typedef struct {
  double z[MOST_SIZE], K[MOST_SIZE * MOST_SIZE], r[MOST_SIZE]; /* K: r by z; r at z = 0, then multipliers */
  double R[MOST_SIZE * COLUMNS];                               /* derivative of r by y or alpha, then that of z */
  double o[MOST_OUT], by_z[MOST_OUT * MOST_SIZE], by_y[MOST_OUT * COLUMNS], bar[MOST_OUT];
  double kernel[KERNEL_WORK];
} Work; /* followed by the function's own work */

typedef struct {
  int size, outputs;      /* number of unknowns; of outputs */
  const int *start;       /* start of each output in o, and the end of the last */
  int diverged;           /* status */
  int (*itself)(const double *const *in, double *const *out, double *work);
  void (*system)(const double *, const double *, const double *, const double *alpha, const double *z, double *K, double *r,
                 double *R, double *o, double *by_z, double *by_y, double *work);
  void (*by_alpha)(const double *, const double *, const double *, const double *alpha, const double *z, double *R, double *O,
                   double *work);
  void (*pull)(const double *, const double *, const double *, const double *alpha, const double *z, const double *multipliers,
               const double *seed, double *, double *, double *, double *alpha_bar, double *work);
} System;

/* c = a b, of rows x shared and shared x cols, added to c. */
static void add_product(const double *a, const double *b, int rows, int shared, int cols, double factor, double *c) {
  int i, j, k;
  for (j = 0; j < cols; j++) {
    for (k = 0; k < shared; k++) {
      const double f = factor * b[k + shared * j];
      for (i = 0; i < rows; i++) c[i + rows * j] += f * a[i + rows * k];
    }
  }
}

/* Values by the function itself; then the system and its solution z. */
static int at(const System *s, const double *const *in, double *const *values, Work *w) {
  int k, i, status = s->itself(in, values, (double *)(void *)(w + 1));
  if (status != 0) return status;
  memset(w->z, 0, sizeof w->z);
  for (k = 0; k < 2; k++) {
    s->system(in[0], in[1], in[2], in[3], w->z, w->K, w->r, w->R, w->o, w->by_z, w->by_y, w->kernel);
    if (k == 1) break;
    for (i = 0; i < s->size; i++) w->z[i] = -w->r[i];
    if (solve_dense(w->K, w->z, s->size, 1) != 0) return STATUS_LOOPS_SINGULAR;
  }
  for (i = 0; i < s->size; i++) {
    if (!(fabs(w->z[i]) <= C_HUGE)) return s->diverged;
  }
  return 0;
}

/* o_y - o_z K^-1 R in the place of o_y, for `columns` columns. */
static int respond(const System *s, int columns, Work *w) {
  if (solve_dense(w->K, w->R, s->size, columns) != 0) return STATUS_LOOPS_SINGULAR;
  add_product(w->by_z, w->R, s->start[s->outputs], s->size, columns, -1.0, w->by_y);
  return 0;
}

/* Copies the rows of one output from `columns` columns, first `first`; zeros if the status is not 0. */
static void give(const System *s, int output, int first, int columns, int status, const Work *w, double *to) {
  const int rows = s->start[output + 1] - s->start[output];
  int j;
  for (j = 0; j < columns; j++) {
    const double *from = w->by_y + s->start[s->outputs] * (first + j) + s->start[output];
    if (status == 0) memcpy(to + rows * j, from, (size_t)rows * sizeof(double));
    else memset(to + rows * j, 0, (size_t)rows * sizeof(double));
  }
}

static int jacobian(const System *s, const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  int b, o, status = at(s, in, out, w);
  if (status == 0) status = respond(s, 3 * N, w);
  for (o = 0; o < s->outputs; o++)
    for (b = 0; b < 3; b++) give(s, o, N * b, N, status, w, out[s->outputs + 3 * o + b]);
  return status;
}

static int jacobian_by_alpha(const System *s, const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  double *values[MOST_OUTPUTS];
  int o, status;
  for (o = 0; o < s->outputs; o++) values[o] = w->bar + s->start[o];
  status = at(s, in, values, w);
  if (status == 0) {
    s->by_alpha(in[0], in[1], in[2], in[3], w->z, w->R, w->by_y, w->kernel);
    status = respond(s, NA, w);
  }
  for (o = 0; o < s->outputs; o++) give(s, o, 0, NA, status, w, out[o]);
  return status;
}

/* Multipliers K^-T o_z^T seed in r. */
static int multipliers(const System *s, Work *w) {
  const int n = s->size, count = s->start[s->outputs];
  int i, j;
  for (j = 0; j < n; j++) {
    for (i = 0; i < j; i++) {
      const double t = w->K[i + n * j];
      w->K[i + n * j] = w->K[j + n * i];
      w->K[j + n * i] = t;
    }
    for (i = 0, w->r[j] = 0.0; i < count; i++) w->r[j] += w->by_z[i + count * j] * w->bar[i];
  }
  return solve_dense(w->K, w->r, n, 1) != 0 ? STATUS_LOOPS_SINGULAR : 0;
}

static int pull_back(const System *s, const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  double *values[MOST_OUTPUTS];
  int o, j, status;
  for (o = 0; o < s->outputs; o++) values[o] = w->bar + s->start[o];
  status = at(s, in, values, w);
  for (o = 0; o < s->outputs; o++) memcpy(values[o], in[4 + o], (size_t)(s->start[o + 1] - s->start[o]) * sizeof(double));
  if (status == 0) status = multipliers(s, w);
  if (status == 0) {
    s->pull(in[0], in[1], in[2], in[3], w->z, w->r, w->bar, out[0], out[1], out[2], out[3], w->kernel);
    return 0;
  }
  for (j = 0; j < 3; j++) memset(out[j], 0, N * sizeof(double));
  memset(out[3], 0, NA * sizeof(double));
  return status;
}

#define HEAD ((int)(sizeof(Work) / sizeof(double)))

#if FORWARD
static const System forward = {
  FORWARD_SIZE, 1, forward_start, STATUS_DIVERGED, ROBOT(forward_dynamics), forward_dynamics_system_kernel,
  forward_dynamics_by_alpha_kernel, forward_dynamics_pull_kernel
};

HIDDEN int INNER(jac_forward_dynamics)(const double *const *in, double *const *out, double *work) {
  return jacobian(&forward, in, out, work);
}
HIDDEN int INNER(jac_alpha_forward_dynamics)(const double *const *in, double *const *out, double *work) {
  return jacobian_by_alpha(&forward, in, out, work);
}
HIDDEN int INNER(vjp_forward_dynamics)(const double *const *in, double *const *out, double *work) {
  return pull_back(&forward, in, out, work);
}
int ROBOT(jac_forward_dynamics_work_size)(void) { return HEAD + ROBOT(forward_dynamics_work_size)(); }
int ROBOT(jac_alpha_forward_dynamics_work_size)(void) { return HEAD + ROBOT(forward_dynamics_work_size)(); }
int ROBOT(vjp_forward_dynamics_work_size)(void) { return HEAD + ROBOT(forward_dynamics_work_size)(); }
#endif

#if INVERSE
static const System inverse = {
  INVERSE_SIZE, 3, inverse_start, STATUS_LOOPS_SINGULAR, ROBOT(inverse_dynamics), inverse_dynamics_system_kernel,
  inverse_dynamics_by_alpha_kernel, inverse_dynamics_pull_kernel
};

HIDDEN int INNER(jac_inverse_dynamics)(const double *const *in, double *const *out, double *work) {
  return jacobian(&inverse, in, out, work);
}
HIDDEN int INNER(jac_alpha_inverse_dynamics)(const double *const *in, double *const *out, double *work) {
  return jacobian_by_alpha(&inverse, in, out, work);
}
HIDDEN int INNER(vjp_inverse_dynamics)(const double *const *in, double *const *out, double *work) {
  return pull_back(&inverse, in, out, work);
}
int ROBOT(jac_inverse_dynamics_work_size)(void) { return HEAD + ROBOT(inverse_dynamics_work_size)(); }
int ROBOT(jac_alpha_inverse_dynamics_work_size)(void) { return HEAD + ROBOT(inverse_dynamics_work_size)(); }
int ROBOT(vjp_inverse_dynamics_work_size)(void) { return HEAD + ROBOT(inverse_dynamics_work_size)(); }
#endif

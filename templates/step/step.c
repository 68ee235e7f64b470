/* Steps in maximal coordinates (x, v, q, omega of every link), one kernel per variant, with rollouts and reverse derivatives.
 * step_model.h describes the robot, step_entries.h lists the variants. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "model.h"
#include "step_model.h"

enum {
  STATE = 13,      /* state of a link */
  XI = N * STATE   /* state of the robot */
};

typedef struct {
  double blocks[BLOCKS], bars[BLOCKS]; /* parameters of links, joints, friction, springs; gradients by them */
  double values[VALUES + 1];           /* those that depend on alpha */
  double scratch[SHARED];
} Work; /* followed by the variant's own work */

/* A step with prepared blocks; pivots: inverse pivots of the loop rows. */
typedef void Forward(const double *xi, const double *u, const double *h, const double *alpha, const double *blocks,
                     double *xi_next, double *pivots, double *work);
/* Reverse derivative of a step; adds to every _bar, those of the blocks included. */
typedef void Reverse(const double *xi, const double *u, const double *h, const double *alpha, const double *blocks,
                     const double *seed, double *xi_bar, double *u_bar, double *h_bar, double *alpha_bar, double *bars,
                     double *work);

typedef struct {
  Forward *free, *full; /* without and with the kinds of friction that the variant solves for */
  Reverse *free_reverse, *full_reverse;
  int viscous; /* whether viscous friction is among those kinds */
} Variant;

static int none(const double *x) {
  int k;
  for (k = 0; k < N; k++)
    if (x[k] != 0.0) return 0;
  return 1;
}

static int all_finite(const double *x, int count) {
  int k;
  for (k = 0; k < count; k++)
    if (!(fabs(x[k]) <= C_HUGE)) return 0;
  return 1;
}

static int frictionless(const Variant *v, const double *alpha) {
  int k;
  for (k = 0; k < N; k++)
    if (!NO_COULOMB(alpha, k) || (v->viscous && !NO_FRICTION(alpha, k))) return 0;
  return 1;
}

static double *own_work(Work *w) { return (double *)(void *)(w + 1); }

#if ROWS
static double largest(const double *x, int count) {
  double most = 0.0;
  int k;
  for (k = 0; k < count; k++)
    if (!(fabs(x[k]) <= most) && most == most) most = fabs(x[k]); /* written so that NaN is kept */
  return most;
}

/* The largest gap of the loops of a state, and its rate relative to the state's velocities. */
static double loops_open(const double *xi, Work *w, double *rate) {
  double *rows = w->scratch, *rates = rows + ROWS, most = 0.0;
  int k;
  loops_kernel(xi, w->blocks + LOOP_BLOCK, rows, rates, rates + ROWS);
  for (k = 0; k < N; k++) {
    const double v = largest(xi + STATE * k + 3, 3), omega = largest(xi + STATE * k + 10, 3);
    if (v > most) most = v;
    if (omega > most) most = omega;
  }
  *rate = largest(rates, ROWS) / (1.0 + most);
  return largest(rows, ROWS);
}

/* Whether only the rows that are always redundant depend on others; from the inverse pivots. */
static int independent(const double *pivots) {
  double least = fabs(pivots[0]);
  int k, small = 0;
  for (k = 1; k < KEPT; k++)
    if (fabs(pivots[k]) < least) least = fabs(pivots[k]);
  for (k = 0; k < KEPT; k++)
    if (!(fabs(pivots[k]) * (REDUNDANT ? C_SPARE_RATIO : C_PIVOT_RATIO) < least)) small++;
  return small <= REDUNDANT;
}
#endif

/* Parameters of the robot for alpha; returns a status: whether a step may start from xi. */
static int begin(const double *xi, const double *h, const double *alpha, Work *w) {
  int k;
  if (!(h[0] >= C_LEAST_STEP)) return STATUS_STEP_NOT_FORWARDS;
  if (!none(alpha + ROTOR)) return STATUS_ROTOR_INERTIA;
  memcpy(w->blocks, fixed, sizeof w->blocks);
  blocks_kernel(alpha, w->values, w->scratch);
  for (k = 0; k < VALUES; k++) w->blocks[where[k]] = w->values[k];
#if LIMITED
  /* a joint too far outside its limits, or with an empty range */
  limits_kernel(xi, w->blocks + JOINT_BLOCK, w->blocks + LIMIT_BLOCK, w->scratch, w->scratch + LIMITED);
  for (k = 0; k < LIMITED; k++)
    if (w->scratch[k] < 0.0) return STATUS_OUTSIDE_LIMITS;
#endif
#if ROWS
  {
    double rate;
    if (!(loops_open(xi, w, &rate) <= OPEN)) return STATUS_LOOP_OPEN;
  }
#endif
  (void)xi;
  return 0;
}

/* One step with prepared parameters; if it fails xi_next is xi. */
static int advance(const Variant *v, const double *xi, const double *u, const double *h, const double *alpha,
                   double *xi_next, Work *w) {
  double pivots[KEPT + 1];
  int status = STATUS_DIVERGED;
  (frictionless(v, alpha) ? v->free : v->full)(xi, u, h, alpha, w->blocks, xi_next, pivots, own_work(w));
  if (all_finite(xi_next, XI)) {
#if ROWS
    double rate;
    const double open = loops_open(xi_next, w, &rate);
    if (open <= OPEN && rate <= RATE_LEFT && independent(pivots)) return 0;
    status = open <= OPEN ? STATUS_LOOPS_SINGULAR : STATUS_LOOP_NOT_CLOSED;
#else
    return 0;
#endif
  }
  memcpy(xi_next, xi, XI * sizeof(double));
  return status;
}

static int single(const Variant *v, const double *const *in, double *const *out, Work *w) {
  const int status = begin(in[0], in[2], in[3], w);
  if (status == 0) return advance(v, in[0], in[1], in[2], in[3], out[0], w);
  memcpy(out[0], in[0], XI * sizeof(double));
  return status;
}

static int roll(const Variant *v, int steps, const double *const *in, double *nodes, Work *w) {
  int k, status = begin(in[0], in[2], in[3], w);
  memcpy(nodes, in[0], XI * sizeof(double));
  for (k = 0; k < steps; k++, nodes += XI) {
    if (status == 0) status = advance(v, nodes, in[1] + (size_t)k * N, in[2], in[3], nodes + XI, w);
    else memcpy(nodes + XI, nodes, XI * sizeof(double)); /* the rest holds the last good state */
  }
  return status;
}

#if REVERSE
static void pull(const Variant *v, const double *xi, const double *u, const double *h, const double *alpha,
                 const double *seed, double *xi_bar, double *u_bar, double *h_bar, double *alpha_bar, Work *w) {
  (frictionless(v, alpha) ? v->free_reverse : v->full_reverse)(xi, u, h, alpha, w->blocks, seed, xi_bar, u_bar, h_bar,
                                                               alpha_bar, w->bars, own_work(w));
}

static void pull_blocks(const double *alpha, double *alpha_bar, Work *w) {
  int k;
  for (k = 0; k < VALUES; k++) w->values[k] = w->bars[where[k]];
  blocks_reverse_kernel(alpha, w->values, alpha_bar, w->scratch);
}

static int single_back(const Variant *v, const double *const *in, double *const *out, Work *w) {
  const int status = begin(in[0], in[2], in[3], w);
  if (status != 0) return status;
  memset(w->bars, 0, sizeof w->bars);
  memset(out[0], 0, XI * sizeof(double));
  memset(out[1], 0, N * sizeof(double));
  out[2][0] = 0.0;
  memset(out[3], 0, NA * sizeof(double));
  pull(v, in[0], in[1], in[2], in[3], in[4], out[0], out[1], out[2], out[3], w);
  pull_blocks(in[3], out[3], w);
  return all_finite(out[0], XI) ? 0 : STATUS_DIVERGED;
}

/* Reverse derivative of a rollout. The forward pass keeps the nodes, in `held` after two states; the inside of each step is recomputed
 * on the way back. */
static int roll_back(const Variant *v, int steps, const double *const *in, double *const *out, double *held, Work *w) {
  double *seed = held, *bar = seed + XI, *nodes = bar + XI;
  const double *nodes_bar = in[4];
  const int status = roll(v, steps, in, nodes, w);
  int k;
  if (status != 0) return status;
  memset(w->bars, 0, sizeof w->bars);
  memset(out[1], 0, (size_t)steps * N * sizeof(double));
  out[2][0] = 0.0;
  memset(out[3], 0, NA * sizeof(double));
  memcpy(bar, nodes_bar + (size_t)steps * XI, XI * sizeof(double));
  for (k = steps - 1; k >= 0; k--) {
    const size_t at = (size_t)k * XI;
    memcpy(seed, bar, XI * sizeof(double));
    memcpy(bar, nodes_bar + at, XI * sizeof(double));
    pull(v, nodes + at, in[1] + (size_t)k * N, in[2], in[3], seed, bar, out[1] + (size_t)k * N, out[2], out[3], w);
  }
  pull_blocks(in[3], out[3], w);
  memcpy(out[0], bar, XI * sizeof(double));
  return all_finite(bar, XI) ? 0 : STATUS_DIVERGED;
}
#endif

#include "step_entries.h"

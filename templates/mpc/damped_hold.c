/* The torque of a controller without a plan: holds a pose against gravity and damps its motion, stable in sampled control.
 * damped_hold_model.h describes the robot.
 *
 * The wanted damping torque is -r M pd: every motion decays by the same rate r, whatever the coupling. r is bounded by 1 / (e T), where
 * T = (delay + 3/2) h is the dead time of a torque that is held over a tick and acts one tick later than told: then the decay has no
 * overshoot. What is applied is the torque x within the bounds that is nearest to it in the metric of the motors' mobility L:
 *   f(x) = x' L x / 2 + r x' pd  is minimised from x = 0 or a shorter torque along the wanted one, so that f(x) <= 0 wherever the
 * descent ends, and x takes energy out: x' pd <= -x' L x / (2 r). In one tick the kinetic energy cannot rise for r h <= 1, nor at the
 * minimum while r h times the largest ratio of the model's inertia to the arm's is below 2. Friction has no part in it. */
#include <math.h>
#include <string.h>

#include "model.h"
#include "damped_hold_model.h"

enum { NP = N + FLOATING, FIRST = FLOATING ? 6 : 0, HOLDING = 4 * NP };

typedef struct {
  double p[NP], closed[NP], rates[N], base[N], low[N], high[N], x[N], column[N]; /* low, high: bounds of x, less the base */
  double mass[N * N], mobility[N * N], factor[N * N];                            /* mobility: motors' accelerations by their torques */
  double parts[HOLDING];                                                         /* of holding.h */
  double kernel[KERNEL_WORK];
} Work;

#include "holding.h"

static int all_within(const double *x, int count, double most) {
  int k;
  for (k = 0; k < count; k++)
    if (!(fabs(x[k]) <= most)) return 0;
  return 1;
}

static double clamp(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

/* Cholesky factor of A (lower triangle of both) with the diagonal raised by `ridge`; 0 if A is not positive definite. */
static int factorise(const double *A, double ridge, double *L) {
  int i, j, k;
  for (j = 0; j < N; j++)
    for (i = j; i < N; i++) {
      double sum = A[i + N * j] * (i == j ? 1.0 + ridge : 1.0);
      for (k = 0; k < j; k++) sum -= L[i + N * k] * L[j + N * k];
      if (i > j) L[i + N * j] = sum / L[j + N * j];
      else if (!(sum > C_MPC_PIVOT * A[j + N * j])) return 0;
      else L[j + N * j] = sqrt(sum);
    }
  return 1;
}

static void solve(const double *L, double *b) {
  int i, k;
  for (i = 0; i < N; i++) {
    for (k = 0; k < i; k++) b[i] -= L[i + N * k] * b[k];
    b[i] /= L[i + N * i];
  }
  for (i = N - 1; i >= 0; i--) {
    for (k = i + 1; k < N; k++) b[i] -= L[k + N * i] * b[k];
    b[i] /= L[i + N * i];
  }
}

/* The pose [rad or m] `ahead` seconds later, at the rates pd, closed; 0 or a status. A base keeps its orientation. */
static int pose_ahead(const double *p, const double *pd, double ahead, const double *alpha, Work *w) {
  int i, status = 0;
  memcpy(w->p, p, NP * sizeof(double));
  for (i = 0; i < FIRST / 2; i++) w->p[i] += clamp(ahead * pd[i], -C_HOLD_AHEAD, C_HOLD_AHEAD);
  for (i = FIRST; i < N; i++) w->p[i + FLOATING] += clamp(ahead * pd[i], -C_HOLD_AHEAD, C_HOLD_AHEAD);
#if CLOSED
  {
    const double *in[3];
    double *out[1];
    memset(w->column, 0, sizeof w->column);
    in[0] = w->p, in[1] = w->column, in[2] = alpha;
    out[0] = w->closed;
    status = ROBOT(close_loops)(in, out, w->kernel);
    memcpy(w->p, w->closed, sizeof w->p);
  }
#else
  (void)alpha;
#endif
  return status;
}

/* mass: joint-space inertia at the pose. */
static void inertia(const double *alpha, Work *w) {
  const double *in[2];
  double *out[1];
  in[0] = w->p, in[1] = alpha;
  out[0] = w->mass;
  (void)ROBOT(mass_matrix)(in, out, w->kernel);
}

/* mobility from mass, closed loops kept closed; 0 if the mass is singular, or the loops are. */
static int invert(const double *alpha, Work *w) {
  int i, j;
  if (!factorise(w->mass, 0.0, w->factor)) return 0;
  for (j = 0; j < N; j++) {
    double *column = w->mobility + N * j;
    memset(column, 0, N * sizeof(double));
    column[j] = 1.0;
    if (!motor[j]) continue; /* a row and column of its own: the torque is zero */
    solve(w->factor, column);
#if CLOSED
    {
      const double *in[3];
      double *out[1];
      in[0] = w->p, in[1] = column, in[2] = alpha;
      out[0] = w->column;
      if (ROBOT(close_rates)(in, out, w->kernel) != 0) return 0;
      memcpy(column, w->column, sizeof w->column);
    }
#endif
    for (i = 0; i < N; i++)
      if (!motor[i]) column[i] = 0.0;
  }
  (void)alpha;
  return all_within(w->mobility, N * N, C_HUGE);
}

/* rates: those of motors that closed loops allow; 0 if the loops are singular. */
static int allow(const double *alpha, Work *w) {
  int i;
#if CLOSED
  const double *in[3];
  double *out[1];
  in[0] = w->p, in[1] = w->rates, in[2] = alpha;
  out[0] = w->column;
  if (ROBOT(close_rates)(in, out, w->kernel) != 0) return 0;
  memcpy(w->rates, w->column, sizeof w->rates);
#else
  (void)alpha;
#endif
  for (i = 0; i < N; i++)
    if (!motor[i]) w->rates[i] = 0.0;
  return all_within(w->rates, N, C_HUGE);
}

/* x: the wanted damping torque; 0 if it is not determined. */
static int wanted(double rate, Work *w) {
  int i, j;
  for (i = 0; i < N; i++) w->x[i] = PLAIN ? 0.0 : -rate * w->rates[i];
  if (PLAIN) {
    for (j = 0; j < N; j++)
      for (i = 0; i < N; i++) w->x[i] -= rate * w->mass[i + N * j] * w->rates[j];
  } else {
    if (!factorise(w->mobility, C_HOLD_RIDGE, w->factor)) return 0;
    solve(w->factor, w->x);
  }
  return all_within(w->x, N, C_HUGE);
}

/* Scales x to within its bounds by one factor; whether that was needed. */
static int shorten(Work *w) {
  double factor = 1.0;
  int i;
  for (i = 0; i < N; i++) {
    if (w->x[i] > w->high[i] && w->high[i] < factor * w->x[i]) factor = w->high[i] / w->x[i];
    if (w->x[i] < w->low[i] && w->low[i] > factor * w->x[i]) factor = w->low[i] / w->x[i];
  }
  for (i = 0; i < N; i++) w->x[i] = clamp(factor * w->x[i], w->low[i], w->high[i]);
  return factor < 1.0;
}

/* Lowers f within the bounds, motor by motor. */
static void descend(double rate, Work *w) {
  int sweep, i, j;
  for (sweep = 0; sweep < C_HOLD_SWEEPS; sweep++)
    for (j = 0; j < N; j++) {
      const double *column = w->mobility + N * j;
      double slope = rate * w->rates[j];
      if (!motor[j] || !(column[j] > 0.0)) continue;
      for (i = 0; i < N; i++) slope += column[i] * w->x[i];
      w->x[j] = clamp(w->x[j] - slope / column[j], w->low[j], w->high[j]);
    }
}

/* x: the damping torque within its bounds; 0 if there is none. */
static int damp(double rate, const double *alpha, Work *w) {
  int known;
  inertia(alpha, w);
  if (!all_within(w->mass, N * N, C_HUGE) || !allow(alpha, w)) return 0;
  if (!PLAIN && !invert(alpha, w)) return 0;
  known = wanted(rate, w);
  if (!known) memset(w->x, 0, sizeof w->x);
  if (known && !shorten(w)) return 1;
  if (!PLAIN || invert(alpha, w)) descend(rate, w);
  return 1;
}

/* The bounded holding torque as base, and the bounds of what is added to it. */
static void begin(const double *lower, const double *upper, Work *w) {
  int i;
  for (i = 0; i < N; i++) {
    w->base[i] = motor[i] ? clamp(w->base[i], lower[i], upper[i]) : 0.0;
    w->low[i] = motor[i] ? lower[i] - w->base[i] : 0.0;
    w->high[i] = motor[i] ? upper[i] - w->base[i] : 0.0;
  }
}

static int usable(const double *p, const double *lower, const double *upper, const double *alpha) {
  int i;
  for (i = 0; i < N; i++)
    if (motor[i] && !(lower[i] <= upper[i])) return 0;
  return all_within(p, NP, C_HUGE) && all_within(alpha, NA, C_HUGE);
}

HIDDEN int INNER(damped_hold)(const double *const *in, double *const *out, double *work) {
  const double *p = in[0], *pd = in[1], *lower = in[2], *upper = in[3], *alpha = in[6], delay = in[4][0], h = in[5][0];
  const int timed = h >= C_LEAST_STEP && h <= C_HUGE && delay >= 0.0 && delay <= C_MPC_MOST;
  const int moving = timed && all_within(pd, N, C_FAR_RATE);
  Work *const w = (Work *)(void *)work;
  double *u = out[0];
  int i, status;
  memset(u, 0, N * sizeof(double));
  if (!usable(p, lower, upper, alpha)) return STATUS_HOLD_BAD_INPUT;
  for (i = 0; i < N; i++) w->rates[i] = moving ? pd[i] : 0.0;
  status = pose_ahead(p, w->rates, moving ? (delay + 0.5) * h : 0.0, alpha, w);
  if (status != 0 && moving) status = pose_ahead(p, w->rates, 0.0, alpha, w);
  if (status == 0) status = hold(w->p, alpha, w->parts, w->kernel, w->base);
  if (status == 0 && !all_within(w->base, N, C_HUGE)) status = STATUS_HOLD_BAD_INPUT;
  if (status != 0) memset(w->base, 0, sizeof w->base);
  begin(lower, upper, w);
  memcpy(u, w->base, sizeof w->base);
  if (status != 0) return status;
  if (!moving) return h >= C_LEAST_STEP ? STATUS_HOLD_UNDAMPED : STATUS_STEP_NOT_FORWARDS;
  if (!damp(fmin(C_HOLD_RATE, C_HOLD_SHARE / ((delay + 1.5) * h)), alpha, w)) return STATUS_HOLD_UNDAMPED;
  for (i = 0; i < N; i++) u[i] = clamp(w->base[i] + w->x[i], lower[i], upper[i]);
  for (i = 0; i < N; i++)
    if (!motor[i]) u[i] = 0.0;
  return STATUS_OK;
}

int ROBOT(damped_hold_work_size)(void) { return (int)(sizeof(Work) / sizeof(double)); }

/* Inverse kinematics: joint positions for a pose of a frame, by damped Gauss-Newton steps (Levenberg 1944, Marquardt 1963) within the
 * joint limits, started at the given position, then at those of a fixed low-discrepancy sequence. Nothing is random. */

#include <string.h>

#include "frames_model.h"
#include "frame_chain.h"

#define ROWS 6 /* of the error: position, then rotation */
#if DISTANCES
#define KEPT (DISTANCES < 6 ? DISTANCES : 6) /* further rows: the smallest of the distances that are too small */
#else
#define KEPT 0
#endif
#define ALL (ROWS + KEPT)

/* Constants of the search, with unit and reason. */
#define FIRST_DAMPING 0.03  /* 1: damping relative to the squared error, for quadratic convergence */
#define MORE 8.0            /* 1: factor on the damping after a rejected step, */
#define LESS 0.5            /* 1: and after an accepted one */
#define LEAST_DAMPING 1e-4  /* 1: lower bound of the damping */
#define MOST_DAMPING 1e6    /* 1: the descent gives up */
#define FLOOR 1e-12         /* 1: damping that keeps the Gram matrix of a singular pose invertible */
#define SLOW 0.9            /* 1: a descent ends if PATIENCE steps leave more than this part of the squared error */
#define PATIENCE 6          /* 1 */
#define ACROSS 0.75         /* 1: part of its range by which a joint at a limit is moved back for a second descent */
#define HALF_TURN 3.14159265358979323846
#define STRAIGHT 1e-7       /* 1: sine of an angle below which its axis is taken from the diagonal, or is irrelevant */
#define UNIT 1e-6           /* 1: tolerance of orthonormality: rounding to six printed digits */
#define MOST_MARGIN 0.25    /* 1: largest margin at either limit, relative to the range */
#define CANDIDATES 8        /* 1: candidates of which the nearest is the next start */

enum { POSITION_CLOSE, ROTATION_CLOSE, STARTS, FIRST_START, STEPS, MARGIN, OPTIONS }; /* options; 0: default */
#define CLOSE 1e-6        /* m, rad */
#define DEFAULT_STARTS 20 /* 1 */
#define DEFAULT_STEPS 100 /* 1: per start */

#define AIM 1e-6   /* m: added to the required distance in the search */
#define SURE 1e-9  /* m: added to it in the test of the result, for rounding */
enum { LEAST, ASKED }; /* keep_apart */

#define INFO (4 + (DISTANCES > 0)) /* errors of position [m] and rotation [rad], start index of p, steps in total, least distance [m] */

typedef struct {
  const double *numbers, *position, *fixed;
  double rotation[9];   /* row by row */
  double weights[ROWS]; /* 1/m, 1/rad */
  double lower[N], upper[N];
  double close[2];
  int frame, first, last; /* range of the weighted rows */
  const double *const *obstacles;
  const double *alpha, *apart; /* apart: null without a required distance */
  double *work;                /* of the distance functions */
  int used[N];            /* whether a coordinate moves the frame and may change */
} Goal;

typedef struct {
  double p[NP], error[ALL], miss[2], cost, least; /* least: distance [m] */
  int near, which[KEPT + 1];                      /* rows of distances, from `last` on */
  Chain chain;
} State;

/* Rotation vector from R to G in world axes [rad], of length at most pi. */
static void turn_between(const double *G, const double *R, double *turn) {
  double E[9], sine, cosine, scale, size;
  int i, j, k;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) E[3 * i + j] = G[3 * i] * R[3 * j] + G[3 * i + 1] * R[3 * j + 1] + G[3 * i + 2] * R[3 * j + 2];
  turn[0] = 0.5 * (E[7] - E[5]), turn[1] = 0.5 * (E[2] - E[6]), turn[2] = 0.5 * (E[3] - E[1]);
  sine = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
  cosine = 0.5 * (E[0] + E[4] + E[8] - 1.0);
  if (sine > STRAIGHT || cosine > 0.0) {
    scale = sine > STRAIGHT ? atan2(sine, cosine) / sine : 1.0;
    for (i = 0; i < 3; i++) turn[i] *= scale;
    return;
  }
  for (i = 0, k = 0; i < 3; i++)
    if (E[4 * i] > E[4 * k]) k = i;
  for (i = 0; i < 3; i++) turn[i] = E[3 * i + k] + E[3 * k + i] + (i == k ? 2.0 : 0.0);
  size = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
  for (i = 0; i < 3; i++) turn[i] *= HALF_TURN / size;
}

#if DISTANCES
/* Distances at p, with their derivatives unless `J` is null. */
static void distances(const Goal *g, const double *p, double *d, double *J) {
  const double *in[2 + OBSTACLES];
  double *out[2];
  int i;
  in[0] = p;
  for (i = 0; i < OBSTACLES; i++) in[1 + i] = g->obstacles[i];
  in[1 + OBSTACLES] = g->alpha;
  out[0] = d, out[1] = J;
  if (J) ROBOT(jac_clearance)(in, out, g->work + DISTANCES * (N + 1));
  else ROBOT(clearance)(in, out, g->work + DISTANCES * (N + 1));
}

/* Errors of the distances that are too small. */
static void look_near(const Goal *g, State *s) {
  double *d = g->work;
  int r, i;
  s->near = 0;
  s->least = ENDLESS;
  if (!g->apart) return;
  distances(g, s->p, d, 0);
  for (r = 0; r < DISTANCES; r++) {
    if (d[r] != d[r]) d[r] = -ENDLESS; /* NaN counts as a collision */
    if (d[r] < s->least) s->least = d[r];
    if (d[r] >= g->apart[LEAST] + AIM || (s->near == KEPT && d[r] >= d[s->which[KEPT - 1]])) continue;
    if (s->near < KEPT) s->near++;
    for (i = s->near - 1; i > 0 && d[r] < d[s->which[i - 1]]; i--) s->which[i] = s->which[i - 1];
    s->which[i] = r;
  }
  for (i = 0; i < s->near; i++) {
    s->error[g->last + i] = g->apart[LEAST] + AIM - d[s->which[i]];
    s->cost += s->error[g->last + i] * s->error[g->last + i];
  }
}

static void near_slopes(const Goal *g, const State *s, double *J) {
  double *slopes = g->work + DISTANCES;
  int i, k;
  if (!s->near) return;
  distances(g, s->p, g->work, slopes);
  for (k = 0; k < N; k++)
    for (i = 0; i < s->near; i++) J[ALL * k + g->last + i] = slopes[s->which[i] + DISTANCES * k];
}

static int apart(const Goal *g, const State *s) { return !g->apart || s->least >= g->apart[LEAST] + SURE; }
#else
#define look_near(g, s) ((s)->near = 0)
#define near_slopes(g, s, J) ((void)0)
#define apart(g, s) 1
#endif

/* Weighted and plain errors at the position of a state. */
static void look(const Goal *g, State *s) {
  int i;
  follow(g->numbers, s->p, g->frame, &s->chain);
  s->miss[0] = s->miss[1] = s->cost = 0.0;
  if (g->first == 0) {
    for (i = 0; i < 3; i++) s->error[i] = g->position[i] - s->chain.x[i];
    s->miss[0] = sqrt(s->error[0] * s->error[0] + s->error[1] * s->error[1] + s->error[2] * s->error[2]);
  }
  if (g->last == ROWS) {
    turn_between(g->rotation, s->chain.R, s->error + 3);
    s->miss[1] = sqrt(s->error[3] * s->error[3] + s->error[4] * s->error[4] + s->error[5] * s->error[5]);
  }
  for (i = g->first; i < g->last; i++) {
    s->error[i] *= g->weights[i];
    s->cost += s->error[i] * s->error[i];
  }
  look_near(g, s);
}

static int reached(const Goal *g, const State *s) {
  return s->miss[0] <= g->close[0] && s->miss[1] <= g->close[1] && apart(g, s);
}

/* Solves A y = b in place (y: b), for a positive definite A (lower triangle, overwritten) of `size` rows. */
static void solve(double A[ALL][ALL], int size, double *y) {
  int i, j, k;
  for (j = 0; j < size; j++) {
    double pivot = A[j][j];
    for (k = 0; k < j; k++) pivot -= A[j][k] * A[j][k];
    pivot = 1.0 / sqrt(pivot);
    A[j][j] = pivot;
    for (i = j + 1; i < size; i++) {
      double value = A[i][j];
      for (k = 0; k < j; k++) value -= A[i][k] * A[j][k];
      A[i][j] = value * pivot;
    }
  }
  for (i = 0; i < size; i++) {
    for (k = 0; k < i; k++) y[i] -= A[i][k] * y[k];
    y[i] *= A[i][i];
  }
  for (i = size - 1; i >= 0; i--) {
    for (k = i + 1; k < size; k++) y[i] -= A[k][i] * y[k];
    y[i] *= A[i][i];
  }
}

/* Damped step d (N): minimises |J d - e|^2 + damping |d|^2 with p + d within the limits, by an active set that only grows. J: ALL x N,
 * rows weighted. */
static void step(const Goal *g, const State *s, const double *J, double damping, double *d) {
  const int first = g->first, size = g->last - first + s->near;
  double A[ALL][ALL], e[ALL], y[ALL], slope;
  int held[N], i, j, k, more;
  for (i = 0; i < size; i++) e[i] = s->error[first + i];
  for (k = 0; k < N; k++) {
    const double *column = J + ALL * k + first;
    d[k] = 0.0;
    held[k] = !g->used[k];
    if (held[k] || k < BASE) continue;
    for (i = 0, slope = 0.0; i < size; i++) slope += column[i] * e[i];
    held[k] = (slope < 0.0 && s->p[k + NP - N] <= g->lower[k]) || (slope > 0.0 && s->p[k + NP - N] >= g->upper[k]);
  }
  do {
    for (i = 0; i < size; i++) {
      for (j = 0; j <= i; j++) A[i][j] = i == j ? damping : 0.0;
      y[i] = e[i];
    }
    for (k = 0; k < N; k++) {
      const double *column = J + ALL * k + first;
      if (held[k]) continue;
      for (i = 0; i < size; i++)
        for (j = 0; j <= i; j++) A[i][j] += column[i] * column[j];
    }
    solve(A, size, y);
    for (k = 0, more = 0; k < N; k++) {
      const double *column = J + ALL * k + first;
      if (held[k]) continue;
      for (i = 0, d[k] = 0.0; i < size; i++) d[k] += column[i] * y[i];
      if (k < BASE) continue;
      {
        const double here = s->p[k + NP - N], to = here + d[k];
        if (to >= g->lower[k] && to <= g->upper[k]) continue;
        d[k] = (to < g->lower[k] ? g->lower[k] : g->upper[k]) - here;
        for (i = 0; i < size; i++) e[i] -= column[i] * d[k];
        held[k] = more = 1;
      }
    }
  } while (more);
}

#if BASE > 0
#include "turned.h"
#endif

/* to = p + d, clamped to the limits; unused coordinates are copied exactly. */
static void move(const Goal *g, const double *p, const double *d, double *to) {
  double value;
  int k;
  for (k = 0; k < NP; k++) to[k] = p[k];
#if BASE > 0
  for (k = 0; k < 3; k++) to[k] += d[k];
  if (d[3] != 0.0 || d[4] != 0.0 || d[5] != 0.0) turned(p + 3, d + 3, to + 3);
#endif
  for (k = BASE; k < N; k++) {
    if (!g->used[k]) continue;
    value = p[k + NP - N] + d[k];
    to[k + NP - N] = value < g->lower[k] ? g->lower[k] : value > g->upper[k] ? g->upper[k] : value;
  }
}

/* Steps from s, in place; 1: the goal is reached, 0: no further progress. */
static int descend(const Goal *g, State *s, int most, int *made) {
  double frame[ROWS * N], J[ALL * N], d[N], damping = FIRST_DAMPING, before = s->cost;
  State tried;
  int k, i, count = 0, fresh = 1;
  tried.chain.count = s->chain.count;
  for (k = 0; k < s->chain.count; k++) tried.chain.joint[k] = s->chain.joint[k];
  while (!reached(g, s) && count < most && damping <= MOST_DAMPING) {
    if (fresh) {
      for (k = 0; k < ROWS * N; k++) frame[k] = 0.0;
      slopes(&s->chain, frame);
      for (k = 0; k < N; k++)
        for (i = g->first; i < g->last; i++) J[ALL * k + i] = g->weights[i] * frame[ROWS * k + i];
      near_slopes(g, s, J);
    }
    step(g, s, J, damping * s->cost + FLOOR, d);
    move(g, s->p, d, tried.p);
    look(g, &tried);
    count++;
    fresh = tried.cost < s->cost;
    if (fresh) *s = tried;
    damping = fresh ? (damping * LESS > LEAST_DAMPING ? damping * LESS : LEAST_DAMPING) : damping * MORE;
    if (count % PATIENCE == 0) {
      if (s->cost > SLOW * before) break;
      before = s->cost;
    }
  }
  *made += count;
  return reached(g, s);
}

/* Fractional part of a non-negative number. */
static double part(double x) { return x - floor(x); }

/* Start k: the given position (0), or the one nearest to the goal of the next CANDIDATES positions of the sequence. */
static void start_at(const Goal *g, const double *p, int k, State *s) {
  State one;
  double low, high, middle;
  int c, j;
  one.chain.count = s->chain.count;
  for (j = 0; j < s->chain.count; j++) one.chain.joint[j] = s->chain.joint[j];
  for (c = 0; c < (k == 0 ? 1 : CANDIDATES); c++) {
    for (j = 0; j < NP; j++) one.p[j] = p[j];
    for (j = BASE; j < N; j++) {
      const int at = j + NP - N;
      if (!g->used[j]) continue;
      low = g->lower[j], high = g->upper[j];
      if (k > 0) {
        const double half = ranges[j];
        middle = low > -ENDLESS && high < ENDLESS ? 0.5 * (low + high) : p[at];
        if (low < middle - half) low = middle - half;
        if (high > middle + half) high = middle + half;
        one.p[at] = low + part(0.5 + (double)((k - 1) * CANDIDATES + c + 1) * spread[j]) * (high - low);
      }
      if (one.p[at] < g->lower[j]) one.p[at] = g->lower[j];
      if (one.p[at] > g->upper[j]) one.p[at] = g->upper[j];
    }
    look(g, &one);
    if (c == 0 || one.cost < s->cost) *s = one;
  }
}

/* Moves joints that ended at a limit, as in most local minima, across their range; returns whether there were any. */
static int other_side(const Goal *g, State *s) {
  int j, any = 0;
  for (j = BASE; j < N; j++) {
    const int at = j + NP - N, up = s->p[at] <= g->lower[j], down = s->p[at] >= g->upper[j];
    if (!g->used[j] || up == down) continue; /* both: empty range */
    s->p[at] += (up ? ACROSS : -ACROSS) * (g->upper[j] - g->lower[j]);
    any = 1;
  }
  if (any) look(g, s);
  return any;
}

/* Removes whole turns of hinges towards p within the limits, unless the rounding of so many turns would miss the goal. */
static void unwind(const Goal *g, const double *p, State *s) {
  const State found = *s;
  int j;
  for (j = BASE; j < N; j++) {
    const int at = j + NP - N;
    const double to = s->p[at] - 2.0 * HALF_TURN * floor((s->p[at] - p[at]) / (2.0 * HALF_TURN) + 0.5);
    if (g->used[j] && whole_turns[j] && to >= g->lower[j] && to <= g->upper[j]) s->p[at] = to;
  }
  look(g, s);
  if (reached(g, &found) && !reached(g, s)) *s = found;
}

static int all_finite(const double *x, int count) {
  int k;
  for (k = 0; k < count; k++)
    if (!(fabs(x[k]) < ENDLESS)) return 0;
  return 1;
}

/* Whether three columns are orthonormal and right-handed. */
static int is_rotation(const double *R) {
  double normal[3];
  int i, j;
  for (i = 0; i < 3; i++)
    for (j = 0; j <= i; j++) {
      const double *a = R + 3 * i, *b = R + 3 * j;
      if (!(fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - (i == j)) <= UNIT)) return 0;
    }
  cross(R, R + 3, normal);
  return normal[0] * R[6] + normal[1] * R[7] + normal[2] * R[8] > 0.0;
}

static double option(const double *options, int k, double usual) { return options[k] > 0.0 ? options[k] : usual; }

/* Reads the goal from the arguments; 0: invalid. */
static int goal_of(const double *const *in, double *work, Goal *g) {
  const double *position = in[GOAL_POSITION_IN], *rotation = in[GOAL_ROTATION_IN], *weights = in[GOAL_WEIGHTS_IN];
  const double *p = in[P0_IN], *fixed = in[FIXED_IN], *frame = in[FRAME_IN], *options = in[IK_OPTIONS_IN], *alpha = in[ALPHA_IN];
  double margin, most;
  int i, k, count, joint[DEPTH + 1];
  if (!(weights[0] >= 0.0 && weights[1] >= 0.0 && weights[0] + weights[1] > 0.0 && all_finite(weights, 2))) return 0;
  if (!(*frame >= 0.0 && *frame < FRAMES && *frame == (int)*frame) || !all_finite(p, NP)) return 0;
  if (!all_finite(options, OPTIONS) || !all_finite(fixed, N)) return 0;
  if (weights[0] > 0.0 && !all_finite(position, 3)) return 0;
  if (weights[1] > 0.0 && !is_rotation(rotation)) return 0;
  g->numbers = robot_numbers(alpha, work);
#if DISTANCES
  g->obstacles = in + OBSTACLES_AT, g->alpha = alpha, g->work = work + FRAMES_WORK;
  g->apart = in[KEEP_APART_IN][ASKED] > 0.0 ? in[KEEP_APART_IN] : 0;
  if (!all_finite(in[KEEP_APART_IN], 3)) return 0;
  for (k = 0; k < OBSTACLES; k++)
    if (!all_finite(g->obstacles[k], obstacle_sizes[k])) return 0;
#endif
  g->position = position;
  g->fixed = fixed;
  g->frame = (int)*frame;
  g->first = weights[0] > 0.0 ? 0 : 3;
  g->last = weights[1] > 0.0 ? ROWS : 3;
  for (i = 0; i < 9; i++) g->rotation[i] = rotation[3 * (i % 3) + i / 3];
  most = weights[0] > weights[1] ? weights[0] : weights[1];
  for (i = 0; i < ROWS; i++) g->weights[i] = weights[i / 3] / most; /* only their ratio matters */
  g->close[0] = option(options, POSITION_CLOSE, CLOSE), g->close[1] = option(options, ROTATION_CLOSE, CLOSE);
  for (k = 0; k < N; k++) {
    g->lower[k] = g->numbers[12 * LINKS + k], g->upper[k] = g->numbers[12 * LINKS + N + k];
    g->used[k] = k < BASE && fixed[k] == 0.0;
    if (!(g->lower[k] <= g->upper[k])) return 0;
    margin = option(options, MARGIN, 0.0);
    if (margin > MOST_MARGIN * (g->upper[k] - g->lower[k])) margin = MOST_MARGIN * (g->upper[k] - g->lower[k]);
    if (g->lower[k] > -ENDLESS) g->lower[k] += margin;
    if (g->upper[k] < ENDLESS) g->upper[k] -= margin;
  }
  count = carriers(g->frame, joint);
  for (k = 0; k < count; k++) {
    const int c = coordinates[joint[k]];
    g->used[c] = fixed[c] == 0.0;
  }
  return 1;
}

/* goal_position, goal_rotation, goal_weights, p0, fixed, frame, ik_options, alpha [, keep_apart, obstacles] -> p, ik_info. 0: p reaches
 * the goal; otherwise p is the best position found, with its errors in ik_info. */
HIDDEN int INNER(ik)(const double *const *in, double *const *out, double *work) {
  const double *p = in[P0_IN], *options = in[IK_OPTIONS_IN];
  double *info = out[1];
  Goal g;
  State now, best;
  int k, first, starts, most, made = 0, at = -1, done = 0;
  for (k = 0; k < NP; k++) out[0][k] = p[k];
  for (k = 0; k < INFO; k++) info[k] = 0.0;
  if (!goal_of(in, work, &g)) return STATUS_IK_BAD_GOAL;
  starts = (int)option(options, STARTS, DEFAULT_STARTS), most = (int)option(options, STEPS, DEFAULT_STEPS);
  first = (int)option(options, FIRST_START, 0.0);
  now.chain.count = carriers(g.frame, now.chain.joint);
  for (k = first; k < first + starts && !done; k++) {
    start_at(&g, p, k, &now);
    done = descend(&g, &now, most, &made);
    if (at < 0 || done || now.cost < best.cost) best = now, at = k;
    if (done || !other_side(&g, &now)) continue;
    done = descend(&g, &now, most, &made);
    if (done || now.cost < best.cost) best = now, at = k;
  }
  unwind(&g, p, &best);
  for (k = 0; k < NP; k++) out[0][k] = best.p[k];
#if DISTANCES
  info[4] = best.least;
#endif
  info[0] = best.miss[0], info[1] = best.miss[1], info[2] = at, info[3] = made;
  return done ? 0 : STATUS_IK_NOT_REACHED;
}

int ROBOT(ik_work_size)(void) { return FRAMES_WORK + DISTANCES * (N + 1) + DISTANCES_WORK; }

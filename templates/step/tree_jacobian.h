/* Derivatives of a step of a deep tree by sweeps over its joints, O(n) per column of the Jacobian or transposed product. With h F = 0
 * for the pose at the end and h G = 0 for the rates there,
 *
 *     D dp1 = -K0 dp + h M0 dpd + h^2/2 du,        h M1 dpd1 = -K1 dp1 - D' dp - lag dpd + h^2/2 du,
 *
 * D and M1 are factorised along the tree; products with the other blocks use vectors stored per joint, angular part first
 * (codegen/joint_space/tree_jacobian.py). */

typedef struct {
  double U[6], V[6], W[6];                         /* factors: U, V of D; W of M1 (symmetric) */
  double left[6], right[6];                        /* joint screws at start and end */
  double row[6], column[6];                        /* of D */
  double held0[6], above0[6], below0[6], turned0[6]; /* of M0 and K0 */
  double held1[6], above1[6], below1[6], turned1[6]; /* of K1 */
  double pivot, pivot1;                            /* inverse pivots of D and M1 */
  double own0, own1, rotor, lag;                   /* diagonal entries: of K0, K1, inertias and D, lag */
} Joint;

/* One sweep handles several columns, in a vector type of gcc or clang if the file may use it. */
#if defined(ON_X86) && defined(FOR_V3)
typedef double Beside __attribute__((vector_size(32), aligned(8), may_alias));
#elif defined(DISPATCHED)
typedef double Beside __attribute__((vector_size(16), aligned(8), may_alias));
#else
typedef double Beside;
#endif

enum { COLUMNS = sizeof(Beside) / sizeof(double) };

typedef struct {
  Beside force[N + 1][6], motion[N + 1][6], turning[N + 1][6]; /* row N: the world */
  Beside pose[N], rate[N];                                     /* right-hand sides, then results */
} Sweeps;

typedef char joint_fits[sizeof(Joint) == JOINT * sizeof(double) && sizeof(Sweeps) <= SWEEPS * sizeof(double) ? 1 : -1];

INLINE double dot6(const double *x, const double *y) {
  return (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5]);
}

INLINE void add6(const double *x, double factor, double *to) {
  int a;
  for (a = 0; a < 6; a++) to[a] += x[a] * factor;
}

/* dot6 in every column. */
INLINE Beside paired(const double *x, const Beside *y) {
  return (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5]);
}

/* to = from + x value in every column. */
INLINE void carried(const Beside *from, const double *x, Beside value, Beside *to) {
  to[0] = from[0] + x[0] * value;
  to[1] = from[1] + x[1] * value;
  to[2] = from[2] + x[2] * value;
  to[3] = from[3] + x[3] * value;
  to[4] = from[4] + x[4] * value;
  to[5] = from[5] + x[5] * value;
}

/* to += from + x value in every column. */
INLINE void handed(const Beside *from, const double *x, Beside value, Beside *to) {
  to[0] += from[0] + x[0] * value;
  to[1] += from[1] + x[1] * value;
  to[2] += from[2] + x[2] * value;
  to[3] += from[3] + x[3] * value;
  to[4] += from[4] + x[4] * value;
  to[5] += from[5] + x[5] * value;
}

/* Right-hand sides pose and rate (-K1 dp1 is added here) -> dp1 and h dpd1. */
static void respond(const Joint *joints, Sweeps *s) {
  int i;
  memset(s->force, 0, sizeof s->force);
  memset(s->motion[N], 0, sizeof s->motion[N]);
  memset(s->turning[N], 0, sizeof s->turning[N]);
  for (i = N - 1; i >= 0; i--) {
    const Joint *j = &joints[i];
    s->pose[i] -= paired(j->left, s->force[i]);
    handed(s->force[i], j->U, s->pose[i] * j->pivot, s->force[parents[i]]);
  }
  memset(s->force, 0, sizeof s->force);
  for (i = 0; i < N; i++) {
    const Joint *j = &joints[i];
    const Beside *before = s->motion[parents[i]], *turned = s->turning[parents[i]];
    const Beside pose = j->pivot * (s->pose[i] - paired(j->V, before));
    s->rate[i] -= paired(j->below1, before) + paired(j->held1, turned) + j->own1 * pose;
    s->pose[i] = pose;
    carried(before, j->right, pose, s->motion[i]);
    carried(turned, j->turned1, pose, s->turning[i]);
  }
  for (i = N - 1; i >= 0; i--) {
    const Joint *j = &joints[i];
    carried(s->force[i], j->above1, s->pose[i], s->force[i]);
    s->rate[i] -= paired(j->right, s->force[i]);
    handed(s->force[i], j->W, s->rate[i] * j->pivot1, s->force[parents[i]]);
  }
  for (i = 0; i < N; i++) {
    const Joint *j = &joints[i];
    const Beside *before = s->motion[parents[i]];
    s->rate[i] = j->pivot1 * (s->rate[i] - paired(j->W, before));
    carried(before, j->right, s->rate[i], s->motion[i]);
  }
}

/* Solves columns of right-hand sides dp and dpd in place, `COLUMNS` at a time; over: 1 / h. */
static void respond_all(const Joint *joints, double over, int columns, double *dp, double *dpd, Sweeps *s) {
  double *pose = (double *)s->pose, *rate = (double *)s->rate;
  int first, i, c;
  for (first = 0; first < columns; first += COLUMNS) {
    const int count = columns - first < COLUMNS ? columns - first : COLUMNS;
    double *to_pose = dp + N * first, *to_rate = dpd + N * first;
    for (c = 0; c < COLUMNS; c++) { /* padded with the last column */
      const int at = N * (c < count ? c : count - 1);
      for (i = 0; i < N; i++) {
        pose[COLUMNS * i + c] = to_pose[at + i];
        rate[COLUMNS * i + c] = to_rate[at + i];
      }
    }
    respond(joints, s);
    for (c = 0; c < count; c++) {
      for (i = 0; i < N; i++) {
        to_pose[N * c + i] = pose[COLUMNS * i + c];
        to_rate[N * c + i] = over * rate[COLUMNS * i + c];
      }
    }
  }
}

/* `above` and `below` of K0 + D and of K1 + D', which cancel up to O(h) if the links are at rest. */
typedef struct {
  double above0[6], below0[6], above1[6], below1[6];
} Rest;

INLINE Rest rest_of(const Joint *j) {
  Rest r;
  int a;
  for (a = 0; a < 6; a++) {
    r.above0[a] = j->above0[a] + j->column[a];
    r.below0[a] = j->below0[a] + j->row[a];
    r.above1[a] = j->above1[a] + j->row[a];
    r.below1[a] = j->below1[a] + j->column[a];
  }
  return r;
}

/* Change of a joint's screw over the step. */
INLINE void turn_of(const Joint *j, double *turn) {
  int a;
  for (a = 0; a < 6; a++) turn[a] = j->right[a] - j->left[a];
}

/* The six blocks of the Jacobian, by p, pd and u; d p_next / d p = 1 + x with D x = -(K0 + D). */
static void tree_jacobian(const double *given, double h, double *const *out, double *work) {
  const Joint *joints = (const Joint *)(const void *)given;
  Sweeps *const s = (Sweeps *)(void *)work;
  const double half_square = 0.5 * h * h;
  int block, i, k;
  for (block = 0; block < 6; block++) memset(out[block], 0, N * N * sizeof(double));
  for (k = 0; k < N; k++) {
    const Joint *deep = &joints[k];
    const Rest r = rest_of(deep);
    out[0][k + N * k] = -(deep->own0 + deep->rotor) - dot6(deep->left, r.above0);
    out[3][k + N * k] = -(deep->own1 + deep->rotor) - dot6(deep->right, r.above1);
    out[1][k + N * k] = h * (deep->rotor + dot6(deep->left, deep->held0));
    out[4][k + N * k] = -deep->lag;
    out[2][k + N * k] = out[5][k + N * k] = half_square;
    for (i = parents[k]; i < N; i = parents[i]) {
      const Joint *near = &joints[i];
      const double held = h * dot6(near->left, deep->held0);
      double turn[6];
      turn_of(near, turn);
      out[1][i + N * k] = held;
      out[1][k + N * i] = held;
      out[0][i + N * k] = -dot6(near->left, r.above0);
      out[3][i + N * k] = -dot6(near->right, r.above1);
      out[0][k + N * i] = -dot6(near->left, r.below0) - dot6(turn, deep->row) - dot6(near->turned0, deep->held0);
      out[3][k + N * i] = -dot6(near->right, r.below1) + dot6(turn, deep->column) - dot6(near->turned1, deep->held1);
    }
  }
  for (block = 0; block < 3; block++) respond_all(joints, 1.0 / h, N, out[block], out[block + 3], s);
  for (k = 0; k < N; k++) out[0][k + N * k] += 1.0;
}

/* h M1 y = pd_next_bar; `end` gets what y moves links by, `force` is overwritten. */
INLINE void rate_multipliers(const Joint *joints, double h, const double *pd_next_bar, double *y, double (*force)[6], double (*end)[6]) {
  int i;
  memset(force, 0, (N + 1) * sizeof *force);
  memset(end[N], 0, sizeof end[N]);
  for (i = N - 1; i >= 0; i--) {
    const Joint *j = &joints[i];
    y[i] = j->pivot1 * (pd_next_bar[i] - dot6(j->right, force[i]));
    add6(force[i], 1.0, force[parents[i]]);
    add6(j->W, y[i], force[parents[i]]);
  }
  for (i = 0; i < N; i++) {
    const Joint *j = &joints[i];
    y[i] = (y[i] - j->pivot1 * h * dot6(j->W, end[parents[i]])) / h;
    memcpy(end[i], end[parents[i]], sizeof end[i]);
    add6(j->right, y[i], end[i]);
  }
}

/* Seeds of p_next and pd_next -> gradients by p, pd and u, and the multipliers x of h F and y of h G:
 *
 *     h M1 y = pd_next_bar,    D' x = p_next_bar - K1' y,    p_bar = p_next_bar - (K0 + D)' x - (K1 + D')' y,    pd_bar = h M0 x - lag y. */
static void tree_adjoint(const double *given, double h, const double *p_next_bar, const double *pd_next_bar, double *p_bar,
                         double *pd_bar, double *u_bar, double *x, double *y, double *work) {
  const Joint *joints = (const Joint *)(const void *)given;
  double (*force)[6] = (double (*)[6])(void *)work, (*held)[6] = force + N + 1, (*other)[6] = held + N + 1;
  double (*turned)[6] = other + N + 1, (*moved)[6] = turned + N + 1; /* sums over descendants */
  double (*motion)[6] = moved + N + 1, (*end)[6] = motion + N + 1;   /* sums over ancestors */
  int i;
  memset(motion[N], 0, sizeof motion[N]);
  rate_multipliers(joints, h, pd_next_bar, y, force, end);
  memset(force, 0, 2 * (N + 1) * sizeof *force);
  for (i = N - 1; i >= 0; i--) {
    const Joint *j = &joints[i];
    const double pulled = dot6(j->above1, end[i]) + dot6(j->turned1, held[i]) + j->own1 * y[i];
    x[i] = j->pivot * (p_next_bar[i] - pulled - dot6(j->right, force[i]));
    add6(force[i], 1.0, force[parents[i]]);
    add6(j->below1, y[i], force[parents[i]]);
    add6(j->V, x[i], force[parents[i]]);
    add6(held[i], 1.0, held[parents[i]]);
    add6(j->held1, y[i], held[parents[i]]);
  }
  for (i = 0; i < N; i++) {
    const Joint *j = &joints[i];
    x[i] -= j->pivot * dot6(j->U, motion[parents[i]]);
    memcpy(motion[i], motion[parents[i]], sizeof motion[i]);
    add6(j->left, x[i], motion[i]);
  }
  memset(force, 0, 5 * (N + 1) * sizeof *force);
  for (i = N - 1; i >= 0; i--) {
    const Joint *j = &joints[i];
    const int parent = parents[i];
    const Rest r = rest_of(j);
    double turn[6], pulled = (j->own0 + j->rotor) * x[i] + (j->own1 + j->rotor) * y[i];
    turn_of(j, turn);
    pulled += dot6(r.above0, motion[i]) + dot6(j->left, force[i]) + dot6(j->turned0, held[i]);
    pulled += dot6(r.above1, end[i]) + dot6(j->right, other[i]) + dot6(j->turned1, moved[i]);
    p_bar[i] = p_next_bar[i] - (pulled + dot6(turn, turned[i]));
    add6(j->held0, x[i], held[i]);
    pd_bar[i] = h * (dot6(j->left, held[i]) + dot6(j->held0, motion[parent]) + j->rotor * x[i]) - j->lag * y[i];
    u_bar[i] = 0.5 * h * h * (x[i] + y[i]);
    add6(r.below0, x[i], force[i]);
    add6(r.below1, y[i], other[i]);
    add6(j->row, x[i], turned[i]);
    add6(j->column, -y[i], turned[i]);
    add6(j->held1, y[i], moved[i]);
    add6(force[i], 1.0, force[parent]);
    add6(other[i], 1.0, other[parent]);
    add6(turned[i], 1.0, turned[parent]);
    add6(moved[i], 1.0, moved[parent]);
    add6(held[i], 1.0, held[parent]);
  }
}

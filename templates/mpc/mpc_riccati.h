/* The quadratic program of one iteration of mpc.c by stages, and its Newton steps:
 *
 *   minimise  sum over stages of  1/2 x'Q x + g'x  (x at the stage's end)  +  1/2 u'R u + r'u  +  1/2 d'S d,
 *             d = u - (u of the stage before),  x_next = A x + B u + c,
 *   u and d within bounds (hard), x within bounds plus a slack that costs `soft` a unit (so a solution always exists).
 *
 * Primal-dual interior-point method with Mehrotra's corrector; each Newton step is a linear-quadratic problem on (x, last u)
 * and is solved by one factorised Riccati recursion. Each inequality has a slack t and a multiplier. */

typedef struct { /* one stage: from node k to node k + 1 */
  double A[LX * X], At[LX * X], B[LX * N], Bt[LN * X], c[LX]; /* t: transposed */
  double Q[X], Qtip[LN * N], g[X], r[N];                     /* costs of node k + 1 and of the torque */
  double K[LN * Z], Kt[LZ * N], L[N * N], kk[LN], Pc[LZ];
  double hx[X], hu[N], hd[N], bx[X], bu[N], bd[N]; /* curvature and gradient of the barrier */
  double x[X], u[N], x_new[LX], u_new[LN];
  double t[PAIRS], l[PAIRS], t_new[PAIRS], l_new[PAIRS], kappa[PAIRS];
  double F[LN * ACTIVE]; /* columns of the working set (mpc_active.h) */
  double q[4]; /* floating base: quaternion at x_new of `keep_base` */
#if DISTANCES
  double J[NEAR * N], room[NEAR], cost[NEAR], hc[LN * N]; /* rows of distances (mpc_rows.h), their barrier's curvature */
  double tn[2 * NEAR], ln[2 * NEAR], tn_new[2 * NEAR], ln_new[2 * NEAR], kn[2 * NEAR];
#endif
} Stage;

typedef struct { /* working set and its dual program (mpc_active.h) */
  int count, stage[ACTIVE], kind[ACTIVE], set[ACTIVE], blocked[ACTIVE];
  double multiplier[ACTIVE], most[ACTIVE], violated[ACTIVE], missed[ACTIVE], left[ACTIVE], way[ACTIVE];
  double H[ACTIVE * ACTIVE], L[ACTIVE * ACTIVE], G[ACTIVE * N], q[LZ * ACTIVE], y[LZ * ACTIVE];
} Active;

typedef struct {
  Active active;
  double P[LZ * Z], M[LZ * Z], V[LX * X], W[LX * N], U[LN * N], q[LZ], y[LZ];
} Scratch;

typedef struct {
  Stage *stage;
  int count, tip;
  const double *R, *S;
  const double *apart; /* keep_apart */
  int near;            /* rows of distances per stage */
  double constant; /* constant part of the cost */
  double x0[X], u_last[N], d[8 * N], soft[X];
  Scratch *scratch;
} Problem;

#include "mpc_rows.h"

/* Cholesky factor in the lower triangle, with inverse diagonal; 0: not safely positive definite. */
static int cholesky(const double *M, double *L) {
  int i, j, k;
  for (j = 0; j < N; j++) {
    double pivot = M[j + LN * j];
    for (k = 0; k < j; k++) pivot -= L[j + N * k] * L[j + N * k];
    if (!(pivot > C_MPC_PIVOT * M[j + LN * j]) || !(pivot <= C_HUGE)) return 0;
    pivot = 1.0 / sqrt(pivot);
    L[j + N * j] = pivot;
    for (i = j + 1; i < N; i++) {
      double value = M[i + LN * j];
      for (k = 0; k < j; k++) value -= L[i + N * k] * L[j + N * k];
      L[i + N * j] = value * pivot;
    }
  }
  return 1;
}

static void forward(const double *L, double *b) {
  int i, k;
  for (i = 0; i < N; i++) {
    for (k = 0; k < i; k++) b[i] -= L[i + N * k] * b[k];
    b[i] *= L[i + N * i];
  }
}

/* `forward` for Z right-hand sides, stored transposed: Z numbers for each of the N equations. */
static void forward_rows(const double *L, double *bt) {
  int i, k;
  for (i = 0; i < N; i++) {
    double *row = bt + LZ * i;
    Part *scaled = (Part *)(void *)row;
    for (k = 0; k < i; k++) add_multiple(-L[i + N * k], bt + LZ * k, row);
    for (k = 0; k < LZ / WIDTH; k++) scaled[k] *= L[i + N * i];
  }
}

static void backward(const double *L, double *b) {
  int i, k;
  for (i = N - 1; i >= 0; i--) {
    for (k = i + 1; k < N; k++) b[i] -= L[k + N * i] * b[k];
    b[i] *= L[i + N * i];
  }
}

static void add_node_cost(const Problem *o, const Stage *s, double *P) {
  int i, j;
  for (i = 0; i < X; i++) P[i + LZ * i] += s->Q[i] + s->hx[i];
  if (FLOATING || o->tip)
    for (j = 0; j < N; j++)
      for (i = 0; i < N; i++) P[i + LZ * j] += s->Qtip[i + LN * j];
  near_curvature(o, s, P);
}

/* Riccati recursion with the barrier's curvature; 0: the torques are not determined. P is symmetric. */
static int factorise(Problem *o) {
  Scratch *const w = o->scratch;
  double *P = w->P;
  int k, i, j;
  memset(P, 0, LZ * Z * sizeof(double));
  add_node_cost(o, &o->stage[o->count - 1], P);
  for (k = o->count - 1; k >= 0; k--) {
    Stage *s = &o->stage[k];
    products(X, N, X, P, LZ, s->B, LX, w->W, LX, 0);
    for (j = 0; j < N; j++)
      for (i = 0; i < X; i++) w->W[i + LX * j] += P[i + LZ * (X + j)];
    memset(s->Pc, 0, Z * sizeof(double));
    add_product(Z, X, P, LZ, s->c, s->Pc, 0);
    products(N, N, X, s->Bt, LN, w->W, LX, w->U, LN, 0);
    products(N, N, X, P + X, LZ, s->B, LX, w->M, LN, 0); /* Pxu'B */
    for (j = 0; j < N; j++) {
      for (i = 0; i < N; i++) w->U[i + LN * j] += w->M[i + LN * j] + P[X + i + LZ * (X + j)];
      w->U[j + LN * j] += o->R[j] + s->hu[j] + o->S[j] + s->hd[j];
      if (!motor[j]) w->U[j + LN * j] += 1.0; /* its column of B and its torque are zero */
    }
    if (!cholesky(w->U, s->L)) return 0;
    products(X, N, X, s->At, LX, w->W, LX, s->Kt, LZ, 0); /* (W'A)' */
    for (j = 0; j < N; j++) {
      for (i = X; i < LZ; i++) s->Kt[i + LZ * j] = 0.0;
      s->Kt[X + j + LZ * j] = -(o->S[j] + s->hd[j]);
    }
    forward_rows(s->L, s->Kt);
    transpose(Z, N, s->Kt, LZ, s->K, LN);
    if (k == 0) break;
    products(X, X, X, P, LZ, s->A, LX, w->V, LX, 0);
    products(Z, Z, N, s->Kt, LZ, s->K, LN, w->M, LZ, 1);
    products(X, X, X, s->At, LX, w->V, LX, P, LZ, 1);
    for (j = 0; j < Z; j++) {
      for (i = j < X ? X : 0; i < LZ; i++) P[i + LZ * j] = 0.0;
      add_multiple(-1.0, w->M + LZ * j, P + LZ * j);
    }
    for (j = X; j < Z; j++) P[j + LZ * j] += o->S[j - X] + s->hd[j - X];
    for (j = 0; j < Z; j++)
      for (i = 0; i < j; i++) P[i + LZ * j] = P[j + LZ * i];
    add_node_cost(o, &o->stage[k - 1], P);
  }
  return 1;
}

/* Optimal torque at x after the torque `last`, without inequalities. */
static void policy(const Stage *s, const double *x, const double *last, double *u) {
  int i;
  memcpy(u, s->kk, N * sizeof(double));
  add_product(N, X, s->K, LN, x, u, 0);
  add_product(N, N, s->K + LN * X, LN, last, u, 0);
  backward(s->L, u);
  for (i = 0; i < N; i++) u[i] = -u[i];
}

static void follow(const Stage *s, const double *x, const double *u, double *next) {
  memcpy(next, s->c, X * sizeof(double));
  add_product(X, X, s->A, LX, x, next, 0);
  add_product(X, N, s->B, LX, u, next, 0);
}

/* The minimiser x_new, u_new for the stages' linear costs. */
static void solve_stages(Problem *o) {
  double *q = o->scratch->q, *y = o->scratch->y;
  const double *x, *last;
  int k, i;
  memset(q, 0, Z * sizeof(double));
  for (k = o->count - 1; k >= 0; k--) {
    Stage *s = &o->stage[k];
    for (i = 0; i < X; i++) q[i] += s->g[i] + s->bx[i];
    for (i = 0; i < Z; i++) y[i] = q[i] + s->Pc[i];
    for (i = 0; i < N; i++) s->kk[i] = y[X + i] + s->r[i] + s->bu[i] + s->bd[i];
    add_product(N, X, s->Bt, LN, y, s->kk, 1);
    forward(s->L, s->kk);
    if (k == 0) break;
    memset(q, 0, Z * sizeof(double));
    add_product(Z, N, s->Kt, LZ, s->kk, q, 1);
    for (i = 0; i < X; i++) q[i] = -q[i];
    for (i = 0; i < N; i++) q[X + i] = -q[X + i] - s->bd[i];
    add_product(X, X, s->At, LX, y, q, 1);
  }
  x = o->x0;
  last = o->u_last;
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    policy(s, x, last, s->u_new);
    follow(s, x, s->u_new, s->x_new);
    x = s->x_new;
    last = s->u_new;
  }
}

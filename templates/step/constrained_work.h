/* What every part of constrained_step.c knows: its names, its sizes, the arrays that it works in. */
#ifndef CONSTRAINED_WORK_INCLUDED
#define CONSTRAINED_WORK_INCLUDED

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "constrained_step_model.h"
#include "on_path.h"

/* Compiled for several instruction sets, except for a floating base without limits and contacts. floating.c calls the chart_ functions. */
#if FLOATING && CHART_PATHS && defined(DISPATCHED)
#define STEP(name) ON_PATH(JOINED(chart_, name))
#elif FLOATING
#define STEP(name) ROBOT(JOINED(chart_, name))
#else
#define STEP(name) ON_PATH(name)
#endif
#define STEP_SIZE(name) ROBOT(JOINED_AS_THEY_ARE(name, _work_size))

enum {
  PASSIVE = N - MOTORS,
  BIG = N + ROWS,
  LINE = (BIG + 8) / 8 * 8, /* see lines.h */
  CONES = SIDES + CONTACTS,
  PUSHES = SIDES + TOUCHES,
  IMPULSES = PUSHES + CONTACTS,              /* one more per contact, for `apart` */
  WIDE = 3 + SPUN + 2 * ROLLED,              /* upper bound of rows per contact, see discs.h */
  SHARE = WIDE * WIDE,
  RHOS = CONES + 2 * TURNED * CONTACTS,
  STIFF = TOUCHES < 3 * N ? TOUCHES : 3 * N /* upper bound of rows in `stiffened` */
};

typedef struct {           /* derivatives of the residuals of both stages, by columns */
  double D[N * N];         /* pose stage by the end's pose; transposed, rate stage by the start's pose */
  double K0[N * N];        /* pose stage by the start's pose */
  double M0[N * N];        /* pose stage by the start's rates, over -h: the inertia there */
  double K1[N * N];        /* rate stage by the end's pose */
  double B1[ROWS * N + 1]; /* rates of the rows of loops by the end's pose */
} Blocks;

typedef struct { /* matrices by columns */
  double model[NM + 1], record[RECORD + 1], terms[N], correction[N], factors[N * N], mass[N * N], momentum[N];
  double gradient[N], direction[N], trial[N], guess[N], off[N + 1];
  double bar[6 * N]; /* a state, its gradient and seeds */
  double A0[ROWS * N + 1], A[ROWS * N + 1];
  double back[N * ROWS + 1]; /* D^-1 A^T or inertia^-1 A^T */
  double gap[ALL + 1], all[ALL * N + 1];
  double L[ROWS + 1]; /* multipliers of the pose and of the rate stage */
  double H[ROWS + 1], dense[BORDER * BORDER], rhs[BORDER];
  double inverse[N * N]; /* derivatives: D^-1, then the bordered inverse; rate stage: `response` */
  double X[N * ROWS + 1], W[ROWS * N + 1], S[ROWS * ROWS + 1], WF[ROWS + 1], response[N * N], Y[N * ROWS + 1];
  double T[ROWS * ROWS + 1], WG[ROWS + 1];
  Blocks blocks;
  double V1[N * ROWS + 1], V2[N * ROWS + 1];
  double C[N * N]; /* scratch */
  double C1[N * N], P[2 * N + 2 * ROWS];
  double pull[2 * N + 2 * ROWS]; /* x, y, v, z of a pull-back */
  double kernel[KERNEL_WORK + 1];
  double rows[2 * (N + ROWS) * NA]; /* derivatives by alpha */
  double push[IMPULSES + 1], push_rate[IMPULSES + 1]; /* impulses of limits and contacts in both stages */
  double rho[RHOS + 1], cone[2 * SIDES + 1], lead[SIDES + 1], slopes[UNILATERAL ? N * N : 1];
  double system[UNILATERAL ? BIG * LINE : 1];
  double lu[UNILATERAL ? (2 * N + 1) * LINE : 1]; /* LU factors of the slopes and solved columns of impulses, in rows of LINE */
  double columns[UNILATERAL ? N * LINE : 1], free[UNILATERAL ? N : 1], wide[UNILATERAL ? BIG * BIG : 1], change[BIG + IMPULSES + 1];
  double start[BIG + IMPULSES + 1], first[UNILATERAL ? N : 1], known[UNILATERAL ? N : 1];
  double count[UNILATERAL ? 5 : 1]; /* iterations and level of both stages, evaluations */
  double lag[UNILATERAL ? N * N : 1], law[LAW * CONTACTS + 1], sign[CONTACTS + 1], gaps[CONTACTS + 1], J0[TOUCHES * N + 1];
  double J[TOUCHES * N + 1], by[TOUCHES * N + 1], turn[TOUCHES * N + 1], GY[TOUCHES * LINE + 1], S0[TOUCHES * N + 1];
  double S1[TOUCHES * N + 1], R1[TOUCHES * N + 1], touch[TOUCHES + 1], shares[SHARE * CONTACTS + 1], x_touch[TOUCHES + 1];
  double psi[4 * CONTACTS + 1], touch_bar[2 * TOUCHES + (1 + LAW) * CONTACTS + 1], frames[9 * CONTACTS + 1];
  double stiff[2 * CONTACTS + 1]; /* flags of both stages: contact is treated by `stiffened` */
  double stiff_g[2 * SHARE * CONTACTS + 1], stiff_t[2 * N * TOUCHES + 1], stiff_m[2 * N * TOUCHES + 1];
  double stiff_x[N * STIFF + 1]; /* scratch */
  double stiff_k[STIFF * STIFF + 1], stiff_y[STIFF * N + 1], stiff_by[STIFF + 1];
  double energy[UNILATERAL ? 5 : 1]; /* kinetic at the start; gravity's and springs' at both ends */
  double depth[CONES + 1]; /* penetration depths of limits and contacts at the start */
  double moved[TOUCHES * LINE + 1]; /* contact rates due to each column of impulses and due to the free step */
  double before[2 * IMPULSES + 1]; /* impulses of the last step's pose stage and their change, see `extrapolate` */
  double more[IMPULSES + 1], more_before[2 * IMPULSES + 1]; /* impulses of the rate stage minus those of the pose stage */
  double off_before[2 * N]; /* error of its first guess and its change */
  double shift[BOUNCING ? 2 * CONTACTS : 1]; /* see rebounds.h */
  double seen[BOUNCING ? 3 * CONTACTS : 1], by_seen[BOUNCING ? 10 * CONTACTS : 1];
  double kept[1]; /* factor on the restitution */
  double force[!UNILATERAL ? 2 * N : 1]; /* generalised forces at both ends */
} Work;

enum { WORK_SIZE = sizeof(Work) / sizeof(double), NP = N };
/* For step_functions.h. */
#define TOGETHER 0
#define LANES_ROLLOUT 0
#define BY_ROWS UNILATERAL
#define PARAMETER_JACOBIAN STEP(jac_alpha_joint_step)

/* Intermediate values of the kernels that depend on the parameters alone. */
static void prepare(const double *alpha, Work *w) {
  prepare_kernel(alpha, w->model, w->kernel);
#if CONTACTS
  law_kernel(alpha, w->law, w->kernel);
#endif
}

/* `prepare` for derivatives: exact friction cones are differentiated with the slip alpha[SLOPE_SLIP] at least. */
static void prepare_slopes(const double *alpha, Work *w) {
#if EXACT
  int k;
  prepare(alpha, w);
  for (k = 0; k < CONTACTS; k++) {
    double *slip = w->law + LAW * k + LAW_SLIP;
    if (slip[0] < alpha[SLOPE_SLIP]) slip[0] = alpha[SLOPE_SLIP];
  }
#else
  prepare(alpha, w);
#endif
}

#endif

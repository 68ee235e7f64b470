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

/* Matrices are stored by columns. Lengths have one more where they may be 0: C has no empty arrays. */

typedef struct { /* derivatives of both stages' residuals */
  double pose_by_end[N * N]; /* D: pose stage by the end's pose; transposed, rate stage by the start's pose */
  double pose_by_start[N * N]; /* K0: pose stage by the start's pose */
  double inertia[N * N]; /* M0: pose stage by the start's rates, over -h */
  double rate_by_end[N * N]; /* K1: rate stage by the end's pose */
  double rows_by_end[ROWS * N + 1]; /* B1: rates of the rows of loops by the end's pose */
} Blocks;

typedef struct { /* system of a stage with the rows of loops; M: D in the pose stage, the inertia in the rate stage */
  double inverse[N * N]; /* of M, then of the whole system: what the residual moves the coordinates by */
  double rows[N * ROWS + 1]; /* of that inverse, what the rows of loops move them by */
  double back[N * ROWS + 1]; /* M^-1 A^T */
  double schur[ROWS * ROWS + 1]; /* A M^-1 A^T */
  double load[ROWS + 1]; /* right-hand side of the multipliers */
  double multipliers[ROWS + 1]; /* impulses along the rows, times h once the step is found */
} Border;

typedef struct { /* rows of loops */
  double gap[ALL + 1]; /* [m or 1] of those kept; of every one in `closing` */
  double first[ROWS * N + 1]; /* A0: their Jacobian at the start of the step */
  double last[ROWS * N + 1]; /* A: at its end */
  double every[ALL * N + 1]; /* of every row, or of those not kept */
} LoopRows;

typedef struct { /* contacts; of a row each where the length has TOUCHES */
  double law[LAW * CONTACTS + 1]; /* numbers of the contact law */
  double sign[CONTACTS + 1]; /* of the normals, at the start */
  double gap[CONTACTS + 1]; /* [m] */
  double first[TOUCHES * N + 1]; /* J0: Jacobian of the rows at the start */
  double last[TOUCHES * N + 1]; /* J: at the end */
  double by[TOUCHES * N + 1]; /* Y: rates of the pose stage by its end */
  double turn[TOUCHES * N + 1]; /* part of `by`: the turning of tangents */
  double rate[TOUCHES + 1]; /* [m/s] of the surfaces against each other */
  double slope[SHARE * CONTACTS + 1]; /* G: of the rows by rates, their residual is x */
  double residual[TOUCHES + 1]; /* x */
  double eliminated[TOUCHES * LINE + 1]; /* G Y, in rows of LINE */
  double moved[TOUCHES * LINE + 1]; /* rates due to each column of impulses and due to the free step */
  double apart[4 * CONTACTS + 1]; /* psi and its slopes, where normal and friction have separate rows */
  double slid_by_start[TOUCHES * N + 1]; /* S0: rates of the pose stage by the start's pose */
  double slid_by_end[TOUCHES * N + 1]; /* S1: by the end's */
  double rate_by_end[TOUCHES * N + 1]; /* R1: rates of the rate stage by the end's pose */
  double bar[2 * TOUCHES + (1 + LAW) * CONTACTS + 1]; /* seeds of rates in both stages, gaps, laws */
  double frames[9 * CONTACTS + 1]; /* directions of impulses, world axes */
} Touching;

typedef struct { /* contacts whose impulses are unknowns of the derivatives, of both stages; see `stiffened` */
  double is[2 * CONTACTS + 1]; /* 1: the contact is one of them */
  double slope[2 * SHARE * CONTACTS + 1]; /* G of every contact */
  double by_impulse[2 * N * TOUCHES + 1]; /* M: what impulses move coordinates by */
  double by_rate[2 * N * TOUCHES + 1]; /* T: what rates move them by */
  double columns[N * STIFF + 1]; /* scratch: h inverse J^T */
  double system[STIFF * STIFF + 1]; /* scratch */
  double solved[STIFF * N + 1]; /* scratch */
  double found[STIFF + 1]; /* scratch */
} Stiff;

typedef struct { /* restitution, see rebounds.h */
  double shift[BOUNCING ? 2 * CONTACTS : 1];
  double seen[BOUNCING ? 3 * CONTACTS : 1];
  double by_seen[BOUNCING ? 10 * CONTACTS : 1];
  double kept[1]; /* factor on the restitution */
} Bounce;

typedef struct {
  double model[NM + 1]; /* numbers of the robot that the parameters alone decide */
  double record[RECORD + 1], terms[N]; /* what the start of the step is to its stages */
  double guess[N]; /* first guess of the pose at the end */
  double off[N + 1]; /* its error, and how many earlier steps are known */
  double off_before[2 * N]; /* that error in the last step and its change */
  double mass[N * N], momentum[N]; /* at the end of the pose stage */
  double gradient[N]; /* residual of a stage */
  double correction[N], direction[N], trial[N], factors[N * N]; /* Newton's method without unilateral rows */
  double back[N * ROWS + 1]; /* D^-1 A^T or inertia^-1 A^T of an iteration */
  double dense[BORDER * BORDER], rhs[BORDER]; /* a system of loops' rows */
  double bar[6 * N]; /* a state, its gradient and seeds */
  double force[!UNILATERAL ? 2 * N : 1]; /* generalised forces at both ends */
  LoopRows loop;
  Border pose, rate;
  double rows_inverse[ROWS * N + 1]; /* A D^-1 */
  Blocks blocks;
  double scratch[N * N], scratch_end[N * N];
  double seed[2 * N + 2 * ROWS]; /* of the pose stage's solution in a pull-back */
  double pull[2 * N + 2 * ROWS]; /* multipliers of a pull-back: x, y of the stages, v, z of their rows of loops */
  double rows[2 * (N + ROWS) * NA]; /* derivatives by alpha */
  double push[IMPULSES + 1], push_rate[IMPULSES + 1]; /* impulses of limits and contacts in both stages */
  double before[2 * IMPULSES + 1]; /* impulses of the last step's pose stage and their change, see `extrapolate` */
  double more[IMPULSES + 1], more_before[2 * IMPULSES + 1]; /* impulses of the rate stage minus those of the pose stage */
  double rho[RHOS + 1]; /* of the projections of limits, contacts and their friction against turning */
  double cone[2 * SIDES + 1]; /* limits: residual of each row, then its slope */
  double lead[SIDES + 1]; /* limits: what a joint may still be outside at the end */
  double depth[CONES + 1]; /* penetration depths of limits and contacts at the start */
  double slopes[UNILATERAL ? N * N : 1]; /* D of the stage */
  double lag[UNILATERAL ? N * N : 1]; /* rate stage by the start's rates, where friction lags */
  double lu[UNILATERAL ? (2 * N + 1) * LINE : 1]; /* LU factors of the slopes and solved columns of impulses, in rows of LINE */
  double columns[UNILATERAL ? N * LINE : 1]; /* coordinates by each impulse, then without impulses */
  double free[UNILATERAL ? N : 1]; /* coordinates without impulses */
  double system[UNILATERAL ? BIG * LINE : 1], wide[UNILATERAL ? BIG * BIG : 1]; /* a system that is solved; its solution */
  double change[BIG + IMPULSES + 1], start[BIG + IMPULSES + 1]; /* Newton step; where a line search starts */
  double first[UNILATERAL ? N : 1], known[UNILATERAL ? N : 1]; /* a stage's first guess; its solution */
  double count[UNILATERAL ? 5 : 1]; /* iterations and level of both stages, evaluations */
  double energy[UNILATERAL ? 5 : 1]; /* kinetic at the start; gravity's and springs' at both ends */
  Touching contact;
  Stiff stiff;
  Bounce bounce;
  double kernel[KERNEL_WORK + 1];
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
  law_kernel(alpha, w->contact.law, w->kernel);
#endif
}

/* `prepare` for derivatives: exact friction cones are differentiated with the slip alpha[SLOPE_SLIP] at least. */
static void prepare_slopes(const double *alpha, Work *w) {
#if EXACT
  int k;
  prepare(alpha, w);
  for (k = 0; k < CONTACTS; k++) {
    double *slip = w->contact.law + LAW * k + LAW_SLIP;
    if (slip[0] < alpha[SLOPE_SLIP]) slip[0] = alpha[SLOPE_SLIP];
  }
#else
  prepare(alpha, w);
#endif
}

#endif

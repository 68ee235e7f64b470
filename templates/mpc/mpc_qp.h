/* The quadratic program of one iteration of mpc.c: its inequalities and the interior-point method. */
#include "mpc_active.h"

/* Gradient and curvature of the barrier from kappa = (target - correction) / t + multiplier. */
static void barrier(const Problem *o, Stage *s) {
  double h[SLACK], b[SLACK];
  int i;
  for (i = 0; i < SLACK; i++) {
    h[i] = b[i] = 0.0;
    if (o->d[i] >= C_MPC_NONE) continue;
    h[i] = s->l[i] / s->t[i];
    if (i >= SOFT) {
      const int w = i + SLACK - SOFT;
      const double slack = s->l[w] / s->t[w], share = h[i] / (h[i] + slack);
      b[i] = (1.0 - share) * s->kappa[i] - share * (s->kappa[w] - o->soft[(i - SOFT) % X]);
      h[i] *= slack / (h[i] + slack);
      b[i] -= h[i] * o->d[i];
    } else {
      b[i] = s->kappa[i] - h[i] * o->d[i];
    }
  }
  for (i = 0; i < N; i++) {
    s->hu[i] = h[i] + h[N + i];
    s->bu[i] = b[i] - b[N + i];
    s->hd[i] = h[2 * N + i] + h[3 * N + i];
    s->bd[i] = b[2 * N + i] - b[3 * N + i];
  }
  for (i = 0; i < X; i++) {
    s->hx[i] = h[SOFT + i] + h[SOFT + X + i];
    s->bx[i] = b[SOFT + i] - b[SOFT + X + i];
  }
  near_barrier(o, s);
}

/* Slacks and multipliers after a full Newton step to x_new, u_new; returns the longest step that keeps them positive. */
static double targets(Problem *o) {
  const double *last = o->u_last;
  double step = 1.0, side[SLACK];
  int k, i;
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    sides(s->u_new, last, s->x_new, side);
    last = s->u_new;
    for (i = 0; i < SLACK; i++) {
      if (o->d[i] >= C_MPC_NONE) continue;
      s->t_new[i] = o->d[i] - side[i];
      if (i >= SOFT) {
        const int w = i + SLACK - SOFT;
        const double h = s->l[i] / s->t[i], slack = s->l[w] / s->t[w];
        s->t_new[w] = (s->kappa[i] + s->kappa[w] - o->soft[(i - SOFT) % X] - h * s->t_new[i]) / (h + slack);
        s->t_new[i] += s->t_new[w];
        s->l_new[w] = s->kappa[w] - slack * s->t_new[w];
        if (s->t_new[w] < (1.0 - 1.0 / step) * s->t[w]) step = s->t[w] / (s->t[w] - s->t_new[w]);
        if (s->l_new[w] < (1.0 - 1.0 / step) * s->l[w]) step = s->l[w] / (s->l[w] - s->l_new[w]);
      }
      s->l_new[i] = s->kappa[i] - s->l[i] / s->t[i] * s->t_new[i];
      if (s->t_new[i] < (1.0 - 1.0 / step) * s->t[i]) step = s->t[i] / (s->t[i] - s->t_new[i]);
      if (s->l_new[i] < (1.0 - 1.0 / step) * s->l[i]) step = s->l[i] / (s->l[i] - s->l_new[i]);
    }
    step = near_targets(o, s, step);
  }
  return step;
}

/* Sum of slack times multiplier after `step` of the Newton step; *pairs: their number. */
static double complementarity(const Problem *o, double step, int *pairs) {
  double sum = 0.0;
  int k, i, found = 0;
  for (k = 0; k < o->count; k++) {
    const Stage *s = &o->stage[k];
    for (i = 0; i < PAIRS; i++) {
      if (o->d[i < SLACK ? i : i - SLACK + SOFT] >= C_MPC_NONE) continue;
      found++;
      sum += (s->t[i] + step * (s->t_new[i] - s->t[i])) * (s->l[i] + step * (s->l_new[i] - s->l[i]));
    }
    sum += near_complementarity(o, s, step);
    found += 2 * o->near;
  }
  *pairs = found;
  return sum;
}

/* Objective at (x, u) or at (x_new, u_new), without the constant; with `penalties` those of the softened bounds. */
static double objective(const Problem *o, int target, int penalties) {
  const double *last = o->u_last;
  double sum = 0.0, side[SLACK];
  int k, i, j;
  for (k = 0; k < o->count; k++) {
    const Stage *s = &o->stage[k];
    const double *u = target ? s->u_new : s->u, *x = target ? s->x_new : s->x;
    for (i = 0; i < N; i++) {
      const double change = u[i] - last[i];
      sum += (0.5 * o->R[i] * u[i] + s->r[i]) * u[i] + 0.5 * o->S[i] * change * change;
    }
    for (i = 0; i < X; i++) sum += (0.5 * s->Q[i] * x[i] + s->g[i]) * x[i];
    if (FLOATING || o->tip)
      for (j = 0; j < N; j++)
        for (i = 0; i < N; i++) sum += 0.5 * x[i] * s->Qtip[i + LN * j] * x[j];
    if (penalties) sides(u, last, x, side);
    for (i = SOFT; i < SLACK && penalties; i++)
      if (side[i] > o->d[i]) sum += o->soft[(i - SOFT) % X] * (side[i] - o->d[i]);
    if (penalties) sum += near_penalty(o, s, x);
    last = u;
  }
  return sum;
}

/* Minimiser without inequalities; returns 1 if it satisfies them all and is the solution, -1 if it does not exist. */
static int unbounded(Problem *o) {
  const double *last = o->u_last;
  double side[SLACK];
  int k, i;
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    memset(s->hx, 0, X * sizeof(double));
    memset(s->bx, 0, X * sizeof(double));
    memset(s->hu, 0, N * sizeof(double));
    memset(s->bu, 0, N * sizeof(double));
    memset(s->hd, 0, N * sizeof(double));
    memset(s->bd, 0, N * sizeof(double));
    near_none(s);
  }
  if (!factorise(o)) return -1;
  solve_stages(o);
  for (k = 0; k < o->count; k++) {
    const Stage *s = &o->stage[k];
    sides(s->u_new, last, s->x_new, side);
    for (i = 0; i < SLACK; i++)
      if (!(side[i] <= o->d[i])) return 0;
    if (near_broken(o, s)) return 0;
    last = s->u_new;
  }
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    memcpy(s->x, s->x_new, X * sizeof(double));
    memcpy(s->u, s->u_new, N * sizeof(double));
    memset(s->l, 0, PAIRS * sizeof(double));
  }
  return 1;
}

/* Starting point at the stages' x, u: slacks and multipliers near the central path, the multipliers of softened bounds adding up to their
 * price. known: x_new, u_new are the minimiser without inequalities. */
static void initial(Problem *o, int known) {
  const double *last;
  const double least = known ? objective(o, 1, 0) : -o->constant, cost = least + o->constant;
  double side[SLACK], mean = C_MPC_MEAN * (objective(o, 0, 0) - least);
  int pass, k, i, pairs = 0;
  for (i = 0; i < PAIRS; i++) pairs += o->d[i < SLACK ? i : i - SLACK + SOFT] < C_MPC_NONE ? o->count : 0;
  pairs += 2 * o->near * o->count;
  if (!(mean > C_MPC_SHARE * cost)) mean = C_MPC_SHARE * cost; /* a guess that violates the dynamics may cost less */
  if (!(mean > C_MPC_FLOOR * pairs)) mean = C_MPC_FLOOR * pairs;
  mean /= pairs;
  for (pass = 0; pass < 2; pass++) { /* the first pass adds the share of violated bounds */
    const double share = mean;
    for (last = o->u_last, k = 0; k < o->count; k++) {
      Stage *s = &o->stage[k];
      double broken;
      sides(s->u, last, s->x, side);
      last = s->u;
      for (i = 0; i < SLACK; i++) {
        const double room = o->d[i] - side[i], scale = scale_of(o, i), price = i < SOFT ? 0.0 : o->soft[(i - SOFT) % X];
        const int w = i + SLACK - SOFT;
        if (o->d[i] >= C_MPC_NONE) continue;
        if (i < SOFT) {
          s->t[i] = room > scale ? room : scale;
          s->l[i] = share / s->t[i];
        } else if (room * price > 2.0 * share) {
          s->t[i] = room;
          s->l[i] = share / room;
          s->l[w] = price - s->l[i];
          s->t[w] = share / s->l[w];
        } else {
          s->t[i] = C_MPC_BROKEN * scale;
          s->t[w] = s->t[i] - room;
          s->l[i] = s->l[w] = 0.5 * price;
          if (pass == 0) mean += 0.5 * price * (s->t[i] + s->t[w]) / pairs;
        }
      }
      broken = near_initial(o, s, share);
      if (pass == 0) mean += broken / pairs;
      memcpy(s->t_new, s->t, PAIRS * sizeof(double));
      memcpy(s->l_new, s->l, PAIRS * sizeof(double));
    }
  }
}

#include "mpc_stopped.h"

/* The active-set method after `unbounded`. 0: solved, 1: ended early, -1: left to the interior point, with x_new, u_new of `unbounded`. */
static int by_active_rows(Problem *o, int most, int *iterations) {
  const int stop = most <= C_MPC_ROUNDS, solved = few(o, stop ? most : C_MPC_ROUNDS, iterations);
  if (solved) take(o);
  else if (stop) stopped(o);
  if (solved || stop) return !solved;
  *iterations = 0;
  no_slopes(o);
  solve_stages(o);
  return -1;
}

/* Solves the program: x, u of every stage. 0: converged, 1: iteration limit, 2: torques not determined. Limits up to C_MPC_ROUNDS are
 * rounds of the active-set method; with a higher one the interior point follows it. */
static int solve_program(Problem *o, int most, double tolerance, int *iterations, double *gap) {
  double left = 1.0, sum, mean, step, value;
  int k, i, pairs;
  const int found = unbounded(o);
  *iterations = 0;
  *gap = 0.0;
  if (found == 1) return 0;
  if (found == 0) {
    const int end = by_active_rows(o, most, iterations);
    if (end >= 0) return end;
  }
  initial(o, found == 0);
  for (;; ++*iterations) {
    sum = complementarity(o, 0.0, &pairs);
    value = objective(o, 0, 1) + o->constant;
    *gap = sum / (value > C_MPC_FLOOR ? value : C_MPC_FLOOR);
    if (*gap <= tolerance && left <= tolerance) return 0;
    if (*iterations >= most) return left <= C_MPC_LEFT ? 1 : 2;
    mean = sum / pairs;
    for (k = 0; k < o->count; k++) {
      Stage *s = &o->stage[k];
      memcpy(s->kappa, s->l, PAIRS * sizeof(double));
      near_aim(o, s, -1.0);
      barrier(o, s);
    }
    if (!factorise(o)) return 2;
    solve_stages(o);
    step = targets(o);
    sum = complementarity(o, step, &pairs) / (mean * pairs);
    mean *= sum * sum * sum;
    for (k = 0; k < o->count; k++) {
      Stage *s = &o->stage[k];
      for (i = 0; i < PAIRS; i++) {
        if (o->d[i < SLACK ? i : i - SLACK + SOFT] >= C_MPC_NONE) continue;
        s->kappa[i] = s->l[i] + (mean - (s->t_new[i] - s->t[i]) * (s->l_new[i] - s->l[i])) / s->t[i];
      }
      near_aim(o, s, mean);
      barrier(o, s);
    }
    solve_stages(o);
    step = targets(o);
    if (step < 1.0) step *= C_MPC_BOUNDARY;
    left *= 1.0 - step;
    for (k = 0; k < o->count; k++) {
      Stage *s = &o->stage[k];
      for (i = 0; i < X; i++) s->x[i] += step * (s->x_new[i] - s->x[i]);
      for (i = 0; i < N; i++) s->u[i] += step * (s->u_new[i] - s->u[i]);
      for (i = 0; i < PAIRS; i++) {
        if (o->d[i < SLACK ? i : i - SLACK + SOFT] >= C_MPC_NONE) continue;
        s->t[i] += step * (s->t_new[i] - s->t[i]);
        s->l[i] += step * (s->l_new[i] - s->l[i]);
      }
      near_move(o, s, step);
    }
  }
}

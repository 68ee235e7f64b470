/* The plan where the rounds of mpc_active.h end early: its torques keep their bounds, its states follow the linearised motion. */

/* Moves u to within its bounds at the least rise of the stage's cost, whose curvature is L L': the torque that is furthest out goes to
 * its bound, the others follow so that the cost is least, and so on with the rest. Clamping each alone would leave a light wrist
 * the torque that belongs to a shoulder's which is not there. */
static void within(const Problem *o, const Stage *s, const double *last, double *u) {
  double S[N * N]; /* inverse of the curvature, of the torques that are free */
  int turn, i, j;
  memset(S, 0, sizeof S);
  for (j = 0; j < N; j++) {
    S[j + N * j] = 1.0;
    forward(s->L, S + N * j);
    backward(s->L, S + N * j);
  }
  for (turn = 0; turn < N; turn++) {
    double most = 0.0, way[N], by;
    int at = -1;
    for (i = 0; i < N; i++) {
      const double over = fabs(u[i] - allowed(o->d, i, u[i], last[i])), scale = scale_of(o, 2 * N + i);
      if (S[i + N * i] > 0.0 && over > most * scale) most = over / scale, at = i;
    }
    if (at < 0) break;
    memcpy(way, S + N * at, sizeof way);
    by = (allowed(o->d, at, u[at], last[at]) - u[at]) / way[at];
    for (i = 0; i < N; i++) u[i] += by * way[i];
    for (j = 0; j < N; j++)
      for (i = 0; i < N; i++) S[i + N * j] -= way[i] * way[j] / way[at];
    for (i = 0; i < N; i++) S[at + N * i] = 0.0, S[i + N * at] = 0.0;
  }
  for (i = 0; i < N; i++) u[i] = allowed(o->d, i, u[i], last[i]);
}

/* x_new, u_new: the policy of the last solution forwards within the bounds, or with `guess` the torques at the guess. */
static void bounded(Problem *o, int guess) {
  const double *x = o->x0, *last = o->u_last;
  int k, i;
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    if (guess)
      for (i = 0; i < N; i++) s->u_new[i] = allowed(o->d, i, s->u[i], last[i]);
    else policy(s, x, last, s->u_new), within(o, s, last, s->u_new);
    follow(s, x, s->u_new, s->x_new);
    x = s->x_new, last = s->u_new;
  }
}

/* x_new, u_new: within the bounds, with a policy for the plan's rates (x) clamped to C_MPC_BRAKE of their bounds, whose squared
 * deviations `soft` weights. 0: there is none. */
static int braking(Problem *o) {
  int k, i;
  no_slopes(o);
  for (k = 0; k < o->count; k++) {
    Stage *s = &o->stage[k];
    for (i = N; i < X; i++) {
      s->hx[i] = o->soft[i];
      s->bx[i] = -o->soft[i] * clamp(s->x[i], -C_MPC_BRAKE * o->d[SOFT + X + i], C_MPC_BRAKE * o->d[SOFT + i]);
    }
  }
  if (!factorise(o)) return 0;
  solve_stages(o);
  bounded(o, 0);
  return 1;
}

/* The cost of violated soft bounds at x, u. */
static double excess(const Problem *o) { return objective(o, 0, 1) - objective(o, 0, 0); }

/* From the guess towards the bounded policy as far as the cost falls; what is between them keeps the bounds, too. If rates or positions
 * do not, and braking costs less, it brakes. */
static void stopped(Problem *o) {
  double best;
  int k, i, half;
  bounded(o, 1);
  take(o);
  best = objective(o, 0, 1);
  bounded(o, 0);
  for (half = 0; half < C_MPC_HALVINGS; half++) {
    for (k = 0; k < o->count && half; k++) {
      Stage *s = &o->stage[k];
      for (i = 0; i < X; i++) s->x_new[i] = 0.5 * (s->x[i] + s->x_new[i]);
      for (i = 0; i < N; i++) s->u_new[i] = 0.5 * (s->u[i] + s->u_new[i]);
    }
    if (objective(o, 1, 1) < best) {
      take(o);
      break;
    }
  }
  if (excess(o) > 0.0 && braking(o) && objective(o, 1, 1) < objective(o, 0, 1)) take(o);
}

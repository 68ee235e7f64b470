/* Functions of an instant for closed loops on a floating base. */

/* Adds factor (dE/dt) a': angular acceleration = E a'' + (dE/dt) a'. */
static void add_moving(const double *rates, double factor, double *pdd) {
  pdd[3] += factor * rates[4] * rates[5];
  pdd[4] -= factor * rates[3] * rates[5];
  pdd[5] += factor * rates[3] * rates[4];
}

#if !CONTACTS
HIDDEN int INNER(forward_dynamics)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[4] = {w->p, w->pd, w->u, w->alpha};
  double *found[1] = {w->p_bar};
  int status = enter(in[0], in[1], in[2], in[3], w);
  if (status != 0) return status;
  status = CHART(forward_dynamics)(given, found, w->tree);
  add_moving(w->pd, status == 0 ? 1.0 : 0.0, w->p_bar);
  out_of(w->frame, w->p_bar, out[0]);
  return status;
}

HIDDEN int INNER(loop_force)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[4] = {w->p, w->pd, w->u, w->alpha};
  const int status = enter(in[0], in[1], in[2], in[3], w);
  return status != 0 ? status : CHART(loop_force)(given, out, w->tree);
}
#endif

HIDDEN int INNER(inverse_dynamics)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[4] = {w->p, w->pd, w->u, w->alpha};
  double *found[3] = {out[0], out[1], w->p_bar};
  int status = enter(in[0], in[1], in[2], in[3], w);
  if (status != 0) return status;
  add_moving(w->pd, -1.0, w->u);
  status = CHART(inverse_dynamics)(given, found, w->tree);
  out_of(w->frame, w->p_bar, out[2]);
  return status;
}

HIDDEN int INNER(close_loops)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  /* Single axes would be those of the frame, so the base is fixed as a whole or free. */
  const double *given[3] = {w->p, w->pd_bar, w->alpha};
  double *found[1] = {w->p_end}, *fixed = w->pd_bar;
  int status = see_from(in[0], in[2], w), k, kept = 0;
  if (status != 0) return status;
  memset(w->p, 0, 6 * sizeof(double));
  memcpy(w->p + 6, in[0] + 7, (N - 6) * sizeof(double));
  for (k = 0; k < 6; k++) kept = kept || in[1][k] != 0.0;
  for (k = 0; k < N; k++) fixed[k] = k < 6 ? kept : in[1][k];
  status = CHART(close_loops)(given, found, w->tree);
  memset(w->pd_end, 0, N * sizeof(double));
  leave(in[0], out[0], w->pd_next, w);
  return status;
}

HIDDEN int INNER(close_rates)(const double *const *in, double *const *out, double *work) {
  Work *w = (Work *)(void *)work;
  const double *given[3] = {w->p, w->pd, w->alpha};
  double *found[1] = {w->p_end};
  int status = enter(in[0], in[1], in[1], in[2], w);
  if (status != 0) return status;
  status = CHART(close_rates)(given, found, w->tree);
  out_of(w->frame, w->p_end, out[0]);
  return status;
}

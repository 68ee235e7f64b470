/* Rows of mpc_rows.h from distances of the iterate, and what is said of a plan. */

#define MISSED 1e-3 /* m: what a plan may be nearer than a hard row asks: the curvature that one program does not see */

/* All distances of node k, with derivatives (DISTANCES x N) where `J` is not null; 0 where one is no number. */
static int distances(const Call *a, const double *p, double *d, double *J) {
  const double *in[2 + KINDS];
  double *out[2];
  int i;
  in[0] = p;
  for (i = 0; i < KINDS; i++) in[1 + i] = a->obstacles[i];
  in[1 + KINDS] = a->alpha;
  out[0] = d, out[1] = J;
  if ((J ? ROBOT(jac_clearance)(in, out, a->work) : ROBOT(clearance)(in, out, a->work)) != 0) return 0;
  return all_finite(d, DISTANCES);
}

/* Rows of the stage that ends in node k + 1, about its iterate s->x; 0 where a distance is no number. */
static int near_rows(const Call *a, Problem *o, int k) {
  Stage *s = &o->stage[k];
  double *d = a->near, *J = d + DISTANCES;
  int which[NEAR], count = 0, r, i;
  if (!o->near) return 1;
  if (!distances(a, a->P + (ptrdiff_t)(k + 1) * NP, d, J)) return 0;
  for (r = 0; r < DISTANCES; r++) { /* sorted by distance, the NEAR least are kept */
    if (count == NEAR && !(d[r] < d[which[NEAR - 1]])) continue;
    if (count < NEAR) count++;
    for (i = count - 1; i > 0 && d[r] < d[which[i - 1]]; i--) which[i] = which[i - 1];
    which[i] = r;
  }
  for (r = 0; r < NEAR; r++) {
    for (i = 0; i < N; i++) s->J[i + N * r] = J[which[r] + DISTANCES * i];
    s->room[r] = d[which[r]] + near_side(s, s->x, r) - o->apart[LEAST];
  }
  return 1;
}

/* What the iterate costs by being too near in node k; -1 where a distance is no number. */
static double near_merit(const Call *a, const Problem *o, int k) {
  double sum = 0.0, *d = a->near;
  int r;
  if (!o->near) return 0.0;
  if (!distances(a, a->P + (ptrdiff_t)k * NP, d, 0)) return -1.0;
  for (r = 0; r < DISTANCES; r++)
    if (d[r] < o->apart[LEAST]) sum += o->apart[PRICE] * (o->apart[LEAST] - d[r]);
  return sum;
}

/* Takes what is asked of distances; 0 where that is no number. Without rows (a price of 0) the functions above do nothing. */
static int near_begin(const Call *a, Problem *o, const double *const *in) {
  static const size_t size[] = OBSTACLE_SIZES;
  int i;
  o->apart = in[0];
  for (i = 0; i < KINDS; i++)
    if (!all_finite(in[1 + i], size[i])) return 0;
  if (!all_finite(o->apart, 3) || o->apart[PRICE] < 0.0) return 0;
  o->near = o->apart[PRICE] > 0.0;
  return !o->near || distances(a, a->p, a->near + DISTANCES * (N + 1), 0);
}

/* The least distance of the plan's nodes, behind the start; whether every hard row is held: no shape nearer than asked, or, where it
 * is nearer at the start, than it is there. */
static int near_held(const Call *a, const Problem *o, double *least) {
  const double *first = a->near + DISTANCES * (N + 1);
  int k, r, held = 1;
  *least = C_MPC_NONE;
  for (k = 1; k <= o->count && o->near; k++) {
    double *d = a->near;
    if (!distances(a, a->P + (ptrdiff_t)k * NP, d, 0)) return 0;
    for (r = 0; r < DISTANCES; r++) {
      const double asked = first[r] < o->apart[LEAST] ? first[r] : o->apart[LEAST];
      if (d[r] < *least) *least = d[r];
      if (o->apart[HARD] > 0.0 && d[r] < asked - MISSED) held = 0;
    }
  }
  return held;
}

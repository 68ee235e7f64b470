/* Distances of the iterate: rows of mpc_rows.h, merit, and the distance reported for the plan. */

#if DISTANCES
#define MISSED 1e-3 /* m: tolerated violation of a hard row, due to curvature, which the linearised row neglects */

/* All distances at a position, with derivatives J (DISTANCES x N) unless null; 0 if one is not finite. */
static int distances(const Call *a, const double *p, double *d, double *J) {
  const double *in[2 + OBSTACLES];
  double *out[2];
  int i;
  in[0] = p;
  for (i = 0; i < OBSTACLES; i++) in[1 + i] = a->obstacles[i];
  in[1 + OBSTACLES] = a->alpha;
  out[0] = d, out[1] = J;
  if ((J ? ROBOT(jac_clearance)(in, out, a->w->kernel) : ROBOT(clearance)(in, out, a->w->kernel)) != 0) return 0;
  return all_finite(d, DISTANCES);
}

/* Distance r that node k is asked for: apart[LEAST], or the distance at the start where that is less, which grows until then. */
static double near_asked(const Call *a, const Problem *o, int k, int r) {
  const double grown = a->w->first[r] + C_MPC_PARTING * k * a->h[0];
  return grown < o->apart[LEAST] ? grown : o->apart[LEAST];
}

/* Price of a metre less than that. The higher one of what must be kept would only lose digits where it cannot be. */
static double near_price(const Call *a, const Problem *o, int r) {
  const double price = o->apart[PRICE];
  return a->w->first[r] < o->apart[LEAST] && price > C_MPC_PARTING_PRICE ? C_MPC_PARTING_PRICE : price;
}

/* Rows of the stage that ends in node k + 1, linearised at its iterate s->x; 0 if a distance is not finite. */
static int near_rows(const Call *a, Problem *o, int k) {
  Stage *s = &o->stage[k];
  double *d = a->w->distances, *J = a->w->slopes, over[NEAR];
  int which[NEAR], count = 0, r, i;
  if (!o->near) return 1;
  if (!distances(a, a->P + (ptrdiff_t)(k + 1) * NP, d, J)) return 0;
  for (r = 0; r < DISTANCES; r++) { /* the NEAR distances that are least over what is asked, sorted */
    const double room = d[r] - near_asked(a, o, k + 1, r);
    if (count == NEAR && !(room < over[NEAR - 1])) continue;
    if (count < NEAR) count++;
    for (i = count - 1; i > 0 && room < over[i - 1]; i--) which[i] = which[i - 1], over[i] = over[i - 1];
    which[i] = r, over[i] = room;
  }
  for (r = 0; r < NEAR; r++) {
    for (i = 0; i < N; i++) s->J[i + N * r] = J[which[r] + DISTANCES * i];
    s->room[r] = over[r] + near_side(s, s->x, r);
    s->cost[r] = near_price(a, o, which[r]);
  }
  return 1;
}

/* Penalty of the iterate's node k for distances below the one asked for; -1 if one is not finite. Call with k = 1 first: w keeps the
 * least distance and the largest violation of a hard row over the nodes. A hard row requires apart[LEAST], or the distance at the start
 * if that is less: a joint at rest cannot part at once. */
static double near_merit(const Call *a, const Problem *o, int k) {
  Work *w = a->w;
  double sum = 0.0, missed;
  int r;
  if (k == 1) w->least = C_MPC_NONE, w->missed = 0.0;
  if (!o->near) return 0.0;
  if (!distances(a, a->P + (ptrdiff_t)k * NP, w->distances, 0)) {
    w->missed = C_MPC_NONE;
    return -1.0;
  }
  for (r = 0; r < DISTANCES; r++) {
    const double d = w->distances[r], short_by = near_asked(a, o, k, r) - d;
    if (short_by > 0.0) sum += near_price(a, o, r) * short_by;
    if (d < w->least) w->least = d;
    missed = (w->first[r] < o->apart[LEAST] ? w->first[r] : o->apart[LEAST]) - d;
    if (missed > w->missed) w->missed = missed;
  }
  return sum;
}

/* Reads keep_apart and the obstacles; 0 if one is not finite. With a price of 0 there are no rows. */
static int near_begin(Call *a, Problem *o, const double *const *in) {
  int i;
  o->apart = in[KEEP_APART_IN];
  a->obstacles = in + OBSTACLES_AT;
  for (i = 0; i < OBSTACLES; i++)
    if (!all_finite(a->obstacles[i], (size_t)obstacle_sizes[i])) return 0;
  if (!all_finite(o->apart, 3) || o->apart[PRICE] < 0.0) return 0;
  o->near = o->apart[PRICE] > 0.0 ? NEAR : 0;
  return !o->near || distances(a, a->p, a->w->first, 0);
}

/* Writes the least distance of the last merit's iterate to info; returns whether every hard row is satisfied. */
static int near_held(const Call *a, const Problem *o) {
  a->info[LEAST_DISTANCE] = a->w->least;
  return !(o->near && o->apart[HARD] > 0.0 && a->w->missed > MISSED);
}
#else
#define near_rows(a, o, k) 1
#define near_merit(a, o, k) 0.0
#define near_begin(a, o, in) ((o)->near = 0, 1)
#define near_held(a, o) 1
#endif

/* A step of one state, and its entries. */
INSIDE Vector row(const Array &x, long long s, long long k = 0) { return {x.at + s * x.state + k * x.step, x.element}; }

INSIDE Read given(const Array &x, long long s, long long k = 0) { return {x.at + s * x.state + k * x.step, x.element}; }

INSIDE Parameters parameters(const Array &x, [[maybe_unused]] long long s) {
#ifdef SHARED_ALPHA
  return {x.at};
#else
  return given(x, s);
#endif
}

/* Elements of a state in the workspace, from `first` on. */
INSIDE Vector space(const Arguments &a, long long s, long long first) { return {a.work + first * a.count + s, a.count}; }

INSIDE void take(auto from, auto to, int size = N) {
  UNROLLED
  for (int k = 0; k < size; k++) to[k] = from[k];
}

INSIDE V largest(const V *x) {
  V result = 0;
  UNROLLED
  for (int k = 0; k < N; k++) {
    const V one = fabs(x[k]);
    if (!(one <= result) && result == result) result = one; /* written so that NaN is kept */
  }
  return result;
}

INSIDE V inner(auto x, auto y) {
  V result = 0;
  UNROLLED
  for (int k = 0; k < N; k++) result += x[k] * y[k];
  return result;
}

/* Whether a joint has Coulomb friction; whether none has friction of any kind. */
INSIDE bool any_coulomb(auto alpha) {
  bool found = false;
  UNROLLED
  for (int k = 0; k < LINKS; k++) found = found || COULOMB(alpha, k);
  return found;
}

INSIDE bool frictionless(auto alpha) {
  bool found = true;
  UNROLLED
  for (int k = 0; k < LINKS; k++) found = found && NO_FRICTION(alpha, k);
  return found;
}

/* The rate under Coulomb friction, a search as in joint_step.c; `rate` holds the first guess. Its arrays are its own, so that the
 * step without such friction keeps its in registers. */
struct Rates {
  V mass[MASS], momentum[N], begun[N], rate[N];
};

OUTSIDE bool search_rate(Rates *of, const V h_value, auto alpha) {
  V model[NM > 0 ? NM : 1], gradient[N], direction[N], trial[N];
  const V h[1] = {h_value};
  V *rate = of->rate;
  prepare_kernel(alpha, model, NOTHING);
  velocity_gradient_kernel(of->mass, of->momentum, h, rate, of->begun, alpha, model, gradient, NOTHING);
  ROLLED
  for (int k = 0; k < C_MAX_RATE; k++) {
    velocity_newton_kernel(of->mass, h, rate, gradient, of->begun, alpha, model, direction, NOTHING);
    const V size = largest(direction), start = inner(gradient, direction);
    if (!(size <= C_FAR_RATE)) return false;
    V t = 1;
    ROLLED
    for (int i = 0; i < C_MAX_LINE; i++) {
      for (int j = 0; j < N; j++) trial[j] = rate[j] + t * direction[j];
      velocity_gradient_kernel(of->mass, of->momentum, h, trial, of->begun, alpha, model, gradient, NOTHING);
      if (size * t <= V(C_RATE_TOLERANCE) || inner(gradient, direction) <= V(C_CURVATURE) * -start) break;
      t *= V(C_SHRINK);
    }
    take(trial, rate);
    if (size * t <= V(C_RATE_TOLERANCE) * (1 + largest(rate))) return true;
  }
  return false;
}

/* A step; returns the last correction of the pose, infinite where there is no result. Then the ends are not to be used. */
INSIDE V advance(const V *p, const V *pd, const V *u, const V *kick, const V *h, auto alpha, const V *model, V *p_next, V *pd_next) {
  V record[RECORD], terms[N], iterate[N], correction[N], factors[FACTORS], mass[MASS], momentum[N];
  bool found = h[0] >= V(C_LEAST_STEP); /* a step goes forwards in time */
  start_kernel(p, pd, u, h, alpha, model, record, terms, p_next, NOTHING);
  ROLLED
  for (int k = 0; k < NEWTONS; k++) {
    newton_kernel(p_next, p, record, terms, alpha, model, iterate, correction, factors, NOTHING);
    take(iterate, p_next);
  }
  ROLLED
  for (int k = 0; k < CHORDS; k++) {
    chord_kernel(p_next, p, record, terms, factors, alpha, model, iterate, correction, NOTHING);
    take(iterate, p_next);
  }
  end_kernel(p_next, p, record, terms, u, factors, h, alpha, model, correction, momentum, mass, NOTHING);
  UNROLLED
  for (int k = 0; k < N; k++) p_next[k] += correction[k];
  if (kick != 0) {
    for (int k = 0; k < N; k++) momentum[k] += kick[k];
  }
  if (any_coulomb(alpha)) {
    Rates of;
    take(mass, of.mass, MASS);
    take(momentum, of.momentum);
    take(pd, of.begun);
    take(pd, of.rate);
    found = search_rate(&of, h[0], alpha) && found;
    take(of.rate, pd_next);
  } else {
    velocity_kernel(mass, momentum, h, pd, alpha, model, pd_next, NOTHING);
  }
  found = found && largest(p) <= V(LARGEST_ANGLE) && largest(p_next) <= V(LARGEST_ANGLE) && largest(pd_next) <= V(C_FAR_RATE);
  const V left = largest(correction);
  return found && left <= V(C_HUGE) ? left : INFINITE;
}

INSIDE bool settled(V left) { return left <= V(RESIDUAL); }

/* What entries of a step begin with. */
#define STATE(count_of_threads, state_of_thread)     \
  const long long t = own_index();                  \
  if (t >= (count_of_threads)) return;              \
  const long long s = (state_of_thread);            \
  V h[1], model[NM > 0 ? NM : 1];

#define PREPARED(h_at, alpha_at)                           \
  const Parameters alpha = parameters(a.in[alpha_at], s); \
  take(given(a.in[h_at], s), h, 1);                       \
  prepare_kernel(alpha, model, NOTHING);

#if EVERY || defined(ONLY_joint_step) || defined(ONLY_jac_joint_step)
/* p, pd, u, h, alpha -> p_next, pd_next; a state that fails keeps where it was. */
INSIDE V stepped(const Arguments &a, long long s, const V *h, Parameters alpha, const V *model, V *p, V *pd, V *p_next, V *pd_next) {
  V u[N];
  take(given(a.in[0], s), p);
  take(given(a.in[1], s), pd);
  take(given(a.in[2], s), u);
  const V left = advance(p, pd, u, 0, h, alpha, model, p_next, pd_next);
  if (!settled(left)) {
    take(p, p_next);
    take(pd, pd_next);
  }
  take(p_next, row(a.out[0], s));
  take(pd_next, row(a.out[1], s));
  return left;
}
#endif

#if EVERY || defined(ONLY_joint_step)
ENTRY(joint_step) {
  STATE(a.count, t)
  PREPARED(3, 4)
  V p[N], pd[N], p_next[N], pd_next[N];
  row(a.out[2], s)[0] = stepped(a, s, h, alpha, model, p, pd, p_next, pd_next);
}
#endif

#if EVERY || defined(ONLY_jac_joint_step)
ENTRY(jac_joint_step) {
  STATE(a.count, t)
  PREPARED(3, 4)
  V p[N], pd[N], p_next[N], pd_next[N];
  const V left = stepped(a, s, h, alpha, model, p, pd, p_next, pd_next);
  row(a.out[8], s)[0] = left;
  if (settled(left)) {
    jacobian_kernel(p, pd, p_next, pd_next, h, alpha, model, row(a.out[2], s), row(a.out[3], s), row(a.out[4], s),
                    row(a.out[5], s), row(a.out[6], s), row(a.out[7], s), NOTHING);
  } else {
    for (int k = 2; k < 8; k++)
      for (int j = 0; j < N * N; j++) row(a.out[k], s)[j] = 0;
  }
}
#endif

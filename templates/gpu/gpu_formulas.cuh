/* Functions without an iteration. Each takes p and what else it needs, of which nothing may be out of range, and alpha. */
#define FORMULA(alpha_at)                                 \
  const long long s = own_index();                        \
  if (s >= a.count) return;                               \
  const Parameters alpha = parameters(a.in[alpha_at], s); \
  bool good = true;

#define TAKEN(at, x, most)     \
  V x[N];                      \
  take(given(a.in[at], s), x); \
  good = good && largest(x) <= V(most);

#if INVERSE_DYNAMICS && (EVERY || defined(ONLY_inverse_dynamics))
ENTRY(inverse_dynamics) {
  FORMULA(3)
  TAKEN(0, p, LARGEST_ANGLE)
  TAKEN(1, pd, C_FAR_RATE)
  TAKEN(2, pdd, C_FAR_RATE)
  inverse_dynamics_kernel(p, pd, pdd, alpha, row(a.out[0], s), NOTHING);
  row(a.out[1], s)[0] = good ? V(0) : INFINITE;
}
#endif

#if FORWARD_DYNAMICS && (EVERY || defined(ONLY_forward_dynamics))
ENTRY(forward_dynamics) {
  FORMULA(3)
  TAKEN(0, p, LARGEST_ANGLE)
  TAKEN(1, pd, C_FAR_RATE)
  TAKEN(2, u, C_FAR_RATE)
  forward_dynamics_kernel(p, pd, u, alpha, row(a.out[0], s), NOTHING);
  row(a.out[1], s)[0] = good ? V(0) : INFINITE;
}
#endif

#if TIP_JACOBIAN && (EVERY || defined(ONLY_tip_jacobian))
ENTRY(tip_jacobian) {
  FORMULA(1)
  TAKEN(0, p, LARGEST_ANGLE)
  tip_jacobian_kernel(p, alpha, row(a.out[0], s), NOTHING);
  row(a.out[1], s)[0] = good ? V(0) : INFINITE;
}
#endif

#if FK && (EVERY || defined(ONLY_fk))
ENTRY(fk) {
  FORMULA(2)
  TAKEN(0, p, LARGEST_ANGLE)
  TAKEN(1, pd, C_FAR_RATE)
  fk_kernel(p, pd, alpha, row(a.out[0], s), NOTHING);
  row(a.out[1], s)[0] = good ? V(0) : INFINITE;
}
#endif

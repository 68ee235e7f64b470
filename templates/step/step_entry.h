/* Functions of one VARIANT, whose names end with SUFFIX; it needs WORK and WORK_BACK doubles of work. step_entries.h includes this for
 * each variant. */
#define ENTRY(name) INNER(JOINED(name, SUFFIX))
#define ENTRY_SIZE(name) ROBOT(JOINED(name, JOINED(SUFFIX, _work_size)))
#define HEAD ((int)(sizeof(Work) / sizeof(double)))

HIDDEN int ENTRY(step)(const double *const *in, double *const *out, double *work) {
  return single(&VARIANT, in, out, (Work *)(void *)work);
}
int ENTRY_SIZE(step)(void) { return HEAD + WORK; }

HIDDEN int ENTRY(rollout_step)(int steps, const double *const *in, double *const *out, double *work) {
  return roll(&VARIANT, steps, in, out[0], (Work *)(void *)work);
}
int ENTRY_SIZE(rollout_step)(int steps) { return (void)steps, HEAD + WORK; }

#if REVERSE
HIDDEN int ENTRY(vjp_step)(const double *const *in, double *const *out, double *work) {
  return single_back(&VARIANT, in, out, (Work *)(void *)work);
}
int ENTRY_SIZE(vjp_step)(void) { return HEAD + WORK_BACK; }

HIDDEN int ENTRY(vjp_rollout_step)(int steps, const double *const *in, double *const *out, double *work) {
  double *held = work + HEAD + (WORK > WORK_BACK ? WORK : WORK_BACK);
  return roll_back(&VARIANT, steps, in, out, held, (Work *)(void *)work);
}
int ENTRY_SIZE(vjp_rollout_step)(int steps) {
  const long long size = HEAD + (WORK > WORK_BACK ? WORK : WORK_BACK) + (long long)XI * ((long long)steps + 3);
  return size > INT_MAX ? -1 : (int)size;
}
#endif

#undef ENTRY
#undef ENTRY_SIZE
#undef HEAD
#undef SUFFIX
#undef VARIANT
#undef WORK
#undef WORK_BACK

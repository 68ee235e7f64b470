/* Which code this is, the instruction sets it was compiled for, and rows of a batch. common_model.h says what a robot has. */
#include <string.h>

#include "common_model.h"
#include "paths.h"
#ifdef DISPATCHED
#include <stdlib.h>
#endif

const char *ROBOT(hash)(void) { return HASH; }

int ROBOT(abi)(void) { return ABI; }

void ROBOT(alpha_defaults)(double *alpha) {
  memcpy(alpha, alpha_default, sizeof alpha_default);
}

static const char *const path_names[PATHS] = PATH_NAMES;

#ifdef DISPATCHED
/* The path in use, or -1 while nobody has asked. Threads that ask first at once find the same. */
static int path_in_use = -1;

static int best_kernel(void) {
#ifdef ON_ARM
  return NEON;
#else
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return PORTABLE;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? X86_64_V4 : X86_64_V3;
#endif
}

static int path_of(const char *name) {
  int path = best_kernel();
  while (path >= 0 && strcmp(path_names[path], name) != 0) path--;
  return path;
}

int ROBOT(path_kernel)(void) {
  int path = __atomic_load_n(&path_in_use, __ATOMIC_RELAXED);
  if (path < 0) {
    const char *wanted = getenv("DIFFPBD_PATH");
    path = wanted != 0 && *wanted != 0 ? path_of(wanted) : best_kernel();
    if (path < 0) path = PORTABLE;
    __atomic_store_n(&path_in_use, path, __ATOMIC_RELAXED);
  }
  return path;
}

int ROBOT(set_path)(const char *name) {
  const int path = path_of(name);
  if (path < 0) return 1;
  __atomic_store_n(&path_in_use, path, __ATOMIC_RELAXED);
  return 0;
}

const char *ROBOT(path)(void) { return path_names[ROBOT(path_kernel)()]; }
#else
int ROBOT(set_path)(const char *name) { return strcmp(name, path_names[PORTABLE]) != 0; }

const char *ROBOT(path)(void) { return path_names[PORTABLE]; }
#endif

#if LANES && defined(DISPATCHED)
/* Rows side by side, with h and alpha that all of them share. */
typedef long many_rows(ROBOT(function) one, const int *in_size, const double *const *in, const int *out_size,
                       double *const *out, long rows, double *work);
#ifdef ON_ARM
HIDDEN many_rows ROBOT(joint_step_lanes2), ROBOT(jac_joint_step_lanes2), ROBOT(vjp_joint_step_lanes2);

static many_rows *lanes_of(ROBOT(function) fn) {
  if (ROBOT(path_kernel)() == PORTABLE) return 0;
  if (fn == ROBOT(joint_step)) return ROBOT(joint_step_lanes2);
  if (fn == ROBOT(jac_joint_step)) return ROBOT(jac_joint_step_lanes2);
  if (fn == ROBOT(vjp_joint_step)) return ROBOT(vjp_joint_step_lanes2);
  return 0;
}
#else
HIDDEN many_rows ROBOT(joint_step_lanes8), ROBOT(joint_step_lanes4), ROBOT(jac_joint_step_lanes4), ROBOT(vjp_joint_step_lanes4);
HIDDEN many_rows ROBOT(jac_joint_step_lanes4_v4), ROBOT(vjp_joint_step_lanes4_v4);

static many_rows *lanes_of(ROBOT(function) fn) {
  const int path = ROBOT(path_kernel)();
  const int newer = path == X86_64_V4;
  if (path == PORTABLE) return 0;
  if (fn == ROBOT(joint_step)) return newer ? ROBOT(joint_step_lanes8) : ROBOT(joint_step_lanes4);
  if (fn == ROBOT(jac_joint_step)) return newer ? ROBOT(jac_joint_step_lanes4_v4) : ROBOT(jac_joint_step_lanes4);
  if (fn == ROBOT(vjp_joint_step)) return newer ? ROBOT(vjp_joint_step_lanes4_v4) : ROBOT(vjp_joint_step_lanes4);
  return 0;
}
#endif
#endif

long ROBOT(map)(ROBOT(function) fn, int n_in, const int *in_size, const double *const *in, int n_out,
                     const int *out_size, double *const *out, long rows, double *work) {
  const double *row_in[MOST_ARGUMENTS];
  double *row_out[MOST_ARGUMENTS];
  long r, failed = 0;
  int k;
  if (n_in > MOST_ARGUMENTS || n_out > MOST_ARGUMENTS) return -1;
#if LANES && defined(DISPATCHED)
  if (n_in > 4 && in_size[3] == 0 && in_size[4] == 0) {
    many_rows *many = lanes_of(fn);
    if (many != 0) return many(fn, in_size, in, out_size, out, rows, work);
  }
#endif
  for (r = 0; r < rows; r++) {
    for (k = 0; k < n_in; k++) row_in[k] = in[k] + r * in_size[k];
    for (k = 0; k < n_out; k++) row_out[k] = out[k] + r * out_size[k];
    if (fn(row_in, row_out, work) != 0) failed++;
  }
  return failed;
}

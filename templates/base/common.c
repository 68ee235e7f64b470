/* Hash of the code, instruction sets, and batches of rows. common_model.h describes the robot. */
#include <string.h>

#include "common_model.h"
#include "paths.h"
#ifdef DISPATCHED
#include <stdlib.h>
#endif

const char *ROBOT(hash)(void) { return HASH; }

int ROBOT(abi)(void) { return ABI; }

const char *ROBOT(signature)(int k) {
  return k >= 0 && k < (int)(sizeof signatures / sizeof signatures[0]) ? signatures[k] : 0;
}

static const char *const path_names[PATHS] = PATH_NAMES;

#ifdef DISPATCHED
/* The path in use; -1 before the first call. Threads that set it at once find the same value. */
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

/* SIDE_BY_SIDE lists functions with code for several rows in vector lanes: name, index of the first shared input, number of shared
 * inputs, suffix of the code for AVX-512. */
#ifdef DISPATCHED
typedef long many_rows(ROBOT(function) one, const int *in_size, const double *const *in, const int *out_size,
                       double *const *out, long rows, double *work);
typedef struct {
  ROBOT(function) one;
  int shared, count;
  many_rows *many[PATHS];
} Lanes;

#ifdef ON_ARM
#define DECLARED(name, shared, count, newest) HIDDEN many_rows ROBOT(name##_lanes2);
#define LISTED(name, shared, count, newest) {ROBOT(name), shared, count, {0, ROBOT(name##_lanes2)}},
#else
#define DECLARED(name, shared, count, newest) HIDDEN many_rows ROBOT(name##_lanes4), ROBOT(name##_##newest);
#define LISTED(name, shared, count, newest) {ROBOT(name), shared, count, {0, ROBOT(name##_lanes4), ROBOT(name##_##newest)}},
#endif
SIDE_BY_SIDE(DECLARED)
static const Lanes lanes[] = {SIDE_BY_SIDE(LISTED) {0, 0, 0, {0}}};

/* The function for rows of fn in vector lanes on the path in use, or 0. */
static many_rows *lanes_of(ROBOT(function) fn, int n_in, const int *in_size) {
  const Lanes *of = lanes;
  int k;
  while (of->one != 0 && of->one != fn) of++;
  if (of->one == 0 || n_in < of->shared + of->count) return 0;
  for (k = 0; k < of->count; k++)
    if (in_size[of->shared + k] != 0) return 0;
  return of->many[ROBOT(path_kernel)()];
}
#endif

long ROBOT(map)(ROBOT(function) fn, int n_in, const int *in_size, const double *const *in, int n_out,
                     const int *out_size, double *const *out, long rows, double *work) {
  const double *row_in[MOST_ARGUMENTS];
  double *row_out[MOST_ARGUMENTS];
  long r, failed = 0;
  int k;
  if (n_in > MOST_ARGUMENTS || n_out > MOST_ARGUMENTS) return -1;
#ifdef DISPATCHED
  {
    many_rows *many = lanes_of(fn, n_in, in_size);
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

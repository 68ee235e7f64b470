/* Whether a result is finite: what every public function of entries.c asks of its outputs. */
#include <stddef.h>

#include "model.h"

typedef struct { /* numbers of an output: `fixed`, and `each` for every step of a rollout */
  int fixed, each;
} Size;

/* A finite number less itself is 0; of infinity and of NaN it is NaN. */
static int is_finite(double x) { return x - x == 0.0; }

/* A sum is finite only if all its numbers are; four sums side by side do not wait for each other. Large numbers may sum to infinity:
 * then each is looked at. */
static int all_finite(const double *x, ptrdiff_t n) {
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
  ptrdiff_t k;
  for (k = 0; k + 4 <= n; k += 4) a += x[k], b += x[k + 1], c += x[k + 2], d += x[k + 3];
  for (; k < n; k++) a += x[k];
  if (is_finite(a + b + (c + d))) return 1;
  for (k = 0; k < n && is_finite(x[k]); k++) {
  }
  return k == n;
}

/* The status of a function, or STATUS_NOT_FINITE. Outputs that are 0 were not asked for. */
static int judged(int status, int steps, double *const *out, const Size *size, int count) {
  int k;
  for (k = 0; status == 0 && k < count; k++) {
    const ptrdiff_t numbers = size[k].fixed + (ptrdiff_t)size[k].each * steps;
    if (out[k] != 0 && !all_finite(out[k], numbers)) status = STATUS_NOT_FINITE;
  }
  return status;
}

/* Rows of LINE numbers, in vectors of four if the compiler has them, padded with zeros after the unknowns and the right-hand side.
 * Short rows are processed with their padding: the compiler knows that length. */
#ifndef LINES_INCLUDED
#define LINES_INCLUDED
#include "constrained_work.h"

#if defined(__GNUC__) && !defined(__TINYC__)
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
#define FOUR(x) (*(Four *)(x))
#define FOUR_OF(x) (*(const Four *)(x))
#endif

/* Number of vectors summed at a time. */
enum { WIDTH = LINE <= 16 ? LINE / 4 : 2 };

static int line_end(int size) { return LINE <= 16 ? LINE : (size + 7) & ~7; }

/* y += f x for at least `size` numbers. */
INLINE void add_line(double *y, double f, const double *x, int size) {
  const int end = line_end(size);
  int j;
#ifdef FOUR
  for (j = 0; j < end; j += 4) FOUR(y + j) += f * FOUR_OF(x + j);
#else
  for (j = 0; j < end; j++) y[j] += f * x[j];
#endif
}

/* y *= f. */
INLINE void scale_line(double *y, double f, int size) {
  const int end = line_end(size);
  int j;
#ifdef FOUR
  for (j = 0; j < end; j += 4) FOUR(y + j) *= f;
#else
  for (j = 0; j < end; j++) y[j] *= f;
#endif
}

/* y = sum of f_k X_k over `count` rows X_k; the f_k are `stride` apart. */
INLINE void sum_lines(double *y, const double *f, int stride, const double *X, int count, int size) {
  const int end = line_end(size);
  int j, k;
#ifdef FOUR
  for (j = 0; j < end; j += 4 * WIDTH) {
    Four sum[WIDTH];
    int i;
    for (i = 0; i < WIDTH; i++) sum[i] = (Four){0.0};
    for (k = 0; k < count; k++) {
      const double share = f[stride * k];
      if (share == 0.0) continue;
      for (i = 0; i < WIDTH; i++) sum[i] += share * FOUR_OF(X + LINE * k + j + 4 * i);
    }
    for (i = 0; i < WIDTH; i++) FOUR(y + j + 4 * i) = sum[i];
  }
#else
  for (j = 0; j < end; j++) y[j] = 0.0;
  for (k = 0; k < count; k++) {
    for (j = 0; j < end; j++) y[j] += f[stride * k] * X[LINE * k + j];
  }
#endif
}

/* Inner product in four partial sums. */
INLINE double inner_line(const double *x, const double *y, int size) {
  const int end = line_end(size);
  int j;
#ifdef FOUR
  Four sum = {0.0};
  for (j = 0; j < end; j += 4) sum += FOUR_OF(x + j) * FOUR_OF(y + j);
#else
  double sum[4] = {0.0};
  for (j = 0; j < end; j++) sum[j & 3] += x[j] * y[j];
#endif
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#endif

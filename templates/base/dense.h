/* Dense linear systems, column-major. */
#ifndef DENSE_INCLUDED
#define DENSE_INCLUDED
#include <math.h>

enum {
  NEARLY_SINGULAR = 1, /* solved, but the least pivot is at most rounding of the largest */
  NO_PIVOT
};

/* Exchanges `count` numbers of two rows or columns, `step` apart. */
static void exchange(double *x, double *y, int count, int step) {
  int k;
  for (k = 0; k < count; k++) {
    const double t = x[k * step];
    x[k * step] = y[k * step];
    y[k * step] = t;
  }
}

/* Solves a x = b in place, a n x n, b n x cols, with partial pivoting. With redundant equations (REDUNDANT) pivoting is complete, and the
 * unknowns left at the end are zero. 0: solved. */
static int solve_dense(double *a, double *b, int n, int cols) {
  const int rank = n - REDUNDANT;
  double least = 0.0, most = 0.0, x[REDUNDANT ? N + ROWS : 1];
  int order[REDUNDANT ? N + ROWS : 1], i, j, k;
  for (k = 0; REDUNDANT && k < n; k++) order[k] = k;
  for (k = 0; k < rank; k++) {
    int row = k, column = k;
    double pivot = fabs(a[k + n * k]);
    for (j = k; j < (REDUNDANT ? n : k + 1); j++) {
      for (i = k; i < n; i++) {
        if (fabs(a[i + n * j]) > pivot) pivot = fabs(a[i + n * j]), row = i, column = j;
      }
    }
    if (row != k) {
      exchange(a + k, a + row, n, n);
      exchange(b + k, b + row, cols, n);
    }
    if (REDUNDANT) {
      exchange(a + n * k, a + n * column, n, 1);
      i = order[k];
      order[k] = order[column];
      order[column] = i;
    }
    if (!(pivot > 0.0)) return NO_PIVOT;
    if (k == 0 || pivot < least) least = pivot;
    if (pivot > most) most = pivot;
    for (i = k + 1; i < n; i++) {
      const double f = a[i + n * k] / a[k + n * k];
      if (f == 0.0) continue;
      for (j = k + 1; j < n; j++) a[i + n * j] -= f * a[k + n * j];
      for (j = 0; j < cols; j++) b[i + n * j] -= f * b[k + n * j];
    }
  }
  for (j = 0; j < cols; j++) {
    for (i = rank; i < n; i++) b[i + n * j] = 0.0;
    for (i = rank - 1; i >= 0; i--) {
      double sum = b[i + n * j];
      for (k = i + 1; k < rank; k++) sum -= a[i + n * k] * b[k + n * j];
      b[i + n * j] = sum / a[i + n * i];
    }
    for (i = 0; REDUNDANT && i < n; i++) x[order[i]] = b[i + n * j];
    for (i = 0; REDUNDANT && i < n; i++) b[i + n * j] = x[i];
  }
  return least <= C_PIVOT_RATIO * most ? NEARLY_SINGULAR : 0;
}

#endif

/* Products of vectors and of column-major matrices. */
#ifndef PRODUCTS_INCLUDED
#define PRODUCTS_INCLUDED
#include "constrained_work.h"

#if ROWS || UNILATERAL || FLOATING
static double inner(const double *x, const double *y, int n) {
  double result = 0.0;
  int k;
  for (k = 0; k < n; k++) result += x[k] * y[k];
  return result;
}
#endif

/* c = c * keep + factor * a b, of rows x shared and shared x cols. */
static void product(const double *a, const double *b, int rows, int shared, int cols, double factor, double keep, double *c) {
  int i, j, k;
  for (j = 0; j < cols; j++) {
    for (i = 0; i < rows; i++) {
      double sum = 0.0;
      for (k = 0; k < shared; k++) sum += a[i + rows * k] * b[k + shared * j];
      c[i + rows * j] = factor * sum + (keep == 0.0 ? 0.0 : keep * c[i + rows * j]);
    }
  }
}

/* c = c * keep + factor * a^T b, with a of shared x rows. */
static void product_transposed(const double *a, const double *b, int rows, int shared, int cols, double factor, double keep,
                               double *c) {
  int i, j, k;
  for (j = 0; j < cols; j++) {
    for (i = 0; i < rows; i++) {
      double sum = 0.0;
      for (k = 0; k < shared; k++) sum += a[k + shared * i] * b[k + shared * j];
      c[i + rows * j] = factor * sum + (keep == 0.0 ? 0.0 : keep * c[i + rows * j]);
    }
  }
}

/* The largest magnitude of n numbers. */
static double largest(const double *x, int n) {
  int64_t most = 0;
  double result;
  int k;
  for (k = 0; k < n; k++) { /* magnitudes are ordered as their bits, and NaN is beyond them all */
    int64_t bits;
    memcpy(&bits, x + k, sizeof bits);
    bits &= INT64_MAX;
    most = bits > most ? bits : most;
  }
  memcpy(&result, &most, sizeof result);
  return result;
}

#endif

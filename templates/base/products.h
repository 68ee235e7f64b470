/* Products of vectors and of column-major matrices. */

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

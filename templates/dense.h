#if SPARE
/* Solves a x = b in place, a n x n, b n x cols, where SPARE equations follow from the others: with complete pivoting those that are
 * left at the end, and the unknowns there are zero. 1: the least pivot is a rounding of the largest; 2: there is none. */
static int solve_dense(double *a, double *b, int n, int cols) {
  double least = 0.0, most = 0.0, x[N + ROWS];
  int order[N + ROWS], rank = n - SPARE, i, j, k;
  for (k = 0; k < n; k++) order[k] = k;
  for (k = 0; k < rank; k++) {
    int row = k, column = k;
    for (j = k; j < n; j++) {
      for (i = k; i < n; i++) {
        if (fabs(a[i + n * j]) > fabs(a[row + n * column])) row = i, column = j;
      }
    }
    for (j = 0; j < n && row != k; j++) {
      const double t = a[k + n * j];
      a[k + n * j] = a[row + n * j];
      a[row + n * j] = t;
    }
    for (j = 0; j < cols && row != k; j++) {
      const double t = b[k + n * j];
      b[k + n * j] = b[row + n * j];
      b[row + n * j] = t;
    }
    for (i = 0; i < n && column != k; i++) {
      const double t = a[i + n * k];
      a[i + n * k] = a[i + n * column];
      a[i + n * column] = t;
    }
    i = order[k];
    order[k] = order[column];
    order[column] = i;
    {
      const double pivot = fabs(a[k + n * k]);
      if (!(pivot > 0.0)) return 2;
      if (k == 0 || pivot < least) least = pivot;
      if (pivot > most) most = pivot;
    }
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
    for (i = 0; i < n; i++) x[order[i]] = b[i + n * j];
    for (i = 0; i < n; i++) b[i + n * j] = x[i];
  }
  return least <= C_PIVOT_RATIO * most;
}
#else
/* Solves a x = b in place, a n x n, b n x cols, with partial pivoting. 1: the least pivot is a rounding of the largest; 2: there is
 * none. */
static int solve_dense(double *a, double *b, int n, int cols) {
  double least = 0.0, most = 0.0;
  int i, j, k;
  for (k = 0; k < n; k++) {
    int best = k;
    for (i = k + 1; i < n; i++) {
      if (fabs(a[i + n * k]) > fabs(a[best + n * k])) best = i;
    }
    if (best != k) {
      for (j = k; j < n; j++) {
        const double t = a[k + n * j];
        a[k + n * j] = a[best + n * j];
        a[best + n * j] = t;
      }
      for (j = 0; j < cols; j++) {
        const double t = b[k + n * j];
        b[k + n * j] = b[best + n * j];
        b[best + n * j] = t;
      }
    }
    {
      const double pivot = fabs(a[k + n * k]);
      if (!(pivot > 0.0)) return 2;
      if (k == 0 || pivot < least) least = pivot;
      if (pivot > most) most = pivot;
    }
    for (i = k + 1; i < n; i++) {
      const double f = a[i + n * k] / a[k + n * k];
      if (f == 0.0) continue;
      for (j = k + 1; j < n; j++) a[i + n * j] -= f * a[k + n * j];
      for (j = 0; j < cols; j++) b[i + n * j] -= f * b[k + n * j];
    }
  }
  for (j = 0; j < cols; j++) {
    for (i = n - 1; i >= 0; i--) {
      double sum = b[i + n * j];
      for (k = i + 1; k < n; k++) sum -= a[i + n * k] * b[k + n * j];
      b[i + n * j] = sum / a[i + n * i];
    }
  }
  return least <= C_PIVOT_RATIO * most;
}
#endif

/* Matrix products for R vectors of rows; mpc_products.h includes this for R = 1 to 4. */

/* C = X Y for X of R WIDTH rows and k columns, Y of k rows and n columns, two columns of C at a time. */
static void JOINED(block, R)(int n, int k, const double *x, int ldx, const double *y, int ldy, double *C, int ldc) {
  int j, l;
  for (j = 0; j < n; j += 2) {
    const double *y0 = y + (ptrdiff_t)j * ldy, *y1 = j + 1 < n ? y0 + ldy : y0, *column = x;
    Part a0 = {0}, b0 = {0}, a1 = {0}, b1 = {0}, a2 = {0}, b2 = {0}, a3 = {0}, b3 = {0};
    Part *c = (Part *)(void *)(C + (ptrdiff_t)j * ldc);
    for (l = 0; l < k; l++, column += ldx) {
      const Part *f = (const Part *)(const void *)column;
      const double p = y0[l], q = y1[l];
      a0 += f[0] * p, b0 += f[0] * q;
      if (R > 1) a1 += f[1] * p, b1 += f[1] * q;
      if (R > 2) a2 += f[2] * p, b2 += f[2] * q;
      if (R > 3) a3 += f[3] * p, b3 += f[3] * q;
    }
    c[0] = a0;
    if (R > 1) c[1] = a1;
    if (R > 2) c[2] = a2;
    if (R > 3) c[3] = a3;
    if (j + 1 == n) continue;
    c = (Part *)(void *)(C + (ptrdiff_t)(j + 1) * ldc);
    c[0] = b0;
    if (R > 1) c[1] = b1;
    if (R > 2) c[2] = b2;
    if (R > 3) c[3] = b3;
  }
}

/* y += X v for X of R WIDTH rows and k columns; with `apart` the product is summed before it is added. */
static void JOINED(column, R)(int k, const double *x, int ldx, const double *v, double *y, int apart) {
  Part *to = (Part *)(void *)y, a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0};
  int l;
  if (!apart) {
    a0 = to[0];
    if (R > 1) a1 = to[1];
    if (R > 2) a2 = to[2];
    if (R > 3) a3 = to[3];
  }
  for (l = 0; l < k; l++, x += ldx) {
    const Part *f = (const Part *)(const void *)x;
    a0 += f[0] * v[l];
    if (R > 1) a1 += f[1] * v[l];
    if (R > 2) a2 += f[2] * v[l];
    if (R > 3) a3 += f[3] * v[l];
  }
  if (apart) {
    a0 += to[0];
    if (R > 1) a1 += to[1];
    if (R > 2) a2 += to[2];
    if (R > 3) a3 += to[3];
  }
  to[0] = a0;
  if (R > 1) to[1] = a1;
  if (R > 2) to[2] = a2;
  if (R > 3) to[3] = a3;
}
#undef R

/* Matrix products for mpc.c in blocks of rows, with vector types if the compiler has them. Columns are padded to multiples of four,
 * those of A and B with zeros; transposed factors are stored transposed. Every entry is summed in the order of the plain loops. */
#if WIDTH > 1
typedef double Part __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));
#else
typedef double Part;
#endif

#define R 4
#include "mpc_block.h"
#define R 3
#include "mpc_block.h"
#define R 2
#include "mpc_block.h"
#define R 1
#include "mpc_block.h"

/* C = X Y for column-major X (m x k) and Y (k x n), padding of C's columns written too; with `lower` only blocks on or below the
 * diagonal. */
static void products(int m, int n, int k, const double *x, int ldx, const double *y, int ldy, double *C, int ldc,
                     int lower) {
  for (; m > 0; m -= ROWS, x += ROWS, C += ROWS) {
    const int columns = lower && n > m ? n - m + ROWS : n;
    if (m > 3 * WIDTH) block4(columns < n ? columns : n, k, x, ldx, y, ldy, C, ldc);
    else if (m > 2 * WIDTH) block3(n, k, x, ldx, y, ldy, C, ldc);
    else if (m > WIDTH) block2(n, k, x, ldx, y, ldy, C, ldc);
    else block1(n, k, x, ldx, y, ldy, C, ldc);
  }
}

/* y += A v for column-major A (m x n), column after column, padding of y included. */
static void add_product(int m, int n, const double *A, int lda, const double *v, double *y, int apart) {
  for (; m > 0; m -= ROWS, A += ROWS, y += ROWS) {
    if (m > 3 * WIDTH) column4(n, A, lda, v, y, apart);
    else if (m > 2 * WIDTH) column3(n, A, lda, v, y, apart);
    else if (m > WIDTH) column2(n, A, lda, v, y, apart);
    else column1(n, A, lda, v, y, apart);
  }
}

/* y += factor x for padded columns of Z numbers. */
static void add_multiple(double factor, const double *x, double *y) {
  const Part *from = (const Part *)(const void *)x;
  Part *to = (Part *)(void *)y;
  int i;
  for (i = 0; i < LZ / WIDTH; i++) to[i] += factor * from[i];
}

/* Y = X' for column-major X (m x n). */
static void transpose(int m, int n, const double *x, int ldx, double *y, int ldy) {
  int i, j;
  for (j = 0; j < n; j++)
    for (i = 0; i < m; i++) y[j + i * ldy] = x[i + j * ldx];
}

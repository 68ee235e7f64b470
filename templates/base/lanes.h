/* V, the number type of kernels: a double, or a gcc/clang vector of LANES doubles if LANES is defined before this is included. B(x) is
 * a scalar in every lane. Lanes are independent. */
#ifndef LANES_INCLUDED
#define LANES_INCLUDED

#include "sine_cosine.h"

#ifndef LANES

typedef double V;
#define B(x) (x)
#define each_sine_cosine sine_cosine
#define each_sign(x) (((x) > 0.0) - ((x) < 0.0))
#define each_equal(x, y) ((x) == (y))
#define each_different(x, y) ((x) != (y))
#define each_less(x, y) ((x) < (y))
#define each_at_most(x, y) ((x) <= (y))
#define each_both(x, y) ((x) != 0.0 && (y) != 0.0)
#define each_either(x, y) ((x) != 0.0 || (y) != 0.0)
#define each_where(x, y) ((x) != 0.0 ? (y) : 0.0)
#define each_acos acos
#define each_asin asin
#define each_atan atan
#define each_cosh cosh
#define each_exp exp
#define each_fabs fabs
#define each_log log
#define each_sinh sinh
#define each_sqrt sqrt
#define each_tan tan
#define each_tanh tanh
#define each_atan2 atan2
#define each_fmax fmax
#define each_fmin fmin
#define each_hypot hypot
#define each_pow pow

#else

typedef double V __attribute__((vector_size(8 * LANES), may_alias));
typedef int64_t Bits __attribute__((vector_size(8 * LANES), may_alias));

INLINE V B(double x) { return x - (V){0}; }
/* `yes` in lanes whose mask has all bits set, else `no`. */
INLINE V chosen(Bits mask, V yes, V no) { return (V)(((Bits)yes & mask) | ((Bits)no & ~mask)); }
INLINE V each_where(V x, V y) { return chosen(x != B(0.0), y, B(0.0)); }
INLINE V each_equal(V x, V y) { return chosen(x == y, B(1.0), B(0.0)); }
INLINE V each_different(V x, V y) { return chosen(x != y, B(1.0), B(0.0)); }
INLINE V each_less(V x, V y) { return chosen(x < y, B(1.0), B(0.0)); }
INLINE V each_at_most(V x, V y) { return chosen(x <= y, B(1.0), B(0.0)); }
INLINE V each_both(V x, V y) { return chosen((x != B(0.0)) & (y != B(0.0)), B(1.0), B(0.0)); }
INLINE V each_either(V x, V y) { return chosen((x != B(0.0)) | (y != B(0.0)), B(1.0), B(0.0)); }
INLINE V each_sign(V x) { return each_less(B(0.0), x) - each_less(x, B(0.0)); }
INLINE V each_fabs(V x) { return (V)((Bits)x & INT64_MAX); }
/* A function of the C library, lane by lane. */
#define EACH(f) \
  INLINE V each_##f(V x) { \
    V r; \
    int j; \
    for (j = 0; j < LANES; j++) r[j] = f(x[j]); \
    return r; \
  }
#define EACH_OF_TWO(f) \
  INLINE V each_##f(V x, V y) { \
    V r; \
    int j; \
    for (j = 0; j < LANES; j++) r[j] = f(x[j], y[j]); \
    return r; \
  }
EACH(acos)
EACH(asin)
EACH(atan)
EACH(cosh)
EACH(exp)
EACH(log)
EACH(sinh)
EACH(sqrt)
EACH(tan)
EACH(tanh)
EACH_OF_TWO(atan2)
EACH_OF_TWO(fmax)
EACH_OF_TWO(fmin)
EACH_OF_TWO(hypot)
EACH_OF_TWO(pow)

/* sine_cosine of every lane; invalid beyond C_LARGE_ANGLE [rad], which the caller must check. */
INLINE void each_sine_cosine(V x, V *sine, V *cosine) {
  const double shift = 6755399441055744.0;
  const V t = x * QUARTERS_IN_ONE + shift, k = t - shift;
  const V r = REDUCED(x, k);
  const V z = r * r;
  const V s = SINE(r, z);
  const V c = COSINE(z);
  const Bits turns = (Bits)t, odd = -(turns & 1);
  *sine = (V)((Bits)chosen(odd, c, s) ^ ((turns & 2) << 62));
  *cosine = (V)((Bits)chosen(odd, s, c) ^ (((turns + 1) & 2) << 62));
}

/* The largest magnitude among n values, in every lane; NaN where one is. */
INLINE V largest(const V *x, int n) {
  V result = B(0.0);
  int k;
  for (k = 0; k < n; k++) {
    const V a = each_fabs(x[k]);
    result = chosen((a <= result) | (result != result), result, a);
  }
  return result;
}

/* Lanes in which all of n values are finite: less itself, no other number is 0. */
INLINE Bits finite_lanes(const V *x, int n) {
  Bits found = ~(Bits){0};
  int k;
  for (k = 0; k < n; k++) found &= x[k] - x[k] == (V){0};
  return found;
}

/* gather: `size` doubles of each lane's row, rows `stride` apart, to lanes. Vectors are built in registers: loading one right after
 * scalar stores would stall on store forwarding. */
INLINE void gather(const double *from, int stride, const long *row, int size, V *x) {
  const double *at[LANES];
  int j, k;
  for (j = 0; j < LANES; j++) at[j] = from + row[j] * stride;
  for (k = 0; k < size; k++) {
#if LANES == 8
    x[k] = (V){at[0][k], at[1][k], at[2][k], at[3][k], at[4][k], at[5][k], at[6][k], at[7][k]};
#elif LANES == 2
    x[k] = (V){at[0][k], at[1][k]};
#else
    x[k] = (V){at[0][k], at[1][k], at[2][k], at[3][k]};
#endif
  }
}

INLINE void scatter(const V *x, int size, int lane, double *row) {
  const double *from = (const double *)x;
  int k;
  for (k = 0; k < size; k++) row[k] = from[k * LANES + lane];
}

/* Vectors begin at a multiple of their size. */
INLINE V *aligned(double *x) {
  const uintptr_t at = (uintptr_t)x, unit = sizeof(V);
  return (V *)(void *)(x + ((unit - at % unit) % unit) / sizeof(double));
}

/* A mask as an integer, one bit per lane. */
INLINE int bits_of(Bits mask) {
  int bits = 0, j;
  for (j = 0; j < LANES; j++) bits |= (int)(mask[j] & 1) << j;
  return bits;
}

/* Arguments of a function of many rows; `one`: the scalar function, for rows out of range. Returns the number that failed. */
#define ARGUMENTS \
  ROBOT(function) one, const int *in_size, const double *const *in, const int *out_size, double *const *out, long rows, double *work

#endif

#endif

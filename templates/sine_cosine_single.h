/* What kernels call in single precision, and how compilers are told of them. */
#ifndef SINE_COSINE_INCLUDED
#define SINE_COSINE_INCLUDED

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "model.h"

#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline, unused))
#define RARELY(x) __builtin_expect((x), 0)
#else
#define NOINLINE
#define INLINE static inline
#define RARELY(x) (x)
#endif

static NOINLINE void library_sine_cosine(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}

/* Sine and cosine of one angle, without a call: the same bits wherever this arithmetic is IEEE 754's, and within 1.2e-7 of
 * exact. Adding 1.5 * 2^23 rounds to the whole number k of quarter turns and leaves its last bits, the quadrant, in the mantissa's;
 * pi/2 in three parts, of which k times the first two is exact (Cody and Waite 1980); Cephes' polynomials on [-pi/4, pi/4].
 * Large angles, infinities and NaN go to the C library. */
INLINE void sine_cosine(double x, double *sine, double *cosine) {
#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16
  const double shift = 12582912.0;
  union {
    double value;
    uint32_t bits;
  } turns, sines, cosines;
  uint32_t odd;
  double k, r, z, s, c;
  if (RARELY(!(fabs(x) <= C_LARGE_ANGLE))) {
    library_sine_cosine(x, sine, cosine);
    return;
  }
  turns.value = x * 0.63661977236758134308 + shift;
  k = turns.value - shift;
  r = ((x - k * 1.5703125) - k * 4.837512969970703125e-4) - k * 7.549789948768648e-8;
  z = r * r;
  s = r + r * z * ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1);
  c = (1.0 - 0.5 * z) + z * z * ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2);
  sines.value = s;
  cosines.value = c;
  odd = (sines.bits ^ cosines.bits) & ((uint32_t)0 - (turns.bits & 1));
  sines.bits = (sines.bits ^ odd) ^ ((turns.bits & 2) << 30);
  cosines.bits = (cosines.bits ^ odd) ^ (((turns.bits + 1) & 2) << 30);
  *sine = sines.value;
  *cosine = cosines.value;
#else
  library_sine_cosine(x, sine, cosine);
#endif
}

#endif

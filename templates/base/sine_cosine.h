/* Functions that kernels call, and attributes of kernels. */
#ifndef SINE_COSINE_INCLUDED
#define SINE_COSINE_INCLUDED

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "model.h"
#include "sine_series.h"

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

/* Sine and cosine of one angle, inline: the same bits wherever arithmetic is IEEE 754's. Adding
 * ANGLE_SHIFT rounds to the whole number k of quarter turns and leaves its last bits, the quadrant, in the mantissa's. Large angles,
 * infinities and NaN go to the C library. */
INLINE void sine_cosine(double x, double *sine, double *cosine) {
#if ANGLES_AS_WRITTEN
  const double shift = ANGLE_SHIFT;
  union {
    double value;
    AngleBits bits;
  } turns, sines, cosines;
  AngleBits odd;
  double k, r, z, s, c;
  if (RARELY(!(fabs(x) <= C_LARGE_ANGLE))) {
    library_sine_cosine(x, sine, cosine);
    return;
  }
  turns.value = x * QUARTERS_IN_ONE + shift;
  k = turns.value - shift;
  r = REDUCED(x, k);
  z = r * r;
  s = SINE(r, z);
  c = COSINE(z);
  sines.value = s;
  cosines.value = c;
  /* quadrants by masks: branches would be mispredicted */
  odd = (sines.bits ^ cosines.bits) & ((AngleBits)0 - (turns.bits & 1));
  sines.bits = (sines.bits ^ odd) ^ ((turns.bits & 2) << (ANGLE_SIGN - 1));
  cosines.bits = (cosines.bits ^ odd) ^ (((turns.bits + 1) & 2) << (ANGLE_SIGN - 1));
  *sine = sines.value;
  *cosine = cosines.value;
#else
  library_sine_cosine(x, sine, cosine);
#endif
}

#endif

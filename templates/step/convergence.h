/* When Newton's method with chord iterations in between is done: `size` is that of the last correction, `rate` how it compares with the one
 * before, which bounds the error that is left. */
#ifndef CONVERGENCE_INCLUDED
#define CONVERGENCE_INCLUDED
#include "sine_cosine.h" /* INLINE */

INLINE double contraction(double size, double last) { return size == 0.0 ? 0.0 : size / last; }

/* Whether what is left of the error is within the tolerance of a pose. */
INLINE int within_tolerance(double size, double rate) { return rate < 1.0 && size * rate <= C_POSE_TOLERANCE * (1.0 - rate); }

/* Whether a correction of numbers of this size may be rounding alone. */
INLINE int as_small_as_rounding(double size, double scale) { return size <= C_STALL * (1.0 + scale); }

/* Whether the iteration after this one will be the last. */
INLINE int last_is_next(double size, double rate) {
  return size * rate <= C_LAST_CORRECTION && size * rate * rate <= C_POSE_TOLERANCE;
}

/* Whether a line search has gone far enough: the correction is negligible, or the slope has fallen from that at the start. */
INLINE int far_enough(double size, double slope, double start) {
  return size <= C_RATE_TOLERANCE || slope <= C_CURVATURE * -start;
}

/* Whether a correction of rates of this size is the last. */
INLINE int rate_is_found(double size, double scale) { return size <= C_RATE_TOLERANCE * (1.0 + scale); }

#endif

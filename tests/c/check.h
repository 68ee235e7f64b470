/* A check that says where it fails, and numbers that repeat. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef THREADS
#define OF_THREAD static __thread
#else
#define OF_THREAD static
#endif

OF_THREAD int failures;

#define CHECK(condition) \
  do { \
    if (!(condition)) failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
  } while (0)

#define NEAR(value, wanted, tolerance) \
  do { \
    const double found_ = (value), wanted_ = (wanted); \
    if (!(fabs(found_ - wanted_) <= (tolerance))) \
      failures++, printf("%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #value, found_, wanted_); \
  } while (0)

OF_THREAD unsigned state = 1;

/* From -1 to 1. */
static double some(void) {
  state = state * 1664525u + 1013904223u;
  return (double)(state >> 8) / 8388608.0 - 1.0;
}

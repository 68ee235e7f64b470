/* The nodes of a rollout after node k hold its state: the step from there failed. NP: numbers of a position. */
#include <stddef.h>
#include <string.h>

static void hold_from(int k, int steps, double *P, double *PD) {
  const double *p = P + (ptrdiff_t)k * NP, *pd = PD + (ptrdiff_t)k * N;
  for (k++; k <= steps; k++) {
    memcpy(P + (ptrdiff_t)k * NP, p, NP * sizeof(double));
    memcpy(PD + (ptrdiff_t)k * N, pd, N * sizeof(double));
  }
}

/* Calls <robot>_ik for rows of goals, and takes the thread's time of each. */

#define _POSIX_C_SOURCE 199309L
#include <time.h>

typedef int function(const double *const *in, double *const *out, double *work);

/* `status` and `seconds` have an entry a row; p and info a row each of n_p and 4. */
void time_ik(function *ik, long rows, int n_p, const double *positions, const double *rotations, const double *weights,
             const double *starts, const double *fixed, const double *frame, const double *options, const double *alpha,
             double *p, double *info, int *status, double *seconds, double *work) {
  struct timespec from, to;
  long r;
  for (r = 0; r < rows; r++) {
    const double *in[8];
    double *out[2];
    in[0] = positions + 3 * r, in[1] = rotations + 9 * r, in[2] = weights, in[3] = starts + n_p * r;
    in[4] = fixed, in[5] = frame, in[6] = options, in[7] = alpha;
    out[0] = p + n_p * r, out[1] = info + 4 * r;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    status[r] = ik(in, out, work);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    seconds[r] = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
  }
}

/* The stop watch: calls a function of the C interface over many states and returns nanoseconds a call. */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

typedef int (*plain_fn)(const double *const *in, double *const *out, double *work);
typedef int (*steps_fn)(int steps, const double *const *in, double *const *out, double *work);

#define MAX_ARGUMENTS 32

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Argument k of state r starts at in[k] + r * in_size[k]; every call writes the same outputs. A negative steps calls
   a plain function, any other a function that takes the number of steps. Returns a negative number on a status. */
double time_calls(void *fn, int steps, int n_in, const int *in_size, const double *const *in, double *const *out,
                  double *work, long states, long calls)
{
    const double *at[MAX_ARGUMENTS];
    long call, state = 0;
    int k, status = 0;
    double start = now();
    for (call = 0; call < calls; ++call) {
        for (k = 0; k < n_in; ++k) at[k] = in[k] + state * in_size[k];
        status |= steps < 0 ? ((plain_fn)fn)(at, out, work) : ((steps_fn)fn)(steps, at, out, work);
        if (++state == states) state = 0;
    }
    return status ? -1.0 : (now() - start) / (double)calls;
}

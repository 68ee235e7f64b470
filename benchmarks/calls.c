/* Calls a function of a robot so many times over states from a file and ends: what cachegrind counts. Compiled with
   -DN=joints -DBATCH=states -DROBOT(name)=robot_name -DPLAIN(function) or a function of ours.c. argv: file, calls.
   The file: sizes of inputs and outputs, work, path; then the inputs of STATES states. */
#include <stdio.h>
#include <stdlib.h>

int CALLED(const double *const *in, double *const *out, double *work);
int ROBOT(set_path)(const char *name);

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    double *values[MOST] = {0}, *out[MOST] = {0}, *work;
    const double *in[MOST] = {0};
    int inputs, outputs, states, k, size, sizes[MOST];
    long call, calls, doubles, failed = 0;
    char path[32];
    FILE *file = argc == 3 ? fopen(argv[1], "r") : 0;
    if (file == 0 || fscanf(file, "%31s %d %d %d %ld", path, &states, &inputs, &outputs, &doubles) != 5) return 2;
    calls = atol(argv[2]);
    if (ROBOT(set_path)(path) != 0) return 3;
    work = calloc((size_t)doubles + 1, sizeof(double));
    for (k = 0; k < inputs; ++k) {
        long i;
        if (fscanf(file, "%d", &sizes[k]) != 1) return 2;
        values[k] = malloc((size_t)sizes[k] * (size_t)states * sizeof(double));
        for (i = 0; i < (long)sizes[k] * states; ++i)
            if (fscanf(file, "%lf", &values[k][i]) != 1) return 2;
    }
    for (k = 0; k < outputs; ++k) {
        if (fscanf(file, "%d", &size) != 1) return 2;
        out[k] = calloc((size_t)size, sizeof(double));
    }
    fclose(file);
    for (call = 0; call < calls; ++call) {
        for (k = 0; k < inputs; ++k) in[k] = values[k] + (call % states) * sizes[k];
        failed += CALLED(in, out, work) != 0;
    }
    return failed != 0;
}

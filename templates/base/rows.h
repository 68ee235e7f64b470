/* Jacobians row by row: one reverse run per unit seed. MOST_STRETCHES bounds the arguments of such a run. */

typedef struct {
  int inputs, seeds, bars;     /* number of arguments; size of all seeds; of all gradients */
  int outputs, given, columns; /* number of seeds; of gradients; of those with blocks of the Jacobian */
  const int (*output)[3];      /* per seed its size, offset, and the first output of its rows */
  const int *bar;              /* offsets of the gradients */
  const int (*column)[2];      /* size and offset of a block's columns in the gradients */
  int (*value)(const double *const *in, double *const *out, double *work); /* 0: no values are wanted */
  int (*reverse)(const double *const *in, double *const *out, double *work);
} Rows;

static void rows_of(const Rows *f, const double *const *in, double *const *out, double *work) {
  double *seed = work, *bar = work + f->seeds, *w = bar + f->bars, *reverse_out[MOST_STRETCHES];
  const double *reverse_in[MOST_STRETCHES];
  int r, j, k, c;
  for (k = 0; k < f->inputs; k++) reverse_in[k] = in[k];
  for (k = 0; k < f->outputs; k++) reverse_in[f->inputs + k] = seed + f->output[k][1];
  for (k = 0; k < f->given; k++) reverse_out[k] = bar + f->bar[k];
  if (f->value != 0) f->value(in, out, w);
  for (r = 0; r < f->seeds; r++) seed[r] = 0.0;
  for (k = 0; k < f->outputs; k++) {
    const int rows = f->output[k][0];
    for (r = 0; r < rows; r++) {
      seed[f->output[k][1] + r] = 1.0;
      f->reverse(reverse_in, reverse_out, w);
      seed[f->output[k][1] + r] = 0.0;
      for (c = 0; c < f->columns; c++)
        for (j = 0; j < f->column[c][0]; j++) out[f->output[k][2] + c][r + rows * j] = bar[f->column[c][1] + j];
    }
  }
}

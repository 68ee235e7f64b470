/* Functions whose Jacobian rows come from one reverse run for each unit seed. MOST_STRETCHES bounds the arguments of such a run. */

typedef struct {
  int inputs, seeds, bars;     /* arguments of the function; numbers of all seeds, of all that a reverse run gives */
  int outputs, given, columns; /* stretches of seeds; what a reverse run gives; of which the Jacobian's blocks are so many */
  const int (*output)[3];      /* size and place among the seeds of each stretch; the first argument that its rows go to */
  const int *bar;              /* places of what is given */
  const int (*column)[2];      /* size and place of a block's columns among that */
  int (*value)(const double *const *in, double *const *out, double *work); /* 0: no values are asked for */
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

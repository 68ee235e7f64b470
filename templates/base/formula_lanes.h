/* A formula for several rows in vector lanes, with shared parameters. Rows out of range of the sines of lanes.h, or whose results
 * are not finite, are left to the scalar function. Without fused multiply-add both have the same bits. */
#include "paths.h"
#include "lanes.h"
#include "formulas_model.h"

typedef struct {
  void (*kernel)(const V *x, const double *alpha, V *y, V *w); /* inputs but alpha, outputs: concatenated */
  int inputs, outputs, doubles_in, doubles_out;
  const int *size; /* of every input but alpha, then of every output */
} Formula;

typedef struct { /* in[k] of row r starts at in[k] + r * in_size[k] */
  ROBOT(function) one;
  const int *in_size, *out_size;
  const double *const *in;
  double *const *out;
  double *work;
} Batch;

static int row_alone(const Formula *f, const Batch *b, long r) {
  const double *in[INPUTS];
  double *out[OUTPUTS];
  int k;
  for (k = 0; k <= f->inputs; k++) in[k] = b->in[k] + r * b->in_size[k];
  for (k = 0; k < f->outputs; k++) out[k] = b->out[k] + r * b->out_size[k];
  return b->one(in, out, b->work) != 0;
}

/* The first `count` of these rows, padded with the last one; returns the number that failed. */
static long together(const Formula *f, const Batch *b, const long *row, int count) {
  V *x = aligned(b->work), *y = x + f->doubles_in, *at;
  const int *size = f->size + f->inputs;
  long failed = 0;
  int found, j, k;
  for (k = 0, at = x; k < f->inputs; at += f->size[k++]) gather(b->in[k], b->in_size[k], row, f->size[k], at);
  f->kernel(x, b->in[f->inputs], y, y + f->doubles_out);
  found = bits_of((Bits)(largest(x, f->size[0]) <= B(0.5 * C_LARGE_ANGLE)) & finite_lanes(y, f->doubles_out));
  for (j = 0; j < count; j++)
    for (k = 0, at = y; k < f->outputs; at += size[k++])
      if (found >> j & 1) scatter(at, size[k], j, b->out[k] + row[j] * b->out_size[k]);
  for (j = 0; j < count; j++)
    if (!(found >> j & 1)) failed += row_alone(f, b, row[j]);
  return failed;
}

static long side_by_side(const Formula *f, const Batch *b, long rows) {
  long row[LANES], r, failed = 0;
  int count, j;
  for (r = 0; r < rows; r += LANES) {
    count = rows - r < LANES ? (int)(rows - r) : LANES;
    for (j = 0; j < LANES; j++) row[j] = r + (j < count ? j : count - 1);
    failed += together(f, b, row, count);
  }
  return failed;
}

/* FORMULAS lists them: name, inputs but alpha, outputs, and how many doubles these are. */
#define DEFINED(name, inputs, outputs, doubles_in, doubles_out) \
  HIDDEN long ROBOT(MANY(name))(ARGUMENTS); \
  long ROBOT(MANY(name))(ARGUMENTS) { \
    static const Formula f = {name##_on_lanes, inputs, outputs, doubles_in, doubles_out, name##_size}; \
    const Batch b = {one, in_size, out_size, in, out, work}; \
    return side_by_side(&f, &b, rows); \
  }
FORMULAS(DEFINED)

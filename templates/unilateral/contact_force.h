/* Mean forces over a step on the spheres of all contacts, world axes; iterations of both stages, and whether either needed the
 * continuation in the slip. */
#ifndef CONTACT_FORCE_INCLUDED
#define CONTACT_FORCE_INCLUDED
#include "contact_rows.h"
#include "step_interface.h"

HIDDEN int STEP(contact_force)(const double *const *in, double *const *out, double *work) {
  Work *const w = (Work *)(void *)work;
  double *p_next = w->bar, *pd_next = p_next + N, *frames = w->contact.frames;
  int k, r, i, stage, status;
  prepare(in[4], w);
  memset(out[0], 0, 3 * CONTACTS * sizeof(double));
  memset(w->count, 0, 4 * sizeof(double));
  status = advance(in[0], in[1], in[2], in[3], in[4], p_next, pd_next, w);
  memcpy(out[1], w->count, 4 * sizeof(double));
  if (status != 0) return status;
  for (stage = 0; stage < 2; stage++) {
    const double *impulse = (stage ? w->push_rate : w->push) + SIDES;
    directions_kernel(stage ? p_next : in[0], w->contact.sign, in[4], w->model, frames, w->kernel);
    for (k = 0; k < CONTACTS; k++) {
      for (r = 0; r < touch_size(k) && r < 3; r++) {
        for (i = 0; i < 3; i++) out[0][i + 3 * k] += frames[9 * k + 3 * r + i] * impulse[touch_row[k] + r] / in[3][0];
      }
    }
  }
  return 0;
}

#endif

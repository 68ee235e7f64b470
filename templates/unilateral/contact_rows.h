/* Rows of contact k are from touch_row[k] on: the normal, then with friction two across, then those of `discs.h`. */
#ifndef CONTACT_ROWS_INCLUDED
#define CONTACT_ROWS_INCLUDED
#include "constrained_work.h"

static int touch_size(int k) { return touch_row[k + 1] - touch_row[k]; }

#endif

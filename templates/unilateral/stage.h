/* What a stage of a step with unilateral rows knows. */
#ifndef STAGE_INCLUDED
#define STAGE_INCLUDED
#include "constrained_work.h"

#ifndef DIFFPBD_EVALUATIONS
/* The most evaluations of a step's equations, over both stages; beyond it the step ends in status 14. To bound the time of a step,
 * compile with a smaller number (-DDIFFPBD_EVALUATIONS=60). */
#define DIFFPBD_EVALUATIONS 1000000
#endif

/* A stage of a step with unilateral rows (joint limits and contacts): their impulses are unknowns beside the pose or the rates. */
typedef struct {
  const double *p, *pd, *u, *h, *alpha;
  const double *end;   /* the pose at the end, of the rate stage; 0: the pose stage */
  double least;        /* lower bound of the slip during continuation [rad/s or m/s] */
  double slip, impulse; /* the smallest slip of all rows, the largest load times h */
  double rows;         /* squared norm of the residual of the unilateral rows */
  int spent;           /* evaluations so far */
  int acting;          /* 0: there are no unilateral rows */
  int linear;          /* viscous friction at most: without unilateral rows the rate stage is linear */
  int apart;           /* normal and friction of a contact have separate rows */
  int fresh, landing;  /* D is computed anew; pose stage: the residual is computed with momentum and inertia */
  int known;           /* D is that of the linear rate stage */
  int factored, columns; /* of the last D: its factors are available, and the columns they give for impulses */
  int classified, approached; /* `far` has been determined; a row that was far has come near since */
  int seen;            /* contact rows are available at x */
  int far[CONES];      /* rows so distant that their impulse is evaluated explicitly, without a slope */
} Stage;

#endif

/* Kinematics of frames along their chains of joints. World axes, SI units. z of a link's axes is the axis of its joint.
 *
 * frames_model.h has: N coordinates (entries of rates), NP entries of a position, the first BASE links, which are a floating base with 7
 * position numbers; per link its parent (-1: the base), whether its joint is prismatic, its coordinate, and ratio and shift of the joint
 * position ratio * p + shift; per frame its link, rotation (row by row) and position in it; in NUMBERS per link rotation (row by row) and
 * position of its joint in the parent, then lower and upper limits of coordinates (from ENDLESS on: none), VARYING of them depend on
 * alpha; per coordinate the increment of a low-discrepancy sequence, its half range, and whether it is a hinge without mimic joints, to
 * which whole turns may be added. */
#include <math.h>
#include <string.h>


/* A frame and the joints between the base and it, base first. */
typedef struct {
  int count, joint[DEPTH + 1];
  double axis[DEPTH + 1][3], origin[DEPTH + 1][3]; /* of each joint */
  double R[9], x[3];                               /* of the frame: rotation (row by row), position */
  double foot[3];                                  /* position of a floating base */
} Chain;

#define FRAMES_WORK (NUMBERS + VARYING + 1 + KERNEL_WORK)

/* The numbers of the robot under alpha; work has FRAMES_WORK doubles. */
static inline const double *robot_numbers(const double *alpha, double *work) {
  double *values = work + NUMBERS;
  int k;
  frames_model_kernel(alpha, values, values + VARYING + 1);
  memcpy(work, fixed_numbers, sizeof fixed_numbers);
  for (k = 0; k < VARYING; k++) work[varying[k]] = values[k];
  return work;
}

static inline void turn_back(const double *R, const double *v, double *out) { /* R^T v */
  int i;
  for (i = 0; i < 3; i++) out[i] = R[i] * v[0] + R[3 + i] * v[1] + R[6 + i] * v[2];
}

static inline void cross(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void add_cross(const double *a, const double *b, double *out) {
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

/* Composes pose (R, x) with rotation S (row by row) and position t: R S, x + R t. */
static inline void placed(const double *place, double *R, double *x) {
  double a, b, c;
  int i;
  for (i = 0; i < 3; i++) {
    a = R[3 * i], b = R[3 * i + 1], c = R[3 * i + 2];
    x[i] += a * place[9] + b * place[10] + c * place[11];
    R[3 * i] = a * place[0] + b * place[3] + c * place[6];
    R[3 * i + 1] = a * place[1] + b * place[4] + c * place[7];
    R[3 * i + 2] = a * place[2] + b * place[5] + c * place[8];
  }
}

/* Pose of the root: the world, or a floating base, whose quaternion may have any length. */
static inline void begin(const double *p, double *R, double *x) {
#if BASE > 0
  const double size = sqrt(p[3] * p[3] + p[4] * p[4] + p[5] * p[5] + p[6] * p[6]);
  const double a = p[3] / size, b = p[4] / size, c = p[5] / size, d = p[6] / size;
  R[0] = 1.0 - 2.0 * (c * c + d * d), R[1] = 2.0 * (b * c - a * d), R[2] = 2.0 * (b * d + a * c);
  R[3] = 2.0 * (b * c + a * d), R[4] = 1.0 - 2.0 * (b * b + d * d), R[5] = 2.0 * (c * d - a * b);
  R[6] = 2.0 * (b * d - a * c), R[7] = 2.0 * (c * d + a * b), R[8] = 1.0 - 2.0 * (b * b + c * c);
  x[0] = p[0], x[1] = p[1], x[2] = p[2];
#else
  int i;
  (void)p;
  for (i = 0; i < 9; i++) R[i] = i % 4 == 0;
  x[0] = x[1] = x[2] = 0.0;
#endif
}

/* The joints between the base and a frame, base first; returns their number. */
static inline int carriers(int frame, int *joint) {
  int count = 0, i, link;
  for (link = frame_links[frame]; link >= BASE; link = parents[link]) count++;
  for (link = frame_links[frame], i = count; link >= BASE; link = parents[link]) joint[--i] = link;
  return count;
}

/* Pose of a frame, joint axes and origins at positions p (NP); count and joint of c are inputs, from `carriers`. */
static inline void follow(const double *numbers, const double *p, int frame, Chain *c) {
  double *R = c->R, *x = c->x, q, sine, cosine, a, b;
  int k, i;
  begin(p, R, x);
  for (i = 0; i < 3; i++) c->foot[i] = x[i];
  for (k = 0; k < c->count; k++) {
    const int link = c->joint[k];
    placed(numbers + 12 * link, R, x);
    q = ratios[link] * p[coordinates[link] + NP - N] + shifts[link];
    if (slides[link]) {
      for (i = 0; i < 3; i++) x[i] += R[3 * i + 2] * q;
    } else {
      sine_cosine(q, &sine, &cosine);
      for (i = 0; i < 3; i++) {
        a = R[3 * i], b = R[3 * i + 1];
        R[3 * i] = a * cosine + b * sine;
        R[3 * i + 1] = b * cosine - a * sine;
      }
    }
    for (i = 0; i < 3; i++) c->axis[k][i] = R[3 * i + 2], c->origin[k][i] = x[i];
  }
  placed(frame_places + 12 * frame, R, x);
}

/* Adds the Jacobian of the frame to J (6 x N): velocity of its origin, angular velocity, world axes. */
static inline void slopes(const Chain *c, double *J) {
  double arm[3], *column, ratio;
  int k, i;
  for (k = 0; k < BASE; k++) {
    column = J + 6 * k;
    column[k] += 1.0;
    if (k < 3) continue;
    for (i = 0; i < 3; i++) arm[i] = c->x[i] - c->foot[i];
    add_cross(column + 3, arm, column);
  }
  for (k = 0; k < c->count; k++) {
    const double *axis = c->axis[k];
    column = J + 6 * coordinates[c->joint[k]];
    ratio = ratios[c->joint[k]];
    if (slides[c->joint[k]]) {
      for (i = 0; i < 3; i++) column[i] += ratio * axis[i];
      continue;
    }
    for (i = 0; i < 3; i++) arm[i] = ratio * (c->x[i] - c->origin[k][i]);
    add_cross(axis, arm, column);
    for (i = 0; i < 3; i++) column[3 + i] += ratio * axis[i];
  }
}

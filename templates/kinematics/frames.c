/* Poses, Jacobians, velocities and accelerations of frames chosen at run time. */

#include <string.h>

#include "frames_model.h"
#include "frame_chain.h"

/* Reference of a motion, numbered as Pinocchio's ReferenceFrame: WORLD, LOCAL, LOCAL_WORLD_ALIGNED. */
enum { WORLD, LOCAL, ALIGNED };

/* The number as an index below `count`; -1: it is none. */
static int index_of(const double *number, int count) {
  const int k = *number >= 0.0 && *number < count ? (int)*number : -1;
  return k >= 0 && *number == k ? k : -1;
}

/* Transforms a motion (linear, angular) of the frame's origin in world axes to another reference. */
static void referred(const Chain *c, int reference, double *motion) {
  double turned[6];
  int i;
  if (reference == WORLD) add_cross(c->x, motion + 3, motion);
  if (reference != LOCAL) return;
  turn_back(c->R, motion, turned);
  turn_back(c->R, motion + 3, turned + 3);
  for (i = 0; i < 6; i++) motion[i] = turned[i];
}

static int found(const double *number, const double *p, const double *alpha, Chain *c, double *work) {
  const int frame = index_of(number, FRAMES);
  if (frame < 0) return 0;
  c->count = carriers(frame, c->joint);
  follow(robot_numbers(alpha, work), p, frame, c);
  return 1;
}

HIDDEN int INNER(frame_pose)(const double *const *in, double *const *out, double *work) {
  Chain c;
  int i;
  if (!found(in[1], in[0], in[2], &c, work)) return STATUS_NO_FRAME;
  for (i = 0; i < 3; i++) out[0][i] = c.x[i];
  for (i = 0; i < 9; i++) out[1][i] = c.R[3 * (i % 3) + i / 3];
  return 0;
}

HIDDEN int INNER(frame_jacobian)(const double *const *in, double *const *out, double *work) {
  const int reference = index_of(in[2], ALIGNED + 1);
  Chain c;
  int k;
  if (reference < 0 || !found(in[1], in[0], in[3], &c, work)) return STATUS_NO_FRAME;
  for (k = 0; k < 6 * N; k++) out[0][k] = 0.0;
  slopes(&c, out[0]);
  for (k = 0; k < N; k++) referred(&c, reference, out[0] + 6 * k);
  return 0;
}

/* Velocity and acceleration of a body, moved from point to point along a chain. */
typedef struct {
  double velocity[3], omega[3], acceleration[3], alpha[3], at[3];
} Motion;

static void carry(Motion *m, const double *to) {
  double arm[3], swept[3];
  int i;
  for (i = 0; i < 3; i++) arm[i] = to[i] - m->at[i], m->at[i] = to[i];
  cross(m->omega, arm, swept);
  for (i = 0; i < 3; i++) m->velocity[i] += swept[i];
  add_cross(m->alpha, arm, m->acceleration);
  add_cross(m->omega, swept, m->acceleration);
}

/* The motion of a frame's origin along its joints, at rates pd and accelerations pdd (N). */
static void moving(const Chain *c, const double *pd, const double *pdd, Motion *m) {
  double rate, change, along[3];
  int k, i;
  for (i = 0; i < 3; i++) {
    m->velocity[i] = BASE ? pd[i] : 0.0, m->omega[i] = BASE ? pd[3 + i] : 0.0;
    m->acceleration[i] = BASE ? pdd[i] : 0.0, m->alpha[i] = BASE ? pdd[3 + i] : 0.0;
    m->at[i] = c->foot[i];
  }
  for (k = 0; k < c->count; k++) {
    const int link = c->joint[k];
    const double *axis = c->axis[k];
    rate = ratios[link] * pd[coordinates[link]], change = ratios[link] * pdd[coordinates[link]];
    carry(m, c->origin[k]);
    for (i = 0; i < 3; i++) along[i] = (slides[link] ? 2.0 : 1.0) * rate * axis[i];
    add_cross(m->omega, along, slides[link] ? m->acceleration : m->alpha);
    for (i = 0; i < 3; i++) {
      if (slides[link]) m->velocity[i] += rate * axis[i], m->acceleration[i] += change * axis[i];
      else m->omega[i] += rate * axis[i], m->alpha[i] += change * axis[i];
    }
  }
  carry(m, c->x);
}

HIDDEN int INNER(frame_velocity)(const double *const *in, double *const *out, double *work) {
  const int reference = index_of(in[3], ALIGNED + 1);
  const double still[N] = {0};
  Motion m;
  Chain c;
  int i;
  if (reference < 0 || !found(in[2], in[0], in[4], &c, work)) return STATUS_NO_FRAME;
  moving(&c, in[1], still, &m);
  for (i = 0; i < 3; i++) out[0][i] = m.velocity[i], out[0][3 + i] = m.omega[i];
  referred(&c, reference, out[0]);
  return 0;
}

/* Spatial and classical acceleration (spatial + omega x v), both in the given reference. */
HIDDEN int INNER(frame_acceleration)(const double *const *in, double *const *out, double *work) {
  const int reference = index_of(in[4], ALIGNED + 1);
  double *spatial = out[0], *classical = out[1], velocity[6];
  Motion m;
  Chain c;
  int i;
  if (reference < 0 || !found(in[3], in[0], in[5], &c, work)) return STATUS_NO_FRAME;
  moving(&c, in[1], in[2], &m);
  for (i = 0; i < 3; i++) {
    velocity[i] = m.velocity[i], velocity[3 + i] = m.omega[i];
    spatial[i] = m.acceleration[i], spatial[3 + i] = m.alpha[i];
  }
  add_cross(m.velocity, m.omega, spatial);
  referred(&c, reference, velocity);
  referred(&c, reference, spatial);
  for (i = 0; i < 6; i++) classical[i] = spatial[i];
  add_cross(velocity + 3, velocity, classical);
  return 0;
}

int ROBOT(frame_pose_work_size)(void) { return FRAMES_WORK; }
int ROBOT(frame_jacobian_work_size)(void) { return FRAMES_WORK; }
int ROBOT(frame_velocity_work_size)(void) { return FRAMES_WORK; }
int ROBOT(frame_acceleration_work_size)(void) { return FRAMES_WORK; }

/* A joint-spring law on generated gravity, as a program that the Python runtime bridges to the robot.
 *
 * Build, with the generated folder beside it (any C99 compiler):
 *   make -C ROBOT libROBOT.a
 *   gcc -std=c99 -O2 -IROBOT -o spring spring.c ROBOT/libROBOT.a -lm      with ROBOT = baxter_bare
 *
 * Frames on standard input and output, little endian, no padding:
 *   hello  "DPBA", count (uint32), alpha (count doubles); answered by a reply with sequence 0
 *   state  "DPBS", sequence (uint32), time [s], q [rad] (n doubles), dq [rad/s] (n)
 *   reply  "DPBR", sequence of the state (uint32), status (int32, 0: good), 0 (int32),
 *          law [N.m] (n doubles), gravity [N.m] (n)
 * The runtime limits whatever comes out; a reply that is late, not finite or has a status is not used.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "baxter_bare.h"

#define N BAXTER_BARE_JOINTS
#define ALPHA BAXTER_BARE_ALPHA
#define WORK 4096 /* doubles; checked against what the functions ask for */

struct hello { char magic[4]; uint32_t count; double alpha[ALPHA]; };
struct state { char magic[4]; uint32_t sequence; double time, q[N], dq[N]; };
struct reply { char magic[4]; uint32_t sequence; int32_t status, zero; double law[N], gravity[N]; };

static const double stiffness[N] = {30.0, 30.0, 20.0, 20.0, 5.0, 5.0, 5.0}; /* [N.m/rad] */
static const double damping[N] = {3.0, 3.0, 1.5, 1.5, 0.2, 0.2, 0.2};       /* [N.m.s/rad] */

static struct hello hello;
static struct state state;
static struct reply reply;
static double rest[N], spring[N], work[WORK];

static int answer(void) {
  return fwrite(&reply, sizeof reply, 1, stdout) == 1 && fflush(stdout) == 0;
}

/* What holds the arm at q: gravity less what the joint springs do. */
static int hold(double *torque) {
  const double *in[2] = {state.q, hello.alpha};
  double *out[1];
  int i, status;
  out[0] = torque;
  status = baxter_bare_gravity(in, out, work);
  out[0] = spring;
  if (status == 0) status = baxter_bare_spring_torque(in, out, work);
  for (i = 0; i < N; ++i) torque[i] -= spring[i];
  return status;
}

int main(void) {
  int i, started = 0;
  memcpy(reply.magic, "DPBR", 4);
  if (baxter_bare_gravity_work_size() > WORK || baxter_bare_spring_torque_work_size() > WORK) return 3;
  if (fread(&hello, sizeof hello, 1, stdin) != 1) return 1;
  if (memcmp(hello.magic, "DPBA", 4) != 0 || hello.count != ALPHA) return 2;
  if (!answer()) return 1;
  while (fread(&state, sizeof state, 1, stdin) == 1) {
    if (memcmp(state.magic, "DPBS", 4) != 0) return 2;
    if (!started || state.time < 0.0) { /* a negative time starts anew at the measured pose */
      memcpy(rest, state.q, sizeof rest);
      started = 1;
    }
    reply.sequence = state.sequence;
    reply.status = hold(reply.gravity);
    for (i = 0; i < N; ++i) reply.law[i] = stiffness[i] * (rest[i] - state.q[i]) - damping[i] * state.dq[i];
    if (!answer()) return 1;
  }
  return 0;
}

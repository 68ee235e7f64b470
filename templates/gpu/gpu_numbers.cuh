/* Newton and chord iterations of every pose before the last, which the end of the step makes; the largest last correction of a pose that is
 * found; numbers of the searches, which rounding decides: in double precision those of the C. */
#ifndef CHORDS
#define CHORDS 1
#endif
#ifdef SINGLE
#ifndef NEWTONS
#define NEWTONS 1
#endif
#define RESIDUAL 2e-4f
#define LARGEST_ANGLE 5e3f
#undef C_LEAST_STEP
#define C_LEAST_STEP 1e-9f
#undef C_RATE_TOLERANCE
#define C_RATE_TOLERANCE 1e-5f
#undef C_FAR_RATE
#define C_FAR_RATE 1e9f
#undef C_HUGE
#define C_HUGE 1e18f
#undef C_TORQUE_TOLERANCE
#define C_TORQUE_TOLERANCE 1e-4f
#undef C_TORQUE_ROUNDING
#define C_TORQUE_ROUNDING 1e-2f
#undef C_LOSS_ROUNDING
#define C_LOSS_ROUNDING 1e-5f
#undef C_UNSEEN
#define C_UNSEEN 1e-6f
#else
#ifndef NEWTONS
#define NEWTONS 2
#endif
#define RESIDUAL 1e-9
#define LARGEST_ANGLE (0.5 * C_LARGE_ANGLE)
#endif
#if NEWTONS < 1
#error "the first iteration of a pose is Newton's: NEWTONS is at least 1"
#endif
#define NOTHING (V *)0
#ifdef ONLY
#define EVERY 0
#else
#define EVERY 1
#endif

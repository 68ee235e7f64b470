#define N 1
#define NA 2
#define FLOATING 0
#define CLOSED 0
#define STOPS 0
#define DISTANCES 0
#define MOST_NEAR 24
#define MOST_ACTIVE 4
#define OBSTACLES 0
#define KERNEL_WORK 1
enum {
  P_IN, PD_IN, U_LAST_IN, P_REF_IN, PD_REF_IN, U_REF_IN, TIP_REF_IN, WEIGHTS_IN, TIP_WEIGHTS_IN, BOUNDS_IN, OPTIONS_IN, H_IN,
  ALPHA_IN, P_GUESS_IN, PD_GUESS_IN, U_GUESS_IN
};
static const int motor[] = {1};

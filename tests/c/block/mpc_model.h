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
static const int motor[] = {1};

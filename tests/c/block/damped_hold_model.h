#define N 1
#define NA 2
#define FLOATING 0
#define CLOSED 0
#define PLAIN 1
#define KERNEL_WORK 1
static const int motor[] = {1};

#include "model.h"
#define HASH "none"
#define ABI 1
#define MOST_ARGUMENTS 16
#define SIDE_BY_SIDE(_)
static const double alpha_default[] = {2.0, 0.3};

#include "model.h"
#define HASH "none"
#define ABI 1
#define MOST_ARGUMENTS 16
#define SIDE_BY_SIDE(_)
static const char *const signatures[] = {"gravity(p 1x1, alpha 2x1) -> (u 1x1)"};

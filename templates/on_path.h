/* Names of functions in a source that is compiled for several instruction sets; dispatch.c has the public ones. Their work sizes are
 * those of the portable path: a source leaves them out where FOR_V3 is defined. */
#include "paths.h"

#if !defined(DISPATCHED)
#define ON_PATH(name) ROBOT(name)
#elif defined(FOR_V3)
#define ON_PATH(name) ROBOT(JOINED(name, _v3))
#else
#define ON_PATH(name) ROBOT(JOINED(name, _portable))
#endif

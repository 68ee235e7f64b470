/* Names of functions in a source that is compiled for several instruction sets; the public functions in entries.c choose one of them.
 * Work sizes are defined by the portable path only, not with FOR_V3. */
#include "paths.h"

#if !defined(DISPATCHED)
#define ON_PATH(name) INNER(name)
#elif defined(FOR_V3)
#define ON_PATH(name) ROBOT(JOINED(name, _v3))
#else
#define ON_PATH(name) ROBOT(JOINED(name, _portable))
#endif

/* Instruction sets. Where compiler and processor have more than the least, some sources are compiled for several of them and
 * chosen from when the program runs (see the robot's header, `path`); -DDIFFPBD_PORTABLE leaves only the portable code. */
#ifndef PATHS_INCLUDED
#define PATHS_INCLUDED

#include "model.h"

#if defined(__GNUC__) && !defined(__TINYC__) && defined(__x86_64__) && defined(__LP64__) && !defined(DIFFPBD_PORTABLE)
#define DISPATCHED
#define HIDDEN __attribute__((visibility("hidden")))
#else
#define HIDDEN
#endif

enum { PORTABLE, X86_64_V3, X86_64_V4, PATHS };

#ifdef DISPATCHED
HIDDEN int ROBOT(path_kernel)(void); /* the path in use, one of these */
#endif

#endif

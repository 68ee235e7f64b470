/* Instruction sets. If the compiler supports them, some sources are compiled for several and one is chosen at run time (see `path` in
 * the robot's header); -DDIFFPBD_PORTABLE leaves only the portable code. */
#ifndef PATHS_INCLUDED
#define PATHS_INCLUDED

#include "model.h"

#if defined(__GNUC__) && !defined(__TINYC__) && !defined(DIFFPBD_PORTABLE)
#if defined(__x86_64__) && defined(__LP64__)
#define ON_X86
#elif defined(__AARCH64EL__)
#define ON_ARM
#endif
#endif

#if defined(ON_X86) || defined(ON_ARM)
#define DISPATCHED
#endif

#ifdef ON_ARM
enum { PORTABLE, NEON, PATHS };
#define PATH_NAMES {"portable", "neon"}
#else
enum { PORTABLE, X86_64_V3, X86_64_V4, PATHS };
#define PATH_NAMES {"portable", "x86-64-v3", "x86-64-v4"}
#endif

#ifdef DISPATCHED
HIDDEN int ROBOT(path_kernel)(void); /* the path in use, one of these */
#endif

#endif

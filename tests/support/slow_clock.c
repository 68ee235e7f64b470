/* LD_PRELOAD: a process whose clock goes `factor` times as slow, and all of whose waits last that much longer.
   DIFFPBD_SLOW_CLOCK is "factor:origin", origin in ns of CLOCK_MONOTONIC; processes with the same words have one clock.
   CPU time is left as it is. Every wall clock c shows real_c - lag, where lag = (monotonic - origin) (1 - 1/factor). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef struct timespec Span;
static double factor = 0.0;
static int64_t origin;

/* The next definition of a function of libc; pthread_cond_timedwait has an old one that dlsym alone would find on x86-64. */
#define NEXT(name) \
  static __typeof__(name) *next; \
  if (!next) { \
    *(void **)&next = dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2"); \
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name); \
  }

static int64_t nanoseconds(Span t) { return 1000000000ll * t.tv_sec + t.tv_nsec; }
static Span span(int64_t ns) { return (Span){ns / 1000000000ll, ns % 1000000000ll}; }

static void begin(void) {
  const char *words = getenv("DIFFPBD_SLOW_CLOCK");
  char *end = 0;
  double found = words ? strtod(words, &end) : 1.0;
  if (words && *end == ':') origin = strtoll(end + 1, 0, 10);
  factor = found >= 1.0 ? found : 1.0;
}

static int64_t real(clockid_t clock) {
  NEXT(clock_gettime)
  Span now = {0, 0};
  if (factor == 0.0) begin();
  next(clock, &now);
  return nanoseconds(now);
}

static int64_t lag(void) { return (int64_t)((double)(real(CLOCK_MONOTONIC) - origin) * (1.0 - 1.0 / factor)); }

/* A relative wait in real time; 0 stays 0, and forever forever. */
static int64_t longer(int64_t ns) {
  if (factor == 0.0) begin();
  double most = 4e18 / factor;
  return ns > 0 && (double)ns < most ? (int64_t)(factor * (double)ns) : ns;
}

static int64_t shorter(int64_t ns) { return (int64_t)((double)ns / factor); }

/* The real instant of a deadline on a slow clock. Whose it is shows in its size: the epoch is long ago, the boot is not. */
static Span deadline(const Span *t) {
  int64_t now = real(t->tv_sec > 1000000000 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
  return span(now + longer(nanoseconds(*t) - (now - lag())));
}

int clock_gettime(clockid_t clock, Span *t) {
  NEXT(clock_gettime)
  int failed = next(clock, t);
  int wall = clock >= 0 && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
  if (factor == 0.0) begin();
  if (!failed && wall && factor > 1.0) *t = span(nanoseconds(*t) - lag());
  return failed;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  (void)zone;
  Span now;
  clock_gettime(CLOCK_REALTIME, &now);
  *t = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *t) {
  Span now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}

int clock_nanosleep(clockid_t clock, int flags, const Span *t, Span *left) {
  NEXT(clock_nanosleep)
  int absolute = flags & TIMER_ABSTIME;
  Span wait = absolute ? deadline(t) : span(longer(nanoseconds(*t)));
  int failed = next(clock, flags, &wait, left);
  if (failed == EINTR && !absolute && left) *left = span(shorter(nanoseconds(*left)));
  return failed;
}

int nanosleep(const Span *t, Span *left) {
  errno = clock_nanosleep(CLOCK_REALTIME, 0, t, left);
  return errno ? -1 : 0;
}

int usleep(useconds_t us) {
  Span t = span(1000ll * us);
  return nanosleep(&t, 0);
}

unsigned sleep(unsigned seconds) {
  Span t = {seconds, 0}, left = {0, 0};
  return nanosleep(&t, &left) ? (unsigned)left.tv_sec : 0;
}

static int milliseconds(int ms) {
  int64_t real_ms = ms > 0 ? longer(1000000ll * ms) / 1000000 : ms;
  return real_ms > 2000000000 ? 2000000000 : (int)real_ms;
}

int poll(struct pollfd *files, nfds_t count, int ms) {
  NEXT(poll)
  return next(files, count, milliseconds(ms));
}

int ppoll(struct pollfd *files, nfds_t count, const Span *t, const sigset_t *mask) {
  NEXT(ppoll)
  Span wait = t ? span(longer(nanoseconds(*t))) : (Span){0, 0};
  return next(files, count, t ? &wait : 0, mask);
}

int epoll_wait(int file, struct epoll_event *events, int most, int ms) {
  NEXT(epoll_wait)
  return next(file, events, most, milliseconds(ms));
}

int epoll_pwait(int file, struct epoll_event *events, int most, int ms, const sigset_t *mask) {
  NEXT(epoll_pwait)
  return next(file, events, most, milliseconds(ms), mask);
}

int select(int count, fd_set *restrict r, fd_set *restrict w, fd_set *restrict e, struct timeval *restrict t) {
  NEXT(select)
  if (!t) return next(count, r, w, e, t);
  int64_t us = longer(1000ll * (1000000ll * t->tv_sec + t->tv_usec)) / 1000;
  struct timeval wait = {us / 1000000, us % 1000000};
  int found = next(count, r, w, e, &wait);
  us = shorter(1000000ll * wait.tv_sec + wait.tv_usec);
  *t = (struct timeval){us / 1000000, us % 1000000};
  return found;
}

int pselect(int count, fd_set *restrict r, fd_set *restrict w, fd_set *restrict e, const Span *restrict t, const sigset_t *restrict mask) {
  NEXT(pselect)
  Span wait = t ? span(longer(nanoseconds(*t))) : (Span){0, 0};
  return next(count, r, w, e, t ? &wait : 0, mask);
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const Span *restrict t) {
  NEXT(sigtimedwait)
  Span wait = t ? span(longer(nanoseconds(*t))) : (Span){0, 0};
  return next(set, info, t ? &wait : 0);
}

int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const Span *restrict t) {
  NEXT(pthread_cond_timedwait)
  Span wait = deadline(t);
  return next(c, m, &wait);
}

int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t clock, const Span *restrict t) {
  NEXT(pthread_cond_clockwait)
  Span wait = deadline(t);
  return next(c, m, clock, &wait);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict m, const Span *restrict t) {
  NEXT(pthread_mutex_timedlock)
  Span wait = deadline(t);
  return next(m, &wait);
}

int sem_timedwait(sem_t *restrict s, const Span *restrict t) {
  NEXT(sem_timedwait)
  Span wait = deadline(t);
  return next(s, &wait);
}

int sem_clockwait(sem_t *restrict s, clockid_t clock, const Span *restrict t) {
  NEXT(sem_clockwait)
  Span wait = deadline(t);
  return next(s, clock, &wait);
}

/* Sockets that give up by themselves. */
int setsockopt(int file, int level, int option, const void *value, socklen_t size) {
  NEXT(setsockopt)
  if (level != SOL_SOCKET || (option != SO_RCVTIMEO && option != SO_SNDTIMEO) || size != sizeof(struct timeval))
    return next(file, level, option, value, size);
  const struct timeval *t = value;
  int64_t us = longer(1000ll * (1000000ll * t->tv_sec + t->tv_usec)) / 1000;
  struct timeval wait = {us / 1000000, us % 1000000};
  return next(file, level, option, &wait, sizeof wait);
}

long syscall(long number, ...) {
  NEXT(syscall)
  va_list rest;
  va_start(rest, number);
  long a[6];
  for (int k = 0; k < 6; k++) a[k] = va_arg(rest, long);
  va_end(rest);
  Span wait;
  int command = (int)a[1] & FUTEX_CMD_MASK;
  if (number == SYS_futex && a[3] && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET)) {
    const Span *t = (const Span *)a[3];
    wait = command == FUTEX_WAIT ? span(longer(nanoseconds(*t))) : deadline(t);
    a[3] = (long)&wait;
  }
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

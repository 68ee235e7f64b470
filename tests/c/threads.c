/* The tests of a robot (`run`, its main) in two threads at once: nothing is kept between calls. */
#include <pthread.h>

int run(void);

static void *one(void *result) {
  *(int *)result = run();
  return 0;
}

int main(void) {
  int first = 1, second = 1;
  pthread_t other;
  if (pthread_create(&other, 0, one, &second) != 0) return 2;
  one(&first);
  pthread_join(other, 0);
  return first || second;
}

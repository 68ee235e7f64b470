/* A stand-in for NVIDIA's driver: memory is the host's, a module is a library that libnvrtc.c made for it, a launch calls its entry for one
 * thread after another. What was called is counted; a device that is not there, old drivers and failures are asked for by variables. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *handle;
typedef void (*runner)(void *entry, long long threads, const void *arguments);
typedef struct { void *library; } module;
typedef struct { void *entry; runner run; } function;

long long calls_launched = 0, calls_open = 0, calls_bytes = 0, last_block = 0, last_grid = 0, calls_ordered = 0;
handle last_stream = 0;

static int number(const char *name, int other) { const char *text = getenv(name); return text ? atoi(text) : other; }

static int context = 0;
static int inside(void) { return context > 0 ? 0 : 201; /* CUDA_ERROR_INVALID_CONTEXT */ }

int cuInit(unsigned flags) { return flags ? 1 : number("STANDIN_INIT", 0); }
int cuDriverGetVersion(int *version) { *version = number("STANDIN_CUDA", 13000); return 0; }
int cuGetErrorName(int status, const char **text) { *text = status == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR"; return 0; }
int cuGetErrorString(int status, const char **text) { *text = status == 2 ? "out of memory" : "something else"; return 0; }
int cuDeviceGetCount(int *count) { *count = number("STANDIN_DEVICES", 1); return 0; }
int cuDeviceGet(int *device, int k) { *device = k + 7; return 0; }
int cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "Stand-in %d", device); return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
  (void)device;
  *value = which == 75 ? 9 : which == 76 ? 0 : which == 16 ? 4 : -1;
  return *value < 0;
}
int cuDeviceGetDefaultMemPool(handle *pool, int device) { *pool = (handle)(intptr_t)device; return 0; }
int cuMemPoolSetAttribute(handle pool, int which, void *value) { return !pool || which != 4 || *(uint64_t *)value != UINT64_MAX; }
int cuDevicePrimaryCtxRetain(handle *of, int device) { *of = (handle)(intptr_t)(device + 100); return 0; }
int cuCtxPushCurrent_v2(handle of) { context++; return of != (handle)(intptr_t)107; }
int cuCtxPopCurrent_v2(handle *of) { *of = (handle)(intptr_t)107; return --context < 0; }
int cuMemAllocAsync(void **address, size_t bytes, handle stream) {
  (void)stream;
  if (bytes > (size_t)number("STANDIN_MEMORY", 1 << 30)) return 2;
  *address = malloc(bytes);
  memset(*address, 0xff, bytes); /* NaN: nothing may be read that was not written */
  calls_open++, calls_bytes += bytes;
  return inside();
}
int cuMemFreeAsync(void *address, handle stream) { (void)stream; free(address); calls_open--; return inside(); }
int cuMemcpyHtoDAsync_v2(void *to, const void *from, size_t bytes, handle stream) { (void)stream; memcpy(to, from, bytes); return inside(); }
int cuMemcpyDtoHAsync_v2(void *to, const void *from, size_t bytes, handle stream) { (void)stream; memcpy(to, from, bytes); return inside(); }
int cuMemsetD8Async(void *to, unsigned char value, size_t bytes, handle stream) { (void)stream; memset(to, value, bytes); return inside(); }
int cuStreamSynchronize(handle stream) { (void)stream; return inside(); }
int cuEventCreate(handle *event, unsigned flags) { *event = (handle)1; return flags != 2; }
int cuEventRecord(handle event, handle stream) { (void)stream; return event != (handle)1; }
int cuStreamWaitEvent(handle stream, handle event, unsigned flags) { (void)stream; calls_ordered++; return event != (handle)1 || flags; }
int cuEventDestroy_v2(handle event) { return event != (handle)1; }

int cuModuleLoadData(handle *result, const void *image) {
  char path[] = "/tmp/standin-XXXXXX";
  const char *bytes = image;
  int64_t size;
  module *made;
  int file;
  if (memcmp(bytes, "STANDIN:", 8) != 0) return 200; /* CUDA_ERROR_INVALID_IMAGE */
  memcpy(&size, bytes + 8, sizeof size);
  file = mkstemp(path);
  if (file < 0 || write(file, bytes + 16, size) != size) return 999;
  close(file);
  made = malloc(sizeof *made);
  made->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  unlink(path);
  *result = made;
  return made->library ? inside() : 200;
}
int cuModuleGetFunction(handle *result, handle of, const char *name) {
  function *made = malloc(sizeof *made);
  made->entry = dlsym(((module *)of)->library, name);
  made->run = (runner)dlsym(((module *)of)->library, "launch_on_host");
  *result = made;
  return made->entry && made->run ? inside() : 500; /* CUDA_ERROR_NOT_FOUND */
}
int cuModuleGetGlobal_v2(void **address, size_t *bytes, handle of, const char *name) {
  *address = dlsym(((module *)of)->library, name);
  *bytes = 2 * sizeof(long long);
  return *address ? inside() : 500;
}
int cuFuncGetAttribute(int *value, int which, handle of) { (void)of; *value = which == 4 ? 42 : which == 3 ? 0 : -1; return *value < 0; }
int cuLaunchKernel(handle of, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   handle stream, void **parameters, void **extra) {
  if (gy != 1 || gz != 1 || by != 1 || bz != 1 || shared || extra || bx % 32 || bx > 1024 || !gx) return 1;
  calls_launched++, last_stream = stream, last_block = bx, last_grid = gx;
  ((function *)of)->run(((function *)of)->entry, (long long)gx * bx, parameters[0]);
  return inside();
}

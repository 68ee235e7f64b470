/* A stand-in for NVRTC: the source as C++ for the host, with the -D of its options; its code is "STANDIN:", the size and the library. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { char *source, *code, log[65536]; size_t size; } program;
long long calls_compiled = 0;

int nvrtcVersion(int *major, int *minor) { *major = 13; *minor = 0; return 0; }
const char *nvrtcGetErrorString(int status) { return status == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR"; }
int nvrtcCreateProgram(program **made, const char *source, const char *name, int headers, const char *const *texts, const char *const *names) {
  if (headers || texts || names || strcmp(name, "robot.cu") != 0) return 3;
  *made = calloc(1, sizeof **made);
  (*made)->source = strdup(source);
  return 0;
}
int nvrtcDestroyProgram(program **of) { free((*of)->source), free((*of)->code), free(*of); *of = 0; return 0; }
int nvrtcCompileProgram(program *of, int count, const char *const *options) {
  char folder[] = "/tmp/standin-XXXXXX", path[128], command[4096];
  FILE *file;
  int k, status;
  size_t got;
  int64_t size;
  calls_compiled++;
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/robot.cpp", folder);
  file = fopen(path, "w"), fputs(of->source, file), fclose(file);
  k = snprintf(command, sizeof command, "${CXX:-g++} -std=c++20 -O0 -w -shared -fPIC -ffp-contract=off -fvisibility=default");
  for (int j = 0; j < count; j++)
    if (!strncmp(options[j], "-D", 2)) k += snprintf(command + k, sizeof command - k, " '%s'", options[j]);
  snprintf(command + k, sizeof command - k, " %s -o %s/robot.so >%s/log 2>&1", path, folder, folder);
  status = system(command);
  snprintf(path, sizeof path, "%s/log", folder);
  file = fopen(path, "r"), got = fread(of->log, 1, sizeof of->log - 1, file), of->log[got] = 0, fclose(file);
  if (status == 0) {
    snprintf(path, sizeof path, "%s/robot.so", folder);
    file = fopen(path, "rb"), fseek(file, 0, SEEK_END), size = ftell(file), rewind(file);
    of->size = 16 + size, of->code = malloc(of->size);
    memcpy(of->code, "STANDIN:", 8), memcpy(of->code + 8, &size, 8);
    got = fread(of->code + 16, 1, size, file), fclose(file);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  k = system(command);
  return status || k ? 6 : 0;
}
int nvrtcGetProgramLogSize(program *of, size_t *size) { *size = strlen(of->log) + 1; return 0; }
int nvrtcGetProgramLog(program *of, char *to) { strcpy(to, of->log); return 0; }
int nvrtcGetCUBINSize(program *of, size_t *size) { *size = of->size; return of->code ? 0 : 8; }
int nvrtcGetCUBIN(program *of, char *to) { memcpy(to, of->code, of->size); return 0; }

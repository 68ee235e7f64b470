/* A thread a state: what a robot's C has, for a GPU, from the same kernels. gpu_model.cuh says what the robot has. Every entry NAME is compiled
 * where ONLY_NAME is defined, all of them without any ONLY; `left` is the last output of each: what the last correction of a state's poses
 * was [rad or m], infinite where there is no result. */
#include "gpu_device.cuh"
#include "gpu_model.cuh"
#include "gpu_numbers.cuh"
#include "gpu_step.cuh"
#include "gpu_rollout.cuh"
#include "gpu_formulas.cuh"
#if ESTIMATION
#include "gpu_estimation.cuh"
#endif

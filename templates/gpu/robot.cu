/* The robot's functions on a GPU, one thread a state, from the kernels of its C. gpu_model.cuh holds what depends on the robot. ONLY_NAME
 * compiles the entry NAME alone; without any ONLY all are compiled. The last output of each entry, `left`, is the size of the last
 * correction of a state's poses [rad or m], infinite if there is no result. */
#include "gpu_device.cuh"
#include "gpu_model.cuh"
#include "gpu_numbers.cuh"
#include "gpu_step.cuh"
#include "gpu_rollout.cuh"
#include "gpu_formulas.cuh"
#if ESTIMATION
#include "gpu_estimation.cuh"
#endif

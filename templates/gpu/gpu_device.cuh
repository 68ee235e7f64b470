/* One text for a GPU (NVRTC, nvcc) and for the host (a C++20 compiler), where an entry is a function of one thread. V is double, or
 * float with SINGLE. With SHARED_ALPHA all threads have one alpha, without gaps. */
#ifdef SINGLE
typedef float V;
#include "sine_series_single.h"
#else
typedef double V;
#include "sine_series.h"
#endif

#ifdef __CUDACC__
#define INSIDE static __device__ __forceinline__
#define LOCAL static __device__
#define OUTSIDE static __device__ __noinline__
#define INSIDE_MEMBER __device__ __forceinline__
#define CONSTANT extern "C" __device__ const
#define LOAD(x) __ldg(x)
#define INFINITE V(__int_as_float(0x7f800000))
#define UNROLLED _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#ifndef BLOCK
#define BLOCK 128
#endif
#define ENTRY(name) extern "C" __global__ void __launch_bounds__(BLOCK) name(const Arguments a)
/* One that ptxas would leave 32 registers. */
#define LONE_ENTRY(name) extern "C" __global__ void __launch_bounds__(BLOCK, 1) name(const Arguments a)
INSIDE long long own_index() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }
#pragma nv_diag_suppress 177 /* what an entry alone does not call */
#else
#include <cmath>
#include <cstddef>
#include <cstring>
using std::acos, std::asin, std::atan, std::atan2, std::cosh, std::exp, std::fabs, std::fmax, std::fmin, std::hypot, std::log, std::pow,
    std::rint, std::sinh, std::sqrt, std::tan, std::tanh;
using std::memcpy, std::memset, std::ptrdiff_t, std::size_t;
#define INSIDE static inline
#define LOCAL static
#define OUTSIDE static
#define INSIDE_MEMBER inline
#define CONSTANT extern "C" const
#define LOAD(x) (*(x))
#define INFINITE V(HUGE_VAL)
#define UNROLLED
#define ROLLED
#define ENTRY(name) extern "C" void name(const Arguments &a)
#define LONE_ENTRY ENTRY
static thread_local long long host_index = 0;
INSIDE long long own_index() { return host_index; }
struct Arguments;
/* All threads of a launch, one after another. */
extern "C" void launch_on_host(void (*entry)(const Arguments &), long long threads, const Arguments *a) {
  for (host_index = 0; host_index < threads; host_index++) entry(*a);
}
#endif

/* Where an argument lies: element e of step k of state s is at[s * state + k * step + e * element]; 0 where all have the same. */
struct Array {
  V *at;
  long long state, step, element;
};

/* What an entry gets: the number of states, side by side in `work`; each thread's own stretch of it. */
struct Arguments {
  long long count;
  long long steps;
  V *work;
  Array in[10], out[9];
};

/* Elements of one state: to write, to read, and of alpha. */
struct Vector {
  V *at;
  long long stride;
  INSIDE_MEMBER V &operator[](int k) const { return at[k * stride]; }
};

struct Read {
  const V *at;
  long long stride;
  INSIDE_MEMBER V operator[](int k) const { return LOAD(at + k * stride); }
};

#ifdef SHARED_ALPHA
struct Parameters {
  const V *at;
  INSIDE_MEMBER V operator[](int k) const { return LOAD(at + k); }
};
#else
typedef Read Parameters;
#endif

#define B(x) V(x)
#define each_sign(x) (V((x) > V(0)) - V((x) < V(0)))
#define each_equal(x, y) V((x) == (y))
#define each_different(x, y) V((x) != (y))
#define each_less(x, y) V((x) < (y))
#define each_at_most(x, y) V((x) <= (y))
#define each_both(x, y) V((x) != V(0) && (y) != V(0))
#define each_either(x, y) V((x) != V(0) || (y) != V(0))
#define each_where(x, y) ((x) != V(0) ? (y) : V(0))
#define each_acos acos
#define each_asin asin
#define each_atan atan
#define each_atan2 atan2
#define each_cosh cosh
#define each_exp exp
#define each_fabs fabs
#define each_fmax fmax
#define each_fmin fmin
#define each_hypot hypot
#define each_log log
#define each_pow pow
#define each_sinh sinh
#define each_sqrt sqrt
#define each_tan tan
#define each_tanh tanh

/* Sine and cosine of an angle within LARGEST_ANGLE, as in the C sources. The caller sees to it that no angle is beyond. */
INSIDE void each_sine_cosine(V x, V *sine, V *cosine) {
  const V k = rint(x * QUARTERS_IN_ONE);
  const V r = REDUCED(x, k);
  const V z = r * r;
  const V s = SINE(r, z);
  const V c = COSINE(z);
  const int turns = (int)k;
  const V one = turns & 1 ? c : s, other = turns & 1 ? s : c;
  *sine = turns & 2 ? -one : one;
  *cosine = (turns + 1) & 2 ? -other : other;
}

#if !defined(FLT_EVAL_METHOD) || FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16
#define ANGLES_AS_WRITTEN 1
#else
#define ANGLES_AS_WRITTEN 0 /* with more digits the C library's functions are used */
#endif
#define ANGLE_SHIFT 12582912.0 /* 1.5 * 2^23 */
#define ANGLE_SIGN 31          /* bit of the sign */
#define AngleBits uint32_t
/* sine_series.h in single precision, within 1.2e-7 of exact: pi/2 in three parts, of which k times the first two is exact (Cody
 * and Waite 1980); Cephes' polynomials on [-pi/4, pi/4]. */
#define QUARTERS_IN_ONE 0.63661977236758134308 /* 2/pi */
#define REDUCED(x, k) (((x) - (k) * 1.5703125) - (k) * 4.837512969970703125e-4) - (k) * 7.549789948768648e-8
#define SINE(r, z) (r) + (r) * (z) * ((-1.9515295891e-4 * (z) + 8.3321608736e-3) * (z) - 1.6666654611e-1)
#define COSINE(z) \
  (1.0 - 0.5 * (z)) + (z) * (z) * ((2.443315711809948e-5 * (z) - 1.388731625493765e-3) * (z) + 4.166664568298827e-2)

#if (defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0) || (!defined(FLT_EVAL_METHOD) && defined(__x86_64__))
#define ANGLES_AS_WRITTEN 1
#else
#define ANGLES_AS_WRITTEN 0 /* with more digits the C library's functions are used */
#endif
#define ANGLE_SHIFT 6755399441055744.0 /* 1.5 * 2^52 */
#define ANGLE_SIGN 63                  /* bit of the sign */
#define AngleBits uint64_t
/* Sine and cosine, within 2.2e-16 of exact, of r = x - k pi/2 on [-pi/4, pi/4], z = r r: fdlibm's polynomials; pi/2 in three parts
 * (Cody and Waite 1980), of which the first has 33 bits, so that k times it is exact. For scalars and vectors. */
#define QUARTERS_IN_ONE 0.63661977236758134308 /* 2/pi */
#define REDUCED(x, k) (((x) - (k) * 1.57079632673412561417) - (k) * 6.07710050630396597660e-11) - (k) * 2.02226624871116645580e-21
#define SINE(r, z) \
  (r) + (r) * (z) * \
  (((((1.58969099521155010221e-10 * (z) - 2.50507602534068634195e-08) * (z) + 2.75573137070700676789e-06) * (z) - \
     1.98412698298579493134e-04) * (z) + 8.33333333332248946124e-03) * (z) - 1.66666666666666324348e-01)
#define COSINE(z) \
  (1.0 - 0.5 * (z)) + (z) * (z) * \
  (((((-1.13596475577881948265e-11 * (z) + 2.08757232129817482790e-09) * (z) - 2.75573143513906633035e-07) * (z) + \
     2.48015872894767294178e-05) * (z) - 1.38888888888741095749e-03) * (z) + 4.16666666666666019037e-02)

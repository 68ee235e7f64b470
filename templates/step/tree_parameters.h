/* Derivatives of a step of a deep tree by its parameters, O(n) per column. With r_F and r_G those of h F and h G at fixed states,
 *
 *     D dp1 = -r_F,        h M1 dpd1 = -K1 dp1 - r_G,
 *
 * r is a sum over the numbers of the model that depend on a parameter: a number of a link, whose wrench acts on every joint between it
 * and the base (codegen/joint_space/link_shares.py), gravity, or a number of one joint. */

enum { OWN, SHARED, GRAVITY }; /* kinds of numbers */

/* Adds up the columns of -r_F and -r_G, zero at first. own: derivatives of h F and h G by numbers of joints. */
static void parameter_sides(const Joint *joints, double h, const double *shares, const double *own, const double *slopes, double *F,
                            double *G) {
  const double half_square = 0.5 * h * h;
  int k, i;
  for (k = 0; k < SLOPES; k++) {
    const int at = slope_at[k], first = slope_joint[k];
    double *to_F = F + N * slope_column[k], *to_G = G + N * slope_column[k];
    if (slope_kind[k] == OWN) {
      to_F[first] -= slopes[k] * own[at];
      to_G[first] -= slopes[k] * own[NM + at];
    } else if (slope_kind[k] == SHARED) {
      const double *share = shares + at;
      for (i = first; i < N; i = parents[i]) {
        to_F[i] -= slopes[k] * dot6(joints[i].left, share);
        to_G[i] -= slopes[k] * dot6(joints[i].right, share + 6);
      }
    } else {
      for (i = 0; i < N; i++) {
        to_F[i] += half_square * slopes[k] * joints[i].held0[3 + at];
        to_G[i] += half_square * slopes[k] * joints[i].held1[3 + at];
      }
    }
  }
}

/* The block's: a mass and a viscous friction, with an asymmetry, a range and an inertia for the rules between parameters. */
#define ALPHA 12
#define RULES 3
#define ALPHA_NAME {"mass", "friction", "asymmetry", "lower", "upper", "free", "xx", "xy", "xz", "yy", "yz", "zz"}
#define ALPHA_DEFAULT {2.0, 0.3, 0.0, -1.0, 1.0, 0.0, 0.1, 0.0, 0.0, 0.1, 0.0, 0.1}
#define ALPHA_LOWER {0.1, 0.0, -DBL_MAX, -DBL_MAX, -DBL_MAX, -DBL_MAX, 0.0, -DBL_MAX, -DBL_MAX, 0.0, -DBL_MAX, 0.0}
#define ALPHA_UPPER {9.0, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX}
#define JOINT_NAME {"slide"}
#define JOINT_LOWER {-DBL_MAX}
#define JOINT_UPPER {DBL_MAX}
#define JOINT_VELOCITY {DBL_MAX}
#define JOINT_EFFORT {40.0}
static const int rules[] = {STATUS_ALPHA_PUSHES, 2, 1, -1, -1, -1, -1, STATUS_ALPHA_NO_RANGE, 3, 4, -1, -1, -1, -1,
                            STATUS_ALPHA_NO_BODY, 6, 7, 8, 9, 10, 11};

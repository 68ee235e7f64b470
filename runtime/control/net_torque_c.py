"""A net torque map as C99: a constant table and one function, without allocation or any library."""

from __future__ import annotations

import re
from string import Template

from diffpbd.runtime.control.net_torque import NetTorqueMap

__all__ = ["c_name", "c_sources"]

_HEADER = Template("""\
/* Net torque of joint $joint of $robot over its displacement in one step of $h s and its rate before it.
 * Made by `diffpbd net-torque-map`; do not edit. */
#ifndef ${guard}_H
#define ${guard}_H

#ifdef __cplusplus
extern "C" {
#endif

/* [N m] at displacement [rad] and velocity [rad/s]: bilinear between the samples, the value at the edge beyond them
 * (+-$displacement rad, +-$velocity rad/s), NaN for NaN. */
double $name(double displacement, double velocity);

#ifdef __cplusplus
}
#endif

#endif
""")
_SOURCE = Template("""\
/* Net torque of joint $joint of $robot: $rows displacements x $columns velocities, solved with $step.
 * Made by `diffpbd net-torque-map`; do not edit. C99, no library. */
#include "$name.h"

enum { ROWS = $rows, COLUMNS = $columns };

static const double EDGE_DISPLACEMENT = $displacement; /* rad */
static const double EDGE_VELOCITY = $velocity; /* rad/s */

static const double TORQUE[ROWS][COLUMNS] = { /* N m */
$table
};

static int place(double value, double edge, int count, double *part)
{
    const double inside = value < -edge ? -edge : value > edge ? edge : value;
    const double x = (inside / edge + 1.0) * 0.5 * (count - 1);
    const int cell = (int)x < count - 2 ? (int)x : count - 2;
    *part = x - cell;
    return cell;
}

double $name(double displacement, double velocity)
{
    double s, t;
    int k, m;
    if (displacement != displacement || velocity != velocity)
        return displacement + velocity;
    k = place(displacement, EDGE_DISPLACEMENT, ROWS, &s);
    m = place(velocity, EDGE_VELOCITY, COLUMNS, &t);
    return (1.0 - s) * ((1.0 - t) * TORQUE[k][m] + t * TORQUE[k][m + 1])
        + s * ((1.0 - t) * TORQUE[k + 1][m] + t * TORQUE[k + 1][m + 1]);
}
""")


def c_name(table: NetTorqueMap) -> str:
    """The name of the C function and of its two files."""
    return re.sub(r"\W", "_", f"{table.robot}_{table.joint}_net_torque", flags=re.ASCII)


def c_sources(table: NetTorqueMap) -> dict[str, str]:
    """Text by file name: a header and a source."""
    name = c_name(table)
    lines = ["    { " + ", ".join(repr(value) for value in row) + " }" for row in table.torque.tolist()]
    words = {
        "name": name, "guard": name.upper(), "robot": table.robot, "joint": table.joint, "step": table.step,
        "h": repr(table.h), "rows": len(lines), "columns": table.torque.shape[1],
        "displacement": repr(float(table.displacement)), "velocity": repr(float(table.velocity)),
        "table": ",\n".join(lines),
    }  # fmt: skip
    return {f"{name}.h": _HEADER.substitute(words), f"{name}.c": _SOURCE.substitute(words)}

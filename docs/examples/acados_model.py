"""An AcadosModel of a generated robot, from the same graph as its C; acados itself is needed only to solve with it.

Before: diffpbd generate double_pendulum --functions default,joint_step_unrolled
"""

# %% The model, in ten lines
import casadi as ca
import numpy as np

import diffpbd


def acados_model(robot, model):
    """Fill an `acados_template.AcadosModel`: x = (p, pd), u the torques, p all of alpha; discrete dynamics of step robot.h."""
    step = robot.casadi("joint_step_unrolled")  # no root finder, no branch: it becomes plain C
    p, pd, u, alpha = (
        ca.SX.sym(name, size) for name, size in zip(("p", "pd", "u", "alpha"), sizes(robot), strict=True)
    )
    model.name = robot.name
    model.x, model.u, model.p = ca.vertcat(p, pd), u, alpha
    model.disc_dyn_expr = ca.vertcat(*step.expand()(p, pd, u, robot.h, alpha))
    return model


def sizes(robot):
    """Sizes of p, pd, u and alpha."""
    return robot.n, robot.n, robot.n, len(robot.alpha)


# %% A robot with that graph
robot = diffpbd.load("double_pendulum")
try:
    from acados_template import AcadosModel
except ImportError:  # the same attributes without acados
    from types import SimpleNamespace as AcadosModel
model = acados_model(robot, AcadosModel())
print("x", model.x.shape, "u", model.u.shape, "p", model.p.shape, "next", model.disc_dyn_expr.shape)

# %% What acados would compile, written and held against the robot
dynamics = ca.Function(
    "dynamics", [model.x, model.u, model.p], [model.disc_dyn_expr, ca.jacobian(model.disc_dyn_expr, model.x)]
)
dynamics.generate("acados_dynamics.c")
x, u = np.array([0.3, -0.2, 0.5, 0.1]), np.array([1.0, -0.5])
following, slope = dynamics(x, u, robot.alpha.defaults)
ours = robot.jac_joint_step(x[:2], x[2:], u)
print("differs by", np.abs(following.full().ravel() - np.concatenate([ours.p_next, ours.pd_next])).max())
print("slope by", np.abs(slope.full()[:2, :2] - ours.dp_next_dp).max())

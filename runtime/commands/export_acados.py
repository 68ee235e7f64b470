"""`diffpbd export-acados ROBOT`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import click
import numpy as np

from diffpbd.runtime.base.files import write_atomic
from diffpbd.runtime.commands.options.locate import open_robot
from diffpbd.runtime.commands.results.results import json_option, result
from diffpbd.runtime.model.robot import Robot

__all__ = ["command"]

GRAPH = "joint_step_unrolled"
"""A graph without a root finder, which becomes plain C."""

TEXT = '''"""{name} as a model of acados, from `diffpbd export-acados`. Needs casadi and acados_template, not diffpbd.

    from {name}_acados import acados_model, bounds
    ocp.model = acados_model()

x = (p, pd): positions [rad or m], then rates. u: torques [N·m or N]. p: the parameters, by default `parameter_values`.
"""

from pathlib import Path

import casadi as ca
import numpy as np

h = {h!r}  # [s] of a step
joints = {joints}
parameters = {parameters}
parameter_values = np.array({values})
bounds = {{  # (n,) each; acados takes large numbers for infinity
    "lower": np.array({lower}),
    "upper": np.array({upper}),
    "speed": np.array({speed}),
    "effort": np.array({effort}),
}}


def acados_model(step=h):
    """An `AcadosModel` with discrete dynamics, a step of `step` [s]."""
    from acados_template import AcadosModel

    dynamics = ca.Function.load(str(Path(__file__).with_name("{graph}")))
    n = len(joints)
    p, pd, u = (ca.SX.sym(name, n) for name in ("p", "pd", "u"))
    alpha = ca.SX.sym("alpha", len(parameters))
    model = AcadosModel()
    model.name, model.x, model.u, model.p = "{name}", ca.vertcat(p, pd), u, alpha
    model.disc_dyn_expr = ca.vertcat(*dynamics.expand()(p, pd, u, step, alpha))
    return model
'''
LARGE = 1e10
"""In the place of a limit that a joint lacks."""


@click.command("export-acados")
@click.argument("robot")
@click.option("--params", metavar="FILE", help="Values of alpha by name, such as params.json of identify.")
@click.option("--out", default=".", show_default=True, metavar="FOLDER", help="Where the two files are written.")
@json_option
def command(robot: str, params: str | None, out: str) -> None:
    """Write the generated ROBOT as a model of acados: a Python file, and the graph of its step beside it.

    The Python file makes an AcadosModel with discrete dynamics; it needs casadi and acados_template, not diffpbd.
    """
    loaded = open_robot(robot)
    loaded.casadi(GRAPH)  # verified; without it an error says how to generate it
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    model, beside = folder / f"{loaded.name}_acados.py", folder / f"{loaded.name}_step.casadi"
    shutil.copyfile(loaded.folder / loaded.manifest.graphs[GRAPH], beside)
    write_atomic(model, model_text(loaded, params, beside.name))
    words = f"{loaded.name}: x {2 * loaded.n}, u {loaded.n}, {len(loaded.alpha)} parameters, steps of {loaded.h:g} s"
    data: dict[str, Any] = {"robot": loaded.name, "x": 2 * loaded.n, "u": loaded.n, "parameters": len(loaded.alpha)}
    result(words, data, str(model), str(beside))


def model_text(robot: Robot, params: str | None, graph: str) -> str:
    """The Python file; `graph` is the name of the file beside it."""

    def listed(values: Any) -> str:
        return json.dumps(np.nan_to_num(np.asarray(values, dtype=float), posinf=LARGE, neginf=-LARGE).tolist())

    limits = robot.limits
    return TEXT.format(
        name=robot.name, h=robot.h, joints=json.dumps(list(robot.joints)), graph=graph,
        parameters=json.dumps(list(robot.alpha.names)), values=listed(robot.alpha.vector(params)),
        lower=listed(limits.lower), upper=listed(limits.upper), speed=listed(limits.speed), effort=listed(limits.effort),
    )  # fmt: skip

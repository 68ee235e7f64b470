"""The torque of a controller without a plan, in C: holds a pose and damps its motion (templates/mpc/damped_hold.c)."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.emit.emission.model_header import Table, add_source_model
from diffpbd.codegen.emit.emission.sources import Emission, Shapes, arguments
from diffpbd.codegen.emit.solved.constrained_step import motors
from diffpbd.codegen.emit.tables.hold_constants import HOLD_BAD_INPUT, HOLD_UNDAMPED
from diffpbd.codegen.emit.text.work import doubles
from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.graph.model.model import Model

CALLED: Final = ("mass_matrix", "gravity", "spring_torque")
"""Functions that it calls."""
CALLED_WITH_LOOPS: Final = ("mass_matrix", "close_loops", "close_rates", "inverse_dynamics")
"""The same where loops are closed."""
SWEEP: Final = 2
"""[1] Operations of a joint by another one in a sweep of the descent."""


def held(model: Model) -> dict[str, Table]:
    """Tables of templates/mpc/holding.h: which joints have a motor, and the places of their sensors' offsets in alpha."""
    where = {entry.name: k for k, entry in enumerate(model.entries)}
    # A base has no motor and no sensor: its entry is not read.
    offsets = [where.get(f"torque_offset.{model.robot.joints[i].name}", 0) for i in model.robot.independent]
    return {"motor": ("int", motors(model)), "torque_offset": ("int", offsets)}


def add_damped_hold(emission: Emission, model: Model) -> None:
    """`<robot>_damped_hold` in src/damped_hold.c, and its entry in the manifest."""
    n, closed, floating = model.tree.freedoms, bool(model.tree.closures), model.robot.floating
    called = [emission.known(name) for name in (CALLED_WITH_LOOPS if closed else CALLED)]
    values = {
        "N": n, "NA": len(model.entries), "FLOATING": int(floating), "CLOSED": int(closed),
        "PLAIN": int(all(motors(model)) and not closed),
        "KERNEL_WORK": max(f.work_size or 0 for f in called),
    }  # fmt: skip
    shapes: Shapes = {
        "p": (n + floating, 1), **dict.fromkeys(("pd", "u_lower", "u_upper", "u"), (n, 1)),
        **dict.fromkeys(("delay", "h"), (1, 1)), "alpha": (len(model.entries), 1),
    }  # fmt: skip
    status = (HOLD_BAD_INPUT, HOLD_UNDAMPED, *(sorted({k for f in called for k in f.status} - {0})))
    emission.declare(
        "damped_hold", DOCS["damped_hold"], *arguments("damped_hold", shapes), status=status,
        operations=sum(f.operations for f in called) + n**3 + SWEEP * n * n, work=doubles("damped_hold.c", values),
    )  # fmt: skip
    for name in ("damped_hold.c", "holding.h"):
        emission.copy(name)
    add_source_model(emission, "damped_hold", values, held(model), "")
    emission.texts["damped_hold"] = len(emission.files["src/damped_hold.c"])

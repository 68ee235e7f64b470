"""Model predictive control in C: one generic solver over the emitted step, for any horizon."""

from __future__ import annotations

from typing import Final

from diffpbd.codegen.emit.emission.model_header import add_source_model
from diffpbd.codegen.emit.emission.paths import add_second_path
from diffpbd.codegen.emit.emission.sources import Emission, Shapes, arguments, obstacle_shapes, places
from diffpbd.codegen.emit.solved.constrained_step import motors
from diffpbd.codegen.emit.solved.damped_hold import add_damped_hold, held
from diffpbd.codegen.emit.tables.constants import TOO_NEAR
from diffpbd.codegen.functions import DOCS, DOCS_OF_LOOPS
from diffpbd.codegen.graph.model.model import Model
from diffpbd.runtime.folder.manifest import Clearance

CALLED: Final = ("joint_step", "jac_joint_step", "gravity", "spring_torque", "tip_pose", "tip_jacobian")
"""Functions that the solver calls."""
CALLED_WITH_LOOPS: Final = (
    "joint_step",
    "jac_joint_step",
    "close_loops",
    "close_rates",
    "inverse_dynamics",
    "tip_pose",
    "tip_jacobian",
)
"""The same where loops are closed."""

SOURCES: Final = (
    "mpc.c", "mpc_products.h", "mpc_block.h", "mpc_riccati.h", "mpc_rows.h", "mpc_active.h", "mpc_dual.h", "mpc_bounds.h",
    "mpc_stopped.h", "mpc_qp.h", "mpc_coordinates.h", "turned.h", "mpc_linearise.h", "mpc_clearance.h",
)  # fmt: skip
"""Plain C of the solver."""

MOST_NEAR: Final = 24
"""Largest number of distance inequalities of a stage: the least distances."""
MOST_ACTIVE: Final = 64
"""Size of the working set of the active-set method."""


def add_mpc(emission: Emission, model: Model, shaped: Clearance | None = None) -> None:
    """`<robot>_mpc` in src/mpc.c, with inequalities of distances where there are any, and what acts without a plan."""
    n, alpha_size, closed, driven = model.tree.freedoms, len(model.entries), bool(model.tree.closures), motors(model)
    called = (*(CALLED_WITH_LOOPS if closed else CALLED), *(("clearance", "jac_clearance") if shaped else ()))
    work = max(emission.known(name).work_size or 0 for name in called)
    floating = model.robot.floating
    n_p = n + 1 if floating else n
    obstacles = obstacle_shapes(shaped)
    shapes: Shapes = {
        "p": (n_p, 1), **dict.fromkeys(("pd", "u_last"), (n, 1)), **dict.fromkeys(("weights", "bounds"), (n, 6)),
        **dict.fromkeys(("P_ref", "P_guess", "P"), (n_p, "N+1")),
        **dict.fromkeys(("PD_ref", "PD_guess", "PD"), (n, "N+1")),
        **dict.fromkeys(("U_ref", "U_guess", "U"), (n, "N")),
        "tip_ref": (3, "N+1"), "tip_weights": (3, 2), "options": (7, 1), "h": (1, 1), "alpha": (alpha_size, 1),
        "info": (9 if shaped else 8, 1),
        **({"keep_apart": (3, 1)} if shaped else {}), **obstacles,
    }  # fmt: skip
    operations = emission.known("jac_joint_step").operations + recursion_operations(n)
    status = (5, 6, 7, 8, *((TOO_NEAR,) if shaped else ()))
    docs = DOCS_OF_LOOPS if closed or not all(driven) else DOCS
    emission.declare("mpc", docs["mpc"], *arguments("mpc", shapes), operations=operations, work=None, status=status)
    for name in SOURCES:
        emission.copy(name)
    add_source_model(
        emission, "mpc",
        {
            "N": n, "NA": alpha_size, "FLOATING": floating, "CLOSED": closed, "KERNEL_WORK": work,
            "STOPS": model.tree.unilateral,
            "DISTANCES": len(shaped.rows) if shaped else 0, "MOST_NEAR": MOST_NEAR, "MOST_ACTIVE": MOST_ACTIVE,
            "OBSTACLES": len(obstacles), **places("mpc", shapes),
        },
        {
            **held(model),
            **({"obstacle_sizes": ("int", [size * count for size, count in obstacles.values()])} if shaped else {}),
        }, "",
    )  # fmt: skip
    emission.texts["mpc"] = sum(len(emission.files[f"src/{name}"]) for name in SOURCES)
    emission.dispatched.append(emission.known("mpc"))
    add_second_path(emission, "mpc", loops=True)
    add_damped_hold(emission, model)


def recursion_operations(n: int) -> int:
    """Multiplications and additions of one stage of the Riccati recursion (states 2 n, torques n)."""
    x, z = 2 * n, 3 * n
    products = x * x * (x + n) + x * x * (x + 1) // 2 + x * n * (x + 2 * n) + n * z * (z + 1) // 2
    return 2 * (products + n**3 // 6 + n * n * z // 2)

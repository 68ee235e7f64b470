"""How fast the projections pull detached links together: poses and residuals after each sweep, from the derivation's own
sweep programs, evaluated in NumPy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import casadi as ca
import numpy as np
import numpy.typing as npt

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.description.recipe.options import MOST_SWEEPS
from diffpbd.codegen.graph.functions.maximal import blocks
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.method import constraints, kinematics
from diffpbd.codegen.method.algorithm_1 import direct, gauss_seidel, jacobi
from diffpbd.codegen.method.corrections import Multiplier, weights
from diffpbd.codegen.program.notation import JOINT, POSE, STATE
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree
from diffpbd.runtime.base.errors import InputError

Array = npt.NDArray[np.float64]

BOTH: Final = "both"
"""As `multiplier`: either, where there are no slides."""
MAX_SHIFT: Final = 1e3
MAX_TURN: Final = 1.0
POSE_OF_STATE: Final = [0, 1, 2, 6, 7, 8, 9]


@dataclass(frozen=True)
class Projection:
    """One solver: `pose` (sweeps + 1, n, 7) [m, 1], the largest joint `gap` [m] and `tilt` [rad] (sweeps + 1 each), the start
    included; `bones` (sweeps + 1, n, 2, 3) [m] runs through every link from its joint to the next one (or its COM)."""

    solver: str
    pose: Array
    gap: Array
    tilt: Array
    bones: Array


@dataclass(frozen=True)
class Convergence:
    """The solvers from the same detached start; links by name."""

    robot: str
    links: tuple[str, ...]
    projections: tuple[Projection, ...]


def converge(
    robot: str, *, sweeps: int = 30, shift: float = 0.05, turn: float = 0.2, seed: int = 1, multiplier: str = "both"
) -> Convergence:
    """Detach every link of ROBOT at its zero pose by up to `shift` [m] and `turn` [rad] a direction, and project.

    Corrections are those of Algorithm 1: weighted by mass and inertia; Jacobi with its default factor. `multiplier` is `scalar`
    (along the residual, all positional before all angular rows: as printed), `block` (all rows of a joint, joint by joint), or
    both where every joint is a hinge. The direct solve stands beside them.
    """
    for name, value, most, unit in (("shift", shift, MAX_SHIFT, "m"), ("turn", turn, MAX_TURN, "rad")):
        if not 0.0 <= value <= most:  # NaN too
            raise InputError(f"{name}: expected a number from 0 to {most:g} {unit}, found {value:g}.")
    if not 1 <= sweeps <= MOST_SWEEPS:
        raise InputError(f"sweeps: expected 1 to {MOST_SWEEPS}, found {sweeps}.")
    recipe, described = resolve(robot)
    if described.n == 0:
        raise InputError(f"{robot}: no moving joint; there is nothing to project.")
    model = build(described, dataclasses.replace(recipe, limits=False))
    tree, names = model.tree, ("body", "joint")
    if any(tree.slides) and multiplier == Multiplier.SCALAR.value:
        raise InputError(f"{robot}: the scalar multiplier is the paper's, for hinges; {robot} has a slide. Use block.")
    either = ("block",) if any(tree.slides) else ("scalar", "block")
    kinds = either if multiplier == BOTH else (multiplier,)
    known = blocks(model)
    default = [entry.default for entry in model.entries]
    values = ca.Function("blocks", [model.alpha], [known[k] for k in names])(default)
    fixed = {k: np.array(v).ravel() for k, v in zip(names, values, strict=True)}
    run = kinematics.fk(tree).numpy()
    zero = np.zeros(tree.n)
    xi = run(p=zero, pd=zero, joint=fixed["joint"])["xi"].reshape(tree.n, STATE)
    start = _detached(xi[:, POSE_OF_STATE], shift, turn, np.random.default_rng(seed))
    fixed["weight"] = weights(tree).numpy()(body=fixed["body"])["weight"].ravel()
    projections = tuple(
        _projection(solver, program, start, sweeps, fixed, tree) for solver, program in _programs(tree, kinds).items()
    )
    return Convergence(recipe.name, tuple(link.name for link in described.links), projections)


def _programs(tree: Tree, multipliers: tuple[str, ...]) -> Mapping[str, Program]:
    made: dict[str, Program] = {}
    for kind in multipliers:
        printed, word = kind == Multiplier.SCALAR.value, "_as_printed" if kind == Multiplier.SCALAR.value else ""
        made |= {
            f"gauss_seidel{word}": gauss_seidel(tree, Multiplier(kind), printed),
            f"jacobi{word}": jacobi(
                tree, Multiplier(kind), 1.0 if printed else None
            ),  # the print adds corrections whole
        }
    return made | {"direct": direct(tree)}


def _detached(pose: Array, shift: float, turn: float, rng: np.random.Generator) -> Array:
    moved: Array = pose.copy()
    moved[:, :3] += rng.uniform(-shift, shift, (len(pose), 3))
    half = np.column_stack([np.ones(len(pose)), rng.uniform(-turn, turn, (len(pose), 3)) / 2])
    for i, (w, x, y, z) in enumerate(half):
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        q = left @ pose[i, 3:]
        moved[i, 3:] = q / np.linalg.norm(q)
    return moved


def _projection(
    solver: str, program: Program, start: Array, count: int, fixed: Mapping[str, Array], tree: Tree
) -> Projection:
    sweep = program.numpy()
    given = {k: fixed[k] for k in program.inputs if k != "pose"}
    poses = [start]
    for _ in range(count):
        poses.append(sweep(pose=poses[-1].ravel(), **given)["pose_next"].reshape(tree.n, POSE))
    rows = constraints.constraints(tree).numpy()
    gap, tilt = zip(*[_residual(rows, pose, fixed["joint"], tree) for pose in poses], strict=True)
    bones = np.array([_bones(pose, fixed["joint"].reshape(tree.n, JOINT), tree) for pose in poses])
    return Projection(solver, np.array(poses), np.array(gap), np.array(tilt), bones)


def _residual(rows: Callable[..., Mapping[str, Array]], pose: Array, joint: Array, tree: Tree) -> tuple[float, float]:
    """Largest positional residual [m] and angular residual [rad] of any joint."""
    xi = np.zeros((tree.n, STATE))
    xi[:, POSE_OF_STATE] = pose
    c = rows(xi=xi.ravel(), joint=joint)["c"].reshape(tree.n, 5)
    lengths = [
        (np.linalg.norm(r[:2]), np.linalg.norm(r[2:])) if slide else (np.linalg.norm(r[:3]), np.linalg.norm(r[3:]))
        for r, slide in zip(c, tree.slides, strict=True)
    ]
    gaps, tilts = zip(*lengths, strict=True)
    return float(max(gaps)), float(np.arcsin(min(1.0, max(tilts))))


def _bones(pose: Array, joint: Array, tree: Tree) -> Array:
    """Both ends (n, 2, 3) of every link: its own joint, and the joint of its first child, or its COM."""
    ends = np.zeros((tree.n, 2, 3))
    for i, at in enumerate(pose):
        R = _matrix(at[3:])
        carried = [k for k, parent in enumerate(tree.parents) if parent == i]
        ends[i, 0] = at[:3] + R @ joint[i, :3]
        ends[i, 1] = at[:3] + (R @ joint[carried[0], 3:6] if carried else 0.0)
    return ends


def _matrix(q: Array) -> Array:
    w, x, y, z = q
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + 2 * w * K + 2 * K @ K)

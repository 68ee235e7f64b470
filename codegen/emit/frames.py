"""Emission of functions of frames chosen at run time: poses and their derivatives, inverse kinematics.

The C is in templates/ (frame_chain.h, frames.c, ik.c); src/frames_model.h has the robot's data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import casadi as ca

from diffpbd.codegen.description.robot.robot import WORLD, Robot, Tip
from diffpbd.codegen.emit.emission.model_header import Table, Value, add_source_model
from diffpbd.codegen.emit.emission.sources import Emission, argument, obstacle_shapes, places
from diffpbd.codegen.emit.tables.constants import BAD_GOAL, NO_FRAME, NOT_REACHED
from diffpbd.codegen.emit.text.c_writer import literal
from diffpbd.codegen.emit.text.numbers import Numbers, numbers
from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.graph.expressions.geometry import rows, square
from diffpbd.codegen.graph.model.model import Model
from diffpbd.runtime.folder.manifest import Argument, Clearance

ENDLESS: Final = 1e20
"""[rad or m] A limit from here on is none."""
SLIDE: Final = 1.0
"""[m] Half range of starts of inverse kinematics for a slide without limits."""
OPTIONS, INFO = 6, 4
FUNCTIONS: Final = {
    "frame_pose": ("p frame alpha", "position rotation"),
    "frame_jacobian": ("p frame reference alpha", "J"),
    "frame_velocity": ("p pd frame reference alpha", "v"),
    "frame_acceleration": ("p pd pdd frame reference alpha", "spatial classical"),
}
IK: Final = ("goal_position goal_rotation goal_weights p0 fixed frame ik_options alpha", "p ik_info")


def add_frames(
    emission: Emission, model: Model, frames: Sequence[Tip], with_ik: bool, shaped: Clearance | None = None
) -> None:
    """src/frames_model.h, frame_chain.h and frames.c, and where `with_ik` ik.c, which keeps distances of `shaped`, with
    their entries in the manifest."""
    robot, tree = model.robot, model.tree
    n, base = tree.freedoms, len(robot.base_freedoms) if robot.floating else 0
    column = {joint: k for k, joint in enumerate(robot.independent)}
    leaders = [i if j.mimic is None else j.mimic.joint for i, j in enumerate(robot.joints)]
    followed = {leader for i, leader in enumerate(leaders) if leader != i}
    found = _numbers(model)
    paths = [len([k for k in tree.ancestors(i) if k >= base]) for i in range(robot.n)]
    obstacles = obstacle_shapes(shaped)
    more = max(emission.known(k).work_size or 0 for k in ("clearance", "jac_clearance")) if shaped else 0
    emission.frames = tuple(frame.name for frame in frames)
    values: dict[str, Value | bool] = {
        "N": n, "NP": n + 1 if base else n, "BASE": base, "LINKS": robot.n, "DEPTH": max(paths), "FRAMES": len(frames),
        "NUMBERS": len(found.fixed), "VARYING": len(found.where), "ENDLESS": literal(ENDLESS),
        "KERNEL_WORK": found.forward.work, "DISTANCES": len(shaped.rows) if shaped else 0, "OBSTACLES": len(obstacles),
        "DISTANCES_WORK": more, **(places("ik", ("keep_apart", *obstacles) if shaped else ()) if with_ik else {}),
    }  # fmt: skip
    tables: dict[str, Table] = {
        "parents": ("int", [j.parent for j in robot.joints]),
        "slides": ("int", [int(slide) for slide in tree.slides]),
        "coordinates": ("int", [column[leader] for leader in leaders]),
        "ratios": ("double", [literal(1.0 if j.mimic is None else j.mimic.multiplier) for j in robot.joints]),
        "shifts": ("double", [literal(0.0 if j.mimic is None else j.mimic.offset) for j in robot.joints]),
        "frame_links": ("int", [frame.link for frame in frames]),
        "frame_places": ("double", [number for frame in frames for number in _place(model, frame)]),
        "fixed_numbers": ("double", found.fixed),
        "varying": ("int", found.where),
        "spread": ("double", [literal(step) for step in _spread(n)]),
        "ranges": ("double", [literal(SLIDE if tree.slides[i] else math.pi) for i in robot.independent]),
        "whole_turns": ("int", [int(not tree.slides[i] and i not in followed) for i in robot.independent]),
    }
    if shaped:
        tables["obstacle_sizes"] = ("int", [rows * count for rows, count in obstacles.values()])
    add_source_model(emission, "frames", values, tables, f'#include "sine_cosine.h"\n\n{found.forward.text}')
    emission.copy("frame_chain.h")
    emission.copy("frames.c")
    work = len(found.fixed) + len(found.where) + 1 + found.forward.work
    operations = OPERATIONS * max(paths) + found.forward.operations
    for name, (inputs, outputs) in FUNCTIONS.items():
        given, given_back = _arguments(model, inputs), _arguments(model, outputs)
        emission.declare(name, DOCS[name], given, given_back, operations=operations, work=work, status=(NO_FRAME,))
        emission.texts[name] = len(emission.files["src/frames.c"]) // len(FUNCTIONS)
    if with_ik:
        emission.copy("ik.c")
        emission.copy("turned.h")
        given, given_back = (_arguments(model, words) for words in IK)
        if shaped:
            given += [argument("keep_apart", 3, 1), *(argument(kind, *size) for kind, size in obstacles.items())]
            given_back[-1] = argument("ik_info", INFO + 1, 1)
            work += len(shaped.rows) * (n + 1) + more
        status = (NOT_REACHED, BAD_GOAL)
        emission.declare("ik", DOCS["ik"], given, given_back, operations=operations, work=work, status=status)
        emission.texts["ik"] = len(emission.files["src/ik.c"])


OPERATIONS: Final = 70
"""[1] Of one joint on the way to a frame."""


def _arguments(model: Model, words: str) -> list[Argument]:
    n, n_p = model.tree.freedoms, model.tree.freedoms + (1 if model.robot.floating else 0)
    shapes = {
        **dict.fromkeys(("p", "p0"), (n_p, 1)), **dict.fromkeys(("pd", "pdd", "fixed"), (n, 1)),
        **dict.fromkeys(("frame", "reference"), (1, 1)), "alpha": (len(model.entries), 1),
        **dict.fromkeys(("position", "goal_position"), (3, 1)), **dict.fromkeys(("rotation", "goal_rotation"), (3, 3)),
        "J": (6, n), **dict.fromkeys(("v", "spatial", "classical"), (6, 1)), "goal_weights": (2, 1),
        "ik_options": (OPTIONS, 1), "ik_info": (INFO, 1),
    }  # fmt: skip
    return [argument(name, *shapes[name]) for name in words.split()]


def _numbers(model: Model) -> Numbers:
    """Joints' places in axes of the links before, then lower and upper limits of the coordinates."""
    limits = [_limit(model, i, side) for side in (0, 1) for i in model.robot.independent]
    return numbers(model.alpha, [model.blocks["hinge_before"], ca.vertcat(*limits)], "frames_model")


def _limit(model: Model, i: int, side: int) -> Any:
    """The lower (0) or upper (1) limit of a coordinate, with what its followers leave of it."""
    own = model.blocks["limit"][2 * i + side] if i in model.tree.limits else _written(model.robot, i)[side]
    closest = ca.fmax if side == 0 else ca.fmin
    result = ca.SX(own)
    for bound in _of_followers(model.robot, i, side):
        result = closest(result, bound)
    return result


def _written(robot: Robot, i: int) -> tuple[float, float]:
    """Limits of a joint as the description has them."""
    joint = robot.joints[i]
    free = joint.type.endless
    return (
        -ENDLESS if free or joint.lower is None else joint.lower,
        ENDLESS if free or joint.upper is None else joint.upper,
    )


def _of_followers(robot: Robot, i: int, side: int) -> Iterator[float]:
    """Limit of joint i from each of its mimic joints, on one side."""
    for k, joint in enumerate(robot.joints):
        if joint.mimic is None or joint.mimic.joint != i or joint.mimic.multiplier == 0.0:
            continue
        bound = _written(robot, k)[side if joint.mimic.multiplier > 0.0 else 1 - side]
        if abs(bound) < ENDLESS:
            yield (bound - joint.mimic.offset) / joint.mimic.multiplier


def _place(model: Model, frame: Tip) -> list[str]:
    """Rotation (by rows) and place of a frame in the axes that its link has in the C text."""
    R, t = ca.DM([list(row) for row in frame.rotation]), ca.DM(list(frame.translation))
    if frame.link != WORLD:
        T = ca.DM(square(model.blocks["after"][:, frame.link]))
        R, t = ca.mtimes(T, R), ca.mtimes(T, t)
    return [literal(float(x)) for x in [*rows(R).full().ravel(), *t.full().ravel()]]


def _spread(n: int) -> list[float]:
    """Increments of the additive low-discrepancy sequence in n dimensions: g⁻¹, g⁻², … with gⁿ⁺¹ = g + 1 (Roberts
    2018)."""
    g = 2.0
    for _ in range(100):
        g = (1.0 + g) ** (1.0 / (n + 1))
    return [g ** -(k + 1) for k in range(n)]

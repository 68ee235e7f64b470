"""Writes a generated folder without the compiled library: graphs, sources, manifest."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

import casadi as ca

from diffpbd.codegen.description.recipe.recipe import Recipe
from diffpbd.codegen.description.robot.frames import chosen_frames
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.emit import formulas
from diffpbd.codegen.emit.border import add_frame, add_header
from diffpbd.codegen.emit.clearance import add_clearance
from diffpbd.codegen.emit.cuda import add_cuda, check_cuda
from diffpbd.codegen.emit.emission import paths, sources
from diffpbd.codegen.emit.emission.model_header import add_model
from diffpbd.codegen.emit.example_start import example_start
from diffpbd.codegen.emit.facts import facts, joint_facts, phantoms
from diffpbd.codegen.emit.frames import add_frames
from diffpbd.codegen.emit.single import add_single, check_single
from diffpbd.codegen.emit.solved import mpc
from diffpbd.codegen.emit.solved.constrained_step import add_constrained_step, motors
from diffpbd.codegen.emit.solved.floating import add_floating_step
from diffpbd.codegen.emit.solved.loop_instant import add_loop_instant
from diffpbd.codegen.emit.step import steps
from diffpbd.codegen.emit.step.joint_step import add_joint_step, add_step_lanes
from diffpbd.codegen.emit.step.step_kernels import step_kernels
from diffpbd.codegen.emit.step.torque_estimation import add_torque_estimation
from diffpbd.codegen.emit.tables.cone_constants import CONE_CONSTANTS
from diffpbd.codegen.emit.tables.constants import CONSTANTS, FLOATING_CONSTANTS, LIMIT_CONSTANTS
from diffpbd.codegen.emit.tables.loop_constants import LOOP_CONSTANTS
from diffpbd.codegen.graph.functions import design, identification, maximal, simultaneous
from diffpbd.codegen.graph.functions.capabilities import GRAPHS, UNROLLED, Capabilities, Command, capabilities
from diffpbd.codegen.graph.functions.derivatives import RowSpec, Spec, specs
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.model.force_elements import element_facts
from diffpbd.codegen.graph.model.model import Model, squared_joints
from diffpbd.codegen.graph.solved import contact_residual, step_graphs
from diffpbd.codegen.graph.solved.floating import graphs_of, stepped
from diffpbd.codegen.graph.solved.solved_step import solved
from diffpbd.codegen.graph.step import torque_estimation
from diffpbd.codegen.result import Row, versions
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.folder.manifest import MANIFEST_NAME, Constant, Generator, Manifest, family
from diffpbd.runtime.folder.manifest import Recipe as RecipeFacts


def write_folder(
    folder: Path, robot: Robot, recipe: Recipe, options_hash: str, command: Command, say: Callable[[str], None],
    ready: Callable[[Path, Mapping[str, str]], None] = lambda _source, _headers: None,
) -> tuple[Manifest, tuple[Row, ...]]:  # fmt: skip
    """Write sources, graphs and manifest of a robot; returns the manifest and a row for every function.

    `ready` is called with every C source as soon as it is written, with the texts of its headers.
    """
    if robot.n == 0:
        raise InputError(
            f"{recipe.name}: no moving joint between base {robot.base} and tip {', '.join(recipe.tip)}; nothing to generate."
        )
    known = versions()
    banner = sources.Banner("", known["diffpbd"], recipe.name, options_hash[:16], command(recipe))
    emission = sources.Emission(recipe.name, banner, floating=robot.floating)
    model = build(robot, recipe)
    found = capabilities(model, command)
    if recipe.cuda:
        check_cuda(model, found)
    if recipe.single:
        check_single(model, found)
    for line in (*found.notes(), *(doubt.line("warning") for doubt in model.chosen.doubts)):
        say(line)
    loose = [j.name for k, j in enumerate(robot.joints) if k not in model.tree.limits and j.lower is not None]
    if recipe.limits and loose:
        say(f"limits act on hinges whose range is below a turn, and on slides; not on {', '.join(loose)}")
    graphs: dict[str, ca.Function] = {}
    clock, handed = _Clock(), set()
    carried = [robot.links[max(i, phantoms(robot))].name for i in range(robot.n)]
    joints = [
        f"{k}  {robot.joints[i].name} ({robot.joints[i].type.name}) [{robot.joints[i].type.unit}], moves {carried[i]}"
        for k, i in enumerate(robot.independent)
    ]

    def hand_over() -> None:
        add_header(emission, joints, model.entries)
        header = f"{recipe.name}.h"
        fresh = [k for k in emission.files if k.startswith("src/") and k not in handed]
        handed.update(fresh)
        _write(folder, {path: emission.files[path].encode() for path in fresh})
        for path in (k for k in fresh if k.endswith(".c")):
            ready(folder / path, {header: emission.files[header]})

    constants = _constants(model, found)
    add_model(emission, ALL_CONSTANTS, robot.floating)
    n, alpha = model.tree.freedoms, model.entries
    constrained = bool(model.tree.closures or model.tree.unilateral)
    if found.has("joint_step") and robot.floating:
        say("deriving the step in joint space with its floating base")
        graphs |= {"joint_step": stepped(model)}
        add_floating_step(emission, model, found.has("jac_alpha_joint_step"), set(graphs))
        if model.tree.unilateral:
            paths.add_second_path(emission, "constrained_step", loops=True)
        clock.lap("joint_step")
        hand_over()
    elif found.has("joint_step") and constrained:
        say(f"deriving the step in joint space with its {' and '.join(_acting(model))}")
        graphs |= {"joint_step": solved(model)}
        add_constrained_step(emission, model, found.has("jac_alpha_joint_step"), set(graphs))
        paths.add_second_path(emission, "constrained_step", loops=model.tree.unilateral)
        clock.lap("joint_step")
        if model.tree.closures:
            add_loop_instant(emission, model, found.has)
            clock.lap("jac_inverse_dynamics")
        hand_over()
    elif found.has("joint_step"):
        say("deriving the step in joint space")
        graphs |= step_graphs.step_graphs(model, found)
        by_alpha = found.has("jac_alpha_joint_step")
        kernels = step_kernels(model, by_alpha, found.has("sixth_order_step"))
        add_joint_step(
            emission, kernels, n, robot.n, alpha, model.tree.friction, set(graphs), by_alpha, found.has("rollout")
        )
        paths.add_second_path(emission, "joint_step")
        if not kernels.deep:
            add_step_lanes(emission)
        clock.lap("joint_step")
        hand_over()
    shaped = add_clearance(emission, model, found, graphs, say) if recipe.clearance else None
    # The step compiles longest, so it is derived first. Plain functions are listed first.
    count = len(emission.functions)
    say("deriving forces, kinematics and what comes of them")
    _add_plain(emission, model, found, graphs, clock)
    add_frames(emission, model, chosen_frames(robot, recipe.frames), found.has("ik"), shaped)
    emission.functions[:] = emission.functions[count:] + emission.functions[:count]
    hand_over()
    if found.has("mpc"):
        mpc.add_mpc(emission, model, shaped)
    if found.has("estimate_torque"):
        kernels_of, laws = torque_estimation.kernels(model), model.tree.friction
        add_torque_estimation(emission, kernels_of, motors(model), robot.n, alpha, laws, bool(model.tree.closures))
        clock.lap("estimate_torque")
    if recipe.cuda:
        say("writing the text for a GPU")
        for line in add_cuda(emission, model, found):
            say(line)
        clock.lap("cuda")
    if found.has("step"):
        say("deriving steps on maximal states")
        _add_steps(emission, model, found, graphs)
        clock.lap("step")
    add_frame(emission, joints, joint_facts(robot), model.entries, recipe.h, example_start(robot))
    hand_over()
    if recipe.single:
        say(f"not in single precision: {', '.join(add_single(emission, ALL_CONSTANTS, joints, alpha))}")
    emission.add(
        "README.md", "README.md", version=known["diffpbd"], command=command(recipe),
        joints=[robot.joints[i].name for i in robot.independent], functions=emission.functions, cuda=recipe.cuda,
        single=recipe.single,
    )  # fmt: skip
    content = {path: text.encode() for path, text in emission.files.items()}
    for name, graph in graphs.items():
        content[f"casadi/{name}.casadi"] = _saved(graph, folder)
    # Compilers may be reading these files: do not write them again.
    _write(folder, {path: data for path, data in content.items() if path not in handed})
    manifest = Manifest(
        name=recipe.name,
        abi_hash=emission.hash,
        generator=Generator(**known, command=command(recipe)),
        robot=facts(model, squared_joints(robot, recipe), emission.frames),
        recipe=RecipeFacts(
            recipe.h,
            recipe.integrator,
            recipe.solver,
            dict(recipe.sweeps),
            recipe.variants,
            recipe.symbolic,
            recipe.friction,
            recipe.springs,
            recipe.table,
            recipe.printed,
        ),
        alpha=model.entries,
        constants=constants,
        functions=tuple(emission.functions),
        files={path: hashlib.sha256(data).hexdigest() for path, data in sorted(content.items())},
        library=f"lib{recipe.name}.so",
        options_hash=options_hash,
        left_out=found.left_out,
        graphs={name: f"casadi/{name}.casadi" for name in graphs if name == UNROLLED},
        clearance=shaped,
        elements=element_facts(recipe),
    ).sealed()
    _write(folder, {MANIFEST_NAME: manifest.to_json().encode()})
    return manifest, _rows(manifest, emission.texts, clock.seconds)


def _constants(model: Model, found: Capabilities) -> tuple[Constant, ...]:
    """Named numbers of what is emitted for a robot."""
    return (
        *CONSTANTS,
        *(FLOATING_CONSTANTS if model.robot.floating else ()),
        *(LIMIT_CONSTANTS if model.tree.limits else ()),
        *(CONE_CONSTANTS if model.tree.unilateral and found.has("joint_step") else ()),
        *(LOOP_CONSTANTS if model.tree.closures else ()),
    )


ALL_CONSTANTS: Final = (*CONSTANTS, *FLOATING_CONSTANTS, *LIMIT_CONSTANTS, *CONE_CONSTANTS, *LOOP_CONSTANTS)
"""Constants that sources name, also for parts that a robot does not have."""


def _acting(model: Model) -> list[str]:
    """Constraints of the step in words."""
    return [
        *(["closed loops"] if model.tree.closures else []),
        *(["limits"] if model.tree.limits else []),
        *(["contacts"] if model.tree.contacts else []),
    ]


OF_THE_TREE: Final = ("inverse_dynamics", "forward_dynamics")
"""Plain functions of a tree that closed loops take part in, and that `add_constrained_step` emits then."""


class _Clock:
    """Seconds that each function took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """The time since the last call went into this function."""
        now = time.perf_counter()
        self.seconds[name], self._last = now - self._last, now


def _add_plain(
    emission: sources.Emission, model: Model, found: Capabilities, graphs: dict[str, ca.Function], clock: _Clock
) -> None:
    """src/formulas.c, src/functions.c and src/derivatives.c: everything without an iteration."""
    values, derivatives = list[Spec | RowSpec](), list[Spec | RowSpec]()
    reduced = graphs_of(model, forward=found.has("forward_dynamics"))
    fitting = identification.specs(reduced) if found.has("torque_terms") else ()
    transcribed = simultaneous.specs(model) if found.has("momentum_residual") else ()
    touched = contact_residual.specs(model) if model.tree.contacts and not model.robot.floating else ()
    for spec in chain(specs(reduced, found.has), fitting, transcribed, touched, design.specs()):
        if not found.has(spec.name) or (model.tree.closures and family(spec.name) in OF_THE_TREE):
            continue
        derivative = spec.name.startswith(("jac_", "vjp_"))
        (derivatives if derivative else values).append(spec)
        if isinstance(spec, Spec) and (found.has(GRAPHS) or not derivative):
            graphs[spec.name] = spec.graph
        clock.lap(spec.name)
    values, derivatives = formulas.add_formulas(emission, model.tree.deep, graphs, values, derivatives)
    sources.add_leaves(emission, "src/functions.c", values, graphs)
    sources.add_leaves(emission, "src/derivatives.c", derivatives, graphs)


def _add_steps(emission: sources.Emission, model: Model, found: Capabilities, graphs: dict[str, ca.Function]) -> None:
    """src/step.c: the variants on maximal states."""
    recipe = model.recipe
    made = [name for name in recipe.variants if found.has(f"step_{name}")]
    variants = [maximal.variant(model, name, recipe.sweeps[name]) for name in made]
    reverse, derivative_graphs = found.has("vjp_step"), found.has("vjp_step") and found.has(GRAPHS)
    steps.add_steps(emission, model, variants, recipe.variant, reverse, derivative_graphs)
    known: dict[int, ca.Function] = {}
    for v in variants:
        for name in (f"step_{v.name}", *(["step"] if v.name == recipe.variant else [])):
            graphs[name] = maximal.casadi_step(model, v.full, name, known)
            if derivative_graphs:
                graphs[f"vjp_{name}"] = step_graphs.reverse(graphs[name], f"vjp_{name}")


def _rows(manifest: Manifest, texts: Mapping[str, int], seconds: Mapping[str, float]) -> tuple[Row, ...]:
    return tuple(Row(f.name, f.operations, seconds.get(f.name, 0.0), texts.get(f.name, 0)) for f in manifest.functions)


def _saved(graph: ca.Function, folder: Path) -> bytes:
    """The bytes that `casadi.Function.load` reads; CasADi only writes files."""
    path = folder / "graph.casadi"
    try:
        graph.save(str(path))
        return path.read_bytes()
    finally:
        path.unlink(missing_ok=True)


def _write(folder: Path, content: dict[str, bytes]) -> None:
    for path, data in content.items():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror or error}.") from None

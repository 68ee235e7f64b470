"""Every URDF of PyPI's `example-robot-data`: checked, derived, compared with pinocchio, as one table.

    python -m benchmarks.survey [NAME…]          print the table of the descriptions whose path holds one of the names
    python -m benchmarks.survey --update         the same of all, and write survey.csv
    python -m benchmarks.survey --full NAME…     generate and compile the whole folder of each too

`survey.csv` beside this file holds the outcome of each description; a test compares the columns of `OUTCOME` with it.
A floating or planar base is welded at its zero position, and so is any other joint of these types.

Columns: `joints` are coordinates, `mimics` the joints folded into them, `links` the moving links; `doubts` counts what
`diffpbd check` names. `operations` and `bytes` are those of the C text of `inverse_dynamics`, `seconds` the time from the file
to that text. `error` is the largest difference from pinocchio's inverse dynamics over random states (positions within ±π rad
or m, rates ±2, accelerations ±5), relative to the largest torque of the state where that is above 1; mimic joints are free in
pinocchio's model, and its torques are projected. `floats` says whether the description on a floating base agrees with
pinocchio's free-flyer: yes, no, or refused where the root has no mass (`--base` chooses another link). For a refused
description `reason` lists the codes of its faults.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import importlib.metadata
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import casadi as ca
import numpy as np
import numpy.typing as npt
import pinocchio

from diffpbd.codegen.description.check.validate import examine
from diffpbd.codegen.description.joints.base import FLOATING
from diffpbd.codegen.description.read.source import SourceError, parse
from diffpbd.codegen.description.read.urdf.document import read_document
from diffpbd.codegen.description.recipe.recipe import default_recipe, with_options
from diffpbd.codegen.description.robot.robot import Robot
from diffpbd.codegen.emit.text.c_writer import kernel
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.solved.floating import graphs_of
from diffpbd.runtime.base.joint_types import AT_ROOT

PACKAGE = "example-robot-data"
TABLE = Path(__file__).with_name("survey.csv")
BAR = 1e-9
"""[N·m or N, relative above 1] Largest difference from pinocchio that counts as agreement."""
STATES = 20

OUTCOME = ("description", "outcome", "joints", "mimics", "links", "mass", "welded", "reason", "agrees", "floats")
"""Columns that do not depend on the machine or on how well the code is written."""


@dataclass(frozen=True)
class Row:
    """Outcome of one description; numbers are 0 and `agrees` is empty where it was refused."""

    description: str
    outcome: str
    joints: int = 0
    mimics: int = 0
    links: int = 0
    mass: str = ""
    welded: int = 0
    doubts: int = 0
    reason: str = ""
    agrees: str = ""
    floats: str = ""
    error: str = ""
    operations: int = 0
    bytes: int = 0
    seconds: str = ""


COLUMNS = tuple(field.name for field in dataclasses.fields(Row))


def descriptions(words: Sequence[str] = ()) -> Iterator[tuple[str, Path]]:
    """Name (path below `robots/`) and file of every URDF of the package whose name holds one of the words."""
    files = importlib.metadata.files(PACKAGE) or []
    for file in sorted((str(f), f) for f in files if f.suffix == ".urdf"):
        name = file[0].split("/robots/", 1)[1]
        if not words or any(word in name for word in words):
            yield name, Path(str(file[1].locate()))


def survey(name: str, file: Path) -> Row:
    """Read, derive, write out and compare one description."""
    started = time.perf_counter()
    content = file.read_bytes()
    hold = welds(content)
    report, robot = examine(content, hold=hold)
    if robot is None:
        codes = sorted({fault.code for fault in report.faults})
        return Row(name, "refused", welded=len(hold), doubts=len(report.doubts), reason=" ".join(codes))
    recipe = with_options(default_recipe(file), hold=hold)
    graphs = Graphs(build(robot, recipe))
    _, inputs, outputs = next(values for values in graphs.values() if values[0] == "inverse_dynamics")
    torque = ca.densify(outputs["u"])
    f = ca.Function("inverse_dynamics", [v for _, v in inputs], [torque], [k for k, _ in inputs], ["u"], {"cse": True})
    text = kernel(f, "inverse_dynamics_kernel")
    seconds = time.perf_counter() - started
    alpha = [entry.default for entry in graphs.model.entries]
    error = difference(file, robot, f, alpha)
    return Row(
        description=name, outcome="generated", joints=len(robot.independent),
        mimics=robot.n - len(robot.independent), links=robot.n, mass=f"{robot.total_mass:.6g}", welded=len(hold),
        doubts=len(report.doubts), agrees="yes" if error <= BAR else "no",
        floats=floats(file, content, hold), error=f"{error:.1e}",
        operations=text.operations, bytes=len(text.text), seconds=f"{seconds:.2f}",
    )  # fmt: skip


def floats(file: Path, content: bytes, hold: tuple[str, ...]) -> str:
    """Whether inverse dynamics on a floating base is pinocchio's."""
    _, robot = examine(content, hold=hold, base_joint=FLOATING)
    if robot is None:
        return "refused"
    recipe = with_options(default_recipe(file), hold=hold, base_joint=FLOATING)
    graphs = graphs_of(build(robot, recipe))
    _, inputs, outputs = next(values for values in graphs.values() if values[0] == "inverse_dynamics")
    torque = ca.densify(outputs["u"] + outputs["unbalanced"])
    f = ca.Function("inverse_dynamics", [v for _, v in inputs], [torque], {"cse": True})
    return "yes" if difference(file, robot, f, [entry.default for entry in graphs.model.entries]) <= BAR else "no"


def welds(content: bytes) -> tuple[str, ...]:
    """Names of the floating and planar joints."""
    try:
        document = read_document(parse(content))
    except SourceError:
        return ()
    return tuple(joint.name for joint in document.joints if joint.type in AT_ROOT)


def difference(file: Path, robot: Robot, torque: ca.Function, alpha: Sequence[float]) -> float:
    """The largest difference from pinocchio's torques, see the module's words."""
    free = robot.base_joint == FLOATING
    base = len(robot.base_freedoms)
    model = pinocchio.buildModelFromUrdf(str(file), *((pinocchio.JointModelFreeFlyer(),) if free else ()))
    data = model.createData()
    places = [model.joints[model.getJointId(joint.name)] for joint in robot.joints[base:]]
    columns = [place.idx_v for place in places]
    A, b = np.zeros((robot.n - base, len(robot.independent) - base)), np.zeros(robot.n - base)
    for i, joint in enumerate(robot.joints[base:]):
        leader = i + base if joint.mimic is None else joint.mimic.joint
        A[i, robot.independent.index(leader) - base] = 1.0 if joint.mimic is None else joint.mimic.multiplier
        b[i] = 0.0 if joint.mimic is None else joint.mimic.offset
    rng = np.random.default_rng(7)
    worst = 0.0
    for _ in range(STATES):
        p, pd, pdd = (rng.uniform(-size, size, A.shape[1]) for size in (np.pi, 2.0, 5.0))
        q, v, a = pinocchio.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        for joint, place, value in zip(robot.joints[base:], places, A @ p + b, strict=True):
            circle = joint.type.endless
            q[place.idx_q : place.idx_q + place.nq] = [np.cos(value), np.sin(value)] if circle else [value]
        v[columns], a[columns] = A @ pd, A @ pdd
        if free:  # rates in world axes, accelerations of the origin; pinocchio's are the base's own, spatial
            turn, w, dw = (rng.uniform(-1.0, 1.0, size) for size in (4, 6, 6))
            turn /= np.linalg.norm(turn)
            q[:7] = [*rng.uniform(-1.0, 1.0, 3), *turn[[1, 2, 3, 0]]]
            R = pinocchio.Quaternion(q[3:7]).matrix()
            v[:6], a[:6] = np.concatenate([R.T @ w[:3], R.T @ w[3:]]), np.concatenate([R.T @ dw[:3], R.T @ dw[3:]])
            a[:3] -= np.cross(v[3:6], v[:3])
            p, pd, pdd = (np.concatenate(parts) for parts in ((q[:3], turn, p), (w, pd), (dw, pdd)))
        forces = pinocchio.rnea(model, data, q, v, a)
        expected: npt.NDArray[np.float64] = A.T @ forces[columns]
        if free:
            expected = np.concatenate([R @ forces[:3], R @ forces[3:6], expected])
        found = np.array(torque(p, pd, pdd, alpha))[:, 0]
        worst = max(worst, float(np.max(np.abs(found - expected))) / max(1.0, float(np.max(np.abs(expected)))))
    return worst


def outcome(row: Row | dict[str, str]) -> tuple[str, ...]:
    """The columns of `OUTCOME` as text."""
    known = row if isinstance(row, dict) else {k: str(v) for k, v in dataclasses.asdict(row).items()}
    return tuple(known[column] for column in OUTCOME)


def recorded() -> dict[str, tuple[str, ...]]:
    """The outcome of every description in survey.csv."""
    with TABLE.open(encoding="utf-8", newline="") as stream:
        return {line["description"]: outcome(line) for line in csv.DictReader(stream)}


def whole(file: Path) -> str:
    """Generate and compile everything, in a temporary folder."""
    from diffpbd.codegen.generate import generate

    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder) / "robot.toml"
        held = ", ".join(f'"{name}"' for name in welds(file.read_bytes()))
        recipe.write_text(f'name = "robot"\nurdf = "{file}"\nhold = [{held}]\n', encoding="utf-8")
        result = generate(str(recipe), out=Path(folder) / "out")
        size = sum(path.stat().st_size for path in (Path(folder) / "out").rglob("*.c"))
        return (
            f"  {len(result.rows)} functions, {size / 1e6:.2f} MB of C, {result.seconds:.0f} s, "
            f"{result.compile_seconds:.0f} s of compilers beside it"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.survey")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--update", action="store_true", help="write survey.csv")
    parser.add_argument("--full", action="store_true", help="generate and compile the whole folder of each")
    options = parser.parse_args()
    if options.update and options.names:
        parser.error("--update is of the whole table; give no names")
    rows = []
    print("joints mimics links  operations    bytes  seconds    error  description")
    for name, file in descriptions(options.names):
        row = survey(name, file)
        rows.append(row)
        end = row.description if row.outcome == "generated" else f"{row.description}: refused, {row.reason}"
        numbers = f"{row.joints:6} {row.mimics:6} {row.links:5} {row.operations:11} {row.bytes:8}"
        print(f"{numbers} {row.seconds or '-':>8} {row.error or '-':>8}  {end}", flush=True)
        if options.full and row.outcome == "generated":
            print(whole(file), flush=True)
    print(f"{len(rows)} descriptions, {sum(row.outcome == 'generated' for row in rows)} generated")
    if options.update:
        with TABLE.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(dataclasses.asdict(row) for row in rows)


if __name__ == "__main__":
    main()

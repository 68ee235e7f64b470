"""How generation and the generated code grow with the number of joints: chains, and both arms of Baxter as a tree.

    python -m benchmarks.scale [--joints 3,7,15,30,60] [--functions joint_step,…] [--plot PNG]

Every chain is generated with the functions and what they need (derivation, C, library). Where pinocchio is installed, its
forward dynamics and their derivatives are timed on the same chain, from Python, less what a call costs: the time of a chain of
one joint. Columns: operations and microseconds of one call of each function, a row of a batch (the least of several batches on
one core, at rest but for small rates; thread time), C bytes, seconds of the whole generation and of the compiler in it (wall
time). The exponents under the table are slopes of log(operations) and log(time) over log(joints), of the chains that are solved
along the tree. The arms of Baxter are there with all functions.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from diffpbd.codegen.generate import generate
from diffpbd.codegen.program.tree import DENSE_DEPTH
from diffpbd.runtime import Robot, load

FUNCTIONS = ("joint_step", "jac_joint_step", "vjp_joint_step", "step", "vjp_step")
MAXIMAL = ("step", "vjp_step")
"""Of them those on maximal states, which take most of the time to generate."""
PEERS = ("aba", "computeABADerivatives")
"""Of pinocchio; the derivatives are those by p, pd and u."""
JOINTS = (3, 7, 15, 30, 60)
TREE, REFERENCE = "baxter_dual", "baxter"
RATE = 0.05
"""[rad/s] largest joint rate of the timed states; 60 joints turn the last link with all of theirs."""
H = 0.01  # [s]
SLICE = 2e-3  # [s] of one measurement
ROUNDS = 15


def chain(n: int) -> str:
    """URDF of n hinges in a row: axes alternate by a right angle, links weigh 0.5 kg and more, inertias are full matrices."""
    text = [f'<robot name="chain{n}">', '<link name="base"/>']
    parent = "base"
    for i in range(n):
        turn = 0.0 if i == 0 else (np.pi / 2 if i % 2 else -np.pi / 2)
        at = (0.0, 0.0, 0.1) if i == 0 else ((0.02, 0.0, 0.1) if i % 2 else (0.02, 0.1, 0.0))
        com = (0.01, 0.004, 0.05) if i % 2 else (0.01, 0.05, 0.003)
        text.append(
            f'<joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{at[0]} {at[1]} {at[2]}" rpy="{turn!r} 0 0"/><axis xyz="0 0 1"/>'
            '<limit lower="-3" upper="3" velocity="4" effort="100"/></joint>'
            f'<link name="l{i}"><inertial><origin xyz="{com[0]} {com[1]} {com[2]}"/><mass value="{0.5 + 0.01 * i}"/>'
            '<inertia ixx="0.002" ixy="0.0001" ixz="-0.0001" iyy="0.0018" iyz="0.0002" izz="0.0015"/></inertial></link>'
        )
        parent = f"l{i}"
    return "\n".join([*text, "</robot>"])


@dataclass(frozen=True)
class Row:
    """One robot's figures; operations and microseconds by function."""

    name: str
    joints: int
    operations: dict[str, int]
    microseconds: dict[str, float]
    peers: dict[str, float]
    c_bytes: int
    seconds: float
    compile_seconds: float


def state(n: int) -> tuple[np.ndarray, np.ndarray]:
    """p [rad], pd [rad/s] of n joints."""
    return np.linspace(-0.5, 0.5, n), RATE * np.linspace(1.0, -1.0, n)


def batches(robot: Robot, names: Sequence[str] = FUNCTIONS) -> dict[str, Callable[[int], float]]:
    """For each function, what runs a batch of so many calls and gives the seconds a call."""
    n = robot.n
    p, pd = state(n)
    u, ones = robot.gravity(p), np.ones(n)
    xi = robot.fk(p, pd) if set(names) & set(MAXIMAL) else ones
    arguments = {
        "joint_step": ((p, pd, u), {}),
        "jac_joint_step": ((p, pd, u), {}),
        "vjp_joint_step": ((p, pd, u), {"p_next_bar": ones, "pd_next_bar": ones}),
        "step": ((xi, u), {}),
        "vjp_step": ((xi, u), {"xi_next_bar": np.ones_like(xi)}),
    }
    result: dict[str, Callable[[int], float]] = {}
    for name in names:
        values, seeds = arguments[name]
        function = getattr(robot, name)

        def batch(rows: int, function=function, values=values, seeds=seeds) -> float:
            given = [np.tile(v, (rows, 1)) for v in values]
            bars = {k: np.tile(v, (rows, 1)) for k, v in seeds.items()}
            start = time.thread_time()
            function(*given, h=H, **bars)
            return (time.thread_time() - start) / rows

        batch(1)
        result[name] = batch
    return result


def least(batch: Callable[[int], float]) -> float:
    """[us] a call, least of `ROUNDS` batches."""
    count = max(1, int(SLICE / batch(2)))
    return min(batch(count) for _ in range(ROUNDS)) * 1e6


def peers(urdf: str) -> dict[str, float]:
    """[us] a call from Python of what pinocchio has; nothing where it is not installed."""
    if find_spec("pinocchio") is None:
        return {}
    import pinocchio as pin

    model = pin.buildModelFromXML(urdf)
    data, (p, pd) = model.createData(), state(model.nv)
    u = pin.computeGeneralizedGravity(model, data, p)

    def timed(function: Callable[..., Any]) -> float:
        def batch(calls: int) -> float:
            start = time.thread_time()
            for _ in range(calls):
                function(model, data, p, pd, u)
            return (time.thread_time() - start) / calls

        return least(batch)

    return {name: timed(getattr(pin, name)) for name in PEERS}


def measure(robot: str, out: Path, names: Sequence[str]) -> Row:
    """Generate a robot and time it; a chain from its file beside pinocchio."""
    whole = bool(set(names) & set(MAXIMAL))
    made = generate(robot, out=out, functions=["default", "vjp_step"] if whole else ["joint_step"])
    operations = {f.name: f.operations for f in made.manifest.functions if f.name in names}
    c_bytes = sum(path.stat().st_size for path in (out / "src").glob("*.[ch]"))
    machine = load(out)
    times = {name: least(batch) for name, batch in batches(machine, names).items()}
    urdf, call = Path(robot), peers(chain(1))
    beside = {name: value - call[name] for name, value in peers(urdf.read_text()).items()} if urdf.is_file() else {}
    return Row(made.manifest.name, machine.n, operations, times, beside, c_bytes, made.seconds, made.compile_seconds)


def paired(folder: Path, reference: Path) -> float:
    """Time of joint_step over another robot's, median of pairs taken in turn."""
    calls = [batches(load(path), ("joint_step",))["joint_step"] for path in (folder, reference)]
    counts = [max(1, int(SLICE / call(2))) for call in calls]
    pairs = [[call(count) for call, count in zip(calls, counts, strict=True)] for _ in range(3 * ROUNDS)]
    return float(np.median([mine / other for mine, other in pairs]))


def exponent(joints: Any, values: Any) -> float:
    """Slope of log(values) over log(joints)."""
    return float(np.polyfit(np.log(joints), np.log(values), 1)[0])


def table(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Aligned lines, one a robot."""
    heads = ["robot", "joints"]
    for name in names:
        heads += [f"{name} ops", "us"]
    lines = [[*heads, *PEERS, "C kB", "s", "cc s"]]
    for row in rows:
        cells = [row.name, str(row.joints)]
        for name in names:
            cells += [str(row.operations[name]), f"{row.microseconds[name]:.2f}"]
        cells += [f"{row.peers[name]:.2f}" if name in row.peers else "" for name in PEERS]
        lines.append([*cells, f"{row.c_bytes / 1e3:.0f}", f"{row.seconds:.1f}", f"{row.compile_seconds:.1f}"])
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines)


def growth(chains: Sequence[Row], names: Sequence[str]) -> str:
    """Exponents of the deep ones (all, if fewer than two are), as text: short trees are solved densely."""
    deep = [row for row in chains if row.joints > DENSE_DEPTH]
    chains = deep if len(deep) > 1 else chains
    joints = [row.joints for row in chains]
    said = [
        f"{name}: operations n^{exponent(joints, [r.operations[name] for r in chains]):.2f}, "
        f"time n^{exponent(joints, [r.microseconds[name] for r in chains]):.2f}"
        for name in names
    ]
    said.append(f"C bytes: n^{exponent(joints, [r.c_bytes for r in chains]):.2f}")
    return "\n".join(said)


def plot(chains: Sequence[Row], names: Sequence[str], path: Path) -> None:
    """Operations and time over joints, log–log; pinocchio's time dashed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 4), layout="constrained")
    joints = np.array([row.joints for row in chains], dtype=float)
    for ax, what, label in ((axes[0], "operations", "operations"), (axes[1], "microseconds", "time [µs]")):
        deep = joints > DENSE_DEPTH
        for name in names:
            values = np.array([getattr(row, what)[name] for row in chains], dtype=float)
            grown = f"  n^{exponent(joints[deep], values[deep]):.2f}" if deep.sum() > 1 else ""
            ax.loglog(joints, values, "o-", label=f"{name}{grown}")
        for name in PEERS if what == "microseconds" else ():
            known = [(row.joints, row.peers[name]) for row in chains if row.joints > 1 and name in row.peers]
            if known:
                ax.loglog(*zip(*known, strict=True), "s--", label=f"pinocchio {name}")
        ax.axvline(DENSE_DEPTH + 0.5, color="0.6", linestyle=":")
        ax.set_xlabel("joints")
        ax.set_ylabel(label)
        ax.set_xticks(joints, [f"{j:g}" for j in joints])
        ax.minorticks_off()
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)


def main() -> None:
    """Measure, print, plot."""
    parser = argparse.ArgumentParser(description="Growth of generated code with the number of joints.")
    parser.add_argument("--joints", default=",".join(map(str, JOINTS)), help="lengths of the chains")
    parser.add_argument("--functions", default=",".join(FUNCTIONS), help="of these (default: all)")
    parser.add_argument("--plot", type=Path, help="PNG to write")
    given = parser.parse_args()
    names = given.functions.split(",")
    chains: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        others = [measure(name, folder / name, names) for name in (REFERENCE, TREE) if names == [*FUNCTIONS]]
        for n in map(int, given.joints.split(",")):
            path = folder / f"chain{n}.urdf"
            path.write_text(chain(n))
            chains.append(measure(str(path), folder / f"chain{n}", names))
            print(table([chains[-1]], names), flush=True)
        ratio = paired(folder / chains[-1].name, folder / REFERENCE) if others else None
    print(table([*others, *chains], names))
    print(growth(chains, names))
    if ratio is not None:
        print(f"joint_step of {chains[-1].name} takes {ratio:.2f} times {REFERENCE}'s")
    if given.plot:
        plot(chains, names, given.plot)


if __name__ == "__main__":
    main()

"""`make bench`: one table of speed and accuracy, peers and ours in the same run, on the bare Baxter arm."""

from __future__ import annotations

import argparse
import platform
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pinocchio as pin

from benchmarks import arm, kinds, peers, processor, report, simulators, swing, timing
from benchmarks.native import stopwatch
from benchmarks.ours import Ours
from benchmarks.row import Row
from benchmarks.states import H, States, random_states
from diffpbd.runtime.folder.compiler import COMPILE_FLAGS, find_compiler

ROOT = Path(__file__).parent.parent
ROBOT = "baxter_bare"
BASELINE = "CasADi ABA Euler"
ADAM = ("adam-robotics",) if find_spec("adam") else ()
"""A peer that may be missing."""
WIDE, WIDE_FLAGS = ", AVX2 + FMA", ("-mavx2", "-mfma", "-ffp-contract=fast")
"""The peers once more with the instructions that ours choose at run time."""
CURVE_H = (0.02, 0.01, 0.005, 0.002, 0.001)
"""[s], the points of the error-versus-time curves."""
LEGEND = f"""\
x: ratio to {BASELINE}, median over the rounds, each pair timed one after the other. Times are medians of thread CPU time.
ops: arithmetic in the C text of one call; joint_step's iterations repeat some of it. Peers have gravity and every parameter
folded in as numbers, ours take all of alpha at run time. Their h is an argument too, as ours is.
value + Jacobian: 2n x 3n by p, pd, u. reverse step: a vector-Jacobian product, ours by h and alpha too; / step: to own step.
gradient: of |p|^2 + |pd|^2 after 100 steps of {1e3 * H:g} ms by all torques, forward run included.
CasADi ABA is the textbook recursion written as small as we could for the peer (fewer operations than adam's, below, or
pinocchio's over casadi::SX); CasADi CRBA is the mass matrix factored as L D L^T, its Jacobian taken through inverse dynamics.
swing: largest joint-angle error of the free swing from the zero pose, against RK4 with 0.1 ms on pinocchio's dynamics."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def peer_rows(urdf: Path, joints: list[str], watch: object, s: States, build: Path, wide: bool) -> list[Row]:
    chain = arm.bodies(urdf)
    n = len(chain)
    aba = peers.differentiated(n, lambda p, pd, u: arm.articulated_body(chain, p, pd, u))
    crba = peers.Dynamics(n, lambda *x: arm.composite_body(chain, *x), lambda *x: arm.implicit_jacobian(chain, *x))
    plan = [(f"CasADi ABA {i}", aba, i) for i in peers.INTEGRATORS]
    plan += [(f"CasADi CRBA {i}", crba, i) for i in ("Euler", "RK4")]
    if ADAM:
        plan += [("CasADi adam ABA Euler", peers.adam_articulated_body(urdf, joints), "Euler")]
    else:
        say("peer: adam-robotics is not installed; its row is left out")
    rows = []
    for name, dynamics, integrator in plan:
        say(f"peer: {name}")
        rows.append(peers.row(name, dynamics, integrator, watch, s, build))
        if dynamics is aba and integrator in ("Euler", "RK4") and wide:
            rows.append(peers.row(name + WIDE, dynamics, integrator, watch, s, build, WIDE_FLAGS))
    return [*rows, simulators.pinocchio_row(urdf, s), simulators.mujoco_row(simulators.mujoco_model(urdf, joints), s)]


def agreement(rows: list[Row], exact: Row) -> None:
    """Refuse to compare steps of different arms: all Euler rows must follow pinocchio's to rounding."""
    want = exact.simulate(H, 10)
    for row in rows:
        if row.name.removesuffix(WIDE).endswith("Euler") or row is exact:
            worst = float(np.abs(row.simulate(H, 10) - want).max())
            if worst > 1e-9:
                raise SystemExit(f"{row.name} simulates another arm than pinocchio: {worst:.1e} rad after ten steps.")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=timing.ROUNDS, help="measurements of everything (default %(default)s)"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "bench-results", help="folder of bench.json and bench.png")
    parser.add_argument(
        "--results",
        type=Path,
        default=kinds.RESULTS,
        help="folder of the tables by kind (default %(default)s)",
    )
    options = parser.parse_args()
    build = options.out / "build"
    build.mkdir(parents=True, exist_ok=True)
    urdf = ROOT / "diffpbd" / "codegen" / "robots" / f"{ROBOT}.urdf"
    ours = Ours(ROBOT, ROOT / "generated", build)
    joints = [j.name for j in ours.manifest.robot.joints]
    if joints != list(pin.buildModelFromUrdf(str(urdf)).names)[1:]:
        raise SystemExit(f"{urdf}: pinocchio and diffpbd order the joints differently.")
    watch, s = stopwatch(build), random_states(urdf)
    rows = peer_rows(urdf, joints, watch, s, build, ours.path != "portable")
    agreement(rows, next(r for r in rows if r.name.startswith("Pinocchio")))
    rows += ours.rows(watch, s)

    say("swing")
    exact = swing.reference(urdf)
    errors = {r.name: {h: swing.errors(r.simulate, h, exact) for h in CURVE_H} for r in rows if r.simulate}
    core = timing.pin_to_one_core()
    timings = timing.measure(rows, next(r for r in rows if r.name == BASELINE), say, options.rounds)
    curves = {
        r.name: [(h, timing.step_time(r.timed["step"], h) / h, errors[r.name][h][-1]) for h in CURVE_H]
        for r in rows
        if r.simulate
    }

    here = processor.this()
    versions = {name: metadata.version(name) for name in ("casadi", "pin", "mujoco", *ADAM)}
    compiler = " ".join([*find_compiler(), *COMPILE_FLAGS])
    seconds, size = ours.compiled.seconds, sum(ours.compiled.source_bytes.values())
    facts = {"robot": ROBOT, "baseline": BASELINE, "rounds": options.rounds, "compiler": compiler, "versions": versions,
             "machine": platform.platform(), "processor": here.facts(), "path": ours.path, "core": core,
             "library_c_bytes": size, "library_compile_s": seconds}  # fmt: skip
    report.write_json(options.out / "bench.json", facts, rows, timings, errors, curves)
    report.plot(options.out / "bench.png", curves)
    kept = kinds.write(options.results, facts, rows, timings)
    print(f"{ROBOT}, h = {1e3 * H:g} ms, {options.rounds} rounds on core {core}; {compiler}")
    print("\n".join(here.lines()))
    print("; ".join(f"{k} {v}" for k, v in versions.items()))
    print(f"diffpbd: kernels of the step for {ours.path}, chosen at run time, but for the row that says portable")
    print(f"diffpbd: all C of the robot {size / 1e6:.2f} MB, compiled in {seconds:.1f} s on one core\n")
    print(report.table([report.cells(r, timings[r.name], errors.get(r.name, {})) for r in rows]))
    print("\n" + LEGEND)
    for row in rows:
        for text in report.remarks(row, timings[row.name]):
            print(text)
    print(f"\nWritten: {options.out / 'bench.json'}, {options.out / 'bench.png'}, {kept}")


if __name__ == "__main__":
    main()

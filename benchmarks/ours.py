"""The generated functions: brought up to date, compiled once more with a clock running, and called through the C interface."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.native import HERE, Native, compile_c
from benchmarks.row import Row, Timer, joint_swing, timer
from benchmarks.states import STEPS, States
from benchmarks.swing import Simulate
from diffpbd.codegen.generate import generate
from diffpbd.runtime.folder.compiler import compile_library
from diffpbd.runtime.folder.manifest import Argument, Function

OPTIONS: Mapping[str, Any] = {"functions": ["default", "vjp_step", "sixth_order_step"], "variants": ["published"]}
PREFIX = "diffpbd "
BATCH = 256
"""States of a batched call."""
LEFT_OUT = ("h_bar", "alpha_bar")
"""What the gradient by all torques does not ask for."""


COMPOSED = {
    4: "two joint_steps of h/2 and one of h, extrapolated; peers could do the same",
    6: "steps of h, h/2 and h/3 side by side in a vector; weights 1/24, -16/15, 81/40. Peers could extrapolate as well",
}
"""What the rows of higher order are made of."""


class Ours:
    """Functions of a generated folder by name, with default alpha."""

    def __init__(self, robot: str, generated: Path, build: Path) -> None:
        result = generate(robot, out=generated / robot, progress=print, **OPTIONS)
        self.manifest = result.manifest
        copy = build / robot
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(result.folder / "src", copy / "src")
        shutil.copy(result.folder / f"{robot}.h", copy)
        self.compiled = compile_library(copy, self.manifest.library, jobs=1)
        self.library = ctypes.CDLL(str(self.compiled.library.resolve()))
        self.facts = {f.name: f for f in self.manifest.functions}
        self.n = len(self.manifest.robot.joints)
        self.alpha = np.array([[a.default for a in self.manifest.alpha]])
        options = [
            f"-DN={self.n}",
            f"-DBATCH={BATCH}",
            f"-DROBOT(name)={robot}_##name",
            f"-I{copy}",
            str(self.compiled.library.resolve()),
        ]
        compile_c(HERE / "ours.c", build / "ours.so", *options)
        self.extra = ctypes.CDLL(str((build / "ours.so").resolve()))
        shutil.copy(self.compiled.library, build / "portable.so")  # a path is chosen for a library
        self.portable = ctypes.CDLL(str((build / "portable.so").resolve()))
        getattr(self.portable, f"{robot}_set_path")(b"portable")
        path = getattr(self.library, f"{robot}_path")
        path.restype = ctypes.c_char_p
        self.path = path().decode()

    def native(self, name: str) -> Native:
        """A function of the manifest; of a rollout, with STEPS steps."""
        f = self.facts[name]
        work = f.work_size
        if f.rollout:
            work = getattr(self.library, f"{f.symbol}_work_size")(STEPS)
        return Native(
            self.library, f.symbol, _sizes(f.inputs), _sizes(f.outputs), work or 0, STEPS if f.rollout else None
        )

    def source(self, stem: str) -> tuple[int, float]:
        """Bytes of a C source and the seconds it took to compile."""
        return self.compiled.source_bytes[f"{stem}.c"], self.compiled.source_seconds[f"{stem}.c"]

    def rows(self, watch: ctypes.CDLL, s: States) -> list[Row]:
        """joint_step, its fourth-order extrapolation, and every variant of step."""
        rows = [self._joint_step(watch, s), self._portable(watch, s), self._batch(watch, s)]
        return (
            rows
            + [self._composed(watch, s, order) for order in COMPOSED]
            + [self._step(watch, s, f) for f in self.facts.values() if f.name.startswith("step_")]
        )

    def _operations(self, **names: str) -> dict[str, int]:
        return {key: self.facts[name].operations for key, name in names.items() if name in self.facts}

    def _joint_step(self, watch: ctypes.CDLL, s: States) -> Row:
        state = [s.p, s.pd, s.u, None, self.alpha]
        long = [s.p0, s.pd0, s.U, None, self.alpha]
        step, vjp, rollout = self.native("joint_step"), self.native("vjp_rollout"), self.native("rollout")
        size = dict(zip((a.name for a in self.facts["vjp_rollout"].outputs), vjp.out_size, strict=True))
        bars = [0 if name in LEFT_OUT else size[name] for name in size]
        gradient = Native(
            self.extra, "ours_gradient", rollout.in_size, (*bars, *rollout.out_size, *rollout.out_size),
            max(vjp.work_size, rollout.work_size), STEPS,
        )  # fmt: skip
        pullback = Native(self.library, vjp.symbol, vjp.in_size, tuple(bars), vjp.work_size, STEPS)
        seeds = np.ones((1, rollout.out_size[0]))
        timed = {
            "step": timer(watch, step, state),
            "jacobian": timer(watch, self.native("jac_joint_step"), state),
            "vjp": timer(watch, self.native("vjp_joint_step"), [*state, *s.seeds]),
            "rollout": timer(watch, rollout, long),
            "gradient": timer(watch, gradient, long),
            "pullback": timer(watch, pullback, [*long, seeds, seeds]),
        }
        operations = self._operations(step="joint_step", jacobian="jac_joint_step", vjp="vjp_joint_step")
        swing = joint_swing(step, self.n, self.alpha)
        return Row(PREFIX + "joint_step", timed, swing, operations, *self.source("joint_step"))

    def _portable(self, watch: ctypes.CDLL, s: States) -> Row:
        """The row of the code that runs on every processor."""
        state = [s.p, s.pd, s.u, None, self.alpha]
        names = {"step": "joint_step", "jacobian": "jac_joint_step", "vjp": "vjp_joint_step"}
        own = {k: replace(self.native(name), library=self.portable) for k, name in names.items()}
        timed = {k: timer(watch, f, [*state, *(s.seeds if k == "vjp" else ())]) for k, f in own.items()}
        return Row(PREFIX + "joint_step, portable", timed, joint_swing(own["step"], self.n, self.alpha))

    def _batch(self, watch: ctypes.CDLL, s: States) -> Row:
        """A state of a batched call, rows side by side in vectors."""
        state = [x[:BATCH].reshape(1, -1) for x in (s.p, s.pd, s.u)]
        work = self.facts["jac_kicked_step"].work_size or 0

        def batch(name: str, one: str) -> Timer:
            f = self.native(one)
            sizes = (*(BATCH * n for n in f.in_size[:3]), *f.in_size[3:])
            many = Native(self.extra, name, sizes, tuple(BATCH * n for n in f.out_size), max(work, f.work_size))
            whole = timer(watch, many, [*state, None, self.alpha])
            return lambda h, calls: whole(h, max(1, calls // BATCH)) / BATCH

        timed = {
            "step": batch("ours_batch_step", "joint_step"),
            "jacobian": batch("ours_batch_jacobian", "jac_joint_step"),
        }
        return Row(PREFIX + f"joint_step, one of {BATCH} in lanes", timed, None)

    def _composed(self, watch: ctypes.CDLL, s: States, order: int) -> Row:
        step = self.native("joint_step" if order == 4 else "sixth_order_step")
        composed = step
        if order == 4:
            composed = replace(step, library=self.extra, symbol="ours_order4")
        timed = {"step": timer(watch, composed, [s.p, s.pd, s.u, None, self.alpha])}
        swing = joint_swing(composed, self.n, self.alpha)
        return Row(PREFIX + f"joint_step, order {order}", timed, swing, note=COMPOSED[order])

    def _step(self, watch: ctypes.CDLL, s: States, f: Function) -> Row:
        step, fk = self.native(f.name), self.native("fk")
        xi = np.array([fk(p, pd, self.alpha)[0] for p, pd in zip(s.p, s.pd, strict=True)])
        bar = np.random.default_rng(0).normal(size=xi.shape)
        timed = {"step": timer(watch, step, [xi, s.u, None, self.alpha])}
        if f"vjp_{f.name}" in self.facts:
            timed["vjp"] = timer(watch, self.native(f"vjp_{f.name}"), [xi, s.u, None, self.alpha, bar])
        sweeps = self.manifest.recipe.sweeps.get(f.name.removeprefix("step_"))
        row = Row(f"{PREFIX}{f.name} x {sweeps}", timed, self._maximal_swing(step, fk))
        row.operations = self._operations(step=f.name, vjp=f"vjp_{f.name}")
        row.c_bytes, row.compile_s = self.source("step")
        row.note = "C bytes and compile seconds are those of all step variants together"
        return row

    def _maximal_swing(self, step: Native, fk: Native) -> Simulate:
        joint_state, n = self.native("joint_state"), self.n

        def simulate(h: float, steps: int) -> np.ndarray:
            xi, p, path = fk(np.zeros(n), np.zeros(n), self.alpha)[0], np.zeros(n), []
            for _ in range(steps):
                xi = step(xi, np.zeros(n), np.array([h]), self.alpha)[0]
                p = joint_state(xi, self.alpha, p)[0]
                path.append(p)
            return np.array(path)

        return simulate


def _sizes(arguments: tuple[Argument, ...]) -> tuple[int, ...]:
    return tuple(a.rows * a.columns(STEPS) for a in arguments)

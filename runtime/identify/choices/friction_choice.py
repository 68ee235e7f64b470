"""Which law of friction a joint has, told by recordings that are left out: plain, asymmetric, Stribeck's, or both.

How laws are compared is in `left_out.py`. The velocity at which Stribeck's part falls is chosen anew within every fit (a
profile over a grid), so that no candidate sees what it is judged by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.functions.friction import LAWS, VELOCITY, mean_of
from diffpbd.runtime.identify.choices.left_out import TOO_LITTLE, WORSE, Parts, better, change, parts_of, solved, wanted
from diffpbd.runtime.identify.columns.design import KINDS, LINK_COLUMNS, Design, columns_of_joint_kind, every_joint
from diffpbd.runtime.identify.settings.standin import with_friction
from diffpbd.runtime.identify.torque.fitting import Fitted
from diffpbd.runtime.identify.torque.solving import Question

__all__ = ["choose"]

SLOWEST, FASTEST, GRID = 0.02, 0.5, 10
"""[1] Stribeck velocities tried, as parts of the joint's fastest rate: least, most, and how many."""
WIDTHS = 2.0
"""[1] Least Stribeck velocity in transition velocities; below it the two cannot be told apart."""
CANDIDATES: Mapping[str, tuple[str, ...]] = {
    "plain": (), "asymmetric": ("asymmetric",), "stribeck": ("stribeck",), "both": ("asymmetric", "stribeck"),
}  # fmt: skip


@dataclass(frozen=True)
class _Joint:
    """Parts with [plain columns, δ, ε, one of s a velocity, torque], and the places of plain columns."""

    parts: Parts
    plain: int
    coulomb: int
    viscous: int | None
    velocities: FloatArray

    def columns(self, laws: Sequence[str]) -> FloatArray:
        """What makes columns of this law of the triangle's: friction by direction where it differs; without Stribeck's."""
        kept = np.eye(self.parts.triangles[0].shape[1])[:, : self.plain]
        if "asymmetric" in laws:
            for mean, half in ((self.coulomb, self.plain), (self.viscous, self.plain + 1)):
                if mean is not None:
                    against = kept[:, mean : mean + 1].copy()
                    kept[half, mean] = 1.0
                    against[half, 0] = -1.0
                    kept = np.hstack([kept, against])
        return kept

    def least(self, count: int) -> FloatArray:
        """Lower bounds of so many coefficients: friction brakes."""
        bound = np.full(count, -np.inf)
        bound[[k for k in (self.coulomb, self.viscous) if k is not None]] = 0.0
        bound[self.plain :] = 0.0
        return bound

    def fit(self, triangle: FloatArray, laws: Sequence[str]) -> tuple[FloatArray, float]:
        """By the law that explains a triangle best: coefficients of its columns, −1 last, and the Stribeck velocity."""
        kept = self.columns(laws)
        best, velocity = solved(triangle, kept, self.least(kept.shape[1])), float(self.velocities[-1])
        for k, value in enumerate(self.velocities if "stribeck" in laws else ()):
            more = np.hstack([kept, np.eye(len(kept))[:, self.plain + 2 + k : self.plain + 3 + k]])
            found = solved(triangle, more, self.least(more.shape[1]))
            if np.linalg.norm(triangle @ found) < np.linalg.norm(triangle @ best):
                best, velocity = found, float(value)
        return best, velocity


def choose(question: Question, fitted: Fitted, say: Callable[[str], None] = lambda _line: None) -> Question:
    """The question with the entries that the recordings ask for, on a robot that has them, and a sentence a joint on why.

    `fitted` is the plain fit, whose bodies, gravity and sensors are kept for the comparison.
    """
    robot, selection = question.robot, question.selection
    joints = wanted(question, "auto")
    say("Choosing the law of friction")
    phi = fitted.unknowns.phi_at(fitted.x)
    laws: dict[str, tuple[str, ...]] = {}
    velocities, notes = {}, []
    for joint in joints:
        j = robot.joints.index(joint)
        own = _joint(question, fitted.designs, phi, j)
        if own is None:
            notes.append(f"Friction of {joint}: {TOO_LITTLE}")
            continue
        laws[joint], velocities[joint], text = _judged(own, robot.manifest.robot.joints[j].unit)
        notes.append(f"Friction of {joint}: {text}")
    asked = {law for chosen in laws.values() for law in chosen}
    extended = with_friction(robot, [law for law in LAWS if law in asked])
    base = np.concatenate([question.base, extended.alpha.defaults[len(question.base) :]])
    names = set(selection.names)
    for joint, chosen in laws.items():
        more = [f"{kind}.{joint}" for law in chosen for kind in LAWS[law] if kind != VELOCITY]
        names |= {name for name in more if mean_of(name) is None or mean_of(name) in selection.names}
        if "stribeck" in chosen:
            base[extended.alpha.index(f"{VELOCITY}.{joint}")] = velocities[joint]
    sensors = (name for name in selection.names if name not in extended.alpha)
    ordered = (*(name for name in extended.alpha.names if name in names), *sensors)
    return replace(
        question,
        robot=extended,
        base=base,
        selection=replace(selection, names=ordered, notes=(*selection.notes, *notes)),
    )


def _joint(question: Question, designs: Sequence[Design], phi: FloatArray, j: int) -> _Joint | None:
    """What there is to tell of joint j; None where it hardly moves or the parts are too few."""
    joint, width = question.robot.joints[j], float(question.transitions[j])
    if joint in question.robot.manifest.robot.base_freedoms:
        return None
    fastest = max(float(np.abs(d.samples.trimmed(d.samples.dq)[:, j]).max()) for d in designs)
    least = max(SLOWEST * fastest, WIDTHS * width)
    if least >= FASTEST * fastest:
        return None
    velocities = np.geomspace(least, FASTEST * fastest, GRID)
    bodies = LINK_COLUMNS * len(question.robot.links)
    own = range(bodies, bodies + len(KINDS) * len(question.robot.links))
    columns = np.array(
        [c for c in np.unique(np.concatenate([d.columns[j] for d in designs])) if c in own], dtype=np.intp
    )
    place = every_joint(question.robot).index(joint)
    at = {kind: columns_of_joint_kind(question.robot, f"friction.{kind}")[place] for kind in ("coulomb", "viscous")}
    where = {kind: int(np.searchsorted(columns, at[kind])) if at[kind] in columns else None for kind in at}
    if where["coulomb"] is None:
        return None

    def more(d: Design) -> FloatArray:
        v = d.samples.dq[:, j : j + 1]
        side = np.tanh(v / width)
        return d.samples.smooth(np.hstack([side**2, v * side, side * np.exp(-((v / velocities) ** 2))]))

    parts = parts_of(question, designs, phi, j, columns, more)
    return None if parts is None else _Joint(parts, columns.size, where["coulomb"], where["viscous"], velocities)


def _judged(own: _Joint, unit: str) -> tuple[tuple[str, ...], float, str]:
    """Parts of the chosen law, the Stribeck velocity by all parts, and the candidates' errors in words."""
    parts, count = own.parts, len(own.parts.triangles)
    fits = {name: partial(own.fit, laws=laws) for name, laws in CANDIDATES.items()}
    scores = {name: parts.scores(fit) for name, fit in fits.items()}
    velocity = own.fit(parts.whole, CANDIDATES["both"])[1]
    raised = {name: parts.raised(fit, fits["plain"]) for name, fit in fits.items() if name != "plain"}
    fair = {name for name, (change, _) in raised.items() if change <= WORSE}
    singles: list[str] = [name for name in ("asymmetric", "stribeck") if name in fair] or ["plain"]
    single = min(singles, key=lambda name: float(scores[name].mean()))
    best = single if better(scores[single], scores["plain"]) else "plain"
    if "both" in fair and better(scores["both"], scores[best]) and better(scores["both"], scores[single]):
        best = "both"
    if best == "stribeck":
        velocity = own.fit(parts.whole, CANDIDATES[best])[1]
    told = []
    for name in list(CANDIDATES)[1:]:
        text = f"{name} {change(scores[name], scores['plain'])}"
        if name not in fair and better(scores[name], scores["plain"]):
            text += f" but {100.0 * raised[name][0]:+.2g} % on a third of {raised[name][1]}'s positions left out"
        told.append(text)
    at = f" at {velocity:.3g} {unit}/s" if "stribeck" in CANDIDATES[best] else ""
    rms = float(np.sqrt((np.exp(2.0 * scores["plain"]) * parts.rows).sum() / parts.rows.sum()))
    told_all = f"by errors on {count} parts of the recordings left out in turn (plain {rms:.3g}; {', '.join(told)})"
    return CANDIDATES[best], velocity, f"{best}{at}, {told_all}"

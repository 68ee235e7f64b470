"""Which law of friction a joint has, told by recordings that are left out: plain, asymmetric, Stribeck's, or both.

Joint by joint the torque that the plain fit's bodies leave is explained by the joint's own columns and by what the other laws
add to them, on all parts of the recordings but one, and judged on that one. The velocity at which Stribeck's part falls is
chosen anew within every such fit (a profile over a grid), so that no candidate sees what it is judged by. A law with more
numbers has to lower the error by more than chance does, and by a margin.

Recordings are mostly of one kind of motion, where a law can stand for what is no friction: a spring's torque over the positions
looks like asymmetry where positions and directions go together. So a third of the positions of every joint is left out too, in
whichever recording. A law that raises the error on any such third is not the joint's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import lsq_linear
from scipy.stats import t as student

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.base.errors import InputError, arg
from diffpbd.runtime.functions.friction import LAWS, VELOCITY, mean_of
from diffpbd.runtime.identify.design import KINDS, LINK_COLUMNS, Design, columns_of_joint_kind, every_joint
from diffpbd.runtime.identify.fitting import Fitted
from diffpbd.runtime.identify.solving import Question
from diffpbd.runtime.identify.standin import with_friction

__all__ = ["KINDS_OF_MOTION", "WORSE", "better", "by_position", "choose", "parts_of", "solved", "triangle"]

PARTS = 6
"""[1] Parts of the recordings that are left out in turn, at least: fewer recordings are cut."""
CHANCE = 0.01
"""[1] How often a law with more numbers is chosen where it says nothing (one-sided t-test over the parts)."""
WORTH = 0.03
"""[1] Part of the error that it has to take away at least: recordings of one kind of motion cannot tell what a law is worth in
another. One that was worth 2.3 % on a physical arm's was worth −1.8 to 3.4 % on five other kinds."""
KINDS_OF_MOTION = 3
"""[1] Parts of the samples by the position of each joint, that are left out in turn too."""
WORSE = 0.01
"""[1] By how much a law may raise the error on one of these: a motion in which it does nothing has about its share of noise."""
SLOWEST, FASTEST, GRID = 0.02, 0.5, 10
"""[1] Stribeck velocities tried, as parts of the joint's fastest rate: least, most, and how many."""
WIDTHS = 2.0
"""[1] Least Stribeck velocity in transition velocities; below it the two cannot be told apart."""
CANDIDATES: Mapping[str, tuple[str, ...]] = {
    "plain": (), "asymmetric": ("asymmetric",), "stribeck": ("stribeck",), "both": ("asymmetric", "stribeck"),
}  # fmt: skip


@dataclass(frozen=True)
class _Joint:
    """Triangles of [plain columns, δ, ε, one of s a velocity, torque] of every part; how many rows each has. `kinds` are
    triangles of the same by thirds of each joint's position."""

    triangles: Sequence[FloatArray]
    rows: FloatArray
    plain: int
    coulomb: int
    viscous: int | None
    velocities: FloatArray
    kinds: Mapping[str, Sequence[FloatArray]]

    def columns(self, laws: Sequence[str]) -> FloatArray:
        """What makes columns of this law of the triangle's: friction by direction where it differs; without Stribeck's."""
        kept = np.eye(self.triangles[0].shape[1])[:, : self.plain]
        if "asymmetric" in laws:
            for mean, half in ((self.coulomb, self.plain), (self.viscous, self.plain + 1)):
                if mean is not None:
                    against = kept[:, mean : mean + 1].copy()
                    kept[half, mean] = 1.0
                    against[half, 0] = -1.0
                    kept = np.hstack([kept, against])
        return kept

    def least(self, laws: Sequence[str], count: int) -> FloatArray:
        """Lower bounds of so many coefficients: friction brakes."""
        bound = np.full(count, -np.inf)
        bound[[k for k in (self.coulomb, self.viscous) if k is not None]] = 0.0
        bound[self.plain :] = 0.0
        return bound


def choose(question: Question, fitted: Fitted, say: Callable[[str], None] = lambda _line: None) -> Question:
    """The question with the entries that the recordings ask for, on a robot that has them, and a sentence a joint on why.

    `fitted` is the plain fit, whose bodies, gravity and sensors are kept for the comparison.
    """
    robot, selection = question.robot, question.selection
    wanted = [j for j in robot.joints if f"friction.coulomb.{j}" in selection.names]
    if not wanted:
        raise InputError(
            f"{arg.friction_model('auto')}: {arg.fit} names no Coulomb friction; for example {arg.fit} friction."
        )
    say("Choosing the law of friction")
    phi = fitted.unknowns.phi_at(fitted.x)
    laws: dict[str, tuple[str, ...]] = {}
    velocities, notes = {}, []
    for joint in wanted:
        j = robot.joints.index(joint)
        own = _joint(question, fitted.designs, phi, j)
        if own is None:
            notes.append(f"Friction of {joint}: plain; it hardly moves, or too little was recorded to tell")
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
    blocks, weights = [], []
    for d in designs:
        v = d.samples.dq[:, j : j + 1]
        side = np.tanh(v / width)
        more = d.samples.smooth(np.hstack([side**2, v * side, side * np.exp(-((v / velocities) ** 2))]))
        block = np.zeros((len(d.targets), columns.size + more.shape[1] + 1))
        mine = np.isin(d.columns[j], columns)
        block[:, np.searchsorted(columns, d.columns[j][mine])] = d.matrices[j][:, mine]
        block[:, columns.size : -1] = more
        block[:, -1] = d.targets[:, j] - d.matrices[j][:, ~mine] @ phi[d.columns[j][~mine]]
        weight = np.ones(len(block)) if d.weights is None else d.weights[:, j]
        blocks.append(block * np.sqrt(weight[:, None]))
        weights.append(weight)
    triangles, rows = parts_of(blocks, weights)
    if triangles is None:
        return None
    kinds = dict(by_position(question.robot.joints, designs, np.vstack(blocks)))
    return _Joint(triangles, rows, columns.size, where["coulomb"], where["viscous"], velocities, kinds)


def parts_of(
    blocks: Sequence[FloatArray], weights: Sequence[FloatArray]
) -> tuple[list[FloatArray] | None, FloatArray]:  # fmt: skip
    """Triangles of the parts that are left out in turn, of weighted rows a recording, and their sums of weights; none where
    the parts are too few."""
    triangles, rows = [], []
    for block, weight in zip(blocks, weights, strict=True):
        for part in np.array_split(np.arange(len(block)), -(-PARTS // len(blocks))):
            part = part[weight[part] > 0.0]
            if len(part) > block.shape[1]:
                triangles.append(triangle(block[part]))
                rows.append(float(weight[part].sum()))
    return (triangles if len(triangles) >= PARTS else None), np.array(rows)


def by_position(
    joints: Sequence[str], designs: Sequence[Design], block: FloatArray
) -> Iterator[tuple[str, list[FloatArray]]]:
    """Of joints that tell kinds of motion apart, the triangles of rows by thirds of its positions."""
    q = np.vstack([d.samples.trimmed(d.samples.q) for d in designs])
    for joint, own in zip(joints, q.T, strict=True):
        third = np.searchsorted(np.quantile(own, np.arange(1, KINDS_OF_MOTION) / KINDS_OF_MOTION), own)
        parts = [block[third == k] for k in range(KINDS_OF_MOTION)]
        if min(int(part.any(axis=1).sum()) for part in parts) > block.shape[1]:
            yield joint, [triangle(part) for part in parts]


def _judged(own: _Joint, unit: str) -> tuple[tuple[str, ...], float, str]:
    """Parts of the chosen law, the Stribeck velocity by all parts, and the candidates' errors in words."""
    count = len(own.triangles)
    errors = np.zeros((len(CANDIDATES), count))
    for k in range(count):
        others = triangle(np.vstack([*own.triangles[:k], *own.triangles[k + 1 :]]))
        for row, laws in enumerate(CANDIDATES.values()):
            left = own.triangles[k] @ _fit(own, others, laws)[0]
            errors[row, k] = np.linalg.norm(left) / np.sqrt(own.rows[k])
    whole = triangle(np.vstack(own.triangles))
    velocity = _fit(own, whole, CANDIDATES["both"])[1]
    scores = dict(zip(CANDIDATES, np.log(np.maximum(errors, np.finfo(float).tiny)), strict=True))
    raised = {name: _raised(own, laws) for name, laws in CANDIDATES.items() if laws}
    fair = {name for name, (change, _) in raised.items() if change <= WORSE}
    singles: list[str] = [name for name in ("asymmetric", "stribeck") if name in fair] or ["plain"]
    single = min(singles, key=lambda name: float(scores[name].mean()))
    best = single if better(scores[single], scores["plain"]) else "plain"
    if "both" in fair and better(scores["both"], scores[best]) and better(scores["both"], scores[single]):
        best = "both"
    if best == "stribeck":
        velocity = _fit(own, whole, CANDIDATES[best])[1]
    told = []
    for name in list(CANDIDATES)[1:]:
        change = scores[name] - scores["plain"]
        text = f"{name} {100.0 * np.expm1(change.mean()):+.2g} ± {100.0 * change.std(ddof=1) / np.sqrt(count):.2g} %"
        if name not in fair and better(scores[name], scores["plain"]):
            text += f" but {100.0 * raised[name][0]:+.2g} % on a third of {raised[name][1]}'s positions left out"
        told.append(text)
    at = f" at {velocity:.3g} {unit}/s" if "stribeck" in CANDIDATES[best] else ""
    rms = float(np.sqrt((errors[0] ** 2 * own.rows).sum() / own.rows.sum()))
    return (
        CANDIDATES[best],
        velocity,
        (
            f"{best}{at}, by errors on {count} parts of the recordings left out in turn (plain {rms:.3g}; {', '.join(told)})"
        ),
    )


def _raised(own: _Joint, laws: Sequence[str]) -> tuple[float, str]:
    """By how much a law raises the error on the kind of motion that it does so most on [1], and the joint of that kind."""
    worst = (-1.0, "")
    for joint, parts in own.kinds.items():
        for k, left_out in enumerate(parts):
            others = triangle(np.vstack([*parts[:k], *parts[k + 1 :]]))
            plain, longer = (np.linalg.norm(left_out @ _fit(own, others, law)[0]) for law in ((), laws))
            worst = max(worst, (float(longer / max(plain, np.finfo(float).tiny)) - 1.0, joint))
    return worst


def _fit(own: _Joint, triangle: FloatArray, laws: Sequence[str]) -> tuple[FloatArray, float]:
    """By the law that explains a triangle best: coefficients of the triangle's columns, −1 last, and the Stribeck velocity."""
    kept = own.columns(laws)
    best, velocity = solved(triangle, kept, own.least(laws, kept.shape[1])), float(own.velocities[-1])
    for k, value in enumerate(own.velocities if "stribeck" in laws else ()):
        more = np.hstack([kept, np.eye(len(kept))[:, own.plain + 2 + k : own.plain + 3 + k]])
        found = solved(triangle, more, own.least(laws, more.shape[1]))
        if np.linalg.norm(triangle @ found) < np.linalg.norm(triangle @ best):
            best, velocity = found, float(value)
    return best, velocity


def solved(triangle: FloatArray, columns: FloatArray, least: FloatArray) -> FloatArray:
    """Bounded least squares, as coefficients of the triangle's columns with −1 for what is explained."""
    A, y = triangle @ columns, triangle[:, -1]
    size = np.linalg.norm(A, axis=0)
    size[size == 0.0] = 1.0
    x = lsq_linear(A / size, y, (least, np.inf), method="bvls").x / size
    found = np.asarray(columns @ x, dtype=np.float64)
    found[-1] = -1.0
    return found


def triangle(rows: FloatArray) -> FloatArray:
    """Rows condensed to as many as columns, of the same norm along every combination."""
    return np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)


def better(score: FloatArray, than: FloatArray) -> bool:
    """Whether logarithms of errors are lower by `WORTH`, and by more than chance makes them."""
    change = score - than
    error = change.std(ddof=1) / np.sqrt(len(change))
    return bool(change.mean() <= min(np.log1p(-WORTH), -float(student.ppf(1.0 - CHANCE, len(change) - 1)) * error))

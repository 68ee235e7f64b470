"""Whether a kind is read right, or named with a cure that cures: the command is run, the cure is done, the truth comes back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from diffpbd.runtime.cli import cli
from support.spoiled.arm import TRUTH
from support.spoiled.kind import Kind, matches

__all__ = ["Verdict", "judged"]

TOLERANCE = {"friction.coulomb": 0.03, "friction.viscous": 0.03, "torque_offset": 0.05}
ROUNDS = 3
COMPLAINTS = ("warning:", "reads as if", "no known cause")


@dataclass(frozen=True)
class Verdict:
    """`wrong`: why it is neither read right nor cured, or empty; `said` is the output as it came, `cured` after the cure."""

    wrong: str
    said: str
    cured: str = ""


def judged(kind: Kind, robot: Path, folder: Path) -> Verdict:
    """Runs one kind."""
    words = kind.spoil(folder)
    code, output, found = run(robot, folder, words, kind.fit)
    if kind.unseen:
        return Verdict("" if code == 0 else "expected to be read", output)
    if not kind.says:
        wrong = f"exit code {code}" if code else off(kind, found)
        wrong = wrong or next((f"it says {text}" for text in COMPLAINTS if text in output), "")
        if kind.noted and not matches(kind.noted, output):
            wrong = wrong or f"it lacks {kind.noted!r}"
        return Verdict(wrong, output)
    if not matches(kind.says, output):
        return Verdict(f"it does not say {kind.says!r}", output)
    if not matches(kind.cure, output):
        return Verdict(f"the cure {kind.cure!r} does not stand there", output)
    fit, cured = kind.fit, output
    for _ in range(ROUNDS):
        told = matches(kind.cure, cured)
        if not told:
            break
        if kind.mend is not None:
            words = kind.mend(folder, words, told[0])
        elif kind.cure.startswith("--fit …,"):
            fit = ",".join([fit, *dict.fromkeys(m[0].partition(",")[2] for m in told)])
        elif kind.cure.startswith("Try ") and kind.cure.endswith(" in --fit"):
            fit = ",".join([fit, *dict.fromkeys(m[0].split()[1] for m in told)])
        elif kind.cure.endswith(" in --fit"):
            fit = ",".join([fit, *dict.fromkeys(m[0].split()[0] for m in told)])
        else:
            words = [*words, *(word.rstrip(";,") for m in dict.fromkeys(m[0] for m in told) for word in m.split())]
        code, cured, found = run(robot, folder, words, fit)
    wrong = f"exit code {code} after the cure" if code else off(kind, found)
    if not wrong and fit == kind.fit and matches(kind.says, cured):
        wrong = "it still says so after the cure"
    return Verdict(wrong, output, cured)


def run(robot: Path, folder: Path, words: list[str], fit: str) -> tuple[int, str, dict[str, float]]:
    """The command's exit code, output, and what it found."""
    out = folder / "params.json"
    out.unlink(missing_ok=True)
    done = CliRunner().invoke(cli, ["identify", str(robot), *words, "--fit", fit, "--out", str(out)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    found = json.loads(out.read_text())["parameters"] if done.exit_code == 0 else {}
    return done.exit_code, done.output, {name: entry["value"] for name, entry in found.items()}


def off(kind: Kind, found: dict[str, float]) -> str:
    """The parameter that is farthest from the truth, if it is beyond the tolerance."""
    errors = {n: abs(found[n] - TRUTH[n]) / TOLERANCE[n.rpartition(".")[0]] / kind.loose for n in kind.truth}
    worst = max(errors, key=lambda n: errors[n])
    return "" if errors[worst] <= 1.0 else f"{worst} is {found[worst]:.4g}, expected {TRUTH[worst]:g}"

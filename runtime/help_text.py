"""What `help(robot.joint_step)` shows of a generated function: arguments with units, defaults, batches, statuses."""

from __future__ import annotations

from diffpbd.runtime.manifest import MATRIX, Argument, Function

__all__ = ["help_text"]


def help_text(facts: Function, signature: str, h: float) -> str:
    """The page of one function; `signature` heads it, `h` is the robot's default step."""
    defaults = {
        "alpha": "robot.alpha.defaults (the default), such a vector, or values by name: {'payload.mass': 0.5}",
        "h": f"default {h:g}",
        "p_ref": "default 0",
    }
    lines = [signature, "", facts.doc, "", "Inputs, by position or name:"]
    lines += [_line(argument, defaults.get(argument.name, "")) for argument in facts.inputs]
    lines += ["Outputs:", *(_line(argument, "") for argument in facts.outputs), ""]
    if facts.rollout and any(argument.axes == MATRIX for argument in (*facts.inputs, *facts.outputs)):
        lines.append("Trajectories have one sample a row (the columns of the C function).")
    lines.append(
        "One more axis in front makes a batch; single arguments are shared by its rows, threads=N splits them."
    )
    if facts.status:
        lines += ["SolverError where the status is not 0:", *(f"  {k}: {text}" for k, text in facts.status.items())]
    return "\n".join(lines)


def _line(argument: Argument, default: str) -> str:
    facts = () if argument.name == "alpha" else (argument.unit, argument.frame)
    return f"  {argument.name}: " + "; ".join(text for text in (*facts, default) if text)

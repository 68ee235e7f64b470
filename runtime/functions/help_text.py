"""Text of `help(robot.joint_step)` and editors: signature, arguments with units and frames, defaults, batches, statuses."""

from __future__ import annotations

from inspect import Parameter, Signature

from diffpbd.runtime.folder.manifest import MATRIX, Argument, Function
from diffpbd.runtime.functions.frames import USUAL

__all__ = ["help_text", "shape_words", "signature_of"]

OPTIONAL = ("alpha", "h", "p_ref", *USUAL)
"""Inputs with a default."""


class _Words(str):
    """An annotation that shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def shape_words(argument: Argument, rollout: bool) -> str:
    """`[7]`, `[7, 7]`, for a trajectory `[N+1, 7]` (one sample per row), empty for a number."""
    if rollout and argument.axes == MATRIX:
        return f"[{argument.cols}, {argument.rows}]"
    return f"[{', '.join(map(str, argument.shape))}]" if argument.axes else ""


def signature_of(facts: Function) -> Signature:
    """The Python signature. Inputs after one with a default are shown as keyword-only but may be positional too."""

    def annotation(argument: Argument) -> _Words:
        return _Words(f"float{shape_words(argument, facts.rollout)}")

    parameters: list[Parameter] = []
    by_name = False
    for argument in facts.inputs:
        default = None if argument.name in OPTIONAL else Parameter.empty
        if default is Parameter.empty and parameters and parameters[-1].default is not Parameter.empty:
            by_name = True
        kind = Parameter.KEYWORD_ONLY if by_name else Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(Parameter(argument.name, kind, default=default, annotation=annotation(argument)))
    parameters.append(Parameter("threads", Parameter.KEYWORD_ONLY, default=1, annotation=int))
    results = [f"{argument.name}: {annotation(argument)}" for argument in facts.outputs]
    returns = annotation(facts.outputs[0]) if len(results) == 1 else _Words(f"({', '.join(results)})")
    return Signature(parameters, return_annotation=returns)


def help_text(facts: Function, signature: str, h: float) -> str:
    """The page of one function; `signature` heads it, `h` is the robot's default step."""
    defaults = {
        "alpha": "robot.alpha.defaults (the default), such a vector, or values by name: {'payload.mass': 0.5}",
        "h": f"default {h:g}",
        "p_ref": "default 0",
        **{name: f"by name or number, default {number}" for name, number in USUAL.items()},
    }
    lines = [signature, "", facts.doc, "", "Inputs, by position or name:"]
    lines += [_line(argument, facts.rollout, defaults.get(argument.name, "")) for argument in facts.inputs]
    lines += ["Outputs:", *(_line(argument, facts.rollout, "") for argument in facts.outputs), ""]
    matrices = any(argument.axes == MATRIX for argument in (*facts.inputs, *facts.outputs))
    if facts.rollout and matrices:
        lines.append("Trajectories have one sample a row (the columns of the C function).")
    elif matrices:
        lines.append(
            "Matrices are [rows, columns]: da_db[i, j] is the derivative of a[i] by b[j] (in C column by column)."
        )
    lines.append(
        "One more axis in front makes a batch; single arguments are shared by its rows, threads=N splits them."
    )
    if facts.status:
        lines += ["SolverError where the status is not 0:", *(f"  {k}: {text}" for k, text in facts.status.items())]
    return "\n".join(lines)


def _line(argument: Argument, rollout: bool, default: str) -> str:
    facts = () if argument.name == "alpha" else (argument.unit, argument.frame)
    shape = shape_words(argument, rollout) or " (a number)"
    return f"  {argument.name}{shape}: " + "; ".join(text for text in (*facts, default) if text)

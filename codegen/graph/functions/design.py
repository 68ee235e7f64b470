"""Functions of designs that experiments identify: the spring between two lever arms that the paper fits to a shoulder."""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca

from diffpbd.codegen.functions import DOCS
from diffpbd.codegen.graph.expressions.translate import function, graph_of
from diffpbd.codegen.graph.functions.derivatives import Spec
from diffpbd.codegen.laws import attached
from diffpbd.codegen.program.program import Program

__all__ = ["specs"]

LEVER = ("lever_stiffness", "arm_1", "arm_2", "lever_offset", "lever_rest")


def specs() -> Iterator[Spec]:
    """`lever_spring_torque`: angle of one joint and the five numbers of the spring -> torque on the joint."""
    program = Program("lever_spring_torque", DOCS["lever_spring_torque"])
    angle = program.scalar("angle")
    numbers = [program.scalar(name) for name in LEVER]
    program.output("lever_torque", attached.law(program, "lever_spring", "torque", angle, numbers))
    graph = function(program)
    symbols = {name: ca.SX.sym(name) for name in program.inputs}
    value = graph(*symbols.values())
    yield Spec(program.name, program.doc, graph_of(program.name, symbols, {"lever_torque": value}))

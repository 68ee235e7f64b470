"""A double pendulum from its description to a compiled step: URDF, SymPy, CasADi, C."""

import numpy as np

from diffpbd.codegen.description.front.resolve import resolve
from diffpbd.codegen.generate import generate
from diffpbd.codegen.graph.functions.maximal import casadi_step
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.method.step import variational_direct
from diffpbd.runtime import load

recipe, description = resolve("double_pendulum")  # URDF: joints, links, masses
model = build(description, recipe)  # its numbers, and alpha, as CasADi
program = variational_direct(model.tree, 3, 10)  # SymPy: the step of every robot with such joints
graph = casadi_step(model, program, "step", {})  # CasADi: differentiable as often as wanted
robot = load(generate("double_pendulum").folder)  # C, compiled and loaded

xi = robot.fk(p=[0.3, -0.5], pd=[0.0, 1.0])  # position, velocity, quaternion, angular velocity of each link
by_graph = np.array(graph(xi, np.zeros(2), 0.01, robot.alpha.defaults)).ravel()
by_c = robot.step(xi, u=np.zeros(2), h=0.01)
print(f"SymPy: {program.operations()} assignments; C: {robot.step.facts.operations} operations")
print(f"joints after 10 ms: {robot.joint_state(by_c, p_ref=[0.3, -0.5])}")
print(f"CasADi and C differ by {np.abs(by_graph - by_c).max():.1e}")

"""Efforts of the joints at a pose (u and springs), and their forces and moments on the links."""

from __future__ import annotations

from functools import cache
from typing import Any

from diffpbd.codegen.laws import attached, elements, forces
from diffpbd.codegen.method import bodies
from diffpbd.codegen.method.kinematics import hinge_beyond, slide_position
from diffpbd.codegen.method.projection import total
from diffpbd.codegen.method.world import call_at
from diffpbd.codegen.program.notation import JOINT, SPRING, WORLD, JointNumbers, children, part, square
from diffpbd.codegen.program.program import Program
from diffpbd.codegen.program.tree import Tree


@cache
def effort_kernel(slide: bool, springs: tuple[str, ...] = ()) -> Program:
    """Leaf: `effort` u + spring torque [N·m or N] of a joint at a pose, with the numbers of the `springs` attached to it; a
    hinge's angle is taken within π of the rest angle, or of what such an element says."""
    kind = f"{'slide' if slide else 'hinge'}{''.join(f'_{elements.spring(one).name}' for one in springs)}"
    program = Program(f"{kind}_effort", "Joint effort and spring torque of a joint.")
    joint, u, spring = (
        JointNumbers.of(program.input("joint", JOINT)),
        program.scalar("u"),
        program.input("spring", SPRING),
    )
    R_a, R_b = square(program.input("rotation_a", 9)), square(program.input("rotation_b", 9))
    stiffness, rest = spring
    if slide:
        x_a = program.input("x_a", 3)
        p = slide_position(program, joint, x_a, R_a, program.input("x_b", 3), R_b)
        torque = forces.spring_torque(p, stiffness, rest)
    else:
        beyond = hinge_beyond(program, joint, R_a, R_b, rest)
        torque = forces.spring_torque(beyond, stiffness, 0)
    for k, element in enumerate(springs):
        spring = elements.spring(element)
        numbers = list(program.input(f"{attached.BLOCK}_{k}", len(spring.numbers)))
        if not slide:
            centre = spring.centre(numbers)
            p = program.let(centre + hinge_beyond(program, joint, R_a, R_b, centre))
        torque = torque + attached.law(program, element, "torque", p, numbers)
    program.output("effort", program.let(u + torque))
    return program


def efforts(program: Program, tree: Tree, numbers: tuple[Any, Any, Any, Any], x: list[Any], R: list[Any]) -> list[Any]:
    """Calls: effort and spring torque of every joint; `numbers` are flat columns: joint, u, spring, attached (or None)."""
    joint, u, spring, chosen = numbers
    results = []
    for j, parent in enumerate(tree.parents):
        own = {"joint": part(joint, JOINT, j), "u": u[j, 0], "spring": part(spring, SPRING, j)}
        own |= {"x_b": x[j], "rotation_b": R[j]}
        if parent != WORLD:
            own |= {"x_a": x[parent], "rotation_a": R[parent]}
        mine = [k for k, one in enumerate(tree.attached) if one.joint == j]
        own |= {f"{attached.BLOCK}_{k}": chosen[tree.attached_places[at], 0] for k, at in enumerate(mine)}
        springs = tuple(tree.attached[at].element for at in mine)
        results.append(call_at(program, tree, j, effort_kernel(tree.slides[j], springs), own)["effort"])
    return results


def pulls(
    program: Program, tree: Tree, joint: Any, effort: list[Any], x: list[Any], R: list[Any]
) -> list[dict[str, Any]]:
    """Calls: forces and moments of the joints' efforts on every link: `pull`, and `reaction` if it carries joints."""
    found = []
    for j, parent in enumerate(tree.parents):
        own = {"joint": part(joint, JOINT, j), "effort": effort[j], "rotation_b": R[j], "x_b": x[j]}
        if parent != WORLD:
            own["x_a"] = x[parent]
        found.append(call_at(program, tree, j, bodies.pull_kernel(tree.slides[j]), own))
    results = []
    for i in range(tree.n):
        reactions = [found[k]["reaction"] for k in children(tree, i)]
        summed = {"reaction": total(program, reactions)} if reactions else {}
        results.append({"pull": found[i]["pull"]} | summed)
    return results

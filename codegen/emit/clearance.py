"""src/clearance.c: distances of shapes with their derivatives, and what the manifest says of them."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from diffpbd.codegen.description.joints.loops import WORLD_FRAME
from diffpbd.codegen.emit.emission import sources
from diffpbd.codegen.graph.clearance.clearance import Clearance, counts_of, specs
from diffpbd.codegen.graph.clearance.pairs import choose, reach_of
from diffpbd.codegen.graph.functions.capabilities import GRAPHS, Capabilities
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.graph.solved.floating import graphs_of
from diffpbd.runtime.folder.manifest import Clearance as Facts
from diffpbd.runtime.folder.manifest import Shape
from diffpbd.runtime.folder.unwatched import not_watched


def add_clearance(
    emission: sources.Emission,
    model: Model,
    found: Capabilities,
    graphs: dict[str, ca.Function],
    say: Callable[[str], None],
) -> Facts:
    """The functions of a robot with shapes; a line of `say` for every choice."""
    own = graphs_of(model, forward=False)
    chosen, counts = choose(own), counts_of(model.recipe.obstacles)
    clearance = Clearance(own, chosen.pairs, counts)
    made = list(specs(clearance))
    for spec in made:
        if found.has(GRAPHS) or not spec.name.startswith(("jac_", "vjp_")):
            graphs[spec.name] = spec.graph
    sources.add_leaves(emission, "src/clearance.c", made, graphs)
    robot = model.robot
    carriers = [*(link.name for link in robot.links), WORLD_FRAME]
    shapes = tuple(
        Shape(
            s.name,
            s.part,
            carriers[s.link],
            s.kind,
            s.centre,
            tuple(x for row in s.rotation for x in row),
            s.halves,
            s.radius,
        )
        for s in robot.shapes
    )

    def other(row: int) -> str:
        at = clearance.rows[row]
        return f"{at.obstacle} {at.other}" if at.obstacle else shapes[at.other].name

    rows = tuple((shapes[at.one].name, other(k)) for k, at in enumerate(clearance.rows))
    unwatched = {why: tuple((shapes[a].name, shapes[b].name) for a, b in of) for why, of in chosen.unwatched.items()}
    shaped = {shape.link for shape in robot.shapes}
    links = {k: link.name for k, link in enumerate(robot.links) if link.inertial.mass}
    links |= {} if robot.base_freedoms else {-1: robot.base}
    bare = tuple(name for link, name in links.items() if link not in shaped)
    facts = Facts(shapes, rows, counts, reach_of(robot), unwatched, bare)
    pairs = sum(not row.obstacle for row in clearance.rows)
    for line in (f"clearance: pairs of shapes that are watched: {pairs}", *not_watched(facts), *chosen.lines):
        say(line)
    return facts

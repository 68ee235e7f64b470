"""Emission of the joint-space step with closed loops and limits, and of functions of an instant with loops."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from diffpbd.codegen.description.robot.contact_law import IN_CONE
from diffpbd.codegen.emit.emission.model_header import Table, Value, add_source_model
from diffpbd.codegen.emit.emission.sources import Emission, Shapes, arguments
from diffpbd.codegen.emit.tables import contact_table
from diffpbd.codegen.emit.tables.constants import OUTSIDE_LIMITS, REFUTED
from diffpbd.codegen.emit.text.c_writer import kernel, literal
from diffpbd.codegen.emit.text.work import doubles
from diffpbd.codegen.functions import DOCS, DOCS_OF_LIMITS, DOCS_OF_LOOPS
from diffpbd.codegen.graph.contact import constrained_step, rebounds
from diffpbd.codegen.graph.contact.contacts import normals
from diffpbd.codegen.graph.contact.unilateral import STRAIGHT, sides
from diffpbd.codegen.graph.expressions.distances import PLANE
from diffpbd.codegen.graph.loops.starts import spread, turns, weyl
from diffpbd.codegen.graph.model import alike
from diffpbd.codegen.graph.model.model import Model
from diffpbd.codegen.joint_space.contact.cones import LAW
from diffpbd.codegen.joint_space.links.link_step import RECORD_ROWS
from diffpbd.codegen.joint_space.loops import closures
from diffpbd.codegen.laws.cuts import ROWS
from diffpbd.codegen.laws.forces import lags

WITHOUT_IMPACTS = ("forward_dynamics", "loop_force")
AT_AN_INSTANT = ("forward_dynamics", "loop_force", "inverse_dynamics", "close_loops", "close_rates")
"""Functions of closed loops without a step."""


SOURCES = (
    "constrained_step.c", "constrained_work.h", "step_functions.h", "step_interface.h", "turned_torque.h",
    "products.h", "lines.h", "dense.h", "free_stages.h", "stage.h", "stage_residual.h", "cones.h", "cone_systems.h",
    "cone_levels.h", "joint_limits.h", "contacts.h", "contact_rows.h", "contact_slopes.h", "discs.h", "rebounds.h",
    "certificate.h", "slopes.h", "contact_force.h", "loops_closed.h", "loop_rows.h", "close_loops.h",
    "convergence.h", "trajectory.h", "work_sizes.h",
)  # fmt: skip
"""Plain C of the step: the first file includes what a robot needs of the others."""


def stepped(model: Model) -> tuple[int, ...]:
    """Statuses of a step."""
    loops, unilateral, touching = model.tree.closures, model.tree.unilateral, model.tree.contacts
    own = (1, 2, *((10, 12, 13) if loops else ()), *((14,) if unilateral else ()), *((15,) if touching else ()))
    own += (OUTSIDE_LIMITS,) if model.tree.limits else ()
    return (*own, REFUTED) if loops or unilateral else own


def judged(model: Model) -> int:
    """Operations of the judgement of a step whose energy falls, and whose pose is where its rates lead, but for those in its
    kernels (templates/unilateral/certificate.h, loops_closed.h)."""
    n, m, tree = model.tree.freedoms, model.tree.rows, model.tree
    looked = (2 * n - 1) * len(constrained_step.told(model)) if tree.closures else 0
    if not tree.unilateral:
        return looked + 4 * n + 1 if tree.closures else 0
    turning = sum(not tree.slides[joint] for joint in tree.coordinates)
    touching = sum((17 if k.frictional else 3) + 8 * k.spun + 12 * k.rolled for k in tree.contacts)
    return n * (2 * n + 8) + 3 * turning + m * (3 * n + 3) + 5 * len(sides(model)) + touching + 12


def motors(model: Model) -> list[int]:
    """1 for every coordinate with a motor."""
    joints = [model.robot.joints[i] for i in model.robot.independent]
    return [int(joint.name not in model.robot.passive) for joint in joints]


def add_constrained_step(emission: Emission, model: Model, by_alpha: bool, graphs: Container[str]) -> int:
    """src/constrained_step.c and its entries of the manifest; returns the size of the work array.

    `by_alpha`: with the Jacobian by the parameters. `graphs` names what has a CasADi graph."""
    tree, alpha = model.tree, model.entries
    n, m, every = tree.freedoms, tree.rows, sum(len(ROWS[c.kind]) for c in tree.closures)
    made = constrained_step.kernels(model, by_alpha)
    kinds = alike.kinds(model) if alike.many(model) else []
    texts = {g.name(): kernel(g, f"{g.name()}_kernel", accumulate=_adds(g.name(), bool(kinds))) for g in made}
    size = next(g for g in made if g.name() == "prepare").numel_out(0)
    driven, work = motors(model), max(k.work for k in texts.values())
    border = max(n + m, every)
    found = sides(model)
    touches = tree.contact_rows
    where = {e.name: k for k, e in enumerate(alpha)}
    stretch = [i for i, e in enumerate(alpha) if e.name.startswith("friction.coulomb.")]
    emission.texts["joint_step"] = sum(len(k.text) for k in texts.values())
    for name in SOURCES:
        emission.copy(name)
    values: dict[str, Value | bool] = {
        "N": n, "LINKS": len(stretch), "NA": len(alpha), "NM": size, "ROWS": m, "ALL": every, "MOTORS": sum(driven),
        "BORDER": border, "RECORD": RECORD_ROWS * tree.n, "KERNEL_WORK": work, "REDUNDANT": tree.redundant,
        "COULOMB": stretch[0] if stretch else 0, "LIMIT_LOAD": where.get("limit.load", 0),
        "LIMIT_SLIP": where.get("limit.slip", 0), "UNILATERAL": tree.unilateral, "SIDES": len(found),
        "CONTACTS": len(tree.contacts), "LAW": LAW + 2 * tree.turned, "LEVERS": LAW, "TOUCHES": touches,
        **{f"LAW_{name.upper()}": place for place, name in enumerate(IN_CONE)},
        "FRICTION_ANY": any(k.frictional for k in tree.contacts),
        "FRICTION_ALL": all(k.frictional for k in tree.contacts), "TURNED": tree.turned,
        "SPUN": any(k.spun for k in tree.contacts), "ROLLED": any(k.rolled for k in tree.contacts),
        "SLACK": bool(model.chosen.slack),
        "LAGGING": lags(tree.friction), "STRAIGHT": n <= STRAIGHT, "FLOATING": bool(tree.base),
        "CHART_PATHS": bool(tree.base) and tree.unilateral,
        "WRENCHES": bool(tree.wrenches), "BOUNCING": rebounds.bounces(model), "EXACT": "contact.slope_slip" in where,
        "SLOPE_SLIP": where.get("contact.slope_slip", 0),
        "FLAT": all(k.cores[1] == PLANE and k.other < 0 for k in tree.contacts),
        "ALPHA_JACOBIAN": by_alpha, "LOOKED": len(constrained_step.told(model)) if m else 0,
    }  # fmt: skip
    if kinds:
        most = max(kind.numbers.numel() for kind in kinds)
        values |= {
            "MOST_NUMBERS": most,
            "NUMBERS": size - most * len(tree.contacts),
        }  # the numbers of contacts end the model
    total = doubles("constrained_work.h", values)
    known = len(emission.functions)
    operations = {name: k.operations for name, k in texts.items()} | contact_table.operations(kinds, texts)
    _declare(emission, model, operations, (n, m, total), graphs, by_alpha)
    dispatched = [] if tree.base else emission.functions[known:]
    emission.dispatched += dispatched
    includes = '#include "sine_cosine.h"\n' + ('#include "chart.h"\n' if tree.base else "")
    text = "\n".join((includes, *(k.text for k in texts.values()), *contact_table.texts(kinds, texts)))
    tables = _tables(model, driven)
    if kinds:
        tables["touch_kind"] = ("int", contact_table.table(kinds))
    add_source_model(emission, "constrained_step", values, tables, text)
    return total


def _adds(name: str, many: bool) -> bool:
    """Whether a kernel adds to its outputs: gradients do, and of many contacts what all add to."""
    return "parameters" in name or (many and name.startswith("touch_curvature"))


def _tables(model: Model, driven: Sequence[int]) -> dict[str, Table]:
    """Tables of constrained_step.c about every coordinate, end of a range, contact and row of loops."""
    tree, ends = model.tree, sides(model)
    tables: dict[str, Table] = {
        "motor": ("int", driven),
        "turning": ("int", [int(not tree.slides[joint]) for joint in tree.coordinates]),
        "slack": ("double", [literal(x) for x in model.chosen.slack]),
        "side_of": ("int", [k.coordinate for k in ends]),
        "side_entry": ("int", [k.entry for k in ends]),
        **{
            f"side_{name}": ("double", [literal(getattr(k, name)) for k in ends]) for name in ("slope", "shift", "sign")
        },
        "bounce_entry": ("int", rebounds.entries(model) if rebounds.bounces(model) else []),
        "touch_row": ("int", normals(tree) if tree.contacts else []),
    }
    if not tree.rows:
        return tables
    own, dropped = closures.places(tree)
    every = range(len(own) + len(dropped))
    return tables | {
        "looked": ("int", list(constrained_step.told(model))),
        "kept": ("int", [own.index(k) if k in own else -1 for k in every]),
        "other": ("int", [dropped.index(k) if k in dropped else -1 for k in every]),
        "start_spread": ("double", [literal(x) for x in spread(model)]),
        "start_weyl": ("double", [literal(x) for x in weyl(tree.freedoms)]),
        "start_turns": ("int", list(turns(model))),
    }


def _declare(
    emission: Emission,
    model: Model,
    operations: Mapping[str, int],
    sizes: tuple[int, int, int],
    graphs: Container[str],
    by_alpha: bool,
) -> None:
    n, m, total = sizes
    na = len(model.entries)
    counts = (m, len(sides(model)), model.tree.contact_rows)
    impulses = [(f"{k}_impulse", size) for k, size in zip(("loop", "limit", "contact"), counts, strict=True) if size]
    shapes: Shapes = {
        **dict.fromkeys(
            ("p", "pd", "pdd", "u", "kick", "p_next", "pd_next", "p_prev", "p0", "pd0", "fixed", "p_closed", "pd_closed",
             "unbalanced"), (n, 1),
        ),
        "contact_force": (3, len(model.tree.contacts)), "iterations": (4, 1), "counters": (5, "N"),
        **{f"{k}{end}": (size, "N") for k, size in impulses for end in ("", "_next")},
        "h": (1, 1), "alpha": (na, 1), "U": (n, "N"), "P": (n, "N+1"), "PD": (n, "N+1"), "loop_force": (m, 1),
    }  # fmt: skip

    def count(*names: str) -> int:
        return sum(operations.get(name, 0) for name in names)

    solve = m * m * n + m**3 // 3 + 4 * m * n  # a border: A X, its elimination, two products
    unilateral, tree = model.tree.unilateral, model.tree
    if unilateral:  # three iterations of the pose stage and two of the rate stage
        acting = 2 * len(tree.limits) * count("side") + sum(
            count(
                *(("contact",) if k.frictional else ("smooth_contact",)), *("spun",) * k.spun, *("rolled",) * k.rolled
            )
            + (30 * n + 6 * n * n if k.frictional else 6 * n + 2 * n * n)
            + (k.rows - 3) * (10 * n + 2 * n * n) * bool(k.discs)
            for k in tree.contacts
        )
        solve = (n + m) ** 3 // 3 + acting
        step = (
            count("prepare", "start", "touch_start", "pose", "residual", "landing")
            + 3 * count("touch")
            + 2 * count("rate_system")
            + 5 * solve
            + judged(model)
        )
        step += count("closing") + (2 * n - 1) * len(constrained_step.told(model)) if tree.closures else 0
        inverses = count("blocks", "curvature", "touch_curvature") + 2 * (n + m) ** 3 + 2 * acting
    else:
        step = count("prepare", "start", "newton", "chord", "end", "velocity") + 4 * solve + judged(model)
        inverses = count("systems", "curvature") + 2 * (m**3 + n * m * m + n * n * m)
    adjoint = inverses + count("parameters", "touch_parameters") + 8 * n * n
    instant = count("instant") + solve
    alone = 2 * n * (count("parameters") + 8 * n * n) if unilateral else count("by_alpha")
    node = count("prepare", "node", "velocity") + 2 * solve
    status_of_step, closed = stepped(model), bool(model.tree.closures)
    exact = any(entry.name == "contact.slope_slip" for entry in model.entries)
    again = [k for k in status_of_step if exact and k not in (10, 14)]  # its derivative takes every step once more
    docs = {**DOCS, **(DOCS_OF_LOOPS if closed else DOCS_OF_LIMITS if unilateral else {})}
    for name, cost, status in (
        ("joint_step", step, status_of_step),
        ("jac_joint_step", step + inverses + 7 * n**3, status_of_step),
        ("jac_kicked_step", step + inverses + 7 * n**3, status_of_step),
        ("jac_alpha_joint_step", step + inverses + alone, status_of_step),
        ("vjp_joint_step", step + adjoint, status_of_step),
        ("node_torque", node, (2, 10) if closed else (2,)),
        ("rollout", step - count("prepare"), status_of_step),
        ("rollout_impulses", step - count("prepare"), status_of_step),
        ("vjp_rollout", step + adjoint, status_of_step),
        ("vjp_trajectory", adjoint, (*again, 10, *((14,) if unilateral else ()))),
        ("forward_dynamics", instant, (4, 10)),
        ("loop_force", instant, (4, 10)),
        ("inverse_dynamics", count("held") + (n + m) ** 3 // 3, (10,)),
        ("contact_force", step + count("directions"), status_of_step),
        ("close_loops", count("closing"), (10, 13)),
        ("close_rates", instant, (10,)),
    ):
        if (name == "jac_alpha_joint_step" and not by_alpha) or (name in AT_AN_INSTANT and not closed):
            continue
        if name in WITHOUT_IMPACTS and tree.contacts:
            continue
        if (name == "contact_force" and not tree.contacts) or (name == "rollout_impulses" and not unilateral):
            continue
        along = name.endswith(("rollout", "rollout_impulses", "trajectory"))
        emission.declare(
            name, docs[name], *arguments(name, shapes),
            operations=cost, work=None if along else total, graph=name in graphs, status=status,
        )  # fmt: skip

"""The joint-space step of a tree that closed loops close: RATTLE on the tree's own F and G, one elimination of a border.

With g the kept rows of all loops (`closures`), A = ∂g/∂p, and multipliers Λ and Η (impulses times h) of either stage,

    pose stage   h F(p₁; p₀, ṗ₀, u) − A(p₀)ᵀ Λ = 0,    g(p₁) = 0,
    rate stage   h G(ṗ₁; p₁, p₀, u) − A(p₁)ᵀ Η = 0,    A(p₁) ṗ₁ = 0.

Without loops there are no rows, and the border is empty. The tree's factors serve as they are; a Newton iteration on the
first stage is

    [ D  −A₀ᵀ ] [δ]   [−h F]        X = D⁻¹ A₀ᵀ,  x = −D⁻¹ h F,
    [ A    0  ] [Λ] = [−g  ]        (A X) Λ = −g − A x,   δ = x + X Λ,

D = ∂hF/∂p₁: no curvature, because A₀ is constant in it and g is linearised. Λ is solved for in every iteration, not updated.
This leaves a dense system of one row for each kept row, solved with pivoting in the emitted C. The rate stage is the same with
the inertia in place of D. `systems` lists the blocks of the exact derivatives.

Unilateral rows (`cones`) add −h N₀ᵀ β to h F and −h N₁ᵀ γ to h G, N the Jacobian of σ by the coordinates' rates. Their
multipliers are eliminated first: δβ = −x − G δσ adds h N₀ᵀ G ∂σ/∂p₁ to D. The system above remains and is solved as one dense
matrix, because its rows are few and stiff. `pose`, `landing`, `rate_system` and `blocks` give what the
emitted C assembles it from, `residual` serves with an earlier D.
"""

from __future__ import annotations

from typing import Any

from diffpbd.codegen.joint_space import gears
from diffpbd.codegen.joint_space.friction import friction_inputs
from diffpbd.codegen.joint_space.links import link_energies, link_jacobian, link_step
from diffpbd.codegen.joint_space.loops import closures
from diffpbd.codegen.program import elimination
from diffpbd.codegen.program.program import Matrix, Program
from diffpbd.codegen.program.store import stored
from diffpbd.codegen.program.tree import Tree


def _within(b: Program, program: Program, **given: Any) -> dict[str, Any]:
    """Calls a program; what is not given are inputs of b of the same names, declared where there is none yet."""
    arguments = dict(given)
    for name, formal in program.inputs.items():
        if name in arguments:
            continue
        arguments[name] = b.inputs[name] if name in b.inputs else b.input(name, formal.rows, formal.cols)
    return b.call(program, **arguments)


def _rows(b: Program, tree: Tree, every: bool = False, **given: Any) -> dict[str, Any]:
    """`closures.rows` at a pose; none where no loop closes the tree."""
    if not tree.closures:
        return {"g": Matrix(0, 1, []), "A": Matrix(0, tree.freedoms, [])}
    return _within(b, closures.rows(tree, every), **given)


def _solved(b: Program, factors: Any, rhs: Any) -> Any:
    """A⁻¹ rhs, of no columns too."""
    return elimination.solve(b, factors, rhs) if rhs.cols else rhs


def _begun(name: str, doc: str, tree: Tree, *inputs: str) -> Program:
    """A program with these inputs, in this order."""
    n, m = tree.freedoms, tree.rows
    shapes = {
        "h": (1, 1), "record": (link_step.RECORD_ROWS, tree.n), "factors": (n, n), "M": (n, n), "A0": (m, n), "A": (m, n),
        "X": (n, m),
    }  # fmt: skip
    b = Program(name, doc)
    for k in inputs:
        b.input(k, *shapes.get(k, (n, 1)))
    return b


@stored
def start(tree: Tree) -> Program:
    """`link_step.start`, with A at the start and every row of the loops there; energies if there are unilateral rows, else the
    forces, for a tree with loops."""
    b = Program("constrained_step_start", "Start of a step, its loops' gradient and gaps.")
    begun = link_step.begin(b, tree)
    for name in ("record", "terms", "guess"):
        b.output(name, begun.outputs[name])
    b.output("A0", _rows(b, tree)["A"])
    b.output("gap", _rows(b, tree, True)["g"])
    if tree.unilateral:
        b.output("energies", Matrix(link_energies.energies(b, tree, begun, b.inputs["pd"])))
    elif tree.closures:
        b.output("force", link_step.acting(b, tree, b.inputs["u"], begun.known))
    return b


def _border(b: Program, A: Any, X: Any, x: Any, wanted: Any) -> None:
    """Outputs the dense system S multipliers = rhs that makes A (x + X multipliers) what is `wanted`."""
    b.output("S", b.let(A * X))
    b.output("rhs", b.let(wanted - A * x))


@stored
def newton(tree: Tree) -> Program:
    """x = −D⁻¹ hF (`correction`), the `factors` of D, X, and the border at the iterate."""
    b = _begun(
        "constrained_step_newton", "Bordered Newton iteration on F.", tree, "iterate", "p", "record", "terms", "A0"
    )
    found = _within(b, link_step.newton(tree))
    rows = _rows(b, tree, p=b.inputs["iterate"])
    X = _solved(b, found["factors"], b.inputs["A0"].T)
    b.output("correction", found["correction"])
    b.output("factors", found["factors"])
    b.output("X", X)
    _border(b, rows["A"], X, found["correction"], -rows["g"])
    return b


@stored
def chord(tree: Tree) -> Program:
    """x and the border with factors of an earlier D and its X."""
    b = _begun(
        "constrained_step_chord", "Chord iteration on F.", tree, "iterate", "p", "record", "terms", "factors", "X"
    )
    rows = _rows(b, tree, p=b.inputs["iterate"])
    found = _within(b, link_step.chord(tree))
    b.output("correction", found["correction"])
    _border(b, rows["A"], b.inputs["X"], found["correction"], -rows["g"])
    return b


@stored
def end(tree: Tree) -> Program:
    """The same at the end of a step, with its momentum (A₀ᵀ Λ/h not yet added), inertia and A; what acts; of every row the
    `gap`, of the dropped ones their gradient."""
    b = Program("constrained_step_end", "End of a step.")
    found, known = link_step.finish(b, tree)
    X = b.input("X", tree.freedoms, tree.rows)
    rows, (kept, dropped) = _rows(b, tree, True, p=b.inputs["p_next"]), closures.places(tree)
    g, A = rows["g"], rows["A"]
    for name in ("correction", "momentum", "M"):
        b.output(name, found[name])
    _border(b, A[kept, :], X, found["correction"], -g[kept, :])
    b.output("A", A[kept, :])
    if tree.closures:
        b.output("force", link_step.acting(b, tree, b.inputs["u"], known))
        b.output("gap", g)
        b.output("dropped", A[dropped, :])
    return b


@stored
def gradient(tree: Tree) -> Program:
    """A at p."""
    b = _begun("constrained_step_gradient", "Gradient of the kept rows.", tree, "p")
    b.output("A", _rows(b, tree)["A"])
    return b


def _rates(b: Program, tree: Tree, slopes: Any, force: Any, pd: Any) -> None:
    """Outputs x = (M + h D)⁻¹ force, X = (M + h D)⁻¹ Aᵀ and the border of A (ṗ + x), D the slopes of friction."""
    M, h, A = (b.inputs[k] for k in ("M", "h", "A"))
    slopes = gears.diagonal(b, tree, [h[0, 0] * slope for slope in slopes])
    extra = Matrix(tree.freedoms, tree.freedoms, lambda i, j: slopes[i] if i == j else 0)
    factors = elimination.factors(b, b.let(M + extra), symmetric=True)
    x, X = elimination.solve(b, factors, force), _solved(b, factors, A.T)
    b.output("x", x)
    b.output("X", X)
    _border(b, A, X, b.let(x + pd), Matrix(tree.rows, 1, [0] * tree.rows))


@stored
def velocity(tree: Tree) -> Program:
    """The rate stage from its momentum where friction is linear."""
    b = _begun("constrained_step_velocity", "Rate stage when friction is linear.", tree, "M", "h", "momentum", "A")
    _rates(b, tree, list(b.input("viscous", tree.n)), b.inputs["momentum"], Matrix([0] * tree.freedoms))
    return b


@stored
def rate(tree: Tree) -> Program:
    """A Newton iteration of the rate stage at ṗ, from the gradient there."""
    b = _begun("constrained_step_rate", "Newton iteration of the rate stage.", tree, "M", "h", "pd", "gradient", "A")
    pd = b.inputs["pd"]
    slopes = friction_inputs(b, tree, b.inputs["h"][0, 0]).slopes(b, gears.rates(b, tree, pd))
    _rates(b, tree, slopes, b.let(-b.inputs["gradient"]), pd)
    return b


@stored
def node(tree: Tree) -> Program:
    """`link_step.node`, with A at the middle pose."""
    b = _begun("constrained_step_node", "Torque of the tree at a node.", tree, "p_prev", "p", "p_next", "h")
    found = _within(b, link_step.node(tree))
    for name in ("u", "momentum", "M"):
        b.output(name, found[name])
    b.output("A", _rows(b, tree)["A"])
    return b


@stored
def systems(tree: Tree) -> Program:
    """Both systems of the derivatives at a step and its end, solved as far as they are the tree's.

    `inverse` = D⁻¹, `X` = D⁻¹ A₀ᵀ, `W` = A₁ D⁻¹, `S` = A₁ X and `wF` = W hF − g, so that Λ = S⁻¹ wF; of the rate stage
    `response` = (h M₁)⁻¹, `Y` = response A₁ᵀ, `T` = A₁ Y and `wG` = Yᵀ hG, so that Η = T⁻¹ wG; and the blocks D, K₀, M₀, K₁ of
    `link_jacobian`, of the tree alone.
    """
    b = Program("constrained_step_systems", "Systems of the derivatives of a step with closed loops.")
    h, s = link_jacobian.declare_blocks(b, tree)
    residuals = _within(b, link_step.residuals(tree))
    A0 = _rows(b, tree)["A"]
    rows = _rows(b, tree, p=b.inputs["p_next"])
    A1, one = rows["A"], Matrix.eye(tree.freedoms)
    inverse = elimination.solve(b, elimination.factors(b, s.D), one)
    M1 = elimination.factors(b, s.M1, symmetric=True)
    response = b.let(b.let(1 / h) * elimination.solve(b, M1, one, symmetric_result=True))
    X, W, Y = b.let(inverse * A0.T), b.let(A1 * inverse), b.let(response * A1.T)
    for name, value in (
        ("inverse", inverse), ("X", X), ("W", W), ("S", A1 * X), ("wF", W * residuals["F"] - rows["g"]),
        ("response", response), ("Y", Y), ("T", A1 * Y), ("wG", Y.T * residuals["G"]),
        ("D", s.D), ("K0", s.K0), ("M0", s.M0), ("K1", s.K1),
    ):  # fmt: skip
        b.output(name, b.let(value))
    return b


@stored
def pose(tree: Tree) -> Program:
    """h F, D = ∂hF/∂p₁ and the loops' rows g, A at an iterate."""
    b = Program("constrained_step_pose", "Pose stage at an iterate: residual and Jacobian.")
    p1, step, F = link_step.iteration(b, tree, "iterate")
    rows = _rows(b, tree, p=p1)
    for name, value in (("F", Matrix(list(F))), ("D", step.matrix(b, tree)), ("g", rows["g"]), ("A", rows["A"])):
        b.output(name, b.let(value))
    return b


@stored
def residual(tree: Tree) -> Program:
    """h F, g and A at an iterate."""
    b = Program("constrained_step_residual", "Pose stage at an iterate: residual.")
    p1, _, F = link_step.iteration(b, tree, "iterate")
    rows = _rows(b, tree, p=p1)
    for name, value in (("F", Matrix(list(F))), ("g", rows["g"]), ("A", rows["A"])):
        b.output(name, b.let(value))
    return b


@stored
def landing(tree: Tree) -> Program:
    """The same at the last iterate, with momentum before friction and inertia `M` there. What is left of h F is taken off the
    momentum, which so belongs to the pose that corrects it."""
    b = Program("constrained_step_landing", "Residual, momentum and inertia at the end of a step.")
    p1, step, F = link_step.iteration(b, tree, "p_next")
    u, h = b.input("u", tree.freedoms), b.scalar("h")
    momentum, M, _ = step.ended(b, tree, F, u, h)
    rows, stored_up = _rows(b, tree, p=p1), link_energies.potentials(b, tree, step.numbers, step.at1, step.first1)
    for name, value in (
        ("F", Matrix(list(F))), ("momentum", Matrix(list(momentum))), ("M", M), ("g", rows["g"]), ("A", rows["A"]),
        ("potentials", Matrix(stored_up)),
    ):  # fmt: skip
        b.output(name, b.let(value))
    return b


@stored
def rate_system(tree: Tree) -> Program:
    """M ṗ − momentum − h τ_friction(ṗ) and its Jacobian by ṗ."""
    b = _begun(
        "constrained_step_rates", "Rate stage at an iterate: residual and Jacobian.", tree, "M", "momentum", "h", "pd"
    )
    M, momentum, h, pd = (b.inputs[k] for k in ("M", "momentum", "h", "pd"))
    friction, rate = friction_inputs(b, tree, h[0, 0]), gears.rates(b, tree, pd)
    torque = gears.torques(b, tree, friction.torques(b, rate))
    slopes = gears.diagonal(b, tree, [h[0, 0] * slope for slope in friction.slopes(b, rate)])
    held = b.let(M * pd)
    b.output("gradient", b.each(tree.freedoms, lambda i: held[i] - momentum[i] - h[0, 0] * torque[i]))
    b.output("slope", b.let(Matrix(tree.freedoms, tree.freedoms, lambda i, j: M[i, j] + (slopes[i] if i == j else 0))))
    return b


@stored
def blocks(tree: Tree) -> Program:
    """D, K₀, M₀, K₁, M₁ and (where friction knows the start) the lag of `link_jacobian`, and A at both ends."""
    b = Program("constrained_step_blocks", "Blocks of the derivatives of both stages.")
    _, s = link_jacobian.declare_blocks(b, tree)
    parts = {"D": s.D, "K0": s.K0, "M0": s.M0, "K1": s.K1, "M1": s.M1} | ({} if s.lag is None else {"lag": s.lag})
    parts |= {"A0": _rows(b, tree)["A"], "A1": _rows(b, tree, p=b.inputs["p_next"])["A"]}
    for name, value in parts.items():
        b.output(name, b.let(value))
    return b

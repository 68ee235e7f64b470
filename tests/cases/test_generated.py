"""The collected cases through the generator: numbers of the functions, not of the description alone."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.programs import Programs
from support.robots import alpha_of, call, generated, graphs, model

from diffpbd.codegen.description.front.resolve import find_recipe, read_robot
from diffpbd.codegen.generate import generate
from diffpbd.codegen.graph.functions.functions import Graphs
from diffpbd.codegen.graph.functions.maximal import values as maximal_values
from diffpbd.codegen.graph.loops.build import build
from diffpbd.codegen.graph.model.model import Model
from diffpbd.runtime import Robot, load
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.functions.parameters import ParameterVector

TOLERANCE = 1e-9
"""The references are printed with 12 digits."""


@pytest.fixture(scope="session")
def cases(shared: Path) -> Path:
    return shared / "cases"


def expected(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def functions_of(urdf: Path, **options: Any) -> tuple[Model, dict[str, ca.Function]]:
    """Model and plain functions of a description with a tip or other options."""
    recipe = find_recipe(str(urdf), base=options.pop("base", None), tip=options.pop("tip", None))
    described = read_robot(recipe)
    m = build(described, recipe)
    found = {}
    for name, inputs, outputs in Graphs(m).values():
        values = [ca.densify(ca.SX(v)) for v in outputs.values()]
        found[name] = ca.Function(name, [v for _, v in inputs], values, [k for k, _ in inputs], list(outputs))
    return m, found


def compare(m: Model, f: dict[str, ca.Function], numbers: Any, alpha: np.ndarray | None = None) -> None:
    """Joint order, and at every state torque, gravity, mass matrix and tip."""
    assert [j.name for j in m.robot.joints] == numbers["joint_order"]
    alpha = ParameterVector(m.entries).defaults if alpha is None else alpha
    for state in numbers["states"]:
        q, dq, ddq = (np.array(state[k]) for k in ("q", "dq", "ddq"))
        for found, key in (
            (call(f["inverse_dynamics"], q, dq, ddq, alpha), "tau_id"),
            (call(f["gravity"], q, alpha), "tau_gravity"),
            (call(f["mass_matrix"], q, alpha), "M"),
        ):
            np.testing.assert_allclose(found, state[key], rtol=0, atol=TOLERANCE, err_msg=key)
        if "tip" in state:
            position, rotation = call(f["tip_pose"], q, alpha)
            np.testing.assert_allclose(position, state["tip"]["p"], rtol=0, atol=TOLERANCE)
            np.testing.assert_allclose(rotation, state["tip"]["R"], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(
    ("case", "file", "key"),
    [
        ("P07-non-unit-axis", "axes.urdf", ""),
        ("P08-zero-axis", "zero_on_fixed.urdf", "zero_on_fixed.urdf"),
        ("P09-continuous-joints", "conti.urdf", ""),
        ("P23-file-order", "shuffled.urdf", ""),
        ("P24-dynamics-tag", "damped.urdf", ""),
        ("P25-tilted-base", "tilted.urdf", ""),
        ("P26-odd-numbers", "newline_tab_exponent.urdf", "newline_tab_exponent.urdf"),
        ("P29-rpy-convention", "gimbal.urdf", ""),
    ],
)
def test_numbers(cases: Path, case: str, file: str, key: str) -> None:
    numbers = expected(cases / case)
    compare(*functions_of(cases / case / file), numbers[key] if key else numbers)


@pytest.mark.parametrize(
    ("case", "file", "words"),
    [
        ("P08-zero-axis", "zero_on_revolute.urdf", ("j1", "axis")),
        ("P26-odd-numbers", "axis_100.urdf", ("j1", "axis")),
        ("P26-odd-numbers", "nan_mass.urdf", ("b", "mass")),
    ],
)
def test_refused_before_anything_is_written(
    cases: Path, tmp_path: Path, case: str, file: str, words: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as caught:
        generate(str(cases / case / file), out=tmp_path / "out" / "robot")
    assert all(word in str(caught.value) for word in words)
    assert list(tmp_path.iterdir()) == []


def test_turns_beyond_one_are_valid(cases: Path) -> None:
    """P09: one angle a continuous joint; torque at q and at q + 2π agree."""
    m, f = functions_of(cases / "P09-continuous-joints" / "conti.urdf")
    alpha = ParameterVector(m.entries).defaults
    rng = np.random.default_rng(1)
    q, dq, ddq = rng.uniform(-1.0, 1.0, (3, 3))
    turned = q + 2.0 * np.pi * np.array([1.0, 0.0, -2.0])
    np.testing.assert_allclose(
        call(f["inverse_dynamics"], q, dq, ddq, alpha),
        call(f["inverse_dynamics"], turned, dq, ddq, alpha),
        atol=1e-9,
    )


def test_one_of_two_arms(cases: Path) -> None:
    """P14: the left arm alone, base to tip; both arms in file order, each as if it were alone."""
    numbers = expected(cases / "P14-two-arms")
    urdf = cases / "P14-two-arms" / "twins.urdf"
    left, f = functions_of(urdf, tip="left_fore")
    compare(left, f, numbers)
    both, g = functions_of(urdf)
    names = [j.name for j in both.robot.joints]
    at = [names.index(n) for n in numbers["joint_order"]]
    alpha = ParameterVector(both.entries).defaults
    for state in numbers["states"]:
        q, dq, ddq = np.full((3, len(names)), 0.3)
        q[at], dq[at], ddq[at] = state["q"], state["dq"], state["ddq"]
        torque = call(g["inverse_dynamics"], q, dq, ddq, alpha)
        np.testing.assert_allclose(torque[at], state["tau_id"], rtol=0, atol=TOLERANCE)


def test_damping_only_where_asked(cases: Path) -> None:
    """P24: both sets of numbers are reachable, by the option and by alpha; the manifest says which it is."""
    import dataclasses

    urdf = cases / "P24-dynamics-tag" / "damped.urdf"
    numbers = expected(cases / "P24-dynamics-tag")
    m, f = functions_of(urdf)
    layout = ParameterVector(m.entries)
    assert not layout.defaults[list(layout.indices("friction.viscous"))].any()
    viscous = layout.vector({f"friction.viscous.{j.name}": j.damping for j in m.robot.joints})
    asked = build(m.robot, dataclasses.replace(m.recipe, friction="urdf"))
    defaults = ParameterVector(asked.entries).defaults
    at = list(layout.indices("friction.viscous"))
    np.testing.assert_array_equal(defaults[at], viscous[at])
    assert defaults[list(layout.indices("friction.coulomb"))].any()
    for state in numbers["states"]:
        arrays = [np.array(state[k]) for k in ("q", "dq", "ddq")]
        found = call(f["inverse_dynamics"], *arrays, viscous)
        np.testing.assert_allclose(found, state["tau_id_with_viscous"], rtol=0, atol=TOLERANCE)


def test_gravity_turned_is_the_bolt_turned(cases: Path) -> None:
    """P25: gravity is a parameter in the root link's frame; turning it equals turning the fixed joint."""
    m, f = functions_of(cases / "P25-tilted-base" / "tilted.urdf")
    layout = ParameterVector(m.entries)
    rng = np.random.default_rng(2)
    q = rng.uniform(-1.0, 1.0, m.robot.n)
    direction = np.array([0.3, -0.5, -0.7])
    alpha = layout.vector(dict(zip([f"gravity.{a}" for a in "xyz"], direction, strict=True)))
    units = [layout.vector(dict(zip([f"gravity.{a}" for a in "xyz"], e, strict=True))) for e in np.eye(3)]
    parts = [call(f["gravity"], q, unit) for unit in units]
    np.testing.assert_allclose(call(f["gravity"], q, alpha), direction @ np.array(parts), atol=1e-12)
    potential = call(f["energy"], q, 0.0 * q, alpha)[1]
    assert potential == pytest.approx(direction @ [call(f["energy"], q, 0.0 * q, unit)[1] for unit in units], abs=1e-12)


def test_missing_limits_are_unbounded(cases: Path) -> None:
    """P27 and P09: no bound in the manifest where there is none."""
    m, _ = functions_of(cases / "P27-missing-limit" / "nolimit.urdf")
    assert (m.robot.joints[1].lower, m.robot.joints[1].upper) == (None, None)


def test_orientation_errors_at_the_edge_points(cases: Path) -> None:
    """P30 in `constraints` and `joint_state`: value, first and second derivatives finite; ±q give the same."""
    points = json.loads((cases / "P30-rotation-edge-points" / "points.json").read_text())["points"]
    m = model("prismatic_skew")
    n = m.robot.n
    alpha = alpha_of("prismatic_skew").defaults
    functions = {}
    for name, inputs, outputs in maximal_values(m):
        if name == "fk":
            continue
        xi = dict(inputs)["xi"]
        flat = ca.vertcat(*[ca.SX(v) for v in outputs.values()])
        first = ca.jacobian(flat, xi)
        second = ca.jacobian(ca.densify(first), xi)
        squared = ca.gradient(ca.sumsqr(flat), xi)
        functions[name] = ca.Function(
            name,
            [v for _, v in inputs],
            [flat, first, second, squared],
            [k for k, _ in inputs],
            ["f", "J", "H", "g"],
        )
    rng = np.random.default_rng(3)
    for point in points:
        x, y, z, w = point["quaternion_xyzw"]
        xi = rng.uniform(-1.0, 1.0, (n, 13))
        xi[:, 6:10] = [w, x, y, z]
        flipped = xi.copy()
        flipped[::2, 6:10] *= -1.0
        for name, f in functions.items():
            rest = [alpha] if name == "constraints" else [alpha, np.zeros(n)]
            one, two = (f(state.ravel(), *rest) for state in (xi, flipped))
            for value in one:
                assert np.isfinite(np.array(ca.DM(value))).all(), (name, point["name"])
            np.testing.assert_allclose(np.array(one[0]), np.array(two[0]), rtol=0, atol=1e-12)
    at_rest = call(graphs("prismatic_skew")["tip_pose"], np.zeros(n), alpha)[1]
    assert np.isfinite(at_rest).all()


@pytest.fixture(scope="module")
def rest3(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Robot:
    """P33's arm with every inertial parameter symbolic."""
    folder = tmp_path_factory.mktemp("rest3")
    (folder / "rest3.urdf").write_bytes((cases / "P33-derivatives-at-rest" / "rest3.urdf").read_bytes())
    (folder / "rest3.toml").write_text('name = "rest3"\nurdf = "rest3.urdf"\nsymbolic = ["mass", "com", "inertia"]\n')
    functions = ("jac_forward_dynamics", "jac_alpha_joint_step", "vjp_step")
    return load(generated(str(folder / "rest3.toml"), functions=functions))


def test_derivatives_at_rest(cases: Path, rest3: Robot) -> None:
    numbers = expected(cases / "P33-derivatives-at-rest")
    h = numbers["h"]
    for state in numbers["states"]:
        q, dq, tau = (np.array(state[k]) for k in ("q", "dq", "tau"))
        np.testing.assert_allclose(rest3.forward_dynamics(q, dq, tau), state["ddq"], rtol=0, atol=1e-9)
        forward = rest3.jac_forward_dynamics(q, dq, tau)
        for found, key in (
            (forward.dpdd_du, "dddq_dtau"),
            (forward.dpdd_dp, "dddq_dq"),
            (forward.dpdd_dpd, "dddq_ddq"),
        ):
            np.testing.assert_allclose(found, state[key], rtol=0, atol=1e-8)
        jac = rest3.jac_joint_step(q, dq, tau, h)
        alpha = rest3.jac_alpha_joint_step(q, dq, tau, h)
        assert all(np.isfinite(block).all() for block in (*jac, *alpha))
        by_torque = h * np.array(state["dddq_dtau"])
        assert np.abs(jac.dpd_next_du - by_torque).max() <= 0.05 * np.abs(by_torque).max()
        assert np.abs(jac.dpd_next_dpd - np.eye(3)).max() <= 0.02


def test_reverse_of_the_maximal_step_at_rest(cases: Path, rest3: Robot) -> None:
    """P33 in maximal coordinates: satisfied constraints, zero velocity."""
    for state in expected(cases / "P33-derivatives-at-rest")["states"]:
        q, dq, tau = (np.array(state[k]) for k in ("q", "dq", "tau"))
        xi = rest3.fk(q, dq)
        bars = rest3.vjp_step(xi, tau, 1e-3, xi_next_bar=np.ones(xi.shape))
        assert all(np.isfinite(bar).all() for bar in bars)


@pytest.fixture(scope="module")
def scara(cases: Path, tmp_path_factory: pytest.TempPathFactory) -> Robot:
    folder = tmp_path_factory.mktemp("scara")
    (folder / "scara.urdf").write_bytes((cases / "P37-structural-zeros" / "scara.urdf").read_bytes())
    (folder / "scara.toml").write_text('name = "scara"\nurdf = "scara.urdf"\n')
    return load(generated(str(folder / "scara.toml"), functions=("gravity",)))


@pytest.mark.parametrize(
    ("function", "key"),
    [("mass_matrix", "M_dense_column_major"), ("tip_jacobian", "J_linear_then_angular_dense_column_major")],
)
def test_structural_zeros_in_a_dirty_buffer(cases: Path, scara: Robot, function: str, key: str) -> None:
    """P37: what a C caller sees in a buffer that held 777."""
    numbers = expected(cases / "P37-structural-zeros")
    facts = scara.functions[function].facts
    buffer = np.full(facts.outputs[0].size(), 777.0)
    inputs = [np.array(numbers["q"]), scara.alpha.defaults]
    work = np.full(facts.work_size or 1, 777.0)
    library = ctypes.CDLL(str(scara.folder / scara.manifest.library))
    given = (ctypes.c_void_p * 2)(*[x.ctypes.data for x in inputs])
    out = (ctypes.c_void_p * 1)(buffer.ctypes.data)
    assert getattr(library, facts.symbol)(given, out, ctypes.c_void_p(work.ctypes.data)) == 0
    np.testing.assert_allclose(buffer, numbers[key], rtol=0, atol=TOLERANCE)
    rows = np.array(scara.functions[function](numbers["q"]))
    np.testing.assert_array_equal(rows.ravel(order="F"), buffer)


def test_parameter_vector(cases: Path) -> None:
    """P38: m, m c, inertia about the joint frame's origin, after merging; the order is in the manifest's words."""
    numbers = expected(cases / "P38-parameter-vector")
    m, f = functions_of(cases / "P38-parameter-vector" / "one.urdf")
    alpha = ParameterVector(m.entries).defaults
    body = Programs(m).blocks(alpha)["body"].ravel()
    ours = ["m", "m*cx", "m*cy", "m*cz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"]
    theta = np.array([numbers["vector"][numbers["order"].index(k)] for k in ours])
    np.testing.assert_allclose(body, theta, rtol=0, atol=1e-12)
    q, dq, ddq = np.array([[0.4], [0.7], [-1.1]])
    Y = np.array(f["regressor"](q, dq, ddq, alpha))
    assert (Y @ theta).item() == pytest.approx(call(f["inverse_dynamics"], q, dq, ddq, alpha), abs=1e-10)


def test_payload(cases: Path) -> None:
    """P50: a run-time parameter on a massless tool frame; gone without a trace when it is set to zero again."""
    folder = cases / "P50-payload"
    numbers, payload = expected(folder), json.loads((folder / "payload.json").read_text())
    m, f = functions_of(folder / "payarm.urdf", tip=payload["frame"])
    layout = ParameterVector(m.entries)
    values = {"payload.mass": payload["mass"]}
    values |= dict(zip([f"payload.com.{a}" for a in "xyz"], payload["com"], strict=True))
    moments = ("xx", "xy", "xz", "yy", "yz", "zz")
    values |= dict(zip([f"payload.inertia.{k}" for k in moments], payload["inertia_about_com"], strict=True))
    for _ in range(2):
        order = {"joint_order": numbers["joint_order"]}
        compare(m, f, {**order, "states": numbers["without"]})
        compare(m, f, {**order, "states": numbers["with_payload"]}, layout.vector(values))

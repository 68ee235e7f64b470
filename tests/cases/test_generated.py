"""The collected cases through the generator: numbers of the functions, not of the description alone."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from support.described import Described
from support.programs import Programs
from support.robots import alpha_of, call, generated, graphs, model

from diffpbd.codegen.description.check.validate import check
from diffpbd.codegen.description.report import DescriptionError
from diffpbd.codegen.generate import generate
from diffpbd.codegen.graph.functions.maximal import values as maximal_values
from diffpbd.runtime import Robot, load

TOLERANCE = 1e-9
"""The references are printed with 12 digits."""


@pytest.fixture(scope="session")
def cases(shared: Path) -> Path:
    return shared / "cases"


def expected(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def compare(d: Described, numbers: Any, alpha: Any = None) -> None:
    """Joint order and mass, and at every state torque, gravity, mass matrix and tip."""
    assert [j.name for j in d.robot.joints] == numbers["joint_order"]
    if "moving_mass" in numbers:
        assert d.robot.total_mass == pytest.approx(numbers["moving_mass"], abs=TOLERANCE)
    for state in numbers["states"]:
        q, dq, ddq = (state[k] for k in ("q", "dq", "ddq"))
        for found, key in (
            (d("inverse_dynamics", q, dq, ddq, alpha=alpha), "tau_id"),
            (d("gravity", q, alpha=alpha), "tau_gravity"),
            (d("mass_matrix", q, alpha=alpha), "M"),
        ):
            np.testing.assert_allclose(found, np.squeeze(state[key]), rtol=0, atol=TOLERANCE, err_msg=key)
        if "tip" in state:
            assert d.robot.tips[0].name == state["tip"]["link"]
            position, rotation = map(np.array, d.functions["tip_pose"](q, d.alpha.defaults))
            np.testing.assert_allclose(position[:, 0], state["tip"]["p"], rtol=0, atol=TOLERANCE)
            np.testing.assert_allclose(rotation, state["tip"]["R"], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize(
    "file",
    [
        "P01-fixed-tail-mass/tailmass.urdf", "P03-inertial-without-origin/noorigin.urdf",
        "P04-fixed-joint-without-origin/nofixorigin.urdf", "P05-massless-moving-leaf/leaf.urdf", "P07-non-unit-axis/axes.urdf",
        "P08-zero-axis/zero_on_fixed.urdf", "P09-continuous-joints/conti.urdf",
        "P10-zero-and-inverted-limits/zerolimits.urdf", "P15-duplicate-names/joint_named_like_link.urdf",
        "P19-missing-meshes/meshy.urdf", "P23-file-order/shuffled.urdf", "P24-dynamics-tag/damped.urdf",
        "P25-tilted-base/tilted.urdf", "P26-odd-numbers/newline_tab_exponent.urdf", "P29-rpy-convention/gimbal.urdf",
    ],
)  # fmt: skip
def test_a_file_has_the_numbers_that_are_expected_of_it(cases: Path, file: str) -> None:
    numbers = expected((cases / file).parent)
    compare(Described.of(cases / file), numbers.get(Path(file).name, numbers))


@pytest.mark.parametrize(
    "file",
    [
        "P08-zero-axis/zero_on_revolute.urdf", "P15-duplicate-names/two_joints_one_name.urdf",
        "P16-two-roots-and-loop/two_roots.urdf", "P17-xacro-leftover/xacroleft.urdf", "P18-decimal-comma/comma.urdf",
        "P21-negative-inertia-and-mass/negative.urdf", "P26-odd-numbers/axis_100.urdf", "P26-odd-numbers/nan_mass.urdf",
    ],
)  # fmt: skip
def test_refused_with_every_name_before_anything_is_written(cases: Path, tmp_path: Path, file: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        generate(str(cases / file), out=tmp_path / "out" / "robot")
    assert check(cases / file).faults == caught.value.report.faults
    numbers = expected((cases / file).parent)
    names = numbers.get(Path(file).name, numbers)["message_names"]
    assert [name for name in names if name not in str(caught.value)] == []
    assert list(tmp_path.iterdir()) == []


def test_turns_beyond_one_are_valid(cases: Path) -> None:
    """P09: one angle a continuous joint; torque at q and at q + 2π agree."""
    d = Described.of(cases / "P09-continuous-joints" / "conti.urdf")
    rng = np.random.default_rng(1)
    q, dq, ddq = rng.uniform(-1.0, 1.0, (3, 3))
    turned = q + 2.0 * np.pi * np.array([1.0, 0.0, -2.0])
    found = [d("inverse_dynamics", angles, dq, ddq) for angles in (q, turned)]
    np.testing.assert_allclose(*found, atol=1e-9)


def test_one_of_two_arms(cases: Path) -> None:
    """P14: the left arm alone, base to tip; both arms in file order, each as if it were alone."""
    numbers = expected(cases / "P14-two-arms")
    urdf = cases / "P14-two-arms" / "twins.urdf"
    compare(Described.of(urdf, tip="left_fore"), numbers)
    both = Described.of(urdf)
    names = [j.name for j in both.robot.joints]
    at = [names.index(n) for n in numbers["joint_order"]]
    for state in numbers["states"]:
        q, dq, ddq = np.full((3, len(names)), 0.3)
        q[at], dq[at], ddq[at] = state["q"], state["dq"], state["ddq"]
        torque = both("inverse_dynamics", q, dq, ddq)
        np.testing.assert_allclose(torque[at], state["tau_id"], rtol=0, atol=TOLERANCE)


def test_friction_of_the_file_only_where_asked(cases: Path) -> None:
    """P24: both sets of numbers are reachable, by the option and by alpha, bit for bit."""
    urdf, numbers = cases / "P24-dynamics-tag" / "damped.urdf", expected(cases / "P24-dynamics-tag")
    plain, asked = Described.of(urdf), Described.of(urdf, friction="urdf")
    joints = asked.robot.joints
    viscous = {f"friction.viscous.{joint.name}": joint.damping for joint in joints}
    coulomb = {f"friction.coulomb.{joint.name}": joint.friction for joint in joints}
    np.testing.assert_array_equal(asked.alpha.defaults, plain.alpha.vector(viscous | coulomb))
    for state in numbers["states"]:  # the reference has viscous friction alone
        given = [state[k] for k in ("q", "dq", "ddq")]
        found, both = (plain("inverse_dynamics", *given, alpha=a) for a in (viscous, viscous | coulomb))
        np.testing.assert_allclose(found, state["tau_id_with_viscous"], rtol=0, atol=TOLERANCE)
        sliding = [joint.friction for joint in joints] * np.tanh(np.array(state["dq"]) / 0.01)
        np.testing.assert_allclose(both - found, sliding, rtol=0, atol=1e-12)


def test_rotors_add_to_the_diagonal(cases: Path) -> None:
    d = Described.of(cases / "P24-dynamics-tag" / "damped.urdf")
    rotors = {"rotor_inertia.j1": 0.3, "rotor_inertia.j2": 0.05}
    q, dq, ddq = [0.4, -0.9], [0.3, 0.2], [1.1, -0.7]
    torque = d("inverse_dynamics", q, dq, ddq, alpha=rotors)
    np.testing.assert_allclose(torque - d("inverse_dynamics", q, dq, ddq), [0.33, -0.035], rtol=0, atol=1e-13)
    added = d("mass_matrix", q, alpha=rotors) - d("mass_matrix", q)
    np.testing.assert_allclose(added, np.diag([0.3, 0.05]), rtol=0, atol=1e-15)
    np.testing.assert_allclose(d("forward_dynamics", q, dq, torque, alpha=rotors), ddq, rtol=0, atol=1e-12)
    kinetic, bare = (float(d.functions["energy"](q, dq, d.alpha.vector(alpha))[0]) for alpha in (rotors, {}))
    assert kinetic - bare == pytest.approx(0.5 * (0.3 * 0.09 + 0.05 * 0.04), abs=1e-14)


def test_torque_is_linear_in_gravity(cases: Path) -> None:
    """P25: gravity is a parameter in the root link's frame."""
    d = Described.of(cases / "P25-tilted-base" / "tilted.urdf")
    q, direction = np.random.default_rng(2).uniform(-1.0, 1.0, d.robot.n), np.array([0.3, -0.5, -0.7])
    alphas = [
        d.alpha.vector(dict(zip([f"gravity.{a}" for a in "xyz"], g, strict=True))) for g in (direction, *np.eye(3))
    ]
    torque, *parts = (d("gravity", q, alpha=alpha) for alpha in alphas)
    np.testing.assert_allclose(torque, direction @ np.array(parts), atol=1e-12)
    potential, *parts = (float(d.functions["energy"](q, 0.0 * q, alpha)[1]) for alpha in alphas)
    assert potential == pytest.approx(direction @ parts, abs=1e-12)


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
            name, [v for _, v in inputs], [flat, first, second, squared], [k for k, _ in inputs], ["f", "J", "H", "g"]
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
    ("function", "key", "nonzeros"),
    [
        ("mass_matrix", "M_dense_column_major", "M_nonzeros"),
        ("tip_jacobian", "J_linear_then_angular_dense_column_major", "J_nonzeros"),
    ],
)
def test_structural_zeros_in_a_dirty_buffer(cases: Path, scara: Robot, function: str, key: str, nonzeros: str) -> None:
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
    assert np.count_nonzero(buffer) == numbers[nonzeros]
    rows = np.array(scara.functions[function](numbers["q"]))
    np.testing.assert_array_equal(rows.ravel(order="F"), buffer)


def test_parameter_vector(cases: Path) -> None:
    """P38: m, m c, inertia about the joint frame's origin, after merging; the order is in the manifest's words."""
    numbers = expected(cases / "P38-parameter-vector")
    d = Described.of(cases / "P38-parameter-vector" / "one.urdf")
    body = Programs(d.model).blocks(d.alpha.defaults)["body"].ravel()
    ours = ["m", "m*cx", "m*cy", "m*cz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"]
    theta = np.array([numbers["vector"][numbers["order"].index(k)] for k in ours])
    np.testing.assert_allclose(body, theta, rtol=0, atol=1e-12)
    state = [0.4], [0.7], [-1.1]
    assert d("regressor", *state) @ theta == pytest.approx(d("inverse_dynamics", *state), abs=1e-10)


def test_a_payload_without_mass_changes_no_bit(cases: Path) -> None:
    """P50: a run-time parameter on a massless tool frame; gone to the bit when it has no mass, wherever it sits."""
    folder = cases / "P50-payload"
    numbers, payload = expected(folder), json.loads((folder / "payload.json").read_text())
    d = Described.of(folder / "payarm.urdf", tip=payload["frame"])
    values = {"payload.mass": payload["mass"]}
    values |= dict(zip([f"payload.com.{a}" for a in "xyz"], payload["com"], strict=True))
    moments = ("xx", "xy", "xz", "yy", "yz", "zz")
    values |= dict(zip([f"payload.inertia.{k}" for k in moments], payload["inertia_about_com"], strict=True))
    order = {"joint_order": numbers["joint_order"]}
    compare(d, {**order, "states": numbers["without"]})
    compare(d, {**order, "states": numbers["with_payload"]}, values)
    state = ([0.3, -0.8], [0.4, 0.2], [1.0, -2.0])
    there = {"payload.com.x": 0.4, "payload.com.z": -0.1}
    np.testing.assert_array_equal(d("inverse_dynamics", *state, alpha=there), d("inverse_dynamics", *state))

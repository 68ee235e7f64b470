"""The linear parameter vector, its way back, and the printed order."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pinocchio
import pytest

from diffpbd.codegen.description.front.export import urdf_text
from diffpbd.codegen.description.front.urdf import read_urdf
from diffpbd.runtime.base.errors import InputError
from diffpbd.runtime.model.inertia import (
    LINEAR_NAMES,
    LINEAR_UNITS,
    PINOCCHIO_ORDER,
    inertial_from_linear,
    linear_from_inertial,
    linear_from_log_cholesky,
    linear_from_pseudo_inertia,
    log_cholesky_from_linear,
    pseudo_inertia_from_linear,
    reordered,
)

BAR = 1e-11
"""The reference numbers are printed to 12 digits."""


def bodies(rows: int = 50) -> np.ndarray:
    return linear_from_log_cholesky(np.random.default_rng(8).normal(0.0, 0.7, (rows, 10)))


def test_the_reference_vector_and_back(shared: Path) -> None:
    folder = shared / "cases" / "P38-parameter-vector"
    numbers = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    body = read_urdf(folder / "one.urdf").links[0].inertial
    vector = linear_from_inertial(body.mass, body.com, body.inertia)
    # Its names differ only by a product sign.
    order = [name.replace("*", "") for name in numbers["order"]]
    np.testing.assert_allclose(reordered(vector, order), numbers["vector"], rtol=0, atol=BAR)
    assert tuple(order) == PINOCCHIO_ORDER
    given = reordered(numbers["vector"], LINEAR_NAMES, given=order)
    mass, com, inertia = inertial_from_linear(given)
    back = numbers["back_to_urdf"]
    assert mass == back["mass"]
    np.testing.assert_allclose(com, back["com"], rtol=0, atol=BAR)
    np.testing.assert_allclose(inertia, back["inertia_about_com"], rtol=0, atol=BAR)


def test_a_urdf_of_it_gives_the_vector_again(shared: Path) -> None:
    robot = read_urdf(shared / "cases" / "P38-parameter-vector" / "one.urdf")
    again = read_urdf(urdf_text(robot).encode())
    for one, other in zip(robot.links, again.links, strict=True):
        vectors = [linear_from_inertial(k.inertial.mass, k.inertial.com, k.inertial.inertia) for k in (one, other)]
        np.testing.assert_allclose(vectors[1], vectors[0], rtol=0, atol=1e-12)


def test_the_peer_has_the_same_vector_in_its_order() -> None:
    for vector in bodies(20):
        mass, com, inertia = inertial_from_linear(vector)
        peer = pinocchio.Inertia(float(mass), com, inertia).toDynamicParameters()
        np.testing.assert_allclose(reordered(vector, PINOCCHIO_ORDER), peer, rtol=1e-12, atol=1e-14)


def test_every_map_has_its_way_back() -> None:
    vectors = bodies()
    np.testing.assert_allclose(linear_from_inertial(*inertial_from_linear(vectors)), vectors, rtol=1e-12, atol=1e-14)
    sigma = pseudo_inertia_from_linear(vectors)
    assert np.all(np.linalg.eigvalsh(sigma) > 0.0)
    np.testing.assert_allclose(linear_from_pseudo_inertia(sigma), vectors, rtol=1e-13, atol=1e-15)
    free = log_cholesky_from_linear(vectors)
    np.testing.assert_allclose(linear_from_log_cholesky(free), vectors, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(free, np.random.default_rng(8).normal(0.0, 0.7, (50, 10)), rtol=0, atol=1e-9)
    np.testing.assert_allclose(log_cholesky_from_linear(vectors[3]), free[3], rtol=0, atol=1e-12)


def test_log_cholesky_is_the_peers() -> None:
    free = np.random.default_rng(8).normal(0.0, 0.7, 10)
    peer = pinocchio.LogCholeskyParameters(free).toDynamicParameters()
    np.testing.assert_allclose(reordered(linear_from_log_cholesky(free), PINOCCHIO_ORDER), peer, rtol=1e-12)


def test_impossible_bodies_are_refused() -> None:
    with pytest.raises(InputError, match="no centre of mass"):
        inertial_from_linear([0.0, 1.0, *([0.0] * 8)])
    mass, com, inertia = inertial_from_linear(np.zeros(10))
    assert (mass, com.tolist(), inertia.any()) == (0.0, [0.0, 0.0, 0.0], False)
    flat = linear_from_inertial(1.0, [0.0, 0.0, 0.0], np.diag([0.1, 0.1, 0.3]))
    with pytest.raises(InputError, match="smallest eigenvalue is -0.05"):
        log_cholesky_from_linear(flat)
    with pytest.raises(InputError, match=r"expected shape \(..., 10\), found \(9,\)"):
        inertial_from_linear(np.zeros(9))
    with pytest.raises(InputError, match="each of m, mcx"):
        reordered(np.zeros(10), ["m"] * 10)


def test_units_go_with_names() -> None:
    assert dict(zip(LINEAR_NAMES, LINEAR_UNITS, strict=True))["mcy"] == "kg·m"
    assert len(LINEAR_UNITS) == len(LINEAR_NAMES) == 10

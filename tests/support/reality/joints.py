"""`joints.c`, compiled once into the test cache, and its struct."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from support.compiled import shared_library

SOURCE = Path(__file__).with_name("joints.c")
MOST = 16
VECTORS = (
    "rotor", "coulomb", "breakaway", "stribeck", "viscous", "stiffness", "loss", "q", "dq", "theta", "dtheta", "torque",
    "force",
)  # fmt: skip


class Struct(ctypes.Structure):
    _fields_ = [
        ("n", ctypes.c_int), ("elastic", ctypes.c_int), *((name, ctypes.c_double * MOST) for name in VECTORS),
        ("mass", ctypes.c_double * MOST**2), *((name, ctypes.c_double * MOST) for name in ("lower", "upper", "rubbed")),
    ]  # fmt: skip


class Joints:
    """Motors and gears of n joints; every vector of the struct is an attribute, an array (n,) on its memory."""

    rotor: np.ndarray
    coulomb: np.ndarray
    breakaway: np.ndarray
    stribeck: np.ndarray
    viscous: np.ndarray
    stiffness: np.ndarray
    loss: np.ndarray
    q: np.ndarray
    dq: np.ndarray
    theta: np.ndarray
    dtheta: np.ndarray
    torque: np.ndarray
    force: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    rubbed: np.ndarray

    def __init__(self, n: int) -> None:
        assert n <= MOST
        self._struct = Struct(n=n)
        for name in (*VECTORS, "lower", "upper", "rubbed"):
            setattr(self, name, np.ctypeslib.as_array(getattr(self._struct, name))[:n])
        self.mass = np.ctypeslib.as_array(self._struct.mass)[: n * n].reshape(n, n)
        self._advance = ctypes.CDLL(str(shared_library(SOURCE))).joints_advance
        self._advance.argtypes = [ctypes.c_void_p, ctypes.c_double]
        self._address = ctypes.addressof(self._struct)

    @property
    def elastic(self) -> bool:
        return bool(self._struct.elastic)

    @elastic.setter
    def elastic(self, on: bool) -> None:
        self._struct.elastic = int(on)

    def advance(self, h: float) -> None:
        """One step of h [s]."""
        if self._advance(self._address, h):
            raise ArithmeticError("the mass matrix of the bench's arm is not positive definite")

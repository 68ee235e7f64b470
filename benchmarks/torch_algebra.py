"""Quaternions, rotations and small solves on the last axes of PyTorch tensors, in as few kernels as we could."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


class Algebra:
    """Products of quaternions and rotations as one matrix product each: few kernels, which is what their time goes into."""

    def __init__(self, device: str, dtype: torch.dtype) -> None:
        i = np.eye(4)
        pairs = [(a, b) for a in i for b in i]
        product = np.array([hamilton(a, b) for a, b in pairs])
        rotation = np.array([hamilton(hamilton(a, v), conjugated(b))[1:] for a, b in pairs for v in i[1:]])
        turning = np.array([0.5 * hamilton(a, b) for a in i[1:] for b in i])
        unit = np.eye(3)
        skewed = np.array([np.cross(unit[k], unit).T for k in range(3)])

        def put(values: np.ndarray) -> Tensor:
            return torch.as_tensor(np.ascontiguousarray(values), dtype=dtype, device=device)

        self._product, self._turning, self._skew = put(product), put(turning), put(skewed.reshape(3, 9))
        self._rotation = put(rotation.reshape(16, 3, 3).transpose(0, 2, 1).reshape(16, 9))

    def product(self, p: Tensor, q: Tensor) -> Tensor:
        """Hamilton products (…, 4)."""
        return outer(p, q) @ self._product

    def matrix(self, q: Tensor) -> Tensor:
        """Rotations (…, 3, 3) of unit quaternions (…, 4)."""
        return (outer(q, q) @ self._rotation).unflatten(-1, (3, 3))

    def turn(self, q: Tensor, phi: Tensor) -> Tensor:
        """normalize(q + ½ [0, φ] q)."""
        moved = q + outer(phi, q) @ self._turning
        return moved / moved.norm(dim=-1, keepdim=True)

    def skew(self, r: Tensor) -> Tensor:
        """[r]× (…, 3, 3)."""
        return (r @ self._skew).unflatten(-1, (3, 3))


def hamilton(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def conjugated(q: np.ndarray) -> np.ndarray:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def outer(a: Tensor, b: Tensor) -> Tensor:
    """All products of two vectors' entries, flat."""
    return (a[..., :, None] * b[..., None, :]).flatten(-2)


def conjugate(q: Tensor) -> Tensor:
    return torch.cat([q[..., :1], -q[..., 1:]], dim=-1)


def at(A: Tensor, v: Tensor) -> Tensor:
    """A v."""
    return (A * v[..., None, :]).sum(-1)


def dot(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(-1, keepdim=True)


def solve3(K: Tensor, c: Tensor) -> Tensor:
    """K⁻¹ c of symmetric 3 × 3 matrices by cross products of their rows: faster here than a batched factorisation."""
    k0, k1, k2 = K.unbind(-2)
    m0, m1, m2 = torch.linalg.cross(k1, k2), torch.linalg.cross(k2, k0), torch.linalg.cross(k0, k1)
    return (m0 * c[..., :1] + m1 * c[..., 1:2] + m2 * c[..., 2:]) / dot(k0, m0)


def shifted(a: Tensor) -> Tensor:
    """The effect of joint i + 1 on body i, for every body; none beyond the last joint."""
    return torch.cat([a[:, 1:], torch.zeros_like(a[:, :1])], dim=1)

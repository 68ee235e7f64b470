"""Obstacles of every kind."""

from __future__ import annotations

import numpy as np

OBSTACLES = ("spheres=2", "capsules=1", "boxes=1", "planes=1")


def obstacles(rng: np.random.Generator) -> dict[str, np.ndarray]:
    columns = {
        "spheres": np.vstack([rng.normal(size=(3, 2)), rng.uniform(0.05, 0.2, (1, 2))]),
        "capsules": np.vstack([rng.normal(size=(6, 1)), rng.uniform(0.05, 0.2, (1, 1))]),
        "boxes": np.vstack([rng.normal(size=(3, 1)), rng.normal(size=(4, 1)), rng.uniform(0.1, 0.5, (3, 1))]),
        "planes": np.append(rng.normal(size=3), -0.3)[:, None],
    }
    columns["planes"][:3] /= np.linalg.norm(columns["planes"][:3])
    return columns

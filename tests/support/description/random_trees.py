"""Random mechanisms as URDF text: every joint type, nested welds, side branches, rotated inertias."""

from __future__ import annotations

import numpy as np


def random_urdf(seed: int, n_links: int = 12, weld: float = 0.4) -> str:
    """A tree of `n_links` links with physical inertias; file order is shuffled, names sort the wrong way."""
    rng = np.random.default_rng(seed)
    links, joints = ['<link name="root"/>'], []
    names = ["root"]
    for i in range(n_links):
        name = f"link{99 - i}"
        links.append(f'<link name="{name}">{_inertial(rng)}</link>')
        parent = names[int(rng.integers(max(0, len(names) - 3), len(names)))]
        kind = "fixed" if i and rng.random() < weld else str(rng.choice(["revolute", "prismatic", "continuous"]))
        axis = _numbers(rng.normal(size=3))
        joints.append(
            f'<joint name="joint{99 - i}" type="{kind}">{_origin(rng)}<parent link="{parent}"/>'
            f'<child link="{name}"/><axis xyz="{axis}"/>'
            '<limit lower="-1" upper="1" effort="5" velocity="2"/></joint>'
        )
        names.append(name)
    parts = [*links, *joints]
    rng.shuffle(parts)
    return f'<robot name="tree{seed}">' + "\n".join(parts) + "</robot>"


def _inertial(rng: np.random.Generator) -> str:
    """Four random points welded together; some links are bare frames, some have no inertial origin."""
    if rng.random() < 0.15:
        return ""
    points = rng.uniform(-0.1, 0.1, (4, 3))
    mass = rng.uniform(0.1, 3.0)
    points = points - points.mean(axis=0)
    tensor = sum(mass / 4 * (p @ p * np.eye(3) - np.outer(p, p)) for p in points) + 1e-4 * np.eye(3)
    keys = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    entries = " ".join(f'{key}="{tensor[at]:.17g}"' for key, at in keys.items())
    origin = "" if rng.random() < 0.2 else _origin(rng)
    return f'<inertial>{origin}<mass value="{mass:.17g}"/><inertia {entries}/></inertial>'


def _origin(rng: np.random.Generator) -> str:
    if rng.random() < 0.15:
        return ""
    angles = rng.uniform(-np.pi, np.pi, 3)
    angles[rng.random(3) < 0.3] = np.pi / 2
    return f'<origin xyz="{_numbers(rng.uniform(-0.4, 0.4, 3))}" rpy="{_numbers(angles)}"/>'


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.17g}" for value in values)

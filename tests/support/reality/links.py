"""Links by MuJoCo's own reader and dynamics: mass matrix, bias, hand."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import mujoco
import numpy as np

from support.reality.differences import Differences, by_joint

POINT = 1e-4
"""kg·m² per kg of a load about its own centre: a ball of 16 mm radius."""
NOTHING = 1e-9
"""kg; MuJoCo keeps the body of a load that may come later."""


class Links:
    """A tree of hinges and slides; positions q (n,) in the description's order."""

    def __init__(self, urdf: Path, hand: str, differences: Differences) -> None:
        root = ElementTree.parse(urdf).getroot()
        for link in root.iter("link"):
            for shape in (*link.findall("visual"), *link.findall("collision")):
                link.remove(shape)
        joints = [joint for joint in root.iter("joint") if joint.get("type") in ("revolute", "continuous", "prismatic")]
        limits = {joint.get("name"): joint.find("limit").attrib for joint in joints}  # type: ignore[union-attr]
        ElementTree.SubElement(ElementTree.SubElement(root, "mujoco"), "compiler", fusestatic="false")
        spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"))
        body = spec.body(hand or [link.get("name") for link in root.iter("link")][-1])
        load = body.add_body(name="carried", pos=list(differences.load_at))
        load.ipos = [0.0, 0.0, 0.0]
        load.mass, load.inertia, load.explicitinertial = NOTHING, [POINT * NOTHING] * 3, True
        self.hand = body.name
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.n = int(self.model.nv)
        assert self.model.njnt == self.n == self.model.nq
        self.joints = tuple(self.model.joint(k).name for k in range(self.n))
        of = [limits[name] for name in self.joints]
        self.lower, self.upper = (
            np.array([float(one.get(key, sign)) for one in of]) for key, sign in (("lower", -np.inf), ("upper", np.inf))
        )
        self.effort, self.speed = (np.array([float(one[key]) for one in of]) for key in ("effort", "velocity"))
        self._alter(differences)
        self._hand, self._load = self.model.body(self.hand).id, self.model.body("carried").id
        self._mass, self._jacobian = np.zeros((self.n, self.n)), np.zeros((3, self.n))
        self.carry(differences.load)

    def _alter(self, differences: Differences) -> None:
        """Masses and inertias, by the joint that moves a body first."""
        model = self.model
        masses, inertias = by_joint(differences.mass, self.n), by_joint(differences.inertia, self.n)
        for body in range(1, model.nbody - 1):
            moved = int(model.body_dofnum[: body + 1].sum()) - 1 if model.body_weldid[body] else -1
            if moved >= 0:
                model.body_mass[body] *= masses[moved]
                model.body_inertia[body] *= masses[moved] * inertias[moved]

    def carry(self, mass: float) -> None:
        """From now on [kg]."""
        self.model.body_mass[self._load] = max(mass, NOTHING)
        self.model.body_inertia[self._load] = POINT * max(mass, NOTHING)

    def at(self, q: np.ndarray, dq: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix [kg·m²] and bias [N·m], which the next call overwrites."""
        model, data = self.model, self.data
        data.qpos[:], data.qvel[:] = q, dq
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, data.qfrc_bias)
        mujoco.mj_fullM(model, data, self._mass)
        return self._mass, data.qfrc_bias

    def place(self) -> np.ndarray:
        """Where the hand is [m], at the q of the last `at`."""
        return self.data.xpos[self._hand]

    def jacobian(self) -> np.ndarray:
        """Jacobian of the hand's place (3, n), at the q of the last `at`."""
        mujoco.mj_jacBody(self.model, self.data, self._jacobian, None, self._hand)
        return self._jacobian

    def height(self) -> float:
        """Potential energy [J], at the q of the last `at`."""
        return -float(self.model.body_mass @ (self.data.xipos @ self.model.opt.gravity))

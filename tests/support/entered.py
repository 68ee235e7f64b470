"""Enters the C of generated folders as users of Python do, with every combination of optional inputs, and prints the number of
calls: run by tests/emit/text/test_entered_as_python.py in a process of its own, with the address sanitizer loaded.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

import numpy as np

import diffpbd
from diffpbd.runtime import Robot
from diffpbd.runtime.base.errors import DiffpbdError
from diffpbd.runtime.model.clearance import obstacles
from diffpbd.runtime.mpc.problem import Weights
from diffpbd.runtime.torques.estimation import estimate
from diffpbd.runtime.torques.settings import Settings

HORIZON, H = 6, 0.02
ROWS = {
    "spheres": [0.5, 0.5, 0.0, 0.05], "capsules": [0.5, 0.5, -0.3, 0.5, 0.5, 0.3, 0.05],
    "boxes": [0.5, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.1, 0.1, 0.4], "planes": [0.0, -1.0, 0.0, -0.7],
}  # fmt: skip
START, GOAL = np.array([-0.3, 0.2]), np.array([0.6, 0.9])


def placements(robot: Robot) -> Iterator[dict[str, list[list[float]]]]:
    """No obstacle, one of each kind, and as many as the robot was generated for."""
    clearance = robot.manifest.clearance
    counts = {} if clearance is None else dict(clearance.obstacles)
    for few in (0, 1, 1000):
        yield {kind: [ROWS[kind]] * min(few, count) for kind, count in counts.items() if few}


def plans(robot: Robot) -> int:
    """Ticks of predictive control: distances, weights and references that there may be."""
    rooms: list[dict[str, object]] = [{}]
    if robot.manifest.clearance is not None:
        rooms += [{"clearance": 0.02}, {"clearance": 0.02, "clearance_hard": True}]
    share = np.linspace(0.0, 1.0, HORIZON + 1)[:, None]
    references = (
        (GOAL,), (START + share * (GOAL - START),), (START + share * (GOAL - START), 0.1 + 0.0 * share * GOAL),
        (GOAL, None, np.zeros((HORIZON, robot.n)), np.array([0.4, 0.4, 0.0])),
    )  # fmt: skip
    done = 0
    for room, weights, disturbance in itertools.product(rooms, (Weights(), Weights(tip=1.0, u=1e-3)), (None, 0.1)):
        mpc = diffpbd.Mpc(robot, HORIZON, h=H, weights=weights, disturbance=disturbance, **room)
        for placed in placements(robot) if room else ({},):
            if room:
                mpc.place_obstacles(**placed)
            for k, reference in enumerate(references):
                mpc.tick(k * H, START, np.zeros(robot.n), *reference)
                done += 1
            mpc.start()
    return done


def poses(robot: Robot) -> int:
    """Inverse kinematics: positions, rotations, weights, joints that stay, distances."""
    goal = robot.tip_pose(GOAL)
    asked = (
        {"position": goal.position},
        {"rotation": goal.rotation},
        {"position": goal.position, "rotation": goal.rotation},
    )
    rooms = [{}] if robot.manifest.clearance is None else [{}, {"clearance": 0.01}]
    done = 0
    for pose, room, held in itertools.product(asked, rooms, (None, ["shoulder"])):
        for placed in placements(robot) if room else ({},):
            more = {"obstacles": placed} if placed else {}
            diffpbd.ik(robot, **pose, **room, **more, held=held, weights=(1.0, 0.1), starts=3, strict=False)
            done += 1
    return done


def distances(robot: Robot) -> int:
    """Every function of distances, one pose and several."""
    if robot.manifest.clearance is None:
        return 0
    done = 0
    for name, placed in itertools.product(("clearance", "jac_clearance", "clearance_points"), placements(robot)):
        given = obstacles(robot, **placed)
        robot.function(name)(START, **given)
        robot.function(name)(np.array([START, GOAL, START]), **given)
        done += 2
    return done


def torques(robot: Robot) -> int:
    """Torque estimation: losses, windows, first guesses, friction."""
    time = np.arange(12) * H
    q = START + 0.1 * np.sin(2.0 * time)[:, None]
    dq = 0.2 * np.cos(2.0 * time)[:, None] * np.ones(robot.n)
    done = 0
    for loss, start, horizon, carry, friction in itertools.product(
        ("angle", "angle+omega"), ("zero", "previous", "gravity"), (1, 4), (False, True), ("recorded", "step")
    ):
        settings = Settings(loss=loss, start=start, horizon=horizon, carry=carry, friction=friction)
        estimate(robot, q, dq, H, settings)
        done += 1
    return done


def main(folders: list[str]) -> int:
    """Print of every folder the calls of its functions."""
    for folder in folders:
        robot = diffpbd.load(folder)
        try:
            done = {part.__name__: part(robot) for part in (plans, poses, distances, torques)}
        except DiffpbdError as error:
            print(f"{folder}: {error}")
            return 1
        print(folder, done)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

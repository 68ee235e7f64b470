"""Friction and the height of the table from the motion of a ball, fitted through impact, sliding and rolling.

A recording of 0.6 s (positions at 100 Hz with 0.2 mm and 2 mrad of noise) comes from this project's own step at other friction
and height, and from MuJoCo where it is installed. Unknown are friction, height, and the rates of the throw; Gauss-Newton on the
exact Jacobian of the rollout (`jac_joint_step`, `jac_alpha_joint_step`), in steps of 2.5 ms, because an impact ends within its
step, and with the slip lowered twice. Run: python docs/examples/contact/friction.py
"""

from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from diffpbd.codegen.generate import generate
from diffpbd.runtime import load

HERE = Path(__file__).resolve().parent
robot = load(generate(str(HERE / "ball.toml"), functions=("joint_step", "jac_alpha_joint_step")).folder)
H, STEPS, EVERY, RADIUS = 0.0025, 240, 4, 0.1
NOISE = np.array([2e-4, 2e-4, 2e-3])  # [m, m, rad]
FRICTION, HEIGHT, THROW = 0.22, 0.013, np.array([1.3, 0.4, -6.0])  # to be found
START = np.array([0.0, 0.25, 0.0])
ENTRIES = ("contact.friction.ball", "plane.height.table")
columns = [robot.alpha.names.index(name) for name in ENTRIES]


def ours():
    """The motion by `rollout`."""
    alpha = dict(zip(ENTRIES, (FRICTION, HEIGHT), strict=True))
    return np.array(robot.rollout(START, THROW, np.zeros((STEPS, 3)), h=H, alpha=alpha)[0])[::EVERY]


def mujoco():
    """The same throw by MuJoCo, with 0.1 ms and stiff contact; None where it is not installed."""
    try:
        import mujoco
    except ImportError:
        return None
    surface = f'friction="{FRICTION} 0 0" solref="4e-4 3" solimp="0.99 0.9999 0.001 0.5 2"'
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="1e-4" cone="elliptic"/><worldbody>'
        f'<geom type="plane" size="9 9 .1" pos="0 0 {HEIGHT}" {surface}/><body>'
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
        '<joint type="hinge" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="0.004 0.004 0.004"/>'
        f'<geom type="sphere" size="{RADIUS}" condim="3" {surface}/></body></worldbody></mujoco>'
    )
    data, P = mujoco.MjData(model), [START.copy()]
    data.qpos[:], data.qvel[:] = START, THROW
    for _ in range(STEPS // EVERY):
        mujoco.mj_step(model, data, round(EVERY * H / 1e-4))
        P.append(data.qpos.copy())
    return np.array(P)


def fit(recorded):
    """Friction, height and throw with their deviations."""
    x = np.array([0.05, 0.0, *((recorded[3] - recorded[0]) / (3 * EVERY * H))])

    def residuals(x, slip):
        alpha = {**dict(zip(ENTRIES, x[:2], strict=True)), "contact.slip": slip}
        P, _ = robot.rollout(START, x[2:], np.zeros((STEPS, 3)), h=H, alpha=alpha)
        return ((P[EVERY::EVERY] - recorded[1:]) / NOISE).ravel()

    def jacobian(x, slip):
        alpha = {**dict(zip(ENTRIES, x[:2], strict=True)), "contact.slip": slip}
        P, PD = robot.rollout(START, x[2:], np.zeros((STEPS, 3)), h=H, alpha=alpha)
        dp, dpd, rows = np.zeros((3, 5)), np.hstack([np.zeros((3, 2)), np.eye(3)]), []
        for k in range(STEPS):
            J = robot.jac_joint_step(P[k], PD[k], np.zeros(3), h=H, alpha=alpha)
            A = robot.jac_alpha_joint_step(P[k], PD[k], np.zeros(3), h=H, alpha=alpha)
            dp, dpd = J.dp_next_dp @ dp + J.dp_next_dpd @ dpd, J.dpd_next_dp @ dp + J.dpd_next_dpd @ dpd
            dp[:, :2] += A.dp_next_dalpha[:, columns]
            dpd[:, :2] += A.dpd_next_dalpha[:, columns]
            rows.append(dp / NOISE[:, None])
        return np.vstack(rows[EVERY - 1 :: EVERY])

    bounds = ([0.01, -0.2, -9, -9, -90], [2.0, 0.14, 9, 9, 90])
    for slip in (1e-1, 1e-2, 1e-3):
        found = least_squares(residuals, x, jacobian, bounds, args=(slip,), x_scale=(0.1, 0.01, 1, 1, 10))
        x = found.x
    deviations = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))
    rms = np.sqrt(np.mean(found.fun**2))
    return x, deviations, rms


def main():
    """Both recordings, fitted."""
    rng, results = np.random.default_rng(4), {}
    for name, exact in (("ours", ours()), ("MuJoCo", mujoco())):
        if exact is None:
            print(f"{name}: not installed")
            continue
        recorded = exact + NOISE * rng.standard_normal(exact.shape)
        x, deviations, rms = fit(recorded)
        results[name] = (recorded, x)
        close = f"± {deviations[0]:.4f}", f"± {1e3 * deviations[1]:.2f}"
        print(
            f"{name}: friction {x[0]:.4f} {close[0]} (is {FRICTION}), height {1e3 * x[1]:.2f} {close[1]} mm "
            f"(is {1e3 * HEIGHT:g}), residuals {rms:.2f} of the noise"
        )
    return results


if __name__ == "__main__":
    main()

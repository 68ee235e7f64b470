"""A generated rollout as a function of JAX, with its exact reverse mode: a loss of yours, differentiated through the robot.

Before: diffpbd generate double_pendulum; JAX: pip install jax
"""

# %% The rollout as a primitive with the derivative that comes with it
import jax
import jax.numpy as jnp
import numpy as np

import diffpbd

jax.config.update("jax_enable_x64", True)
robot = diffpbd.load("double_pendulum")
n = robot.n


@jax.custom_vjp
def rollout(p, pd, U):
    """Positions (steps + 1, n) under torques U (steps, n)."""
    shape = jax.ShapeDtypeStruct((len(U) + 1, n), np.float64)
    return jax.pure_callback(lambda *x: np.asarray(robot.rollout(*map(np.asarray, x)).P), shape, p, pd, U)


def forward(p, pd, U):
    return rollout(p, pd, U), (p, pd, U)


def backward(kept, P_bar):
    shapes = tuple(jax.ShapeDtypeStruct(x.shape, np.float64) for x in kept)

    def pulled(p, pd, U, bar):
        found = robot.vjp_rollout(np.asarray(p), np.asarray(pd), np.asarray(U), P_bar=np.asarray(bar))
        return found.p0_bar, found.pd0_bar, found.U_bar

    return jax.pure_callback(pulled, shapes, *kept, P_bar)


rollout.defvjp(forward, backward)


# %% A small network gives the torques; its weights are trained through the robot
def loss(weights):
    time = jnp.linspace(0.0, 1.0, 50)[:, None]
    U = jnp.tanh(time @ weights["first"]) @ weights["second"]
    P = rollout(jnp.zeros(n), jnp.zeros(n), U)
    return jnp.sum((P[-1] - jnp.array([0.5, -0.2])) ** 2) + 1e-6 * jnp.sum(U**2)


rng = np.random.default_rng(0)
weights = {"first": jnp.array(rng.normal(size=(1, 8))), "second": jnp.array(rng.normal(size=(8, n)))}
value = jax.jit(jax.value_and_grad(loss))
before = float(loss(weights))
for _ in range(80):
    now, slope = value(weights)
    weights = jax.tree.map(lambda w, g: w - 5.0 * g, weights, slope)
print(f"loss {before:.4f} before, {float(loss(weights)):.6f} after")

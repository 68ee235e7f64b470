"""The reaching task of diffpbd.gym learned by the gradient through the step, in JAX, over windows of half a second.

Before: diffpbd generate double_pendulum; pip install 'diffpbd[gym,jax]'. PPO on the same task: docs/learning.md.
"""

# %% The task, and its physics as functions of JAX
import jax
import jax.numpy as jnp
import numpy as np

import diffpbd
from diffpbd.gym import ReachTask, ReachVector
from diffpbd.runtime import with_jax

jax.config.update("jax_enable_x64", True)
robot = diffpbd.load("double_pendulum")
task = ReachTask(robot)
step, n, effort = with_jax.step(robot), robot.n, jnp.array(robot.limits.effort)


@jax.custom_vjp
def gravity(p):
    return jax.pure_callback(lambda p: robot.gravity(np.asarray(p)), jax.ShapeDtypeStruct(p.shape, p.dtype), p)


def gravity_pulled(p, u_bar):
    def pulled(p, u_bar):
        slopes = robot.jac_inverse_dynamics(np.asarray(p), np.zeros(n), np.zeros(n)).du_dp
        return np.einsum("rij,ri->rj", slopes, np.asarray(u_bar))

    return (jax.pure_callback(pulled, jax.ShapeDtypeStruct(p.shape, p.dtype), p, u_bar),)


gravity.defvjp(lambda p: (gravity(p), p), gravity_pulled)


# %% A network of two layers, and the mean reward of a window
def action(weights, p, pd, goal):
    x = jnp.concatenate([p, pd, goal - p], axis=-1)
    for w, b in weights[:-1]:
        x = jnp.tanh(x @ w + b)
    return jnp.tanh(x @ weights[-1][0] + weights[-1][1])


def moved(weights, state, goal):
    act = action(weights, *state, goal)
    for _ in range(task.substeps):
        u = jnp.clip(gravity(state[0]) + task.share * effort * act, -effort, effort)
        state = step(state[0], state[1], u)
    error = jnp.mean((goal - state[0]) ** 2, axis=-1)
    return state, jnp.mean(1.0 / (1.0 + error / 0.09) - 0.01 * jnp.mean(act**2, axis=-1))


def loss(weights, state, goal):
    state, rewards = jax.lax.scan(lambda s, _: moved(weights, s, goal), state, length=25)
    return -jnp.mean(rewards), state


# %% 64 arms side by side; every fourth window starts anew, as the episodes of two seconds do
rng = np.random.default_rng(0)
sizes = [3 * n, 32, 32, n]
weights = [
    (jnp.array(rng.normal(size=(a, b)) / np.sqrt(a)), jnp.zeros(b)) for a, b in zip(sizes[:-1], sizes[1:], strict=True)
]
gradient = jax.jit(jax.value_and_grad(loss, has_aux=True))
mean, square = jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights)
for k in range(120):
    if k % 4 == 0:
        start, goal = (jnp.array(x) for x in zip(*(task.drawn(rng) for _ in range(64)), strict=True))
        state = (start, jnp.zeros_like(start))
    (_, state), slope = gradient(weights, state, goal)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, slope)  # Adam
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, square, slope)
    rate = 5e-3 * np.sqrt(1 - 0.99 ** (k + 1)) / (1 - 0.9 ** (k + 1))
    change = jax.tree.map(lambda m, s: m / (jnp.sqrt(s) + 1e-8), mean, square)
    weights = [(w - rate * dw, b - rate * db) for (w, b), (dw, db) in zip(weights, change, strict=True)]

# %% Judged in the environment: how far 200 arms are off new goals after two seconds
envs, policy = ReachVector(robot, 200), jax.jit(action)
seen, _ = envs.reset(seed=1000)
away = np.median(np.abs(seen[:, 2 * n :]).max(axis=1))
for _ in range(task.most_steps):
    seen = envs.step(policy(weights, seen[:, :n], seen[:, n : 2 * n], seen[:, :n] + seen[:, 2 * n :]))[0]
misses = np.abs(seen[:, 2 * n :]).max(axis=1)
print(f"off the goal (median): {away:.3f} rad at the start, {np.median(misses):.4f} rad after 2 s")
print(f"nine in ten: below {np.quantile(misses, 0.9):.4f} rad")

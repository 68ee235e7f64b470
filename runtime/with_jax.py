"""Steps and rollouts as functions of JAX, with exact gradients by states, torques, h and alpha, under jit, vmap and grad.

    step = with_jax.step(robot)              # or of robot.gpu()
    p_next, pd_next = step(p, pd, u, alpha=alpha)

Needs JAX (extra `jax`). Gradients are reverse and of first order. Values go through the host where JAX traces (jit, vmap,
grad); called plainly, functions of a `Gpu` take arrays on the GPU without a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from diffpbd.runtime.base.extras import missing
from diffpbd.runtime.functions.gradients import Pair, pair, summed

try:
    import jax
    import jax.numpy as jnp
except ModuleNotFoundError:
    raise missing("diffpbd.runtime.with_jax", "jax") from None

__all__ = ["rollout", "step"]


def step(owner: Any) -> Callable[..., tuple[Any, Any]]:
    """`(p, pd, u, h=None, alpha=None) -> (p_next, pd_next)`, (n,) each with any leading axes; what an input has not, is shared.

    `owner` is a `Robot`, whose function works in float64 whatever the arrays' precision, or a `Gpu`.
    """
    return _made(pair(owner, "joint_step"))


def rollout(owner: Any) -> Callable[..., tuple[Any, Any]]:
    """`(p0, pd0, U, h=None, alpha=None) -> (P, PD)`: U (steps, n), P and PD (steps + 1, n); see `step`."""
    return _made(pair(owner, "rollout"))


def _made(of: Pair) -> Callable[..., tuple[Any, Any]]:
    def values(*inputs: Any) -> tuple[Any, Any]:
        if of.on_gpu and not any(isinstance(x, jax.core.Tracer) for x in inputs):
            return tuple(jnp.from_dlpack(x) for x in of.forward(*inputs))
        shapes = of.ends([np.shape(x) for x in inputs])
        return _called(lambda *given: of.values(given), shapes, inputs)

    @jax.custom_vjp  # type: ignore[untyped-decorator]  # JAX may not be there
    def function(*inputs: Any) -> tuple[Any, Any]:
        return values(*inputs)

    def forward(*inputs: Any) -> tuple[Any, Any]:
        return values(*inputs), inputs

    def reverse(inputs: Any, seeds: Any) -> tuple[Any, ...]:
        # Rows are kept apart in the callback, where vmap may have put an axis more, and are summed here.
        leads = of.leads([np.shape(x) for x in inputs])
        own = [np.shape(x)[len(np.shape(x)) - k :] for x, k in zip(inputs, of.axes, strict=True)]
        shapes = [(*leads, *shape) for shape in own]
        ends = [2 if of.forward.name == "rollout" else 1] * 2

        def called(*given: Any) -> Any:
            return of.evaluate(of.reverse, given, [*of.axes, *ends])

        bars = _called(called, shapes, (*inputs, *seeds))
        return tuple(summed(bar, np.shape(x)).astype(x.dtype) for bar, x in zip(bars, inputs, strict=True))

    function.defvjp(forward, reverse)

    def asked(p: Any, pd: Any, u: Any, h: Any = None, alpha: Any = None) -> tuple[Any, Any]:
        given = [p, pd, u, of.h if h is None else h, of.alpha(alpha)]
        kind = jnp.result_type(*(x for x in (p, pd, u)), float)
        return function(*(jnp.asarray(x, kind) for x in given))  # type: ignore[no-any-return]

    return asked


def _called(function: Callable[..., Any], shapes: Sequence[tuple[int, ...]], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """A host function of arrays within JAX's own; results have these shapes and the inputs' type."""
    kind = inputs[0].dtype
    wanted = tuple(jax.ShapeDtypeStruct(shape, kind) for shape in shapes)

    def host(*given: Any) -> tuple[Any, ...]:
        return tuple(np.asarray(x, kind) for x in function(*given))

    return tuple(jax.pure_callback(host, wanted, *inputs, vmap_method="expand_dims"))

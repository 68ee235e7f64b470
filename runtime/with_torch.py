"""Steps and rollouts as functions of PyTorch, with exact gradients by states, torques, h and alpha.

    step = with_torch.step(robot)            # or of robot.gpu(), for tensors on the GPU, without copies
    p_next, pd_next = step(p, pd, u, alpha=alpha)

Needs PyTorch (extra `torch`). Gradients are of first order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from diffpbd.runtime.base.extras import missing
from diffpbd.runtime.functions.gradients import Pair, pair, summed

try:
    import torch
except ModuleNotFoundError:
    raise missing("diffpbd.runtime.with_torch", "torch") from None

__all__ = ["rollout", "step"]


def step(owner: Any) -> Callable[..., tuple[Any, Any]]:
    """`(p, pd, u, h=None, alpha=None) -> (p_next, pd_next)`, (n,) or (rows, n) each; alpha one for all, or a row each.

    `owner` is a `Robot`, whose function works on the CPU in float64 whatever the tensors' precision, or a `Gpu`, whose function
    takes tensors of its precision on its device, in PyTorch's current stream.
    """
    return _made(pair(owner, "joint_step"))


def rollout(owner: Any) -> Callable[..., tuple[Any, Any]]:
    """`(p0, pd0, U, h=None, alpha=None) -> (P, PD)`: U (steps, n), P and PD (steps + 1, n), or rows of them; see `step`."""
    return _made(pair(owner, "rollout"))


def _made(of: Pair) -> Callable[..., tuple[Any, Any]]:
    def function(p: Any, pd: Any, u: Any, h: Any = None, alpha: Any = None) -> tuple[Any, Any]:
        like = {"dtype": p.dtype, "device": p.device}
        given = [p, pd, u, of.h if h is None else h, of.alpha(alpha)]
        found = _Function.apply(of, *(torch.as_tensor(x, **like) for x in given))
        return found[0], found[1]

    return function


class _Function(torch.autograd.Function):  # type: ignore[misc]  # PyTorch may not be there
    """A pair of generated functions."""

    @staticmethod
    def forward(ctx: Any, of: Pair, *inputs: Any) -> tuple[Any, ...]:
        ctx.of = of
        ctx.save_for_backward(*inputs)
        if of.on_gpu:
            return tuple(_tensor(x) for x in of.forward(*(x.detach() for x in inputs), stream=_stream()))
        return tuple(_like(x, inputs[0]) for x in of.values([x.detach().cpu().numpy() for x in inputs]))

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *seeds: Any) -> tuple[Any, ...]:
        of, inputs = ctx.of, ctx.saved_tensors
        if of.on_gpu:
            wanted = ctx.needs_input_grad[4] or ctx.needs_input_grad[5]
            given = [x.detach() for x in (*inputs, *seeds)]
            found = of.reverse(*given, stream=_stream(), parameters=wanted)
            bars = [None if b is None else summed(_tensor(b), x.shape) for b, x in zip(found, inputs, strict=True)]
        else:
            arrays = [x.detach().cpu().numpy() for x in (*inputs, *seeds)]
            bars = [_like(b, inputs[0]) for b in of.bars(arrays[: len(inputs)], arrays[len(inputs) :])]
        return (None, *(b if need else None for b, need in zip(bars, ctx.needs_input_grad[1:], strict=True)))


def _like(values: Any, other: Any) -> Any:
    return torch.as_tensor(values, dtype=other.dtype, device=other.device)


def _tensor(array: Any) -> Any:
    return torch.from_dlpack(array)


def _stream() -> Any:
    return torch.cuda.current_stream().cuda_stream if torch.cuda.is_available() else None

"""The world in the place of a parent: what a bound kernel gives is what the kernel gives for a parent that rests and weighs
without end, and nothing is left that only a parent needs."""

from __future__ import annotations

import numpy as np
import pytest
from support.maximal import evaluate

from diffpbd.codegen.method import bodies, corrections, efforts, limits, projection, velocity
from diffpbd.codegen.method.corrections import Multiplier
from diffpbd.codegen.method.world import OF_THE_PARENT, RESTING, kernel_at
from diffpbd.codegen.program.notation import WORLD
from diffpbd.codegen.program.program import Program

KERNELS = {
    "correction": lambda slide: corrections.correction_kernel(slide, False, Multiplier.BLOCK),
    "alignment": lambda slide: corrections.correction_kernel(slide, True, Multiplier.SCALAR),
    "limit": corrections.limit_kernel,
    "room": limits.room_kernel,
    "motion": lambda slide: projection.motion_kernel(slide, True),
    "effort": efforts.effort_kernel,
    "pull": bodies.pull_kernel,
    "rate": velocity.rate_kernel,
    "elimination": lambda slide: projection.elimination_kernel(True, True, slide),
    "follow": projection.follow_kernel,
}


@pytest.mark.parametrize("slide", [False, True], ids=["hinge", "slide"])
@pytest.mark.parametrize("name", KERNELS)
def test_bound_to_the_world(name: str, slide: bool) -> None:
    kernel: Program = KERNELS[name](slide)
    assert kernel_at(kernel, 0, slide) is kernel
    bound = kernel_at(kernel, WORLD, slide)
    assert bound is kernel_at(kernel, WORLD, slide)
    assert not set(bound.inputs) & {*RESTING, "offset_a"}
    assert set(bound.outputs) == set(kernel.outputs) - set(OF_THE_PARENT)
    rng = np.random.default_rng(2)
    arrays = {k: rng.uniform(0.5, 1.5, m.shape) for k, m in kernel.inputs.items()}
    for key in arrays:
        if key in RESTING:
            arrays[key] = np.array(RESTING[key], dtype=float).ravel() + np.zeros(kernel.inputs[key].shape).ravel()
        elif key == "offset_a":
            arrays[key] = -arrays["joint"].ravel()[3:6] if "joint" in arrays else np.zeros(3)
        elif key in ("motion", "start_motion") and not slide:
            arrays[key][:3] = 0.0
    expected = evaluate(kernel, **arrays)
    for key, found in evaluate(bound, **{k: arrays[k] for k in bound.inputs}).items():
        np.testing.assert_allclose(found, expected[key], rtol=1e-12, atol=1e-12)

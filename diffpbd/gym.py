"""Environments of Gymnasium: `diffpbd/Reach-v0`, registered by this import (docs/learning.md)."""

from diffpbd.runtime.with_gym import Reach, ReachTask, ReachVector, register

__all__ = ["Reach", "ReachTask", "ReachVector"]

register()

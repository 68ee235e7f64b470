"""Joints with lever springs."""

from __future__ import annotations

JOINTS = ["jd", "ja"]

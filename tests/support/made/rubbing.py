"""Robots of every law of friction, and states for them."""

from __future__ import annotations

RAIL, HUB = (4.0, 1.5, 0.02, 1.0, -0.6, 3.0, 0.15), (0.3, 0.05, 0.03, -0.1, 0.02, 0.2, 0.3)


OFF_AXIS = {"payload.mass": 0.7, "payload.com.x": 0.2, "payload.com.y": -0.1, "payload.inertia.zz": 0.01}


STATES = {
    "moving": ((0.3, -0.7), (0.8, -0.6), (2.0, 0.1)),
    "sticking": ((0.0, 0.4), (0.0, 0.0), (3.0, -0.2)),
    "reversing": ((0.5, 0.2), (0.02, -0.03), (-30.0, 4.0)),
    "falling": ((0.1, 0.9), (0.11, -0.2), (6.0, -0.4)),
}


STRIBECK_ALONE = OFF_AXIS | {"friction.stribeck.rail": 3.0, "friction.stribeck.hub": 0.3}

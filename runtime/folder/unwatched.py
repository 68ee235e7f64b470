"""Links that no distance watches, in words: pairs with the reason, and links without a shape."""

from __future__ import annotations

from collections.abc import Sequence

from diffpbd.runtime.folder.manifest import Clearance

__all__ = ["MOST", "not_watched"]

MOST = 8
"""[1] Shapes for which a line lists the others, unless all are asked for."""


def not_watched(clearance: Clearance | None, most: int | None = MOST) -> list[str]:
    """A line for every reason; `most` shapes with their pairs, None: all."""
    if clearance is None:
        return ["not watched: links against each other, of a robot that was generated without --clearance"]
    lines = [f"not watched, {why}: {_by_shape(pairs, most)}" for why, pairs in clearance.unwatched.items()]
    bare = clearance.bare if most is None else clearance.bare[:most]
    rest = _rest(len(clearance.bare) - len(bare), "links")
    return [*lines, f"not watched, without a shape: {', '.join(bare)}{rest}"] if bare else lines


def _by_shape(pairs: Sequence[tuple[str, ...]], most: int | None) -> str:
    """Pairs by their first shape: `a and b, c; d and e`."""
    others: dict[str, list[str]] = {}
    for one, other in pairs:
        others.setdefault(one, []).append(other)
    shown = list(others) if most is None else list(others)[:most]
    rest = _rest(len(pairs) - sum(len(others[one]) for one in shown), "pairs")
    return "; ".join(f"{one} and {', '.join(others[one])}" for one in shown) + rest


def _rest(count: int, what: str) -> str:
    return f", and more {what} ({count}), see `diffpbd info`" if count else ""

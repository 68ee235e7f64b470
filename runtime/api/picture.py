"""A picture as a notebook shows it, or as a file."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from diffpbd.runtime.base.files import write_atomic

__all__ = ["Picture", "drawn"]


@dataclass(frozen=True)
class Picture:
    """A PNG: a notebook shows it, `save` writes it."""

    png: bytes = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write the PNG, whole or not at all."""
        write_atomic(path, self.png)

    def _repr_png_(self) -> bytes:
        return self.png


def drawn(draw: Callable[[io.BytesIO], None], path: str | Path | None) -> Picture:
    """The picture that `draw` writes, also to `path` where there is one."""
    content = io.BytesIO()
    draw(content)
    picture = Picture(content.getvalue())
    if path is not None:
        picture.save(path)
    return picture

"""The head of a kernel that is compiled by itself: sine and cosine without the headers of a robot."""

from __future__ import annotations

from diffpbd.codegen.emit.text.environment import LARGE_ANGLE, plain


def head() -> str:
    """C text of templates/base/sine_cosine.h and what it includes."""
    text = plain("sine_cosine.h").replace('#include "model.h"\n', f"#define C_LARGE_ANGLE {LARGE_ANGLE!r}\n")
    return text.replace('#include "sine_series.h"\n', plain("sine_series.h"))

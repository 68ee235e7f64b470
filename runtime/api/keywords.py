"""Keywords of the Python interface, from the dataclasses of the jobs: their annotations, and `keyword_types.pyi` for editors.

`python -m diffpbd.runtime.api.keywords` writes that file; a test holds it against this.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Final

__all__ = ["KEYWORDS", "TYPES", "keywords", "stub"]

TYPES: Final = Path(__file__).with_name("keyword_types.pyi")
NAMES: Final = "str | Sequence[str]"
KEYWORDS: Final[Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]]] = MappingProxyType({
    "GenerateOptions": (
        ("codegen.description.recipe.recipe:Recipe",),
        {"base": "str", "sweeps": "int | Mapping[str, int]", "relaxation": "float | str", "ground": "float", "table": "float"},
    ),
    "ReadHow": (
        ("runtime.logs.recording:Reading", "runtime.logs.mending:Mending"),
        {"columns": "Mapping[str, str] | None", "drive_gain": "float | Mapping[str, float]"},
    ),
    "IdentifyHow": (
        ("runtime.logs.recording:Reading", "runtime.logs.mending:Mending", "runtime.logs.processing:Processing",
         "runtime.identify.settings.settings:Settings"),
        {"accept": f"{NAMES} | None", "drive_gain": "float | Mapping[str, float]", "jobs": "int",
         "torques": "Mapping[str, float] | str | None", "progress": "Callable[[str], None] | None"},
    ),
    "TorqueHow": (("runtime.torques.settings:Settings",), {}),
    "ExciteHow": (("runtime.excite.wishes:Wishes",), {}),
    "ApproachHow": (("runtime.mpc.profile:Approach",), {}),
    "IkHow": (("runtime.model.inverse_kinematics:Sought",), {}),
    "MpcHow": (("runtime.mpc.options:MpcOptions",), {}),
})  # fmt: skip
"""By the name of the type: the dataclasses whose fields are keywords, and types of those that Python takes otherwise, or
alone."""
APART: Final = {
    "GenerateOptions": ("name", "urdf", "loop", "loop_rows", "plane", "contact", "shape", "srdf"),
    "ReadHow": ("mending", "passive", "accept"),
    "IdentifyHow": ("spread", "mending", "passive", "order"),
    "ExciteHow": ("duration",),
}
"""Fields that no keyword sets: tables of a recipe, what is made of others, what is an argument of its own."""


@functools.cache
def keywords(name: str) -> Mapping[str, str]:
    """Annotations of the keywords of a type."""
    sources, own = KEYWORDS[name]
    found: dict[str, str] = {}
    for source in sources:
        module, _, record = source.partition(":")
        for field in fields(getattr(importlib.import_module(f"diffpbd.{module}"), record)):
            if field.name not in APART.get(name, ()):
                found[field.name] = NAMES if field.type == "tuple[str, ...]" else str(field.type)
    return {**found, **own}


def stub() -> str:
    """The text of the file."""
    lines = [
        '"""Keywords of what Python calls. Made by `python -m diffpbd.runtime.api.keywords`. Do not edit."""\n',
        "from collections.abc import Callable, Mapping, Sequence\nfrom typing import TypedDict\n\nimport numpy.typing as npt\n",
        "from diffpbd.runtime.base.arrays import FloatArray\nfrom diffpbd.runtime.mpc.options import Backend",
    ]
    for name in KEYWORDS:
        lines += [
            f"\nclass {name}(TypedDict, total=False):",
            *(f"    {key}: {kind}" for key, kind in keywords(name).items()),
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TYPES.write_text(stub(), encoding="utf-8")

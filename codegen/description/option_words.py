"""A recipe as options of `diffpbd generate`."""

from __future__ import annotations

import dataclasses

from diffpbd.codegen.description.recipe import Recipe

__all__ = ["option_words"]


def option_words(recipe: Recipe, plain: Recipe) -> list[str]:
    """The options of `diffpbd generate` that make the one recipe of the other."""
    words: list[str] = []
    for entry in dataclasses.fields(recipe):
        flag, value = entry.metadata["flag"], getattr(recipe, entry.name)
        if not flag or value == getattr(plain, entry.name):
            continue
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-"))
        elif entry.name in ("symbolic", "variants", "functions", "friction_law", "frames"):
            joined = entry.name == "variants" and value == (*plain.variants, recipe.variant)
            words += [] if joined else [flag, ",".join(value)]
        elif entry.name == "sweeps":
            changed = {k: count for k, count in value.items() if count != plain.sweeps.get(k)}
            alone = set(changed) == {recipe.variant}
            words += [flag, ",".join(str(count) if alone else f"{k}={count}" for k, count in changed.items())]
        elif isinstance(value, tuple):
            words += [word for name in value for word in (flag, name)]
        else:
            words += [flag, str(value)]
    return words

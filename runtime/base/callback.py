"""Python as a CasADi function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi

__all__ = ["Callback"]


class Callback(casadi.Callback):
    """A CasADi function of named arguments, computed in Python: `inputs` and `outputs` are sparsities by name."""

    def __init__(
        self, name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], evaluate: Callable[..., list[Any]]
    ) -> None:
        casadi.Callback.__init__(self)
        self._in, self._out, self._evaluate = list(inputs.items()), list(outputs.items()), evaluate
        self.construct(name, {})

    def get_n_in(self) -> int:
        """How many inputs."""
        return len(self._in)

    def get_n_out(self) -> int:
        """How many outputs."""
        return len(self._out)

    def get_name_in(self, i: int) -> str:
        """Name of an input."""
        return self._in[i][0]

    def get_name_out(self, i: int) -> str:
        """Name of an output."""
        return self._out[i][0]

    def get_sparsity_in(self, i: int) -> Any:
        """Sparsity of an input."""
        return self._in[i][1]

    def get_sparsity_out(self, i: int) -> Any:
        """Sparsity of an output."""
        return self._out[i][1]

    def eval(self, values: Sequence[Any]) -> list[Any]:
        """Outputs of inputs, as CasADi matrices or what becomes one."""
        return self._evaluate(*values)

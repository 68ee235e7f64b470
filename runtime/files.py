"""Files written whole or not at all, and JSON read with clear messages."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, NoReturn

from diffpbd.runtime.errors import InputError

__all__ = ["parse_json", "read_bytes", "read_json", "write_atomic"]


def write_atomic(path: str | Path, content: str | bytes) -> None:
    """Write a file next to its final place and rename it, so that an interruption keeps the previous one."""
    target = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.") from None
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file the user named."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def read_json(path: str | Path) -> Any:
    """The value in a JSON file the user named."""
    return parse_json(read_bytes(path), str(path))


def parse_json(text: str | bytes, where: str) -> Any:
    """Strict JSON: no NaN or Infinity, no key twice in one object."""

    def refuse_constant(token: str) -> NoReturn:
        raise InputError(f"{where}: {token} is not a number in JSON; expected finite numbers.")

    def refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            names = [name for name, _ in pairs]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise InputError(f"{where}: {', '.join(twice)} appears more than once in one object.")
        return result

    try:
        return json.loads(text, parse_constant=refuse_constant, object_pairs_hook=refuse_twice)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{where} is not JSON: {error}.") from None
    except RecursionError:
        raise InputError(f"{where} is nested too deep to be read.") from None

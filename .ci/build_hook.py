"""Gives the flat top-level folders their import names, diffpbd.codegen and so on.

A wheel gets copies. An editable install gets links under the git-ignored `.editable/diffpbd/`, and
hatchling's `dev-mode-dirs` writes the `.pth` that names `.editable`; so an edit is seen at once and
nothing is copied.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("codegen", "runtime", "templates")


class FlatFolders(BuildHookInterface):
    """Runs for the wheel target; the sdist keeps the checkout's layout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Copy for a standard wheel, link for an editable one."""
        root = Path(self.root)
        if version != "editable":
            build_data["force_include"].update({str(root / name): f"diffpbd/{name}" for name in FOLDERS})
            return
        links = root / ".editable" / "diffpbd"
        links.mkdir(parents=True, exist_ok=True)
        for name in FOLDERS:
            link = links / name
            if link.is_symlink():
                link.unlink()
            link.symlink_to(Path("..", "..", name), target_is_directory=True)

"""A wheel, and an editable installation, carries machine code of what belongs to no model.

Unless ``COSIM_SHIP`` says otherwise that is the Step and the method that is taken where none is named, also
for native FMUs, and the solution of constraints; with ``COSIM_SHIP=1`` everything, for a release; with
``COSIM_SHIP=0`` nothing, and the wheel is for all platforms and versions of Python. What is built states the
addresses of `addresses.toml`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.insert(0, str(Path(__file__).parent))
from addresses import project_urls, readme


class AddressesHook(MetadataHookInterface):
    """Adds the addresses of the project to the metadata, and complete links to the README."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `urls` and `readme`."""
        root = Path(self.root)
        metadata["urls"] = project_urls(root)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme(root)}


SHIP = "COSIM_SHIP"
NOTHING, EVERYTHING = "0", "1"


class ShipHook(BuildHookInterface):
    """Compiles what belongs to no model, and puts it into the wheel."""

    def _is_compiling(self) -> bool:
        return self.target_name == "wheel" and os.environ.get(SHIP) != NOTHING

    def dependencies(self) -> list[str]:
        """The packages that the models of the corpus need when they are built, and a release's C compiler."""
        if not self._is_compiling():
            return []
        is_release = os.environ.get(SHIP) == EVERYTHING
        compiler = self.metadata.core.optional_dependencies["native"] if is_release else []
        return [*self.metadata.core.dependencies, *compiler]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the archive; an editable installation finds it in the working tree."""
        if not self._is_compiling():
            return
        root = Path(self.root)
        shipped = root / "compiler" / "cosim_compiler" / "shipped"
        with tempfile.TemporaryDirectory() as folder:
            self._describe(Path(folder) / "cosim_framework-0.dist-info")
            places: list[Path | str] = [root, root / "compiler", root / "plugins", root / "fmu", Path(folder)]
            if "PYTHONPATH" in os.environ:  # pip's build environment
                places.append(os.environ["PYTHONPATH"])
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
            command = [sys.executable, str(root / "release" / "ship.py")]
            command += ["--all"] if os.environ.get(SHIP) == EVERYTHING else []
            subprocess.run(command, env=environment, check=True)
        # Git ignores them. What the wheel of another Python has left in the working tree is not this one's.
        build_data["artifacts"] += [
            f"/{path.relative_to(root).as_posix()}"
            for path in shipped.glob(f"*-{sys.implementation.cache_tag}-*.zip")
        ]
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def _describe(self, folder: Path) -> None:
        """Write the metadata of an installed distribution, by which the plugins are found."""
        folder.mkdir()
        core = self.metadata.core
        about = {"Metadata-Version": "2.1", "Name": core.name, "Version": core.version}
        (folder / "METADATA").write_text("".join(f"{name}: {value}\n" for name, value in about.items()))
        lines = []
        for group, entries in core.entry_points.items():
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
        (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")

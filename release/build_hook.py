"""With ``COSIM_SHIP=1`` a wheel carries machine code: ``COSIM_SHIP=1 pip wheel . --no-deps``.

Such a wheel is for one minor version of Python and one platform. Without the variable nothing is compiled,
and the wheel is for all. What is built states the addresses of `addresses.toml`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

sys.path.insert(0, str(Path(__file__).parent))
from addresses import project_urls, readme


class AddressesHook(MetadataHookInterface):
    """Gives the metadata the project's addresses, and the README with whole links."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `urls` and `readme`."""
        root = Path(self.root)
        metadata["urls"] = project_urls(root)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme(root)}


def is_asked_for(target: str) -> bool:
    """Whether this build is one that compiles: that of a wheel; so far that is done on Linux."""
    asked = os.environ.get("COSIM_SHIP", "0") not in ("", "0")
    return asked and target == "wheel" and sys.platform == "linux"


class ShipHook(BuildHookInterface):
    """Compiles what belongs to no model, and puts it into the wheel."""

    def dependencies(self) -> list[str]:
        """What the models of the corpus need when they are built."""
        return list(self.metadata.core.dependencies) if is_asked_for(self.target_name) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the library; an editable installation finds it in the working tree."""
        if not is_asked_for(self.target_name):
            return
        root = Path(self.root)
        with tempfile.TemporaryDirectory() as folder:
            self._describe(Path(folder) / "cosim_framework-0.dist-info")
            places: list[Path | str] = [root, root / "compiler", root / "plugins", root / "fmu", Path(folder)]
            if "PYTHONPATH" in os.environ:  # pip's build environment
                places.append(os.environ["PYTHONPATH"])
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
            subprocess.run([sys.executable, str(root / "release" / "ship.py")], env=environment, check=True)
        # Git ignores them. What the wheel of another Python has left in the working tree is not this one's.
        ending = sysconfig.get_config_var("EXT_SUFFIX")
        build_data["artifacts"].append(f"/compiler/cosim_compiler/shipped/*{ending}*")
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def _describe(self, folder: Path) -> None:
        """What an installed distribution says of itself: the plugins are found by that."""
        folder.mkdir()
        core = self.metadata.core
        about = {"Metadata-Version": "2.1", "Name": core.name, "Version": core.version}
        (folder / "METADATA").write_text("".join(f"{name}: {value}\n" for name, value in about.items()))
        lines = []
        for group, entries in core.entry_points.items():
            lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
        (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")

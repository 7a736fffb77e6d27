"""A folder in which tests install distributions with plugins."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from importlib.metadata import EntryPoint, distributions
from pathlib import Path
from typing import Any

import pytest

from cosim.registration.registry import Registry

GREETING = '''
import cosim

class Greet(cosim.Command):
    """Say hello."""
    name = "greet"
    summary = "say hello"
    def configure(self, parser): parser.add_argument("who")
    def run(self, arguments): print("hello,", arguments.who); return 0
'''
SOUND = (
    GREETING
    + """
@cosim.hookimpl
def cosim_register(register):
    register("{name}.greet", Greet)
"""
)
"""A plugin without a fault."""


class PluginFolder:
    """Distributions with plugins, in a folder on the search path of modules."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self._numbers = itertools.count()
        monkeypatch.syspath_prepend(str(path))

    def install(
        self, name: str, source: str = SOUND, distribution: str = "", version: str = "1.5", value: str = ""
    ) -> None:
        """Install a distribution with a plugin; `value` is its entry point if it is not the module."""
        distribution = distribution or f"acme-{name}"
        module = f"plugin_{self.path.name}_{next(self._numbers)}"
        (self.path / f"{module}.py").write_text(source.replace("{name}", name), "utf-8")
        info = self.path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n", "utf-8"
        )
        (info / "entry_points.txt").write_text(f"[cosim]\n{name} = {value or module}\n", "utf-8")

    def entry_points(self) -> list[EntryPoint]:
        """The entry points of all distributions of the folder."""
        return [point for found in distributions(path=[str(self.path)]) for point in found.entry_points]

    def discover(self, **options: Any) -> Registry:
        """A registry of the plugins of the folder."""
        return Registry.discover(self.entry_points(), **options)

    def reason_of_failure(self, name: str) -> str:
        """Why the plugin of this name failed; all others must have loaded."""
        (failed,) = self.discover().failures
        assert failed.name == name
        assert failed.error is not None and failed.entries == ()
        owner = (failed.error.plugin, failed.error.distribution, failed.error.version)
        assert owner == (name, f"acme-{name}", "1.5")
        return failed.reason

    def listing(self, *options: str) -> subprocess.CompletedProcess[str]:
        """``cosim plugins`` in a process that finds the folder."""
        path = os.pathsep.join([str(self.path), os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            [sys.executable, "-m", "cosim", "plugins", *options],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )

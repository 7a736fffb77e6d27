"""Distributions of the examples in folders of their own, as an installer would write them."""

from __future__ import annotations

import functools
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

import pytest

import cosim
from cosim import kit


@dataclass(frozen=True)
class Installed:
    """A distribution in a folder that is in ``sys.path``."""

    name: str
    site: Path

    @functools.cached_property
    def registry(self) -> kit.Registry:
        """The plugins of the environment and of this distribution."""
        (distribution,) = distributions(path=[str(self.site)], name=self.name)
        points = [point for point in distribution.entry_points if point.group == "cosim"]
        other_plugins = [record for record in cosim.registry().plugins if record.distribution != self.name]
        return kit.Registry([*other_plugins, *kit.Registry.discover(points).plugins])


Install = Callable[[Path], Installed]


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Install]:
    """Return a function that installs a project for the tests of a module."""
    cosim.registry()  # is cached, so it must be read before the search path changes
    before, modules = list(sys.path), set(sys.modules)

    def install_project(project: Path) -> Installed:
        site = tmp_path_factory.mktemp("site")
        name = _write_distribution(project, site)
        sys.path.insert(0, str(site))
        return Installed(name, site)

    yield install_project
    added = {path for path in sys.path if path not in before}
    sys.path[:] = before
    for module in set(sys.modules) - modules:
        file = getattr(sys.modules[module], "__file__", None) or ""
        if any(file.startswith(path) for path in added):
            del sys.modules[module]


def _write_distribution(project: Path, site: Path) -> str:
    """Copy the modules of a project, write its metadata and return its name."""
    metadata = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    name, version = metadata["name"], metadata["version"]
    module = name.replace("-", "_")
    if (project / module).is_dir():
        shutil.copytree(project / module, site / module, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(project / f"{module}.py", site)
    files = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*")) if path.is_file()]
    points = [f"{key} = {value}" for key, value in metadata["entry-points"]["cosim"].items()]
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    (info / "entry_points.txt").write_text("\n".join(["[cosim]", *points, ""]), "utf-8")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files), "utf-8")
    return str(name)

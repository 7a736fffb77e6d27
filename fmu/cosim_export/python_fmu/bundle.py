"""The Python packages that an exported FMU carries, and those that it expects."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cosim
from cosim.kit import RegisteredClass
from cosim_export.python_fmu.distributions import distributions_by_module, licences_of, version_of
from cosim_export.python_fmu.python_imports import (
    inner_imports,
    inner_imports_of_all,
    mentioned_modules,
    module_imports,
    top_level,
)
from cosim_export.python_fmu.slave import digest_of, is_left_out

OURS = ("cosim_compiler", "cosim", "cosim_export")
"""Packages that run every FMU."""
COMMANDS = ("cosim_workbench", "cosim_fmi")
"""Packages that ours import only for commands and checks, which no FMU runs."""
OPTIONAL = ("llvmlite",)
"""Packages that only make the FMU faster."""


@dataclass(frozen=True)
class Package:
    """A top-level package or module that goes into the FMU.

    Attributes
    ----------
    name : str
    source : Path
        Folder, or file of a single module.
    distribution, version : str
        The distribution of the module; empty if no distribution contains it.
    """

    name: str
    source: Path
    distribution: str
    version: str

    def row(self) -> dict[str, str]:
        """The row of the manifest that describes the package."""
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "digest": digest_of(sorted(self.modules().items())),
        }

    def modules(self) -> dict[str, bytes]:
        """The Python files among its files."""
        return {name: content for name, content in self.files.items() if name.endswith(".py")}

    @functools.cached_property
    def files(self) -> dict[str, bytes]:
        """The files of the package, by their names in the folder ``resources``."""
        if self.source.is_file():
            return {self.source.name: self.source.read_bytes()}
        contents = {}
        for folder, folders, names in os.walk(self.source):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            inside = Path(folder).relative_to(self.source.parent)
            for name in sorted(names):
                path = os.path.join(folder, name)
                if not is_left_out(inside / name) and os.path.isfile(path):
                    with open(path, "rb") as file:
                        contents[f"{inside.as_posix()}/{name}"] = file.read()
        return contents


@dataclass
class Bundle:
    """The code and data that a model needs in another process.

    Each package is carried, required or ignored:

    ==================================================== =========================================
    ours, of a plugin, or of no distribution             carried, with the packages that it imports
    of another distribution                              required
    of another distribution, with a class that is used   carried
    without a source file                                a problem where it is needed, else ignored
    ==================================================== =========================================

    Parameters
    ----------
    used : sequence of RegisteredClass
        The registered classes that the model uses.
    known : sequence of RegisteredClass
        All registered classes: they tell which package belongs to which plugin.
    ours : sequence of str
        Packages that run the FMU.

    Attributes
    ----------
    packages : dict of str to Package
        The packages in the FMU: ours, those of the plugins in use, and modules of no distribution.
    requires : dict of str to str
        The packages that must be installed where the FMU runs: import name and distribution.

    Raises
    ------
    ModelError
        For every class in use whose source cannot be carried.
    """

    used: Iterable[RegisteredClass]
    known: Iterable[RegisteredClass]
    ours: Sequence[str] = OURS
    packages: dict[str, Package] = field(default_factory=dict)
    requires: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._problems: list[cosim.Problem] = []
        self._shipped_by = distributions_by_module()
        entries = list(self.known)
        self._owners = {  # without importing what is not used
            top_level(e.target.partition(":")[0]): (e.distribution, "" if e.version == "?" else e.version)
            for e in entries
        }
        self._plugins = {e.distribution for e in entries if e.distribution}
        framework = self._owners.get("cosim_fmu", ("cosim-framework", cosim.__version__))
        self._owners |= dict.fromkeys(self.ours, framework)
        self._collect()
        if self._problems:
            raise cosim.ModelError(self._problems)

    def _collect(self) -> None:
        """Add our packages, and those of the classes in use with their base classes."""
        for name in self.ours:
            self._add(name, f"package {name}")
        for entry in self.used:
            for cls in entry.cls.__mro__:
                if cls is object or self._is_standard(top_level(cls.__module__)):
                    continue
                self._add(top_level(cls.__module__), entry.id, must_be_carried=cls is entry.cls)
                if top_level(cls.__module__) not in self.packages or top_level(cls.__module__) in self.ours:
                    continue
                if entry.kind == "integrator":  # an FMU uses all of it and of its helpers
                    self._require(inner_imports_of_all(cls.__module__, set()))
                else:  # helpers of other classes have functions for analyses, which no FMU makes
                    self._require(inner_imports(cls.__module__))

    def require(self, name: str) -> None:
        """Require a package that functions import."""
        if name not in self.packages:
            self.requires[name] = self._shipped_by.get(name, [name])[0]

    def manifest(self, model: str) -> dict[str, object]:
        """The facts that the FMU checks before it imports anything."""
        requires = [
            {"name": name, "distribution": distribution, "version": version_of(distribution)}
            for name, distribution in sorted(self.requires.items())
        ]
        return {
            "model": model,
            "python": [3, 11],
            "packages": [self.packages[name].row() for name in sorted(self.packages)],
            "requires": requires,
        }

    def licences(self) -> dict[str, bytes]:
        """The licences of the carried packages, as their distributions ship them, by names in the archive."""
        licences = {}
        carried = {p.distribution for p in self.packages.values() if p.distribution} | {"pythonfmu"}
        for distribution in sorted(carried):
            for name, text in licences_of(distribution).items():
                licences[f"documentation/licenses/{distribution}/{name}"] = text
        return licences

    def _add(self, name: str, needed_by: str, must_be_carried: bool = False) -> None:
        """Carry a package and all that it imports, require it, or ignore it."""
        if name in self.packages or name in self.requires:
            return
        distributions = self._shipped_by.get(name, [])
        is_of_others = name not in self._owners and not self._plugins & set(distributions)
        if distributions and is_of_others and not must_be_carried:
            self.requires[name] = distributions[0]
            return
        source = _source_of(name)
        if source is None:
            if must_be_carried or name in self._owners:
                text = (
                    f"its module '{name}' has no source file that an FMU could carry. Define the class in a "
                    "module of its own, in a folder with an __init__.py or beside the script."
                )
                self._problems.append(cosim.Problem(needed_by, text))
            return
        distribution, version = self._owners.get(name) or ("", "")
        if not distribution and distributions:
            distribution, version = distributions[0], version_of(distributions[0])
        self.packages[name] = Package(name, source, distribution, version)
        self._add_imports(self.packages[name])

    def _add_imports(self, package: Package) -> None:
        """Add what the files of a package import, unless they can be imported without it."""
        name = package.name
        for file, content in package.modules().items():
            text = content.decode()
            if all(self._is_settled(mentioned, name) for mentioned in mentioned_modules(text)):
                continue  # true for nearly all files; parsing them would take most of an export's time
            for imported, is_needed in module_imports(text):
                if self._is_standard(imported) or imported == name:
                    continue
                if name in self.ours and imported in COMMANDS and imported not in self.ours:
                    continue
                if is_needed or imported in self._owners or not self._shipped_by.get(imported):
                    self._add(imported, f"{name} ({file.rpartition('/')[2]})")

    def _require(self, imported: set[str]) -> None:
        """Require the distributions of packages that functions of a class's module import."""
        for name in sorted(imported):
            distributions = self._shipped_by.get(name, [])
            if distributions and name not in self.packages and name not in OPTIONAL:
                self.requires[name] = distributions[0]

    def _is_settled(self, imported: str, by: str) -> bool:
        return imported in {by, *self.packages, *self.requires} or self._is_standard(imported)

    @staticmethod
    def _is_standard(name: str) -> bool:
        return name in sys.stdlib_module_names


def _source_of(name: str) -> Path | None:
    """Folder of a package or file of a module; None if it has no source file."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            spec = None
        file = None if spec is None else spec.origin
    if file is None or not file.endswith(".py") or not Path(file).is_file():
        return None
    path = Path(file).resolve()
    return path.parent if path.name == "__init__.py" else path

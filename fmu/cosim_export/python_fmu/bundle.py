"""The Python packages that an exported FMU carries, and those that it expects."""

from __future__ import annotations

import ast
import csv
import functools
import importlib.metadata
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cosim
from cosim.kit import Entry
from cosim_export.python_fmu.slave import digest_of, is_left_out

OURS = ("cosim_compiler", "cosim", "cosim_export")
COMMANDS = ("cosim_workbench", "cosim_fmi")
"""Modules of this package that are imported for commands and checks alone, which no FMU runs."""
LICENCE = re.compile(r"(LICEN[CS]E|COPYING|NOTICE)", re.IGNORECASE)
IMPORTS = re.compile(r"(?:^|[;:])[ \t]*(?:from[ \t]+([\w.]+)|import[ \t]+([^\n;#]*))", re.MULTILINE)
OPTIONAL = ("llvmlite",)  # without them everything is computed, slower
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of statements that hold statements."""
IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception"}


@dataclass(frozen=True)
class Package:
    """A top-level package or module that goes into the FMU.

    Attributes
    ----------
    name : str
    source : Path
        Folder, or file of a single module.
    distribution, version : str
        The distribution of the module; empty for a module of none.
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
        contents, place = {}, self.source.parent
        for folder, folders, names in os.walk(self.source):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                path = Path(folder, name)
                relative = path.relative_to(place)
                if not is_left_out(relative) and path.is_file():
                    contents[relative.as_posix()] = path.read_bytes()
        return contents


@dataclass
class Bundle:
    """The code and data that a model needs in another process.

    Parameters
    ----------
    used : sequence of Entry
        The registered classes that the model uses.
    known : sequence of Entry
        All registered classes: they tell which package belongs to which plugin.
    ours : sequence of str
        Packages that run the FMU.

    Attributes
    ----------
    packages : dict of str to Package
        To be carried: ours, those of the plugins in use, and modules that no distribution has.
    requires : dict of str to str
        To be installed where the FMU runs: import name and distribution.

    Raises
    ------
    ModelError
        For every class in use whose source cannot be carried.
    """

    used: Iterable[Entry]
    known: Iterable[Entry]
    ours: Sequence[str] = OURS
    packages: dict[str, Package] = field(default_factory=dict)
    requires: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._problems: list[cosim.Problem] = []
        self._shipped_by = _shipped_by()
        entries = list(self.known)
        self._owners = {  # without importing what is not used
            _top(e.target.partition(":")[0]): (e.distribution, "" if e.version == "?" else e.version)
            for e in entries
        }
        self._plugins = {e.distribution for e in entries if e.distribution}
        framework = self._owners.get("cosim_fmu", ("cosim-framework", cosim.__version__))
        self._owners |= dict.fromkeys(self.ours, framework)
        for name in self.ours:
            self._add(name, f"package {name}")
        for entry in self.used:
            for cls in entry.cls.__mro__:
                if cls is not object and not self._is_standard(_top(cls.__module__)):
                    self._add(_top(cls.__module__), entry.id, must_be_carried=cls is entry.cls)
                    self._add_inner(cls.__module__, follow=entry.kind == "integrator")
        if self._problems:
            raise cosim.ModelError(self._problems)

    def require(self, name: str) -> None:
        """Require a package that functions import."""
        if name not in self.packages:
            self.requires[name] = self._shipped_by.get(name, [name])[0]

    def manifest(self, model: str) -> dict[str, object]:
        """The facts that the FMU checks before it imports anything."""
        requires = [
            {"name": name, "distribution": distribution, "version": _version(distribution)}
            for name, distribution in sorted(self.requires.items())
        ]
        return {
            "model": model,
            "python": [3, 11],
            "packages": [self.packages[name].row() for name in sorted(self.packages)],
            "requires": requires,
        }

    def licences(self) -> dict[str, bytes]:
        """The licences of what is carried, as its distributions ship them, by their names in the archive."""
        licences = {}
        carried = {p.distribution for p in self.packages.values() if p.distribution} | {"pythonfmu"}
        for distribution in sorted(carried):
            try:
                files = importlib.metadata.files(distribution) or []
            except importlib.metadata.PackageNotFoundError:
                continue
            for file in files:
                if LICENCE.match(file.name) and (path := Path(str(file.locate()))).is_file():
                    licences[f"documentation/licenses/{distribution}/{file.name}"] = path.read_bytes()
        return licences

    def _add(self, name: str, needed_by: str, must_be_carried: bool = False) -> None:
        """Carry a package, and all that it imports, or require it."""
        if name in self.packages or name in self.requires:
            return
        distributions = self._shipped_by.get(name, [])
        is_theirs = name not in self._owners and not self._plugins & set(distributions)
        if distributions and is_theirs and not must_be_carried:
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
            distribution, version = distributions[0], _version(distributions[0])
        package = self.packages[name] = Package(name, source, distribution, version)
        for file, content in package.modules().items():
            text = content.decode()
            if all(self._is_settled(mentioned, name) for mentioned in _mentioned(text)):
                continue  # as in nearly all files: to understand them takes most of an export's time
            for imported, is_needed in _imports(text):
                if self._is_standard(imported) or imported == name:
                    continue
                if name in self.ours and imported in COMMANDS and imported not in self.ours:
                    continue
                if is_needed or imported in self._owners or not self._shipped_by.get(imported):
                    self._add(imported, f"{name} ({file.rpartition('/')[2]})")

    def _add_inner(self, module: str, follow: bool) -> None:
        """Require what functions of a class's module import, and of the modules that it imports.

        An integrator and its helpers are used whole. Of other packages that would be too much: a solver's
        has functions for analyses that no FMU makes.
        """
        if _top(module) not in self.packages or _top(module) in self.ours:
            return
        for name in sorted(_inner_imports(module, set(), follow)):
            distributions = self._shipped_by.get(name, [])
            if distributions and name not in self.packages and name not in OPTIONAL:
                self.requires[name] = distributions[0]

    def _is_settled(self, imported: str, by: str) -> bool:
        return imported in {by, *self.packages, *self.requires} or self._is_standard(imported)

    @staticmethod
    def _is_standard(name: str) -> bool:
        return name in sys.stdlib_module_names


def _shipped_by() -> dict[str, list[str]]:
    """Distributions of each top-level name, without the 40,000 objects that `importlib.metadata` makes."""
    distributions: dict[str, list[str]] = {}
    for entry in dict.fromkeys(sys.path):
        for name, distribution in _shipped_in(entry, _changed(Path(entry))):
            distributions.setdefault(name, []).append(distribution)
    return distributions


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


@functools.cache
def _shipped_in(entry: str, changed: int) -> list[tuple[str, str]]:
    """Top-level names with their distributions, in one folder of the search path as it was then."""
    distributions = importlib.metadata.distributions(path=[entry])
    return [
        (name, distribution.metadata["Name"])
        for distribution in distributions
        for name in _top_level(distribution)
    ]


def _top_level(distribution: importlib.metadata.Distribution) -> Iterable[str]:
    declared = (distribution.read_text("top_level.txt") or "").split()
    if declared:
        return declared
    record = distribution.read_text("RECORD")
    lines = [str(file) for file in distribution.files or ()] if record is None else record.splitlines()
    names: set[str] = set()
    for line in lines:
        if line.partition("/")[0] in names:  # as most of the files of a large package
            continue
        file = line if record is None else "".join(next(csv.reader([line]))[:1])  # lines may be empty
        top, slash, _ = file.partition("/")
        if name := inspect.getmodulename(file):
            names.add(top if slash else name)
    return names


def _top(module: str) -> str:
    return module.partition(".")[0]


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _source_of(name: str) -> Path | None:
    """Folder of a package or file of a module; None for what has no source file."""
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


@dataclass(frozen=True)
class _Import:
    """An import statement: the module's name, whether a function makes it, and whether it may fail."""

    name: str
    in_function: bool
    may_fail: bool


def _imports(source: str) -> Iterator[tuple[str, bool]]:
    r"""Top-level names that a file imports, and whether the file cannot be imported without them.

    Examples
    --------
    >>> list(_imports("import numpy.linalg\ndef f():\n    from fmpy import extract"))
    [('numpy', True), ('fmpy', False)]
    """
    for statement in _all_imports(source):
        yield _top(statement.name), not (statement.in_function or statement.may_fail)


@functools.cache
def _mentioned(source: str) -> frozenset[str]:
    r"""Top-level names that a file may import: its imports, and similar names in its strings.

    Examples
    --------
    >>> sorted(_mentioned("import numpy.linalg, os\ndef f(): from fmpy import extract"))
    ['fmpy', 'numpy', 'os']
    """
    names = set()
    lines = [line for line in source.replace("\\\n", " ").split("\n") if "import" in line]
    for package, several in IMPORTS.findall("\n".join(lines)):
        names |= {_top(name.split()[0]) for name in [package, *several.split(",")] if name.strip()}
    return frozenset(names)


def _inner_imports(module: str, visited: set[str], follow: bool) -> set[str]:
    """Names of other packages that functions of a module import, and of the modules of its package."""
    if module in visited:
        return set()
    visited.add(module)
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not file.endswith(".py"):
        return set()
    names: set[str] = set()
    for statement in _all_imports(Path(file).read_text("utf-8")):
        if _top(statement.name) == _top(module):
            if follow and not statement.in_function and not statement.may_fail:
                names |= _inner_imports(statement.name, visited, follow)
        elif statement.in_function and not statement.may_fail:
            names.add(_top(statement.name))
    return names


@functools.cache
def _all_imports(source: str) -> tuple[_Import, ...]:
    """The imports of a file's text; modules that re-export read the same files."""

    def walk(node: ast.AST, in_function: bool, may_fail: bool) -> Iterator[_Import]:
        if isinstance(node, ast.Import):
            yield from (_Import(alias.name, in_function, may_fail) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield _Import(node.module, in_function, may_fail)
        elif _is_optional(node):
            may_fail = True
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            in_function = True
        for blocks in BLOCKS:  # statements alone: most of a tree are expressions
            for child in getattr(node, blocks, ()):
                yield from walk(child, in_function, may_fail)

    return tuple(walk(ast.parse(source), False, False))


def _is_optional(node: ast.AST) -> bool:
    """Whether the program continues if the imports inside this statement fail."""
    if isinstance(node, ast.Try):
        return any(_catches_import_error(handler) for handler in node.handlers)
    return isinstance(node, ast.If) and any(_is_type_checking(part) for part in ast.walk(node.test))


def _is_type_checking(node: ast.AST) -> bool:
    return "TYPE_CHECKING" in (getattr(node, "id", ""), getattr(node, "attr", ""))


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    if any(isinstance(n, ast.Raise) for n in ast.walk(handler)):
        return False
    if handler.type is None:
        return True
    return any(isinstance(n, ast.Name) and n.id in IMPORT_ERRORS for n in ast.walk(handler.type))

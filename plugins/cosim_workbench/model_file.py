"""A model that is written in a TOML file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import cosim
from cosim_toml.toml_file import TomlFile
from cosim_toml.toml_lines import KeyPath
from cosim_workbench.located_model import Build, LocatedModel
from cosim_workbench.model_file_error import ModelFileError
from cosim_workbench.wording import unknown

ELSEWHERE = {"participants": "cosimulate", "master": "cosimulate"}
MOST_PROBLEMS = 100
"""Problems of one file: the search for the closest name of each takes some milliseconds."""
STEP = re.compile(r'\[(\d+)\]|"([^"]*)"|([^.\[\]"]+)')


class Entry(NamedTuple):
    """A part of a table: its place, its name in messages and in the model, and its content."""

    path: KeyPath
    label: str
    name: str
    content: Any


class ModelFile:
    r"""Reads a model file; its tables are read by what plugins registered as model tables.

    Parameters
    ----------
    path : path_like

    Attributes
    ----------
    model : cosim.Model
    problems : list of Problem
        Every fault that reading found, with file and line.

    Raises
    ------
    ModelFileError
        When the file cannot be read, or is not TOML.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> text = '[measures.wave]\ntype = "sinusoid"\namplitude = 2.0\nfrequency = 3.0\nphase = 0.0'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "wave.toml"
    ...     _ = path.write_text(text)
    ...     model = ModelFile.read(path)
    >>> model.name, list(model.parts)
    ('wave', ['wave'])
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        try:
            self.file = TomlFile.read(Path(path))
        except cosim.ModelError as error:
            raise ModelFileError(error.problems) from None
        self.problems: list[cosim.Problem] = []
        self._owners: dict[str, KeyPath] = {}
        header = self.file.data.get("model", {})
        self._header = header if isinstance(header, dict) else {}
        self.model = LocatedModel(self.file.path.stem, self._building, self._place_of_setting)
        self.model.folder = self.file.path.parent
        tables = self._tables()
        allowed = {**tables, "model": None}
        for key in self.file.data:
            if key not in allowed:
                self._add((key,), key, self._unknown_table(key, list(allowed)))
        if not self.file.data.keys().isdisjoint(ELSEWHERE):
            return  # what a scenario has under the names of tables of a model is not a fault
        self._read_header(tables)
        for key, table in tables.items():
            if key in self.file.data:
                self._read_table(table)
        if not self._is_cut_short():
            self._check_names(tables)
        if self.problems and not self._is_cut_short():
            self._find_what_building_refuses()

    @classmethod
    def read(cls, path: str | PathLike[str]) -> cosim.Model:
        """The model of a file.

        Raises
        ------
        ModelFileError
            All faults of the file together, each with its line.
        """
        read = cls(path)
        read.check()
        return read.model

    def check(self) -> None:
        """Raise `ModelFileError` when a problem was found."""
        if self.problems:
            raise ModelFileError(sorted(self.problems, key=lambda p: self._order(p.where)))

    def build(self) -> cosim.System:
        """The assembled system; faults of the wiring, the starts and the signals have their lines too."""
        return self.model.build()

    def _building(self, build: Build) -> cosim.System:
        """Build, and give every fault that the model has then its line in the file."""
        self.check()
        try:
            system = self._located(build)
            self._check_signals(system)
            self.check()
        finally:
            self.problems.clear()  # the model may be corrected and built again
        return system

    def _find_what_building_refuses(self) -> None:
        """Build what could be read, for the faults that only this finds; not what follows from others."""
        written = {n for table in self.file.data.values() if isinstance(table, dict) for n in table}
        missing = written - set(self.model.parts)
        reported = {self._label(problem.where) for problem in self.problems}
        refused: tuple[cosim.Problem, ...] = ()
        try:
            cosim.Model.build(self.model)
        except cosim.ModelError as error:
            refused = tuple(error.problems)
        except cosim.CosimError:
            pass  # it follows from a problem that is listed already
        for problem in refused:
            path, label = self._place(problem.where)
            mentioned = set(re.findall(r"\w+", f"{problem.where} {problem.text.partition('.')[0]}"))
            is_of_a_quantity = "." in problem.where or problem.text.startswith(("no signal", "no part"))
            follows = bool(mentioned & missing) or label.partition(" (")[0] in reported
            if path and is_of_a_quantity and not follows:
                self._add(path, label, problem.text)
        self._check_heads(missing | {label.rpartition(".")[2] for label in reported})

    def _label(self, where: str) -> str:
        """The part of a place behind file and line."""
        return where.removeprefix(str(self.file.path)).lstrip(":0123456789 ")

    def _check_heads(self, faulty: set[str]) -> None:
        """Signals to record, and starts, that begin with the name of no part, nor of one that has a fault."""
        parts = set(self.model.parts)

        def is_missing(head: str) -> bool:
            return head not in parts and not any(head.startswith(name) for name in faulty if name)

        for index, pattern in enumerate(self.model.simulation.get("signals") or ()):
            if "*" not in (head := _head(str(pattern))) and "?" not in head and is_missing(head):
                path = ("simulation", "output", "signals", index)
                self._add(path, "simulation.output.signals", unknown("part", head, parts))
        for start in self.model.starts:
            if is_missing(_head(start)):
                self._add(self.file.place(("starts",), start), "starts", unknown("part", _head(start), parts))

    def _place_of_setting(self, name: str) -> str:
        """The place of a setting of a run, or of the table if it is missing."""
        table = self.file.data.get("simulation", {})
        path = ("simulation", name) if isinstance(table, dict) and name in table else ("simulation",)
        return self.file.where(path, f"simulation: {name}" if name else "simulation")

    def _located(self, build: Build) -> cosim.System:
        try:
            return build()
        except cosim.ModelError as error:
            for problem in error.problems:
                table, _, path = problem.where.partition(": ")
                if table == "starts":
                    self._add(self.file.place(("starts",), path), f"starts: {path}", problem.text)
                else:
                    self._add(*self._place(problem.where), problem.text)
            self.check()
            raise

    def _check_signals(self, system: cosim.System) -> None:
        """Record which signals that are to be recorded are not there."""
        for index, pattern in enumerate(self.model.simulation.get("signals") or ()):
            with self._collected(("simulation", "output", "signals", index), "simulation.output.signals"):
                _check_signal(system, pattern)

    def _tables(self) -> dict[str, cosim.ModelTable]:
        """The readers in the order of their tables in the file; then those that come last."""
        owners: dict[str, str] = {}
        readers: dict[str, cosim.ModelTable] = {}
        for entry in cosim.registry().entries("model_table"):
            table: cosim.ModelTable = entry.cls()
            if table.table in readers:
                claims = f"{owners[table.table]} and {entry.owner}"
                text = f"claimed by {claims}; uninstall one of them"
                raise ModelFileError.of(f"{self.file.path}: table [{table.table}]", text)
            owners[table.table], readers[table.table] = entry.owner, table
        order = {key: place for place, key in enumerate(self.file.data)}
        return dict(
            sorted(readers.items(), key=lambda item: (item[1].comes_last, order.get(item[0], len(order))))
        )

    def _read_header(self, tables: dict[str, cosim.ModelTable]) -> None:
        """Table ``[model]``: the name, and what tables and the model itself claim as settings."""
        self._read_name()
        written = {key: value for key, value in self._header.items() if key != "name"}
        self._read_settings(written, {key for table in tables.values() for key in table.settings})
        if "dynamics" in written:
            self._check_solver()
        for key, table in tables.items():
            if key in self.file.data or any(setting in written for setting in table.settings):
                settings = {name: written.get(name, default) for name, default in table.settings.items()}
                with self._collected(("model",), "model"):
                    table.begin(self.model, settings)

    def _read_name(self) -> None:
        if not isinstance(self.file.data.get("model", {}), dict):
            self._add(("model",), "model", "model is not a table: write [model]")
        name = self._header.get("name", self.model.name)
        if not isinstance(name, str) or not name:
            self._add(("model", "name"), "model", f"name is {name!r}, needs a text")
        else:
            self.model.name = name

    def _read_settings(self, written: dict[str, Any], claimed: set[str]) -> None:
        """Settings of the model itself; those that tables claim are read by them."""
        model_settings = set(self.model.settings)
        for key, value in written.items():
            if key in model_settings:
                self.model.settings[key] = value
            elif key in cosim.Model.ABOUT:
                if not isinstance(value, str):
                    self._add(("model", key), "model", f"{key} is {value!r}, needs a text")
                self.model.settings[key] = value
            elif key not in claimed:
                text = unknown("key", key, ["name", *sorted(model_settings | claimed | {*cosim.Model.ABOUT})])
                self._add(("model", key), "model", text)

    def _check_solver(self) -> None:
        """Check the solver that the file names; ``tree`` is short for ``dynamics.tree``."""
        solver = self.model.settings.get("dynamics")
        if isinstance(solver, str) and "." not in solver:
            solver = self.model.settings["dynamics"] = f"dynamics.{solver}"
        with self._collected(("model", "dynamics"), "model"):
            cosim.registry().get("dynamics_solver", str(solver))

    def _read_table(self, table: cosim.ModelTable) -> None:
        content, key = self.file.data[table.table], table.table
        needs = {"rows": f"[[{key}]]", "table": f"[{key}]"}.get(table.form, f"[{key}.name]")
        if table.form == "rows":
            if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
                self._add((key,), key, f"is not a list of tables: write {needs}")
                return
        elif not isinstance(content, dict):
            self._add((key,), key, f"is not a table: write {needs}")
            return
        for entry in _entries(table, content):
            if len(self.problems) >= MOST_PROBLEMS:
                self._add(entry.path, key, f"there are {MOST_PROBLEMS} problems above: the rest is not read")
                return
            if isinstance(entry.content, dict):
                self._read_entry(table, entry)
            else:
                write = needs.replace("name", entry.name)
                self._add(entry.path, key, f"{entry.name} = {entry.content!r} is not a table: write {write}")

    def _check_names(self, tables: dict[str, cosim.ModelTable]) -> None:
        """Check that attachments and both ends of connections begin with the name of a part."""
        of_parts = [
            table
            for key, table in tables.items()
            if table.form == "entries" and isinstance(self.file.data.get(key), dict)
        ]
        names = set(self.model.parts)
        for table in of_parts:
            names.update(self.file.data[table.table])  # a part that could not be made is not missing besides
        for name, part in self.model.parts.items():
            for attachment, value in part.values.attachments.items():
                for attached in value if isinstance(value, list) else [value]:
                    self._check_attachment(f"{name}.{attachment}", attached, names)
        for table in of_parts:
            self._check_attached(table, names)
        for index, ends in enumerate(self.model.connections):
            for key, end in zip(("from", "to"), ends[:2], strict=True):
                if _head(end) not in names:
                    text = f"{key}: {unknown('part', _head(end), names)}"
                    self._add(("connections", index, key), f"connections[{index}]", text)

    def _check_attachment(self, where: str, attached: Any, names: set[str]) -> None:
        """Check what one attachment of a part that was built is attached to."""
        if isinstance(attached, cosim.Component) or attached is None:
            return
        path, label = self._place(where)
        attachment = where.rpartition(".")[2]
        if not isinstance(attached, str):
            self._add(path, label, f"{attachment} is {attached!r}, needs the name of a part")
        elif _head(attached) not in names:
            self._add(path, label, f"{attachment}: {unknown('part', _head(attached), names)}")

    def _check_attached(self, table: cosim.ModelTable, names: set[str]) -> None:
        """Check the attachments of parts that could not be built, as they are written."""
        for name, entry in self.file.data[table.table].items():
            if name in self.model.parts or not isinstance(entry, dict):
                continue
            try:
                cls = cosim.registry().get("component", table.full_id(str(entry.get("type", ""))))
            except cosim.LookUpError:
                continue
            attachments = (d for d in cls.declarations.values() if d.kind == "attachment")
            for declaration in attachments:
                attached = entry.get(declaration.name)
                if isinstance(attached, str) and _head(attached) not in names:
                    path = (table.table, name, declaration.name)
                    text = f"{declaration.name}: {unknown('part', _head(attached), names)}"
                    self._add(path, f"{table.table}.{name}", text)

    def _read_entry(self, table: cosim.ModelTable, entry: Entry) -> None:
        """Let a table read an entry, and store the places of the model's parts."""

        def report(key_path: str, text: str) -> None:
            self._add((*entry.path, *_steps(key_path)), entry.label, _naming(key_path, text))

        before = len(self.model.parts)
        try:
            table.read(self.model, entry.name, entry.content.copy(), report)
        except cosim.CosimError as error:
            self._record(error, entry.path, entry.label, entry.name)
        parts = self.model.parts
        for name in islice(reversed(parts), len(parts) - before):
            self._owners[name] = entry.path

    @contextmanager
    def _collected(self, path: KeyPath, label: str) -> Iterator[None]:
        """Record an error as a problem of this place."""
        try:
            yield
        except cosim.CosimError as error:
            self._record(error, path, label)

    def _record(self, error: cosim.CosimError, path: KeyPath, label: str, part: str = "") -> None:
        """Record an error as a problem of a place, or of an entry inside it that the error names."""
        if isinstance(error, cosim.ModelError):
            for problem in error.problems:
                where = problem.where.removeprefix(f"{part}.") if problem.where != part else ""
                self._add((*path, *_steps(where)), label, _naming(where, problem.text))
        elif isinstance(error, cosim.LookUpError):
            key_path = self.file.find(error.name)
            inside = key_path if key_path is not None and key_path[: len(path)] == path else None
            self._add(inside or (*path, "type"), label, str(error))
        else:
            self._add(path, label, str(error))

    def _is_cut_short(self) -> bool:
        """Whether the file has more problems than it is searched for, so that parts are missing."""
        return len(self.problems) > MOST_PROBLEMS

    def _place(self, where: str) -> tuple[KeyPath, str]:
        """Key path and label of a fault that the assembly found: ``felt.source``, ``a.b → c.d``, a part."""
        if " → " in where:
            for index, (source, target, *_) in enumerate(self.model.connections):
                if where == f"{source} → {target}":
                    return ("connections", index), f"connections[{index}] ({where})"
        part, _, key_path = where.partition(".")
        if part in self._owners:
            owner = self._owners[part]
            return (*owner, *_steps(key_path)), ".".join(map(str, owner))
        return (), where

    def _add(self, path: KeyPath, label: str, text: str) -> None:
        problem = cosim.Problem(self.file.where(path, label), text)
        if problem not in self.problems:
            self.problems.append(problem)

    def _order(self, where: str) -> int:
        line = re.match(re.escape(str(self.file.path)) + r":(\d+)", where)
        return int(line[1]) if line else 0

    def _unknown_table(self, key: str, tables: list[str]) -> str:
        if key in ELSEWHERE:
            return f"no table of a model: this is a scenario, run it with `cosim {ELSEWHERE[key]}`"
        return unknown("table", key, tables)


def _entries(table: cosim.ModelTable, content: Any) -> list[Entry]:
    """The parts of what is written in a table, by its form."""
    key = table.table
    if table.form == "rows":
        return [Entry((key, i), f"{key}[{i}]", str(i), row) for i, row in enumerate(content)]
    if table.form == "table":
        return [Entry((key,), key, "", content)]
    return [Entry((key, name), f"{key}.{name}", name, entry) for name, entry in content.items()]


def _check_signal(system: cosim.System, pattern: Any) -> None:
    """A signal that is recorded has to be there."""
    if isinstance(pattern, str) and ("*" in pattern or "?" in pattern):
        expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
        if not any(re.fullmatch(expression, path) for path in system.variables):
            raise cosim.LookUpError("signal", pattern, system.variables)
    else:
        system.signal(str(pattern))


def _steps(key_path: str) -> KeyPath:
    """``frame.position[2]`` as a key path."""
    return tuple(int(m[1]) if m[1] else m[2] or m[3] for m in STEP.finditer(key_path))


def _head(path: str) -> str:
    """The name of the part that a path begins with."""
    return path.partition(".")[0].partition("[")[0]


def _naming(key_path: str, text: str) -> str:
    """The text, with the name of its entry unless it has that already."""
    names = [step for step in _steps(key_path) if isinstance(step, str)]
    says_so = not names or names[-1] == "type" or names[-1] in text
    return text if says_so else f"{key_path}: {text}"

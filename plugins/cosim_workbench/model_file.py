"""A model that is written in a TOML file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import cosim
from cosim_toml.toml_file import TomlFile
from cosim_toml.toml_lines import KeyPath
from cosim_workbench.file_names import check_part_names, check_paths, check_signals
from cosim_workbench.file_problems import MOST_PROBLEMS, FileProblems, key_steps, text_with_name
from cosim_workbench.located_model import Build, LocatedModel
from cosim_workbench.model_file_error import ModelFileError
from cosim_workbench.wording import unknown

ELSEWHERE = {"participants": "cosimulate", "master": "cosimulate"}


class Entry(NamedTuple):
    """An entry of a table: its place, its name in messages and in the model, and its content."""

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
        header = self.file.data.get("model", {})
        self._header = header if isinstance(header, dict) else {}
        self.model = LocatedModel(self.file.path.stem, self._building, self._place_of_setting)
        self.model.folder = self.file.path.parent
        self._problems = FileProblems(self.file, self.model)
        tables = self._tables()
        allowed = {**tables, "model": None}
        for key in self.file.data:
            if key not in allowed:
                self._problems.add((key,), key, self._unknown_table(key, list(allowed)))
        if not self.file.data.keys().isdisjoint(ELSEWHERE):
            return  # what a scenario has under the names of tables of a model is not a fault
        self._read_header(tables)
        for key, table in tables.items():
            if key in self.file.data:
                self._read_table(table)
        if not self._problems.is_cut_short:
            check_part_names(self._problems, tables)
        if self._problems.listed and not self._problems.is_cut_short:
            self._add_faults_of_building()

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
        self._problems.check()

    def build(self) -> cosim.System:
        """The assembled system; faults of the wiring, the starts and the signals have their lines too."""
        return self.model.build()

    def _building(self, build: Build) -> cosim.System:
        """Build, and report each fault of the model with its line in the file."""
        self.check()
        try:
            system = self._located(build)
            check_signals(self._problems, system)
            self.check()
        finally:
            self._problems.listed.clear()  # the model may be corrected and built again
        return system

    def _add_faults_of_building(self) -> None:
        """Build what could be read, and add new faults, unless they follow from others."""
        written = {n for table in self.file.data.values() if isinstance(table, dict) for n in table}
        missing = written - set(self.model.parts)
        reported = {self._label(problem.where) for problem in self._problems.listed}
        refused: tuple[cosim.Problem, ...] = ()
        try:
            cosim.Model.build(self.model)
        except cosim.ModelError as error:
            refused = tuple(error.problems)
        except cosim.CosimError:
            pass  # it follows from a problem that is listed already
        for problem in refused:
            path, label = self._problems.place(problem.where)
            mentioned = set(re.findall(r"\w+", f"{problem.where} {problem.text.partition('.')[0]}"))
            is_of_a_quantity = "." in problem.where or problem.text.startswith(("no signal", "no part"))
            follows = bool(mentioned & missing) or label.partition(" (")[0] in reported
            if path and is_of_a_quantity and not follows:
                self._problems.add(path, label, problem.text)
        check_paths(self._problems, missing | {label.rpartition(".")[2] for label in reported})

    def _label(self, where: str) -> str:
        """The text of a place after file and line."""
        return where.removeprefix(str(self.file.path)).lstrip(":0123456789 ")

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
                    self._problems.add(self.file.place(("starts",), path), f"starts: {path}", problem.text)
                else:
                    self._problems.add(*self._problems.place(problem.where), problem.text)
            self.check()
            raise

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
                with self._problems.collected(("model",), "model"):
                    table.begin(self.model, settings)

    def _read_name(self) -> None:
        if not isinstance(self.file.data.get("model", {}), dict):
            self._problems.add(("model",), "model", "model is not a table: write [model]")
        name = self._header.get("name", self.model.name)
        if not isinstance(name, str) or not name:
            self._problems.add(("model", "name"), "model", f"name is {name!r}, needs a text")
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
                    self._problems.add(("model", key), "model", f"{key} is {value!r}, needs a text")
                self.model.settings[key] = value
            elif key not in claimed:
                text = unknown("key", key, ["name", *sorted(model_settings | claimed | {*cosim.Model.ABOUT})])
                self._problems.add(("model", key), "model", text)

    def _check_solver(self) -> None:
        """Check the solver that the file names; ``tree`` is short for ``dynamics.tree``."""
        solver = self.model.settings.get("dynamics")
        if isinstance(solver, str) and "." not in solver:
            solver = self.model.settings["dynamics"] = f"dynamics.{solver}"
        with self._problems.collected(("model", "dynamics"), "model"):
            cosim.registry().get("dynamics_solver", str(solver))

    def _read_table(self, table: cosim.ModelTable) -> None:
        content, key = self.file.data[table.table], table.table
        needs = {"rows": f"[[{key}]]", "table": f"[{key}]"}.get(table.form, f"[{key}.name]")
        if table.form == "rows":
            if not isinstance(content, list) or not all(isinstance(row, dict) for row in content):
                self._problems.add((key,), key, f"is not a list of tables: write {needs}")
                return
        elif not isinstance(content, dict):
            self._problems.add((key,), key, f"is not a table: write {needs}")
            return
        for entry in _entries(table, content):
            if len(self._problems.listed) >= MOST_PROBLEMS:
                self._problems.add(
                    entry.path, key, f"there are {MOST_PROBLEMS} problems above: the rest is not read"
                )
                return
            if isinstance(entry.content, dict):
                self._read_entry(table, entry)
            else:
                write = needs.replace("name", entry.name)
                self._problems.add(
                    entry.path, key, f"{entry.name} = {entry.content!r} is not a table: write {write}"
                )

    def _read_entry(self, table: cosim.ModelTable, entry: Entry) -> None:
        """Let a table read an entry, and store the places of the model's parts."""

        def report(key_path: str, text: str) -> None:
            self._problems.add(
                (*entry.path, *key_steps(key_path)), entry.label, text_with_name(key_path, text)
            )

        parts = self.model.parts
        before = len(parts)
        try:
            table.read(self.model, entry.name, entry.content.copy(), report)
        except cosim.CosimError as error:
            self._problems.record(error, entry.path, entry.label, entry.name)
        for name in islice(reversed(parts), len(parts) - before):
            self._problems.owners[name] = entry.path

    def _unknown_table(self, key: str, tables: list[str]) -> str:
        if key in ELSEWHERE:
            return f"no table of a model: this is a scenario, run it with `cosim {ELSEWHERE[key]}`"
        return unknown("table", key, tables)


def _entries(table: cosim.ModelTable, content: Any) -> Iterator[Entry]:
    """The entries of a table, by its form."""
    key = table.table
    if table.form == "rows":
        return (Entry((key, i), f"{key}[{i}]", str(i), row) for i, row in enumerate(content))
    if table.form == "table":
        return iter([Entry((key,), key, "", content)])
    return (Entry((key, name), f"{key}.{name}", name, entry) for name, entry in content.items())

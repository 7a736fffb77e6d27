"""The problems of a model file, each with the line of the file to which it belongs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import cosim
from cosim_toml.toml_file import TomlFile
from cosim_toml.toml_lines import KeyPath
from cosim_workbench.model_file_error import ModelFileError

MOST_PROBLEMS = 100
"""Problems of one file: the search for the closest name of each takes some milliseconds."""
STEP = re.compile(r'\[(\d+)\]|"([^"]*)"|([^.\[\]"]+)')


class FileProblems:
    """The problems that reading a model file has found.

    Parameters
    ----------
    file : TomlFile
    model : cosim.Model
        The model that is read from it.

    Attributes
    ----------
    listed : list of Problem
    owners : dict of str to tuple
        The key path of the entry of the file that each part of the model was made from.
    """

    def __init__(self, file: TomlFile, model: cosim.Model) -> None:
        self.file, self.model = file, model
        self.listed: list[cosim.Problem] = []
        self.owners: dict[str, KeyPath] = {}

    def check(self) -> None:
        """Raise `ModelFileError` when a problem was found."""
        if self.listed:
            raise ModelFileError(sorted(self.listed, key=lambda problem: self._line(problem.where)))

    @property
    def is_cut_short(self) -> bool:
        """Whether the file has more problems than it is searched for, so that parts are missing."""
        return len(self.listed) > MOST_PROBLEMS

    def add(self, path: KeyPath, label: str, text: str) -> None:
        """Add a problem of a place, unless it is listed already."""
        problem = cosim.Problem(self.file.where(path, label), text)
        if problem not in self.listed:
            self.listed.append(problem)

    def _line(self, where: str) -> int:
        """The line of a place in the file; 0 if it names none."""
        line = re.match(re.escape(str(self.file.path)) + r":(\d+)", where)
        return int(line[1]) if line else 0

    @contextmanager
    def collected(self, path: KeyPath, label: str) -> Iterator[None]:
        """Record an error as a problem of this place."""
        try:
            yield
        except cosim.CosimError as error:
            self.record(error, path, label)

    def record(self, error: cosim.CosimError, path: KeyPath, label: str, part: str = "") -> None:
        """Record an error as a problem of a place, or of an entry inside it that the error names."""
        if isinstance(error, cosim.ModelError):
            for problem in error.problems:
                where = problem.where.removeprefix(f"{part}.") if problem.where != part else ""
                self.add((*path, *key_steps(where)), label, text_with_name(where, problem.text))
        elif isinstance(error, cosim.LookUpError):
            key_path = self.file.find(error.name)
            inside = key_path if key_path is not None and key_path[: len(path)] == path else None
            self.add(inside or (*path, "type"), label, str(error))
        else:
            self.add(path, label, str(error))

    def place(self, where: str) -> tuple[KeyPath, str]:
        """Key path and label of a fault that the assembly found: ``felt.source``, ``a.b → c.d``, a part."""
        if " → " in where:
            for index, (source, target, *_) in enumerate(self.model.connections):
                if where == f"{source} → {target}":
                    return ("connections", index), f"connections[{index}] ({where})"
        part, _, key_path = where.partition(".")
        if part in self.owners:
            owner = self.owners[part]
            return (*owner, *key_steps(key_path)), ".".join(map(str, owner))
        return (), where


def key_steps(key_path: str) -> KeyPath:
    """``frame.position[2]`` as a key path."""
    return tuple(int(m[1]) if m[1] else m[2] or m[3] for m in STEP.finditer(key_path))


def text_with_name(key_path: str, text: str) -> str:
    """The text, with the name of its entry unless it has that already."""
    names = [step for step in key_steps(key_path) if isinstance(step, str)]
    says_so = not names or names[-1] == "type" or names[-1] in text
    return text if says_so else f"{key_path}: {text}"

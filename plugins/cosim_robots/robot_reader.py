"""Robots from files as models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import cosim
from cosim.kit import check_options, option_names
from cosim_robots.import_robot import fill_model, import_robot
from cosim_robots.robot import Robot

M = TypeVar("M", bound=Any)


class RobotReader(cosim.ModelReader):
    """Base of readers of robots; a subclass reads links and joints from a file."""

    @staticmethod
    @abstractmethod
    def read_robot(path: Path) -> Robot:
        """Links and joints of a file."""

    @classmethod
    def read_into(cls, kind: Callable[..., M], path: Path, **options: Any) -> M:
        """The robot as a model of a class; the options are those of `import_robot`."""
        options_of_import = [name for name in option_names(import_robot) if name not in ("read", "path")]
        check_options(f"import of {path}", options, options_of_import)
        tables = import_robot(cls.read_robot, path, **options)
        gravity = tables.data["model"].get("gravity")
        named = kind(tables.name) if gravity is None else kind(tables.name, gravity=gravity)
        model = fill_model(named, tables)
        model.remarks = tables.remarks
        return model

    def read_model(self, path: Path) -> cosim.Model:
        """The robot as its file says, its first link fixed where it does not; an input for each drive."""
        tables = import_robot(self.read_robot, path)
        return fill_model(cosim.Model(tables.name), tables)

"""URDF files as models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import cosim
from cosim.kit import check_options, option_names
from cosim_robots.import_robot import fill_model, import_robot
from cosim_robots.urdf import read_urdf

M = TypeVar("M", bound=Any)


class UrdfReader(cosim.ModelReader):
    """Reads robots in URDF: ``cosim run robot.urdf``, `Multibody.from_urdf`, ``cosim import``."""

    suffixes = (".urdf",)
    read_robot = staticmethod(read_urdf)

    @classmethod
    def read_into(cls, kind: Callable[..., M], path: Path, **options: Any) -> M:
        """The robot as a model of a class; the options are those of `import_robot`."""
        known = [name for name in option_names(import_robot) if name not in ("read", "path")]
        check_options(f"import of {path}", options, known)
        tables = import_robot(cls.read_robot, path, **options)
        model = fill_model(kind(tables.name), tables)
        model.remarks = tables.remarks
        return model

    def read(self, path: Path) -> cosim.Model:
        """The robot with its first link fixed to the world, fixed joints merged, an input for each joint."""
        tables = import_robot(read_urdf, path)
        return fill_model(cosim.Model(tables.name), tables)

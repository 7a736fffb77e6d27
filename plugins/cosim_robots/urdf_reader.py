"""URDF files as models."""

from __future__ import annotations

from pathlib import Path

import cosim
from cosim_robots.robot_reader import RobotReader
from cosim_robots.urdf import read_urdf


class UrdfReader(RobotReader):
    """Reads robots in URDF: ``cosim run robot.urdf``, `Multibody.from_urdf`, ``cosim import``."""

    suffixes = (".urdf",)
    read_robot = staticmethod(read_urdf)

    def read(self, path: Path) -> cosim.Model:
        """See `RobotReader.read_model`."""
        return self.read_model(path)

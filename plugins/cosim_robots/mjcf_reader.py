"""MJCF files as models."""

from __future__ import annotations

from pathlib import Path

import cosim
from cosim_robots.mjcf import read_mjcf
from cosim_robots.robot_reader import RobotReader


class MjcfReader(RobotReader):
    """Reads models of MuJoCo: ``cosim run robot.xml``, `Multibody.from_mjcf`, ``cosim import``."""

    suffixes = (".xml",)
    read_robot = staticmethod(read_mjcf)

    def read(self, path: Path) -> cosim.Model:
        """See `RobotReader.read_model`."""
        return self.read_model(path)

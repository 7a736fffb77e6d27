"""The registration of this package."""

from __future__ import annotations

import cosim
from cosim_robots.import_command import ImportCommand
from cosim_robots.mjcf_reader import MjcfReader
from cosim_robots.urdf_reader import UrdfReader

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    register("robots.urdf", UrdfReader)
    register("robots.mjcf", MjcfReader)
    register("robots.import", ImportCommand)

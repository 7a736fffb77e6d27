"""A model that knows where it was written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cosim

Build = Callable[[], cosim.System]


class LocatedModel(cosim.Model):
    """A model whose faults are reported with the place in its file, also those found when it is built.

    Parameters
    ----------
    name : str
    building : callable
        Is given the function that builds the system, calls it, and puts the place into every error.
    place_of_setting : callable
        Returns the place of a setting of a run in the file.
    **settings
        As for `Model`.
    """

    def __init__(
        self,
        name: str,
        building: Callable[[Build], cosim.System],
        place_of_setting: Callable[[str], str],
        **settings: Any,
    ) -> None:
        super().__init__(name, **settings)
        self._building = building
        self._setting = place_of_setting

    def _place_of_setting(self, name: str) -> str:
        return self._setting(name)

    def build(self) -> cosim.System:
        """Assemble a system.

        Raises
        ------
        ModelFileError
            All faults of the wiring together, each with its line.
        """
        return self._building(super().build)

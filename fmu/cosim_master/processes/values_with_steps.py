"""ValuesWithSteps: values that come back with the answer to a step, for the reads that follow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cosim_master.processes.sent_values import listed

Names = tuple[str, ...]


class ValuesWithSteps:
    """Values of the groups of names that were read after the last step are sent with the answer to the next.

    Attributes
    ----------
    values : dict of tuple of str to list
        By group of names; those at the end of the last step.
    """

    def __init__(self) -> None:
        self._has_stepped = False
        self._read: list[Names] = []
        self.values: dict[Names, list[Any]] = {}

    def names(self) -> list[Names]:
        """The groups to be read with the step that is sent now."""
        names, self._read = self._read, []
        return names

    def store(self, groups: Sequence[Names], values: Sequence[Any]) -> None:
        """Store what came with a step: for each group its values, or None where they could not be read."""
        self._has_stepped = True
        read = zip(groups, values, strict=True)
        self.values = {names: listed(numbers) for names, numbers in read if numbers is not None}

    def read(self, names: Names) -> list[Any] | None:
        """The values of a group, or None if they came with no step; they come with the next one."""
        if self._has_stepped and names not in self._read:
            self._read.append(names)
        return [*self.values[names]] if names in self.values else None

    def discard(self) -> None:
        """Discard the values of the last step, because the participant changes."""
        self._has_stepped = False
        self.values = {}

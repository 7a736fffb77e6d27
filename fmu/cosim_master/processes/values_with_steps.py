"""ValuesWithSteps: values that come back with the answer to a step, for the reads that follow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cosim_master.processes.sent_values import listed

Names = tuple[str, ...]


class ValuesWithSteps:
    """The groups of names that were read behind the step before come with the next one.

    Attributes
    ----------
    values : dict of tuple of str to list
        By group of names, those at the end of the step, until anything but a read is called.
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
        """The values of a group, if they came with the step; the next step brings them in any case."""
        if self._has_stepped and names not in self._read:
            self._read.append(names)
        return [*self.values[names]] if names in self.values else None

    def discard(self) -> None:
        """The participant changes: values that came with the last step are the present ones no more."""
        self._has_stepped = False
        self.values = {}

"""Groups of names of variables: sent to another process once, and referred to by numbers afterwards."""

from __future__ import annotations


class NameGroups:
    """The groups of names that one process knows, or will know with the next message.

    Attributes
    ----------
    new : list of list of str
        The groups that have not been sent yet, in the order of their numbers.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, ...], int] = {}
        self.new: list[list[str]] = []

    def number(self, names: tuple[str, ...]) -> int:
        """The number of a group; a new group goes with the next message."""
        number = self._numbers.get(names)
        if number is None:
            number = self._numbers[names] = len(self._numbers)
            self.new.append([*names])
        return number

    def pop_new(self) -> list[list[str]]:
        """The groups for the message that is sent now."""
        groups, self.new = self.new, []
        return groups

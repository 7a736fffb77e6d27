"""What a table of a model file means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from cosim.model import Model

Report = Callable[[tuple[str, ...], str], None]


class ModelTable(ABC):
    """Reads one table of a model file, such as ``[bodies.engine]``.

    Attributes
    ----------
    table : str
        Name of the table.
    settings : mapping of str to default
        Keys of ``[model]`` that this table understands.
    """

    table: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]] = {}

    def begin(self, model: Model, settings: Mapping[str, Any]) -> None:  # noqa: B027
        """Called once, before any table is read, with the keys of ``[model]`` (defaults filled in)."""

    @abstractmethod
    def read(self, model: Model, name: str, entry: Mapping[str, Any], report: Report) -> None:
        """Add what ``[table.name]`` says to the model.

        Parameters
        ----------
        report : callable
            ``report(("stiffness",), "has shape …")`` notes a problem at a key of the entry.
        """

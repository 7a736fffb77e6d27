"""The subject of a study other than a model: a scenario of FMUs, another program."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cosim import plugin_kind
from cosim.kit import AbstractClosedAttributes

if TYPE_CHECKING:
    from cosim import Result


@plugin_kind("study_subject")
class StudySubject(AbstractClosedAttributes):
    """A program that a study runs with different values, in processes; it can be pickled.

    A plugin registers the class. An instance is one file, or one object, with the settings of its runs.

    Parameters
    ----------
    source : Path, or an object that it takes
    settings : mapping of str to object
        Such as ``until`` (s).
    """

    @abstractmethod
    def __init__(self, source: Any, settings: Mapping[str, Any]) -> None: ...

    @classmethod
    @abstractmethod
    def reads(cls, path: Path) -> bool:
        """Whether this subject reads a file; called for every file of a study."""

    @classmethod
    def takes(cls, studied: Any) -> bool:
        """Whether a study of this object is for it."""
        return False

    @abstractmethod
    def unit(self, path: str) -> str:
        """Unit of a variable that may be varied, or of a signal; `CosimError` where there is none."""

    def start(self, path: str) -> float | None:
        """Value of a variable where it is not varied, in its unit; None where that is not known."""
        return None

    @property
    def start_time(self) -> float:
        """The start of runs, s."""
        return 0.0

    @abstractmethod
    def signals(self) -> list[str]:
        """The signals that are recorded by default."""

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """The facts that determine results, as JSON: digests of files, settings."""

    def why_not_parallel(self) -> str:
        """Why runs of several of these cannot go side by side in one process, in threads; "" where they can.

        Asked in a process of its own, which it may end.
        """
        return "it does not declare that its runs may share a process"

    @abstractmethod
    def run(self, values: Mapping[str, float], signals: Sequence[str]) -> Result:
        """Make one run with values in the units of their variables; `CosimError` if it fails."""

    def kept(self, result: Result) -> Result:
        """The part of a run's values over time that is stored."""
        return result

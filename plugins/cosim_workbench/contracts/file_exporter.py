"""The base of classes that write files other than models for other tools."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import cosim
from cosim.kit import AbstractClosedAttributes, ExportReport


@cosim.plugin_kind("file_exporter")
class FileExporter(AbstractClosedAttributes):
    """Writes files of a kind in another form, for ``cosim export``.

    A plugin registers the class; it is instantiated without arguments.

    Attributes
    ----------
    suffix : str
        Ending of what it writes, in lower case, with the dot.
    what : str
        The conversion in words: "a scenario as an SSP".

    Examples
    --------
    >>> class Scores(FileExporter):
    ...     '''Writes notes as scores.'''
    ...     suffix, what = ".score", "notes as a score"
    ...     @classmethod
    ...     def reads(cls, path): return path.suffix == ".notes"
    ...     def export(self, path, target, **options): return ExportReport(target)
    """

    suffix: ClassVar[str]
    what: ClassVar[str]

    @classmethod
    @abstractmethod
    def reads(cls, path: Path) -> bool:
        """Whether this file is for it."""

    def add_experiment(self, path: Path) -> str:
        """Add an experiment, as `cosim.Exporter.add_experiment` does."""
        return ""

    @abstractmethod
    def export(self, path: Path, target: Path, **options: Any) -> ExportReport:
        """Write a file; `CosimError` where it cannot be written in this form.

        Parameters
        ----------
        path, target : Path
        **options
            Of the FMUs that are made for it, as for `Model.export_fmu`.
        """

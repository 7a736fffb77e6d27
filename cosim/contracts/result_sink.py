"""The contract of sinks, which write the result of a run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cosim.attributes import AbstractClosedAttributes
from cosim.errors import CosimError
from cosim.registration.kinds import plugin_kind

if TYPE_CHECKING:
    from cosim.contracts.result_stream import ResultStream

    Result = Any


@plugin_kind("result_sink")
class ResultSink(AbstractClosedAttributes):
    r"""Writes a `Result` to a file.

    A plugin registers the class; it is instantiated without
    arguments.

    Attributes
    ----------
    suffixes : tuple of str
        Endings of the files that it writes, in lower case, with the dot.
    holds_texts : bool
        Whether signals may be text; else a run that would record some is refused before it begins.

    Examples
    --------
    >>> class LastValues(ResultSink):
    ...     '''Writes the last value of each signal, one a line.'''
    ...     suffixes = (".last",)
    ...     def write(self, result, path):
    ...         lines = [f"{name} {values[-1]!r}" for name, values in result.columns().items()]
    ...         path.write_text("\n".join(lines), "utf-8")
    ...         return path
    """

    suffixes: ClassVar[tuple[str, ...]] = ()
    holds_texts: ClassVar[bool] = True

    @abstractmethod
    def write(self, result: Result, path: Path) -> Path:
        """Write all signals of a result, and return the path of what was written.

        A file that was there is replaced, and only when everything went well.
        """

    def check(self, path: Path) -> None:
        """Refuse a place where nothing can be written, before a run; `CosimError` with what is in the way."""
        _ = path

    def extend(self, result: Result, path: Path, rows: int) -> Path:
        """Append the further rows of a resumed run to a file that has the first rows and nothing else.

        What was there stays until the end of the file has been written, or whole rows of it. Written anew
        unless a sink can do better.

        Parameters
        ----------
        result : Result
        path : Path
        rows : int
            How many this sink has written there.
        """
        return self.write(result, path)

    def is_own(self, path: Path) -> bool:
        """Whether what is there was written as a result, so that another one may replace it unasked."""
        return False

    def stream(self, path: Path, source: Mapping[str, Any] | None = None) -> ResultStream:
        """A stream that writes a file during a run; `CosimError` if this sink has none.

        Parameters
        ----------
        path : Path
        source : mapping of str to object, optional
            What the results are from, for the file: names, digests.
        """
        raise CosimError(f"{path}: {type(self).__name__} writes results only after a run, not during it.")

    def read(self, path: Path) -> Result:
        """A result that was written before; `CosimError` when the file is none, with its line."""
        raise CosimError(f"{path}: {type(self).__name__} only writes files and cannot read them back.")

    def show(self, result: Result) -> Any:
        """Something to look at, without a file."""
        raise CosimError(f"{type(self).__name__} only writes files: give a path.")

"""``--json``: what a command did, as one document."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from cosim.errors import CosimError, ModelError
from cosim.version import __version__

SUMMED_UP = ("verdict", "advice")
"""What a command reports under these names stands at the top of the document."""


class JsonDocument:
    """Collects what a command says, and writes it when it has ended, whichever way.

    ================= ================================================================================
    ``cosim``         version
    ``command``       the word that was typed
    ``status``        the exit status
    ``verdict``       how far to trust the results, where the command says it (and ``advice``: what to do)
    ``result``        what the command reported (`Command.report`), also until an error
    ``errors``        for each: ``kind``, ``where`` (of a fault of a model), ``text``
    ``printed``       what people would have seen on the standard output
    ================= ================================================================================

    Numbers that JSON does not have (NaN, infinite ones) are null.

    Parameters
    ----------
    command : str
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self.result: Mapping[str, Any] = {}
        self.errors: list[dict[str, str]] = []
        self.printed = io.StringIO()

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep what is printed, and send what libraries print past Python to the standard error."""
        with contextlib.redirect_stdout(self.printed), _standard_output_elsewhere():
            yield

    def add_error(self, error: BaseException | str) -> None:
        """Add an error; each fault of a model is one of its own."""
        if isinstance(error, ModelError):
            kind = type(error).__name__
            self.errors += [{"kind": kind, "where": p.where, "text": p.text} for p in error.problems]
        elif isinstance(error, CosimError | KeyboardInterrupt | OSError):
            text = str(error) or ("interrupted" if isinstance(error, KeyboardInterrupt) else "")
            self.errors.append({"kind": type(error).__name__, "where": "", "text": text})
        else:
            self.errors.append({"kind": "fault", "where": "", "text": str(error)})

    def text(self, status: int) -> str:
        """The document."""
        document = {
            "cosim": __version__,
            "command": self.command,
            "status": int(status),
            **{key: plain(self.result[key]) for key in SUMMED_UP if key in self.result},
            "result": plain({key: value for key, value in self.result.items() if key not in SUMMED_UP}),
            "errors": self.errors,
            "printed": self.printed.getvalue(),
        }
        text = json.dumps(document, indent=2, allow_nan=False)  # in ASCII: right in every locale
        return text.replace("\x7f", "\\u007f")  # the only control character that JSON has as it is


def plain(value: Any) -> Any:
    """A value in the types of JSON: numbers that are not finite are null, paths and keys are texts.

    >>> plain({"gain": math.nan, 2: (True, Path("a/b"))})
    {'gain': None, '2': [True, 'a/b']}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    return str(value)


@contextlib.contextmanager
def _standard_output_elsewhere() -> Iterator[None]:
    """Redirect descriptor 1 to 2, so that output of C libraries does not damage the document.

    Does nothing if there is no descriptor 1.
    """
    try:
        standard_output = os.dup(1)
        os.dup2(2, 1)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        if sys.__stdout__ is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.__stdout__.flush()
        os.dup2(standard_output, 1)
        os.close(standard_output)

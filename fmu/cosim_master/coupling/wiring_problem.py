"""A fault of a coupling, with its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cosim
from cosim_toml.toml_lines import KeyPath


@dataclass(frozen=True)
class WiringProblem(cosim.Problem):
    """One fault of a coupling.

    Attributes
    ----------
    where, text : str
    key : tuple
        Its place in a scenario: ("participants", "plant"), ("connections", 1, "from") …
    cause : FmuError or None
        The error of the FMU itself, when it is at fault.
    """

    key: KeyPath = ()
    cause: cosim.FmuError | None = None


def problem(key: KeyPath, text: str, cause: cosim.FmuError | None = None) -> WiringProblem:
    """A problem whose place in words follows from the key: ``connections[1]``."""
    where = ""
    for part in key:
        where += f"[{part}]" if isinstance(part, int) else (f".{part}" if where else part)
    return WiringProblem(where, text, key, cause)


def either(names: Sequence[str]) -> str:
    """Names in a sentence: ``'a', 'b' or 'c'``."""
    return ", ".join(map(repr, names[:-1])) + f" or {names[-1]!r}"

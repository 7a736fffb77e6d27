"""Checks of single arguments: functions, times, mappings, choices, whole numbers, endings of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cosim.errors import CosimError, ModelError, UnitError
from cosim.units import parse_quantity
from cosim.value_text import quote


def check_callable(value: object, name: str, called_with: str) -> None:
    """`ModelError` for what is given in place of a function; None stands for no function.

    Examples
    --------
    >>> check_callable(5, "progress", "the time, s")
    Traceback (most recent call last):
        ...
    cosim.errors.ModelError: progress: is 5, needs a function: it is called with the time, s
    """
    if value is not None and not callable(value):
        raise ModelError.of(name, f"is {quote(value)}, needs a function: it is called with {called_with}")


def read_seconds(value: float | str, name: str) -> float:
    """A time: a number of seconds, or text with a unit; `ModelError` for anything else.

    Examples
    --------
    >>> read_seconds("2 ms", "until"), read_seconds(3, "until")
    (0.002, 3.0)
    """
    if isinstance(value, bool):
        raise ModelError.of(name, f"is {quote(value)}, needs a time: 2.0 (s), or text with a unit, '2 ms'")
    try:
        return parse_quantity(value, "s") if isinstance(value, str) else float(value)
    except (UnitError, TypeError, ValueError) as error:
        reason = f" ({error})" if isinstance(error, UnitError) else ""
        raise ModelError.of(
            name, f"is {quote(value)}, needs a time: 2.0 (s), or text with a unit, '2 ms'{reason}"
        ) from None


def check_mapping(value: object, name: str, example: str) -> None:
    """`ModelError` for what is given in place of a mapping.

    Examples
    --------
    >>> check_mapping([1.0], "values", "{'mass.speed': [1.0, 2.0]}")
    Traceback (most recent call last):
        ...
    cosim.errors.ModelError: values: is [1.0], needs a mapping: {'mass.speed': [1.0, 2.0]}
    """
    if not isinstance(value, Mapping):
        raise ModelError.of(name, f"is {quote(value)}, needs a mapping: {example}")


def check_choice(value: Any, name: str, choices: Iterable[str]) -> None:
    """`ModelError` unless a value is one of these words."""
    choices = list(choices)
    if value not in choices:
        raise ModelError.of(name, f"is {quote(value)}, needs one of {', '.join(map(repr, choices))}")


def check_whole(value: Any, name: str, least: int) -> None:
    """`ModelError` unless a value is a whole number, and so much at least."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelError.of(name, f"is {quote(value)}, needs a whole number, {least} at least")


def check_ending(path: Path, *endings: str) -> None:
    """`CosimError` unless the name of a file ends as its kind is written: by that it is known again.

    Examples
    --------
    >>> check_ending(Path("run.xlsx"), ".csv")
    Traceback (most recent call last):
    ...
    cosim.errors.CosimError: run.xlsx: this writes files that end in .csv: write run.csv
    >>> check_ending(Path("run.CSV"), ".csv")
    """
    if path.suffix.lower() in endings:
        return
    has_ending = path.suffix[1:2].isalpha()  # "run.2" has none
    instead = path.with_suffix(endings[0]) if has_ending else path.with_name(f"{path.name}{endings[0]}")
    raise CosimError(f"{path}: this writes files that end in {', '.join(endings)}: write {instead}")

"""Parts of the arrays of a run, declared by name: what kind they are, and in which array they lie.

Where a part begins and how long it is stands in a directory in `program`, behind the `Plan`; the tables of a
system fill it (`Run.place_of`). The functions that show the parts are written here, one for each name.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from cosim.run_data.records.plan import Plan
from cosim_compiler.record import rows_of, width_of
from cosim_compiler.sources.run_source import run_source

DIRECTORY = width_of(Plan)
REALS = ("scratch", "times", "numbers", "rows")


class Part(cached_property):
    """A part of an array of a run.

    Parameters
    ----------
    array : str
        In which it lies.
    kind : type
        A record, or ``float`` or ``int``: what its rows are.
    is_one : bool
        It is one record.
    is_first : bool
        It is the record with which the array begins.
    """

    def __init__(self, array: str, kind: Any, *, is_one: bool = False, is_first: bool = False) -> None:
        super().__init__(_unnamed)
        self.array, self.kind, self.is_one, self.is_first = array, kind, is_one, is_first

    def __set_name__(self, owner: Any, name: str) -> None:
        super().__set_name__(owner, name)
        place = 0
        if not self.is_first:
            parts = owner.__dict__["PARTS"]
            place = parts.setdefault(name, DIRECTORY + 2 * len(parts))
        namespace = {"rows_of": rows_of, "Kind": self.kind, "__name__": f"{owner.__module__}.{name}"}
        self.func = run_source(self._text(name, place), namespace, f"run.{name}")[name]

    def _text(self, name: str, place: int) -> str:
        at, count = f"run.program[{place}]", f"run.program[{place + 1}]"
        if self.is_first:
            shown = f"rows_of(Kind, run.{self.array}, 0, 1)[0]"
        elif self.is_one:
            shown = f"rows_of(Kind, run.{self.array}, {at}, 1)[0]"
        else:
            shown = f"rows_of(Kind, run.{self.array}, {at}, {count})"
        return f"def {name}(run):\n    return {shown}\n"


def _unnamed(run: Any) -> Any:
    raise AttributeError("this part has no name")


def numbers(array: str) -> Any:
    """Numbers in an array."""
    return Part(array, float if array in REALS else int)


def rows(array: str, record: Any) -> Any:
    """Records in an array."""
    return Part(array, record)


def one(array: str, record: Any) -> Any:
    """One record in an array."""
    return Part(array, record, is_one=True)


def first(array: str, record: Any) -> Any:
    """The record with which an array begins."""
    return Part(array, record, is_first=True)

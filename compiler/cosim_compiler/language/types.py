"""The types of the kernel language.

Three kinds of numbers, tuples of fixed length, views of arrays, and groups: named tuples of views that are
passed as the address of a table. A letter in a signature stands for one of them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field

from cosim_compiler.convention import COMPOUNDS, RECORDS


@dataclass(frozen=True)
class Number:
    """A double, a 64-bit integer, a truth value; or nothing, the result of a function that returns none.

    Attributes
    ----------
    name : str
        The type in words, for refusals.
    rank : int
        A number is converted to a type of higher rank where two types meet. Below 0: not a number.
    lanes : int
        With more than 1 there are so many doubles or truth values, one for each lane.
    """

    name: str
    rank: int
    lanes: int = 1


NOTHING = Number("nothing", -1)
TRUTH = Number("true or false", 0)
WHOLE = Number("a whole number", 1)
REAL = Number("a number", 2)
LANE_COUNTS = 2, 4, 8
"""Lanes: numbers that one instruction computes side by side, one for each of several directions."""
LANES = {count: Number("a number for each lane", 3, count) for count in LANE_COUNTS}
LANE_TRUTHS = {count: Number("true or false for each lane", -2, count) for count in LANE_COUNTS}


@dataclass(frozen=True)
class Tuple:
    """A tuple; `of` is the class of a named one."""

    items: tuple[Type, ...]
    of: type | None = field(default=None, compare=False)


@dataclass(frozen=True)
class View:
    """A contiguous array that lies elsewhere, with one axis or rows by columns; `shape` may be known."""

    item: Number
    axes: int = 1
    shape: tuple[int, ...] | None = None

    @property
    def of_any_shape(self) -> View:
        """The type of all views of these elements and axes, whatever their shape."""
        return View(self.item, self.axes)


@dataclass(frozen=True)
class Group:
    """A named tuple of views, passed as the address of a table of their addresses and lengths."""

    of: type
    letters: str

    def member(self, name: str) -> tuple[int, View]:
        """Index and type of a member."""
        index = self.of._fields.index(name)  # type: ignore[attr-defined]
        view = type_of_letter(self.letters[index])
        assert isinstance(view, View)
        return index, view


@dataclass(frozen=True)
class Record:
    """A record, by its address; with more than 1 `lanes` each of its numbers is one for each lane."""

    of: type
    lanes: int = 1


@dataclass(frozen=True)
class RecordRows:
    """Several records one behind the other, by address of the first and number; `lanes` as above."""

    of: type
    lanes: int = 1


Type = Number | Tuple | View | Group | Record | RecordRows


def class_of(type_: Type) -> type | None:
    """The class whose methods and properties a value has: of a record, a group, a named tuple."""
    return type_.of if isinstance(type_, (Tuple, Group, Record)) else None


def classes_in(types: Sequence[Type]) -> tuple[type | None, ...]:
    """The classes of the tuples in some types, also inside tuples: in these, equal types may differ."""
    tuples = [type_ for type_ in types if isinstance(type_, Tuple)]
    return tuple(of for type_ in tuples for of in (type_.of, *classes_in(type_.items)))


LETTERS: dict[str, Type] = {
    "f": REAL,
    "i": WHOLE,
    "v": NOTHING,
    "F": View(REAL),
    "I": View(WHOLE),
    "M": View(REAL, 2),
    "T": View(WHOLE, 2),
}
COLUMNS_IN_GROUP = 3
"""The columns of each table that is a member of a group."""


def type_of_letter(letter: str) -> Type:
    """The type of a letter of a signature."""
    if letter in COMPOUNDS:
        return Group(*COMPOUNDS[letter])
    if letter in RECORDS:
        return Record(RECORDS[letter][0])
    return LETTERS[letter]


def types_of(signature: str) -> tuple[tuple[Type, ...], Type]:
    """The types of the arguments and of the result of a signature."""
    letters, result = signature.split(">")
    return tuple(map(type_of_letter, letters)), type_of_letter(result)


class DisagreementError(Exception):
    """No type holds the values of both of two types."""


def unify(left: Type, right: Type) -> Type:
    """The narrowest type that holds the values of both.

    Raises
    ------
    DisagreementError
    """
    if left == right:
        return left
    if is_number(left) and is_number(right):
        return left if left.rank > right.rank else right  # type: ignore[union-attr]
    if isinstance(left, Tuple) and isinstance(right, Tuple) and len(left.items) == len(right.items):
        return Tuple(tuple(map(unify, left.items, right.items)), left.of if left.of is right.of else None)
    if isinstance(left, View) and isinstance(right, View) and left.of_any_shape == right.of_any_shape:
        return left.of_any_shape
    raise DisagreementError


def unify_all(types: Sequence[Type]) -> Type:
    """The narrowest type that holds the values of all these types."""
    return functools.reduce(unify, types)


def is_number(type_: Type) -> bool:
    """Whether it is a real, a whole number or a truth value, or one real for each lane."""
    return isinstance(type_, Number) and type_.rank >= TRUTH.rank


def is_for_lanes(type_: Type) -> bool:
    """Whether it is one real for each lane."""
    return isinstance(type_, Number) and type_ in LANES.values()


def is_truth_for_lanes(type_: Type) -> bool:
    """Whether it is one truth value for each lane."""
    return isinstance(type_, Number) and type_ in LANE_TRUTHS.values()


def truth_beside(type_: Number) -> Number:
    """The truth value of a comparison of numbers of a type: one, or one for each lane."""
    return TRUTH if type_.lanes == 1 else LANE_TRUTHS[type_.lanes]


def in_words(type_: Type | None) -> str:
    """A type, as authors call it."""
    if isinstance(type_, Number):
        return type_.name
    if isinstance(type_, View):
        size = "" if type_.shape is None else f" of {' by '.join(map(str, type_.shape))}"
        return ("a view" if type_.axes == 1 else "a table") + size
    if isinstance(type_, Group):
        return f"the arrays of {type_.of.__name__}"
    if isinstance(type_, Record):
        return f"a {type_.of.__name__}"
    if isinstance(type_, RecordRows):
        return f"rows of {type_.of.__name__}"
    if type_ is None:
        return "no number"
    if set(type_.items) in ({REAL}, {WHOLE}):
        return f"a tuple of {len(type_.items)} numbers"
    return f"a tuple of {', '.join(map(in_words, type_.items))}"

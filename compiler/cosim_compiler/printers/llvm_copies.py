"""Loops that do nothing but copy numbers from one view to another.

LLVM makes a call of such a loop where it knows that the two lie apart. Views are handed on by address, so it
does not; the text compares the addresses.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim_compiler.language.typed_form import (
    Constant,
    Element,
    Expression,
    For,
    Member,
    Store,
    Variable,
    view_type,
)
from cosim_compiler.language.types import REAL, WHOLE


class Copy(NamedTuple):
    """The views of a loop that copies; both have one axis and the same kind of numbers."""

    target: Expression
    source: Expression


def copy_of(loop: For) -> Copy | None:
    """What ``for i in range(n): target[i] = source[i]`` copies; None for any other loop."""
    counts_from_0 = isinstance(loop.first, Constant) and loop.first.value == 0
    by_1 = isinstance(loop.step, Constant) and loop.step.value == 1
    if not (counts_from_0 and by_1 and len(loop.body) == 1):
        return None
    store = loop.body[0]
    if not isinstance(store, Store):
        return None
    target, source = _view_counted(store.place, loop.name), _view_counted(store.value, loop.name)
    if target is None or source is None:
        return None
    item = view_type(target).item
    return Copy(target, source) if item in (REAL, WHOLE) and view_type(source).item is item else None


def _view_counted(place: Expression, counter: str) -> Expression | None:
    """The view of ``view[counter]``, where it stays the same from turn to turn."""
    if not isinstance(place, Element) or len(place.indices) != 1:
        return None
    index, view = place.indices[0], place.view
    owner = view.group if isinstance(view, Member) else view
    is_counter = isinstance(index, Variable) and index.name == counter
    return view if is_counter and isinstance(owner, Variable) else None

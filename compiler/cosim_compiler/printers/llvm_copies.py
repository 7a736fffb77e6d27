"""Loops that do nothing but copy numbers from one view to another.

LLVM replaces such a loop by a call of the C library if it knows that the views do not overlap. Views are
passed by address, so it does not know; the text compares the addresses.
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
    """The views between which a loop copies; both have one axis and the same kind of numbers."""

    target: Expression
    source: Expression


def copy_of(loop: For) -> Copy | None:
    """The views of ``for i in range(n): target[i] = source[i]``; None of any other loop."""
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
    """The view of ``view[counter]``, if it is the same view in each turn; else None."""
    if not isinstance(place, Element) or len(place.indices) != 1:
        return None
    index, view = place.indices[0], place.view
    owner = view.group if isinstance(view, Member) else view
    is_counter = isinstance(index, Variable) and index.name == counter
    return view if is_counter and isinstance(owner, Variable) else None

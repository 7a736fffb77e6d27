"""Checks of a tree from outside against a tree of the right form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NoReturn

import numpy as np

import cosim

MOST_LETTERS = 60
"""Letters of a value in a message."""


def check_form(tree: Any, expected: Any, place: str, growing: Collection[str] = ()) -> None:
    """Refuse a tree from outside, which may be forged, if its form differs from the expected one.

    ============= ==================================================================================
    expected      the tree has to be
    ============= ==================================================================================
    mapping       a mapping with at least these keys
    list, tuple   of this length; of any length at a growing place, or where the expected one is empty
    array         of this kind, and at least of this shape; at a growing place the first length may be
                  any, and below "algorithm" the shape is exactly this one
    number, text… of this type
    None          anything
    ============= ==================================================================================

    Parameters
    ----------
    tree : object
    expected : object
        A tree of the right form.
    place : str
        The place of `tree` in the whole tree, for messages: "algorithm", "recorder.times".
    growing : collection of str
        Places whose lists and arrays may have any length.

    Raises
    ------
    CosimError
        With the place, the value there, and the expected form.
    """
    if expected is None:
        return
    if isinstance(expected, Mapping):
        _check_mapping(tree, expected, place, growing)
    elif isinstance(expected, (list, tuple)):
        _check_list(tree, expected, place, growing)
    elif isinstance(expected, np.ndarray):
        _check_array(tree, expected, place, growing)
    elif isinstance(expected, bool):
        if not isinstance(tree, bool):
            _refuse(tree, place, "true or false")
    elif isinstance(expected, (int, float, np.generic)):
        if not isinstance(tree, (bool, int, float)):
            _refuse(tree, place, "a number")
        if isinstance(expected, (int, np.integer)) and isinstance(tree, float):
            _refuse(tree, place, "a whole number")
    elif not isinstance(tree, type(expected)):
        _refuse(tree, place, "text" if isinstance(expected, str) else "bytes")


def _check_mapping(tree: Any, expected: Mapping[Any, Any], place: str, growing: Collection[str]) -> None:
    if not isinstance(tree, Mapping):
        _refuse(tree, place, f"a table of {', '.join(map(str, expected)) or 'names'}")
    for key, value in expected.items():
        if key not in tree:
            _refuse(tree, place, f"an entry {key}")
        check_form(tree[key], value, f"{place}.{key}", growing)


def _check_list(tree: Any, expected: Any, place: str, growing: Collection[str]) -> None:
    has_any_length = place in growing or not expected
    if not isinstance(tree, type(expected)) or (not has_any_length and len(tree) != len(expected)):
        _refuse(tree, place, "a list" if has_any_length else f"a list of {len(expected)}")
    for i, value in enumerate(() if has_any_length else expected):
        check_form(tree[i], value, f"{place}[{i}]", growing)


def _check_array(tree: Any, expected: Any, place: str, growing: Collection[str]) -> None:
    kind = expected.dtype.kind, expected.ndim
    fits = isinstance(tree, np.ndarray) and (tree.dtype.kind, tree.ndim) == kind
    if fits and place.startswith("algorithm"):
        fits = tree.shape == expected.shape
    first = 1 if place in growing else 0
    if not fits or any(np.less(tree.shape[first:], expected.shape[first:])):
        _refuse(tree, place, f"an array of {expected.dtype} of shape {expected.shape}")


def _refuse(tree: Any, place: str, needed: str) -> NoReturn:
    text = "an array" if isinstance(tree, np.ndarray) else repr(tree)
    text = text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"
    raise cosim.CosimError(f"is damaged: its {place} is {text}, needs {needed}")

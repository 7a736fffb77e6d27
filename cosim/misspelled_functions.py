"""Functions of a class whose names are nearly those that its base classes call."""

from __future__ import annotations

import types
from typing import Any

LONG = 8  # letters from which on two of them may be wrong
SHORTEST = 4


def misspelled_functions(cls: type) -> list[str]:
    """A sentence for each public function whose name is nearly that of one that a base class calls.

    It is none of these where a base has a function of that name, where another function of the class names
    it, or where the class has the one that is meant.
    """
    bases = [base for base in cls.__mro__[1:] if base is not object]
    called: dict[str, type] = {}
    for base in reversed(bases):
        body = vars(base)
        called.update((name, base) for name, value in body.items() if _function_of(value) is not None)
        called.update((name, base) for name in (*body.get("hooks", ()), *body.get("plain_methods", ())))
    meant = [name for name in called if not name.startswith("_") and name not in vars(cls)]
    faults = []
    for name, value in vars(cls).items():
        function = _function_of(value)
        if function is None or name.startswith("_") or name in called:
            continue
        near = [other for other in meant if is_misspelled(name, other)]
        if near and not _is_named_in(cls, name):
            code = function.__code__
            faults.append(
                f"{code.co_filename}:{code.co_firstlineno}: {function.__qualname__}: nothing calls {name}: "
                f"{called[near[0]].__name__} calls {near[0]}; name it so, or choose a name less like it"
            )
    return faults


def _function_of(value: Any) -> types.FunctionType | None:
    """The function of a method or property of a class body."""
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    return function if isinstance(function, types.FunctionType) else None


def _is_named_in(cls: type, name: str) -> bool:
    """Whether another function of a class body names it."""
    functions = (_function_of(value) for attribute, value in vars(cls).items() if attribute != name)
    return any(name in function.__code__.co_names for function in functions if function is not None)


def is_misspelled(name: str, meant: str) -> bool:
    """Whether a name is another one with a letter wrong, missing, too many or exchanged, in a long one two.

    Examples
    --------
    >>> is_misspelled("forces", "force"), is_misspelled("intialise", "initialize"), is_misspelled("a", "b")
    (True, True, False)
    """
    most = 1 if len(meant) < LONG else 2
    if len(meant) < SHORTEST or name == meant or abs(len(name) - len(meant)) > most:
        return False
    if len({*name} ^ {*meant}) > 2 * most:  # an edit takes one letter away and brings one
        return False
    return edits(name, meant) <= most


def edits(word: str, target: str) -> int:
    """The number of letters to change, add, remove or exchange with their neighbour (each once)."""
    above: list[int] = []
    row = list(range(len(target) + 1))
    for i, letter in enumerate(word):
        two_above, above, row = above, row, [i + 1]
        for j, target_letter in enumerate(target):
            cost = min(above[j + 1] + 1, row[j] + 1, above[j] + (letter != target_letter))
            if i and j and letter == target[j - 1] and word[i - 1] == target_letter:
                cost = min(cost, two_above[j - 1] + 1)
            row.append(cost)
    return row[-1]

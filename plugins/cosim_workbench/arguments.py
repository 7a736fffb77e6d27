"""Arguments of commands: ids that are typed, and what shells may complete.

Public: commands of other packages may have such arguments, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import cosim

Completer = Callable[[Sequence[str]], Iterable[str]]


def completes(action: argparse.Action, completer: Completer) -> None:
    """Set the possible values of an argument, for ``cosim completion``.

    Arguments with ``choices``, and those with ``type=Path`` or a `RegisteredId`, need none.

    Parameters
    ----------
    action : argparse.Action
        The return value of ``parser.add_argument``.
    completer : callable
        Called with the words of the line before this one.
    """
    action.completer = completer  # type: ignore[attr-defined]


def completions(action: argparse.Action, words: Sequence[str]) -> list[str] | None:
    """The possible values of an argument; None if it is a file, which shells complete themselves."""
    completer: Completer | None = getattr(action, "completer", None)
    if completer is not None:
        return list(completer(words))
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    if isinstance(action.type, RegisteredId):
        return action.type.ids()
    return None if action.type is Path else []


class RegisteredId:
    """Reads an id of some kinds, for the ``type`` of an argument: the whole id, or only its last word.

    Parameters
    ----------
    *kinds : str
        Kinds of plugins: "integrator".

    Raises
    ------
    LookUpError
        With the nearest ids, by letters and by words, when nothing or more than one thing is meant.

    Examples
    --------
    >>> RegisteredId("integrator")("runge_kutta_4")
    'integrators.runge_kutta_4'
    >>> RegisteredId("integrator")("rk4")
    Traceback (most recent call last):
    ...
    cosim.errors.LookUpError: no integrator 'rk4'. Nearest: integrators.runge_kutta_4. ...
    """

    def __init__(self, *kinds: str) -> None:
        self.kinds = kinds

    def __call__(self, typed: str) -> str:
        """The whole id; the typed one may be the part after the dot if that is unique."""
        ids = self.ids()
        matches = [id for id in ids if id.rpartition(".")[2] == typed]
        if typed in ids:
            return typed
        if len(matches) == 1:
            return matches[0]
        faults = []
        for kind in self.kinds:
            try:
                return cosim.registry().entry(kind, typed).id
            except cosim.LookUpError as error:
                faults.append(error)
        kinds = " or ".join(error.what for error in faults)
        near = [id for error in faults for id in error.near]
        raise cosim.LookUpError(
            kinds, typed, ids if all(e.known for e in faults) else [], faults[0].hint, near
        )

    def ids(self) -> list[str]:
        """The ids of all registered classes of these kinds."""
        return [entry.id for kind in self.kinds for entry in cosim.registry().entries(kind)]

"""Recipes of participants: one process pickles them, and the process that it has started carries them out."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import cosim


def pickled_recipe(
    make: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any]
) -> bytes:
    """The recipe from which another process makes the participant.

    Raises
    ------
    ModelError
        It cannot be handed over.
    """
    try:
        recipe = pickle.dumps((make, arguments, keywords))
    except Exception as error:
        raise cosim.ModelError.of("process", f"cannot be handed over to another process: {error}") from error
    if getattr(make, "__module__", "") == "__main__":
        raise cosim.ModelError.of(
            "process",
            f"{getattr(make, '__name__', make)} is defined in the script that is run: another process can "
            "import it from a module only; move it into one",
        )
    return recipe


class Recipes(Protocol):
    """Makes the participants of a process."""

    def make(self, number: int, arguments: list[Any]) -> cosim.Participant:
        """The participant that a call of `OPEN` asks for."""

    def serve(self, name: str, arguments: list[Any]) -> Any:
        """Answer a call that is for no participant."""


class PickledRecipes:
    """Pickled recipes, from the process on the same machine that has started this one."""

    def make(self, number: int, arguments: list[Any]) -> cosim.Participant:
        """The participant that a function makes of its arguments."""
        sys.path[:], recipe = arguments
        make, positional, keywords = pickle.loads(recipe)
        participant: cosim.Participant = make(*positional, **keywords)
        return participant

    def serve(self, name: str, arguments: list[Any]) -> Any:
        """Refuse the call: a process on the same machine has none without a participant."""
        raise cosim.CosimError(f"unknown call {name}")

"""What makes a participant, as bytes for another process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any

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
            f"{getattr(make, '__name__', make)} stands in the script that is run: another process can "
            "only import it from a module; put it into one",
        )
    return recipe

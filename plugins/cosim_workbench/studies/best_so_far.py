"""The best values so far of a search that is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from cosim.kit import uninterrupted


@contextmanager
def writing_best_so_far(stack: ExitStack, write: Callable[[Any], None]) -> Iterator[None]:
    """Call `write` with the best values so far if Ctrl-C or SIGTERM ends the search inside.

    Parameters
    ----------
    stack : ExitStack
        The displays of progress, which are closed before.
    write : callable(result)
        Prints and writes a result. A second interrupt waits until it has returned.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        stack.close()
        if (best := getattr(interrupt, "result", None)) is not None:
            with uninterrupted():
                write(best)
        raise

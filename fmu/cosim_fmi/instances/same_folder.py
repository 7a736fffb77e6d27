"""The folder in which a process works."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cosim_fmi.binding.undisturbed import process_lock


@contextmanager
def same_folder() -> Iterator[None]:
    """Come back to the present folder, whatever FMUs change: the names of files may start from it.

    Where it has been removed there is nothing to come back to.
    """
    folder = ""
    with process_lock, suppress(OSError):
        folder = os.getcwd()
    try:
        yield
    finally:
        with process_lock, suppress(OSError):
            os.chdir(folder)

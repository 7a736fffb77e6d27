"""The process that lists the classes of our own plugins.

It imports every plugin without checking its kernel functions, writes the listing and ends. To check them all
takes four CPU seconds, and a run uses a few of them. A process that uses a class imports its module and
checks it there. The plugins of others are loaded with all checks: a fault of theirs is reported before it is
used.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable

from cosim_compiler import kernel_cache
from cosim_compiler.helper_process import kill_with_parent

_is_listing = False
"""True in the fork that `run_in_listing_process` makes, until it ends."""


def is_listing() -> bool:
    """Whether the classes that this process makes are listed and never used."""
    return _is_listing


def run_in_listing_process(write_listing: Callable[[], object]) -> None:
    """Call a function that writes what it finds into the cache folder, in a fork of this process.

    Nothing is done where this process cannot be forked, or nothing can be kept.
    """
    global _is_listing
    if not hasattr(os, "fork") or threading.active_count() > 1 or not kernel_cache.can_keep():
        return
    parent = os.getpid()
    with warnings.catch_warnings():  # Python has one thread here; BLAS, which has others, survives forks
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        kill_with_parent(parent)
        _is_listing = True
        write_listing()
    finally:  # drops exceptions, too: the parent loads a plugin that failed here, and reports why
        os._exit(0)

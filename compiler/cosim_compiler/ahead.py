"""Compiling the functions of a run before it begins, in as many processes as there are processors.

The forked processes store machine code in the cache, from which this process loads it. Where this process
cannot be forked (another thread runs, or the platform has no fork), or where the cache takes no entries, each
function is compiled when it is needed.
"""

from __future__ import annotations

import logging
import os
import signal
import struct
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from cosim_compiler import kernel_cache, native, units
from cosim_compiler.code import coder
from cosim_compiler.helper_process import kill_with_parent
from cosim_compiler.names_at_rest import names_at_rest

log = logging.getLogger("cosim.native")

Wanted = tuple[Any, str]
NUMBER = struct.Struct("H")
MOST_FUNCTIONS = 2048
"""Compiled ahead at most: all their numbers must fit into a pipe that is not yet read."""
LEAST_PER_PROCESS = 4
"""With fewer functions a process takes longer to get ready than to compile."""
_seen: set[Wanted] = set()
"""Functions that were wanted before. They are not looked for again, since that costs milliseconds for each
Simulator; what has changed since is compiled when it is needed."""


def compile_ahead(wanted: Iterable[Wanted]) -> None:
    """Compile functions that will be asked for by their addresses, and what they call."""
    if native.is_plain():
        return
    new = [item for item in wanted if item not in _seen]
    _seen.update(new)
    with names_at_rest():
        missing = [item for item in units.one_of_each(new) if not units.is_at_hand(*item)][:MOST_FUNCTIONS]
    if len(missing) < 2 or threading.active_count() > 1 or not kernel_cache.can_keep():
        return
    if hasattr(os, "fork") and hasattr(os, "sched_getaffinity"):
        processes = min(len(os.sched_getaffinity(0)), len(missing) // LEAST_PER_PROCESS)
        if processes > 1:
            _compile_in_processes(missing, processes)


def _compile_in_processes(missing: Sequence[Wanted], processes: int) -> None:
    """Let processes take functions from one pipe and report through another which they have compiled."""
    coder().machine.get_ready()
    jobs, jobs_in = os.pipe()
    done, done_in = os.pipe()
    os.write(jobs_in, b"".join(NUMBER.pack(i) for i in range(len(missing))))
    os.close(jobs_in)
    children = [_fork(missing, jobs, done_in, done) for _ in range(processes)]
    os.close(jobs)
    os.close(done_in)
    try:
        for count in range(1, len(missing) + 1):
            number = os.read(done, NUMBER.size)
            if not number:  # all processes have ended
                break
            name = missing[NUMBER.unpack(number)[0]][0].__qualname__
            log.info("compiling: %d of %d, %s", count, len(missing), name)
    except BaseException:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(done)
        for child in children:
            os.waitpid(child, 0)


def _fork(missing: Sequence[Wanted], jobs: int, done_in: int, done: int) -> int:
    """Fork a process that compiles what no other has begun, as long as this one lives; returns its number."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        kill_with_parent(parent)
        os.close(done)
        log.disabled = True
        while number := os.read(jobs, NUMBER.size):
            units.compile_and_keep(*missing[NUMBER.unpack(number)[0]])
            os.write(done_in, number)
    finally:
        # a function that could not be compiled is met again when the run needs it, which says why
        os._exit(0)

"""Compiling the functions of a run before it begins, in as many processes as there are processors.

The processes are forked and keep what they make; this one loads it. Where it cannot be forked (another thread
runs, or the platform does not), or where nothing can be kept, each function is compiled when it is needed.
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
MOST = 2048  # numbers, which fit into a pipe
FEWEST = 4
"""Functions for each process: with fewer it takes longer to get ready than to compile."""
# looked for before, and not again: that costs milliseconds for each Simulator; what has changed since is
# compiled when it is needed
_served: set[Wanted] = set()


def compile_ahead(wanted: Iterable[Wanted]) -> None:
    """Compile functions that will be asked for by their addresses, and what they call."""
    if native.is_plain():
        return
    new = [item for item in wanted if item not in _served]
    _served.update(new)
    with names_at_rest():
        missing = [item for item in units.one_of_each(new) if not units.is_at_hand(*item)][:MOST]
    if len(missing) < 2 or threading.active_count() > 1 or not kernel_cache.can_keep():
        return
    if hasattr(os, "fork") and hasattr(os, "sched_getaffinity"):
        processes = min(len(os.sched_getaffinity(0)), len(missing) // FEWEST)
        if processes > 1:
            _in_processes(missing, processes)


def _in_processes(missing: Sequence[Wanted], processes: int) -> None:
    coder().machine.get_ready()
    jobs, jobs_in = os.pipe()
    answers, answers_in = os.pipe()
    os.write(jobs_in, b"".join(NUMBER.pack(i) for i in range(len(missing))))
    os.close(jobs_in)
    children = [_fork(missing, jobs, answers_in, answers) for _ in range(processes)]
    os.close(jobs)
    os.close(answers_in)
    try:
        for count in range(1, len(missing) + 1):
            number = os.read(answers, NUMBER.size)
            if not number:
                break
            name = missing[NUMBER.unpack(number)[0]][0].__qualname__
            log.info("compiling: %d of %d, %s", count, len(missing), name)
    except BaseException:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        raise
    finally:
        os.close(answers)
        for child in children:
            os.waitpid(child, 0)


def _fork(missing: Sequence[Wanted], jobs: int, answers_in: int, answers: int) -> int:
    """A process that compiles what no other has begun, as long as this one lives; its number."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    try:
        kill_with_parent(parent)
        os.close(answers)
        log.disabled = True
        while number := os.read(jobs, NUMBER.size):
            units.compile_and_keep(*missing[NUMBER.unpack(number)[0]])
            os.write(answers_in, number)
    finally:
        # what it could not compile, the run meets again, and says why
        os._exit(0)

"""The cost of an exchange with FMUs in separate processes for which compiled code waits.

Run it with ``python benchmarks/masters/isolated.py``. The FMU is ``node.c``, whose step costs nothing. The
functions of C that the interpreter of exchanges calls are called here one after the other: set the input,
begin the step of all, finish the step of all, read the output. Each figure includes what ctypes takes for
these calls, and is the least of many short rounds, since the operating system decides when a process wakes.
"""

from __future__ import annotations

import ctypes
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from node_fmu import make_node

from cosim_fmu import ProcessParticipant

ROUNDS, STEPS = 400, 25
"""Rounds, and steps in each."""
STEP = 1e-3
WORD, REAL = ctypes.c_int64, ctypes.c_double
ARRAY_CALL: Any = ctypes.CFUNCTYPE(ctypes.c_int32, *[WORD] * 5)
STEP_CALL: Any = ctypes.CFUNCTYPE(ctypes.c_int32, WORD, REAL, REAL, *[WORD] * 5)


class Called:
    """An isolated FMU, called by the functions of C that compiled code uses."""

    def __init__(self, fmu: Path) -> None:
        self.part = ProcessParticipant(fmu)
        self.part.initialize(0.0, None, {})
        self.part.exit_initialization()
        self._flags, self._values = np.zeros(5), np.zeros(2)
        calls = self.part.native_calls(["u"], ["y"], self._flags)
        if calls is None:
            raise SystemExit("needs Linux with glibc from 2.30 on")
        self._instance, self._keep = calls.instance, calls
        self._set, self._get = ARRAY_CALL(calls.set), ARRAY_CALL(calls.get)
        self._begin, self._step = STEP_CALL(calls.begin), STEP_CALL(calls.step)

    def begin(self, begin: float) -> None:
        self._set(self._instance, 0, 1, self._values.ctypes.data, 1)
        self._begin(self._instance, begin, STEP, 1, 0, 0, 0, 0)

    def finish(self, begin: float) -> None:
        flags = self._flags.ctypes.data
        if self._step(self._instance, begin, STEP, 1, flags, flags + 8, flags + 16, flags + 24) != 0:
            raise SystemExit("a step took longer than 20 ms: the machine is too busy")
        self._get(self._instance, 0, 1, self._values.ctypes.data + 8, 1)


def main() -> None:
    """Print the time of an exchange with one and with two isolated FMUs."""
    fmu = make_node(Path(tempfile.mkdtemp()))
    for count in (1, 2):
        called = [Called(fmu) for _ in range(count)]
        microseconds = [1e6 * _time_round(called, i * STEPS * STEP) / STEPS for i in range(ROUNDS)]
        least, median = min(microseconds), float(np.median(microseconds))
        print(f"{count} isolated: an exchange takes {least:.1f} µs (median {median:.1f})")
        for isolated in called:
            isolated.part.close()


def _time_round(called: list[Called], start: float) -> float:
    """The time of one round of steps from a start (s) on, s."""
    begun = time.perf_counter()
    step_begin = start
    for _ in range(STEPS):
        for isolated in called:
            isolated.begin(step_begin)
        for isolated in called:
            isolated.finish(step_begin)
        step_begin += STEP
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()

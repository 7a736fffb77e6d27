"""Runs a lowered program in this process beside a Simulator, and compares all bytes.

After an event a lowered program evaluates everything, a Simulator only what the event can have changed.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import cosim
from cosim import kit
from cosim.preparation.entries import ENTRIES
from cosim.run_data.records.evaluation import NOTHING
from cosim.run_data.run import ARRAYS, ENTRY_SIGNATURE, Run
from cosim.step import failures
from cosim.system.block_address import block_address
from cosim.walker import BLOCK_SIGNATURE
from cosim_compiler.native import function_address
from cosim_compiler.python_calls import compiled
from cosim_compiler.sources.run_source import run_source
from cosim_lowering.program import Program


def instance(program: Program) -> dict[str, Any]:
    """The arrays of a new run, with the addresses of functions in this process."""
    program.require()
    arrays = {name: program.arrays[name].copy() for name, _, _ in ARRAYS}
    for array, place, name in program.addresses:
        function, signature = program.functions[name]
        is_block = signature == BLOCK_SIGNATURE
        address = block_address(function) if is_block else function_address(function, signature)
        arrays[array].reshape(-1)[place] = address
    return arrays


def _any_entry() -> Any:
    """One function for all entry points, so that the Step, which they share, is compiled once."""
    namespace: dict[str, Any] = dict(ENTRIES)
    lines = [f"    if number == {i}:\n        return {name}(a, t)\n" for i, name in enumerate(ENTRIES)]
    run_source(
        f"def any_entry(number, a, t):\n{''.join(lines)}    return -1\n", namespace, "entries of a test"
    )
    return namespace["any_entry"]


any_entry = _any_entry()
call_any_entry = kit.indirect_call("iif>i")


def call_entry(address, number, head, t):
    return call_any_entry(address, (number, head, t))


@functools.cache
def enter() -> Any:
    return compiled(call_entry, "iiif>i")


@functools.cache
def entry_address() -> int:
    return function_address(any_entry, f"i{ENTRY_SIGNATURE}")


class LoweredRun:
    """A lowered program and its arrays; calls the entry points as a C shell does."""

    def __init__(self, system: cosim.System, *arguments: Any, **options: Any) -> None:
        self.program = Program(system, *arguments, **options)
        self.arrays = instance(self.program)
        self.grown = 0
        self.findings: list[str] = []  # those of the Simulator beside it

    @property
    def memory(self) -> Run:
        """The arrays, as a run."""
        return Run(*(self.arrays[array] for array, _, _ in ARRAYS))

    def call(self, name: str, t: float = 0.0) -> int:
        number = list(ENTRIES).index(name)
        while True:
            arrays = self.memory
            if kit.is_plain():
                with np.errstate(all="ignore"):
                    code = int(any_entry(number, arrays, t))
            else:
                words = [word for array in arrays for word in (array.ctypes.data, array.shape[0])]
                head = np.array(words, dtype=np.int64)
                code = int(enter()(entry_address(), number, head.ctypes.data, t))
            if code != failures.GROW:
                return code
            self.grown += 1
            needed = int(self.memory.failure.needed)
            self.arrays["h"] = np.concatenate([self.arrays["h"], np.zeros(needed - self.arrays["h"].size)])

    @property
    def time(self) -> float:
        return float(self.memory.clock.time)

    def write(self, path: str, value: float) -> None:
        """Set a variable as a shell does."""
        system = self.program.system
        slot = system.written_slot(path) if path in system.inputs else system.signal(path).slot
        self.arrays[slot.array][slot.offset : slot.offset + slot.size] = value
        self.memory.clock.jumped = 1.0
        self.memory.evaluation.stage = NOTHING


def histories(system: cosim.System, k: Any, h: Any) -> list[float]:
    """The entries of all histories, oldest first, each history followed by its state."""
    numbers: list[float] = []
    for slot in system.rings:
        start, capacity, first, count, full, begin, end, order = k[slot.offset : slot.offset + 8].tolist()
        places = [start + 4 * ((first + i) % capacity) for i in range(count)]
        numbers += [*(h[i + j] for i in places for j in range(4)), full, begin, end, order]
    return numbers


def compare(
    system: cosim.System,
    integrator: str,
    times: list[float],
    writes: Any = None,
    made_for: float | None = None,
    **options: Any,
) -> LoweredRun:
    """Run both to these times and compare all bytes at each.

    Parameters
    ----------
    writes : dict
        By time: the paths and values of variables that are written then.
    made_for : float
        The accuracy for which the program is made; that of the options is set later.
    """
    simulator = cosim.Simulator(system, integrator=integrator, **options)
    run = LoweredRun(system, integrator, **{**options, **({"accuracy": made_for} if made_for else {})})
    if made_for:
        assert run.call("accuracy", options["accuracy"]) == failures.REACHED
    status = simulator.initialize()
    assert run.call("initialize", 0.0) == (failures.TERMINATED if not status.succeeded else failures.REACHED)
    check_equal(simulator, run)
    for time in times:
        for path, value in (writes or {}).get(time, []):
            simulator.state[path] = value
            run.write(path, value)
        status = simulator.advance_to(time)
        code = run.call("advance", time)
        if code == failures.TERMINATED:
            run.call("finish")
        assert code == (failures.REACHED if status.succeeded else failures.TERMINATED), (time, code, status)
        check_equal(simulator, run)
        if not status.succeeded:
            break
    run.findings = [finding.kind for finding in simulator.findings]
    simulator.state.realize()
    assert run.call("evaluate", run.time) == failures.REACHED
    variables = [v for v in system.variables.values() if v.slot.array == "c"]
    for variable in variables:
        part = slice(variable.slot.offset, variable.slot.offset + variable.slot.size)
        expected, lowered = simulator.state._arrays["c"][part], run.arrays["c"][part]
        assert expected.tobytes() == lowered.tobytes(), (variable.path, expected, lowered)
    return run


def check_equal(simulator: cosim.Simulator, run: LoweredRun) -> None:
    """Check that time, variables and the memory of the integrator are equal to the last bit."""
    arrays, system = simulator.state._arrays, simulator.system
    assert simulator.state.time == run.time
    for name in "ypd":
        assert arrays[name].tobytes() == run.arrays[name].tobytes(), (
            f"{name} at {run.time}: {system.paths_at(name, np.flatnonzero(arrays[name] != run.arrays[name]))}"
        )
    plain = np.ones(arrays["k"].size, dtype=bool)
    for slot in system.rings:
        plain[slot.offset : slot.offset + slot.size] = False
    assert np.array_equal(arrays["k"][plain], run.arrays["k"][plain])
    expected = histories(system, arrays["k"], arrays["h"])
    lowered = histories(system, run.arrays["k"], run.arrays["h"])
    assert np.array_equal(np.array(expected), np.array(lowered), equal_nan=True)
    for name in ("memory", "indices"):
        assert arrays[name].tobytes() == run.arrays[name].tobytes(), name

"""In the process of a participant: its functions of C, called at the request of the master's process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim.kit import c_address
from cosim_master.abilities import NativeCalls, StepsNatively
from cosim_master.processes.exchange_memory import ExchangeMemory
from cosim_master.processes.shared_exchange import (
    ENTRIES,
    LEAD,
    LEADING,
    SERVER,
    SETTING,
    Server,
    serve,
)

SERVED = (
    *("prepare", "serve", "after_step", "after_access", "after_state"),
    *("remember", "forget", "leave"),
)
"""Messages for `ServedCalls.do`."""
SECONDS_TO_WAIT = 1.0
"""For a request, before Python looks whether the other process is there."""


class ServedCalls:
    """Serves the functions of a participant through shared memory, between messages.

    Parameters
    ----------
    participant : Participant
    folder : Path
        Of the process, where the memory is.
    """

    def __init__(self, participant: Any, folder: Path) -> None:
        self._participant, self._folder = participant, folder
        self._calls: NativeCalls | None = None
        self._kept: dict[int, Any] = {}

    def _prepare(self, inputs: Sequence[str], reads: Sequence[str]) -> tuple[str, dict[str, Any]]:
        """Find the functions; why there are none, or what the other process has to know of them."""
        participant = self._participant
        if not isinstance(participant, StepsNatively):
            return "is called in Python", {}
        try:
            memory = ExchangeMemory(self._folder, len(inputs), len(reads), is_new=True)
        except OSError as error:
            return f"has no memory to share: {error}", {}
        self._memory = memory
        self._inputs, self._reads = list(inputs), list(reads)
        try:
            entry = c_address(serve, ENTRIES[serve])
            calls = participant.native_calls(inputs, reads, memory.flags)
        except cosim.ModelError as error:
            return error.problems[0].text, {}
        except cosim.ContractError as error:  # nothing is compiled here
            return str(error), {}
        if calls is None:
            return "has no functions of C for this", {}
        self._calls = calls
        self._orders = np.ones(max(1, len(inputs)), dtype=np.int32)
        self._server = Server(
            semaphores=memory.semaphores(SECONDS_TO_WAIT),
            **memory.places(),
            inputs=len(inputs),
            outputs=len(reads),
            instance=calls.instance,
            access=calls.access or calls.instance,
            set_at=calls.set,
            input_references=calls.input_references,
            input_count=len(inputs) if calls.input_count is None else calls.input_count,
            set_slopes_at=calls.set_slopes,
            slope_orders=self._orders.ctypes.data,
            step_at=calls.step,
            get_at=calls.get,
            output_references=calls.output_references,
            output_count=len(reads) if calls.output_count is None else calls.output_count,
            save_at=calls.save,
            restore_at=calls.restore,
            free_at=calls.free,
            state_at=calls.state,
        )
        assert ctypes.sizeof(self._server) == 8 * SERVER
        self._serve = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(entry)
        goes_back = bool(calls.save and calls.restore and calls.state)
        return "", {
            "same_size": calls.same_size,
            "set_slopes": bool(calls.set_slopes),
            "saves": goes_back,
            "always_remembered": calls.always_remembered,
            "remembers": [
                name for name in ("remember", "remember_saved") if getattr(calls, name) is not None
            ],
            "after_state": calls.after_state is not None,
            "names": dict(calls.names),
        }

    def do(self, name: str, given: Sequence[Any]) -> Any:
        """What compiled code has left to Python, by name."""
        actions: dict[str, Callable[..., Any]] = {
            "prepare": self._prepare,
            "serve": self._participant.resume_native,
            "after_step": self._after_step,
            "after_access": self._after_access,
            "after_state": self._after_state,
            "remember": self._remember,
            "forget": self._forget,
            "leave": self._leave,
        }
        return actions[name](*given)

    def resume(self) -> None:
        """Python has done something: compiled code goes on from here, once that is answered."""
        if self._calls is not None:
            with suppress(Exception):  # "serve" says it
                self._participant.resume_native()
                self._memory.exchange.is_served = 1

    def serve(self, is_called: Callable[[], bool]) -> None:
        """Answer requests as long as they are as usual, and no message has come."""
        while self._calls is not None and self._memory.exchange.is_served:
            self._serve(ctypes.addressof(self._server))
            if self._memory.exchange.is_served and is_called():
                return

    def _after_step(self, status: int, time: float, size: float) -> tuple[float, list[Any]]:
        """The time that was reached, and what lies inside of the step."""
        reached = self._participant.after_native_step(status, time, size)
        inside = getattr(self._participant, "inside", None)
        points = inside() if inside is not None else ()
        return reached, [(point.time, list(point.names), list(point.values)) for point in points]

    def _after_access(self, call: int, status: int) -> None:
        """Raise why inputs or outputs could not be written or read; inputs are written once more."""
        if call in (SETTING, LEADING):
            if call == SETTING:
                self._participant.after_native_access("Set", status)
                self._participant.set(self._inputs, self._typed(self._memory.inputs.tolist()))
            if self._memory.exchange.request & LEAD:
                self._participant.set_slopes(self._inputs, self._memory.slopes.tolist())
        else:
            self._participant.after_native_access("Get", status)

    def _typed(self, numbers: Sequence[float]) -> list[Any]:
        """Inputs as the participant's methods take them."""
        variables = self._participant.describe().variables
        kinds: dict[str, Any] = {"integer": int, "boolean": bool}
        return [kinds.get(variables[n].type, float)(x) for n, x in zip(self._inputs, numbers, strict=True)]

    def _after_state(self, verb: str, status: int) -> None:
        assert self._calls is not None
        if self._calls.after_state is not None:
            self._calls.after_state(verb, status)

    def _remember(self, how: str) -> int:
        number = max(self._kept, default=0) + 1
        self._kept = {number: getattr(self._calls, how)()}  # the last one alone is gone back to
        return number

    def _forget(self, number: int) -> None:
        assert self._calls is not None and self._calls.forget is not None
        self._calls.forget(self._kept[number])

    def _leave(self) -> None:
        calls, self._calls = self._calls, None
        if calls is not None and calls.leave is not None:
            calls.leave()

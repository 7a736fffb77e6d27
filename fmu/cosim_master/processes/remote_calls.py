"""In the master's process: functions of C that exchange numbers with a participant in another process."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cosim.kit import c_address
from cosim_master.abilities import NativeCalls
from cosim_master.processes.exchange_memory import ExchangeMemory
from cosim_master.processes.shared_exchange import (
    ENTRIES,
    FREEING,
    LEADING,
    LEAVE,
    NOTHING,
    READING,
    RESTORING,
    SAVING,
    SETTING,
    STEP,
    STEPPING,
    Caller,
    ask,
    begin_there,
    caller_at,
    exchange_at,
    get_there,
    lead_there,
    restore_there,
    save_there,
    set_there,
    step_there,
    wait_there,
)

SECONDS_TO_WAIT = 0.02
"""That compiled code waits for an answer before Python looks for signals and limits."""
METHODS = {
    **{SETTING: "set", LEADING: "set_slopes", STEPPING: "step", READING: "get"},
    **{SAVING: "save", RESTORING: "restore", FREEING: "save"},
}
WORD, REAL = ctypes.c_int64, ctypes.c_double
STEP_PROTOTYPE: Any = ctypes.CFUNCTYPE(ctypes.c_int32, WORD, REAL, REAL, *[WORD] * 5)


class RemoteCalls:
    """Asks for exchanges through shared memory, between messages.

    Parameters
    ----------
    folder : Path
        Of the other process.
    inputs, reads : sequence of str

    Attributes
    ----------
    memory : ExchangeMemory

    Raises
    ------
    OSError
        The memory is not there.
    """

    def __init__(self, folder: Path, inputs: Sequence[str], reads: Sequence[str]) -> None:
        self.memory = memory = ExchangeMemory(folder, len(inputs), len(reads))
        self.caller = Caller(semaphores=memory.semaphores(SECONDS_TO_WAIT), **memory.places())
        self.address = ctypes.addressof(self.caller)
        self._addresses = {
            function: c_address(function, signature) for function, signature in ENTRIES.items()
        }
        self._begin = STEP_PROTOTYPE(self._addresses[begin_there])
        self._wait = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(self._addresses[wait_there])

    def calls(self, facts: dict[str, Any], **callbacks: Any) -> NativeCalls:
        """For the interpreter of exchanges.

        Parameters
        ----------
        facts : dict
            What `ServedCalls.prepare` has found.
        **callbacks : callable
            Of `NativeCalls`, those that are wanted.
        """
        address = self._addresses
        self._state = ctypes.c_void_p()
        saves = {
            "save": address[save_there],
            "restore": address[restore_there],
            "state": ctypes.addressof(self._state),
            "always_remembered": facts["always_remembered"],
        }
        return NativeCalls(
            instance=self.address,
            set=address[set_there],
            step=address[step_there],
            begin=address[begin_there],
            get=address[get_there],
            input_references=0,
            output_references=0,
            same_size=facts["same_size"],
            keep=self,
            names=facts["names"],
            set_slopes=address[lead_there] * facts["set_slopes"],
            **(saves if facts["saves"] else {}),
            **callbacks,
        )

    @property
    def is_served(self) -> bool:
        """Whether the other process waits for requests, or answers one."""
        return bool(self.memory.exchange.is_served)

    @property
    def is_awaited(self) -> bool:
        """Whether an answer has not come yet."""
        return bool(self.caller.is_awaited)

    @property
    def calling(self) -> str:
        """Which call is under way in the other process; "" for none."""
        return METHODS.get(self.memory.exchange.calling, "")

    @property
    def is_asked(self) -> bool:
        """Whether the last call has sent a request."""
        return bool(self.caller.is_asked)

    @property
    def unusual(self) -> int:
        """Which call of the last request is left to Python, or `NOTHING`."""
        return int(self.memory.exchange.unusual)

    @unusual.setter
    def unusual(self, call: int) -> None:
        self.memory.exchange.unusual = call

    @property
    def status(self) -> int:
        """What it answered."""
        return int(self.memory.exchange.status)

    def wait(self) -> bool:
        """Wait some milliseconds for an answer; whether it has come."""
        self.caller.has_begun = 0
        self._wait(self.address)
        return not self.is_awaited

    def leave(self) -> None:
        """Have the other process come back to messages; what is pending is done there before."""
        self.caller.is_fresh = 0
        ask(caller_at(self.address), exchange_at(self.caller.exchange_at), LEAVE)

    def begin(self, time: float, size: float) -> None:
        """Have a step begin whose end compiled code asks for."""
        self._begin(self.address, time, size, 1, 0, 0, 0, 0)

    @property
    def has_stepped(self) -> bool:
        """Whether the last request was a step that went well."""
        exchange = self.memory.exchange
        return bool(exchange.request & STEP) and exchange.unusual in (NOTHING, READING)

"""In the master's process: functions of C that exchange numbers with a participant in another process."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cosim.kit import c_address
from cosim_master.abilities import NativeCalls
from cosim_master.processes.exchange_memory import ExchangeMemory
from cosim_master.processes.served_calls import c_functions
from cosim_master.processes.shared_exchange import (
    ENTRIES,
    FREEING,
    LEAD,
    LEADING,
    LEAVE,
    NOTHING,
    READING,
    RESTORING,
    SAVING,
    SET,
    SETTING,
    STEP,
    STEPPING,
    Caller,
    ask,
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

MILLISECONDS = 100
"""That compiled code waits for an answer before Python looks for signals and limits."""
IN_WORDS = {
    **{SETTING: "set", LEADING: "set_slopes", STEPPING: "step", READING: "get"},
    **{SAVING: "save", RESTORING: "restore", FREEING: "save"},
}
POLLIN = 1


class RemoteCalls:
    """Asks for exchanges through shared memory, between messages.

    Parameters
    ----------
    folder : Path
        Of the other process.
    bell, answer : int
        Files: that of requests, and that of answers.
    inputs, reads : sequence of str
    """

    def __init__(
        self, folder: Path, bell: int, answer: int, inputs: Sequence[str], reads: Sequence[str]
    ) -> None:
        self.inputs, self.reads = list(inputs), list(reads)
        self.memory = memory = ExchangeMemory(folder, len(inputs), len(reads))
        self._poll_words = np.array([answer | POLLIN << 32], dtype=np.int64)  # a struct pollfd
        self.caller = Caller(
            **memory.places(),
            **c_functions("read", "write", "poll"),
            bell=bell,
            answer=answer,
            byte_at=memory.byte_at,
            poll_words_at=self._poll_words.ctypes.data,
            milliseconds=MILLISECONDS,
        )
        self.address = ctypes.addressof(self.caller)
        self._wait = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(
            c_address(wait_there, ENTRIES[wait_there])
        )

    def calls(self, facts: dict[str, Any], **callbacks: Any) -> NativeCalls:
        """For the interpreter of exchanges.

        Parameters
        ----------
        facts : dict
            What `ServedCalls.prepare` has found.
        **callbacks : callable
            Of `NativeCalls`, those that are wanted.
        """
        address = {function: c_address(function, signature) for function, signature in ENTRIES.items()}
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
            get=address[get_there],
            input_references=0,
            output_references=0,
            same_size=facts["same_size"],
            keep=self,
            only_together=True,
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
        return IN_WORDS.get(self.memory.exchange.calling, "")

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
        self._wait(self.address)
        return not self.is_awaited

    def leave(self) -> None:
        """Have the other process come back to messages; what is pending is done there before."""
        self.caller.is_fresh = 0
        ask(caller_at(self.address), exchange_at(self.caller.exchange_at), LEAVE)

    def take_pending(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Inputs that no request has taken along, as messages."""
        pending, self.caller.pending = self.caller.pending, 0
        self.caller.is_fresh = 0
        found: list[tuple[str, tuple[Any, ...]]] = []
        if pending & SET and self.inputs:
            found.append(("set", (self.inputs, self.memory.inputs.tolist())))
        if pending & LEAD and self.inputs:
            found.append(("set_slopes", (self.inputs, self.memory.slopes.tolist())))
        return found

    @property
    def has_stepped(self) -> bool:
        """Whether the last request was a step that went well."""
        exchange = self.memory.exchange
        return bool(exchange.request & STEP) and exchange.unusual in (NOTHING, READING)

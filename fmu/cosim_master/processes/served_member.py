"""A participant that compiled code calls in a process of participants (`answer_frames`)."""

from __future__ import annotations

import ctypes
import math
import mmap
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim_fmi.binding.statuses import is_bad
from cosim_master.exchange.call_part import restore_part, save_part
from cosim_master.exchange.exchange_arrays import (
    FREEING,
    LEADING,
    NOTHING,
    READING,
    RESTORING,
    SAVING,
    SETTING,
    STEPPING,
    Part,
)
from cosim_master.native_calls import NativeCalls, StepsNatively
from cosim_master.processes.calls import SAVE, WRITES, Call
from cosim_master.processes.message_memory import exclude_from_forks
from cosim_master.processes.native_steps import MemberArrays

FLAGS = 5
METHODS = {
    **{NOTHING: "", SETTING: "set", LEADING: "set_slopes", STEPPING: "step", READING: "get"},
    **{SAVING: "save", RESTORING: "restore", FREEING: "save"},
}
"""The method of each value of `Part.calling`."""
PARTS = "part-"
"""The name, with a number behind it, of the file of a participant's record in the folder of the process."""


class NotServedError(Exception):
    """The reason why a participant is called in Python."""


class ServedMember:
    """A participant that compiled code calls.

    Attributes
    ----------
    calls : NativeCalls
    member : MemberArrays
    """

    calls: NativeCalls
    member: MemberArrays

    def __init__(self, participant: Any, folder: Path, number: int) -> None:
        self.participant, self.number = participant, number
        self._path = folder / f"{PARTS}{number}"
        self._flags = np.zeros(FLAGS + 1)
        self._flags[FLAGS - 1] = math.inf
        self._remembered: dict[int, Any] = {}

    def find_functions(
        self, names: Sequence[Sequence[str]], written: int | None, read: int, types: Sequence[str]
    ) -> None:
        """Ask the participant for its functions.

        Parameters
        ----------
        names : sequence of sequence of str
        written, read : int
            Which of these groups are inputs and outputs; None for no inputs.
        types : sequence of str
            The types that these may have.
        """
        participant = self.participant
        inputs = [] if written is None else [*names[written]]
        reads = [*names[read]]
        if not isinstance(participant, cosim.Participant) or not isinstance(participant, StepsNatively):
            raise NotServedError("is called in Python")
        variables = participant.describe().variables
        self._types = [variables[name].type for name in inputs]
        if any(variables[name].type not in types for name in (*inputs, *reads)):
            raise NotServedError("some of its variables are read and written in Python")
        try:
            calls = participant.native_calls(inputs, reads, self._flags[:FLAGS])
        except cosim.ModelError as error:
            raise NotServedError(error.problems[0].text) from error
        except (cosim.ContractError, cosim.FmuError) as error:
            raise NotServedError(str(error)) from error
        if calls is None:
            raise NotServedError("has no C functions for this")
        # imported late: most processes need it later or never
        from cosim_master.exchange.exchange_machine import connect_part

        self.calls = calls
        self._orders = np.ones(max(1, len(inputs)), dtype=np.int32)
        try:
            self._part = self._shared_part()
        except OSError as error:
            raise NotServedError(f"has no memory to share: {error}") from error
        connect_part(self._part, calls, len(inputs), len(reads), self._orders.ctypes.data)
        self.member = MemberArrays(
            self.number, (0 if written is None else written, read), len(inputs), len(reads)
        )
        self.member.record.part_at = ctypes.addressof(self._part)
        self.member.record.flags_at = self._flags.ctypes.data

    def _shared_part(self) -> Part:
        """The record of the functions, in a file: so the last call is known after this process has ended."""
        with self._path.open("wb+") as file:
            file.truncate(ctypes.sizeof(Part))
            shared = mmap.mmap(file.fileno(), ctypes.sizeof(Part))
        exclude_from_forks(shared)
        return Part.from_buffer(shared)

    def facts(self) -> dict[str, Any]:
        """The facts that the other process needs."""
        calls = self.calls
        return {
            "same_size": calls.same_size,
            "set_slopes": bool(calls.set_slopes),
            "saves": bool(calls.save and calls.restore and calls.state),
            "always_remembered": calls.always_remembered,
            "remembers": [
                name for name in ("remember", "remember_saved") if getattr(calls, name) is not None
            ],
            "names": dict(calls.names),
        }

    def typed(self, call: Call) -> Call:
        """A call with inputs as the participant's methods take them."""
        kinds: dict[str, Any] = {"integer": int, "boolean": bool}
        pending = list(call.pending)
        if pending and pending[0][0] == WRITES[0]:
            write, group, values = pending[0]
            typed = [kinds.get(kind, float)(value) for kind, value in zip(self._types, values, strict=True)]
            pending[0] = [write, group, typed]
        return call._replace(pending=pending)

    def do_in_place(self, action: str) -> None:
        """Save or restore the state for a message that Python answers."""
        status = save_part(self._part) if action == SAVE else restore_part(self._part)
        if is_bad(status):
            self.check_state(SAVING if action == SAVE else RESTORING, status)

    def check_access(self, verb: str, status: int) -> None:
        """Raise an error if writing inputs or reading outputs has failed."""
        self.participant.check_native_access(verb, status)

    def check_state(self, calling: int, status: int) -> None:
        """Raise the error of a state that could not be saved or restored."""
        if self.calls.after_state is not None:
            self.calls.after_state(METHODS[calling], status)
        raise cosim.CosimError(f"cannot {METHODS[calling]} its state (status {status})")

    def remember(self, method: str) -> int:
        """Store the memory of Python that belongs to a saved state. Returns its number, for `forget`."""
        number = max(self._remembered, default=0) + 1
        self._remembered = {number: getattr(self.calls, method)()}  # only the last one is restored
        return number

    def forget(self, number: int) -> None:
        """Restore the memory of Python with this number."""
        assert self.calls.forget is not None
        self.calls.forget(self._remembered[number])


def call_of_parts(folder: Path) -> tuple[int, str]:
    """Number of the participant that compiled code is calling, and name of the call; else 0 and ""."""
    for path in folder.glob(f"{PARTS}*"):
        with suppress(OSError, ValueError):
            calling = Part.from_buffer_copy(path.read_bytes()).calling
            if METHODS.get(calling):
                return int(path.name.removeprefix(PARTS)), METHODS[calling]
    return 0, ""

"""CompiledCalls: the calls of a participant in another process that compiled code makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.native_calls import NativeCalls
from cosim_master.processes.calls import STEP, WRITES
from cosim_master.processes.native_steps import RemoteMember
from cosim_master.processes.participant_calls import ParticipantCalls
from cosim_master.processes.session import LocalSession, Ticket

Names = tuple[str, ...]


class BegunStep(NamedTuple):
    """A step whose message was sent: its time and size (s), and the variables that are read after it."""

    time: float
    size: float
    ticket: Ticket
    reads: list[Names]


class CompiledCalls:
    """Sends inputs with a step and has outputs come back with it, without Python.

    The messages are in memory that both processes share; on another machine they go over the connection. What
    compiled code cannot finish is left to Python, which calls `resume` when it has done its part.

    Parameters
    ----------
    calls : ParticipantCalls
    request : callable
        Makes a call of Python, with its arguments, and waits for the answer.
    describe : callable
        Returns the description of the participant.

    Attributes
    ----------
    member : RemoteMember or None
        The participant as compiled code has it; None while Python makes all calls.
    """

    def __init__(
        self,
        calls: ParticipantCalls,
        request: Callable[..., Any],
        describe: Callable[[], ParticipantDescription],
    ) -> None:
        self._calls, self._request, self._describe = calls, request, describe
        self.member: RemoteMember | None = None
        self._inputs: Names = ()
        self._reads: Names = ()

    def prepare(self, inputs: Sequence[str], reads: Sequence[str], limit: float | None) -> NativeCalls | None:
        """The functions for compiled code; None where a message would be too long.

        Parameters
        ----------
        inputs, reads : sequence of str
        limit : float or None
            Time for the process to load code, s.

        Raises
        ------
        ModelError
            The participant has no functions of C, or there is no memory to share.
        """
        calls = self._calls
        session = calls.live_session("prepare")
        self._inputs, self._reads = tuple(inputs), tuple(reads)
        groups = calls.groups.number(self._inputs), calls.groups.number(self._reads)
        if isinstance(session, LocalSession):
            facts = self._share_memory(session, groups, limit)
        else:
            facts = self._remote_facts()
            if calls.groups.new:
                self._request("get", groups[1])  # sends the names
        member = session.new_member(calls.number, groups, len(inputs), len(reads))
        if member is None:
            return None
        self.member = member
        self.resume()
        callbacks: dict[str, Any] = {
            name: partial(self._request, "remember", name) for name in facts["remembers"]
        }
        if facts["remembers"]:
            callbacks["forget"] = self._forget
        if facts["saves"]:
            callbacks["after_state"] = self._after_state
        return member.calls(session, leave=self._leave, facts=facts, **callbacks)

    def _share_memory(
        self, session: LocalSession, groups: tuple[int, int], limit: float | None
    ) -> Mapping[str, Any]:
        """Share memory for these groups of names; the facts about the participant's functions of C."""
        refusal, facts = self._request("prepare", *groups, timeout=limit)
        try:
            if not refusal:
                session.share_memory(len(self._inputs), len(self._reads))
        except OSError as error:
            refusal = f"has no memory to share: {error}"
        if refusal:
            raise cosim.ModelError.of("process", refusal)
        shared: Mapping[str, Any] = facts
        return shared

    def _remote_facts(self) -> Mapping[str, Any]:
        """The facts about a participant on another machine."""
        same_size = not self._describe().variable_step
        facts = {"same_size": same_size, "set_slopes": True, "saves": False, "always_remembered": False}
        return {**facts, "remembers": [], "names": {}}

    def _leave(self) -> None:
        """Let Python make all further steps."""
        session = self._calls.session
        if isinstance(session, LocalSession):
            self._request("leave")
            session.leave_memory()
        self.member = None

    def resume(self) -> None:
        """Let compiled code continue, unless inputs that Python has written wait."""
        if self.member is not None:
            self.member.is_free = not self._calls.waiting_writes

    def has_made_calls(self) -> bool:
        """Whether compiled code has made calls since the last query; its writes then wait in `calls`."""
        member = self.member
        if member is None or not member.has_made_calls():
            return False
        for name, values in zip(WRITES, member.pop_writes(), strict=False):
            typed = values if name != WRITES[0] else self._typed(values)
            self._calls.waiting_writes.append([name, self._calls.groups.number(self._inputs), typed])
        return True

    def _typed(self, numbers: Sequence[float]) -> list[Any]:
        """Values of inputs as the participant's methods take them."""
        variables = self._describe().variables
        kinds: dict[str, Any] = {"integer": int, "boolean": bool}
        return [kinds.get(variables[n].type, float)(x) for n, x in zip(self._inputs, numbers, strict=True)]

    def start_step(self, time: float, size: float) -> bool:
        """Begin a step by compiled code; whether it can."""
        return self.member is not None and self.member.start_step(time, size)

    def reached(self) -> float:
        """The time that the last step of compiled code has reached, s."""
        assert self.member is not None
        return self.member.reached

    def unfinished_step(self) -> BegunStep | None:
        """The step that compiled code has begun and left to Python; None if it has begun none."""
        assert self.member is not None
        ticket = self._calls.live_session(STEP).unfinished_call(self._calls.number)
        begun = self.member.begun
        return None if ticket is None or begun is None else BegunStep(*begun, ticket, [self._reads])

    def _after_state(self, verb: str, status: int) -> bool:
        """Raise why a state could not be saved or restored; whether it has merely taken long."""
        member = self.member
        if member is None or self._calls.unfinished_answer(verb) is None:
            return False
        member.end_late()
        return True

    def _forget(self, number: int) -> None:
        self._request("forget", number)
        self.resume()

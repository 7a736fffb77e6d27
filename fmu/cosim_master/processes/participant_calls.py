"""ParticipantCalls: the calls of one participant to its process, and the inputs that travel with them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import cosim
from cosim_master.processes.calls import Call
from cosim_master.processes.name_groups import NameGroups
from cosim_master.processes.session import Session, Ticket
from cosim_master.processes.shared_process import SharedProcess


class ParticipantCalls:
    """Calls to a process, each with its answer.

    Inputs whose names the process has accepted once are sent with the next call. So are the numbers of saved
    states that this program has released.

    Parameters
    ----------
    timeout : float or None
        A call that takes longer (s) ends the process.

    Attributes
    ----------
    session : Session or None
        The connection to the process while there is one.
    number : int
        The number of the participant in its process.
    groups : NameGroups
        The groups of names that the process knows.
    waiting_writes : list of [str, int, values]
        Inputs that go with the next call: name of the method, number of the group of names, values.
    failure : str
        The first failure of a call that is reported only at the end.
    """

    def __init__(self, timeout: float | None) -> None:
        self.timeout = timeout
        self.session: Session | None = None
        self._clear()
        self._leave: weakref.finalize[..., Any] | None = None

    def _clear(self) -> None:
        self.number, self.failure = 0, ""
        self.groups = NameGroups()
        self.waiting_writes: list[list[Any]] = []
        self._accepted: set[tuple[str, ...]] = set()
        self._released: list[int] = []  # a new list: states of an earlier process still refer to theirs

    def enter(self, place: SharedProcess, label: str, write_log: Callable[[int, bytes], None]) -> Session:
        """Start the process, or join it, and get a number there."""
        session = place.enter()
        self._leave = weakref.finalize(self, place.leave, session)
        self._clear()
        self.session, self.number = session, session.new_number(label, write_log)
        return session

    def leave(self) -> None:
        """Leave the process, which ends without participants."""
        if self._leave is not None:
            self._leave()
        self.session = None

    def live_session(self, name: str) -> Session:
        """The session; `CosimError`, with the name of the call, if there is no process."""
        if self.session is None:
            raise cosim.CosimError(f"{name}: the participant is not initialized, so there is no process")
        return self.session

    def post(self, name: str, *arguments: Any) -> Ticket:
        """Post a call, with the inputs that wait for the next one."""
        session = self.live_session(name)
        # states may be released at any time, also between these lines: only those that are here now go along
        released = [self._released.pop() for _ in range(len(self._released))]
        writes, self.waiting_writes = self.waiting_writes, []
        call = Call(self.number, name, list(arguments), writes, released, self.groups.pop_new())
        return session.post(call)

    def answer(self, ticket: Ticket, limit: float | None) -> Any:
        """Wait for the answer to a call, at most `limit` (s)."""
        return self.live_session(ticket.name).answer(ticket, limit)

    def unfinished_answer(self, name: str) -> Any:
        """The answer to a call that compiled code has left to Python; None if it has left none."""
        ticket = self.live_session(name).unfinished_call(self.number)
        return None if ticket is None else self.answer(ticket, self.timeout)

    def is_accepted(self, name: str, names: Sequence[str]) -> bool:
        """Whether the process has accepted a write of these names before, so that the next one may wait."""
        return (name, *names) in self._accepted

    def accept(self, name: str, names: Sequence[str]) -> None:
        """Note that the process has accepted a write of these names."""
        self._accepted.add((name, *names))

    def saved_state(self, number: int) -> SavedElsewhere:
        """The token of a state that the process has saved under a number."""
        return SavedElsewhere(number, self.session, self._released)

    def number_of(self, token: Any) -> int:
        """The number of a saved state; `CosimError` for one that is not of this process."""
        if not isinstance(token, SavedElsewhere) or token.session is not self.session:
            raise cosim.CosimError("this state was not saved by this participant")
        return token.number


class SavedElsewhere:
    """A state that the process keeps as long as this object lives."""

    def __init__(self, number: int, session: object, released: list[int]) -> None:
        self.number, self.session = number, session
        weakref.finalize(self, released.append, number).atexit = False

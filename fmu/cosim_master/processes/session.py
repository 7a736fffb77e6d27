"""A process of participants, as the run sees it: calls go there, and answers come back."""

from __future__ import annotations

import math
import os
import socket
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from time import monotonic
from typing import Any

import cosim
from cosim.kit import held_interrupt, seconds_interrupted, waited_for_interrupt
from cosim_master.processes.calls import ACTIONS, ERROR, Call, answers_of_numbers, numbers_of_calls
from cosim_master.processes.channel import Channel, MessageError, Numbers, PipeChannel
from cosim_master.processes.message_memory import CallingChannel, MessageMemory
from cosim_master.processes.native_steps import NativeFrame, RemoteMember, native_frame
from cosim_master.processes.portable_errors import restored
from cosim_master.processes.process_worker import BEAT, ENDED
from cosim_master.processes.worker_process import SECONDS_TO_END, WorkerProcess

SECONDS_TO_ANSWER = 1.0
"""The time that a call may still take after Ctrl-C, s."""
SECONDS_BETWEEN_LOOKS = 0.1
"""At Ctrl-C, while a call is waited for."""
SECONDS_FOR_INTERRUPT = 0.05
"""Time for a signal that has ended the process to reach this one, if it was sent to both, s."""
WriteLog = Callable[[int, bytes], None]


class Ticket:
    """The ticket of a call that has been posted.

    Attributes
    ----------
    number : int
        The number of the participant.
    name : str
    answer : list or None
        None until it has come.
    """

    __slots__ = ("answer", "name", "number")

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name
        self.answer: list[Any] | None = None


class Session(ABC):
    """A process in which participants run, on this machine or on another one.

    Calls are posted; `send`, or `answer` if it comes first, sends all posted calls as one message. Their
    answers come as one message, too. Threads may use a session at any time.

    Attributes
    ----------
    lost : str
        Why no call can be answered any more; "" while the process can be reached.
    host : str
        The address of the other machine; "" on this one.
    """

    host = ""

    def __init__(self, channel: Channel) -> None:
        self.lost = ""
        self._channel = channel
        self._lock = threading.RLock()
        self._posted: list[tuple[Ticket, Call]] = []
        self._sent: deque[list[Ticket]] = deque()
        self._aborted = ""
        self._logs: dict[int, WriteLog] = {}
        self._labels: dict[int, str] = {}
        self._open: set[int] = set()
        self._has_begun = False
        self._frame: NativeFrame | None = None
        self._left_calls: dict[int, Ticket] = {}

    @property
    def silence_limit(self) -> float:
        """The time within which a sign of life has to come while a call is awaited, s."""
        return math.inf

    @property
    def process_id(self) -> int | None:
        """The id of the process if it runs on this machine."""
        return None

    def new_number(self, label: str, write_log: WriteLog) -> int:
        """The number of another participant.

        Parameters
        ----------
        label : str
            The name of the participant in messages about others of the same process.
        write_log : callable
            Called with bytes of the participant's log and their place in the file, if it runs elsewhere.
        """
        with self._lock:
            number = len(self._labels) + 1
            self._labels[number], self._logs[number] = label, write_log
            self._open.add(number)
            return number

    def closed(self, number: int) -> None:
        """Count a participant that has been closed."""
        self._open.discard(number)

    def post(self, call: Call) -> Ticket:
        """Add a call to the next message."""
        ticket = Ticket(call.number, call.name)
        with self._lock:
            self._posted.append((ticket, call))
        return ticket

    def new_member(
        self, number: int, groups: tuple[int, int], inputs: int, outputs: int
    ) -> RemoteMember | None:
        """A participant whose steps compiled code may make (`NativeFrame.join`); None where it cannot."""
        with self._lock:
            if self._frame is None:
                self._frame = native_frame(self._channel)
            return None if self._frame is None else self._frame.join(number, groups, inputs, outputs)

    def send_steps(self) -> None:
        """Send the steps that compiled code has begun."""
        with self._lock:
            if self._frame is not None:
                self._frame.send()

    def unfinished_call(self, number: int) -> Ticket | None:
        """The ticket of a call that compiled code has begun, and left to Python."""
        with self._lock:
            self._leave_frame()
            return self._left_calls.pop(number, None)

    def _leave_frame(self) -> None:
        """Let Python receive the answer to the message that compiled code has sent."""
        members = [] if self._frame is None else self._frame.leave(self._channel)
        if members:
            tickets = [Ticket(member.number, member.action) for member in members]
            self._left_calls.update({ticket.number: ticket for ticket in tickets})
            self._sent.append(tickets)
            self._note_waiting()

    def _note_waiting(self) -> None:
        if self._frame is not None:
            self._frame.wait_for_python(len(self._sent))

    def send(self) -> None:
        """Send the posted calls; errors are raised where the answers are read.

        After Ctrl-C in between it is not known what has been sent: answers cannot be assigned to calls.
        """
        with self._lock, self._lost_by_errors():
            self._leave_frame()
            if not self._posted or self.lost:
                return
            posted, self._posted = self._posted, []
            calls = [call for _, call in posted]
            numbers = numbers_of_calls(calls)
            try:
                if numbers is not None:
                    self._channel.send_numbers(numbers)
                else:
                    self._channel.send(calls)
            except TypeError as error:
                for ticket, _ in posted:
                    ticket.answer = [ERROR, ["other", str(error)]]
                return
            except OSError:
                pass  # the process has ended; its last message, which is read with the answer, may say why
            self._sent.append([ticket for ticket, _ in posted])
            self._note_waiting()

    def answer(self, ticket: Ticket, limit: float | None) -> Any:
        """The return value of a call.

        Parameters
        ----------
        ticket : Ticket
        limit : float or None
            s; after that the process is ended.

        Raises
        ------
        CosimError
            The exception of the call, or the end of the process.
        """
        with self._lock:
            if ticket.answer is None and not self.lost:
                self.send()
                with self._lost_by_errors():
                    self._wait(ticket, limit)
            if ticket.answer is None:
                raise cosim.CosimError(self.lost)
        kind, value = ticket.answer
        if kind == ERROR:
            raise restored(value)
        return value

    @contextmanager
    def _lost_by_errors(self) -> Iterator[None]:
        """Store an exception that is raised inside, Ctrl-C included, as the reason of the session's end."""
        try:
            yield
        except BaseException as error:
            self.lost = self.lost or str(error) or type(error).__name__
            raise

    def abort(self, reason: str) -> None:
        """End the process, from another thread; the call that waits for it raises an error that says why."""
        self._aborted = reason
        self.kill()

    def _wait(self, ticket: Ticket, limit: float | None) -> None:
        """Wait for an answer; a process that gives none in time, or soon after a first Ctrl-C, is ended."""
        begun = heard = monotonic()
        end = math.inf if limit is None else begun + limit
        while ticket.answer is None:
            if self._channel.wait(min(SECONDS_BETWEEN_LOOKS, max(0.0, end - monotonic()))):
                heard = monotonic()
                try:
                    self._hand_out(self._channel.receive())
                except (EOFError, OSError, MessageError) as error:
                    raise self._ended(ticket, error) from None
                continue
            now = monotonic()
            if now >= end:
                where = self._place(*self._call_under_way(ticket), ticket)
                self.kill()
                raise cosim.CosimError(
                    f"{self._prefix}its process did not return from {where} within {limit:g} s and was killed"
                )
            if seconds_interrupted() > SECONDS_TO_ANSWER:
                self.kill()
                raise held_interrupt()
            if now - heard > self.silence_limit:
                self.kill()
                raise cosim.CosimError(
                    f"{self._prefix}no data received for {self.silence_limit:g} s in {ticket.name}: the "
                    "network, the machine or the process does not respond"
                )

    def _hand_out(self, message: Any) -> None:
        """Give the answers in a message to their tickets."""
        self._has_begun = True
        if message == BEAT:
            return
        if isinstance(message, dict) and ENDED in message:
            self._record_end(message)
            self._write_logs(message["logs"])
            raise EOFError
        try:
            tickets = self._sent.popleft()
            self._note_waiting()
            if not isinstance(message, Numbers):
                answers, logs = message
            elif any(ticket.name not in ACTIONS for ticket in tickets):
                raise ValueError("numbers for a request that has another answer")
            else:
                answers, logs = answers_of_numbers(message), []
            for ticket, answer in zip(tickets, answers, strict=True):
                ticket.answer = answer
            self._write_logs(logs)
        except (ValueError, TypeError, IndexError) as error:
            raise MessageError(f"is not an answer: {error}") from None

    def _write_logs(self, logs: list[Any]) -> None:
        for number, place, data in logs:
            if number in self._logs:
                self._logs[number](place, data)

    def _ended(self, ticket: Ticket, error: Exception) -> BaseException:
        """Why no answer has come, as an error."""
        if not self._aborted and waited_for_interrupt(SECONDS_FOR_INTERRUPT):
            return held_interrupt()  # its sender has ended the process, too
        if self._aborted:
            return cosim.CosimError(f"{self._aborted} in {ticket.name}")
        text = f" ({error})" if isinstance(error, MessageError) else ""
        return cosim.CosimError(f"{self._prefix}{self._reason(ticket)}{text}")

    @property
    def _prefix(self) -> str:
        return f"{self.host}: " if self.host else ""

    def _place(self, number: int, name: str, ticket: Ticket) -> str:
        """The call that is under way, for a sentence about `ticket`."""
        owner = "" if number == ticket.number else self._labels.get(number, "")
        return f"{name or ticket.name}{' of ' + owner if owner else ''}"

    @abstractmethod
    def _call_under_way(self, ticket: Ticket) -> tuple[int, str]:
        """Number of a participant and name of a call, as far as that is known."""

    @abstractmethod
    def _record_end(self, message: dict[str, Any]) -> None:
        """Store the reason that a server gives for the end of the process."""

    @abstractmethod
    def _reason(self, ticket: Ticket) -> str:
        """The reason why the process, or the connection, has ended."""

    @abstractmethod
    def kill(self) -> None:
        """End the process at once; from any thread."""

    @abstractmethod
    def end(self) -> None:
        """Close the connection and wait for the end of the process."""


class LocalSession(Session):
    """A new process on this machine; its recipes are pickled (`PickledRecipes`).

    Attributes
    ----------
    worker : WorkerProcess
    """

    def __init__(self) -> None:
        # the kernel kills such a process when the thread that started it ends: useful for the main one only
        dies_with_thread = threading.current_thread() is threading.main_thread()
        if os.name == "nt":
            pipe, worker_pipe = Pipe()
            self.worker = WorkerProcess(
                worker_pipe.fileno(), worker_pipe.fileno(), dies_with_thread=dies_with_thread
            )
            worker_pipe.close()
            super().__init__(PipeChannel(pipe))
            return
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self.worker = WorkerProcess(
                    theirs.fileno(), theirs.fileno(), dies_with_thread=dies_with_thread
                )
            except BaseException:
                ours.close()
                raise
        handle = ours.detach()
        super().__init__(CallingChannel(handle, handle))

    def share_memory(self, inputs: int, outputs: int) -> None:
        """Let messages of compiled code use memory that the process has prepared.

        Raises
        ------
        OSError
            The memory is not there.
        """
        memory = MessageMemory(self.worker.folder, inputs, outputs)
        with self._lock:
            assert isinstance(self._channel, CallingChannel)
            self._channel.share(memory)
            self._frame = NativeFrame(self._channel, memory)

    def leave_memory(self) -> None:
        """Send messages over the channel again, not through shared memory."""
        with self._lock:
            if isinstance(self._channel, CallingChannel):
                self._channel.share(None)
            self._frame = None

    @property
    def process_id(self) -> int | None:
        """The id of the process."""
        return self.worker.process.pid

    def _call_under_way(self, ticket: Ticket) -> tuple[int, str]:
        return self.worker.call_under_way()

    def _record_end(self, message: dict[str, Any]) -> None:
        raise MessageError("there is no server here")

    def _reason(self, ticket: Ticket) -> str:
        ending = self.worker.ending()
        where = self._place(*self._call_under_way(ticket), ticket)
        return f"{ending} in {where}{self.worker.last_printed()}"

    def kill(self) -> None:
        """End the process at once; from any thread."""
        self.worker.kill()

    def end(self) -> None:
        """Close the connection and wait for the end of the process."""
        with suppress(Exception):
            self._channel.close()
        self.worker.end(0.0 if self.lost or self._open else SECONDS_TO_END)

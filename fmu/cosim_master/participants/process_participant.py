"""A participant in a process of its own, on this machine or on another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import MadeFromOptions, ParticipantDescription, python_path
from cosim_fmi.binding.statuses import is_bad
from cosim_master.abilities import HasFile, InnerPoint, Resizes, WritesLog
from cosim_master.native_calls import NativeCalls, StepsNatively, StepsTypesNatively
from cosim_master.participants.compiled_calls import BegunStep, CompiledCalls
from cosim_master.participants.create_participants import open_fmu
from cosim_master.processes.calls import CLOSE, LOG, OPEN, STEP, WRITES
from cosim_master.processes.host import Host
from cosim_master.processes.message_memory import has_semaphores
from cosim_master.processes.participant_calls import ParticipantCalls
from cosim_master.processes.plain_events import event_of_plain
from cosim_master.processes.recipe import pickled_recipe
from cosim_master.processes.remote_log import RemoteLog
from cosim_master.processes.remote_session import RemoteSession
from cosim_master.processes.sent_values import listed, sent_values
from cosim_master.processes.session import Session, Ticket
from cosim_master.processes.shared_process import SharedProcess
from cosim_master.processes.values_with_steps import ValuesWithSteps
from cosim_master.processes.worker_process import SECONDS_TO_END

SECONDS_TO_BEGIN = 30.0
"""Time for the process to start and to import its modules, s."""
LEAST_STEPS = 1000
"""Steps that save as much time as compiled code takes to load in both processes."""
LEAST_REMOTE_STEPS = 200
"""The same with a process on another machine, where no compiled code is loaded."""


class ProcessParticipant(cosim.Participant, MadeFromOptions):
    """Runs another participant in a new process, so that what kills it kills nothing else.

    The process begins with `initialize` and ends with `close`; it has an interpreter of its own that
    imports nothing of the program that started it. When it dies, the current call raises an error that says
    how; when this program dies, the process ends, too. Its temporary files are in a folder that is always
    removed. The process ignores Ctrl-C.

    With `host` the process runs on another machine, where cosim is installed: started by ssh, or by a server
    that listens there (``cosim serve``). The FMU is sent where it is not known; logs are written here. FMUs
    of one co-simulation with the same host share a process there, unless they have `own_process`, and step
    with one message.

    One message goes there and back for each step: inputs whose names were accepted before go with it, and
    the outputs that were read after the previous step come back with it. If an input is refused, the step
    raises the error.
    Where the participant has functions of C, and a master calls them (`native_calls`), numbers go through
    memory that both processes share; events, early returns and failures go by messages.

    Parameters
    ----------
    make : str, Path or callable
        Path of an FMU, or a class or function that makes the participant. It can be imported by its name; it
        is called here to describe the participant, and in the process to run it.
    *arguments, **keywords
        For `make`.
    timeout : float, optional
        A call that takes longer (s) ends the process; `initialize` has half a minute more. By default it
        is not limited.
    host : str, optional
        ``"ssh://user@machine"`` or ``"tcp://machine:7364"``; for FMUs. The token for a server is in a file
        that the environment variable ``COSIM_TOKEN_FILE`` names, or in ``COSIM_TOKEN``.
    own_process : bool
        With `host`: whether no other participant runs in its process there.

    Raises
    ------
    ModelError
        When `make` or its arguments cannot be handed over to another process; a host that is not an address.

    Examples
    --------
    >>> ProcessParticipant("missing.fmu").describe()
    Traceback (most recent call last):
        ...
    cosim.errors.FmuError: missing.fmu: no such file
    """

    def __init__(
        self,
        make: str | Path | Callable[..., cosim.Participant],
        *arguments: Any,
        timeout: float | None = None,
        host: str | None = None,
        own_process: bool = False,
        **keywords: Any,
    ) -> None:
        if isinstance(make, (str, Path)):
            make, arguments = open_fmu, (make, *arguments)
        if timeout is not None and (isinstance(timeout, bool) or not timeout > 0.0):
            raise cosim.ModelError.of("timeout", f"is {timeout!r}, needs a number of seconds greater than 0")
        placed: dict[str, Any] = {"timeout": timeout, "host": host, "own_process": own_process}
        self._make_copy: Callable[[], ProcessParticipant] = partial(
            type(self), make, *arguments, **{**placed, **keywords}
        )
        self.host = None if host is None else Host.of(host)
        self.own_process = own_process or self.host is None
        self._recipe = b""
        if self.host is None:
            self._recipe = pickled_recipe(make, arguments, keywords)
        elif make is not open_fmu:
            text = "is for FMUs: Python code and models run on this machine (export the model as an FMU)"
            raise cosim.ModelError.of("host", text)
        self._options = keywords
        self._inner: Any = make(*arguments, **keywords)
        self._sizes: tuple[Any, ...] | None = None
        self._log: tuple[Path | None, str] | None = None
        self._remote_log = RemoteLog()
        self._place = SharedProcess() if self.host is None else SharedProcess(_session_at(self.host))
        self._calls = ParticipantCalls(timeout)
        self._opening: tuple[Any, ...] = ()
        self._values_with_steps = ValuesWithSteps()
        self._begun: BegunStep | None = None
        self._compiled = self._new_compiled_calls()
        self._close_error = ""
        self._watched: tuple[list[str], str] = [], "nothing"  # variables, and where
        self._points: list[InnerPoint] = []

    def __deepcopy__(self, memo: Any) -> ProcessParticipant:
        """A copy whose process has not started."""
        return self._make_copy()

    @property
    def path(self) -> Any:
        """The file of an FMU, if it is one."""
        return self._inner.path if isinstance(self._inner, HasFile) else None

    @property
    def process_id(self) -> int | None:
        """The id of the process while it runs on this machine."""
        return None if self._calls.session is None else self._calls.session.process_id

    @property
    def events(self) -> list[cosim.EventRecord]:
        """The events of the participant; none if its process has ended."""
        return [event_of_plain(plain) for plain in self._ask_if_there("events")]

    @property
    def warnings(self) -> list[str]:
        """The warnings of the participant; none if its process has ended."""
        return self._ask_if_there("warnings")

    def configure(self, *sizes: Any) -> None:
        """Structural parameters, for participants that have some."""
        if isinstance(self._inner, Resizes):
            self._inner.configure(*sizes)
            self._sizes = sizes

    def write_log(self, file: Path | None, level: str = "warning") -> None:
        """Write the log in the process, if the participant has one.

        Raises
        ------
        ModelError
            It keeps no log, or there is no such level.
        """
        if not isinstance(self._inner, WritesLog):
            raise cosim.ModelError.of("log", "this participant keeps no log")
        self._inner.write_log(file, level)
        self._log = (None if file is None else file.absolute()), level

    def describe(self) -> ParticipantDescription:
        """The description of the participant, without starting a process."""
        if self.host is None:
            description = self._inner.describe()
            kind = f"{description.kind}, own process"
            return replace(description, kind=kind, steps_in_threads=True)
        description, _ = self._inner.inspect()  # the other machine says whether it can run there
        only_once = description.only_once
        if only_once:
            only_once = "" if self.own_process else f"{only_once} {self.host}"
        kind = f"{description.kind}, on another machine"
        return replace(description, kind=kind, steps_in_threads=True, only_once=only_once)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Start the process and initialize the participant there."""
        if self._calls.session is not None:
            raise cosim.CosimError("initialize was called before: close it first")
        limit = self._limit_to_begin
        self._start_process(limit)
        self._points = []
        tickets = [self._post(OPEN, *self._opening)]
        if self._log is not None and (self.host is None or self._log[0] is not None):
            file, level = self._log
            if file is not None and self.host is not None:
                self._remote_log.open(file, str(self.path))
            tickets.append(self._post(LOG, None if file is None or self.host else str(file), level))
        if self._sizes is not None:
            tickets.append(self._post("configure", *self._sizes))
        tickets.append(self._post("watch", *self._watched))
        tickets.append(self._post("initialize", start, stop, dict(values), tolerance))
        try:
            self._calls.answer(tickets[-1], limit)  # all answers come with one message
        except cosim.CosimError:
            if tickets[0].answer is None:
                raise
        for ticket in tickets:
            self._calls.answer(ticket, limit)

    def exit_initialization(self) -> None:
        """End the initialization mode, if the participant has one."""
        self._request("exit_initialization")

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write inputs, at once or with the next call."""
        self._write(WRITES[0], names, values)

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Derivatives of inputs over the next step, per s; at once or with the next call."""
        self._write(WRITES[1], names, slopes)

    def _synchronize(self) -> None:
        """Discard values that came with a step if compiled code has made calls since."""
        if self._compiled.has_made_calls():
            self._values_with_steps.discard()

    @property
    def process_key(self) -> object:
        """The key of its process."""
        return self._place

    def begin_step(self, time: float, size: float) -> Callable[[], None]:
        """Add a step to the next message; `step` with the same numbers receives the answer.

        Returns
        -------
        callable
            Sends what has been begun, of all participants of the process.
        """
        session = self._calls.live_session(STEP)
        if self._compiled.start_step(time, size):
            return session.send_steps
        reads, groups = self._values_with_steps.names(), self._calls.groups
        ticket = self._post(STEP, time, size, [groups.number(names) for names in reads])
        self._begun = BegunStep(time, size, ticket, reads)
        return session.send

    def step(self, time: float, size: float) -> float:
        """Step the participant."""
        if self._begun is None:
            self.begin_step(time, size)
        begun, self._begun = self._begun, None
        assert begun is not None
        if (begun.time, begun.size) != (time, size):
            raise cosim.CosimError(
                f"a step from {begun.time!r} by {begun.size!r} has begun, not from {time!r} by {size!r}"
            )
        reached, points, values = self._calls.answer(begun.ticket, self._calls.timeout)
        self._points += [InnerPoint(*point) for point in points]
        self._values_with_steps.store(begun.reads, values)
        return float(reached)

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Pass the request on to the participant."""
        self._watched = list(names), where

    def inside(self) -> Sequence[InnerPoint]:
        """The values inside the last steps, from the participant."""
        points, self._points = self._points, []
        return points

    def get(self, names: Sequence[str]) -> list[Any]:
        """The present values, which may have come with the step."""
        self._synchronize()
        group = tuple(names)
        values = self._values_with_steps.read(group)
        if values is not None:
            return values
        return listed(self._request("get", self._calls.groups.number(group)))

    def directional_derivative(
        self, outputs: Sequence[str], inputs: Sequence[str], seed: Sequence[float]
    ) -> Sequence[float]:
        """The directional derivatives of the participant."""
        direction = [float(number) for number in seed]
        answer: list[float] = self._request("directional_derivative", list(outputs), list(inputs), direction)
        return answer

    def save(self) -> Any:
        """A token; the state stays in the process."""
        return self._calls.saved_state(self._request("save"))

    def restore(self, token: Any) -> None:
        """Restore a state that was saved here."""
        self._points = []
        self._request("restore", self._calls.number_of(token))

    def serialize(self, token: Any) -> bytes:
        """A saved state as bytes."""
        data: bytes = self._request("serialize", self._calls.number_of(token))
        return data

    def deserialize(self, data: bytes) -> Any:
        """A token for a state that was serialized."""
        return self._calls.saved_state(self._request("deserialize", data))

    @property
    def native_types(self) -> tuple[str, ...]:
        """The types of variables besides reals that `native_calls` accepts."""
        if self.host is not None:
            return ()
        return self._inner.native_types if isinstance(self._inner, StepsTypesNatively) else ()

    @property
    def least_native_steps(self) -> int:
        """The number of steps from which on compiled code is faster."""
        if self.host is not None:
            return LEAST_REMOTE_STEPS
        of_inner = self._inner.least_native_steps if isinstance(self._inner, StepsNatively) else 0
        return max(of_inner, LEAST_STEPS)

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Functions that send inputs with a step, and have outputs come back with it.

        The messages are in memory that both processes share, on another machine they go over the connection.
        None where semaphores lack (`has_semaphores`).

        Raises
        ------
        ModelError
            Why the participant has no functions of C.
        """
        if self._calls.session is None or (self.host is None and not self._can_share_memory()):
            return None
        self._synchronize()
        return self._compiled.prepare(inputs, reads, self._limit_to_begin)

    def _can_share_memory(self) -> bool:
        return has_semaphores() and isinstance(self._inner, StepsNatively)

    def _new_compiled_calls(self) -> CompiledCalls:
        return CompiledCalls(self._calls, self._request, self._inner.describe)

    def resume_native(self) -> None:
        """Let compiled calls continue, unless inputs that Python has written wait."""
        self._compiled.resume()

    def finish_native_step(self, status: int, time: float, size: float) -> float:
        """The answer to a step that compiled code has left to Python, or has made only in part."""
        if not is_bad(status):
            return self._compiled.reached()
        unfinished = self._compiled.unfinished_step()
        if unfinished is not None:
            self._synchronize()
            self._begun = unfinished
        return self.step(time, size)

    def check_native_access(self, verb: str, status: int) -> None:
        """Raise what `set` or `get` would have raised."""
        self._calls.unfinished_answer(verb.lower())

    def close(self) -> None:
        """Close the participant and end the process; one that does not answer is killed."""
        session = self._calls.session
        if session is None:
            return
        self._close_error = self._calls.failure
        if not session.lost:
            try:
                self._close_error = self._request(CLOSE, timeout=SECONDS_TO_END) or self._close_error
                session.closed(self._calls.number)
            except Exception as error:
                self._close_error = str(error)
        self._calls.leave()
        self._compiled = self._new_compiled_calls()
        self._remote_log.close()

    def close_error(self) -> str:
        """The error at the end of the participant or of its process; "" if there was none."""
        return self._close_error

    def abort(self, why: str) -> None:
        """End the process, from another thread; the call that waits for it raises an error that says why."""
        session = self._calls.session
        if session is not None:
            session.abort(why)

    @property
    def _limit_to_begin(self) -> float | None:
        """The time for a call that loads code in the process, s."""
        return None if self._calls.timeout is None else self._calls.timeout + SECONDS_TO_BEGIN

    def _start_process(self, limit: float | None) -> None:
        """Start the process; the FMU is sent to another machine, which takes at most `limit` (s)."""
        session = self._calls.enter(self._place, self._label, self._remote_log.write_part)
        self._values_with_steps, self._begun = ValuesWithSteps(), None
        self._compiled = self._new_compiled_calls()
        if not isinstance(session, RemoteSession):
            self._opening = python_path(), self._recipe
            return
        try:
            digest = session.send_fmu(self._inner.path, limit)
        except BaseException:
            self._calls.leave()
            raise
        self._opening = digest, str(self._inner.shown_path), self._inner.name, self._options

    @property
    def _label(self) -> str:
        return str(getattr(self._inner, "name", ""))

    def _request(self, name: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Make a call and wait for its answer."""
        limit = self._calls.timeout if timeout is None else timeout
        self._calls.live_session(name)
        return self._calls.answer(self._post(name, *arguments), limit)

    def _post(self, name: str, *arguments: Any) -> Ticket:
        """Hand a call over, after the calls that compiled code has made."""
        self._calls.live_session(name)
        self._synchronize()
        self._begun = None
        if name != "get":
            self._values_with_steps.discard()
        return self._calls.post(name, *arguments)

    def _write(self, name: str, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write inputs; if these names were accepted before, the write waits and goes with the next call."""
        self._synchronize()
        group, sent = self._calls.groups.number(tuple(names)), sent_values(values)
        if self._calls.is_accepted(name, names):
            self._values_with_steps.discard()
            self._calls.waiting_writes.append([name, group, sent])
            return
        self._request(name, group, sent)
        self._calls.accept(name, names)

    def _ask_if_there(self, name: str) -> list[Any]:
        """Call a method whose failure is reported only at the end."""
        if self._calls.session is None or self._calls.session.lost:
            return []
        try:
            answer: list[Any] = self._request(name)
        except Exception as error:
            self._calls.failure = self._calls.failure or str(error)
            return []
        return answer

    def share_process(self, places: dict[Host, SharedProcess]) -> None:
        """Run in one process with the others of a co-simulation that have the same host."""
        if not self.own_process:
            assert self.host is not None
            self._place = places.setdefault(self.host, SharedProcess(_session_at(self.host)))


def _session_at(host: Host) -> Callable[[], Session]:
    return lambda: RemoteSession(host)

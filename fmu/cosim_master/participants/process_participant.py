"""A participant in a process of its own."""

from __future__ import annotations

import math
import os
import pickle
import select
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing import Pipe
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import (
    ParticipantDescription,
    held_interrupt,
    python_command,
    python_environment,
    python_path,
    seconds_interrupted,
    signals_held,
    start_process,
    waited_for_interrupt,
)
from cosim_fmi.archive import private_folder, remove_folder
from cosim_master.abilities import (
    HasFile,
    InnerPoint,
    NativeCalls,
    Resizes,
    StepsNatively,
    StepsTypesNatively,
    WritesLog,
)
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.process_worker import (
    CALLING,
    LONGEST_NAME,
    PRINTED,
    receive,
    restored,
    send,
)
from cosim_master.participants.remote_calls import RemoteCalls
from cosim_master.participants.shared_exchange import LEADING, NOTHING, READING, SETTING, STEPPING

START = "from cosim_master.participants.process_worker import main; main()"
SECONDS_TO_BEGIN = 30.0
"""For the process to start and to import what it needs."""
SECONDS_TO_ANSWER = 1.0
"""That a call may still take after Ctrl-C."""
SECONDS_BETWEEN_LOOKS = 0.1
"""At Ctrl-C, while a call is waited for."""
SECONDS_FOR_INTERRUPT = 0.05
"""In which a signal that has ended the process comes here, too, when it was for both."""
SECONDS_TO_END = 5.0
"""For which a process that was told to end may go on."""
SECONDS_TO_LOOK = 0.01
"""For a message, where none is expected."""
LEAST_STEPS = 1000
"""Loading compiled code in both processes takes as long as so many steps save."""


class _SavedElsewhere:
    """A state that the process keeps as long as this object lives."""

    def __init__(self, number: int, process: object, released: list[int]) -> None:
        self.number, self.process = number, process
        weakref.finalize(self, released.append, number).atexit = False


class ProcessParticipant(cosim.Participant):
    """Runs another participant in a new process, so that what kills it kills nothing else.

    The process begins with `initialize` and ends with `close`; it has an interpreter of its own that
    imports nothing of the program that started it. When it dies, the call that it was about raises an error
    that says how; when this program dies, it ends, too. Its temporary files are in a folder that is removed
    in any case. Ctrl-C is left to this program.

    One message goes there and back for each step: inputs whose names were accepted before go with it, and
    what was read behind the step before comes back with it. An input that is refused is an error of the step.
    Where the participant has functions of C, and a master calls them (`native_calls`), numbers go through
    memory that both processes share, and one byte through a pipe; what is not as usual goes by messages.

    Parameters
    ----------
    make : str, Path or callable
        Path of an FMU, or what makes the participant: a class or function that can be imported by its
        name, called here to describe the participant and in the process to run it.
    *arguments, **keywords
        For `make`.
    timeout : float, optional
        A call that takes longer (s) ends the process, for `initialize` half a minute more; for ever unless
        given.

    Raises
    ------
    ModelError
        When `make` or its arguments cannot be handed over to another process.

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
        **keywords: Any,
    ) -> None:
        if isinstance(make, (str, Path)):
            make, arguments = open_fmu, (make, *arguments)
        if timeout is not None and (isinstance(timeout, bool) or not timeout > 0.0):
            raise cosim.ModelError.of("timeout", f"is {timeout!r}, needs a number of seconds greater than 0")
        try:
            self._recipe = pickle.dumps((make, arguments, keywords))
        except Exception as error:
            raise cosim.ModelError.of(
                "process", f"cannot be handed over to another process: {error}"
            ) from error
        if getattr(make, "__module__", "") == "__main__":
            raise cosim.ModelError.of(
                "process",
                f"{getattr(make, '__name__', make)} stands in the script that is run: another process can "
                "only import it from a module; put it into one",
            )
        self._inner = make(*arguments, **keywords)
        self._timeout = timeout
        self._sizes: tuple[Any, ...] | None = None
        self._log: tuple[Path | None, str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Any = None
        self._released: list[int] = []
        self._accepted: set[tuple[str, ...]] = set()
        self._pending: list[tuple[str, tuple[Any, ...]]] = []
        self._has_stepped = False
        self._reads: list[tuple[str, ...]] = []
        self._read: dict[tuple[str, ...], list[Any]] = {}
        self._waits = False
        self._given_up, self._folder = "", ""
        self._close_error = self._failed_before = ""
        self._end: weakref.finalize[..., Any] | None = None
        self._wanted: tuple[list[str], str] = [], "nothing"
        self._points: list[InnerPoint] = []
        self._remote: RemoteCalls | None = None
        self._bell: tuple[int, int] | None = None

    @property
    def path(self) -> Any:
        """The file of an FMU, if it is one."""
        return self._inner.path if isinstance(self._inner, HasFile) else None

    @property
    def process_id(self) -> int | None:
        """Of the process while there is one."""
        return None if self._process is None else self._process.pid

    @property
    def events(self) -> list[cosim.EventRecord]:
        """Those of the participant; none when its process is gone."""
        return self._ask_if_there("events")

    @property
    def warnings(self) -> list[str]:
        """Those of the participant; none when its process is gone."""
        return self._ask_if_there("warnings")

    def configure(self, *sizes: Any) -> None:
        """Structural parameters, for participants that have some."""
        if isinstance(self._inner, Resizes):
            self._inner.configure(*sizes)
            self._sizes = sizes

    def write_log(self, file: Path | None, level: str = "warning") -> None:
        """As the participant does; in the process, where it can keep a log.

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
        """As the participant describes itself; no process is started."""
        found = self._inner.describe()
        return replace(found, kind=f"{found.kind}, own process", steps_in_threads=True)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Start the process and initialize the participant there."""
        if self._process is not None:
            raise cosim.CosimError("initialize was called before: close it first")
        self._begin()
        limit = None if self._timeout is None else self._timeout + SECONDS_TO_BEGIN
        if self._log is not None:
            self._ask("write_log", *self._log, timeout=limit)
        if self._sizes is not None:
            self._ask("configure", *self._sizes, timeout=limit)
        self._points = []
        self._ask("watch", *self._wanted, timeout=limit)
        self._ask("initialize", start, stop, dict(values), tolerance, timeout=limit)

    def exit_initialization(self) -> None:
        """End the initialization mode, if the participant has one."""
        self._ask("exit_initialization")

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write inputs, at once or with the next call."""
        self._write("set", names, values)

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Derivatives of inputs over the next step, per s; at once or with the next call."""
        self._write("set_slopes", names, slopes)

    def step(self, time: float, size: float) -> float:
        """Step the participant."""
        reads, self._reads = self._reads, []
        reached, points, values = self._ask("step", time, size, reads)
        self._points += [InnerPoint(*point) for point in points]
        self._has_stepped = True
        self._read = {names: read for names, read in zip(reads, values, strict=True) if read is not None}
        return float(reached)

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """As the participant does."""
        self._wanted = list(names), where

    def inside(self) -> Sequence[InnerPoint]:
        """What the participant tells about its last steps."""
        found, self._points = self._points, []
        return found

    def get(self, names: Sequence[str]) -> list[Any]:
        """Values at the present time, which may have come with the step."""
        key = tuple(names)
        if self._has_stepped and key not in self._reads:
            self._reads.append(key)
        if key in self._read:
            return [*self._read[key]]
        found: list[Any] = self._ask("get", [*names])
        return found

    def directional_derivative(
        self, outputs: Sequence[str], inputs: Sequence[str], seed: Sequence[float]
    ) -> Sequence[float]:
        """As the participant gives them."""
        given = list(outputs), list(inputs), [float(number) for number in seed]
        found: list[float] = self._ask("directional_derivative", *given)
        return found

    def save(self) -> Any:
        """A token; the state stays in the process."""
        return _SavedElsewhere(self._ask("save"), self._process, self._released)

    def restore(self, token: Any) -> None:
        """Go back to a state that was saved here."""
        self._points = []
        self._ask("restore", self._number(token))

    def serialize(self, token: Any) -> bytes:
        """A saved state as bytes."""
        found: bytes = self._ask("serialize", self._number(token))
        return found

    def deserialize(self, data: bytes) -> Any:
        """The token again."""
        return _SavedElsewhere(self._ask("deserialize", data), self._process, self._released)

    @property
    def native_types(self) -> tuple[str, ...]:
        """Of variables that `native_calls` takes, beside real ones."""
        return self._inner.native_types if isinstance(self._inner, StepsTypesNatively) else ()

    @property
    def least_native_steps(self) -> int:
        """Number of steps from which on it pays."""
        own = self._inner.least_native_steps if isinstance(self._inner, StepsNatively) else 0
        return max(own, LEAST_STEPS)

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Functions that exchange numbers with those of the participant, through shared memory.

        None on Windows, where the pipes are others.

        Raises
        ------
        ModelError
            Why the participant has no functions of C.
        """
        if self._bell is None or not isinstance(self._inner, StepsNatively):
            return None
        self._remote = None
        limit = None if self._timeout is None else self._timeout + SECONDS_TO_BEGIN
        why, facts = self._ask("prepare", list(inputs), list(reads), timeout=limit)
        if why:
            raise cosim.ModelError.of("process", why)
        try:
            self._remote = RemoteCalls(self._folder, *self._bell, inputs, reads)
        except OSError as error:
            raise cosim.ModelError.of("process", f"has no memory to share: {error}") from error
        self._flags = flags
        self.resume_native()
        callbacks: dict[str, Any] = {name: partial(self._remember, name) for name in facts["remembers"]}
        if facts["remembers"]:
            callbacks["forget"] = self._forget
        if facts["after_state"]:
            callbacks["after_state"] = self._after_state
        return self._remote.calls(facts, leave=self._leave, **callbacks)

    def resume_native(self) -> None:
        """The other process waits for requests through shared memory from here on."""
        if self._remote is not None:
            if not self._remote.is_served:
                self._ask("serve")
            self._flags[4] = self._remote.memory.step.latest

    def after_native_step(self, status: int, time: float, size: float) -> float:
        """The rest of a step that was not as usual, or that takes longer."""
        remote = self._remote
        assert remote is not None
        self._wait_there("step")
        if not remote.is_asked:
            return self.step(time, size)
        if remote.has_stepped:
            return time + size
        self._raise_access()
        if remote.unusual != STEPPING:
            return self.step(time, size)
        reached, points = self._ask("after_step", remote.status, time, size)
        self._points += [InnerPoint(*point) for point in points]
        return float(reached)

    def after_native_access(self, verb: str, status: int) -> None:
        """Raise what `set` or `get` would have raised."""
        self._wait_there(verb.lower())
        self._raise_access()

    def _raise_access(self) -> None:
        """Raise why inputs or outputs could not be written or read in the last request, if that was so."""
        remote = self._remote
        assert remote is not None
        if remote.unusual in (SETTING, LEADING, READING):
            call, remote.unusual = remote.unusual, NOTHING
            self._ask("after_access", call, remote.status)

    def _after_state(self, verb: str, status: int) -> None:
        remote = self._remote
        assert remote is not None
        self._wait_there(verb)
        self._raise_access()
        self._ask("after_state", verb, remote.status)

    def _remember(self, how: str) -> int:
        return int(self._ask("remember", how))

    def _forget(self, number: int) -> None:
        self._ask("forget", number)
        self.resume_native()

    def _leave(self) -> None:
        self._ask("leave")
        self._remote = None

    def close(self) -> None:
        """Close the participant and end the process; one that does not answer is killed."""
        if self._process is None:
            return
        self._close_error = self._failed_before
        if not self._waits:
            try:
                self._close_error = self._ask("close", timeout=SECONDS_TO_END) or self._close_error
                self._process.wait(SECONDS_TO_END)
            except Exception as error:
                self._close_error = str(error)
        if self._end is not None:
            self._end()
        self._process, self._pipe, self._remote = None, None, None

    def close_error(self) -> str:
        """That the participant, or its process, has not ended as it should; "" when it has."""
        return self._close_error

    def _begin(self) -> None:
        ours, theirs = Pipe()
        folder = self._folder = str(private_folder("process"))
        (Path(folder) / CALLING).write_bytes(bytes(LONGEST_NAME))
        environment = python_environment({"TMPDIR": folder, "TEMP": folder, "TMP": folder})
        handle = theirs.fileno()
        # the kernel would kill it with the thread that starts it: so only with the main thread
        ours_for_good = threading.current_thread() is threading.main_thread()
        files = () if os.name == "nt" else (*os.pipe(), *os.pipe())
        theirs_of_files = files[0:1] + files[3:4]
        given = str(handle), str(os.getpid()), folder, str(int(ours_for_good)), *map(str, theirs_of_files)
        command = python_command("-c", START, *given)
        more: dict[str, Any] = {"pass_fds": [handle, *theirs_of_files]}
        if os.name == "nt":
            os.set_handle_inheritable(handle, True)  # type: ignore[attr-defined]
            startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})  # type: ignore[attr-defined]
            more = {"startupinfo": startup}
        with signals_held():
            self._process = start_process(command, stdin=subprocess.DEVNULL, env=environment, **more)
        theirs.close()
        for file in theirs_of_files:
            os.close(file)
        self._bell = (files[1], files[2]) if files else None
        self._pipe, self._waits, self._given_up, self._failed_before = ours, False, "", ""
        self._released = []  # what tokens of an earlier process release is none of this one
        self._accepted, self._pending, self._reads = set(), [], []
        self._answers = _waiting_for(ours)
        self._end = weakref.finalize(self, _end, self._process, ours, self._bell or (), folder)
        with self._answering("start"):
            send(ours, python_path())
            ours.send_bytes(self._recipe)

    def _ask(self, name: str, *given: Any, timeout: float | None = None) -> Any:
        if self._process is None:
            raise cosim.CosimError(f"{name}: the participant is not initialized, so there is no process")
        limit = self._timeout if timeout is None else timeout
        waiting = self._leave_remote(name, limit)
        released = [self._released.pop() for _ in range(len(self._released))]
        pending, self._pending = [*self._pending, *waiting], []
        if name != "get":
            self._forget_reading()
        self._waits = True
        with self._answering(name):
            send(self._pipe, (released, pending, name, given))
            self._wait(name, limit)
            kind, value = receive(self._pipe)
        self._waits = False
        if kind == "error":
            raise restored(value)
        return value

    def _leave_remote(self, name: str, limit: float | None) -> list[tuple[str, tuple[Any, ...]]]:
        """Have the other process come back to messages; inputs that go with the next one."""
        remote = self._remote
        if remote is None:
            return []
        self._wait_there(name, limit)
        if remote.is_served:
            remote.leave()
            self._wait_there(name, limit)
            self._raise_access()
        return remote.take_pending()

    def _wait_there(self, name: str, limit: float | None = None) -> None:
        """Wait for the answer to a request through shared memory, as `_wait`."""
        remote = self._remote
        assert remote is not None
        if not remote.is_awaited:
            return
        limit = self._timeout if limit is None else limit
        end = math.inf if limit is None else monotonic() + limit
        self._waits = True
        with self._answering(name):
            while not remote.wait():
                if self._answers(SECONDS_TO_LOOK):  # the process has ended, or says why it ends
                    kind, value = receive(self._pipe)
                    if kind == "error":
                        raise restored(value)
                self._check_wait(name, limit, end)
        self._waits = False

    def _write(self, name: str, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """A call without an answer: one of a kind that went well before waits for the next call."""
        kind = (name, *names)
        given = [*names], values.tolist() if isinstance(values, np.ndarray) else [*values]
        if kind in self._accepted:
            self._forget_reading()
            self._pending.append((name, given))
            return
        self._ask(name, *given)
        self._accepted.add(kind)

    def _forget_reading(self) -> None:
        """What came with the last step holds no longer."""
        self._has_stepped = False
        self._read = {}

    def _ask_if_there(self, name: str) -> list[Any]:
        """Something that is not worth an error: a failure is reported at the end."""
        if self._process is None or self._waits:
            return []
        try:
            found: list[Any] = self._ask(name)
        except Exception as error:
            self._failed_before = self._failed_before or str(error)
            return []
        return found

    def _wait(self, name: str, limit: float | None) -> None:
        """For an answer; a process that gives none in time, or soon after a first Ctrl-C, is killed."""
        assert self._process is not None
        end = math.inf if limit is None else monotonic() + limit
        while not self._answers(min(SECONDS_BETWEEN_LOOKS, max(0.0, end - monotonic()))):
            self._check_wait(name, limit, end)

    def _check_wait(self, name: str, limit: float | None, end: float) -> None:
        """Kill a process that has given no answer in time, or soon after a first Ctrl-C."""
        assert self._process is not None
        if limit is not None and monotonic() >= end:
            self._process.kill()
            raise cosim.CosimError(
                f"its process did not return from {self._called(name)} within {limit:g} s and was killed"
            )
        if seconds_interrupted() > SECONDS_TO_ANSWER:
            self._process.kill()
            raise held_interrupt()

    def _called(self, name: str) -> str:
        """The call that the process is about; `name` where it does not say."""
        if self._remote is not None and self._remote.calling:
            return self._remote.calling
        with suppress(OSError):
            return (Path(self._folder) / CALLING).read_bytes().rstrip(b"\0").decode("ascii") or name
        return name

    def _last_printed(self) -> str:
        """The last line that an FMU has printed, as the end of a sentence; "" when there is none."""
        with suppress(OSError):
            lines = (Path(self._folder) / PRINTED).read_bytes()[-2000:].decode("utf-8", "replace").split("\n")
            last = next((line.strip() for line in reversed(lines) if line.strip()), "")
            return f'. It printed: "{last[:300]}"' if last else ""
        return ""

    def abort(self, why: str) -> None:
        """End the process, from another thread; the call that waits for it raises an error that says why."""
        self._given_up = why
        process = self._process
        if process is not None:
            process.kill()

    @contextmanager
    def _answering(self, name: str) -> Iterator[None]:
        """Turn a broken pipe into an error that says how the process ended."""
        try:
            yield
        except (EOFError, OSError):
            assert self._process is not None
            if not self._given_up and waited_for_interrupt(SECONDS_FOR_INTERRUPT):
                raise held_interrupt() from None  # whoever sent it has ended the process, too
            why = self._given_up
            said = "" if why else self._last_printed()
            where = name if why else self._called(name)
            raise cosim.CosimError(f"{why or _ending(self._process)} in {where}{said}") from None

    def _number(self, token: Any) -> int:
        if not isinstance(token, _SavedElsewhere) or token.process is not self._process:
            raise cosim.CosimError("this state was not saved by this participant")
        return token.number


def _waiting_for(pipe: Any) -> Callable[[float], Any]:
    """Whether there is an answer within some seconds; `Connection.poll` makes a selector each time."""
    if os.name == "nt":
        answers: Callable[[float], Any] = pipe.poll
        return answers
    poll = select.poll()
    poll.register(pipe.fileno(), select.POLLIN)
    return lambda seconds: poll.poll(1e3 * seconds)


def _ending(process: subprocess.Popen[bytes]) -> str:
    try:
        code = process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        return "its process closed the connection"
    if code < 0:
        with suppress(ValueError):
            return f"its process was killed by {signal.Signals(-code).name}"
    return f"its process ended by itself with exit code {code}"


def _end(process: subprocess.Popen[bytes], pipe: Any, files: Sequence[int], folder: str) -> None:
    with suppress(Exception):
        pipe.close()
    for file in files:
        with suppress(OSError):
            os.close(file)
    if process.poll() is None:
        process.kill()
    with suppress(Exception):
        process.wait(SECONDS_TO_END)
    remove_folder(Path(folder))

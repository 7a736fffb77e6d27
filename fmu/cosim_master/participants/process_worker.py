"""What runs in the process of a `ProcessParticipant`, and what goes between the two processes."""

from __future__ import annotations

import mmap
import os
import pickle
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import cosim
from cosim.kit import end_with_parent, kill_with_parent, leave_signals
from cosim_fmi.binding.fmu_output import Printed
from cosim_fmi.binding.process_guard import last_words
from cosim_master.coupling.errors import StepDiscardedError, StopRequested
from cosim_master.participants.exchange_memory import keep_from_forks

# What goes from one process to another, and errors on their way.
#
# `Connection.send` hands a view of a buffer on. Where it raises, the traceback keeps that view, and the
# search for garbage then meets a fault of CPython (github.com/python/cpython/issues/111049 and 111331):
# 3.12.0 and 3.12.1 crash, others complain on standard error. Bytes have no such views.


def send(connection: Any, value: Any) -> None:
    """Plain data, for `receive`."""
    connection.send_bytes(pickle.dumps(value))


def receive(connection: Any) -> Any:
    """What the process at the other end, which is one of ours, has sent."""
    return pickle.loads(connection.recv_bytes())


def portable(error: Exception) -> tuple[Any, ...]:
    """An error as plain data, for `restored`."""
    if isinstance(error, StopRequested):
        return "stop", error.time, error.reason
    if isinstance(error, cosim.FmuError):
        head = f"{error.fmu}: {error.function + ': ' if error.function else ''}"
        kind = "discarded" if isinstance(error, StepDiscardedError) else "fmu"
        return kind, error.fmu, str(error).removeprefix(head), error.function
    return "other", str(error) if isinstance(error, cosim.CosimError) else f"{type(error).__name__}: {error}"


def restored(data: tuple[Any, ...]) -> cosim.CosimError:
    """The error again.

    Examples
    --------
    >>> str(restored(portable(cosim.FmuError("a.fmu", "ran dry", "fmi2DoStep"))))
    'a.fmu: fmi2DoStep: ran dry'
    """
    kind, *values = data
    kinds: dict[str, Any] = {
        **{"stop": StopRequested, "discarded": StepDiscardedError},
        **{"fmu": cosim.FmuError, "other": cosim.CosimError},
    }
    made: cosim.CosimError = kinds[kind](*values)
    return made


PRINTED = "printed"
"""Name of the file, in the folder of the process, that takes what an FMU prints."""
CALLING = "calling"
"""Name of the file there that says which call is under way: memory of both processes."""
LONGEST_NAME = 32
"""Bytes of it."""


def main() -> None:
    """Serve the connection that the command line names until it is closed."""
    handle, parent, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    end_with_parent(parent, last=lambda: shutil.rmtree(folder, ignore_errors=True))
    if sys.argv[4] == "1":
        kill_with_parent(parent)  # also in C code that holds the interpreter's lock
    leave_signals()  # for the master, which then closes us
    connection = _connection(handle)
    files = [int(word) for word in sys.argv[5:]]
    try:
        with suppress(EOFError, OSError):  # the master is gone
            _serve(connection, folder, files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _connection(handle: int) -> Any:
    if os.name == "nt":
        from multiprocessing.connection import PipeConnection  # type: ignore[attr-defined]

        return PipeConnection(handle)
    return Connection(handle)


def _serve(connection: Any, folder: str, files: Sequence[int]) -> None:
    sys.path[:] = receive(connection)
    recipe = connection.recv_bytes()

    def say(why: str) -> None:
        """The FMU ends this process: that is the answer to the call."""
        send(connection, ("error", portable(cosim.CosimError(why))))

    with last_words(say):
        _answer(connection, recipe, folder, files)


def _answer(connection: Any, recipe: bytes, folder: str, files: Sequence[int]) -> None:
    """Call after call, until the participant is closed."""
    from cosim_master.abilities import LogsPrinted
    from cosim_master.participants.served_calls import SERVED, ServedCalls

    calling = _shared_name(folder)
    printed: Printed | None = None
    tokens: dict[int, Any] = {}
    participant: Any = None
    served: ServedCalls | None = None
    name = ""
    while name != "close":
        released, pending, name, given = receive(connection)
        for number in released:
            tokens.pop(number, None)
        try:
            if participant is None:
                make, arguments, keywords = pickle.loads(recipe)
                participant = make(*arguments, **keywords)
                if isinstance(participant, LogsPrinted):  # what others print belongs to the program
                    printed = _take_output(folder)
            for write, written in pending:
                calling(write)
                getattr(participant, write)(*written)
            calling(name)
            if name == "step":
                time, size, reads = given
                reached = _step(participant, time, size)
                calling("get")
                answer = "answer", (*reached, [_read_behind(participant, names) for names in reads])
            elif name in SERVED:
                served = ServedCalls(participant, folder, *files) if name == "prepare" else served
                assert served is not None
                answer = "answer", served.do(name, given)
            else:
                answer = "answer", _do(participant, tokens, name, given)
            if printed is not None and (text := printed.take()):
                participant.log_printed(text)
        except Exception as error:
            answer = "error", portable(error)
        calling(name)  # a process that code of an FMU has forked ends here: only one answers
        if served is not None and name != "close":
            served.go_on()
        try:
            send(connection, answer)
        except (TypeError, AttributeError, pickle.PicklingError) as error:  # a value that is no plain data
            send(connection, ("error", portable(error)))
        if served is not None:
            served.serve()


def _shared_name(folder: str) -> Callable[[str], None]:
    """Says which call is under way, also to a process that outlives this one."""
    with open(os.path.join(folder, CALLING), "r+b") as file:
        shared = mmap.mmap(file.fileno(), LONGEST_NAME)
    keep_from_forks(shared)

    def say(name: str) -> None:
        shared[:] = name.encode("ascii").ljust(LONGEST_NAME, b"\0")

    return say


def _step(participant: Any, time: float, size: float) -> tuple[float, list[Any]]:
    """The time that was reached, and what lies inside of the step."""
    reached = participant.step(time, size)
    inside = getattr(participant, "inside", None)
    points = inside() if inside is not None else ()
    return reached, [(point.time, list(point.names), list(point.values)) for point in points]


def _read_behind(participant: Any, names: tuple[str, ...]) -> list[Any] | None:
    """Values that will be read; None where that fails: then reading them is an error of its own."""
    try:
        return _plain(participant.get(list(names)))
    except Exception:
        return None


def _plain(values: Any) -> list[Any]:
    found: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return found


def _take_output(folder: str) -> Printed | None:
    """From now on what is printed goes into a file of the process's folder."""
    try:
        file = os.open(os.path.join(folder, PRINTED), os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        os.dup2(file, 1)
        os.dup2(file, 2)
    except OSError:
        return None
    return Printed(file)


def _do(participant: Any, tokens: dict[int, Any], name: str, given: tuple[Any, ...]) -> Any:
    """Call a method; tokens of saved states stay here, and numbers stand for them there."""
    if name in ("restore", "serialize"):
        return getattr(participant, name)(tokens[given[0]])
    if name in ("save", "deserialize"):
        number = max(tokens, default=0) + 1
        tokens[number] = getattr(participant, name)(*given)
        return number
    from cosim_master.abilities import (
        InitializationMode,
        RecordsEvents,
        ReportsCloseError,
        ReportsWarnings,
        Resizes,
        Watches,
    )

    optional: dict[str, Any] = {
        "exit_initialization": InitializationMode,
        "configure": Resizes,
        "watch": Watches,
        "events": RecordsEvents,
        "warnings": ReportsWarnings,
    }
    if name in optional and not isinstance(participant, optional[name]):
        return []
    if name == "close":
        participant.close()
        return participant.close_error() if isinstance(participant, ReportsCloseError) else ""
    if name in ("events", "warnings"):
        return list(getattr(participant, name))
    if name in ("get", "directional_derivative"):
        return _plain(getattr(participant, name)(*given))
    return getattr(participant, name)(*given)

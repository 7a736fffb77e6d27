"""What runs in the process of a `ProcessParticipant`."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import cosim
from cosim.kit import end_with_parent, kill_with_parent, leave_signals
from cosim_fmi.binding.fmu_output import Printed
from cosim_fmi.binding.process_guard import last_words
from cosim_master.participants.process_messages import portable, receive, send

PRINTED = "printed"
"""Name of the file, in the folder of the process, that takes what an FMU prints."""


def main() -> None:
    """Serve the connection that the command line names until it is closed."""
    handle, parent, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    end_with_parent(parent, last=lambda: shutil.rmtree(folder, ignore_errors=True))
    if sys.argv[4] == "1":
        kill_with_parent(parent)  # also in C code that holds the interpreter's lock
    leave_signals()  # for the master, which then closes us
    connection = _connection(handle)
    try:
        with suppress(EOFError, OSError):  # the master is gone
            _serve(connection, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _connection(handle: int) -> Any:
    if os.name == "nt":
        from multiprocessing.connection import PipeConnection  # type: ignore[attr-defined]

        return PipeConnection(handle)
    return Connection(handle)


def _serve(connection: Any, folder: str) -> None:
    sys.path[:] = receive(connection)
    recipe = connection.recv_bytes()

    def say(why: str) -> None:
        """The FMU ends this process: that is the answer to the call."""
        send(connection, ("error", portable(cosim.CosimError(why))))

    with last_words(say):
        _answer(connection, recipe, folder)


def _answer(connection: Any, recipe: bytes, folder: str) -> None:
    """Call after call, until the participant is closed."""
    from cosim_master.abilities import TakesPrinted

    printed: Printed | None = None
    tokens: dict[int, Any] = {}
    participant: Any = None
    name = ""
    while name != "close":
        released, name, given = receive(connection)
        for number in released:
            tokens.pop(number, None)
        try:
            if participant is None:
                make, arguments, keywords = pickle.loads(recipe)
                participant = make(*arguments, **keywords)
                if isinstance(participant, TakesPrinted):  # what others print belongs to the program
                    printed = _take_output(folder)
            answer = "answer", _do(participant, tokens, name, given)
            if printed is not None and (text := printed.take()):
                participant.take_printed(text)
        except Exception as error:
            answer = "error", portable(error)
        try:
            send(connection, answer)
        except (TypeError, AttributeError, pickle.PicklingError) as error:  # a value that is no plain data
            send(connection, ("error", portable(error)))


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
        Resizes,
        TellsInside,
        TellsWarnings,
        Watches,
    )

    optional: dict[str, Any] = {
        "exit_initialization": InitializationMode,
        "configure": Resizes,
        "watch": Watches,
        "events": RecordsEvents,
        "warnings": TellsWarnings,
    }
    if name in optional and not isinstance(participant, optional[name]):
        return []
    if name == "step":
        reached = participant.step(*given)
        points = participant.inside() if isinstance(participant, TellsInside) else ()
        return reached, [(point.time, list(point.names), list(point.values)) for point in points]
    if name == "close":
        participant.close()
        return participant.close_error() if isinstance(participant, ReportsCloseError) else ""
    if name in ("events", "warnings"):
        return list(getattr(participant, name))
    if name in ("get", "directional_derivative"):
        values = getattr(participant, name)(*given)
        return values.tolist() if hasattr(values, "tolist") else list(values)
    return getattr(participant, name)(*given)

"""The main function of a process of participants: it answers calls, message after message."""

from __future__ import annotations

import functools
import mmap
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import end_with_parent, ignore_stop_signals, kill_with_parent
from cosim_fmi.binding.fmu_output import Printed
from cosim_fmi.binding.process_guard import last_words
from cosim_master.exchange.exchange_arrays import READING, RESTORING, SAVING, SETTING
from cosim_master.processes.calls import (
    ACTIONS,
    ANSWER,
    CLOSE,
    ERROR,
    LOG,
    OPEN,
    STEP,
    WRITES,
    Call,
    calls_of_numbers,
    numbers_of_answers,
)
from cosim_master.processes.channel import Channel, MessageError, Numbers, PipeChannel
from cosim_master.processes.message_memory import AnsweringChannel, exclude_from_forks
from cosim_master.processes.native_service import NativeService, Unusual
from cosim_master.processes.portable_errors import portable
from cosim_master.processes.recipe import PickledRecipes, Recipes
from cosim_master.processes.served import Served

PRINTED = "printed"
"""Name of the file, in the folder of the process, to which the output of FMUs goes."""
CALLING = "calling"
"""Name of the file there with the call that is under way, which both processes map into memory."""
LONGEST_NAME = 40
"""The size of this file, bytes."""
BEAT = "beat"
"""A message: the process is alive, and busy with a call."""
ENDED = "ended"
"""Key of the last message, in which a server reports the end of the process."""
SECONDS_BETWEEN_BEATS = 2.0


def main(open_fmu: Callable[..., cosim.Participant] | None = None) -> None:
    """Serve the connection that the command line names until it is closed.

    Parameters
    ----------
    open_fmu : callable, optional
        Makes participants of files that the other end sends; unless given it sends recipes, and is trusted.
    """
    reading, writing, parent, folder = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    end_with_parent(parent, last=lambda: shutil.rmtree(folder, ignore_errors=True))
    if sys.argv[5] == "1":
        kill_with_parent(parent)  # also in C code that holds the interpreter's lock
    ignore_stop_signals()  # they are for the master, which then ends this process
    recipes: Recipes = PickledRecipes()
    if open_fmu is not None:
        from cosim_master.processes.sent_fmus import SentFmus

        recipes = SentFmus(Path(folder), sys.argv[6], open_fmu)
    is_elsewhere = open_fmu is not None
    worker = Worker(_channel(reading, writing), recipes, Path(folder), sends_logs=is_elsewhere)
    try:
        with suppress(EOFError, OSError, MessageError):  # the master is gone
            worker.serve(beats=is_elsewhere)
    finally:
        worker.close()
        shutil.rmtree(folder, ignore_errors=True)


def _channel(reading: int, writing: int) -> Channel:
    if os.name == "nt":
        from multiprocessing.connection import PipeConnection  # type: ignore[attr-defined]

        return PipeChannel(PipeConnection(reading))
    return AnsweringChannel(reading, writing)


def log_file(folder: Path, number: int) -> Path:
    """The file in the folder of the process in which a participant logs that runs for another machine."""
    return folder / f"log-{number}"


class Worker:
    """Answers the calls that come over a channel.

    Parameters
    ----------
    channel : Channel
    recipes : Recipes
    folder : Path
        The folder of this process.
    sends_logs : bool
        Whether the files of logs are on another machine: what is logged goes there with the answers.
    """

    def __init__(self, channel: Channel, recipes: Recipes, folder: Path, *, sends_logs: bool) -> None:
        self._channel, self._recipes, self._folder = channel, recipes, folder
        self._served: dict[int, Served] = {}
        self._sends_logs, self._logs = sends_logs, dict[int, int]()
        self._printed: Printed | None = None
        self._is_printed_taken = False
        self._since = 0.0
        self._calling = _shared_name(folder)
        self._native = NativeService(channel, folder)

    def serve(self, *, beats: bool) -> None:
        """Message after message, until the other end closes the connection."""
        if beats:
            threading.Thread(target=self._beat, name="beat", daemon=True).start()

        def report_end(reason: str) -> None:
            """Answer the call with an error, because the FMU ends this process."""
            self._channel.send([[[ERROR, portable(cosim.CosimError(reason))]], self._new_logs()])

        with last_words(report_end):
            while True:
                unusual = None if self._logs else self._serve_natively()
                if unusual is None:
                    self._answer_message(self._channel.receive())
                else:
                    self._answer_rest(unusual)

    def _serve_natively(self) -> Unusual | None:
        """Let compiled code answer messages (`NativeService.serve`)."""
        unusual = self._native.serve()
        for served in self._served.values():
            self._log_printed(served)
        return unusual

    def _answer_message(self, message: Any) -> None:
        """Carry out the calls of a message and send their answers."""
        self._since = time.monotonic()
        has_numbers = isinstance(message, Numbers)
        try:
            calls = calls_of_numbers(message) if has_numbers else [Call(*call) for call in message]
        except (TypeError, ValueError, IndexError) as error:
            raise MessageError(f"is not a list of calls: {error}") from None
        self._send([self._answer(call) for call in calls], as_numbers=has_numbers)
        if self._sends_logs and has_numbers:
            participants = {n: (served.participant, served.names) for n, served in self._served.items()}
            self._native.learn(calls, participants)

    def _answer_rest(self, unusual: Unusual) -> None:
        """Carry out the rest of a message that compiled code has left."""
        self._since = time.monotonic()
        unusual_call, *next_calls = unusual.calls[len(unusual.answers) :]
        answers = [*unusual.answers, self._answer(unusual_call, unusual), *map(self._answer, next_calls)]
        self._native.end_unusual()
        self._send(answers, as_numbers=True)

    def close(self) -> None:
        """Close the remaining participants after the other end has gone."""
        for served in self._served.values():
            with suppress(Exception):
                served.participant.close()
        self._served.clear()

    def _send(self, answers: list[Any], *, as_numbers: bool) -> None:
        """Send answers, as numbers where that is possible, and what participants have logged."""
        self._since = 0.0
        self._calling(0, "")
        logs = self._new_logs()
        numbers = numbers_of_answers(answers) if as_numbers and not logs else None
        if numbers is not None:
            self._channel.send_numbers(numbers)
            return
        try:
            self._channel.send([answers, logs])
        except TypeError:  # a value that is not plain data
            self._channel.send([[_sendable(self._channel, answer) for answer in answers], logs])

    def _answer(self, call: Call, unusual: Unusual | None = None) -> list[Any]:
        """Carry out a call. Returns its answer, or the error that it has raised."""
        try:
            served = self._served.get(call.number)
            if served is None:
                return [ANSWER, self._begin(call.number, call.name, call.arguments)]
            self._prepare_call(served, call, unusual)
            answer = self._carry_out(served, call, unusual)
            self._log_printed(served)
            if call.name == CLOSE:
                del self._served[call.number]
                self._native.forget(call.number)
            return [ANSWER, answer]
        except Exception as error:
            return [ERROR, portable(error)]

    def _prepare_call(self, served: Served, call: Call, unusual: Unusual | None) -> None:
        """Carry out what a message has besides the call itself: released states, new names, writes."""
        for token in call.released:
            served.tokens.pop(token, None)
        served.names += call.names
        if unusual is not None:
            self._check_unusual(call.number, unusual)
        for write, names, values in call.pending if unusual is None else unusual.unsent_writes(call):
            self._calling(call.number, write)
            served.write(write, names, values)

    def _carry_out(self, served: Served, call: Call, unusual: Unusual | None) -> Any:
        """The answer to the call itself."""
        number, name = call.number, call.name
        self._calling(number, name)
        if name in ACTIONS:
            return self._act(served, call, unusual)
        if name in WRITES:
            served.write(name, *call.arguments)
            return None
        if name != LOG:
            return self._call(served, call)
        file, level = call.arguments
        if self._sends_logs:
            self._logs[number] = 0
            return served.call(name, [log_file(self._folder, number), level])
        return served.call(name, [None if file is None else Path(file), level])

    def _act(self, served: Served, call: Call, unusual: Unusual | None) -> Any:
        """The answer to one of `ACTIONS`."""
        number, name = call.number, call.name
        time, size, reads = call.arguments
        reached, points = time, list[Any]()
        if name == STEP:
            reached, points = served.step(time, size, unusual)
        elif not reads:
            self._native.member(number).do_in_place(name)
        self._calling(number, "get")
        return [reached, points, [served.read_behind(names) for names in reads]]

    def _check_unusual(self, number: int, unusual: Unusual) -> None:
        """Raise the error of a function that failed when compiled code called it."""
        member, calling = self._native.member(number), unusual.calling
        if calling in (SETTING, READING):
            member.check_access("Set" if calling == SETTING else "Get", unusual.status)
        elif calling in (SAVING, RESTORING):
            member.check_state(calling, unusual.status)

    def _call(self, served: Served, call: Call) -> Any:
        """Call a method of a participant, or one of the service in compiled code."""
        number, native = call.number, self._native
        match call.name, call.arguments:
            case "prepare", [written, read]:
                return native.prepare(number, served.participant, served.names, written, read)
            case "leave", []:
                return native.leave(number)
            case "remember", [("remember" | "remember_saved") as method]:
                return native.member(number).remember(method)
            case "forget", [remembered]:
                return native.member(number).forget(remembered)
            case name, arguments:
                return served.call(name, arguments)

    def _begin(self, number: int, name: str, arguments: list[Any]) -> Any:
        """Make a participant, or answer a call that is for none."""
        if name != OPEN:
            return self._recipes.serve(name, arguments)
        from cosim_master.abilities import LogsPrinted

        self._calling(number, name)
        served = Served(self._recipes.make(number, arguments))
        if not self._is_printed_taken and isinstance(served.participant, LogsPrinted):
            self._is_printed_taken = True  # redirected once, by the first FMU
            self._printed = _take_output(self._folder)
        self._served[number] = served
        return None

    def _log_printed(self, served: Served) -> None:
        if self._printed is not None and (text := self._printed.pop()):
            served.participant.log_printed(text)

    def _new_logs(self) -> list[Any]:
        """The log entries since the last message: participant, place in its file, bytes."""
        parts = []
        for number, place in self._logs.items():
            with suppress(OSError), log_file(self._folder, number).open("rb") as file:
                file.seek(place)
                if data := file.read():
                    parts.append([number, place, data])
                    self._logs[number] = place + len(data)
        return parts

    def _beat(self) -> None:
        """Report, while a call takes long, that this process is alive."""
        progress: int | None = None
        while True:
            time.sleep(SECONDS_BETWEEN_BEATS)
            since, last_progress = self._since, progress
            progress = self._native.progress
            is_long = bool(since) and time.monotonic() - since >= SECONDS_BETWEEN_BEATS
            if is_long or (progress is not None and progress == last_progress):
                with suppress(OSError):
                    self._channel.send(BEAT)


def _sendable(channel: Channel, answer: Any) -> Any:
    """An answer, or the error that it cannot be sent."""
    try:
        channel.check(answer)
    except TypeError as fault:
        return [ERROR, portable(fault)]
    return answer


def _shared_name(folder: Path) -> Callable[[int, str], None]:
    """A function that stores which call is under way, so that it is known after this process has ended."""
    with (folder / CALLING).open("r+b") as file:
        shared = mmap.mmap(file.fileno(), LONGEST_NAME)
    exclude_from_forks(shared)

    @functools.lru_cache(maxsize=1000)
    def content(number: int, name: str) -> bytes:
        return f"{number} {name}".encode("ascii", "replace")[:LONGEST_NAME].ljust(LONGEST_NAME, b"\0")

    def store(number: int, name: str) -> None:
        shared[:] = content(number, name)

    return store


def _take_output(folder: Path) -> Printed | None:
    """Redirect printed text into a file of the process's folder."""
    try:
        file = os.open(folder / PRINTED, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        os.dup2(file, 1)
        os.dup2(file, 2)
    except OSError:
        return None
    return Printed(file)

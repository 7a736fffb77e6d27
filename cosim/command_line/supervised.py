"""A command runs code of others in a process of its own; this one outlives it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import warnings
from contextlib import suppress
from time import monotonic
from typing import Any

from cosim.command_line import black_box
from cosim.command_line.black_box import (
    CALL,
    ENDED,
    FUNCTION_BITS,
    LOST,
    SAVED,
    UNNAMED_FMU,
    WRITTEN,
    BlackBox,
    BlackBoxReader,
)
from cosim.command_line.exit_status import ExitStatus
from cosim.command_line.native_errors import NativeErrors, late_output_to_errors
from cosim.contracts.command import Command
from cosim.contracts.recovery import Recovery
from cosim.errors import CosimError, SimulationError
from cosim.simulation.interrupt import Terminated
from cosim_compiler.helper_process import kill_with_parent

ASKING = (signal.SIGINT, signal.SIGTERM)
SECONDS_TO_ANSWER = 3.0
"""That a function of others may still take after Ctrl-C or SIGTERM; after a second one it may take none."""
MOST_ASKED = 3
"""After so many signals the process is ended, whatever it does."""
SECONDS_BETWEEN_LOOKS = 0.1
ANSWERS = (ExitStatus.INTERRUPTED, ExitStatus.TERMINATED)
FROM_TERMINAL = 0x80
"""``SI_KERNEL``: the terminal sends Ctrl-C to both processes itself, unless an FMU has left its group."""


class EndedElsewhere(BaseException):  # noqa: N818  it is not an error
    """The command was run to its end by another process, which has said everything.

    Parameters
    ----------
    status : int
        The exit status.
    """

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status)


class LostProcessError(CosimError):
    """Code of others has ended the process of a command, at no simulated time."""


def can_be_supervised() -> bool:
    """Whether this platform has what it takes."""
    return sys.platform == "linux" and hasattr(os, "memfd_create")


def run_supervised(command: Command, arguments: argparse.Namespace) -> int:
    """Run a command in a fork of this process; it returns there.

    Raises
    ------
    EndedElsewhere
        Here, where the other process has ended by itself.
    SimulationError
        Here, where code of others has ended it: who that was, and what has become of the results.
    KeyboardInterrupt
        Here, where it was ended since it did not answer Ctrl-C or SIGTERM.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    try:
        box, errors = BlackBox(), NativeErrors()
    except OSError:  # no file for what is recorded
        return command.run(arguments)
    # a program in the background of a script is started with Ctrl-C ignored
    asking = {number for number in ASKING if signal.getsignal(number) != signal.SIG_IGN}
    waiting = {*asking, signal.SIGCHLD, signal.SIGTSTP}
    former_mask = signal.pthread_sigmask(signal.SIG_BLOCK, waiting)
    parent = os.getpid()
    with warnings.catch_warnings():  # other threads are those of BLAS, which is ready for it
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        kill_with_parent(parent)
        black_box.box = box
        box.enter()
        errors.enter()
        signal.pthread_sigmask(signal.SIG_SETMASK, former_mask)
        return command.run(arguments)
    reader = BlackBoxReader(box)
    try:
        errors.watch()
        reader.watch()
        code, signals = _wait(child, reader, waiting)
        errors.end()
        reader.finish_writes()
        raise _outcome(code, signals, reader, command)
    finally:
        box.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, former_mask)


def record_status(status: int) -> None:
    """Record, in the watched process, that the command has ended with this status."""
    if black_box.box is not None:
        black_box.status_words[ENDED] = int(status) + 1
        late_output_to_errors()


def _wait(child: int, box: BlackBoxReader, waiting: set[signal.Signals]) -> tuple[int, list[int]]:
    """Until the process has ended: its exit code, negative for a signal, and the signals that came here."""
    signals: list[int] = []
    since = 0.0
    while True:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            code = os.waitstatus_to_exitcode(status)
            return code, signals + _late_signals(code, bool(signals))
        received = signal.sigtimedwait(waiting, SECONDS_BETWEEN_LOOKS if signals else 3600.0)
        if received is not None and received.si_signo == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)
        elif received is not None and received.si_signo in ASKING:
            signals.append(received.si_signo)
            since = since or monotonic()
            with suppress(ProcessLookupError):
                if received.si_code != FROM_TERMINAL or os.getpgid(child) != os.getpgrp():
                    os.kill(child, received.si_signo)
        is_late = len(signals) > 1 or monotonic() - since > SECONDS_TO_ANSWER
        if signals and (len(signals) >= MOST_ASKED or (is_late and _is_in_call(box))):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def _late_signals(code: int, is_asked: bool) -> list[int]:
    """The signals that came here while the process ended; what has ended it may have been sent to both."""
    seconds = SECONDS_BETWEEN_LOOKS if not is_asked and (code in ANSWERS or -code in ASKING) else 0.0
    signals: list[int] = []
    while (received := signal.sigtimedwait(ASKING, seconds)) is not None:
        signals.append(received.si_signo)
        seconds = 0.0
    return signals


def _is_in_call(box: BlackBoxReader) -> bool:
    """Whether the process is executing a function of a participant."""
    if box.status_words[ENDED]:
        return False
    if box.status_words[CALL]:
        return True
    _, functions = _place(box.notes().get("recovery"), box)
    return bool(functions)


def _outcome(code: int, signals: list[int], box: BlackBoxReader, command: Command) -> BaseException:
    """The exit status and message for the end of the process."""
    is_asked_for = bool(signals) and (code in ANSWERS or -code in signals)
    if box.status_words[ENDED] and (is_asked_for or code == box.status_words[ENDED] - 1):
        return EndedElsewhere(_checked_status(box.status_words[ENDED] - 1, box, command))
    notes = box.notes()
    recovery = notes.get("recovery")
    time, callees = _place(recovery, box)
    # of several threads the last one alone has announced its call
    announced_call = "" if len(callees) > 1 else _announced_call(box, notes)
    culprit = announced_call or " or ".join(callees)
    if box.status_words[ENDED] and not culprit:  # the command was over: libraries are unloaded then
        culprit = f"a library that was loaded{_inside(notes)}"
    why = "" if is_asked_for else _reason(code, bool(signals), culprit, notes)
    answer = "terminated" if signal.SIGTERM in signals else "interrupted"
    _recover(box, (why or answer) if time is None else str(SimulationError(time, why or answer)), command)
    if signals:
        text = f"{answer}: {why}" if why else answer
        return Terminated(text) if signal.SIGTERM in signals else KeyboardInterrupt(text)
    return LostProcessError(why) if time is None else SimulationError(time, why)


def _reason(code: int, has_signals: bool, culprit: str, notes: dict[str, Any]) -> str:
    """The sentence that says why a process has ended though its end was not asked for."""
    if code == -signal.SIGKILL and has_signals:
        ended = "did not come back and was ended" if culprit else "was ended"
        return f"{culprit or 'the process of the run'} {ended}"
    reason: str = notes.get("said") or _ending(code, culprit) + ("" if culprit else _inside(notes))
    is_unnamed = bool(culprit) and reason.startswith(UNNAMED_FMU)
    return reason.replace(UNNAMED_FMU, culprit, 1) if is_unnamed else reason


def _place(recovery: Any, box: BlackBoxReader) -> tuple[float | None, list[str]]:
    """The time of the run, and the functions that are being called."""
    if isinstance(recovery, Recovery):
        with suppress(Exception):  # code of others may have written into the memory
            return recovery.call(box)
    return None, []


def _recover(box: BlackBoxReader, why: str, command: Command) -> bool:
    """Write the results so far, and say where they are; whether there were any."""
    notes = box.notes()
    recovery = notes.get("recovery")
    if not isinstance(recovery, Recovery):
        return False
    reported: dict[str, Any] = {}
    try:
        message, reported = recovery.recover(box, why)
    except (CosimError, OSError) as error:
        message = str(error)
    except Exception as error:  # code of others may have written into the memory
        message = f"the results so far cannot be recovered: {type(error).__name__}: {error}"
    command.report(**reported)
    if message and message != notes.get(LOST):  # which the process has said
        print(message, file=sys.stderr)
    return bool(message)


def _checked_status(status: int, box: BlackBoxReader, command: Command) -> int:
    """The status of a process that has said why it failed; where it could not write rows, they are written.

    Code of others may have taken files, rights or memory away from it.
    """
    if (
        status not in (ExitStatus.FAILED, ExitStatus.BAD_INPUT)
        or box.status_words[SAVED]
        or box.status_words[WRITTEN]
    ):
        return status
    is_recovered = _recover(box, "the process of the run has failed", command)
    return ExitStatus.FAILED if is_recovered else status


def _inside(notes: dict[str, Any]) -> str:
    """Whose code was in the process, which compiled code may have called."""
    names = dict.fromkeys(value[0] for kind, value in notes.items() if kind.startswith("callee "))
    return f" (code of others was in it: {', '.join(names)})" if names else ""


def _announced_call(box: BlackBoxReader, notes: dict[str, Any]) -> str:
    """The function that is being called, as Python or compiled code has announced before the call."""
    callee, function = divmod(box.status_words[CALL], 1 << FUNCTION_BITS)
    callee_names = notes.get(f"callee {callee}")
    if not callee or not isinstance(callee_names, tuple):
        return ""
    name, functions = callee_names
    return f"{name}: {functions[function]}: the FMU"


def _ending(code: int, culprit: str) -> str:
    """A sentence that says how a process has ended, and which function ended it if that is known."""
    if code >= 0:
        if culprit:
            return f"{culprit} ended the process of the run, with exit code {code}"
        return f"the process of the run ended with exit code {code}, and nothing said why"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"{culprit} crashed: {name}" if culprit else f"the process of the run was killed by {name}"

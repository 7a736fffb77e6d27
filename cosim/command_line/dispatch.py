"""Finds a command by its name, runs it, and reports its errors and its exit status.

Each command has ``--json``, ``--verbose`` and ``--traceback``; see `ExitStatus` for what it ends with.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import gc
import io
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import TextIO

from cosim.command_line.command_entries import PLUGINS, claimed_words, commands
from cosim.command_line.command_parser import COMMON, CommandParser
from cosim.command_line.exit_status import ExitStatus, exit_statuses
from cosim.command_line.json_document import JsonDocument
from cosim.command_line.lost_interrupts import repeating_lost_interrupts
from cosim.command_line.printable import PrintableStream, printable_output, raw_stream
from cosim.command_line.supervised import EndedElsewhere, LostProcessError, can_be_supervised, run_supervised
from cosim.contracts.command import Command
from cosim.errors import CosimError, LookUpError, NotWrittenError, SimulationError
from cosim.registration.fault_place import raise_interrupt
from cosim.registration.plugin_record import RegisteredClass
from cosim.registration.registry import Registry, registry
from cosim.simulation.early_sigterm import TERMINATED
from cosim.simulation.interrupt import Terminated, answering_sigterm
from cosim.version import __version__

DISK_FULL_ERRORS = (errno.ENOSPC, errno.EFBIG, *([errno.EDQUOT] if hasattr(errno, "EDQUOT") else []))
"""Error numbers when a disk or a quota is full, or a file reaches its limit."""
DESCRIPTOR_ERRORS = errno.EBADF, errno.EMFILE, errno.ENFILE
"""Error numbers when a descriptor is closed, or the limit of open files is reached."""


def dispatch(words: Sequence[str], *, is_program: bool = False) -> int:
    """Run one command and return the exit status.

    Parameters
    ----------
    words : sequence of str
        The command-line arguments after ``cosim``.
    is_program : bool
        Whether this process does nothing else: then code of plugins and FMUs runs in a supervised child
        process (`supervised`).
    """
    if sys.stderr is None:  # Python has found it closed: errors are not wanted
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # open until the process ends, as descriptor 2
    with printable_output():
        return _run_and_report(list(words), is_program)


def _run_and_report(words: list[str], is_program: bool) -> int:
    """Run the command, and turn every way of ending into an exit status."""
    if sys.stdout is None:  # Python has found it closed
        print("standard output is closed: send it to a file, or with > /dev/null nowhere", file=sys.stderr)
        return ExitStatus.FAILED
    output = raw_stream(sys.stdout)
    if isinstance(output, io.TextIOWrapper):  # a locale without × and → shows their numbers, as errors do
        output.reconfigure(errors="backslashreplace")
    try:
        with answering_sigterm(), repeating_lost_interrupts():
            status = _read_first_options(words, is_program)
        sys.stdout.flush()  # a reader that went away, or a full disk, is noticed here at the latest
        return int(status)
    except EndedElsewhere as end:
        os._exit(end.status)  # nothing is left to do, and to take this process apart costs 50 ms
    except KeyboardInterrupt as error:
        return _report_interrupt(error)
    except BrokenPipeError:  # the reader (`| head`) went away: nothing is wrong, and nothing more can be said
        _silence_output()
        return ExitStatus.FAILED
    except OSError as error:
        if not _has_failed(sys.stdout):
            raise
        _silence_output()
        print(f"standard output cannot be written: {error.strerror or error}", file=sys.stderr)
        return ExitStatus.FAILED
    except SystemExit as stop:  # argparse: 0 after --help
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        return stop.code if isinstance(stop.code, int) else ExitStatus.BAD_INPUT if stop.code else 0


def _report_interrupt(error: KeyboardInterrupt) -> ExitStatus:
    """Print that a command was ended from outside. Return the exit status."""
    print(str(error) or "interrupted", file=sys.stderr)
    # `answering_sigterm` raises `Terminated`; outside it the message alone tells SIGTERM from Ctrl-C
    is_terminated = isinstance(error, Terminated) or str(error) == TERMINATED
    return ExitStatus.TERMINATED if is_terminated else ExitStatus.INTERRUPTED


def _has_failed(stream: TextIO) -> bool:
    """Whether a text could not be written to a stream. Flushes the stream, and adds nothing to the output.

    A failed write may have discarded the text, so that the flush succeeds: `PrintableStream` remembers it.
    """
    if isinstance(stream, PrintableStream) and stream.has_failed:
        return True
    try:
        stream.flush()
    except OSError:
        return True
    return False


def _silence_output() -> None:
    """Send the rest to the null device: else Python complains at its end that it could not be written."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _read_first_options(words: list[str], is_program: bool) -> int:
    """Read the options before the name of a command, and run the command. Return the exit status."""
    parser = argparse.ArgumentParser(prog="cosim", add_help=False, usage="cosim [options] <command> …")
    parser.add_argument("--version", action="version", version=f"cosim {__version__}")
    parser.add_argument("-h", "--help", action="store_true")
    for flags, settings in COMMON.values():
        parser.add_argument(*flags, **settings)
    first = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    options = parser.parse_args(words[:first])
    if options.help or first == len(words):
        print(_overview(registry()), file=sys.stdout if options.help else sys.stderr)
        return ExitStatus.DONE if options.help else ExitStatus.BAD_INPUT
    name, arguments = words[first], words[first + 1 :]
    is_help = bool({"-h", "--help"} & set(arguments))
    is_answered = is_help or (name == "completion" and "--answer" in arguments)
    if is_answered or not (options.json or "--json" in arguments):
        return _run_command(name, arguments, options, None, is_program)
    # created before the options of the command are read, so that it contains their errors, too
    document = JsonDocument(name)
    with document.collecting():
        try:
            status = _run_command(name, arguments, options, document, is_program)
        except KeyboardInterrupt as error:
            document.add_error(error)
            status = _report_interrupt(error)
    print(document.text(status))
    return status


def _run_command(
    name: str,
    words: list[str],
    options: argparse.Namespace,
    document: JsonDocument | None,
    is_program: bool,
) -> int:
    """Find a command, parse its arguments and run it. Return the exit status.

    An error is printed, and added to the document if there is one.
    """
    entry, command = PLUGINS, None
    show_traceback = options.traceback
    try:
        entry = _find(registry(), name)
        command = entry.cls()
        arguments = CommandParser(command).read(words)
        show_traceback = show_traceback or arguments.traceback
        with _logging(max(options.verbose, arguments.verbose)):
            if is_program and command.leaves_garbage:
                gc.disable()
            is_watched = is_program and can_be_supervised() and command.runs_code_of_others(arguments)
            status = run_supervised(command, arguments) if is_watched else command.run(arguments)
            return int(status or ExitStatus.DONE)
    except (BrokenPipeError, KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:
        raise_interrupt(error)
        status, message = _status_and_message(error, entry, show_traceback)
        if document is not None:
            document.add_error(message)
        sys.stdout.flush()
        if show_traceback:
            traceback.print_exc()
        else:
            print(message, file=sys.stderr)
        return status
    finally:
        if document is not None and isinstance(command, Command):
            document.result = command.reported


def _status_and_message(
    error: Exception, entry: RegisteredClass, show_traceback: bool
) -> tuple[ExitStatus, Exception | str]:
    """The exit status after an error, and the message for the user."""
    if isinstance(error, SimulationError | LostProcessError | NotWrittenError):
        return ExitStatus.FAILED, error
    if isinstance(error, CosimError):
        return ExitStatus.BAD_INPUT, error
    if isinstance(error, OSError) and error.filename is None and _has_failed(sys.stdout):
        raise error  # `_run_and_report` reports that the standard output cannot be written
    if isinstance(error, OSError) and error.errno in DISK_FULL_ERRORS:
        return ExitStatus.FAILED, f"{error.filename or 'a file'}: cannot be written: {error.strerror}"
    # code of a plugin or an FMU may have set a limit, or closed descriptors
    if isinstance(error, OSError) and error.errno in DESCRIPTOR_ERRORS:
        return ExitStatus.FAILED, f"files cannot be opened or used any more: {error.strerror}"
    if isinstance(error, FileNotFoundError) and error.filename is None:  # of `tempfile`
        return ExitStatus.FAILED, f"{error.strerror}: set TMPDIR to a folder that can be written"
    if isinstance(error, OSError) and error.filename is not None:
        return ExitStatus.BAD_INPUT, f"{error.filename}: {error.strerror}"
    hint = "" if show_traceback else f" See where with: cosim --traceback {entry.known.name} …"
    fault = f"command '{entry.known.name}' failed: {type(error).__name__}: {error}.{hint}"
    return ExitStatus.FAILED, f"{entry.owner}: {fault}"


@contextlib.contextmanager
def _logging(verbose: int) -> Iterator[None]:
    """Print the log of cosim with times since the start: with ``-v`` from INFO on, with ``-vv`` all of it."""
    if not verbose:
        yield
        return
    handler = logging.StreamHandler()  # on the standard error
    handler.setFormatter(_SinceStart("%(since)7.2f s  %(message)s"))
    log = logging.getLogger("cosim")
    level = log.level
    log.setLevel(logging.INFO if verbose == 1 else logging.DEBUG)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


class _SinceStart(logging.Formatter):
    """A formatter with the field ``since``: seconds since this process began to log."""

    def format(self, record: logging.LogRecord) -> str:
        record.since = record.relativeCreated / 1000.0
        return super().format(record)


def _find(source: Registry, name: str) -> RegisteredClass:
    """Find the command by its word, or by its id if several plugins chose the word."""
    entries_by_word = claimed_words(source)
    claimants = entries_by_word.get(name, [])
    if len(claimants) == 1:
        return claimants[0]
    if claimants:
        listed = " and ".join(f"{entry.owner} as {entry.id}" for entry in claimants)
        raise LookUpError("single command", name, [], f"It comes from {listed}: type the id instead.")
    by_id = {entry.id: entry for entry in source.entries("command")}
    if name in by_id:
        return by_id[name]
    failed = "".join(f"\n{record}." for record in source.failures)
    synonyms = [
        word
        for word, entries in entries_by_word.items()
        if any(name in entry.known.known_as for entry in entries)
    ]
    raise LookUpError("command", name, entries_by_word, f"See `cosim --help`.{failed}", synonyms)


def _overview(source: Registry) -> str:
    """The text of ``cosim --help``."""
    rows = {word: entry.known.summary for word, entry in commands().items()}
    width = max(map(len, rows))
    lines = [f"  {word:<{width}}  {summary}" for word, summary in rows.items()]
    lines += [
        "",
        "  cosim <command> --help explains a command, with examples.",
        "",
        "options:",
        "  --version",
    ]
    lines += [f"  {', '.join(flags):<13}  {settings['help']}" for flags, settings in COMMON.values()]
    lines += ["", exit_statuses()]
    lines += [f"\n{record}." for record in source.failures]
    return "\n".join(["usage: cosim [options] <command> …", "", "commands:", *lines])

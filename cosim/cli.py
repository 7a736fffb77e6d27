"""The command line: it dispatches to the commands that plugins registered.

``cosim plugins`` alone stands here, in plain text: it must work when every plugin is broken.

Exit status: 0 done; 1 a simulation that could not go on, a fault inside a plugin, or ``plugins --strict``
with a plugin that failed or an id that is refused; 2 bad input; 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import TextIO

from cosim.contracts.command import Command
from cosim.errors import CosimError, LookUpError, SimulationError
from cosim.registration.hookspecs import CONTRACT_VERSION
from cosim.registration.plugin_record import Entry, PluginRecord
from cosim.registration.registry import Registry, registry
from cosim.version import __version__

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
EXIT_STATUSES = (
    "exit status: 0 done; 1 a run that could not go on, a check that failed, or a fault inside a plugin;\n"
    "             2 bad input; 130 interrupted"
)
TRACEBACK = "show the Python traceback of an error"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        Words after ``cosim``; by default those of this process.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if sys.stdout is None:  # Python has found it closed
        print("standard output is closed: send it to a file, or with > /dev/null nowhere", file=sys.stderr)
        return FAILED
    try:
        status = _dispatch(words)
        sys.stdout.flush()  # a reader that went away, or a full disk, is noticed here at the latest
        return status
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader (`| head`) went away: nothing is wrong, and nothing more can be said
        _say_no_more()
        return FAILED
    except OSError as error:
        if not _is_broken(sys.stdout):
            raise
        _say_no_more()
        print(f"standard output cannot be written: {error.strerror or error}", file=sys.stderr)
        return FAILED
    except SystemExit as stop:  # argparse: 0 after --help, 2 after bad arguments
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        return stop.code if isinstance(stop.code, int) else BAD_INPUT if stop.code else DONE


def _is_broken(stream: TextIO) -> bool:
    """Whether nothing can be written there; what was waiting may be gone, so a line is tried."""
    try:
        stream.write("\n")
        stream.flush()
    except OSError:
        return True
    return False


def _say_no_more() -> None:
    """Python itself would complain at its end about what could not be written."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _dispatch(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="cosim", add_help=False, usage="cosim [--version] [--help] <command> …"
    )
    parser.add_argument("--version", action="version", version=f"cosim {__version__}")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--traceback", action="store_true", help=TRACEBACK)
    first = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    options = parser.parse_args(words[:first])
    if options.help or first == len(words):
        print(_overview(registry()), file=sys.stdout if options.help else sys.stderr)
        return DONE if options.help else BAD_INPUT
    name, rest = words[first], words[first + 1 :]
    if name == "plugins":
        return _plugins(rest)
    try:
        entry = _find(registry(), name)
    except LookUpError as error:
        return _complain(error, BAD_INPUT, options.traceback)
    return _run(entry, rest, options.traceback)


def _run(entry: Entry, words: list[str], show_traceback: bool) -> int:
    """Let one command parse its words and do its work."""
    try:
        command: Command = entry.cls()
        parser = argparse.ArgumentParser(prog=f"cosim {command.name}", description=command.summary)
        command.configure(parser)
        with contextlib.suppress(argparse.ArgumentError):  # a command may have an option of that name itself
            parser.add_argument("--traceback", action="store_true", help=TRACEBACK)
        arguments = parser.parse_args(words)
        show_traceback = show_traceback or bool(getattr(arguments, "traceback", False))
        return int(command.run(arguments) or DONE)
    except SimulationError as error:
        return _complain(error, FAILED, show_traceback)
    except CosimError as error:
        return _complain(error, BAD_INPUT, show_traceback)
    except BrokenPipeError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and _is_broken(sys.stdout):
            raise
        if isinstance(error, OSError) and error.filename is not None:
            return _complain(f"{error.filename}: {error.strerror}", BAD_INPUT, show_traceback)
        hint = "" if show_traceback else f" See where with: cosim --traceback {entry.known.name} …"
        fault = f"{entry.owner}: command '{entry.known.name}' failed: {type(error).__name__}: {error}.{hint}"
        return _complain(fault, FAILED, show_traceback)


def _complain(error: Exception | str, status: int, show_traceback: bool) -> int:
    """Print an error (with the traceback of the exception that is being handled, if wanted)."""
    sys.stdout.flush()
    if show_traceback:
        traceback.print_exc()
    else:
        print(error, file=sys.stderr)
    return status


def _commands(source: Registry) -> dict[str, list[Entry]]:
    """All commands by the word that is typed; several under one word when plugins chose the same."""
    found: dict[str, list[Entry]] = {}
    for entry in source.entries("command"):
        found.setdefault(entry.known.name, []).append(entry)
    return found


def _find(source: Registry, name: str) -> Entry:
    """The command that a word means; the full id means it too, and is needed when the word is not unique."""
    by_id = {entry.id: entry for entry in source.entries("command")}
    if name in by_id:
        return by_id[name]
    commands = _commands(source)
    claimants = commands.get(name, [])
    if len(claimants) == 1:
        return claimants[0]
    if claimants:
        listed = " and ".join(f"{entry.owner} as {entry.id}" for entry in claimants)
        raise LookUpError("single command", name, [], f"It comes from {listed}: type the id instead.")
    failed = "".join(f"\n{record}." for record in source.failures)
    raise LookUpError("command", name, [*commands, "plugins"], f"See `cosim --help`.{failed}")


def _overview(source: Registry) -> str:
    """The text of ``cosim --help``."""
    rows = {"plugins": "list the installed plugins, what each registers, or why it failed"}
    for name, claimants in _commands(source).items():
        for entry in claimants:
            rows[name if len(claimants) == 1 else entry.id] = entry.known.summary
    width = max(map(len, rows))
    lines = [f"  {name:<{width}}  {summary}" for name, summary in sorted(rows.items())]
    lines += ["", "  cosim <command> --help explains a command.", "", "options:", "  --version"]
    lines += [f"  --traceback  {TRACEBACK}", "", EXIT_STATUSES]
    lines += [f"\n{record}." for record in source.failures]
    return "\n".join(["usage: cosim [--traceback] <command> …", "", "commands:", *lines])


def _plugins(words: list[str]) -> int:
    """``cosim plugins``: what was found, loaded, registered, and what went wrong."""
    parser = argparse.ArgumentParser(prog="cosim plugins", description="List the installed plugins.")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--strict", action="store_true", help="exit status 1 when one did not load")
    parser.add_argument("--traceback", action="store_true", help="show where each failed plugin failed")
    options = parser.parse_args(words)
    found = registry()
    if options.strict and not found.is_loaded:
        found = Registry.discover()
    plugins = found.plugins
    ours = ".".join(map(str, CONTRACT_VERSION))
    if options.json:
        rows = [record.to_dict() for record in plugins]
        print(json.dumps({"cosim": __version__, "contract": ours, "plugins": rows}, indent=2))
    else:
        print(f"cosim {__version__}, contract {ours}, {len(plugins)} plugins")
        for record in plugins:
            print(_described(record, options.traceback))
    broken = found.failures or found.refusals
    return FAILED if options.strict and broken else DONE


def _described(record: PluginRecord, show_traceback: bool) -> str:
    """One plugin in plain text."""
    contract = f"contract {record.contract}" if record.contract else "no contract version declared"
    lines = [f"\n{record.name}: {record.distribution} {record.version}, {record.value}, {contract}"]
    if record.status != "loaded":
        lines = [f"\n{record.name}: {record.distribution} {record.version}, {record.value}"]
        lines.append(f"  {record.status.upper()}: {record.reason}")
    for kind, ids in record.to_dict()["registers"].items():
        lines.append(f"  {kind.replace('_', ' ')}: {', '.join(ids)}")
    lines += [f"  REFUSED: {refusal.reason}" for refusal in record.refused]
    if show_traceback and record.error is not None:
        lines += traceback.format_exception(record.error)
    return "\n".join(lines)

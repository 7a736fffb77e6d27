"""Runs `cosim` again and again, each time in a fork of this process: what ends it, ends the fork alone.

A line of the standard input is a list: how to run, the folder, variables of the environment, and the words of
the command. It is run here, which leaves machine code behind for all that follow, or in a fork: the answer is
its exit status. Or it is begun in a fork, and the answer is a number; another list asks how that ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from cosim.cli import main
from cosim.command_line.dispatch import dispatch
from cosim.command_line.supervised import record_status
from cosim_master.participants import process_participant
from cosim_master.recording import recorder

recorder.NUMBERS_IN_PIECE = 2**12  # pieces of a stream are small
process_participant.SECONDS_TO_BEGIN = 10.0  # what loops in its first call is ended sooner


def command(folder: str, environment: dict[str, str], words: list[str], is_program: bool = False) -> int:
    """Exit status of a command; what it says is in the files ``out`` and ``err`` of its folder.

    Of a program another process outlives the run; else it is the one that runs it.
    """
    os.chdir(folder)
    os.environ.update(environment)
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        os.dup2(file, number)
        os.close(file)
    if is_program:
        status = dispatch(words, is_program=True)
        record_status(status)
    else:
        status = main(words)
    sys.stdout.flush()
    sys.stderr.flush()
    return status


running: set[int] = set()


def begun(*given: Any) -> int:
    """The number of a fork that does the same."""
    process = os.fork()
    if process == 0:
        os._exit(command(*given))
    running.add(process)
    return process


def ended(process: int) -> int:
    """Exit status of a fork, once it has ended; negative when a signal has ended it."""
    running.discard(process)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def forked(*given: Any) -> int:
    """Exit status of a command that is run in a fork."""
    return ended(begun(*given))


def as_program(*given: Any) -> int:
    """The number of a fork that does the same as a program does."""
    return begun(*given, True)


WAYS = {"program": as_program, "here": command, "forked": forked, "begun": begun, "ended": ended}


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as answers:
        for line in sys.stdin:
            way, *given = json.loads(line)
            print(WAYS[way](*given), file=answers, flush=True)
    for process in running:  # no test waits for them any more
        os.kill(process, signal.SIGKILL)

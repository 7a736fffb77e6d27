"""Runs `cosim` commands in this process or in forks of it, so that a crash ends the fork alone.

Each line of the standard input is a request, a list of the name of an action (see `ACTIONS`) and its
arguments; each line of the standard output is the answer, a number.
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
process_participant.SECONDS_TO_BEGIN = 10.0  # a participant that hangs in its first call is ended sooner


def run_here(folder: str, environment: dict[str, str], words: list[str], is_program: bool = False) -> int:
    """Run a command in this process; return its exit status.

    Its output is in the files ``out`` and ``err`` of the folder. As a program, the command runs in a process
    that this one supervises; otherwise in this process.
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


def start(*arguments: Any) -> int:
    """Start a command in a fork; return the id of its process."""
    process = os.fork()
    if process == 0:
        os._exit(run_here(*arguments))
    running.add(process)
    return process


def start_program(folder: str, environment: dict[str, str], words: list[str]) -> int:
    """Start a command as a program in a fork; return the id of its process."""
    return start(folder, environment, words, True)


def start_in_background(folder: str, environment: dict[str, str], words: list[str]) -> int:
    """Start a program as scripts start one in the background: Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return start_program(folder, environment, words)
    finally:
        signal.signal(signal.SIGINT, before)


def wait(process: int) -> int:
    """Wait for the end of a fork; return its exit status, negative when a signal has ended it."""
    running.discard(process)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def run_in_fork(*arguments: Any) -> int:
    """Run a command in a fork; return its exit status."""
    return wait(start(*arguments))


ACTIONS = {
    "here": run_here,
    "fork": run_in_fork,
    "start": start,
    "start program": start_program,
    "start in background": start_in_background,
    "wait": wait,
}


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as answers:
        for line in sys.stdin:
            action, *arguments = json.loads(line)
            print(ACTIONS[action](*arguments), file=answers, flush=True)
    for process in running:  # no test waits for them any more
        os.kill(process, signal.SIGKILL)

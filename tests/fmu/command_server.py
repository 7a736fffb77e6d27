"""Runs `cosim` again and again, each time in a fork of this process: what ends it, ends the fork alone.

A line of the standard input is a list: whether to fork, the folder, variables of the environment, and the
words of the command; the answer is its exit status. What runs without a fork leaves machine code behind, for
all that follow.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from cosim.cli import main
from cosim_fmu.master.participants import process_participant

process_participant.SECONDS_TO_BEGIN = 10.0  # what loops in its first call is ended sooner


def command(folder: str, environment: dict[str, str], words: list[str]) -> int:
    """Exit status of a command; what it says is in the files ``out`` and ``err`` of its folder."""
    os.chdir(folder)
    os.environ.update(environment)
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        os.dup2(file, number)
        os.close(file)
    status = main(words)
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def forked(*given: Any) -> int:
    """The same in a fork; negative when a signal has ended it."""
    process = os.fork()
    if process == 0:
        os._exit(command(*given))
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


if __name__ == "__main__":
    with os.fdopen(os.dup(1), "w") as answers:
        for line in sys.stdin:
            forks, *given = json.loads(line)
            print((forked if forks else command)(*given), file=answers, flush=True)

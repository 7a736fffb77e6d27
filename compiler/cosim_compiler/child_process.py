"""The one place where other processes are started.

New interpreters find modules where they are installed, and in the folders that they are given: never in the
folder in which the program was started, where files of users lie.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

SAFE = "PYTHONSAFEPATH"
"""Does what ``-P`` does."""
HELD = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM") if hasattr(signal, "pthread_sigmask"))
_guard = threading.Lock()


def python_command(*words: str) -> list[str]:
    """The command line of a new interpreter.

    >>> python_command("-m", "ziglang")[1:]
    ['-P', '-m', 'ziglang']
    """
    return [sys.executable, "-P", *words]


def python_environment(more: Mapping[str, str] = {}) -> dict[str, str]:
    """The environment of a new interpreter that finds the modules that this one finds."""
    return {**os.environ, **more, "PYTHONPATH": os.pathsep.join(python_path())}


def python_path() -> list[str]:
    """The folders in which this interpreter searches modules; the present folder, if it is one of them."""
    return [folder or os.getcwd() for folder in sys.path]


def start_process(words: Sequence[str], **more: Any) -> subprocess.Popen[Any]:
    """Start a program, with the arguments of `subprocess.Popen`."""
    return subprocess.Popen(words, **more)


def run_process(words: Sequence[str], **more: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, with the arguments of `subprocess.run`."""
    return subprocess.run(words, check=False, **more)


@contextmanager
def signals_held() -> Iterator[None]:
    """A process that is started inside has Ctrl-C and SIGTERM blocked until it calls `ignore_stop_signals`.

    These are for the one that starts it, which ends it then; else it could end first, with another status.
    """
    if not HELD:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_stop_signals() -> None:
    """Ignore Ctrl-C and SIGTERM in a helper process: the process that started it handles them."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if HELD:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)


@contextmanager
def safe_spawn() -> Iterator[None]:
    """Inside, `multiprocessing` starts its processes, and the one that tracks them, as this module does."""
    with _guard, signals_held():
        before = os.environ.get(SAFE)
        os.environ[SAFE] = "1"
        try:
            yield
        finally:
            os.environ.pop(SAFE)
            if before is not None:
                os.environ[SAFE] = before


def forget_safe_spawn() -> None:
    """Remove the mark of safe spawning from the environment, so that child processes do not inherit it."""
    os.environ.pop(SAFE, None)

"""Computations in another process, compiled if this one is plain Python, and plain Python otherwise.

Starting Python and importing what a test file needs takes longer than most requests. So a process
for each mode stays, loads each file once, and answers each question from a fork of itself.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.util
import inspect
import json
import operator
import os
import select
import signal
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections import Counter
from pathlib import Path

from cosim.registration.registry import registry
from cosim_compiler.child_process import python_command, python_environment, start_process
from cosim_compiler.native import is_plain

SECONDS = 300.0
OURS = str(Path(__file__).parents[2])
"""Folder with the packages of the framework."""
OF_A_TEST = "PYTEST_CURRENT_TEST"
"""Of the environment: is another one in each test."""


def results_in_other_mode(case: type, method: str) -> list[str]:
    """The result of a class method of a test class in a process that runs in the other mode.

    As `results_in_mode`.
    """
    return results_in_mode(case, method, plain=not is_plain())


def results_in_mode(case: type, method: str, plain: bool, prepare: str = "") -> list[str]:
    """The result of a class method of a test class in a process of its own.

    Parameters
    ----------
    case : type
        Stands at the top of a module that can be loaded from its file.
    method : str
        Name of a class method that answers a list of text.
    plain : bool
        Whether kernel functions run as plain Python there, or compiled.
    prepare : str, optional
        Module and function ("package.module:function") that keep for all answers what each would find out
        again; called when the second answer is read.

    Raises
    ------
    RuntimeError
        The process failed; with what it wrote.
    """
    file = inspect.getfile(case)
    order = {"case": case.__qualname__, "method": method, "folder": os.getcwd()}
    order |= {"file": file, "module": case.__module__, "prepare": prepare}
    environment = {**os.environ, "COSIM_PLAIN": "1" if plain else "0"}
    environment.pop(OF_A_TEST, None)
    process, changed = _processes.get(plain), os.stat(file).st_mtime_ns
    if process is None or not process.fits(list(sys.path), environment, file, changed):
        if process is not None:
            process.close()
        process = _processes[plain] = _OtherProcess(list(sys.path), environment)
    process.loaded[file] = changed
    answer = process.request(order)
    if isinstance(answer, str):
        raise RuntimeError(f"{case.__qualname__} in another process:\n{answer}")
    return answer


class _OtherProcess:
    """A process that has loaded some modules and waits for orders."""

    def __init__(self, path: list[str], environment: dict[str, str]) -> None:
        self.begun_with = path, environment
        self.loaded: dict[str, int] = {}
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self.process = start_process(
            python_command("-m", "cosim.testing.other_mode", json.dumps(path)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=python_environment(environment),
            text=True,
            start_new_session=True,  # with its forks it is a group
        )

    def fits(self, path: list[str], environment: dict[str, str], file: str, changed: int) -> bool:
        """Whether it runs, began as a new one would, and has loaded no other state of the file."""
        same = self.begun_with == (path, environment) and self.loaded.get(file, changed) == changed
        return same and self.process.poll() is None

    def request(self, order: dict[str, str]) -> list[str] | str:
        """The answer to an order; a text says why there is none."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        if os.name == "posix" and not select.select([self.process.stdout], [], [], SECONDS)[0]:
            self.close()
            return f"no answer within {SECONDS:g} s"
        line = self.process.stdout.readline()
        if not line:
            self.close()
            return self._written or "the process has ended"
        answer: list[str] | str = json.loads(line)
        return answer

    def close(self) -> None:
        """Kill the process and read what it has written to its standard error."""
        if self.errors.closed:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL) if os.name == "posix" else self.process.kill()
        self.process.communicate()
        self.errors.seek(0)
        self._written = self.errors.read()
        self.errors.close()


_processes: dict[bool, _OtherProcess] = {}


@atexit.register
def _close_all() -> None:
    for process in _processes.values():
        process.close()


def load(file: str, name: str) -> types.ModuleType:
    """Load a module in the other process."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def answer_to(module: types.ModuleType, order: dict[str, str]) -> list[str] | str:
    """Call the method; a text says how that failed."""
    try:
        os.chdir(order["folder"])
        case = operator.attrgetter(order["case"])(module)
        answer: list[str] = getattr(case, order["method"])()
    except BaseException:
        return traceback.format_exc()
    return answer


def answer_in_a_fork(module: types.ModuleType, order: dict[str, str]) -> list[str] | str:
    """The answer to an order, computed in a fork, without a trace in this process.

    But what the fork has loaded of ours is loaded here as well: the next fork has it.
    """
    loaded_before = set(sys.modules)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as answers, tempfile.TemporaryFile("w+") as written:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads beside a fork: those of a BLAS, which knows of forks
            child = os.fork()
        if child == 0:
            os.dup2(written.fileno(), 1)
            os.dup2(written.fileno(), 2)
            answered = answer_to(module, order)
            loaded_here = [name for name in sys.modules if name not in loaded_before and is_ours(name)]
            json.dump([answered, loaded_here], answers)
            answers.flush()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in (answers, written):
            file.seek(0)
        answer: list[str] | str | None
        answer, loaded = json.loads(answers.read() or "[null, []]")
        for name in loaded:
            with contextlib.suppress(ImportError):  # of no more use here
                importlib.import_module(name)
        return f"it ended with {status}\n{written.read()}" if answer is None else answer


def is_ours(name: str) -> bool:
    """Whether a loaded module lies in a package of ours, which no test changes."""
    file = getattr(sys.modules[name], "__file__", None) or ""
    return name.startswith("cosim") and file.startswith(OURS) and name == sys.modules[name].__name__


def main() -> None:
    """Answer orders, one in each line, about modules that are loaded where they are first asked about."""
    sys.path[:] = json.loads(sys.argv[1])
    answers, sys.stdout = sys.stdout, sys.stderr  # what is printed is not an answer
    registry()  # once, and not in each fork
    modules: dict[str, types.ModuleType] = {}
    prepared: Counter[str] = Counter()
    answer = answer_in_a_fork if hasattr(os, "fork") else answer_to
    for line in sys.stdin:
        order = json.loads(line)
        if order["file"] not in modules:
            modules[order["file"]] = load(order["file"], order["module"])
        prepared[order["prepare"]] += 1
        if order["prepare"] and prepared[order["prepare"]] == 2:
            module, _, function = order["prepare"].partition(":")
            getattr(importlib.import_module(module), function)()
        answers.write(json.dumps(answer(modules[order["file"]], order)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()

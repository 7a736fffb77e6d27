"""The same computation in a process of its own, compiled where this one is plain Python and the reverse."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys

from cosim.compiled.native import is_plain

SECONDS = 300.0


def results_in_other_mode(case: type, method: str) -> list[str]:
    """What a class method of a test class answers in a process that runs in the other mode.

    As `results_in_mode`.
    """
    return results_in_mode(case, method, plain=not is_plain())


def results_in_mode(case: type, method: str, plain: bool) -> list[str]:
    """What a class method of a test class answers in a process of its own.

    Parameters
    ----------
    case : type
        Stands at the top of a module that can be loaded from its file.
    method : str
        Name of a class method that answers a list of text.
    plain : bool
        Whether kernel functions run as plain Python there, or compiled.

    Raises
    ------
    RuntimeError
        The process failed; with what it wrote.
    """
    order = {
        "path": sys.path,
        "file": inspect.getfile(case),
        "module": case.__module__,
        "case": case.__qualname__,
        "method": method,
    }
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1" if plain else "0"}
    done = subprocess.run(
        [sys.executable, "-m", "cosim.testing.other_mode"],
        input=json.dumps(order),
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{case.__qualname__} in another process:\n{done.stderr}")
    answer: list[str] = json.loads(done.stdout.splitlines()[-1])
    return answer


def obey(order: dict[str, str | list[str]]) -> list[str]:
    """In the other process: load the module and call the method."""
    import functools
    import importlib.util

    sys.path[:] = order["path"]
    name = str(order["module"])
    spec = importlib.util.spec_from_file_location(name, str(order["file"]))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    case = functools.reduce(getattr, str(order["case"]).split("."), module)
    answer: list[str] = getattr(case, str(order["method"]))()
    return answer


if __name__ == "__main__":
    print(json.dumps(obey(json.load(sys.stdin))))

"""Runs scripts with other libraries ("peers") for comparison, each in a separate environment.

`run_peer("mujoco", "dynamics/peer_mujoco.py", ["trees.json"])` creates the environment that
``requirements/mujoco.txt`` describes if it is missing, runs the script in it and returns the JSON object that
is the last line of its output. A C++ program (``.cpp``) is compiled first, with the options in
``requirements/<name>.flags``, where ``{site}`` is the environment's folder of packages. Libraries that these
options name must be installed in the system (Debian: ``apt install libsimbody-dev libeigen3-dev``).

Environments are in ``benchmarks/.peers``, or in the folder that the variable COSIM_PEERS names.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements"


class PeerError(Exception):
    """A peer cannot be installed or run here; the text says why."""


def run_peer(name: str, script: str | Path, arguments: Sequence[str] = (), timeout: float = 900) -> Any:
    """Run a script in the environment of a peer, and return the JSON object that it prints last.

    Parameters
    ----------
    name : str
        The name of ``requirements/<name>.txt`` (packages for pip, with their versions) or of
        ``requirements/<name>.flags`` (options for g++).
    script : path
        A path relative to this folder.
    arguments : sequence of str
    timeout : float, s

    Raises
    ------
    PeerError
        The environment cannot be created, or the script fails; with the end of its output.
    """
    path = HERE / script
    with _locked(name):
        program = _compiled(name, path) if path.suffix == ".cpp" else [str(_python(name)), str(path)]
    one_thread = {
        **{"PYTHONPATH": "", "JAX_PLATFORMS": "cpu"},
        **{"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    }
    output = _run([*program, *arguments], timeout, {**os.environ, **one_thread})
    try:
        return json.loads(output.strip().splitlines()[-1])
    except (IndexError, ValueError):
        raise PeerError(f"{name}: {path.name} printed no JSON object: {output[-500:]!r}") from None


def try_peer(name: str, script: str | Path, arguments: Sequence[str] = (), timeout: float = 900) -> Any:
    """As `run_peer`; if the peer cannot run here it returns None, and prints the reason to standard error."""
    try:
        return run_peer(name, script, arguments, timeout)
    except PeerError as error:
        print(f"{name} is left out: {error}", file=sys.stderr)
        return None


def peers_folder() -> Path:
    """The folder of the environments."""
    folder = Path(os.environ.get("COSIM_PEERS") or HERE / ".peers")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _python(name: str) -> Path:
    """The interpreter of a complete environment for the peer."""
    folder, requirements = peers_folder() / name, REQUIREMENTS / f"{name}.txt"
    if not requirements.exists():
        names = ", ".join(sorted(p.stem for p in REQUIREMENTS.iterdir()))
        raise PeerError(f"no peer {name!r}; there are: {names}")
    python, installed = folder / "bin" / "python", folder / "installed.txt"
    if not (installed.exists() and installed.read_text() == requirements.read_text()):
        print(f"installing {name} into {folder} …", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True, symlinks=True)
        _run([str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements)], 3600)
        shutil.copy(requirements, installed)
    return python


def _compiled(name: str, source: Path) -> list[str]:
    """The command of a C++ program, which is compiled if it is missing or older than its source."""
    folder = peers_folder() / name
    if (REQUIREMENTS / f"{name}.txt").exists():
        _python(name)
    folder.mkdir(exist_ok=True)
    site = next(folder.glob("lib/python*/site-packages"), folder)
    flags = (REQUIREMENTS / f"{name}.flags").read_text().replace("{site}", str(site)).split()
    program = folder / source.stem
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        _run(["g++", str(source), "-o", str(program), *flags], 900)
    return [str(program)]


def _run(command: list[str], timeout: float, environment: dict[str, str] | None = None) -> str:
    """The output of a command; `PeerError` with the end of its messages if it fails."""
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerError(f"{command[0]}: {error}") from None
    if process.returncode:
        raise PeerError(f"{' '.join(command)} failed:\n{(process.stderr or process.stdout)[-2000:]}")
    return process.stdout


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """Lock the environment of a peer, so that concurrent benchmarks create it once."""
    with open(peers_folder() / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

"""The cost of a communication step of FMUs on another machine, against a bare round trip over a socket.

Run it with ``python benchmarks/masters/remote.py``. A server is started on this machine; over the
loopback the network itself takes nothing, so what is left is the worst ratio there is. The bare round trip
is that of a program in C (`round_trip.c`). Runs take turns. A run is timed in pieces of some hundred steps,
of which the fastest counts; the first 2,000 steps are left out, since the server loads compiled code then.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from node_fmu import make_node

from cosim_fmu import CoSimulation, ProcessParticipant
from cosim_master.exchange.compiled_loop import CompiledLoop

SERVER_PROGRAM = "from cosim.cli import main; import sys; sys.exit(main())"
TURNS, STEPS, STEP = 3, 30_000, 1e-3
"""Turns, steps of a run, and their length (s)."""
FIRST_STEPS, PIECE = 2000, 100
"""Steps that are left out, and the fewest steps of a piece that counts."""
BYTES = 64
"""Bytes of the message of one participant with one input."""


def bare(folder: Path) -> Callable[[], float]:
    """The least round trip of a message, µs."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise SystemExit("needs a C compiler (gcc or cc)")
    program = folder / "round_trip"
    subprocess.run(
        [compiler, "-O2", str(Path(__file__).with_name("round_trip.c")), "-o", program], check=True
    )

    def measure() -> float:
        words = [str(program), str(BYTES), "60"]
        return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    return measure


def ring(parts: dict[str, Any]) -> float:
    """The least time of a communication step, µs."""
    pieces: list[tuple[int, float]] = []
    run = CompiledLoop.run

    def timed(self: CompiledLoop, first: int, most: int | None = None) -> int:
        begun = time.perf_counter()
        last = run(self, first, most)
        if first >= FIRST_STEPS and last - first >= PIECE:
            pieces.append((last - first, time.perf_counter() - begun))
        return last

    names = list(parts)
    links = [f"{a}.y -> {b}.u" for a, b in zip(names, names[1:] + names[:1], strict=True)]
    CompiledLoop.run = timed  # type: ignore[method-assign]
    try:
        CoSimulation(parts, links, "jacobi", STEP).simulate(STEPS * STEP)
    finally:
        CompiledLoop.run = run  # type: ignore[method-assign]
    return 1e6 * min(spent / steps for steps, spent in pieces)


def main() -> None:
    """Start a server in another process, and print the times."""
    folder = Path(tempfile.mkdtemp())
    fmu = make_node(folder)
    (folder / "token").touch(mode=0o600)
    (folder / "token").write_text(secrets.token_hex(32))
    os.environ["COSIM_TOKEN_FILE"] = str(folder / "token")
    words = [sys.executable, "-c", SERVER_PROGRAM, "serve", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        host = f"tcp://127.0.0.1:{int(server.stdout.readline().rpartition(':')[2])}"
        try:
            measure(fmu, host, bare(folder))
        finally:
            server.terminate()


def measure(fmu: Path, host: str, there_and_back: Callable[[], float]) -> None:
    """Print the time of a step in each place, by turns; `host` is the address of the server."""

    def there(names: str) -> dict[str, Any]:
        return {name: ProcessParticipant(fmu, name, host=host) for name in names}

    kinds: dict[str, Callable[[], float]] = {
        "bare round trip": there_and_back,
        "in this process": lambda: ring({"a": fmu}),
        "elsewhere": lambda: ring(there("a")),
        "elsewhere, four": lambda: ring(there("abcd")),
    }
    times_by_kind: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(TURNS):
        for name, once in kinds.items():
            times_by_kind[name].append(once())
    round_trip = min(times_by_kind["bare round trip"])
    for name, times in times_by_kind.items():
        ratio = f"   {min(times) / round_trip:.2f} round trips" if "elsewhere" in name else ""
        print(f"{name:<16} {min(times):8.1f} µs{ratio}")


if __name__ == "__main__":
    main()

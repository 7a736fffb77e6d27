"""What a step of FMUs on another machine costs, against a bare round trip over the same socket.

Run it with ``python benchmarks/masters/remote.py``. A server is started on this machine; over the
loopback the network itself takes nothing, so what is left is the worst ratio there is. Each figure is
the least of several rounds, alternating.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from node_fmu import make_node

from cosim_fmu import ProcessParticipant
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.process_participant import share_processes

SERVE = "from cosim.cli import main; import sys; sys.exit(main())"
ROUNDS, STEPS = 12, 300
"""Rounds, and steps in each."""


def least(rounds: list[float]) -> float:
    return 1e6 * min(rounds)


def bare(port: int, size: int) -> Callable[[], None]:
    """A message of so many bytes there and back."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = bytes(size)

    def there_and_back() -> None:
        connection.sendall(data)
        left = size
        while left:
            left -= len(connection.recv(left))

    return there_and_back


def echo() -> int:
    """The port of a process that sends back what comes."""
    listening = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := connection.recv(1 << 16):
            connection.sendall(data)
        os._exit(0)
    return int(listening.getsockname()[1])


def stepping(parts: dict[str, Any]) -> Callable[[int], None]:
    """A communication step of all: inputs, steps at the same time, outputs."""

    def step(number: int) -> None:
        for part in parts.values():
            part.set(["u"], [float(number)])
        for send in [p.begin_step(1e-3 * number, 1e-3) for p in parts.values() if hasattr(p, "begin_step")]:
            send()
        for part in parts.values():
            part.step(1e-3 * number, 1e-3)
            part.get(["y"])

    return step


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    fmu = make_node(folder)
    (folder / "token").touch(mode=0o600)
    (folder / "token").write_text(secrets.token_hex(32))
    os.environ["COSIM_TOKEN_FILE"] = str(folder / "token")
    words = [sys.executable, "-c", SERVE, "serve", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().rpartition(":")[2])
        echoing = echo()
        measure(fmu, f"tcp://127.0.0.1:{port}", bare(echoing, 80))
        server.terminate()


def measure(fmu: Path, host: str, there_and_back: Callable[[], None]) -> None:
    made: dict[str, dict[str, Any]] = {
        "in this process": {"a": open_fmu(fmu, "a")},
        "isolated": {"a": ProcessParticipant(fmu, "a")},
        "elsewhere": {"a": ProcessParticipant(fmu, "a", host=host)},
        "elsewhere, four": {name: ProcessParticipant(fmu, name, host=host) for name in "abcd"},
    }
    for parts in made.values():
        share_processes(parts)
        for part in parts.values():
            part.initialize(0.0, None, {})
            part.exit_initialization()
    each = {name: stepping(parts) for name, parts in made.items()}
    spent: dict[str, list[float]] = {name: [] for name in ("bare round trip", *each)}
    number = dict.fromkeys(each, 0)
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for _ in range(STEPS):
            there_and_back()
        spent["bare round trip"].append((time.perf_counter() - begun) / STEPS)
        for name, step in each.items():
            begun = time.perf_counter()
            for _ in range(STEPS):
                step(number[name])
                number[name] += 1
            spent[name].append((time.perf_counter() - begun) / STEPS)
    for parts in made.values():
        for part in parts.values():
            part.close()
    bare_time, own = least(spent["bare round trip"]), least(spent["in this process"])
    for name, rounds in spent.items():
        ratio = (least(rounds) - own) / bare_time
        more = f"   {ratio:.2f} round trips beside the FMU's own" if "elsewhere" in name else ""
        print(f"{name:<16} {least(rounds):8.1f} µs{more}")


if __name__ == "__main__":
    main()

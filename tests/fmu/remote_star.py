"""The star of FMUs with some of them on a server, and a server that a test may kill."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import Server
from star_of_fmus import NAMES

from cosim_fmu import ProcessParticipant


@pytest.fixture
def own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that a test may kill; the environment has its token."""
    (tmp_path / "own").mkdir()
    server = Server(tmp_path / "own")
    monkeypatch.setenv("COSIM_TOKEN_FILE", str(server.token))
    yield server
    server.close()


def star(fmu: Path, host: str | None, names: str = NAMES) -> dict[str, Any]:
    """The participants; those in `names` are on a host."""
    remote = {name: ProcessParticipant(fmu, name, host=host) for name in names}
    return {**dict.fromkeys(NAMES, fmu), **remote}


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Wait until a condition is true; False if that takes too long."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()

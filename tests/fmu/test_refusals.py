"""Refused clients do not fill the log of a server: a few have lines, the others are counted."""

from __future__ import annotations

import threading
import time

import pytest

from cosim_master.processes.refusals import MOST_LOGGED, Refusals


@pytest.mark.parametrize("extra", [0, 1, 1000])
def test_a_few_are_logged_and_the_others_counted(extra: int, capfd: pytest.CaptureFixture[str]) -> None:
    refusals = Refusals()
    clients = [threading.Thread(target=refusals.add, args=("a:1", "why")) for _ in range(MOST_LOGGED + extra)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    refusals.close()
    lines = [line.split(" ", 2)[2] for line in capfd.readouterr().err.splitlines()]
    assert lines[:MOST_LOGGED] == ["a:1 refused: why"] * MOST_LOGGED
    assert lines[MOST_LOGGED:] == ([f"- refused: {extra} more in 60 s"] if extra else [])


def test_after_the_interval_clients_are_logged_again(capfd: pytest.CaptureFixture[str]) -> None:
    refusals, deadline = Refusals(0.05), time.monotonic() + 20.0
    for _ in range(MOST_LOGGED + 1):
        refusals.add("a:1", "why")
    output = ""
    while "1 more" not in output and time.monotonic() < deadline:
        time.sleep(0.02)
        output += capfd.readouterr().err
    assert "- refused: 1 more in 0.05 s" in output
    refusals.add("b:2", "why")
    assert "b:2 refused: why" in capfd.readouterr().err
    refusals.close()

"""Clients that a server refuses do not fill its log: a few have lines, the others are counted."""

from __future__ import annotations

import threading
import time

import pytest

from cosim_master.processes.refusals import MOST_LOGGED, Refusals


@pytest.mark.parametrize("more", [0, 1, 1000])
def test_a_few_are_logged_and_the_others_counted(more: int, capfd: pytest.CaptureFixture[str]) -> None:
    refusals = Refusals()
    clients = [threading.Thread(target=refusals.add, args=("a:1", "why")) for _ in range(MOST_LOGGED + more)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    refusals.close()
    lines = [line.split(" ", 2)[2] for line in capfd.readouterr().err.splitlines()]
    assert lines[:MOST_LOGGED] == ["a:1 refused: why"] * MOST_LOGGED
    assert lines[MOST_LOGGED:] == ([f"- refused: {more} more in 60 s"] if more else [])


def test_lines_come_again_when_the_time_is_over(capfd: pytest.CaptureFixture[str]) -> None:
    refusals, until = Refusals(0.05), time.monotonic() + 20.0
    for _ in range(MOST_LOGGED + 1):
        refusals.add("a:1", "why")
    said = ""
    while "1 more" not in said and time.monotonic() < until:
        time.sleep(0.02)
        said += capfd.readouterr().err
    assert "- refused: 1 more in 0.05 s" in said
    refusals.add("b:2", "why")
    assert "b:2 refused: why" in capfd.readouterr().err
    refusals.close()

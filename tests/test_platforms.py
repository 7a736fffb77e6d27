"""The product runs without the names of POSIX, and helper processes notice the end of their parent."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from cosim_compiler import helper_process

HERE = Path(__file__).parent


@pytest.mark.thorough
def test_the_product_runs_without_the_names_of_posix(tmp_path: Path) -> None:
    script = str(HERE / "without_posix.py")
    done = subprocess.run(
        [sys.executable, "-P", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert done.stdout.splitlines()[-1] == "the cart ends at -0.1602 m"


SYNCHRONIZE, INFINITE = 0x100000, 0xFFFFFFFF
"""Constants of Windows: the right to wait for a process, and a time without end."""


@pytest.mark.parametrize(("handle", "waited"), [(77, [(77, INFINITE)]), (0, [])])
def test_on_windows_a_helper_waits_for_the_handle_of_its_parent(
    monkeypatch: pytest.MonkeyPatch, handle: int, waited: list[tuple[int, int]]
) -> None:
    opened: list[tuple[int, bool, int]] = []
    waits: list[tuple[int, int]] = []

    def open_process(*arguments: object) -> int:
        opened.append(arguments)  # type: ignore[arg-type]
        return handle

    def wait(*arguments: int) -> None:
        waits.append(arguments)  # type: ignore[arg-type]

    kernel = types.SimpleNamespace(OpenProcess=open_process, WaitForSingleObject=wait)
    monkeypatch.setattr(helper_process, "os", types.SimpleNamespace(name="nt"))
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: {"kernel32": kernel}[name], raising=False)
    helper_process.wait_for_end(1234)
    assert opened == [(SYNCHRONIZE, False, 1234)] and waits == waited


def test_elsewhere_a_helper_waits_until_it_has_another_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    parents = iter([5, 5, 1])
    slept: list[float] = []
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    monkeypatch.setattr(helper_process, "time", types.SimpleNamespace(sleep=slept.append))
    helper_process.wait_for_end(5)
    assert len(slept) == 2

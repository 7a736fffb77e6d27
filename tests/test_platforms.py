"""Names that only POSIX has are guarded, and parents are waited for where ids of processes say nothing."""

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
def test_the_product_runs_without_names_that_only_posix_has(tmp_path: Path) -> None:
    script = str(HERE / "without_posix.py")
    ran = subprocess.run(
        [sys.executable, "-P", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr
    assert ran.stdout.splitlines()[-1] == "the cart ends at -0.1602 m"


@pytest.mark.parametrize(("handle", "waited"), [(77, [(77, 0xFFFFFFFF)]), (0, [])])
def test_on_windows_a_helper_waits_for_the_handle_of_its_parent(
    monkeypatch: pytest.MonkeyPatch, handle: int, waited: list[tuple[int, int]]
) -> None:
    opened: list[tuple[int, bool, int]] = []
    waits: list[tuple[int, int]] = []

    def open_process(*given: object) -> int:
        opened.append(given)  # type: ignore[arg-type]
        return handle

    def wait(*given: int) -> None:
        waits.append(given)  # type: ignore[arg-type]

    kernel = types.SimpleNamespace(OpenProcess=open_process, WaitForSingleObject=wait)
    monkeypatch.setattr(helper_process, "os", types.SimpleNamespace(name="nt"))
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: {"kernel32": kernel}[name], raising=False)
    helper_process.wait_for_end(1234)
    assert opened == [(0x100000, False, 1234)] and waits == waited


def test_elsewhere_it_waits_until_it_has_another_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    parents = iter([5, 5, 1])
    slept: list[float] = []
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    monkeypatch.setattr(helper_process, "time", types.SimpleNamespace(sleep=slept.append))
    helper_process.wait_for_end(5)
    assert len(slept) == 2

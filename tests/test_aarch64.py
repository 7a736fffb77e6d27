"""The script that runs quick tests on Linux aarch64, under emulation, in `release/emulated`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EMULATED = ROOT / "release" / "emulated"
SCRIPT = EMULATED / "aarch64.sh"
NEEDED = ("debootstrap", "qemu-aarch64-static")


def test_the_listed_tests_exist() -> None:
    lines = (EMULATED / "quick_tests.txt").read_text(encoding="utf-8").splitlines()
    files = [line for line in lines if not line.startswith("#")]
    assert len(files) > 5
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_without_a_folder_the_script_prints_its_usage() -> None:
    done = subprocess.run(["bash", str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "aarch64.sh FOLDER" in done.stderr and "set -euo" not in done.stderr


@pytest.mark.thorough
@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0 or not all(map(shutil.which, NEEDED)),
    reason="needs root and the Debian packages debootstrap and qemu-user-static",
)
def test_two_hundred_quick_tests_pass_under_emulation(tmp_path: Path) -> None:
    folder = os.environ.get("COSIM_AARCH64", str(tmp_path / "debian"))
    done = subprocess.run(
        ["bash", str(SCRIPT), folder], capture_output=True, text=True, check=False, timeout=7200
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    passed = re.findall(r"(\d+) passed", done.stdout)
    assert passed and int(passed[-1]) >= 200

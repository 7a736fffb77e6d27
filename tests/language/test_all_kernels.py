"""All kernel functions of the product are of the language, on each road."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FEWEST = 300


@pytest.mark.thorough
def test_every_kernel_function_is_read_and_printed() -> None:
    folders = [ROOT / "release", ROOT / "tests" / "language"]
    done = subprocess.run(
        [sys.executable, "-P", str(ROOT / "tests" / "language" / "all_kernels_run.py")],
        env={**os.environ, "COSIM_PLAIN": "0", "PYTHONPATH": os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])  # before it stands what this machine has not
    assert not found["faults"], "\n".join(found["faults"])
    assert found["functions"] > FEWEST

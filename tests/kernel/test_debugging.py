"""``COSIM_DEBUG=1``: plain Python, print and the debugger, bounds that compiled code does not check."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = '''
import cosim


def third(values, i):
    return values[i]


class Part(cosim.Component):
    """Reads where it should not."""

    at = cosim.parameter(default=1.0)
    x = cosim.position(unit="m", start=(1.0, 2.0), shape=2)

    @cosim.kernel
    def derivatives(x, at, x_dot):
        print("x is", x[0])
        for i in range(2):
            x_dot[i] = third(x, int(at))


model = cosim.Model("m")
model.add(Part, "part", at=AT)
print(model.build().default_state().realize()["part.x_dot"])
'''


def run(folder: Path, at: str, **environment: str) -> subprocess.CompletedProcess[str]:
    file = folder / "program.py"
    file.write_text(PROGRAM.replace("AT", at))
    return subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


def test_print_works(tmp_path: Path) -> None:
    done = run(tmp_path, "1.0", COSIM_DEBUG="1")
    assert done.stdout == "x is 1.0\n[2. 2.]\n", done.stderr


def test_bounds_are_checked_with_the_name(tmp_path: Path) -> None:
    for at in ("2.0", "-1.0"):
        done = run(tmp_path, at, COSIM_DEBUG="1")
        assert done.returncode != 0
        assert f"x[{at.removesuffix('.0')}] is outside: x has 2 elements" in done.stderr


def test_otherwise_print_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "1.0", COSIM_DEBUG="0")
    said = "program.py:17: Part.derivatives: a kernel function cannot use print; set COSIM_DEBUG=1"
    assert said in done.stderr

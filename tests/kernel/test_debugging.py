"""``COSIM_DEBUG=1``: kernel functions may print, and indices are checked, as compiled code does not."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = '''
import cosim


def element(values, i):
    return values[i]


class Part(cosim.Component):
    """Reads an element of x whose index is a parameter."""

    index = cosim.parameter(default=1.0)
    x = cosim.position(unit="m", start=(1.0, 2.0), shape=2)

    @cosim.kernel
    def derivatives(x, index, x_dot):
        print("x is", x[0])
        for i in range(2):
            x_dot[i] = element(x, int(index))


model = cosim.Model("m")
model.add(Part, "part", index=INDEX)
print(model.build().default_state().realize()["part.x_dot"])
'''


def run(folder: Path, index: str, **environment: str) -> subprocess.CompletedProcess[str]:
    file = folder / "program.py"
    file.write_text(PROGRAM.replace("INDEX", index))
    return subprocess.run(
        [sys.executable, str(file)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


def test_print_prints(tmp_path: Path) -> None:
    done = run(tmp_path, "1.0", COSIM_DEBUG="1")
    assert done.stdout == "x is 1.0\n[2. 2.]\n", done.stderr


def test_an_index_out_of_bounds_is_an_error_with_the_name_of_the_variable(tmp_path: Path) -> None:
    for index in ("2.0", "-1.0"):
        done = run(tmp_path, index, COSIM_DEBUG="1")
        assert done.returncode != 0
        assert f"x[{index.removesuffix('.0')}] is outside: x has 2 elements" in done.stderr


def test_without_the_option_print_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "1.0", COSIM_DEBUG="0")
    message = "program.py:17: Part.derivatives: a kernel function cannot use print; set COSIM_DEBUG=1"
    assert message in done.stderr

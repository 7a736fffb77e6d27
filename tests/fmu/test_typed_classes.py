"""Classes that were typed into notebooks or scripts are carried by FMUs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.kit import run_source
from cosim_export.python_fmu.typed_class import TypedClass

CELLS = (
    """
import math
from math import sqrt as root

import numpy as np

import cosim

STIFFNESS = 3.0
POWERS = (1.0, -0.5)
TABLE = np.array([[1.0, 2.5]])
NEVER = float("inf")
data = [1.0]
""",
    """
def cubed(x):
    return halved(x) * x * x * POWERS[0]

def halved(x):
    return 0.5 * x

class Base(cosim.Component):
    '''What decays.'''
    rate = cosim.parameter(unit="1/s", default=2.0)
""",
    """
class Decay(Base):
    '''It decays faster.'''

    x = cosim.auxiliary_state(start=1.0, unit="m")
    out = cosim.output(unit="m")

    @cosim.kernel
    def derivatives(x, rate, x_dot):
        x_dot[0] = -rate * x - STIFFNESS * cubed(x) * TABLE[0, 1] * root(1.0) * math.cos(0.0)

    @cosim.kernel
    def write(x, out):
        out[0] = min(x, NEVER)
""",
)


@pytest.fixture
def space() -> dict[str, Any]:
    """What a user has typed, cell after cell."""
    names: dict[str, Any] = {}
    for cell in CELLS:
        run_source(cell, names)
    return names


@pytest.fixture
def typed(space: dict[str, Any]) -> Iterator[TypedClass]:
    found = TypedClass(space["Decay"])
    yield found
    found.close()


def test_the_module_has_what_is_needed_and_no_more(typed: TypedClass, space: dict[str, Any]) -> None:
    lines = typed.source.splitlines()
    for line in ("import math", "from math import sqrt as root", "STIFFNESS = 3.0", "POWERS = (1.0, -0.5)"):
        assert line in lines
    assert "TABLE = numpy.array([[1.0, 2.5]], dtype='<f8')" in lines and "NEVER = float('inf')" in lines
    assert (
        typed.source.index("def halved") < typed.source.index("def cubed") < typed.source.index("class Decay")
    )
    assert "data" not in typed.source and "np" not in typed.source.replace("input", "").split()
    assert typed.cls.__module__ == typed.module != "__main__"
    assert typed.cls.__mro__[1].__name__ == "Base"
    again = TypedClass(space["Decay"])
    again.close()
    assert again.module == typed.module, "the same text is the same module"


def test_the_class_of_the_module_does_the_same(typed: TypedClass, space: dict[str, Any]) -> None:
    ends = []
    for cls in (space["Decay"], typed.cls):
        model = cosim.Model("typed")
        model.add(cls, "decay")
        ends.append(model.simulate(until=0.5)["decay.out"][-1])
    assert ends[0] == ends[1] != 1.0


def test_the_module_is_forgotten(space: dict[str, Any]) -> None:
    found = TypedClass(space["Decay"])
    assert found.module in sys.modules
    found.close()
    assert found.module not in sys.modules


BAD = """
class Bad(cosim.Component):
    '''Reads a list of its notebook.'''
    x = cosim.auxiliary_state(start=1.0)
    def derivatives(self, x, x_dot):
        x_dot[0] = -{what} * x
"""


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("len(data)", "cannot take 'data' along: is a list, and only numbers, texts, tuples and arrays"),
        ("(lambda: missing)()", "cannot take 'missing' along: this name is not defined"),
    ],
)
def test_what_cannot_be_written_down_is_refused(space: dict[str, Any], what: str, said: str) -> None:
    run_source(BAD.format(what=what), space)
    with pytest.raises(cosim.ModelError) as raised:
        TypedClass(space["Bad"])
    assert said in str(raised.value) and "parameter" in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_a_base_that_was_defined_again(space: dict[str, Any]) -> None:
    """The class that is exported is the one that was run, or none."""
    run_source(CELLS[1].replace("default=2.0", "default=5.0"), space)
    with pytest.raises(cosim.ModelError, match="'Base'.*defined again after 'Decay'"):
        TypedClass(space["Decay"])
    run_source(CELLS[2], space)
    again = TypedClass(space["Decay"])
    again.close()
    assert "default=5.0" in again.source


EXPORT = """
model = cosim.Model("typed")
model.add(Decay, "decay")
print(model.simulate(until=0.5, accuracy=1e-8)["decay.out"][-1])
model.export_fmu("typed.fmu", native=False, accuracy=1e-8)

def inside():
    class Local(Base):
        '''Somewhere inside.'''
        x = cosim.auxiliary_state(start=1.0)
        def derivatives(self, x, x_dot):
            x_dot[0] = -x
    return Local

model = cosim.Model("local")
model.add(inside(), "local")
try:
    model.export_fmu("local.fmu", native=False)
except cosim.ModelError as error:
    print(error)
"""
IMPORT = """
import fmpy, sys
print(fmpy.simulate_fmu("typed.fmu", stop_time=0.5, output_interval=0.01)["decay.out"][-1])
assert "__main__" in sys.modules and not hasattr(sys.modules["__main__"], "Decay")
"""


@pytest.mark.thorough
def test_a_script_exports_its_class(tmp_path: Path) -> None:
    """What holds of a notebook holds of a script: another process finds the class in the FMU."""
    (tmp_path / "study.py").write_text("\n".join([*CELLS, EXPORT]))
    (tmp_path / "host.py").write_text(IMPORT)
    outputs = [
        subprocess.run(
            [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for script in ("study.py", "host.py")
    ]
    assert float(outputs[0][0]) == pytest.approx(float(outputs[1][-1]), rel=1e-6)
    assert outputs[0][1].startswith("__main__:inside.<locals>.Local: the class is defined in a function")
    with zipfile.ZipFile(tmp_path / "typed.fmu") as archive:
        (name,) = [name for name in archive.namelist() if name.startswith("resources/typed_")]
        assert "class Decay(Base):" in archive.read(name).decode()

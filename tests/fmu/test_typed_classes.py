"""FMUs contain classes that were defined in a notebook or a script."""

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

# of a notebook
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
    '''Has a rate.'''
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
UNWRITABLE = """
class Bad(cosim.Component):
    '''Reads a list of its notebook.'''
    x = cosim.auxiliary_state(start=1.0)
    def derivatives(self, x, x_dot):
        x_dot[0] = -{factor} * x
"""
EXPORT = """
model = cosim.Model("typed")
model.add(Decay, "decay")
print(model.simulate(until=0.5, accuracy=1e-8)["decay.out"][-1])
model.export_fmu("typed.fmu", native=False, accuracy=1e-8)

def make_local():
    class Local(Base):
        '''Defined in a function.'''
        x = cosim.auxiliary_state(start=1.0)
        def derivatives(self, x, x_dot):
            x_dot[0] = -x
    return Local

model = cosim.Model("local")
model.add(make_local(), "local")
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


@pytest.fixture
def notebook() -> dict[str, Any]:
    """The names of a notebook that has run the cells."""
    names: dict[str, Any] = {}
    for cell in CELLS:
        run_source(cell, names)
    return names


@pytest.fixture
def typed(notebook: dict[str, Any]) -> Iterator[TypedClass]:
    typed_class = TypedClass(notebook["Decay"])
    yield typed_class
    typed_class.close()


def test_the_module_has_all_needed_names_and_no_others(typed: TypedClass, notebook: dict[str, Any]) -> None:
    lines = typed.source.splitlines()
    for line in ("import math", "from math import sqrt as root", "STIFFNESS = 3.0", "POWERS = (1.0, -0.5)"):
        assert line in lines
    assert "TABLE = numpy.array([[1.0, 2.5]], dtype='<f8')" in lines and "NEVER = float('inf')" in lines
    definitions = [typed.source.index(text) for text in ("def halved", "def cubed", "class Decay")]
    assert definitions == sorted(definitions)
    assert "data" not in typed.source and "np" not in typed.source.replace("input", "").split()
    assert typed.cls.__module__ == typed.module != "__main__"
    assert typed.cls.__mro__[1].__name__ == "Base"
    second_export = TypedClass(notebook["Decay"])
    second_export.close()
    assert second_export.module == typed.module, "the same text is the same module"


def test_the_class_of_the_module_gives_the_same_result(typed: TypedClass, notebook: dict[str, Any]) -> None:
    results = []
    for cls in (notebook["Decay"], typed.cls):
        model = cosim.Model("typed")
        model.add(cls, "decay")
        results.append(model.simulate(until=0.5)["decay.out"][-1])
    assert results[0] == results[1] != 1.0


def test_a_closed_module_is_removed_from_sys_modules(notebook: dict[str, Any]) -> None:
    typed_class = TypedClass(notebook["Decay"])
    assert typed_class.module in sys.modules
    typed_class.close()
    assert typed_class.module not in sys.modules


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        ("len(data)", "cannot take 'data' along: is a list, and only numbers, texts, tuples and arrays"),
        ("(lambda: missing)()", "cannot take 'missing' along: this name is not defined"),
    ],
)
def test_names_whose_values_cannot_be_written_are_refused(
    notebook: dict[str, Any], factor: str, message: str
) -> None:
    run_source(UNWRITABLE.format(factor=factor), notebook)
    with pytest.raises(cosim.ModelError) as caught:
        TypedClass(notebook["Bad"])
    assert message in str(caught.value) and "parameter" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_base_class_that_was_defined_again_is_refused(notebook: dict[str, Any]) -> None:
    """The exported class is the one that was run; the text of its old base is lost."""
    run_source(CELLS[1].replace("default=2.0", "default=5.0"), notebook)
    with pytest.raises(cosim.ModelError, match="'Base'.*defined again after 'Decay'"):
        TypedClass(notebook["Decay"])
    run_source(CELLS[2], notebook)
    typed_class = TypedClass(notebook["Decay"])
    typed_class.close()
    assert "default=5.0" in typed_class.source


@pytest.mark.thorough
def test_an_fmu_with_a_class_of_a_script_runs_in_another_process(tmp_path: Path) -> None:
    """The other process finds the class in the FMU."""
    (tmp_path / "study.py").write_text("\n".join([*CELLS, EXPORT]))
    (tmp_path / "host.py").write_text(IMPORT)
    outputs = [
        subprocess.run(
            [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for script in ("study.py", "host.py")
    ]
    assert float(outputs[0][0]) == pytest.approx(float(outputs[1][-1]), rel=1e-6)
    assert outputs[0][1].startswith("__main__:make_local.<locals>.Local: the class is defined in a function")
    with zipfile.ZipFile(tmp_path / "typed.fmu") as archive:
        (name,) = [name for name in archive.namelist() if name.startswith("resources/typed_")]
        assert "class Decay(Base):" in archive.read(name).decode()

"""Machine code that comes with the package: found by what it is made from, checked, with the same bits."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cosim import kit
from cosim.compiled import native, shipped, shipping
from cosim.compiled.parts import in_process
from cosim.step.run import advance

ROOT = Path(__file__).parents[2]
COMPILES = pytest.mark.skipif(
    kit.is_plain() or sys.platform != "linux" or shutil.which("cc") is None,
    reason="needs numba, a C compiler and Linux",
)
CAME = pytest.mark.skipif(not shipped.PATH.exists() or kit.is_plain(), reason="nothing came with the package")


def halved(x):
    return 0.5 * x


def summed(values, factor):
    total = 0.0
    for i in range(values.shape[0]):
        total += halved(values[i]) * factor
    return total


def stored(values, at, x):
    values[at] = np.sin(x)


def three_times(count):
    return 3 * count


FUNCTIONS = {(summed, "Ff>f"): False, (stored, "Fif>v"): False, (three_times, "i>i"): True}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shipped") / "kernels.so"
    assert shipping.make_library(dict(FUNCTIONS), path, processes=1) == len(FUNCTIONS)
    return path


@pytest.fixture
def library(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the library, in the place of the one that came with the package."""
    path = tmp_path / "kernels.so"
    shutil.copy(made, path)
    monkeypatch.setattr(shipped, "PATH", path)
    shipped._library.cache_clear()
    yield path
    shipped._library.cache_clear()


@COMPILES
def test_shipped_functions_are_called(library: Path) -> None:
    values = np.array([1.0, 2.5, -0.25])
    compiled = native.compile_function(summed, "Ff>f")
    assert isinstance(compiled, shipped.Shipped)
    assert compiled(values, 3.0) == summed(values, 3.0)
    assert native.compile_function(stored, "Fif>v")(values, 1, 0.7) is None
    assert values[1] == np.sin(0.7)
    assert native.compile_function(three_times, "i>i")(14) == 42


@COMPILES
def test_c_calls_a_shipped_function(library: Path) -> None:
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    assert prototype(native.c_address(three_times, "i>i"))(14) == 42


@COMPILES
def test_a_changed_helper_is_not_found(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped.address(summed, "Ff>f")
    monkeypatch.setitem(globals(), "halved", lambda x: 0.25 * x)
    assert not shipped.address(summed, "Ff>f")
    assert native.compile_function(summed, "Ff>f")(np.array([4.0]), 1.0) == 1.0


@COMPILES
def test_no_flipped_bit_is_loaded(library: Path, caplog: pytest.LogCaptureFixture) -> None:
    content = library.read_bytes()
    draw = random.Random(1)
    for _ in range(200):
        bit = draw.randrange(8 * len(content))
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        library.write_bytes(changed)
        shipped._library.cache_clear()
        assert not shipped.address(summed, "Ff>f"), f"bit {bit}"
    assert "damaged" in caplog.text
    library.write_bytes(content[:-1])
    shipped._library.cache_clear()
    assert not shipped.address(summed, "Ff>f")


@COMPILES
def test_what_is_asked_for_is_collected() -> None:
    with shipping.collected() as wanted:
        native.compile_function(summed, "Ff>f")
        native.c_address(three_times, "i>i")
    assert wanted == {(summed, "Ff>f"): False, (three_times, "i>i"): True}


def test_a_function_is_bound_to_the_parts_that_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the library it calls them as they were: a changed part is another caller."""
    before = shipped.symbol(*in_process(advance))
    monkeypatch.setattr(shipped, "_symbol_of_part", lambda part: "another")
    assert shipped.symbol(*in_process(advance)) != before


RUN = """
import sys
import cosim
from cosim_mechanics import Multibody

model = Multibody("swing")
model.body("arm", mass=2.0, inertia=(0.1, 0.2, 0.3), center_of_mass=(0, -0.5, 0))
model.joint("pin", child="arm", q=0.7)
model.measure("measures.delay", "felt", source="arm_joint.q[0]", delay=0.05)
model.measure("measures.sample_and_hold", "sampled", source="felt", period=0.1)
simulator = cosim.Simulator(model.build(), accuracy=1e-7)
simulator.advance_to(1.0)
print(simulator.state.to_bytes().hex(), "numba" in sys.modules)
"""


def outcome(**environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@CAME
def test_what_came_gives_the_same_bytes_without_numba() -> None:
    came = outcome(COSIM_NO_SHIPPED="0")
    assert came[1] == "False"
    assert outcome(COSIM_NO_SHIPPED="1")[0] == came[0]
    assert outcome(NUMBA_DISABLE_JIT="1")[0] == came[0]


@CAME
def test_the_release_asks_for_what_components_of_ours_need(caplog: pytest.LogCaptureFixture) -> None:
    """Every function that the corpus of a release asks for came with the package."""
    done = subprocess.run(
        [sys.executable, "-c", MISSING],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT / "release")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


MISSING = """
import corpus
from cosim.compiled import shipped, shipping

with shipping.collected() as wanted:
    corpus.ask_for_all()
print([function.__qualname__ for function, signature in wanted if not shipped.address(function, signature)])
"""

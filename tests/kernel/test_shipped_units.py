"""Units that came with the package: found by what they are made from, each checked, with the same bits."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ship_units

from cosim_compiler import kernel_cache, native, shipped_units, units
from cosim_compiler.lowered_code import PLACEHOLDER

pytestmark = [
    pytest.mark.skipif(not native.is_own(), reason="the compiler of the kernel language makes units"),
    pytest.mark.skipif(sys.platform != "linux", reason="machine code ships on Linux"),
]


def halved(x):
    return 0.5 * x


def of(factor: float) -> Callable[..., Any]:
    """A function that no other test has compiled."""

    def summed(values, first):
        total = 0.0
        for value in values[first:]:
            total += halved(value) * factor
        return total

    return summed


@pytest.fixture
def shipping_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file in which units are looked for; nothing is kept anywhere else."""
    path = tmp_path / "shipped" / "units"
    monkeypatch.setattr(shipped_units, "PATH", path)
    monkeypatch.setattr(kernel_cache, "kept", lambda digest: None)
    monkeypatch.setattr(kernel_cache, "keep", lambda digest, content: None)
    shipped_units._places.cache_clear()
    yield path
    shipped_units._places.cache_clear()


def compiles_nothing(*_: Any) -> bytes:
    raise AssertionError("this came with the package")


VALUES = np.array([1.0, 1e-17, -3.0, 1e300, 0.1])


def test_what_came_is_not_compiled(shipping_to: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function = of(1.1)
    wanted = {(function, "Fi>f"): {"here"}}
    assert not units.is_at_hand(function, "Fi>f")
    assert ship_units.make_units(wanted, shipping_to, processes=1) == 1
    shipped_units._places.cache_clear()
    monkeypatch.setattr(units, "_compiled", compiles_nothing)
    assert units.is_at_hand(function, "Fi>f")
    found = native.compile_function(function, "Fi>f")
    for first in (0, 1, 5, -2):
        assert found(VALUES, first) == function(VALUES, first)
    with pytest.raises(AssertionError, match="this came"):  # another number, another function
        native.compile_function(of(1.2), "Fi>f")


def test_a_text_came_too(shipping_to: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function = of(1.3)
    here = native.lower(function, "Fi>f", "summed")
    assert ship_units.make_units({(function, "Fi>f"): {"text"}}, shipping_to, processes=1) == 1
    shipped_units._places.cache_clear()
    monkeypatch.setattr(units, "text_anew", compiles_nothing)
    assert native.lower(function, "Fi>f", "summed") == here
    assert units.digest_of_text(function, "Fi>f", PLACEHOLDER) != units.digest_of_unit(function, "Fi>f")


DAMAGES = ["content", "list", "short", "empty"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_compiled(
    shipping_to: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    function = of(2.0 + DAMAGES.index(damage))
    ship_units.make_units({(function, "Fi>f"): {"here"}}, shipping_to, processes=1)
    data = bytearray(shipping_to.read_bytes())
    if damage == "content":
        data[-9] ^= 1
    elif damage == "list":
        data[shipped_units.LENGTH.size] ^= 1
    elif damage == "short":
        del data[-20:]
    else:
        data.clear()
    shipping_to.write_bytes(data)
    shipped_units._places.cache_clear()
    with caplog.at_level(logging.WARNING, "cosim.native"):
        found = native.compile_function(function, "Fi>f")
    assert found(VALUES, 0) == function(VALUES, 0)
    assert "install the package again" in caplog.text


def test_all_can_be_left_aside(shipping_to: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function = of(1.4)
    ship_units.make_units({(function, "Fi>f"): {"here"}}, shipping_to, processes=1)
    monkeypatch.setenv("COSIM_NO_SHIPPED", "1")
    shipped_units._places.cache_clear()
    assert not units.is_at_hand(function, "Fi>f")


def test_digests_do_not_name_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    from cosim_compiler import machine

    digest, here = units.digest_of_unit(halved, "f>f"), units._here("digest")
    monkeypatch.setattr(machine, "versions", lambda: "another one")
    units._here.cache_clear()
    assert units.digest_of_unit(halved, "f>f") == digest
    assert units._here("digest") != here
    monkeypatch.undo()
    units._here.cache_clear()


def test_an_empty_file_of_units_has_none(shipping_to: Path) -> None:
    assert ship_units.make_units({}, shipping_to, processes=1) == 0
    assert shipped_units._places() == {} and shipped_units.kept("0" * 32) is None
    assert json.loads(shipping_to.read_bytes()[shipped_units.LENGTH.size :]) == {}


CALLS_A_PART = """
from cosim_compiler import units
from cosim.step.compiled_step import CompiledStep
from cosim.step.run import advance

unit, index = units.unit_of(advance, advance.__dict__["__part__"])
print(unit.symbol(index))
"""


def test_symbols_are_the_same_wherever_code_was_made() -> None:
    """What is compiled here calls what came by the same symbol."""
    environment = {**os.environ, "COSIM_NO_SHIPPED": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CALLS_A_PART], env=environment, capture_output=True, text=True, check=True
    )
    from cosim.step.compiled_step import CompiledStep  # noqa: F401
    from cosim.step.run import advance

    assert done.stdout.split()[-1].startswith(f"cosim_{units.digest_of_unit(advance, 'Af>i')}_")

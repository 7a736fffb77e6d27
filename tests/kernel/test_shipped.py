"""Compiled units that came with the package are checked, and found by what they are made from."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cosim_compiler import kernel_cache, machine, native, shipped, unit_digests, units
from cosim_compiler.road import LLVM, road

pytestmark = pytest.mark.skipif(
    native.is_plain() or road() != LLVM, reason="what ships is LLVM's, and nothing is compiled here"
)
VALUES = np.array([1.0, 1e-17, -3.0, 1e300, 0.1])


def halved(x):
    return 0.5 * x


def unit_function(factor: float) -> Callable[..., Any]:
    """A function that no other test has compiled."""

    def summed(values, first):
        total = 0.0
        for value in values[first:]:
            total += halved(value) * factor
        return total

    return summed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of shipped archives; the cache is switched off."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "shipped")
    monkeypatch.setattr(kernel_cache, "read_cached", lambda key: None)
    monkeypatch.setattr(kernel_cache, "has", lambda key: False)
    monkeypatch.setattr(kernel_cache, "write_cached", lambda key, content: None)
    shipped._archive.cache_clear()
    yield tmp_path / "shipped"
    shipped._archive.cache_clear()


def ship(function: Any, signature: str) -> Path:
    """Compile a unit for any processor of this platform, and ship it alone."""
    code = (
        "from cosim_compiler import machine\n"
        "print(machine.is_for_others(), machine.plainest_processor() in machine.versions())"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, machine.PLAINEST: "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.split() == ["True", "True"]
    functions = ((function, signature),)
    digest = unit_digests.digest_of_unit(functions)
    path = shipped.write(shipped.UNITS, {digest: units._compile(functions, digest)})
    shipped._archive.cache_clear()
    return path


def refuse_to_compile(*_: Any) -> bytes:
    raise AssertionError("this came with the package")


def test_a_shipped_unit_is_not_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function = unit_function(1.1)
    assert not units.is_at_hand(function, "Fi>f")
    ship(function, "Fi>f")
    monkeypatch.setattr(units, "_compile", refuse_to_compile)
    assert units.is_at_hand(function, "Fi>f")
    loaded = native.compile_function(function, "Fi>f")
    for first in (0, 1, 5, -2):
        assert loaded(VALUES, first) == function(VALUES, first)
    with pytest.raises(AssertionError, match="this came"):  # another number, another function
        native.compile_function(unit_function(1.2), "Fi>f")


def test_texts_are_in_another_archive_than_units(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function = unit_function(1.3)
    lowered = native.lower({"summed": (function, "Fi>f")})
    shipped.write(shipped.TEXTS, {unit_digests.digest_of(shipped.TEXTS, ((function, "Fi>f"),)): b"define f"})
    shipped._archive.cache_clear()
    assert native.lower({"summed": (function, "Fi>f")}) == "define f" != lowered
    assert not units.is_at_hand(function, "Fi>f")


@pytest.mark.few(1)
@pytest.mark.parametrize("damage", ["content", "short", "empty"])
def test_a_damaged_archive_is_reported_and_its_units_are_compiled(
    folder: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    function = unit_function({"content": 2.0, "short": 3.0, "empty": 4.0}[damage])
    path = ship(function, "Fi>f")
    data = bytearray(path.read_bytes())
    if damage == "content":
        data[len(data) // 2] ^= 1
    elif damage == "short":
        del data[-20:]
    else:
        data.clear()
    path.write_bytes(data)
    shipped._archive.cache_clear()
    with caplog.at_level(logging.WARNING, "cosim.native"):
        compiled = native.compile_function(function, "Fi>f")
    assert compiled(VALUES, 0) == function(VALUES, 0)
    assert "install the package" in caplog.text


def test_shipped_units_can_be_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    function = unit_function(1.4)
    ship(function, "Fi>f")
    assert units.is_at_hand(function, "Fi>f")
    monkeypatch.setenv("COSIM_NO_SHIPPED", "1")
    shipped._archive.cache_clear()
    assert not units.is_at_hand(function, "Fi>f")


def test_keys_of_the_cache_name_the_processor_and_digests_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key_of = unit_digests._key_of.__wrapped__  # as in a process that has just begun
    digest, key = unit_digests.digest_of_unit(((halved, "f>f"),)), key_of("digest", True)
    monkeypatch.setattr(machine, "versions", lambda: "another one")
    assert unit_digests.digest_of_unit(((halved, "f>f"),)) == digest
    assert key_of("digest", True) != key


def test_an_empty_archive_has_no_units(folder: Path) -> None:
    shipped.write(shipped.UNITS, {})
    shipped._archive.cache_clear()
    assert not shipped.has(shipped.UNITS, "0" * 32)

"""Texts of tangents and adjoints that an earlier process has stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cosim_compiler import kernel_cache
from cosim_compiler.derivatives import adjoints, tangents
from cosim_compiler.derivatives.own_tangents import tangent_of
from cosim_compiler.sources.run_source import run_source

TEXT = """
import math
table = (1.0, 2.0, 5.0)
def half(x):
    return 0.5 * x
def scaled(x):
    if x > 6.0:
        raise ValueError("seven")
    return FACTOR * x * x
def f(x, out):
    out[0] = scaled(x) * half(x)
    for i in range(3):
        out[0] += table[i] * math.sin(x)
    return out[0] / x
"""


def source(factor: float = 3.0) -> dict[str, Any]:
    """Functions of the text, new ones each time."""
    return run_source(TEXT.replace("FACTOR", str(factor)))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of what is kept."""
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path))
    kernel_cache.folder.cache_clear()
    yield tmp_path
    kernel_cache.folder.cache_clear()


@pytest.fixture
def writings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions whose tangents or adjoints were written."""
    names: list[str] = []

    def counted(write: Callable[..., Any]) -> Callable[..., Any]:
        def write_counted(function: Any, *more: Any) -> Any:
            names.append(function.__name__)
            return write(function, *more)

        return write_counted

    monkeypatch.setattr(tangents, "_write_tangent", counted(tangents._write_tangent))
    monkeypatch.setattr(adjoints, "_write_adjoint", counted(adjoints._write_adjoint))
    return names


def rate(f: Any, x: float = 2.0, **options: Any) -> list[bytes]:
    """The text of a tangent, and what it computes."""
    tangent, signature = tangents.tangent_function(f, "fF>f", **options)
    assert signature == "fFfFF>f"
    out, out_dot, rates = np.zeros((3, 1))
    value = tangent(x, out, 1.5, out_dot, rates)
    return [tangent.__text__.encode(), np.array([value, *out, *out_dot, *rates]).tobytes()]


def test_a_tangent_is_written_once(writings: list[str]) -> None:
    """The stored text gives the same functions, also those that raise, with another option another text."""
    first = rate(source()["f"])
    assert rate(source()["f"]) == first and writings == ["f"]
    with pytest.raises(ValueError, match="seven"):
        rate(source()["f"], 7.0)
    assert writings == ["f"]
    rate(source()["f"], refuses_jumps=True)
    assert writings == ["f", "f"]


def test_an_adjoint_is_written_once(writings: list[str]) -> None:
    found = []
    for _ in range(2):
        adjoint = adjoints.adjoint_function(source()["f"], "fF>f")
        tape = np.array([2.0, 0.0, *100 * [0.0]])
        out, out_dot, rates, bars = np.zeros((4, 1))
        adjoint.record(2.0, out, 1.0, out_dot, 0, tape, rates)
        adjoint.reverse(np.ones(1), 1.0, tape, bars)
        found.append((bars.tobytes(), adjoint.record_signature, adjoint.reverse_signature))
    assert found[0] == found[1] and writings == ["f"]


def test_what_a_tangent_follows_from_is_in_its_digest(writings: list[str]) -> None:
    """Another number in a helper, an author's tangent for a helper, another one: each time another text."""
    texts = [rate(source(factor)["f"])[0] for factor in (3.0, 4.0)]
    for slope in (0.5, 0.25):
        names = source()
        own = run_source(f"def half_tangent(x, x_dot):\n    return {slope} * x_dot")["half_tangent"]
        tangent_of(names["half"])(own)
        texts += [rate(names["f"])[1]]
        again = source()
        tangent_of(again["half"])(own)
        assert rate(again["f"])[1] == texts[-1]
    assert writings == ["f"] * 4 and len(set(texts)) == 4


def test_a_damaged_text_is_written_again(writings: list[str], cache: Path) -> None:
    first = rate(source()["f"])
    for path in (cache / "kernels").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert rate(source()["f"]) == first and writings == ["f", "f"]

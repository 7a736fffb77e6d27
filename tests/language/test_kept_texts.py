"""The texts of tangents and adjoints are written once and stored for other processes."""

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
    """The functions of the text, as new objects."""
    return run_source(TEXT.replace("FACTOR", str(factor)))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache folder."""
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path))
    kernel_cache.folder.cache_clear()
    yield tmp_path
    kernel_cache.folder.cache_clear()


@pytest.fixture
def writings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions whose tangents or adjoints were written, by name."""
    names: list[str] = []

    def listing(write: Callable[..., Any]) -> Callable[..., Any]:
        def write_and_list(function: Any, *arguments: Any) -> Any:
            names.append(function.__name__)
            return write(function, *arguments)

        return write_and_list

    monkeypatch.setattr(tangents, "_write_tangent", listing(tangents._write_tangent))
    monkeypatch.setattr(adjoints, "_write_adjoint", listing(adjoints._write_adjoint))
    return names


def text_and_results(f: Any, x: float = 2.0, **options: Any) -> list[bytes]:
    """The text of the tangent of a function, and the bytes of its results."""
    tangent, signature = tangents.tangent_function(f, "fF>f", **options)
    assert signature == "fFfFF>f"
    out, out_dot, rates = np.zeros((3, 1))
    value = tangent(x, out, 1.5, out_dot, rates)
    return [tangent.__text__.encode(), np.array([value, *out, *out_dot, *rates]).tobytes()]


def test_a_tangent_is_written_once(writings: list[str]) -> None:
    """The stored text gives the same results and exceptions; with another option it is another text."""
    expected = text_and_results(source()["f"])
    assert text_and_results(source()["f"]) == expected and writings == ["f"]
    with pytest.raises(ValueError, match="seven"):
        text_and_results(source()["f"], 7.0)
    assert writings == ["f"]
    text_and_results(source()["f"], refuses_jumps=True)
    assert writings == ["f", "f"]


def test_an_adjoint_is_written_once(writings: list[str]) -> None:
    results = []
    for _ in range(2):
        adjoint = adjoints.adjoint_function(source()["f"], "fF>f")
        tape = np.array([2.0, 0.0, *100 * [0.0]])
        out, out_dot, rates, bars = np.zeros((4, 1))
        adjoint.record(2.0, out, 1.0, out_dot, 0, tape, rates)
        adjoint.reverse(np.ones(1), 1.0, tape, bars)
        results.append((bars.tobytes(), adjoint.record_signature, adjoint.reverse_signature))
    assert results[0] == results[1] and writings == ["f"]


def test_a_tangent_is_written_again_if_a_helper_or_its_tangent_has_changed(writings: list[str]) -> None:
    """Another number in a helper, a tangent of an author for it, and another such tangent."""
    texts = [text_and_results(source(factor)["f"])[0] for factor in (3.0, 4.0)]
    for slope in (0.5, 0.25):
        names = source()
        authors_tangent = run_source(f"def half_tangent(x, x_dot):\n    return {slope} * x_dot")[
            "half_tangent"
        ]
        tangent_of(names["half"])(authors_tangent)
        texts += [text_and_results(names["f"])[1]]
        equal_names = source()
        tangent_of(equal_names["half"])(authors_tangent)
        assert text_and_results(equal_names["f"])[1] == texts[-1]
    assert writings == ["f"] * 4 and len(set(texts)) == 4


def test_a_damaged_text_is_written_again(writings: list[str], cache: Path) -> None:
    expected = text_and_results(source()["f"])
    for path in (cache / "kernels").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert text_and_results(source()["f"]) == expected and writings == ["f", "f"]

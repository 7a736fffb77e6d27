"""Machine code writes the text of numbers that `repr` writes; large CSV files are those of small ones."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cosim import Result
from cosim.kit import compile_function, is_plain
from cosim_workbench import csv_text
from cosim_workbench.number_text import LONGEST, REAL, ROWS_SIGNATURE, append_rows

POWERS_OF_TWO = 2.0 ** np.arange(-1074, 1024)
EDGES = [
    *(0.0, 1.0, 5e-324, 4e-323, 2.2250738585072014e-308, 1.7976931348623157e308, math.inf, math.nan),
    *(0.1, 1 / 3, 1e-4, 9.999999999999999e-05, 1e15, 9999999999999998.0, 1e16, 1.2345678901234567e16),
    *(1e17, 1e22, 1e23, 2.0**53 - 1.0, 2.0**53, 2.0**53 + 2.0, 9.5e-323, 123456.0, 1e100, 1.5e-300),
]
pytestmark = pytest.mark.skipif(is_plain(), reason="plain Python writes numbers by repr")
RANDOM = np.random.default_rng(49)


def text_of(numbers: NDArray[np.float64]) -> list[str]:
    """A column of numbers as the compiled function writes it, line by line."""
    count = len(numbers)
    out = np.full(count * LONGEST // 8 + 2, -1)
    bits = np.ascontiguousarray(numbers, dtype=np.float64).view(np.int64)
    append = compile_function(append_rows, ROWS_SIGNATURE)
    length = append(bits, np.array([REAL]), np.array([ord("\n")]), out, count)
    return out.view(np.uint8)[:length].tobytes().decode("ascii").splitlines()


NUMBERS = {
    "edges": np.array(EDGES),
    "powers of two": POWERS_OF_TWO,
    "their lower neighbours": np.nextafter(POWERS_OF_TWO, 0.0),
    "their upper neighbours": np.nextafter(POWERS_OF_TWO[:-1], np.inf),
    "powers of ten": np.array([float(f"1e{i}") for i in range(-323, 309)]),
    "whole": np.arange(3000.0) ** 4,
    "a grid": np.arange(3000) * 1e-3,
    "few digits": np.round(RANDOM.standard_normal(3000), 3),
    "measured": RANDOM.standard_normal(3000) * 10.0 ** RANDOM.integers(-20, 20, 3000),
    "denormal": RANDOM.integers(1, 2**52, 3000).view(np.float64),
    "any": RANDOM.integers(-(2**63), 2**63 - 1, 20_000).view(np.float64),
}


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_text_is_that_of_repr(numbers: NDArray[np.float64]) -> None:
    for signed in (numbers, -numbers):
        assert text_of(signed) == [repr(number) for number in signed.tolist()]


@given(st.lists(st.floats(), min_size=1))
@settings(deadline=None)
def test_any_number_is_written_as_repr_writes_it(numbers: list[float]) -> None:
    assert text_of(np.array(numbers)) == list(map(repr, numbers))


def test_no_rows_have_no_text() -> None:
    assert text_of(np.zeros(0)) == []


RESULTS = {
    "reals": Result(np.arange(9) / 3.0, {"a": np.arange(9.0), "v": RANDOM.standard_normal((9, 3))}),
    "no signals": Result(np.arange(9.0), {}),
    "booleans": Result(np.arange(9.0), {"on": np.arange(9) % 2 == 0, "x": np.arange(9.0)}),
    "text": Result(
        np.arange(9.0), {"said": ['a "b", c\n', "", "ö\0"] * 3, "x": np.arange(9.0), "last": ["z"] * 9}
    ),
    "vectors of text and truth": Result(
        np.arange(9.0),
        {"said": np.array([["a", "b"]] * 9, dtype=object), "on": np.ones((9, 2), dtype=bool)},
    ),
    "an empty vector": Result(np.arange(9.0), {"none": np.zeros((9, 0)), "x": np.arange(9.0)}),
    "a view of rows": Result(np.arange(9.0), {"x": np.arange(27.0).reshape(9, 3)[:, ::2]}),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("block_size", [1, 7, 1000])
@pytest.mark.parametrize("first", [0, 1, 8, 9])
def test_text_in_blocks_of_any_size_is_that_of_plain_python(
    name: str, block_size: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = RESULTS[name]
    expected = b"".join(map(bytes, csv_text.row_texts(result, first)))
    columns = [result.time, *result.signals.values()]
    monkeypatch.setattr(csv_text, "VALUES", block_size)
    assert b"".join(map(bytes, csv_text.row_texts(result, first))) == expected
    if first < len(result) and name != "an empty vector":
        for rows in (1, 2, 9):
            write = csv_text._compiled_writer(columns, 9, rows)
            assert b"".join(map(bytes, write([column[first:] for column in columns]))) == expected


def test_a_large_file_reads_back_to_the_same_bits(tmp_path: Path) -> None:
    values = RANDOM.integers(0, 0x7FEF << 48, (csv_text.VALUES // 4, 4)).view(np.float64)
    result = Result(np.arange(len(values)) * 1e-3, {"x": values, "y": -values[:, 0]})
    table = np.loadtxt(
        result.to_csv(tmp_path / "r.csv").read_text("utf-8").replace(",", " ").splitlines()[1:]
    )
    assert table[:, 0].tobytes() == result.time.tobytes()
    assert table[:, 1:5].tobytes() == values.tobytes() and table[:, 5].tobytes() == (-values[:, 0]).tobytes()

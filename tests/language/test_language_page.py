"""docs/kernel-language.md: its table of edges is true for all compilers, and its lists are complete."""

from __future__ import annotations

import builtins
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from language_tools import compiled, is_same

from cosim_compiler.code import BY_C, BY_LLVM
from cosim_compiler.language.builtins import READERS
from cosim_compiler.road import ROADS
from cosim_compiler.sources.kernel_rules import BUILTINS, IN_MATH
from cosim_compiler.sources.run_source import run_source

PAGE = (Path(__file__).parents[2] / "docs" / "kernel-language.md").read_text("utf-8")
ROW = re.compile(
    r"^\| `(?P<text>[^`]+)` \| `(?P<arguments>[^`]+)` \| `(?P<answer>[^`]+)` \| (?P<plain>[^|]+) \|$", re.M
)
ROWS = [match.groupdict() for match in ROW.finditer(PAGE)]
NAMES = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def values(text: str) -> list[Any]:
    """The numbers that a cell lists."""
    return [NAMES[word] if word in NAMES else float(word) if {".", "e"} & set(word) else int(word)
            for word in text.split(", ")]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['text']} of {row['arguments']}")
def test_a_row_of_the_table_of_edges(row: dict[str, str]) -> None:
    function = run_source(f"import math\ndef edge(a, b):\n    return {row['text']}\n")["edge"]
    arguments, (answer,) = values(row["arguments"]), values(row["answer"])
    letters = "ff" if isinstance(arguments[0], float) else "ii"
    signature = f"{letters}>{'f' if isinstance(answer, float) else 'i'}"
    for coder in [BY_LLVM, *([BY_C] if shutil.which("cc") or shutil.which("gcc") else [])]:
        assert is_same(compiled(function, signature, coder)(*arguments), answer)
    numbers = [np.float64(x) if letters == "ff" else np.int64(x) for x in arguments]
    with np.errstate(all="ignore"):
        if row["plain"] == "raises":
            with pytest.raises((ArithmeticError, ValueError)):
                function(*numbers)
        elif row["plain"] == "the same":
            result = function(*numbers)
            assert is_same(float(result) if isinstance(answer, float) else int(result), answer)
        else:
            assert function(*numbers) > 2**63


def test_all_rows_of_the_table_are_read() -> None:
    assert len(ROWS) == PAGE.count("| the same |") + PAGE.count("| raises |") + PAGE.count(
        "| a larger number |"
    )
    assert len(ROWS) > 25


def listed(row: str) -> set[str]:
    """The names in the rows of a table that begin with a title."""
    return {
        name
        for match in re.finditer(rf"^\| {row}[^|]*\| `([^`]+)` \|$", PAGE, re.M)
        for name in match[1].split()
    }


def test_the_page_lists_all_functions() -> None:
    assert listed("builtins") == set(BUILTINS)
    assert listed("of `math`") | listed("constants of `math`") == set(IN_MATH)
    loops = {"enumerate", "range", "zip"}
    assert {getattr(math, name) for name in listed("of `math`")} <= set(READERS)
    assert {getattr(builtins, name) for name in set(BUILTINS) - loops} <= set(READERS)


def test_the_page_lists_all_compilers() -> None:
    assert set(re.findall(r"^\| `([a-z]+)`(?: \(default\))? \|", PAGE, re.M)) == set(ROADS)

"""The comparison of how many lines a coupling takes as a scenario, in Python and as an SSP."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "ssp"))
import lines  # noqa: E402


@pytest.mark.thorough
def test_a_scenario_has_the_fewest_lines(tmp_path: Path) -> None:
    counts_by_form = lines.compare(tmp_path)  # exits if the runs differ
    counts = list(counts_by_form.values())
    assert counts == sorted(counts) and len(counts) == 5
    # the scenario, which is first: a line for each connection and each FMU, and the head of each table
    assert counts[0] <= 22 + 5 + 7
    # without docstrings, comments and empty lines
    assert lines.python_lines('"""Of\ntwo lines."""\n\nx = 1  # one\ny = """a\nb"""\n') == 3

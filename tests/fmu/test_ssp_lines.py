"""The comparison of what a coupling takes to write."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "ssp"))
import lines  # noqa: E402


@pytest.mark.thorough
def test_a_scenario_says_what_an_ssp_says_in_fewer_lines(tmp_path: Path) -> None:
    found = lines.compare(tmp_path)  # exits where the runs do not agree
    counts = list(found.values())
    assert counts == sorted(counts) and len(counts) == 5
    assert counts[0] <= 22 + 5 + 7  # connections, FMUs, and what is said once
    assert lines.python_lines('"""Of\ntwo lines."""\n\nx = 1  # one\ny = """a\nb"""\n') == 3

"""The page about SALib runs where it is installed."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "sensitivity.md"


def test_the_page_runs(capsys):
    pytest.importorskip("SALib")
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    exec(compile(block, str(PAGE), "exec"), {"__name__": "sensitivity"})
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown] == ["engine.mass", "rubber.stiffness[5]", "rubber.damping[5]"]

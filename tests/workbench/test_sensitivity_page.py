"""The code of the page about sensitivities runs where SALib is installed."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "sensitivity.md"


def test_the_code_of_the_page_prints_a_line_for_each_parameter(capsys):
    pytest.importorskip("SALib")
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    exec(compile(block, str(PAGE), "exec"), {"__name__": "sensitivity"})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["engine.mass", "rubber.stiffness[5]", "rubber.damping[5]"]

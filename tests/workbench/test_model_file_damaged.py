"""A damaged model file is a model, or a list of problems with their lines; no other error."""

import re
from pathlib import Path

from how_many import many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from workbench_tools import MOUNT

from cosim import ModelError
from cosim_workbench import ModelFile

MORE = """
[bodies.arm]
mass = 1.0
inertia = [1, 1, 1]
[joints.hinge]
type = "pin"
child = "arm"
[components.push]
type = "mechanics.actuator"
coordinate = "hinge"
[measures.felt]
type = "delay"
source = "hinge.q"
delay = "5 ms"
[[connections]]
from = "felt"
to = "push.effort"
factor = "2 N.m/rad"
[starts]
engine_joint.u = [0, 0, 0, 0, 0, 1]
"engine.mass" = "100 kg"
"""
LINES = (MOUNT + MORE).splitlines()
VALUES = st.sampled_from(
    [
        "3", "-1", "0", "1e400", "nan", "true", '""', '"engine"', '"engine.z"', '"vertical_speed"', '"5 ms"',
        '"3 N/m"', '"a.b.c"', '"*"', '"["', "[]", "[1]", "[[1]]", "[[1, 2, 3], [1, 2]]", '["a", 1]', "{}",
        '{ type = "pin" }', "{ position = 3 }", "[{}]", "1979-05-27", "[1, 2, 3, 4, 5]", '"mechanics.free"',
        '"mechanics.energy"', '"measures.plus"', "9223372036854775807",
    ]
)  # fmt: skip


@st.composite
def damaged_files(draw: st.DrawFn) -> str:
    """The file with one to three damaged lines."""
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 3))):
        index = draw(st.integers(0, len(lines) - 1))
        damage = draw(st.sampled_from(["drop", "value", "value", "value", "key", "repeat", "any"]))
        key, sign, _rest = lines[index].partition(" = ")
        if damage == "value" and sign:
            lines[index] = f"{key} = {draw(VALUES)}"
        elif damage == "key" and sign:
            lines[index] = lines[index].replace(
                key, draw(st.sampled_from(["typ", "body3", "'a b'", "name", "q", '"x.y"'])), 1
            )
        elif damage == "repeat":
            lines.insert(index, lines[index])
        elif damage == "any":
            lines[index] = draw(st.text('[]{}="a.,#1 ', max_size=8))
        else:
            del lines[index]
    return "\n".join(lines)


def test_the_undamaged_file_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text("\n".join(LINES), "utf-8")
    assert ModelFile(path).build().nq == 8


@given(damaged_files())
@settings(max_examples=many(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_a_model_or_has_problems_with_lines(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(text, "utf-8")
    try:
        ModelFile(path).build()
    except ModelError as error:
        assert error.problems
        for problem in error.problems:
            assert re.match(rf"{re.escape(str(path))}(:\d+)?(: .+)?$", problem.where), problem
            assert problem.text.strip()
            assert str(path) not in problem.text

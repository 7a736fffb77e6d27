"""Values of an FMU in a model: options, names, faults, and feedthrough that it does not declare."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from bouncing_ball_fmu import make_ball, odd_ball
from fmu_models import FMU, model_with_fmu

import cosim
from cosim_master.participants.instance_participant import InstanceParticipant
from cosim_workbench.component_schema import component_schema


@pytest.fixture(params=["true", "false"], ids=["without_completed_steps", "with_completed_steps"])
def ball(request: pytest.FixtureRequest, tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    return make_ball(tmp_path, compiled, request.param)


FURTHER_PARAMETERS = """<TypeDefinitions><SimpleType name="Ends"><Enumeration><Item name="early" value="2"/>
<Item name="late" value="1000000"/></Enumeration></SimpleType></TypeDefinitions><ModelVariables>
<ScalarVariable name="file.name" valueReference="0" causality="parameter" variability="fixed">
<String start="a.txt"/></ScalarVariable>
<ScalarVariable name="loud" valueReference="1" causality="parameter" variability="fixed">
<Boolean start="true"/></ScalarVariable>"""


def with_choices(path: Path) -> Path:
    """Add an enumeration, a string and a boolean to the parameters of a ball."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    text = files["modelDescription.xml"].decode().replace("<ModelVariables>", FURTHER_PARAMETERS)
    text = text.replace('<Integer start="1000000"/>', '<Enumeration declaredType="Ends" start="1000000"/>')
    for old, new in (
        (6, 8),
        (8, 10),
        (9, 11),
        (2, 4),
        (1, 3),
    ):  # two variables are inserted before the others
        text = text.replace(f'index="{old}" ', f'index="{new}" ').replace(
            f'index="{old}"/>', f'index="{new}"/>'
        )
        text = text.replace(f'derivative="{old}"/>', f'derivative="{new}"/>')
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, text if name == "modelDescription.xml" else data)
    return path


def test_parameters_of_other_types_are_options(
    tmp_path: Path, compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_choices(odd_ball(tmp_path, compiled, "TAKES_ALL"))
    start_values: list[dict[str, Any]] = []
    initialize = InstanceParticipant.initialize

    def record(
        self: InstanceParticipant, start: float, stop: Any, values: Any, tolerance: Any = None
    ) -> None:
        start_values.append(dict(values))
        initialize(self, start, stop, values, tolerance)

    monkeypatch.setattr(InstanceParticipant, "initialize", record)
    for end in ("early", 2, np.int64(2)):
        model = model_with_fmu(path, stop_after=end, file_name="b.txt", loud=0, push=1.0)
        assert model.simulate(until=5.0).time[-1] < 5.0
        assert start_values.pop() == {"stop_after": 2, "file.name": "b.txt", "loud": False, "push": 1.0}
    assert (
        model_with_fmu(path, stop_after="late", **{"file.name": "a.txt"}).simulate(until=0.1).time[-1] == 0.1
    )
    assert start_values == [{"push": 0.0}]  # parameters with their default values are not set
    with pytest.raises(cosim.ModelError) as caught:
        model_with_fmu(path, stop_after="soon", loud="yes", file_name=3)
    faults = (
        "stop_after is 'soon', needs one of 'early', 'late'",
        "loud is 'yes', needs bool",
        "file_name is 3",
    )
    assert all(text in str(caught.value) for text in faults)


def test_variables_may_have_names_that_the_part_uses_itself(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    (tmp_path / "plain").mkdir()
    plain = odd_ball(tmp_path / "plain", compiled, "TAKES_ALL")
    expected = model_with_fmu(plain, kick_at=0.3).simulate(until=0.9)
    path = with_choices(odd_ball(tmp_path, compiled, "TAKES_ALL"))
    names = {"loud": "items", "push": "inputs", "h": "output", "v": "show", "kick_at": "others"}
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    text = files["modelDescription.xml"].decode()
    for old, new in (names | {"gear": "indicator_0", "bounces": "move_to"}).items():
        text = text.replace(f'name="{old}"', f'name="{new}"')
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, text if name == "modelDescription.xml" else data)
    result = model_with_fmu(path, items=False, inputs=0.0, others=0.3).simulate(until=0.9)
    assert result["fmu.output_"].tobytes() == expected["fmu.h"].tobytes()
    assert result["fmu.move_to_"][-1] == expected["fmu.bounces"][-1] > 0


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"kick": 1.0}, "no parameter 'kick'. Nearest: kick_at"),
        ({"feedthrough": {"h": ["pull"]}}, "'pull' is not one of its inputs: push"),
        ({"feedthrough": {"high": []}}, "'high' is not one of its outputs: h, v"),
        ({"feedthrough": 1}, 'needs "all"'),
        ({"fmu": None}, "needs the path of an FMU"),
    ],
)
def test_wrong_values_are_refused(ball: Path, values: dict[str, Any], fault: str) -> None:
    with pytest.raises(cosim.ModelError, match=fault):
        model_with_fmu(**{"path": ball, **values} if "fmu" not in values else {"path": None})


def test_undeclared_feedthrough_is_an_error_that_says_what_to_declare(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """``echo`` is the input itself, but the FMU declares that it depends on no input."""
    path = odd_ball(tmp_path, compiled)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    text = files["modelDescription.xml"].decode()
    echo = '<ScalarVariable name="echo" valueReference="2" causality="output"><Real/></ScalarVariable>'
    text = text.replace("</ModelVariables>", echo + "</ModelVariables>")
    text = text.replace("</Outputs>", '<Unknown index="10" dependencies=""/></Outputs>')
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, text if name == "modelDescription.xml" else data)
    model = model_with_fmu(path)
    for _ in range(2):  # also in a second run, after one that could not start
        with pytest.raises(cosim.CosimError, match=r'feedthrough = \{ echo = \["push"\] \}'):
            model.simulate(until=0.1)
    declared = model_with_fmu(path, feedthrough={"echo": ["push"]}, push=2.5)
    assert declared.simulate(until=0.1)["fmu.echo"][-1] == 2.5
    looped = model_with_fmu(path, feedthrough={"echo": ["push"]})
    looped.connect("fmu.echo", "fmu.push")
    with pytest.raises(cosim.ModelError, match="algebraic loop: fmu"):
        looped.build()


def test_a_model_file_may_have_an_fmu(ball: Path) -> None:
    file = ball.with_name("model.toml")
    part = 'type = "fmu.model_exchange"\nfmu = "ball.fmu"\nkick_at = 0.25\n'
    file.write_text(f'[model]\nname = "m"\n[components.ball]\n{part}')
    schema = component_schema(cosim.registry().get("component", FMU))
    jsonschema.validate({"fmu": "ball.fmu", "kick_at": 0.25}, schema)
    result = cosim.Model.from_file(file).simulate(until=0.4)
    assert result["ball.v"][-1] == pytest.approx(1.0 - 9.81 * 0.4)

"""Participants from Python files beside a scenario: components, objects, functions, and their errors."""

import copy
import json
import pickle
import sys
from pathlib import Path

import pytest
from scenario_files import LOOP, write_loop

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_master.participants.component_participant import ComponentParticipant

THERMOSTAT = 'type = "controller:Thermostat"'
LAGS = '''\
import cosim


class Lag(cosim.Component):
    """A first-order lag with two scales, and a counter."""

    u = cosim.input()
    scales = cosim.parameter(shape=2, default=(1.0, 2.0))
    x = cosim.auxiliary_state()
    y = cosim.output(shape=2)
    count = cosim.discrete(dtype=int)

    @cosim.kernel
    def law(x, scales, y):
        y[0] = scales[0] * x
        y[1] = scales[1] * x

    @cosim.kernel
    def rate(u, x, x_dot):
        x_dot[0] = u - x

    @cosim.every(0.25, does="discrete")
    def tick(count, count_next):
        count_next[0] = count + 1


def model():
    model = cosim.Model("lags")
    model.add(Lag, "lag", x=1.0)
    return model
'''
TWO_LAGS = """\
[participants.component]
type = "lags:Lag"
parameters = { x = 1.0, scales = [3.0, 4.0] }
[participants.system]
type = "lags:model"
parameters = { "lag.scales" = [3.0, 4.0] }
[participants.drive]
series = { u = [[0.0, 2.0], [0.5, -1.0]] }
[master]
step = 0.1
until = 1.0
"""


def temperatures(gain: float, count: int, step: float) -> list[float]:
    """The loop by hand: the controller acts on the temperature at the start of a step."""
    course = [18.0]
    for i in range(count):
        outside = 5.0 - 10.0 * i * step / 3600.0
        heat = max(0.0, gain * (20.0 - course[-1]))
        course.append(course[-1] + step * (heat - 150.0 * (course[-1] - outside)) / 4e5)
    return course


def test_a_component_and_an_object_take_part(tmp_path: Path) -> None:
    loop = CoSimulation.from_file(write_loop(tmp_path))
    assert list(loop.descriptions["controller"].variables) == ["temperature", "heat", "wanted", "gain"]
    result = loop.simulate()
    assert result.time[-1] == 1200.0
    assert result["room.temperature"].tolist() == pytest.approx(temperatures(200.0, 120, 10.0), rel=1e-12)


def test_the_summary_lists_python_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_loop(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", "loop.toml", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["python_files"] == {"room": str(Path("room.py")), "controller": str(Path("controller.py"))}
    assert main(["cosimulate", "loop.toml"]) == 0
    summary = capsys.readouterr().out
    assert "controller  controller.py  Python code" in summary
    assert "room.py, controller.py (room, controller)" in summary
    assert not list(tmp_path.rglob("__pycache__"))


def test_modules_of_the_search_path_and_of_the_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = write_loop(tmp_path)
    (tmp_path / "controller.py").rename(elsewhere / "controller.py")
    monkeypatch.syspath_prepend(elsewhere)
    with pytest.raises(cosim.ModelError, match=r"loop\.toml:9: .*controller\.py: no such file"):
        CoSimulation.from_file(path)
    (tmp_path / "controller.py").write_text("import room\n", "utf-8")  # another file of the same folder
    with pytest.raises(
        cosim.ModelError, match=r"controller\.py:1: ModuleNotFoundError: No module named 'room'"
    ):
        CoSimulation.from_file(path)
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("table", "code", "message"),
    [
        ('type = "controller:Thermostats"', None, "no class or function 'Thermostats'. Nearest: Thermostat"),
        ('type = "../controller:Thermostat"', None, "needs MODULE:CLASS for a class of MODULE.py"),
        (THERMOSTAT + "\noptions = { gian = 2.0 }", None, "no parameter 'gian'. Nearest: gain"),
        (THERMOSTAT, "def (", r"controller\.py:1: invalid syntax"),
        (THERMOSTAT, "\nraise SystemExit(3)", r"controller\.py:2: SystemExit: 3"),
        (THERMOSTAT, "Thermostat = 3", r"no class or function 'Thermostat'"),
        (THERMOSTAT, "def Thermostat(): return 3", "is a int, needs the path of an FMU, a System"),
        (THERMOSTAT, "def Thermostat(): return 'x.fmu'", "gives a path: write fmu = "),
        (THERMOSTAT, "def Thermostat(): return {}['x']", r"controller\.py:1: KeyError: 'x'"),
        (THERMOSTAT + "\noptions = { a = 1 }", "def Thermostat(): pass", "unexpected keyword argument 'a'"),
    ],
)
def test_errors_name_the_line_of_the_scenario(
    tmp_path: Path, table: str, code: str | None, message: str
) -> None:
    path = write_loop(tmp_path, LOOP.replace(THERMOSTAT, table))
    if code is not None:
        (tmp_path / "controller.py").write_text(code, "utf-8")
    with pytest.raises(cosim.ModelError, match=r"loop\.toml:\d+: participants\.controller.*" + message):
        CoSimulation.from_file(path)


def test_an_edited_file_is_loaded_again(tmp_path: Path) -> None:
    path = write_loop(tmp_path)
    before_edit = CoSimulation.from_file(path).simulate(20.0)
    code = (tmp_path / "controller.py").read_text("utf-8")
    (tmp_path / "controller.py").write_text(code.replace("max(0.0, ", "2.0 * max(0.0, "), "utf-8")
    after_edit = CoSimulation.from_file(path).simulate(20.0)
    assert after_edit["controller.heat"][0] == 2.0 * before_edit["controller.heat"][0] > 0.0


def test_an_object_in_another_process_gives_the_same_bytes(tmp_path: Path) -> None:
    in_this_process = CoSimulation.from_file(write_loop(tmp_path)).simulate(60.0)
    path = write_loop(tmp_path, LOOP.replace('"room:Room"', '"room:Room"\nprocess = true'))
    in_another_process = CoSimulation.from_file(path).simulate(60.0)
    name = "room.temperature"
    assert in_another_process[name].tobytes() == in_this_process[name].tobytes()


def test_python_code_is_neither_written_to_nor_loaded_from_an_ssp(tmp_path: Path) -> None:
    loop = CoSimulation.from_file(write_loop(tmp_path))
    with pytest.raises(cosim.ModelError, match=r"participants\.room.*Python code.*room\.py.*SSP"):
        loop.to_ssp(tmp_path / "loop.ssp")

    folder = tmp_path / "package"
    folder.mkdir()
    write_loop(folder)
    ssd = """<?xml version="1.0"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
  version="1.0" name="x"><ssd:System name="s"><ssd:Elements>
  <ssd:Component name="controller" type="TYPE" source="SOURCE"/>
</ssd:Elements></ssd:System></ssd:SystemStructureDescription>"""
    for kind, source in (
        ("controller:Thermostat", "controller.py"),
        ("application/x-fmu-sharedlibrary", "controller.py"),
        ("application/x-fmu-sharedlibrary", "controller:Thermostat"),
        ("text/x-python", "controller.py"),
    ):
        text = ssd.replace("TYPE", kind).replace("SOURCE", source)
        (folder / "SystemStructure.ssd").write_text(text, "utf-8")
        (folder / "controller.py").write_text("raise SystemError('it was loaded')", "utf-8")
        with pytest.raises(cosim.ModelError) as caught:
            CoSimulation.from_ssp(folder)
        assert "it was loaded" not in str(caught.value)


def test_a_component_gives_the_same_bytes_as_its_model(tmp_path: Path) -> None:
    (tmp_path / "lags.py").write_text(LAGS, "utf-8")
    links = ["drive.u -> component.u", "drive.u -> system.lag.u"]
    (tmp_path / "two.toml").write_text(f"connections = {json.dumps(links)}\n{TWO_LAGS}", "utf-8")
    loop = CoSimulation.from_file(tmp_path / "two.toml")
    result = loop.simulate(record=["component.*", "system.*"], inside="steps")
    for name in ("x", "y[0]", "y[1]", "count"):
        assert result[f"component.{name}"].tobytes() == result[f"system.lag.{name}"].tobytes()
    assert (
        result["component.count"][-1] == 4.0
    )  # at 0, 0.25, 0.5 and 0.75 s; the event at the end is not handled
    assert {event.handler for event in result.events} == {"component.lag.tick", "system.lag.tick"}


def test_a_co_simulation_of_a_file_can_be_pickled_and_copied(tmp_path: Path) -> None:
    loop = CoSimulation.from_file(write_loop(tmp_path), starts={"controller.gain": 250.0})
    loop.set_start("room.temperature", 15.0)
    result = loop.simulate(60.0)
    for copied in (pickle.loads(pickle.dumps(loop)), copy.deepcopy(loop)):
        assert (copied.until, copied.python_files) == (1200.0, loop.python_files)
        assert copied.simulate(60.0)["room.temperature"].tobytes() == result["room.temperature"].tobytes()


def test_wrong_parameters_of_a_component_participant_are_refused() -> None:
    class Gain(cosim.Component):
        """y = gain u"""

        u = cosim.input()
        y = cosim.output()
        gain = cosim.parameter(default=2.0, minimum=0.0)

        @cosim.kernel
        def law(u, gain, y):
            y[0] = gain * u

    with pytest.raises(cosim.CosimError, match="gain"):
        ComponentParticipant(Gain, gain=-1.0)
    assert ComponentParticipant(Gain).describe().feedthrough == {"y": frozenset(["u"])}

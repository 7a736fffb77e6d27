"""Participants of a Python file beside a scenario."""

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


def temperatures(gain: float, count: int, step: float) -> list[float]:
    """The loop by hand: the controller acts on the temperature at the beginning of a step."""
    found = [18.0]
    for i in range(count):
        outside = 5.0 - 10.0 * i * step / 3600.0
        heat = max(0.0, gain * (20.0 - found[-1]))
        found.append(found[-1] + step * (heat - 150.0 * (found[-1] - outside)) / 4e5)
    return found


def test_a_component_and_an_object_take_part(tmp_path: Path) -> None:
    loop = CoSimulation.from_file(write_loop(tmp_path))
    assert list(loop.descriptions["controller"].variables) == ["temperature", "heat", "wanted", "gain"]
    result = loop.simulate()
    assert result.time[-1] == 1200.0
    assert result["room.temperature"].tolist() == pytest.approx(temperatures(200.0, 120, 10.0), rel=1e-12)


def test_the_summary_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_loop(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", "loop.toml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["result"]
    assert told["python_files"] == {"room": str(Path("room.py")), "controller": str(Path("controller.py"))}
    assert main(["cosimulate", "loop.toml"]) == 0
    said = capsys.readouterr().out
    assert "controller  controller.py  Python code" in said
    assert "room.py, controller.py (room, controller)" in said
    assert not list(tmp_path.rglob("__pycache__"))


def test_nothing_is_taken_from_the_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = write_loop(tmp_path)
    (tmp_path / "controller.py").rename(elsewhere / "controller.py")
    monkeypatch.syspath_prepend(elsewhere)
    with pytest.raises(cosim.ModelError, match=r"loop\.toml:9: .*controller\.py: no such file"):
        CoSimulation.from_file(path)
    (tmp_path / "controller.py").write_text("import room\n", "utf-8")  # what lies beside it is not found
    with pytest.raises(
        cosim.ModelError, match=r"controller\.py:1: ModuleNotFoundError: No module named 'room'"
    ):
        CoSimulation.from_file(path)
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("given", "code", "says"),
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
def test_what_is_wrong_has_its_place(tmp_path: Path, given: str, code: str | None, says: str) -> None:
    path = write_loop(tmp_path, LOOP.replace(THERMOSTAT, given))
    if code is not None:
        (tmp_path / "controller.py").write_text(code, "utf-8")
    with pytest.raises(cosim.ModelError, match=r"loop\.toml:\d+: participants\.controller.*" + says):
        CoSimulation.from_file(path)


def test_an_edited_file_counts_at_once(tmp_path: Path) -> None:
    path = write_loop(tmp_path)
    first = CoSimulation.from_file(path).simulate(20.0)
    code = (tmp_path / "controller.py").read_text("utf-8")
    (tmp_path / "controller.py").write_text(code.replace("max(0.0, ", "2.0 * max(0.0, "), "utf-8")
    second = CoSimulation.from_file(path).simulate(20.0)
    assert second["controller.heat"][0] == 2.0 * first["controller.heat"][0] > 0.0


def test_a_process_of_its_own(tmp_path: Path) -> None:
    path = write_loop(tmp_path, LOOP.replace('"room:Room"', '"room:Room"\nprocess = true'))
    alone = CoSimulation.from_file(write_loop(tmp_path)).simulate(60.0)
    path = write_loop(tmp_path, LOOP.replace('"room:Room"', '"room:Room"\nprocess = true'))
    other = CoSimulation.from_file(path).simulate(60.0)
    assert other["room.temperature"].tobytes() == alone["room.temperature"].tobytes()


def test_no_ssp_brings_python_code(tmp_path: Path) -> None:
    """It holds none, and one that names some is refused."""
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


SHAPES = '''\
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
    found = cosim.Model("lags")
    found.add(Lag, "lag", x=1.0)
    return found
'''
TWO = """\
[participants.own]
type = "shapes:Lag"
parameters = { x = 1.0, scales = [3.0, 4.0] }
[participants.system]
type = "shapes:model"
parameters = { "lag.scales" = [3.0, 4.0] }
[participants.drive]
series = { u = [[0.0, 2.0], [0.5, -1.0]] }
[master]
step = 0.1
until = 1.0
"""


def test_a_component_is_the_system_of_it_under_shorter_names(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text(SHAPES, "utf-8")
    links = ["drive.u -> own.u", "drive.u -> system.lag.u"]
    (tmp_path / "two.toml").write_text(f"connections = {json.dumps(links)}\n{TWO}", "utf-8")
    loop = CoSimulation.from_file(tmp_path / "two.toml")
    result = loop.simulate(record=["own.*", "system.*"], inside="steps")
    for name in ("x", "y[0]", "y[1]", "count"):
        assert result[f"own.{name}"].tobytes() == result[f"system.lag.{name}"].tobytes()
    assert result["own.count"][-1] == 4.0  # 0, 0.25, 0.5, 0.75; that at the end is due
    assert {event.handler for event in result.events} == {"own.lag.tick", "system.lag.tick"}


def test_a_co_simulation_of_a_file_goes_to_another_process(tmp_path: Path) -> None:
    loop = CoSimulation.from_file(write_loop(tmp_path), starts={"controller.gain": 250.0})
    loop.set_start("room.temperature", 15.0)
    found = loop.simulate(60.0)
    for other in (pickle.loads(pickle.dumps(loop)), copy.deepcopy(loop)):
        assert (other.until, other.python_files) == (1200.0, loop.python_files)
        assert other.simulate(60.0)["room.temperature"].tobytes() == found["room.temperature"].tobytes()


def test_a_component_says_what_it_cannot_be() -> None:
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

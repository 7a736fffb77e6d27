"""Model Exchange FMUs as parts of models, solved with them as one system."""

import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from fmi1_fmu import make_fmi1
from model3_fmu import make_model3
from part_fmu import make_part
from test_model_exchange import height, make_ball, odd_ball

import cosim
from cosim.testing.other_mode import results_in_other_mode
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmu import CoSimulation, TimedInputs
from cosim_master.participants.instance_participant import InstanceParticipant
from cosim_workbench.component_schema import component_schema

FMU = "fmu.model_exchange"


class Ball(cosim.Component):
    """The ball of the FMU, written as one writes it here."""

    h = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")
    push = cosim.input(unit="m/s2")

    @cosim.kernel
    def derivatives(v, push, h_dot, v_dot):
        h_dot[0] = v
        v_dot[0] = -9.81 + push

    @cosim.witness(direction="falling")
    def floor(h):
        return h

    @cosim.on(floor, does="unrestricted")
    def bounce(v, v_next):
        v_next[0] = -0.7 * v


class Fan(cosim.Component):
    """Pushes upward the more, the lower something is, with a lag."""

    height = cosim.input(unit="1")
    thrust = cosim.auxiliary_state(unit="m/s2")
    push = cosim.output(unit="m/s2")

    @cosim.kernel
    def derivatives(height, thrust, thrust_dot):
        thrust_dot[0] = (4.0 * (1.0 - height) - thrust) / 0.1

    @cosim.kernel
    def blow(thrust, push):
        push[0] = thrust


@pytest.fixture(params=["true", "false"], ids=["silent", "told_of_steps"])
def ball(request: pytest.FixtureRequest, tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    return make_ball(tmp_path, compiled, request.param)


def above_a_fan(part: Any, **values: Any) -> cosim.Model:
    model = cosim.Model("fan")
    model.add(part, "ball", **values)
    model.add(Fan, "fan")
    model.connect("fan.push", "ball.push")
    model.connect("ball.h", "fan.height", factor="1 1/m" if part is Ball else 1.0)
    return model


@pytest.mark.few(1)
def test_a_ball_bounces_and_is_kicked(ball: Path) -> None:
    model = cosim.Model("one")
    model.add(FMU, "ball", fmu=ball)
    result = model.simulate(until=1.5, output_interval=0.05)
    assert result["ball.h"] == pytest.approx([height(t) for t in result.time], abs=1e-7)
    kicked = cosim.Model("kicked")
    kicked.add(FMU, "ball", fmu=ball, kick_at=0.25)
    result = kicked.simulate(until=0.4)
    assert [(e.time, e.cause.name) for e in result.events if e.changed] == [
        (0.0, "INITIALIZATION"),
        (0.25, "SCHEDULED"),
    ]
    assert result["ball.v"][-1] == pytest.approx(1.0 - 9.81 * 0.4)


def test_a_part_goes_to_another_process_as_what_makes_it_again(ball: Path) -> None:
    model = cosim.Model("one")
    part = model.add("fmu.model_exchange", "ball", fmu=ball)
    again = pickle.loads(pickle.dumps(part))
    assert type(again) is type(part) and again.name == "ball"
    assert again.values.given == part.values.given


def test_it_is_solved_with_the_other_parts_as_one_system(ball: Path) -> None:
    found = above_a_fan(FMU, fmu=ball).simulate(until=1.2, accuracy=1e-9, output_interval=0.1)
    own = above_a_fan(Ball).simulate(until=1.2, accuracy=1e-9, output_interval=0.1)
    assert found["ball.h"] == pytest.approx(own["ball.h"], abs=1e-8)
    assert found["fan.thrust"] == pytest.approx(own["fan.thrust"], abs=1e-7)
    assert [e.time for e in found.events if e.cause is cosim.EventCause.TRIGGERED] == pytest.approx(
        [e.time for e in own.events], abs=1e-9
    )


def test_the_fmu_ends_the_run(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    model = cosim.Model("one")
    model.add(FMU, "ball", fmu=odd_ball(tmp_path, compiled), stop_after=2)
    result = model.simulate(until=5.0)
    assert result.time[-1] == pytest.approx(1.083, abs=1e-2)


@pytest.mark.parametrize("host", ["participant", "joint", "part"])
def test_an_indicator_that_is_lost_is_one_error_in_each_host(
    tmp_path: Path, compiled: Callable[..., Path], host: str
) -> None:
    path = odd_ball(tmp_path, compiled, "LOST_AT=0.22")
    run: Any
    if host == "part":
        run = cosim.Simulator(one(path).build(), accuracy=1e-6)
    else:
        run = CoSimulation({"fmu": path}, [], "joint" if host == "joint" else "jacobi", 0.1)
    with pytest.raises(cosim.SimulationError, match=r"fmu: .*event indicator 1 is nan at t = 0\.22"):
        run.advance_to(1.0) if host == "part" else run.simulate(1.0)
    assert (run.state.time if host == "part" else run.result.time[-1]) <= 0.22


def one(path: Path, **values: Any) -> cosim.Model:
    model = cosim.Model("one")
    model.add(FMU, "fmu", fmu=path, **values)
    return model


def test_other_versions_of_fmi(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    third = one(make_model3(tmp_path, compiled, "BALL")).simulate(until=1.5, accuracy=1e-9)
    assert third["fmu.x"][-1] == pytest.approx(height(1.5), abs=1e-6)
    first = one(make_fmi1(tmp_path, compiled, "ModelExchange")).simulate(until=0.4)
    assert first["fmu.x"][-1] == pytest.approx(height(0.4), abs=1e-7)


def test_another_name_of_an_input_is_not_an_input(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """It would be given its own value after that of the connection: FMI 3.0 lists it below the variable."""
    path = make_model3(tmp_path, compiled, "BALL")
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    push = b'<Float64 name="push" valueReference="5" causality="input" start="0"'
    text = files["modelDescription.xml"].replace(push + b"/>", push + b'><Alias name="wind"/></Float64>')
    assert text != files["modelDescription.xml"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**files, "modelDescription.xml": text}.items():
            archive.writestr(name, content)
    model = one(path)
    model.add("signals.step", "gust", start_time=-1.0, height=5.81)
    model.connect("gust.value", "fmu.push")
    result = model.simulate(until=0.5, accuracy=1e-9)
    assert result["fmu.x"][-1] == pytest.approx(1.0 - 0.5 * 4.0 * 0.25, abs=1e-8)
    assert not any("wind" in name for name in model.build().inputs)
    for starts, links in (({"ball.wind": 1.0}, []), ({}, ["drive.u -> ball.wind"])):
        parts = {"ball": path, "drive": TimedInputs({"u": [[0.0, 1.0]]})}
        with pytest.raises(cosim.ModelError, match=r"ball\.wind is a local, (which takes no start|needs an)"):
            CoSimulation(parts, links, "jacobi", 0.1, starts=starts)


def test_booleans_and_integers_pass_at_events(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """From half a second on a switch holds the force, and the mass rolls on."""
    model = cosim.Model("switched")
    model.add(FMU, "part", fmu=make_part(tmp_path, compiled), force=2.0, limit=1.2)
    model.add("signals.step", "switch", start_time="0.5 s")
    model.connect("switch.value", "part.held")
    model.add(Fan, "fan")
    model.connect("part.high", "fan.height")
    result = model.simulate(until=1.0, accuracy=1e-9, output_interval=0.05)
    free = np.minimum(result.time, 0.5)
    x = 1.0 + free**2 + (result.time - free)
    assert result["part.x"] == pytest.approx(x, abs=1e-8)
    assert (result["part.passes"] == (result.time > 0.5))[result.time != 0.5].all()
    assert (result["part.high"] == (x > 1.2))[abs(x - 1.2) > 1e-6].all()
    assert len([e for e in result.events if e.cause is cosim.EventCause.SIGNALED]) == 1
    held = one(make_part(tmp_path, compiled), force=2.0, held=True).simulate(until=1.0)
    assert held["fmu.x"][-1] == 1.0 and held["fmu.passes"][-1] == 1.0


def test_what_is_no_integer_is_refused(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    model = one(make_model3(tmp_path, compiled, "BALL"))
    model.add("signals.step", "lever", start_time="0.1 s", height=2.5)
    model.connect("lever.value", "fmu.gear")
    with pytest.raises(cosim.CosimError, match="2.5, needs a value.*Int32"):
        model.simulate(until=1.5)


def test_integers_of_one_fmu_in_another(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """The stairs say how far the ball bounces: from the first second on a tenth of its speed."""
    model = one(make_model3(tmp_path, compiled, "BALL"))
    model.add(FMU, "stair", fmu=make_model3(tmp_path, compiled, "STAIR"))
    model.connect("stair.count", "fmu.gear")
    result = model.simulate(until=1.9, accuracy=1e-9)
    first = np.sqrt(2.0 / 9.81)
    assert first < 1.0  # no bounce before: the first has no speed, and so it lies there
    assert result["fmu.count"][-1] >= 1.0
    assert result["fmu.x"][-1] == pytest.approx(0.0, abs=1e-6)
    assert result["stair.count"][-1] == 1.0


def test_elements_of_arrays_and_the_other_sign(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    model = one(make_model3(tmp_path, compiled, "BALL", arrays=True))
    model.add("signals.step", "kick", start_time="0.1 s", height=3.0)
    model.add(Fan, "fan")
    model.connect("kick.value", "fmu.kicks_2")
    model.connect("fmu.pair_1", "fan.height")
    result = model.simulate(until=0.3, accuracy=1e-9, output_interval=0.1)
    late = np.maximum(result.time - 0.1, 0.0)
    fallen = 1.0 - 0.5 * 9.81 * result.time**2 + 3.0 * late**2
    assert result["fmu.x"] == pytest.approx(fallen, abs=1e-8)
    assert (result["fmu.pair_1"] == result["fmu.x"]).all()
    assert result["fmu.pair_2"][-1] == 3.0
    first = one(make_fmi1(tmp_path, compiled, "ModelExchange")).simulate(until=0.4)
    assert (first["fmu.minus_x"] == -first["fmu.x"]).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("nominal", [1.0, 1e-9])
def test_events_that_an_fmu_wants_at_the_ends_of_steps(
    tmp_path: Path, compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, nominal: float
) -> None:
    """Compiled code tells it of each step; Python is called where it wants event mode alone."""
    calls: list[str] = []
    call = FmuInstance.call

    def counted(self: FmuInstance, function: str, *arguments: Any, group: str = "") -> int:
        if not function.startswith(("Free", "Terminate")):  # of FMUs of earlier tests, at any time
            calls.append(function)
        return call(self, function, *arguments, group=group)

    monkeypatch.setattr(FmuInstance, "call", counted)
    path = make_model3(tmp_path, compiled, "TURN")
    models = [one(path, x=0.0, nominal=nominal, parameter=nominal) for _ in range(2)]
    found = []
    for model, maximum_step in zip(models, (0.1, 0.001), strict=True):
        calls.clear()
        result = model.simulate(until=3.5, maximum_step=maximum_step)
        wanted = [e for e in result.events if e.changed and e.cause is cosim.EventCause.SIGNALED]
        assert len(wanted) == 3
        assert result["fmu.x"][-1] / nominal == pytest.approx(0.5, abs=1e-9)
        assert "CompletedIntegratorStep" not in calls
        found.append(sorted(calls))
    assert found[0] == found[1]


def test_one_period_of_van_der_pol_by_a_method_for_stiff_systems(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    amplitude, period = 2.00861986087484, 6.66328685932313  # of the limit cycle for mu = 1
    model = one(make_model3(tmp_path, compiled, "VDP"), x=amplitude)
    result = model.simulate(until=period, integrator="integrators.radau5", accuracy=1e-10)
    assert result["fmu.x"][-1] == pytest.approx(amplitude, abs=1e-7)


def test_compiled_and_plain_are_the_same(
    tmp_path: Path, compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BALL", str(odd_ball(tmp_path, compiled)))
    assert results_in_other_mode(AboveAFan, "run") == AboveAFan.run()


class AboveAFan:
    """The run of two processes."""

    @classmethod
    def run(cls) -> list[str]:
        result = above_a_fan(FMU, fmu=os.environ["BALL"]).simulate(until=1.2)
        return [np.concatenate([result["ball.h"], result["fan.thrust"]]).tobytes().hex()]


ENDS = """<TypeDefinitions><SimpleType name="Ends"><Enumeration><Item name="early" value="2"/>
<Item name="late" value="1000000"/></Enumeration></SimpleType></TypeDefinitions><ModelVariables>
<ScalarVariable name="file.name" valueReference="0" causality="parameter" variability="fixed">
<String start="a.txt"/></ScalarVariable>
<ScalarVariable name="loud" valueReference="1" causality="parameter" variability="fixed">
<Boolean start="true"/></ScalarVariable>"""


def with_choices(path: Path) -> Path:
    """That ball, with an enumeration, a text and a truth value among its parameters."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    text = files["modelDescription.xml"].decode().replace("<ModelVariables>", ENDS)
    text = text.replace('<Integer start="1000000"/>', '<Enumeration declaredType="Ends" start="1000000"/>')
    for old, new in ((6, 8), (8, 10), (9, 11), (2, 4), (1, 3)):  # two variables stand before the others
        text = text.replace(f'index="{old}" ', f'index="{new}" ').replace(
            f'index="{old}"/>', f'index="{new}"/>'
        )
        text = text.replace(f'derivative="{old}"/>', f'derivative="{new}"/>')
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, text if name == "modelDescription.xml" else data)
    return path


def test_parameters_that_are_no_real_numbers_are_options(
    tmp_path: Path, compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_choices(odd_ball(tmp_path, compiled, "TAKES_ALL"))
    given: list[dict[str, Any]] = []
    set_start = InstanceParticipant.initialize

    def seen(self: InstanceParticipant, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        given.append(dict(values))
        set_start(self, start, stop, values, tolerance)

    monkeypatch.setattr(InstanceParticipant, "initialize", seen)
    for end in ("early", 2, np.int64(2)):
        model = one(path, stop_after=end, file_name="b.txt", loud=0, push=1.0)
        assert model.simulate(until=5.0).time[-1] < 5.0
        assert given.pop() == {"stop_after": 2, "file.name": "b.txt", "loud": False, "push": 1.0}
    assert one(path, stop_after="late", **{"file.name": "a.txt"}).simulate(until=0.1).time[-1] == 0.1
    assert given == [{"push": 0.0}]  # nothing has changed
    with pytest.raises(cosim.ModelError) as caught:
        one(path, stop_after="soon", loud="yes", file_name=3)
    said = "stop_after is 'soon', needs one of 'early', 'late'", "loud is 'yes', needs bool", "file_name is 3"
    assert all(text in str(caught.value) for text in said)


def test_names_that_the_part_uses_itself(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    (tmp_path / "plain").mkdir()
    plain = odd_ball(tmp_path / "plain", compiled, "TAKES_ALL")
    expected = one(plain, kick_at=0.3).simulate(until=0.9)
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
    result = one(path, items=False, inputs=0.0, others=0.3).simulate(until=0.9)
    assert result["fmu.output_"].tobytes() == expected["fmu.h"].tobytes()
    assert result["fmu.move_to_"][-1] == expected["fmu.bounces"][-1] > 0


@pytest.mark.parametrize("kept", [0, 1])
def test_a_state_of_another_run_is_refused(ball: Path, kept: int) -> None:
    """Between 0.2 and 0.5 s lies an impact; the state behind the one before is none of the last `kept`."""
    system = one(ball, kept_events=kept).build()
    simulators = [cosim.Simulator(system, system.default_state(), accuracy=1e-6) for _ in range(2)]
    for simulator in simulators:
        simulator.advance_to(0.2)
    first, second = simulators
    saved = second.state.to_bytes()
    second.advance_to(0.4)
    second.replace_state(system.state_from_bytes(saved))
    second.advance_to(0.3)
    assert second.state["fmu.h"] == pytest.approx(height(0.3), abs=1e-7)
    with pytest.raises(cosim.SimulationError, match="fmu.*(serves one run|runs for another State)"):
        first.advance_to(0.3)
    second.advance_to(0.5)
    second.replace_state(system.state_from_bytes(saved))
    with pytest.raises(cosim.SimulationError, match="to which the FMU cannot return|runs for another State"):
        second.advance_to(0.3)


def test_a_state_from_before_an_event_is_put_back(ball: Path) -> None:
    system = one(ball, kick_at=0.25).build()
    simulator = cosim.Simulator(system, system.default_state(), accuracy=1e-9)
    simulator.advance_to(0.2)
    early = simulator.state.to_bytes()
    simulator.advance_to(1.5)
    late, height_there = simulator.state.to_bytes(), float(simulator.state["fmu.h"])

    def impacts() -> list[float]:
        return [e.time for e in simulator.events if e.cause is cosim.EventCause.TRIGGERED and e.time <= 1.5]

    first = impacts()
    assert len(first) == 3
    for i in range(2):
        simulator.replace_state(system.state_from_bytes(early))
        simulator.advance_to(1.5)
        assert simulator.state["fmu.h"] == height_there and impacts() == first * (i + 2)
        simulator.replace_state(system.state_from_bytes(late))
        assert simulator.state["fmu.h"] == height_there
        simulator.advance_to(1.7)


def test_two_states_of_one_run_go_on_by_turns(ball: Path) -> None:
    system = one(ball).build()
    simulator = cosim.Simulator(system, system.default_state(), accuracy=1e-9)
    simulator.advance_to(0.3)
    states = {name: simulator.state.to_bytes() for name in ("one", "other")}
    for time in (0.5, 0.7, 0.9):  # behind the impact at 0.45 s each has an FMU of its own
        for name in states:
            simulator.replace_state(system.state_from_bytes(states[name]))
            simulator.advance_to(time)
            assert simulator.state["fmu.h"] == pytest.approx(height(time), abs=1e-6)
            states[name] = simulator.state.to_bytes()


def test_a_state_without_its_fmu_is_refused(ball: Path, tmp_path: Path) -> None:
    """In another process, and after a run that was closed: not zeros in place of the FMU's outputs."""
    system = one(ball).build()
    simulator = cosim.Simulator(system, system.default_state(), accuracy=1e-6)
    simulator.advance_to(0.2)
    saved = simulator.state.to_bytes()
    other = one(ball).build()
    with pytest.raises((cosim.CosimError, ValueError), match="fmu.*(FMU was closed|runs for another State)"):
        cosim.Simulator(other, other.state_from_bytes(saved), accuracy=1e-6).advance_to(0.3)
    with pytest.raises(cosim.ModelError, match="checkpoint.*FMU"):
        one(ball).simulate(until=0.1, checkpoint=cosim.Checkpoint(tmp_path / "saved", 10.0))


def test_who_cannot_go_back_is_named_beforehand(ball: Path, tmp_path: Path) -> None:

    fixed = tmp_path / "fixed.fmu"
    with zipfile.ZipFile(ball) as source, zipfile.ZipFile(fixed, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, data.replace(b'canGetAndSetFMUstate="true"', b""))
    with pytest.raises(cosim.ModelError, match="participants.p.*restore its state"):
        CoSimulation({"p": one(fixed)}, [], "waveform_iteration", 0.1)
    loop = CoSimulation({"p": one(ball)}, [], "waveform_iteration", 0.1)
    with pytest.raises(cosim.ModelError, match="participants.p.*checkpoint"):
        loop.simulate(0.1, checkpoint=cosim.Checkpoint(tmp_path / "saved", 10.0))


def test_a_master_rolls_a_model_with_an_fmu_back(ball: Path) -> None:
    loop = cosim.registry().get("master_algorithm", "fmu.waveform_iteration")

    model = above_a_fan(FMU, fmu=ball)
    coupled = CoSimulation({"fan": model}, [], loop, 0.1)
    found = coupled.simulate(1.2, record=["fan.ball.h"])
    alone = above_a_fan(FMU, fmu=ball).simulate(until=1.2, output_interval=0.1)
    assert found["fan.ball.h"][-1] == pytest.approx(alone["ball.h"][-1], abs=1e-5)


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
def test_wrong_values_are_said(ball: Path, values: dict[str, Any], fault: str) -> None:
    with pytest.raises(cosim.ModelError, match=fault):
        one(**{"path": ball, **values} if "fmu" not in values else {"path": None})


def test_feedthrough_that_is_not_declared_is_found(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """``echo`` is the input itself, and is said to follow none."""
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
    model = one(path)
    for _ in range(2):  # what failed to begin does not stand in the way of the next run
        with pytest.raises(cosim.CosimError, match=r'feedthrough = \{ echo = \["push"\] \}'):
            model.simulate(until=0.1)
    said = one(path, feedthrough={"echo": ["push"]}, push=2.5)
    assert said.simulate(until=0.1)["fmu.echo"][-1] == 2.5
    looped = one(path, feedthrough={"echo": ["push"]})
    looped.connect("fmu.echo", "fmu.push")
    with pytest.raises(cosim.ModelError, match="algebraic loop: fmu"):
        looped.build()


def test_it_is_not_exported(ball: Path, tmp_path: Path) -> None:
    for exporter in ("fmu.fitting", "fmu.native", "fmu.pythonfmu"):
        with pytest.raises(cosim.ModelError, match="exported: it contains.*FMU"):
            one(ball).export_fmu(tmp_path / "again.fmu", exporter=exporter)


def test_a_model_file_has_one(ball: Path) -> None:
    file = ball.with_name("model.toml")
    part = 'type = "fmu.model_exchange"\nfmu = "ball.fmu"\nkick_at = 0.25\n'
    file.write_text(f'[model]\nname = "m"\n[components.ball]\n{part}')
    schema = component_schema(cosim.registry().get("component", FMU))
    jsonschema.validate({"fmu": "ball.fmu", "kick_at": 0.25}, schema)
    result = cosim.Model.from_file(file).simulate(until=0.4)
    assert result["ball.v"][-1] == pytest.approx(1.0 - 9.81 * 0.4)

"""FMUs for Model Exchange as parts of models are solved with the other parts as one system."""

import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bouncing_ball_fmu import height, make_ball, odd_ball
from fmi1_fmu import make_fmi1
from fmu_models import FMU, Ball, Fan, above_a_fan, model_with_fmu
from model3_fmu import make_model3
from part_fmu import make_part

import cosim
from cosim.testing.other_mode import results_in_other_mode
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmu import CoSimulation, TimedInputs


class AboveAFan:
    """A run to compare between compiled code and plain Python."""

    @classmethod
    def texts(cls) -> list[str]:
        """The bytes of the results."""
        result = above_a_fan(FMU, fmu=os.environ["BALL"]).simulate(until=1.2)
        return [np.concatenate([result["ball.h"], result["fan.thrust"]]).tobytes().hex()]


@pytest.fixture(params=["true", "false"], ids=["without_completed_steps", "with_completed_steps"])
def ball(request: pytest.FixtureRequest, tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    """A bouncing ball, which is called at the end of each step or not."""
    return make_ball(tmp_path, compiled, request.param)


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


def test_a_part_can_be_pickled(ball: Path) -> None:
    model = cosim.Model("one")
    part = model.add("fmu.model_exchange", "ball", fmu=ball)
    copy = pickle.loads(pickle.dumps(part))
    assert type(copy) is type(part) and copy.name == "ball"
    assert copy.values.given == part.values.given


def test_a_model_with_an_fmu_agrees_with_one_of_components(ball: Path) -> None:
    result = above_a_fan(FMU, fmu=ball).simulate(until=1.2, accuracy=1e-9, output_interval=0.1)
    expected = above_a_fan(Ball).simulate(until=1.2, accuracy=1e-9, output_interval=0.1)
    assert result["ball.h"] == pytest.approx(expected["ball.h"], abs=1e-8)
    assert result["fan.thrust"] == pytest.approx(expected["fan.thrust"], abs=1e-7)
    assert [e.time for e in result.events if e.cause is cosim.EventCause.TRIGGERED] == pytest.approx(
        [e.time for e in expected.events], abs=1e-9
    )


def test_an_fmu_can_end_the_run(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    model = cosim.Model("one")
    model.add(FMU, "ball", fmu=odd_ball(tmp_path, compiled), stop_after=2)
    result = model.simulate(until=5.0)
    assert result.time[-1] == pytest.approx(1.083, abs=1e-2)  # the time of the second bounce


@pytest.mark.parametrize("host", ["participant", "joint", "part"])
def test_an_event_indicator_that_becomes_nan_is_the_same_error_in_each_host(
    tmp_path: Path, compiled: Callable[..., Path], host: str
) -> None:
    path = odd_ball(tmp_path, compiled, "LOST_AT=0.22")
    run: Any
    if host == "part":
        run = cosim.Simulator(model_with_fmu(path).build(), accuracy=1e-6)
    else:
        run = CoSimulation({"fmu": path}, [], "joint" if host == "joint" else "jacobi", 0.1)
    with pytest.raises(cosim.SimulationError, match=r"fmu: .*event indicator 1 is nan at t = 0\.22"):
        run.advance_to(1.0) if host == "part" else run.simulate(1.0)
    assert (run.state.time if host == "part" else run.result.time[-1]) <= 0.22


def test_fmus_of_fmi_1_and_of_fmi_3_are_parts_too(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    result_of_fmi3 = model_with_fmu(make_model3(tmp_path, compiled, "BALL")).simulate(
        until=1.5, accuracy=1e-9
    )
    assert result_of_fmi3["fmu.x"][-1] == pytest.approx(height(1.5), abs=1e-6)
    result_of_fmi1 = model_with_fmu(make_fmi1(tmp_path, compiled, "ModelExchange")).simulate(until=0.4)
    assert result_of_fmi1["fmu.x"][-1] == pytest.approx(height(0.4), abs=1e-7)


def test_an_alias_of_an_input_is_not_an_input(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """Otherwise its value would be set after that of the connection; FMI 3.0 lists it in the variable."""
    path = make_model3(tmp_path, compiled, "BALL")
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    push = b'<Float64 name="push" valueReference="5" causality="input" start="0"'
    text = files["modelDescription.xml"].replace(push + b"/>", push + b'><Alias name="wind"/></Float64>')
    assert text != files["modelDescription.xml"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**files, "modelDescription.xml": text}.items():
            archive.writestr(name, content)
    model = model_with_fmu(path)
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
    """From 0.5 s on a switch turns the force off, and the mass moves on with a constant speed."""
    model = cosim.Model("switched")
    model.add(FMU, "part", fmu=make_part(tmp_path, compiled), force=2.0, limit=1.2)
    model.add("signals.step", "switch", start_time="0.5 s")
    model.connect("switch.value", "part.held")
    model.add(Fan, "fan")
    model.connect("part.high", "fan.height")
    result = model.simulate(until=1.0, accuracy=1e-9, output_interval=0.05)
    pushed = np.minimum(result.time, 0.5)
    x = 1.0 + pushed**2 + (result.time - pushed)  # an acceleration of 2 m/s2, then a speed of 1 m/s
    assert result["part.x"] == pytest.approx(x, abs=1e-8)
    assert (result["part.passes"] == (result.time > 0.5))[result.time != 0.5].all()
    assert (result["part.high"] == (x > 1.2))[abs(x - 1.2) > 1e-6].all()
    assert len([e for e in result.events if e.cause is cosim.EventCause.SIGNALED]) == 1
    held = model_with_fmu(make_part(tmp_path, compiled), force=2.0, held=True).simulate(until=1.0)
    assert held["fmu.x"][-1] == 1.0 and held["fmu.passes"][-1] == 1.0


def test_a_fraction_for_an_integer_is_refused(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    model = model_with_fmu(make_model3(tmp_path, compiled, "BALL"))
    model.add("signals.step", "lever", start_time="0.1 s", height=2.5)
    model.connect("lever.value", "fmu.gear")
    with pytest.raises(cosim.CosimError, match="2.5, needs a value.*Int32"):
        model.simulate(until=1.5)


def test_integers_of_one_fmu_in_another(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """The count of the stairs is the restitution of the ball in tenths: 0 before 1 s."""
    model = model_with_fmu(make_model3(tmp_path, compiled, "BALL"))
    model.add(FMU, "stair", fmu=make_model3(tmp_path, compiled, "STAIR"))
    model.connect("stair.count", "fmu.gear")
    result = model.simulate(until=1.9, accuracy=1e-9)
    first_bounce = np.sqrt(2.0 / 9.81)
    assert first_bounce < 1.0  # with a restitution of 0, the ball remains on the floor
    assert result["fmu.count"][-1] >= 1.0
    assert result["fmu.x"][-1] == pytest.approx(0.0, abs=1e-6)
    assert result["stair.count"][-1] == 1.0


def test_elements_of_arrays_and_negated_aliases_are_variables(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    model = model_with_fmu(make_model3(tmp_path, compiled, "BALL", arrays=True))
    model.add("signals.step", "kick", start_time="0.1 s", height=3.0)
    model.add(Fan, "fan")
    model.connect("kick.value", "fmu.kicks_2")
    model.connect("fmu.pair_1", "fan.height")
    result = model.simulate(until=0.3, accuracy=1e-9, output_interval=0.1)
    since_kick = np.maximum(result.time - 0.1, 0.0)
    height_of_ball = 1.0 - 0.5 * 9.81 * result.time**2 + 3.0 * since_kick**2
    assert result["fmu.x"] == pytest.approx(height_of_ball, abs=1e-8)
    assert (result["fmu.pair_1"] == result["fmu.x"]).all()
    assert result["fmu.pair_2"][-1] == 3.0
    result_of_fmi1 = model_with_fmu(make_fmi1(tmp_path, compiled, "ModelExchange")).simulate(until=0.4)
    assert (result_of_fmi1["fmu.minus_x"] == -result_of_fmi1["fmu.x"]).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("nominal", [1.0, 1e-9])
def test_events_that_an_fmu_requests_at_ends_of_steps(
    tmp_path: Path, compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, nominal: float
) -> None:
    """Compiled code completes each step; Python is called only if the FMU requests event mode.

    So the calls from Python are the same for 35 and for 3,500 steps.
    """
    calls: list[str] = []
    call = FmuInstance.call

    def counted(self: FmuInstance, function: str, *arguments: Any, group: str = "") -> int:
        if not function.startswith(("Free", "Terminate")):  # FMUs of earlier tests are freed at any time
            calls.append(function)
        return call(self, function, *arguments, group=group)

    monkeypatch.setattr(FmuInstance, "call", counted)
    path = make_model3(tmp_path, compiled, "TURN")
    models = [model_with_fmu(path, x=0.0, nominal=nominal, parameter=nominal) for _ in range(2)]
    calls_of_runs = []
    for model, maximum_step in zip(models, (0.1, 0.001), strict=True):
        calls.clear()
        result = model.simulate(until=3.5, maximum_step=maximum_step)
        requested = [e for e in result.events if e.changed and e.cause is cosim.EventCause.SIGNALED]
        assert len(requested) == 3
        assert result["fmu.x"][-1] / nominal == pytest.approx(0.5, abs=1e-9)
        assert "CompletedIntegratorStep" not in calls
        calls_of_runs.append(sorted(calls))
    assert calls_of_runs[0] == calls_of_runs[1]


def test_a_method_for_stiff_systems_computes_the_limit_cycle_of_van_der_pol(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    amplitude, period = 2.00861986087484, 6.66328685932313  # of the limit cycle for mu = 1
    model = model_with_fmu(make_model3(tmp_path, compiled, "VDP"), x=amplitude)
    result = model.simulate(until=period, integrator="integrators.radau5", accuracy=1e-10)
    assert result["fmu.x"][-1] == pytest.approx(amplitude, abs=1e-7)


def test_compiled_code_and_plain_python_have_the_same_bytes(
    tmp_path: Path, compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BALL", str(odd_ball(tmp_path, compiled)))
    assert results_in_other_mode(AboveAFan, "texts") == AboveAFan.texts()


def test_a_model_with_an_fmu_is_not_exported(ball: Path, tmp_path: Path) -> None:
    for exporter in ("fmu.fitting", "fmu.native", "fmu.pythonfmu"):
        with pytest.raises(cosim.ModelError, match="exported: it contains.*FMU"):
            model_with_fmu(ball).export_fmu(tmp_path / "again.fmu", exporter=exporter)

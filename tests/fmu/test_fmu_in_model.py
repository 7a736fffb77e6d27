"""Model Exchange FMUs as parts of models, solved with them as one system."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from fmi1_fmu import make_fmi1
from model3_fmu import make_model3
from test_model_exchange import height, make_ball, odd_ball

import cosim
from cosim.kit import component_schema
from cosim.testing.other_mode import results_in_other_mode

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


def one(path: Path, **values: Any) -> cosim.Model:
    model = cosim.Model("one")
    model.add(FMU, "fmu", fmu=path, **values)
    return model


def test_other_versions_of_fmi(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    third = one(make_model3(tmp_path, compiled, "BALL")).simulate(until=1.5, accuracy=1e-9)
    assert third["fmu.x"][-1] == pytest.approx(height(1.5), abs=1e-6)
    first = one(make_fmi1(tmp_path, compiled, "ModelExchange")).simulate(until=0.4)
    assert first["fmu.x"][-1] == pytest.approx(height(0.4), abs=1e-7)


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


def test_a_state_of_another_run_is_refused(ball: Path) -> None:
    system = one(ball).build()
    simulators = [cosim.Simulator(system, system.default_state(), accuracy=1e-6) for _ in range(2)]
    for simulator in simulators:
        simulator.advance_to(0.2)
    first, second = simulators
    kept = second.state.to_bytes()
    second.advance_to(0.4)
    second.replace_state(system.state_from_bytes(kept))
    second.advance_to(0.3)
    assert second.state["fmu.h"] == pytest.approx(height(0.3), abs=1e-7)
    with pytest.raises(cosim.SimulationError, match="fmu.*(serves one run|runs for another State)"):
        first.advance_to(0.3)
    second.advance_to(0.5)
    second.replace_state(system.state_from_bytes(kept))
    with pytest.raises(cosim.SimulationError, match="does not go back over events|runs for another State"):
        second.advance_to(0.3)


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
    said.connect("fmu.echo", "fmu.push")
    with pytest.raises(cosim.ModelError, match="algebraic loop: fmu"):
        said.build()


def test_it_is_not_exported(ball: Path, tmp_path: Path) -> None:
    for exporter in ("fmu.fitting", "fmu.native", "fmu.pythonfmu"):
        with pytest.raises(cosim.ModelError, match="fmu: this part cannot be exported: it is an FMU itself"):
            one(ball).export_fmu(tmp_path / "again.fmu", exporter=exporter)


def test_a_model_file_has_one(ball: Path) -> None:
    file = ball.with_name("model.toml")
    part = 'type = "fmu.model_exchange"\nfmu = "ball.fmu"\nkick_at = 0.25\n'
    file.write_text(f'[model]\nname = "m"\n[components.ball]\n{part}')
    schema = component_schema(cosim.registry().get("component", FMU))
    jsonschema.validate({"fmu": "ball.fmu", "kick_at": 0.25}, schema)
    result = cosim.Model.from_file(file).simulate(until=0.4)
    assert result["ball.v"][-1] == pytest.approx(1.0 - 9.81 * 0.4)

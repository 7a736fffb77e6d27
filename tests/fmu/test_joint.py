"""The algorithm "joint": Model Exchange FMUs of a co-simulation as one system."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from part_fmu import make_part
from scipy.linalg import expm
from test_model_exchange import G, make_ball

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmu import CoSimulation
from cosim_master.algorithms.joint import Joint
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

EXACT = {"integrator": "integrators.dormand_prince_853", "accuracy": 1e-11}
FORCE = ("wheel.x -> body.road", "wheel.v -> body.road_rate", "body.reaction -> wheel.force")
LOOP = ("p.y -> q.u", "q.y -> p.u")


@pytest.fixture
def part(tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    return make_part(tmp_path, compiled)


def joint(
    participants: Mapping[str, Any],
    connections: Sequence[str],
    starts: Mapping[str, Any] | None = None,
    **more: Any,
) -> CoSimulation:
    options = {"accuracy": 1e-8, **more.pop("options", {})}
    return CoSimulation(
        participants,
        connections,
        "joint",
        more.pop("step", 0.1),
        options=options,
        starts=starts or {},
        **more,
    )


class Spring(cosim.Participant):
    """A force between two positions, in Python."""

    def __init__(self, stiffness: float) -> None:
        self.stiffness, self.values = stiffness, {"one": 0.0, "other": 0.0}

    def describe(self) -> ParticipantDescription:
        ports = {
            "one": ("input", "m"),
            "other": ("input", "m"),
            "pull": ("output", "N"),
            "back": ("output", "N"),
        }
        return ParticipantDescription(
            "Python object",
            {name: ParticipantVariable(name, kind, unit=unit) for name, (kind, unit) in ports.items()},
            feedthrough={name: frozenset({"one", "other"}) for name in ("pull", "back")},
            can_restore=True,
            can_serialize=True,
        )

    def initialize(self, start: float, stop: Any, values: Mapping[str, Any], tolerance: Any = None) -> None:
        self.values = {"one": 0.0, "other": 0.0, **values}

    def set(self, names: Sequence[str], values: Any) -> None:
        self.values.update(zip(names, map(float, values), strict=True))

    def get(self, names: Sequence[str]) -> list[Any]:
        force = self.stiffness * (self.values["other"] - self.values["one"])
        return [{**self.values, "pull": force, "back": -force}[name] for name in names]

    def step(self, time: float, size: float) -> float:
        return time + size

    def save(self) -> dict[str, float]:
        return dict(self.values)

    def restore(self, token: Mapping[str, float]) -> None:
        self.values = dict(token)

    def serialize(self, token: Any) -> bytes:
        return json.dumps(token).encode()

    def deserialize(self, data: bytes) -> Any:
        return json.loads(data)

    def close(self) -> None:
        pass


def test_a_quarter_car_cut_in_two_is_the_whole_one(part: Path) -> None:
    tyre, spring, damper, wheel, body = 1.6e3, 160.0, 10.0, 4.0, 30.0
    starts = {
        "wheel.k": tyre,
        "wheel.m": wheel,
        "wheel.x": 0.05,
        "body.k": spring,
        "body.c": damper,
        "body.m": body,
    }
    matrix = np.array(
        [
            [0.0, 1.0, 0.0, 0.0],
            [-(tyre + spring) / wheel, -damper / wheel, spring / wheel, damper / wheel],
            [0.0, 0.0, 0.0, 1.0],
            [spring / body, damper / body, -spring / body, -damper / body],
        ]
    )
    loop = joint({"body": part, "wheel": part}, FORCE, starts, options=EXACT, step=0.25)
    result = loop.simulate(0.5)
    x = expm(matrix * 0.5) @ [0.05, 0.0, 1.0, 0.0]
    assert [result["wheel.x"][-1], result["wheel.v"][-1]] == pytest.approx(x[:2], abs=1e-10)
    assert [result["body.x"][-1], result["body.v"][-1]] == pytest.approx(x[2:], abs=1e-10)
    assert result["wheel.force"].tolist() == result["body.reaction"].tolist()
    assert result["body.road"].tolist() == result["wheel.x"].tolist()
    assert result.coupling.verdict == "fine" and result.coupling.how == "all is solved jointly"


def test_what_fmus_do_not_declare_is_found_out(
    part: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """Evaluated in the order of the description the force would be one evaluation late."""
    shy = make_part(tmp_path, compiled, "shy", reaction="", y="")
    starts = {"wheel.k": 20.0, "body.k": 3.0, "body.c": 0.3}
    found = [
        joint({"body": file, "wheel": file}, FORCE, starts).simulate(1.0)["wheel.x"] for file in (part, shy)
    ]
    assert found[0].tolist() == found[1].tolist()


def test_a_loop_of_feedthrough_is_solved(part: Path) -> None:
    starts = {"p.gain": 0.5, "p.bias": 1.0, "q.gain": -3.0, "q.bias": 2.0}
    result = joint({"p": part, "q": part}, LOOP, starts).simulate(0.2)
    assert result["p.y"] == pytest.approx(2.0 / 2.5, rel=1e-12)
    assert result["q.u"] == pytest.approx(result["p.y"], rel=1e-13)
    curved = {"p.square": 1.0, "p.bias": -0.5, "q.gain": 1.0}
    result = joint({"p": part, "q": part}, LOOP, curved).simulate(0.2)
    assert result["p.y"] == pytest.approx((1.0 - np.sqrt(3.0)) / 2.0, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e6])
def test_a_loop_is_solved_to_the_last_digits_in_any_unit(part: Path, unit: float) -> None:
    """y = y^2 / unit - unit / 2, from far away and while the other terms move on."""
    curved = {"p.square": 1.0 / unit, "p.bias": -0.5 * unit, "q.gain": 1.0}
    result = joint({"p": part, "q": part}, LOOP, curved).simulate(0.2)
    assert result["p.y"] / unit == pytest.approx((1.0 - np.sqrt(3.0)) / 2.0, rel=1e-12)


def test_a_loop_at_rest_is_no_fault(part: Path) -> None:
    """All values are 0, or what rounding leaves of 0.1 + 0.2 - 0.3."""
    for bias in (0.0, 0.1 + 0.2 - 0.3):
        starts = {"p.gain": 0.5, "p.bias": bias, "q.gain": -3.0}
        result = joint({"p": part, "q": part}, LOOP, starts).simulate(0.2)
        assert result["p.y"] == pytest.approx(bias / 2.5, rel=1e-12)


def test_python_calls_nothing_between_communication_points(
    part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many more evaluations, not one call of the binding more."""
    calls: list[str] = []
    call = FmuInstance.call

    def counted(self: FmuInstance, function: str, *arguments: Any, group: str = "") -> int:
        if not function.startswith("Free"):  # states of other tests are freed when garbage is collected
            calls.append(function)
        return call(self, function, *arguments, group=group)

    monkeypatch.setattr(FmuInstance, "call", counted)
    starts = {"wheel.k": 20.0, "body.k": 3.0, "body.c": 0.3, "wheel.gain": 0.5, "body.gain": 0.5}
    both = (*FORCE, "wheel.y -> body.u", "body.y -> wheel.u")
    found = []
    for accuracy in (1e-3, 1e-6):
        calls.clear()
        loop = joint({"body": part, "wheel": part}, both, starts, options={"accuracy": accuracy}, step=0.5)
        loop.simulate(1.0)
        found.append(sorted(calls))
    assert found[0] == found[1] and "SetTime" not in found[0]


def test_whole_numbers_drive_continuous_inputs(part: Path) -> None:
    """Read in the type that they have at each evaluation; the road rises by 1 at the event."""
    starts = {"p.x": 0.0, "p.v": 1.0, "p.limit": 0.15, "q.k": 1.0, "q.x": 0.0}
    lines = ["p.high -> r.held", "r.passes -> q.road"]
    result = joint({"p": part, "q": part, "r": part}, lines, starts, options=EXACT).simulate(1.15)
    t = np.maximum(result.time - 0.15, 0.0)
    assert result["q.x"] == pytest.approx(1.0 - np.cos(t), abs=1e-9)
    assert result["q.road"][-1] == 1.0


@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
@pytest.mark.parametrize("algorithm", ["joint", "waveform_iteration"])
def test_a_second_run_shows_the_error_of_the_integration(part: Path, algorithm: str, accuracy: float) -> None:
    """Half the communication step alone would not: the integrator takes the same steps inside."""
    starts = {"p.k": 40.0, "q.k": 9.0, "q.x": 0.0, "q.v": 1.0}
    integrated = {"integrator": "integrators.bogacki_shampine", "accuracy": accuracy}
    settings = integrated if algorithm == "joint" else {}
    alone = ModelExchangeParticipant(part, **integrated), ModelExchangeParticipant(part, **integrated)
    members = (part, part) if algorithm == "joint" else alone
    loop = CoSimulation(
        dict(zip("pq", members, strict=True)), (), algorithm, 2.0, options=settings, starts=starts
    )
    result = loop.simulate(6.0)
    report = loop.verify(result)
    for name, exact in (("p.x", np.cos(40.0**0.5 * result.time)), ("q.x", np.sin(3.0 * result.time) / 3.0)):
        error = np.abs(result[name] - exact).max()
        assert error < report[name].error < 20.0 * error


@pytest.mark.parametrize(
    "starts", [{"p.gain": 1.0, "p.bias": 1.0, "q.gain": 1.0}, {"p.square": 1.0, "p.bias": 0.5, "q.gain": 1.0}]
)
def test_a_loop_without_a_solution_is_named(part: Path, starts: Mapping[str, float]) -> None:
    with pytest.raises(cosim.SimulationError, match="p.y → q.u → q.y → p.u → p.y.*converge"):
        joint({"p": part, "q": part}, LOOP, starts).simulate(0.2)


def test_a_loop_that_loses_its_solution_ends_the_run_there(part: Path) -> None:
    """u = x - u^2 with x = 0.2 + 0.1 t from -u^2 + u - x = 0: until x = 1/4."""
    starts = {"p.square": -1.0, "q.k": 1.0, "q.m": 1e300, "q.x": 0.2, "q.v": 0.1}
    loop = joint({"p": part, "q": part}, ["q.reaction -> p.u", "p.y -> q.road"], starts)
    with pytest.raises(cosim.SimulationError, match=r"\+ q, solved jointly.*= 0.5.*the"):
        loop.simulate(1.0)
    result = loop.result
    assert result is not None and 0.3 < result.time[-1] < 0.51
    x = result["q.x"][:-2]
    assert result["p.u"][:-2] == pytest.approx((1.0 - np.sqrt(1.0 - 4.0 * x)) / 2.0, abs=1e-9)


def test_a_truth_value_reaches_the_other_at_the_same_instant(part: Path) -> None:
    """p swings; above 0.3 its weight does not count for q, which has no spring."""
    starts = {"p.k": 4.0, "p.limit": 0.3, "q.force": 2.0, "q.x": 0.0, "p.x": 1.0}
    loop = joint({"p": part, "q": part}, ["p.high -> q.held"], starts, options={"accuracy": 1e-10}, step=0.5)
    result = loop.simulate(3.0)
    first, second = np.arccos(0.3) / 2.0, np.pi - np.arccos(0.3) / 2.0
    events = [(e.time, e.handler) for e in result.events]
    assert [name for _, name in events] == ["p.fmu.state_event_0"] * 2
    assert [time for time, _ in events] == pytest.approx([first, second], abs=1e-8)
    pushed = second - first
    assert result["q.v"][-1] == pytest.approx(2.0 * pushed, abs=1e-8)
    assert result["q.x"][-1] == pytest.approx(pushed**2 + 2.0 * pushed * (3.0 - second), abs=1e-7)
    assert result["q.passes"][-1] == 3  # at the start, and at each crossing
    both = np.flatnonzero(np.diff(result.time) == 0.0)
    assert [bool(result["p.high"][i]) for i in (both[0], both[0] + 1)] == [True, False]
    assert [bool(result["q.held"][i]) for i in (both[0], both[0] + 1)] == [True, False]


def test_the_impact_of_a_ball_is_located_beside_a_swinging_mass(
    part: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """A fan that follows a mass lifts the ball: x = cos t, h'' = -g + cos t."""
    ball = make_ball(tmp_path, compiled, "true")
    loop = joint(
        {"ball": ball, "mass": part},
        [{"from": "mass.x", "to": "ball.push", "convert": False}],
        {"mass.k": 1.0, "ball.kick_at": 0.2},
        options={"accuracy": 1e-11},
        step=0.15,
    )
    result = loop.simulate(0.6)

    def height(t: float) -> float:
        return 2.0 - G * t**2 / 2.0 - np.cos(t) + max(0.0, t - 0.2)

    assert [(e.cause.name, e.handler) for e in result.events] == [
        ("SCHEDULED", "ball.fmu.time_event"),
        ("TRIGGERED", "ball.fmu.state_event_0"),
    ]
    assert result.events[0].time == 0.2 and abs(height(result.events[1].time)) < 1e-8
    before = result.time < result.events[1].time
    assert result["ball.h"][before] == pytest.approx([height(t) for t in result.time[before]], abs=1e-8)


@pytest.mark.parametrize(
    ("others", "order"),
    [("jacobi", 1), ("gauss_seidel", 1), pytest.param("interface_newton", 2, marks=pytest.mark.thorough)],
)
def test_other_participants_are_coupled_as_ever(part: Path, others: str, order: int) -> None:
    """p - q stiffly in the system, a spring in Python between q and r."""
    starts = {"p.k": 1.0, "q.k": 50.0, "q.c": 0.5, "q.x": 0.2, "r.k": 2.0, "r.x": -0.5}
    connections = [
        *("p.x -> q.road", "p.v -> q.road_rate", "q.reaction -> p.force", "q.x -> s.one", "r.x -> s.other"),
        *("s.pull -> q.force", "s.back -> r.force"),
    ]
    matrix = np.zeros((6, 6))
    matrix[0, 1] = matrix[2, 3] = matrix[4, 5] = 1.0
    matrix[1] = [-51.0, -0.5, 50.0, 0.5, 0.0, 0.0]
    matrix[3] = [50.0, 0.5, -55.0, -0.5, 5.0, 0.0]
    matrix[5] = [0.0, 0.0, 5.0, 0.0, -7.0, 0.0]
    exact = expm(matrix * 0.2) @ [1.0, 0.0, 0.2, 0.0, -0.5, 0.0]
    errors = []
    for step in (0.04, 0.02):
        participants = {"p": part, "r": part, "s": Spring(5.0), "q": part}
        loop = joint(participants, connections, starts, step=step, options={"others": others})
        result = loop.simulate(0.2)
        errors.append(abs(result["r.x"][-1] - exact[4]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)
    assert [n for n in loop.explain().splitlines() if "one system" in n] == [
        "p + r + q: one system, solved by integrators.runge_kutta_merson, accuracy 1e-08"
    ]


def mixed(part: Path, **options: Any) -> CoSimulation:
    starts = {
        "p.k": 3.0,
        "p.limit": 0.9,
        "p.gain": 0.5,
        "p.bias": 1.0,
        "q.k": 20.0,
        "q.gain": -0.7,
        "q.square": 0.1,
    }
    connections = [
        *("p.x -> q.road", "p.v -> q.road_rate", "q.reaction -> p.force", "p.high -> q.held", *LOOP),
        *("q.x -> s.one", "s.pull -> q.force"),
    ]
    return joint({"p": part, "s": Spring(5.0), "q": part}, connections, starts, step=0.1, options=options)


@pytest.mark.parametrize(
    "others", ["gauss_seidel", pytest.param("waveform_iteration", marks=pytest.mark.thorough)]
)
def test_a_run_that_was_saved_goes_on_to_the_same_bytes(part: Path, others: str) -> None:
    whole, saved = mixed(part, others=others), []

    def save(time: float, values: Mapping[str, float]) -> None:
        if not saved and time > 0.25:
            saved.append(whole.save())

    expected = whole.simulate(0.6, observe=save)
    later = mixed(part, others=others)
    assert later.restore(saved[0]) == pytest.approx(0.3)
    found = later.simulate(0.6)
    assert found.time.tobytes() == expected.time.tobytes()
    assert [n for n in found.names if found[n].tobytes() != expected[n].tobytes()] == []
    assert [e.time for e in found.events] == [e.time for e in expected.events] and len(found.events) > 0


def test_who_cannot_be_saved_is_named_beforehand(
    part: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    fixed = make_part(tmp_path, compiled, "fixed", abilities="")
    loop = joint({"p": part, "q": fixed}, ["p.x -> q.road"])
    with pytest.raises(cosim.ModelError, match=r"participants\.q.*checkpoint"):
        loop.simulate(1.0, checkpoint=cosim.Checkpoint(tmp_path / "run.checkpoint", 1.0))
    with pytest.raises(
        cosim.ModelError, match=r"^participants\.q: .* which WaveformIteration needs"
    ) as refused:
        joint({"p": part, "q": fixed}, [], options={"others": "waveform_iteration"})
    assert "joint" not in str(refused.value)


def test_an_fmu_that_fails_is_named_and_results_are_kept(part: Path) -> None:
    loop = joint({"p": part, "q": part}, ["p.x -> q.road"], {"q.fail_at": 0.55})
    with pytest.raises(cosim.SimulationError, match="= 0.5.*fmi2GetDerivatives.*bearing.*seized"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == 0.5


def test_an_fmu_that_wants_to_stop_is_named(part: Path) -> None:
    result = joint({"p": part, "q": part}, ["p.x -> q.road"], {"q.stop_at": 0.55}).simulate(1.0)
    assert result.message.startswith("q asked to stop at 0.55 s") and result.time[-1] == pytest.approx(0.6)


def test_steps_of_the_integrator_are_recorded_for_all(part: Path) -> None:
    result = joint({"p": part, "q": part}, ["p.x -> q.road"], {"p.k": 1.0}, step=1.0).simulate(
        2.0, inside="steps"
    )
    assert len(result.time) > 8
    assert result["p.x"] == pytest.approx(np.cos(result.time), abs=1e-7)
    assert result["q.road"].tolist() == result["p.x"].tolist()


def test_an_ssp_keeps_what_is_inside(part: Path, tmp_path: Path) -> None:
    starts = {"wheel.k": 20.0, "body.k": 3.0, "body.x": 0.5}
    loop = joint({"body": part, "wheel": part}, FORCE, starts)
    loop.to_ssp(tmp_path / "car.ssp", until=0.5)
    again = CoSimulation.from_ssp(tmp_path / "car.ssp")
    assert again.joint is not None and sorted(map(str, again.joint.links)) == sorted(map(str, loop.all_links))
    assert again.simulate()["wheel.x"][-1] == loop.simulate(0.5)["wheel.x"][-1]
    apart = CoSimulation.from_ssp(tmp_path / "car.ssp", algorithm="jacobi", step=0.01)
    assert apart.joint is None and len(apart.links) == 3


def test_runs_that_follow_each_other_are_the_same(part: Path) -> None:
    """Also behind one that failed, and with instances that are reset."""
    loop = joint({"body": part, "wheel": part}, FORCE, {"body.k": 3.0})
    first = loop.simulate(0.3)["wheel.x"].tolist()
    starts = loop.start_values
    loop.set_start("body.fail_at", 0.2)
    with pytest.raises(cosim.SimulationError, match="bearing has seized"):
        loop.simulate(0.3)
    loop.replace_starts(starts)
    assert loop.simulate(0.3)["wheel.x"].tolist() == first
    loop.reuse_instances()
    assert [loop.simulate(0.3)["wheel.x"].tolist() for _ in range(2)] == [first] * 2
    loop.reuse_instances(False)


def test_bonds_inside_create_no_energy(part: Path) -> None:
    bonds = [["wheel.v", "body.reaction"]]
    loop = joint({"body": part, "wheel": part}, FORCE, {"body.k": 1.0}, bonds=bonds)
    assert loop.bonds == () and loop.simulate(0.2).coupling.energy == {}


def test_members_and_their_options(part: Path) -> None:
    model = cosim.Model("own")
    participants = {"p": part, "q": part, "s": Spring(1.0), "own": model}
    loop = joint(participants, [], options={"members": ["q"]})
    assert loop.joint is not None and loop.joint.names == ["q"]
    assert joint(participants, []).joint.names == ["p", "q"]  # type: ignore[union-attr]
    from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

    own = {name: ModelExchangeParticipant(part, name, "integrators.bdf", 1e-9) for name in "pq"}
    loop = CoSimulation(own, [], "joint", 0.1)
    assert loop.joint is not None and (loop.joint.integrator, loop.joint._accuracy) == (
        "integrators.bdf",
        1e-9,
    )
    own["q"] = ModelExchangeParticipant(part, "q", "integrators.runge_kutta_4", fixed_step=0.01)
    with pytest.raises(cosim.ModelError, match="name different integrators"):
        CoSimulation(own, [], "joint", 0.1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"accuracy": -1.0}, r"master\.options\.accuracy: is -1\.0, needs a number above 0"),
        ({"integrator": "integrators.bd"}, r"master\.options\.integrator: no integrator 'integrators.bd'"),
        ({"integrator_options": {"step": 1}}, r"master\.options\.integrator_options: no option 'step'"),
        ({"others": "joint"}, r"master\.options\.others: is 'joint', needs another algorithm"),
        ({"others_options": {"x": 1}}, r"master\.options\.others_options: no option of GaussSeidel 'x'"),
        ({"members": "p"}, r"master\.options\.members: is 'p', needs names of participants"),
        ({"members": ["p", "r"]}, r"master\.options\.members: no participant 'r'"),
        ({"members": ["s"]}, r"participants\.s: is not an FMU that offers Model Exchange"),
    ],
)
def test_wrong_options_are_named(part: Path, options: Mapping[str, Any], text: str) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        joint({"p": part, "s": Spring(1.0)}, [], options=options)


def test_what_cannot_be_joint_is_refused(part: Path, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    with pytest.raises(cosim.ModelError, match=r"^master\.algorithm: .* there are none: take gauss_seidel"):
        joint({"s": Spring(1.0)}, [])
    with pytest.raises(cosim.ModelError, match=r"participants\.q\.step.*solved jointly"):
        joint({"p": part, "q": part}, [], steps={"q": 0.2})
    once = make_part(tmp_path, compiled, "once", abilities='canBeInstantiatedOnlyOncePerProcess="true"')
    with pytest.raises(cosim.ModelError, match=r"participants\.q.*same FMU"):
        joint({"p": once, "q": once}, [])


@pytest.mark.thorough
def test_a_scenario_says_it(
    part: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cosim.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "car.toml").write_text(
        f"""
        connections = {json.dumps(FORCE)}
        [participants.wheel]
        fmu = "{os.path.basename(part)}"
        parameters = {{ k = "20 N/m" }}
        [participants.body]
        fmu = "{os.path.basename(part)}"
        log = "body.log"
        log_level = "all"
        [master]
        algorithm = "joint"
        options = {{ integrator = "integrators.dormand_prince_853", accuracy = 1e-9 }}
        step = "10 ms"
        until = 0.1
        """
    )
    assert main(["cosimulate", "car.toml"]) == 0
    told = capsys.readouterr().out
    assert "order  wheel + body" in told and (tmp_path / "body.log").exists()
    assert main(["cosimulate", "car.toml", "--explain"]) == 0
    told = capsys.readouterr().out
    assert "solved by integrators.dormand_prince_853, accuracy 1e-09" in told
    assert "  wheel.x → body.road: at every instant" in told


def test_it_takes_over_what_its_algorithm_for_the_others_is() -> None:
    plain, tight = Joint(), Joint(others="adaptive", others_options={"tolerance": 1e-4}, accuracy=1e-9)
    assert plain.fixed_sequence and plain.tightened() is None and plain.order == 1
    tighter = tight.tightened()
    assert isinstance(tighter, Joint) and tighter.accuracy == 1e-9
    assert tight.varies_step and not plain.varies_step


def test_a_simulator_whose_fmus_are_gone_calls_them_no_more(part: Path) -> None:
    loop = joint({"p": part, "q": part}, ["p.reaction -> q.force"], {"p.k": 1.0})
    kept: list[cosim.Simulator] = []

    def look(time: float, values: Any) -> None:
        member: Any = loop.participants["p"]
        kept.append(member.simulator)

    loop.simulate(0.3, observe=look)
    with pytest.raises(cosim.SimulationError):
        kept[0].advance_to(5.0)

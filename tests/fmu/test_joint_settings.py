"""Options, members, files and saved runs of the algorithm `joint`."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from joint_systems import FORCE, Spring, joint, mixed
from part_fmu import make_part

import cosim
from cosim_fmu import CoSimulation
from cosim_master.algorithms.joint import Joint
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant


@pytest.fixture
def part(tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    return make_part(tmp_path, compiled)


@pytest.mark.parametrize(
    "others", ["gauss_seidel", pytest.param("waveform_iteration", marks=pytest.mark.thorough)]
)
def test_a_resumed_run_has_the_same_bytes(part: Path, others: str) -> None:
    loop, saved = mixed(part, others=others), []

    def save(time: float, values: Mapping[str, float]) -> None:
        if not saved and time > 0.25:
            saved.append(loop.save())

    expected = loop.simulate(0.6, observe=save)
    resumed_loop = mixed(part, others=others)
    assert resumed_loop.restore(saved[0]) == pytest.approx(0.3)
    resumed = resumed_loop.simulate(0.6)
    assert resumed.time.tobytes() == expected.time.tobytes()
    assert [n for n in resumed.names if resumed[n].tobytes() != expected[n].tobytes()] == []
    assert [e.time for e in resumed.events] == [e.time for e in expected.events] and len(resumed.events) > 0


def test_an_fmu_without_saved_states_is_named_before_the_run(
    part: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    without_states = make_part(tmp_path, compiled, "fixed", abilities="")
    loop = joint({"p": part, "q": without_states}, ["p.x -> q.road"])
    with pytest.raises(cosim.ModelError, match=r"participants\.q.*checkpoint"):
        loop.simulate(1.0, checkpoint=cosim.Checkpoint(tmp_path / "run.checkpoint", 1.0))
    with pytest.raises(
        cosim.ModelError, match=r"^participants\.q: .* which WaveformIteration needs"
    ) as caught:
        joint({"p": part, "q": without_states}, [], options={"others": "waveform_iteration"})
    assert "joint" not in str(caught.value)  # the reason is the algorithm for the others


def test_an_ssp_has_the_connections_inside_the_system(part: Path, tmp_path: Path) -> None:
    starts = {"wheel.k": 20.0, "body.k": 3.0, "body.x": 0.5}
    loop = joint({"body": part, "wheel": part}, FORCE, starts)
    loop.to_ssp(tmp_path / "car.ssp", until=0.5)
    read = CoSimulation.from_ssp(tmp_path / "car.ssp")
    assert read.joint is not None and sorted(map(str, read.joint.links)) == sorted(map(str, loop.all_links))
    assert read.simulate()["wheel.x"][-1] == loop.simulate(0.5)["wheel.x"][-1]
    coupled = CoSimulation.from_ssp(tmp_path / "car.ssp", algorithm="jacobi", step=0.01)
    assert coupled.joint is None and len(coupled.links) == 3


def test_members_are_all_fmus_for_model_exchange_or_those_of_the_option(part: Path) -> None:
    participants = {"p": part, "q": part, "s": Spring(1.0), "model": cosim.Model("model")}
    assert joint(participants, []).joint.names == ["p", "q"]  # type: ignore[union-attr]
    loop = joint(participants, [], options={"members": ["q"]})
    assert loop.joint is not None and loop.joint.names == ["q"]


def test_the_integrator_is_that_of_the_members(part: Path) -> None:
    members = {name: ModelExchangeParticipant(part, name, "integrators.bdf", 1e-9) for name in "pq"}
    system = CoSimulation(members, [], "joint", 0.1).joint
    assert system is not None and (system.integrator, system._accuracy) == ("integrators.bdf", 1e-9)
    members["q"] = ModelExchangeParticipant(part, "q", "integrators.runge_kutta_4", fixed_step=0.01)
    with pytest.raises(cosim.ModelError, match="name different integrators"):
        CoSimulation(members, [], "joint", 0.1)


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
def test_wrong_options_are_refused(part: Path, options: Mapping[str, Any], text: str) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        joint({"p": part, "s": Spring(1.0)}, [], options=options)


def test_participants_that_cannot_be_one_system_are_refused(
    part: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    with pytest.raises(cosim.ModelError, match=r"^master\.algorithm: .* there are none: take gauss_seidel"):
        joint({"s": Spring(1.0)}, [])
    with pytest.raises(cosim.ModelError, match=r"participants\.q\.step.*solved jointly"):
        joint({"p": part, "q": part}, [], steps={"q": 0.2})
    single = make_part(tmp_path, compiled, "once", abilities='canBeInstantiatedOnlyOncePerProcess="true"')
    with pytest.raises(cosim.ModelError, match=r"participants\.q.*same FMU"):
        joint({"p": single, "q": single}, [])


@pytest.mark.thorough
def test_a_scenario_may_have_the_algorithm_joint(
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
    output = capsys.readouterr().out
    assert "order  wheel + body" in output and (tmp_path / "body.log").exists()
    assert main(["cosimulate", "car.toml", "--explain"]) == 0
    output = capsys.readouterr().out
    assert "solved by integrators.dormand_prince_853, accuracy 1e-09" in output
    assert "  wheel.x → body.road: at every instant" in output


def test_its_attributes_are_those_of_the_algorithm_for_the_others() -> None:
    default, adaptive = Joint(), Joint(others="adaptive", others_options={"tolerance": 1e-4}, accuracy=1e-9)
    assert default.fixed_sequence and default.tightened() is None and default.order == 1
    tightened = adaptive.tightened()
    assert isinstance(tightened, Joint) and tightened.accuracy == 1e-9
    assert adaptive.varies_step and not default.varies_step

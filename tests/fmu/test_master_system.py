"""A cosim system as a participant: description, errors in a coupling, rollback, inputs with slopes."""

import dataclasses
import importlib
import inspect
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from controlled_spring import WIRES, SpringMass, controller, plant

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, StopRequested, SystemParticipant
from cosim_master.algorithms.gauss_seidel import GaussSeidel
from cosim_master.algorithms.jacobi import Jacobi


def test_description() -> None:
    description = SystemParticipant(plant()).describe()
    assert description.kind == "cosim system" and description.can_restore and description.can_serialize
    kinds = {name: variable.causality for name, variable in description.variables.items()}
    assert kinds["body.force"] == "input" and kinds["body.mass"] == "parameter"
    assert kinds["body.felt"] == "output" and kinds["body.position"] == "local"
    assert description.variables["body.felt"].unit == "mm"
    assert description.feedthrough is not None
    assert description.feedthrough["body.felt"] == frozenset()
    assert description.feedthrough["body.reaction"] == {"body.force"}


@pytest.mark.parametrize("algorithm", [Jacobi, GaussSeidel])
def test_two_coupled_systems_converge_to_the_exact_solution(algorithm: type[cosim.MasterAlgorithm]) -> None:
    """x'' = -(1 + 3) x, the second spring in another system: first order in the communication step."""
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        loop = CoSimulation({"plant": plant(), "controller": controller()}, WIRES, algorithm, step)
        result = loop.simulate(1.0, record=["plant.body.position", "controller.law.push", "plant.body.force"])
        assert result["controller.law.push"][0] == result["plant.body.force"][0] == pytest.approx(-3.0)
        errors.append(abs(result["plant.body.position"][-1] - math.cos(2.0)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(1.0, abs=0.1)
    assert errors[-1] < 5e-3


def test_the_system_with_direct_feedthrough_steps_first() -> None:
    loop = CoSimulation({"plant": plant(), "controller": controller()}, WIRES, GaussSeidel, 1e-2)
    assert loop.order == ("controller", "plant")


def test_start_values_with_units() -> None:
    starts = {"plant.body.position": "20 cm", "plant.body.mass": "500 g", "plant.body.force": 1.5}
    result = CoSimulation({"plant": plant()}, (), Jacobi, 1e-2, starts=starts).simulate(0.0)
    assert (result["plant.body.felt"][0], result["plant.body.reaction"][0]) == pytest.approx((200.0, -1.3))


def test_a_system_and_an_fmu_in_one_coupling(make_fmu: Callable[..., Path]) -> None:
    wires = [("body.body.position", "fmu.x_other"), ("fmu.force", "body.body.force")]
    starts = {"fmu.kc": 0.0}
    loop = CoSimulation({"body": plant(), "fmu": make_fmu("mass")}, wires, Jacobi, 1e-2, starts=starts)
    result = loop.simulate(1.0)
    assert result["body.body.position"][-1] == pytest.approx(math.cos(1.0), abs=1e-5)
    assert result["fmu.x"][-1] == pytest.approx(math.cos(1.0), abs=1e-9)


def test_a_restored_state_continues_bit_for_bit() -> None:
    participant = SystemParticipant(plant())
    participant.initialize(0.0, None, {"body.force": 0.5})
    names = ["body.position", "body.speed", "body.force"]
    participant.step(0.0, 0.1)
    token = participant.serialize(participant.save())
    participant.set(["body.force"], [-2.0])
    participant.step(0.1, 0.1)
    expected = participant.get(names)
    participant.step(0.2, 0.3)

    # the same participant: the state, then the same input and step as before
    participant.restore(participant.deserialize(token))
    assert participant.get(names)[2] == 0.5
    participant.set(["body.force"], [-2.0])
    participant.step(0.1, 0.1)
    assert np.array_equal(participant.get(names), expected)

    # another participant of the same system
    second_participant = SystemParticipant(participant.system)
    second_participant.initialize(0.0, None, {})
    second_participant.restore(token)
    second_participant.set(["body.force"], [-2.0])
    second_participant.step(0.1, 0.1)
    assert np.array_equal(second_participant.get(names), expected)
    participant.close()
    participant.close()
    second_participant.close()


def test_a_request_to_stop_of_an_event_handler() -> None:
    class Fuse(cosim.Component):
        """Stops the run."""

        level = cosim.auxiliary_state(unit="1")

        @cosim.kernel
        def derivatives(level, level_dot):
            level_dot[0] = 1.0

        @cosim.every(0.25, offset=0.25, does="publish")
        def blow(self, state):
            return cosim.EventStatus.reached_termination("blown")

    model = cosim.Model("m")
    model.add(Fuse, "fuse")
    participant = SystemParticipant(model)
    participant.initialize(0.0, 1.0, {})
    with pytest.raises(StopRequested, match="blown") as caught:
        participant.step(0.0, 1.0)
    assert caught.value.time == 0.25
    participant.close()


@pytest.mark.thorough
def test_a_system_and_its_python_fmu_give_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import cosim\n\n\n" + inspect.getsource(SpringMass)
    (tmp_path / "parts_for_export.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    model = cosim.Model("plant")
    model.add(importlib.import_module("parts_for_export").SpringMass, "body")
    path = tmp_path / "plant.fmu"
    model.export_fmu(path, native=False)
    results = [
        CoSimulation({"plant": plant_part, "controller": controller()}, WIRES, GaussSeidel, 1e-2).simulate(
            0.2
        )
        for plant_part in (path, model)
    ]
    assert np.array_equal(results[0]["plant.body.felt"], results[1]["plant.body.felt"])
    assert np.array_equal(results[0]["controller.law.push"], results[1]["controller.law.push"])


class HeldInputs(SystemParticipant):
    """A participant whose inputs the master holds: it declares that it follows no slopes."""

    def describe(self) -> kit.ParticipantDescription:
        return dataclasses.replace(super().describe(), follows_slopes=False)


def test_inputs_with_slopes_make_smaller_errors_than_held_ones() -> None:
    """x'' = -(1 + 3) x, errors of order 2 for both."""
    errors: dict[type, list[float]] = {}
    for kind in (SystemParticipant, HeldInputs):
        for step in (8e-2, 4e-2):
            parts = {"plant": kind(plant(), accuracy=1e-10), "controller": controller()}
            loop = CoSimulation(parts, WIRES, "waveform_iteration", step)
            result = loop.simulate(0.8, record=["plant.body.position"])
            errors.setdefault(kind, []).append(abs(result["plant.body.position"][-1] - math.cos(1.6)))
        assert errors[kind][0] / errors[kind][1] == pytest.approx(4.0, rel=0.1)
    assert errors[SystemParticipant][1] < 0.6 * errors[HeldInputs][1]


def test_a_slope_applies_to_one_step_and_is_held_afterwards() -> None:
    """x'' = 2 t - x from rest: x = 2 t - 2 sin t, in one communication step."""
    participant = SystemParticipant(plant(), accuracy=1e-10)
    assert participant.describe().follows_slopes
    participant.initialize(0.0, None, {"body.position": 0.0})
    participant.set(["body.force"], [0.0])
    participant.set_slopes(["body.force"], [2.0])
    token = participant.save()
    for _ in range(2):
        participant.step(0.0, 1.0)
        x, force = participant.get(["body.position", "body.force"])
        assert x == pytest.approx(2.0 - 2.0 * math.sin(1.0), abs=1e-8)
        assert force == 2.0
        participant.restore(token)
    participant.step(0.0, 1.0)
    participant.step(1.0, 1.0)  # held at 2 from now on
    (x,) = participant.get(["body.position"])
    at_one, speed = 2.0 - 2.0 * math.sin(1.0), 2.0 - 2.0 * math.cos(1.0)
    assert x == pytest.approx(2.0 + (at_one - 2.0) * math.cos(1.0) + speed * math.sin(1.0), abs=1e-8)
    participant.close()

"""With directional derivatives of a Model Exchange FMU the derivatives of a coupling are exact."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmu import CoSimulation
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant
from cosim_master.participants.system_participant import SystemParticipant

BY_DIFFERENCES = "derivatives by differences"
BY = ["controller.m.gain", "controller.m.offset"]
LINKS = ["controller.m.force -> plant.m.u", "plant.m.place -> controller.m.seen"]
ALGORITHMS: dict[str, dict[str, Any]] = {
    "gauss_seidel": {"extrapolation": 1},
    "jacobi": {},
    "waveform_iteration": {"tolerance": 1e-12},
    "interface_newton": {"tolerance": 1e-12},
    "adaptive": {"tolerance": 1e-3},
}


class Plant(cosim.Component):
    """Law: x'' = u - k sin x - c x' + sin 3t."""

    k = cosim.parameter(default=9.0)
    c = cosim.parameter(default=0.4)
    direct = cosim.parameter(default=0.05)
    x = cosim.position(start=0.8)
    v = cosim.speed()
    u = cosim.input(start=0.2)
    place = cosim.output()

    @cosim.kernel
    def derivatives(t, k, c, x, v, u, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = u - k * math.sin(x) - c * v + math.sin(3.0 * t)

    @cosim.kernel
    def outputs(x, u, direct, place):
        place[0] = x * x + direct * u


class Controller(cosim.Component):
    """Law: z' = seen - z; force = -gain z + offset."""

    gain = cosim.parameter(default=2.0)
    offset = cosim.parameter(default=0.3)
    seen = cosim.input()
    z = cosim.auxiliary_state(start=0.1)
    force = cosim.output()

    @cosim.kernel
    def derivatives(seen, z, z_dot):
        z_dot[0] = seen - z

    @cosim.kernel
    def outputs(gain, offset, z, force):
        force[0] = -gain * z + offset


class Bouncing(Plant):
    """With a state event: the FMU has an event indicator."""

    @cosim.witness(direction="rising")
    def reaches(x):
        return x - 5.0

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def bounce(v, v_next):
        v_next[0] = -v


class Kicked(Plant):
    """At the end of an integrator step the FMU requests an event, which changes a state."""

    kicks = cosim.discrete(dtype=int)

    @cosim.on(cosim.EventCause.TIME_ADVANCED, does="unrestricted")
    @cosim.kernel
    def kick(t, v, kicks, v_next, kicks_next):
        if kicks == 0 and t > 0.1:
            kicks_next[0] = 1
            v_next[0] = -2.0 * v


def model_of(name: str, component: cosim.Component) -> cosim.Model:
    model = cosim.Model(name)
    model.add(component, "m")
    return model


@pytest.fixture(scope="module", params=[2, 3])
def plant(request: Any, tmp_path_factory: Any) -> Path:
    path = Path(tmp_path_factory.mktemp("me")) / f"plant{request.param}.fmu"
    model_of("plant", Plant()).export_fmu(path, kind="me", fmi=request.param, exact_derivatives=True)
    return path


def run(
    plant: Any, algorithm: str = "gauss_seidel", by: Sequence[str] = BY, until: float = 1.0, **options: Any
) -> cosim.Result:
    loop = CoSimulation(
        {"controller": model_of("controller", Controller()).build(), "plant": plant},
        LINKS, algorithm, 0.02, tolerance=1e-10, options=options,
    )  # fmt: skip
    return loop.simulate(until, record=["plant.m.place", "controller.m.z"], derivatives=list(by))


def compare(result: cosim.Result, reference: cosim.Result, by: Sequence[str], tolerance: float) -> None:
    """The derivatives agree within a tolerance, relative where they exceed 1, and none is zero."""
    for name in ("plant.m.place", "controller.m.z"):
        for path in by:
            derivative, expected = result.derivative(name, path), reference.derivative(name, path)
            bound = tolerance * max(1.0, np.abs(expected).max())
            assert derivative == pytest.approx(expected, abs=bound), (name, path)
            assert np.abs(expected[-1]) > 1e-5


@pytest.mark.few(2)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_derivatives_are_those_of_the_model_that_was_exported(plant: Path, algorithm: str) -> None:
    until = 0.1 if algorithm == "adaptive" else 0.3  # its exchanges are shorter
    exact = run(model_of("plant", Plant()).build(), algorithm, until=until, **ALGORITHMS[algorithm])
    result = run(ModelExchangeParticipant(plant, "plant"), algorithm, until=until, **ALGORITHMS[algorithm])
    assert not result.findings
    assert result["plant.m.place"] == pytest.approx(exact["plant.m.place"], abs=1e-9)
    compare(result, exact, BY, 1e-9)


@pytest.mark.few(1)
def test_implicit_integrators_have_the_same_derivatives(plant: Path) -> None:
    exact = run(SystemParticipant(model_of("plant", Plant()).build(), "integrators.radau5"))
    result = run(ModelExchangeParticipant(plant, "plant", "integrators.radau5"))
    assert not result.findings
    compare(result, exact, BY, 1e-6)


@pytest.mark.few(1)
def test_wrong_derivatives_are_replaced_by_differences(plant: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = run(ModelExchangeParticipant(plant, "plant"))
    right_derivative = FmuInstance.directional_derivative

    def wrong_derivative(self: FmuInstance, of: Any, by: Any, seed: Any) -> Any:
        return [1.01 * x for x in right_derivative(self, of, by, seed)]

    monkeypatch.setattr(FmuInstance, "directional_derivative", wrong_derivative)
    result = run(ModelExchangeParticipant(plant, "plant"))
    (finding,) = result.findings
    assert finding.kind == BY_DIFFERENCES
    assert "they differ from differences at the start, by 0.0" in finding.message
    compare(result, reference, BY, 1e-7)


@pytest.mark.few(1)
def test_failing_derivatives_are_replaced_by_differences(
    plant: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: FmuInstance, of: Any, by: Any, seed: Any) -> Any:
        raise RuntimeError("not in this mode")

    monkeypatch.setattr(FmuInstance, "directional_derivative", refuse)
    (finding,) = run(ModelExchangeParticipant(plant, "plant")).findings
    assert finding.kind == BY_DIFFERENCES and "not in this mode" in finding.message


@pytest.mark.few(2)
@pytest.mark.parametrize("path", ["plant.m.k", "plant.m.x"])
def test_parameters_and_start_values_are_left_to_differences(plant: Path, path: str) -> None:
    exact = run(model_of("plant", Plant()).build(), by=[path])
    result = run(ModelExchangeParticipant(plant, "plant"), by=[path])
    (finding,) = result.findings
    assert finding.kind == BY_DIFFERENCES and "FMI has none by parameters" in finding.message
    compare(result, exact, [path], 1e-6)


@pytest.mark.thorough
def test_an_fmu_with_event_indicators_is_left_to_differences(tmp_path: Path) -> None:
    path = tmp_path / "bouncing.fmu"
    model_of("plant", Bouncing()).export_fmu(path, kind="me", exact_derivatives=True)
    (finding,) = run(ModelExchangeParticipant(path, "plant")).findings
    assert finding.kind == BY_DIFFERENCES and "it may have events" in finding.message


@pytest.mark.few(1)
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("algorithm", ["gauss_seidel", "adaptive"])
def test_after_an_event_derivatives_are_nan_and_the_run_goes_on(
    algorithm: str, fmi: int, tmp_path: Path
) -> None:
    path = tmp_path / "kicked.fmu"
    model_of("plant", Kicked()).export_fmu(path, kind="me", fmi=fmi, exact_derivatives=True)
    results = [
        run(ModelExchangeParticipant(path, "plant"), algorithm, by, 0.15, **ALGORITHMS[algorithm])
        for by in (BY, [])
    ]
    assert {finding.kind for finding in results[0].findings} == {"no derivative"}
    ends = [result["plant.m.place"][-1] for result in results]
    assert ends[0] == ends[1]
    for by in BY:
        derivative = results[0].derivative("plant.m.place", by)
        assert np.isfinite(derivative[0]) and np.isnan(derivative[1:]).all()


@pytest.mark.few(1)
def test_a_saved_run_goes_on_to_the_same_derivatives(plant: Path) -> None:
    def loop() -> CoSimulation:
        participants = {
            "controller": model_of("controller", Controller()).build(),
            "plant": ModelExchangeParticipant(plant, "plant"),
        }
        return CoSimulation(participants, LINKS, "gauss_seidel", 0.02, tolerance=1e-10)

    uninterrupted, saved_runs = loop(), list[bytes]()

    def save(time: float, values: Any) -> None:
        if not saved_runs and time > 0.25:
            saved_runs.append(uninterrupted.save())

    names = ["plant.m.place", "controller.m.z"]
    expected = uninterrupted.simulate(0.6, observe=save, record=names, derivatives=BY)
    resumed = loop()
    resumed.restore(saved_runs[0])
    result = resumed.simulate(0.6, record=names, derivatives=BY)
    assert not result.findings and not expected.findings
    for name in names:
        for path in BY:
            assert result.derivative(name, path).tobytes() == expected.derivative(name, path).tobytes()


def digest(path: str) -> str:
    """The hash of all signals of a short run and of their derivatives."""
    result = run(ModelExchangeParticipant(path, "plant"), until=0.06)
    content = hashlib.sha256()
    for name in result.names:
        for values in (result[name], *(result.derivative(name, by) for by in BY)):
            content.update(values.tobytes())
    assert not result.findings
    return content.hexdigest()


@pytest.mark.few(1)
def test_plain_python_has_the_same_bytes(plant: Path) -> None:
    script = f"import runpy; print(runpy.run_path({__file__!r})['digest']({str(plant)!r}))"
    environment = {**os.environ, "COSIM_PLAIN": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == digest(str(plant)), done.stderr


def test_a_constant_fmu_needs_no_derivatives(plant: Path) -> None:
    """The plant feeds the controller, and not the other way round."""
    loop = CoSimulation(
        {
            "controller": model_of("controller", Controller()).build(),
            "plant": ModelExchangeParticipant(plant, "plant"),
        },
        LINKS[1:],
        "gauss_seidel",
        0.02,
    )
    result = loop.simulate(0.2, record=["plant.m.place"], derivatives=BY)
    assert (result.derivative("plant.m.place", BY[0]) == 0.0).all() and not result.findings

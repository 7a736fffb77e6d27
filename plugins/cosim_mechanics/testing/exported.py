"""Compares a run of a model with a run of its FMU."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import cosim
from cosim.testing.other_mode import results_in_mode
from cosim_mechanics.multibody import Multibody

STEP, STEPS = 0.01, 2
"""The longest communication step (s), and the number of steps."""
LONGEST = 50
"""With a stiff law a communication step is shorter: at most so many first steps of the integrator."""
SETTINGS = {"accuracy": 1e-5, "integrator": "integrators.runge_kutta_merson"}
SKIPPED = "skipped: "


def check_fmu(case: type, method: str) -> None:
    """Fail where a class method of a test class, which calls `differences_in_fmu`, has found one.

    It is called in a process of plain Python: an FMU carries the same functions, whichever way they run, and
    three steps are no reason to compile the Step.
    """
    differences = results_in_mode(case, method, plain=True, prepare=f"{__name__}:{export_something.__name__}")
    if differences and differences[0].startswith(SKIPPED):
        pytest.skip(differences[0].removeprefix(SKIPPED))
    assert not differences, "; ".join(differences)


def export_something() -> None:
    """Load what every FMU contains into this process."""
    exporters = {entry.id: entry for entry in cosim.registry().entries("exporter")}
    if "fmu.pythonfmu" not in exporters:
        return
    model = Multibody("something")
    model.body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("free", child="body")
    with tempfile.TemporaryDirectory() as folder:
        exporters["fmu.pythonfmu"].cls().export(model, Path(folder) / "something.fmu", outputs=["body.x"])


def differences_in_fmu(
    model: cosim.Model, cls: type, outputs: Sequence[str], relative: float, absolute: float
) -> list[str]:
    """The differences of a run of a model as an FMU, in sentences; or the reason why it cannot run.

    Parameters
    ----------
    model : Model
    cls : type
        The checked class; an FMU can contain it when a plugin registers it, or when it is in a module.
    outputs : sequence of str
    relative, absolute : float
        Differences that do not count.
    """
    exporters = sorted(cosim.registry().entries("exporter"), key=lambda entry: entry.id != "fmu.pythonfmu")
    players = [entry for entry in cosim.registry().entries("participant") if entry.id == "fmu.co_simulation"]
    if not exporters or not players:
        return [f"{SKIPPED}no plugin that exports and runs FMUs is installed"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exported.fmu"
        try:
            exporters[0].cls().export(model, path, outputs=list(outputs), **SETTINGS)
        except cosim.ModelError as error:
            if _is_registered(cls):
                return [f"it cannot be exported: {error}"]
            return [f"{SKIPPED}the class is not registered by a plugin, and no FMU can carry it: {error}"]
        simulator, size = _start_simulator(model.build())
        player = players[0].cls(path)
        differences = []
        try:
            player.initialize(0.0, None, {})
            for i in range(STEPS):
                player.step(size * i, size)
                simulator.advance_to(size * (i + 1))
                time = f"at t = {simulator.state.time:g} s"
                values = [
                    (name, value, simulator.state[name])
                    for name, value in zip(outputs, player.get(outputs), strict=True)
                ]
                differences += [
                    f"{time} {name} is {value:.9g} in the FMU, {expected:.9g} here"
                    for name, value, expected in values
                    if not math.isclose(value, expected, rel_tol=relative, abs_tol=absolute)
                ]
        except cosim.CosimError as error:
            return [f"it does not run in an FMU: {error}"]
        finally:
            player.close()
    return differences


def _start_simulator(system: cosim.System) -> tuple[cosim.Simulator, float]:
    """A simulator at its start, and the length of a communication step, s."""
    accuracy = float(str(SETTINGS["accuracy"]))
    trial, simulator = (cosim.Simulator(system, accuracy=accuracy) for _ in range(2))
    for run in (trial, simulator):
        run.initialize()
    trial.step(STEP)
    return simulator, min(STEP, LONGEST * trial.state.time)


def _is_registered(cls: type) -> bool:
    """Whether a plugin has registered the class."""
    try:
        cosim.registry().owner(cls)
    except cosim.LookUpError:
        return False
    return True

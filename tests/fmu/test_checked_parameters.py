"""An FMU refuses wrong parameters when they are set, with the message of their class, and remains usable."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from export_tools import Fmu, export, limited, running
from native_tools import export_native, needs_compiler

import cosim

INERTIA_MESSAGE = "no body has this inertia: each of Ixx, Iyy, Izz is at most the sum of the other two"


@pytest.fixture(scope="module", params=["python", pytest.param("native", marks=needs_compiler)])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    write: Any = export if request.param == "python" else export_native
    options: dict[str, Any] = {} if request.param == "python" else {"kind": "cs"}
    options["parameters"] = ["*", "hinge.frame_on_child[*]"]
    return Path(write(limited(), tmp_path_factory.mktemp(request.param) / "limited.fmu", **options))


@pytest.fixture
def fmu(path: Path) -> Iterator[Fmu]:
    with running(path) as instance:
        yield instance


def set_together(fmu: Fmu, values: dict[str, float]) -> None:
    """Set several variables with one call."""
    fmu.slave.setReal([fmu.references[name] for name in values], list(values.values()))


def state_with_hinge(**values: Any) -> cosim.State:
    """The start of the model with other values of its hinge."""
    model = limited()
    data = model.to_dict()
    hinge = next(part for part in data["parts"] if part["name"] == "hinge")
    hinge["values"].update(values)
    return cosim.Model.from_dict(data).build().default_state().realize(cosim.Stage.ACCELERATION)


WRONG_VALUES = {
    "mass": ({"rod.mass": 0.0}, "mass"),
    "inertia": ({"rod.inertia[1]": 5.0}, INERTIA_MESSAGE),
    "frame": ({"hinge.frame_on_child[1]": 0.2}, "the rotation matrix of a frame is not orthonormal"),
    "range": ({"stop.lower": 2.0}, "the lower end of the range lies above the upper one"),
    "limits": ({"cut.upper": -0.7}, "the lower bound is above the upper one: exchange them"),
    "delay": ({"late.delay": 0.0}, "a delay cannot become 0 later"),
    "one of many": ({"rod.mass": 3.0, "stop.stiffness": 600.0, "cut.upper": -2.0}, "exchange them"),
}


@pytest.mark.parametrize("case", WRONG_VALUES)
def test_a_refused_call_changes_nothing(fmu: Fmu, case: str) -> None:
    values, message = WRONG_VALUES[case]
    fmu.start()
    fmu.steps(0, 3)
    before = {name: fmu[name] for name in fmu.references}
    with pytest.raises(Exception, match="fmi2SetReal failed with status 3"):
        set_together(fmu, values)
    assert message in " ".join(fmu.messages)
    assert {name: fmu[name] for name in fmu.references} == before
    fmu.steps(3, 6)
    after = fmu.all()
    fmu.slave.reset()
    fmu.start()
    fmu.steps(0, 6)
    assert fmu.all() == after  # the same as a run without the refused call


def test_in_a_run_a_delay_cannot_become_longer_than_the_kept_history(fmu: Fmu) -> None:
    """Before the start, a delay may have any length."""
    longer_delay = {"late.delay": 0.04}
    fmu.start(**longer_delay)
    fmu.steps(0, 20)
    with pytest.raises(Exception, match="fmi2SetReal failed with status 3"):
        set_together(fmu, {"late.delay": 0.15, "rod.mass": 3.0})
    assert "late" in fmu.messages[-1]
    assert (fmu["late.delay"], fmu["rod.mass"]) == (0.04, 2.0)
    fmu.steps(20, 24)
    after = fmu.all()
    fmu.slave.reset()
    fmu.start(**longer_delay)
    fmu.steps(0, 24)
    assert fmu.all() == after
    set_together(fmu, {"late.delay": 0.02})
    fmu.steps(24, 26)


def test_one_call_may_set_values_that_are_valid_only_together(fmu: Fmu) -> None:
    fmu.start()
    fmu.steps(0, 2)
    set_together(
        fmu,
        {
            "rod.inertia[1]": 5.0,
            "rod.inertia[2]": 6.0,
            "rod.inertia[3]": 7.0,
            "cut.lower": 1.0,
            "cut.upper": 2.0,
        },
    )
    assert [fmu[f"rod.inertia[{i}]"] for i in (1, 2, 3)] == [5.0, 6.0, 7.0]
    fmu.steps(2, 4)
    assert fmu["cut"] == 1.0


def test_before_the_start_values_are_checked_together(fmu: Fmu) -> None:
    """They may be set one by one, although the first alone would be no inertia."""
    fmu.start(**{"rod.inertia[1]": 5.0, "rod.inertia[2]": 6.0, "rod.inertia[3]": 7.0})
    fmu.steps(0, 2)
    assert fmu["rod.inertia[3]"] == 7.0


def test_wrong_start_values_are_refused_at_the_end_of_the_initialization(fmu: Fmu) -> None:
    fmu.slave.setupExperiment()
    fmu["cut.lower"] = 0.9
    fmu.slave.enterInitializationMode()
    with pytest.raises(Exception, match="fmi2ExitInitializationMode failed with status 3"):
        fmu.slave.exitInitializationMode()
    assert "cut: " in fmu.messages[-1] and "exchange them" in fmu.messages[-1]
    with pytest.raises(Exception, match="fmi2GetReal failed with status 3"):
        _ = fmu["cut"]
    assert "exchange them" in fmu.messages[-1]
    fmu["cut.upper"] = 1.0  # the instance can still be used
    fmu.slave.exitInitializationMode()
    fmu.steps(0, 2)
    assert fmu["cut"] == 0.9


def test_each_declared_minimum_is_accepted(fmu: Fmu) -> None:
    """The delay here and the mass have to be above 0; FMI has no bound for that, so none is declared."""
    minima = {v.name: float(v.min) for v in fmu.description.modelVariables if v.min is not None}
    assert "late.delay" not in minima and "rod.mass" not in minima and minima["stop.stiffness"] == 0.0
    for name, value in minima.items():
        fmu[name] = value


def test_wrong_values_in_one_call_are_refused_even_before_the_start(fmu: Fmu) -> None:
    fmu.slave.setupExperiment()
    with pytest.raises(Exception, match="fmi2SetReal failed with status 3"):
        set_together(fmu, {"cut.lower": 2.0, "cut.upper": 1.0})
    assert (fmu["cut.lower"], fmu["cut.upper"]) == (-0.5, 0.5)


def test_frames_are_set_by_position_and_angles(fmu: Fmu) -> None:
    frame = "hinge.frame_on_parent"
    assert [fmu[f"{frame}.angles[{i}]"] for i in (1, 2, 3)] == pytest.approx([math.pi / 2, 0.0, 0.0])
    set_together(fmu, {f"{frame}.position[3]": 0.4, f"{frame}.angles[2]": 0.3, f"{frame}.angles[1]": 1.2})
    assert [fmu[f"{frame}.angles[{i}]"] for i in (1, 2, 3)] == pytest.approx([1.2, 0.3, 0.0], abs=1e-15)
    fmu.start()
    state = state_with_hinge(frame_on_parent={"position": [0, 0, 0.4], "angles": [1.2, 0.3, 0]})
    assert (fmu["rod.z"], fmu["rod.az"]) == pytest.approx((state["rod.z"], state["rod.az"]), abs=1e-12)
    fmu.steps(0, 2)
    fmu[f"{frame}.angles[3]"] = 0.5  # tunable, since it was asked for
    fmu.steps(2, 3)
    assert [fmu[f"{frame}.angles[{i}]"] for i in (1, 2, 3)] == pytest.approx([1.2, 0.3, 0.5], abs=1e-15)
    with pytest.raises(Exception, match="failed with status 3"):
        fmu[f"{frame}.angles[3]"] = math.nan


def test_switches_are_booleans(fmu: Fmu) -> None:
    assert fmu.types["stop.enabled"] == "Boolean"
    fmu["stop.enabled"] = False
    fmu.start()
    assert not fmu["stop.enabled"] and fmu["rod.feels_gravity"]
    fmu["rod.feels_gravity"] = False
    fmu.steps(0, 2)
    assert fmu["hinge.rate"] == 0.0  # with gravity the rod would move
    with pytest.raises(Exception, match="failed with status 3"):
        fmu.slave.setReal([fmu.references["stop.enabled"]], [0.5])


def test_in_python_wrong_parameters_are_reported_when_the_state_is_realized() -> None:
    system = limited().build()
    state = system.default_state()
    state["rod.inertia[0]"] = 5.0  # accepted, since the other inertias may follow
    with pytest.raises(cosim.SimulationError, match=f"rod: properties: {INERTIA_MESSAGE}"):
        state.realize(cosim.Stage.POSITION)
    assert {check.part for check in system.checks} >= {"rod", "hinge", "stop", "cut", "late"}


def test_a_check_reads_parameters_only_and_returns_a_number() -> None:
    with pytest.raises(cosim.ContractError, match="'level'.*neither declared nor"):

        class Wrong(cosim.Component):
            """Its check reads a state."""

            level = cosim.auxiliary_state()

            @cosim.kernel(refuses=["never"])
            def check(level):
                return level

    with pytest.raises(cosim.ContractError, match="function that returns"):

        class Silent(cosim.Component):
            """Its check returns nothing."""

            size = cosim.parameter()

            @cosim.kernel(refuses=["never"])
            def check(size):
                pass


@needs_compiler
def test_derivatives_exist_at_the_limit_of_valid_parameters(tmp_path: Path) -> None:
    """Differences are one-sided there: with Izz = Ixx + Iyy, an Izz that grows alone is refused."""
    with running(export_native(limited(), tmp_path / "limited.fmu", kind="cs")) as fmu:
        fmu.start(**{"rod.inertia[1]": 0.1, "rod.inertia[2]": 0.2, "rod.inertia[3]": 0.3})
        fmu.steps(0, 3)
        before, names = fmu.all(), ["rod.inertia[3]", "energy.kinetic"]
        known, unknown = (fmu.references[name] for name in names)
        (derivative,) = fmu.slave.getDirectionalDerivative([unknown], [known], [1.0])
        assert derivative == pytest.approx(fmu["energy.kinetic"] / (0.3 + 2.0 * 0.3**2), rel=1e-8)
        assert fmu.all() == before
        with pytest.raises(Exception, match="fmi2SetReal failed with status 3"):
            set_together(fmu, {"rod.inertia[3]": 0.3 + 1e-6})
        assert INERTIA_MESSAGE in fmu.messages[-1]

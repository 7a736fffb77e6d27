"""Parameters are judged where they are set, in the words of their class; an instance lives on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from export_tools import Fmu, export, limited, running
from native_tools import export_native, needs_compiler

import cosim

SAID = "no body has this inertia: each of Ixx, Iyy, Izz is at most the sum of the other two"


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


def call(fmu: Fmu, values: dict[str, float]) -> None:
    fmu.slave.setReal([fmu.references[name] for name in values], list(values.values()))


BAD = {
    "mass": ({"rod.mass": 0.0}, "mass"),
    "inertia": ({"rod.inertia[1]": 5.0}, SAID),
    "frame": ({"hinge.frame_on_child[1]": 0.2}, "the rotation matrix of a frame is not orthonormal"),
    "range": ({"stop.lower": 2.0}, "the lower end of the range lies above the upper one"),
    "limits": ({"cut.upper": -0.7}, "the lower bound is above the upper one: exchange them"),
    "delay": ({"late.delay": 0.0}, "a delay cannot become 0 later"),
    "one of many": ({"rod.mass": 3.0, "stop.stiffness": 600.0, "cut.upper": -2.0}, "exchange them"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_changes_nothing(fmu: Fmu, case: str) -> None:
    values, said = BAD[case]
    fmu.start()
    fmu.steps(0, 3)
    before = {name: fmu[name] for name in fmu.references}
    with pytest.raises(Exception, match="fmi2SetReal failed with status 3"):
        call(fmu, values)
    assert said in " ".join(fmu.messages)
    assert {name: fmu[name] for name in fmu.references} == before
    fmu.steps(3, 6)
    after = fmu.all()
    fmu.slave.reset()
    fmu.start()
    fmu.steps(0, 6)
    assert fmu.all() == after  # as if it had never been tried


def test_a_delay_that_is_longer_than_what_is_remembered_is_refused(fmu: Fmu) -> None:
    """Parameters alone do not tell: before the start it may be as long as it likes."""
    with_more = {"late.delay": 0.04}
    fmu.start(**with_more)
    fmu.steps(0, 20)
    with pytest.raises(Exception, match="fmi2SetReal failed with status 3"):
        call(fmu, {"late.delay": 0.15, "rod.mass": 3.0})
    assert "late" in fmu.messages[-1]
    assert (fmu["late.delay"], fmu["rod.mass"]) == (0.04, 2.0)
    fmu.steps(20, 24)
    after = fmu.all()
    fmu.slave.reset()
    fmu.start(**with_more)
    fmu.steps(0, 24)
    assert fmu.all() == after
    call(fmu, {"late.delay": 0.02})
    fmu.steps(24, 26)


def test_values_that_fit_together_are_taken_in_one_call(fmu: Fmu) -> None:
    fmu.start()
    fmu.steps(0, 2)
    call(
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


def test_start_values_may_come_one_by_one(fmu: Fmu) -> None:
    fmu.start(**{"rod.inertia[1]": 5.0, "rod.inertia[2]": 6.0, "rod.inertia[3]": 7.0})
    fmu.steps(0, 2)
    assert fmu["rod.inertia[3]"] == 7.0


def test_start_values_that_never_fit_are_refused_when_the_initialization_ends(fmu: Fmu) -> None:
    fmu.slave.setupExperiment()
    fmu["cut.lower"] = 0.9
    fmu.slave.enterInitializationMode()
    with pytest.raises(Exception, match="fmi2ExitInitializationMode failed with status 3"):
        fmu.slave.exitInitializationMode()
    assert "cut: " in fmu.messages[-1] and "exchange them" in fmu.messages[-1]
    with pytest.raises(Exception, match="fmi2GetReal failed with status 3"):
        _ = fmu["cut"]
    assert "exchange them" in fmu.messages[-1]
    fmu["cut.upper"] = 1.0  # the instance is still there
    fmu.slave.exitInitializationMode()
    fmu.steps(0, 2)
    assert fmu["cut"] == 0.9


def test_bounds_that_hosts_are_told_are_taken(fmu: Fmu) -> None:
    """A delay may be 0 where the part was added so, and here it was not: no bound says "more than 0"."""
    least = {v.name: float(v.min) for v in fmu.description.modelVariables if v.min is not None}
    assert "late.delay" not in least and "rod.mass" not in least and least["stop.stiffness"] == 0.0
    for name, value in least.items():
        fmu[name] = value


def test_a_whole_that_does_not_fit_is_refused_at_once_before_the_start(fmu: Fmu) -> None:
    fmu.slave.setupExperiment()
    with pytest.raises(Exception, match="fmi2SetReal failed with status 3"):
        call(fmu, {"cut.lower": 2.0, "cut.upper": 1.0})
    assert (fmu["cut.lower"], fmu["cut.upper"]) == (-0.5, 0.5)


def test_frames_are_set_by_position_and_angles(fmu: Fmu) -> None:
    frame = "hinge.frame_on_parent"
    assert [fmu[f"{frame}.angles[{i}]"] for i in (1, 2, 3)] == pytest.approx([math.pi / 2, 0.0, 0.0])
    call(fmu, {f"{frame}.position[3]": 0.4, f"{frame}.angles[2]": 0.3, f"{frame}.angles[1]": 1.2})
    assert [fmu[f"{frame}.angles[{i}]"] for i in (1, 2, 3)] == pytest.approx([1.2, 0.3, 0.0], abs=1e-15)
    fmu.start()
    state = system_of(frame_on_parent={"position": [0, 0, 0.4], "angles": [1.2, 0.3, 0]})
    assert (fmu["rod.z"], fmu["rod.az"]) == pytest.approx((state["rod.z"], state["rod.az"]), abs=1e-12)
    fmu.steps(0, 2)
    fmu[f"{frame}.angles[3]"] = 0.5  # tunable, since it was asked for
    fmu.steps(2, 3)
    assert [fmu[f"{frame}.angles[{i}]"] for i in (1, 2, 3)] == pytest.approx([1.2, 0.3, 0.5], abs=1e-15)
    with pytest.raises(Exception, match="failed with status 3"):
        fmu[f"{frame}.angles[3]"] = math.nan


def system_of(**values: Any) -> cosim.State:
    """The model with another hinge, at its start."""
    model = limited()
    data = model.to_dict()
    hinge = next(part for part in data["parts"] if part["name"] == "hinge")
    hinge["values"].update(values)
    return cosim.Model.from_dict(data).build().default_state().realize(cosim.Stage.ACCELERATION)


def test_switches_are_booleans(fmu: Fmu) -> None:
    assert fmu.types["stop.enabled"] == "Boolean"
    fmu["stop.enabled"] = False
    fmu.start()
    assert not fmu["stop.enabled"] and fmu["rod.feels_gravity"]
    fmu["rod.feels_gravity"] = False
    fmu.steps(0, 2)
    assert fmu["hinge.rate"] == 0.0 or abs(fmu["hinge.rate"]) < 0.5
    with pytest.raises(Exception, match="failed with status 3"):
        fmu.slave.setReal([fmu.references["stop.enabled"]], [0.5])


def test_a_check_in_python_says_what_is_wrong_too() -> None:
    system = limited().build()
    state = system.default_state()
    state["rod.inertia[0]"] = 5.0  # others may follow
    with pytest.raises(cosim.SimulationError, match=f"rod: properties: {SAID}"):
        state.realize(cosim.Stage.POSITION)
    assert {check.part for check in system.checks} >= {"rod", "hinge", "stop", "cut", "late"}


def test_a_check_asks_for_parameters_alone() -> None:
    with pytest.raises(cosim.ContractError, match="'level'.*neither declared nor"):

        class Wrong(cosim.Component):
            """Looks at a state."""

            level = cosim.auxiliary_state()

            @cosim.kernel(refuses=["never"])
            def check(level):
                return level

    with pytest.raises(cosim.ContractError, match="function that returns"):

        class Silent(cosim.Component):
            """Answers nothing."""

            size = cosim.parameter()

            @cosim.kernel(refuses=["never"])
            def check(size):
                pass


@needs_compiler
def test_derivatives_need_no_values_that_are_refused(tmp_path: Path) -> None:
    """By differences, at the edge: Izz = Ixx + Iyy, and one that grows alone is not a body."""
    with running(export_native(limited(), tmp_path / "limited.fmu", kind="cs")) as fmu:
        fmu.start(**{"rod.inertia[1]": 0.1, "rod.inertia[2]": 0.2, "rod.inertia[3]": 0.3})
        fmu.steps(0, 3)
        before, names = fmu.all(), ["rod.inertia[3]", "energy.kinetic"]
        known, unknown = (fmu.references[name] for name in names)
        (found,) = fmu.slave.getDirectionalDerivative([unknown], [known], [1.0])
        assert found == pytest.approx(fmu["energy.kinetic"] / (0.3 + 2.0 * 0.3**2), rel=1e-8)
        assert fmu.all() == before
        with pytest.raises(Exception, match="fmi2SetReal failed with status 3"):
            call(fmu, {"rod.inertia[3]": 0.3 + 1e-6})
        assert SAID in fmu.messages[-1]

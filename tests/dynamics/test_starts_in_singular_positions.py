"""A run that starts in a singular position reports its branch; speeds along no branch are refused."""

from __future__ import annotations

import numpy as np
import pytest
from singular_mechanisms import UPRIGHT, bricard, four_bars
from singular_runs import errors, signals, singular_findings

import cosim
from cosim_mechanics import Multibody


@pytest.mark.parametrize("loops", [1, 2, 5])
def test_a_start_in_a_singular_position_is_reported_with_its_branch(loops: int) -> None:
    result = four_bars(loops, angle=0.0).simulate(
        until=1.0, integrator="integrators.dormand_prince", accuracy=1e-8, signals=signals(loops)
    )
    assert errors(result, loops, angle=0.0).max() < 1e-6
    at_start = [f for f in result.findings if f.time == 0.0 and f.witness.endswith(".singular")]
    assert [f.witness for f in at_start] == [f"closure{i}.singular" for i in range(loops)]
    assert "along the branch" in at_start[0].message
    assert "pin0.u = -1" in at_start[0].message


@pytest.mark.parametrize(("turned", "start"), [(0.7, 0.0), (0.0, 1e-9), (2.0, np.pi)])
def test_a_start_where_an_equation_repeats_another_is_reported(turned: float, start: float) -> None:
    simulator = cosim.Simulator(four_bars(2, turned=turned, angle=start).build(), accuracy=1e-6)
    simulator.initialize()
    assert {f.witness for f in simulator.findings if "lower here than around" in f.message} == {
        "closure0.singular",
        "closure1.singular",
    }


def test_a_start_on_the_folded_branch_is_reported() -> None:
    """The first rod is at rest; the second one turns with the coupler about the first one's tip."""
    model = four_bars(1, angle=0.0)
    for path, speed in {"pin0.u": 0.0, "tip0.u": -1.0, "pin1.u": -1.0}.items():
        model.set_start(path, speed)
    simulator = cosim.Simulator(model.build(), accuracy=1e-8)
    simulator.initialize()
    (finding,) = (f for f in simulator.findings if f.witness == "closure0.singular")
    assert finding.time == 0.0
    branches = finding.message.partition("(")[2].partition(")")[0].split(", and ")
    assert {branch.replace("-", "") for branch in branches} == {
        "pin0.u : pin1.u : tip0.u = 1 : 1 : 1",
        "pin1.u : tip0.u = 1 : 1",
    }
    assert "its speeds show: pin1.u = -1, tip0.u = -1" in finding.message


def test_the_finding_of_a_start_at_rest_has_the_direction_of_the_forces() -> None:
    result = four_bars(1, speed=0.0, angle=0.0).simulate(
        until=1.0, integrator="integrators.dormand_prince", accuracy=1e-8, signals=signals(1)
    )
    (finding,) = (f for f in result.findings if f.time == 0.0 and f.witness == "closure0.singular")
    assert "branch is possible" in finding.message and "pin0.u_dot = -" in finding.message
    assert errors(result, 1, speed=0.0, angle=0.0).max() < 1e-6


def test_a_mechanism_without_forces_stays_in_a_singular_position() -> None:
    lying = Multibody("lying", gravity=(0, 0, 0))
    for part in ("one", "two", "three"):
        lying.body(part, mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12))
    lying.joint("pin", name="a", child="one")
    lying.joint("pin", name="b", child="two", parent="one", frame_on_parent=(1, 0, 0))
    lying.joint("pin", name="c", child="three", frame_on_parent=(1, 0, 0))
    lying.constraint(
        "ball_constraint", "closure", body1="two", body2="three", point1=(1, 0, 0), point2=(1, 0, 0)
    )
    result = lying.simulate(until=1.0, accuracy=1e-6, signals=["a.angle", "c.angle"])
    assert [(f.time, f.witness) for f in result.findings if "stays there" in f.message] == [
        (0.0, "closure.singular")
    ]
    assert np.abs(result["a.angle"]).max() < 1e-9


@pytest.mark.parametrize("method", [{"integrator": "integrators.runge_kutta_4", "fixed_step": 0.01}, {}])
def test_speeds_along_no_branch_are_refused(method: dict[str, object]) -> None:
    """Steps of 0.01 s do not jump onto one of the branches."""
    model = four_bars(1, angle=0.0)
    for path, speed in {"pin0.u": 1.0, "tip0.u": -1.2, "pin1.u": -0.2}.items():
        model.set_start(path, speed)
    simulator = cosim.Simulator(model.build(), **{"accuracy": 1e-6, **method})
    for _ in range(2):  # the error repeats if the run is continued
        with pytest.raises(cosim.SimulationError, match="closure0.*singular position.*No"):
            simulator.advance_to(0.1)


def test_equations_that_are_redundant_everywhere_are_no_singular_position() -> None:
    for model in (bricard(), four_bars(3), four_bars(2, turned=0.7, angle=0.3)):
        simulator = cosim.Simulator(model.build(), accuracy=1e-6)
        simulator.initialize()
        assert any(f.witness.endswith(".redundant") for f in simulator.findings)
        assert not any(f.witness.endswith(".singular") for f in simulator.findings)


def test_only_solvers_of_closed_loops_describe_the_start() -> None:
    pendulum = Multibody("pendulum")
    pendulum.joint("pin", name="pin", child=pendulum.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    assert not pendulum.build().solver.describes_start
    assert four_bars(1).build().solver.describes_start


def test_a_start_away_from_singular_positions_is_not_reported() -> None:
    """The rods hang straight down, although the turned axes of Ground show an angle of 0."""
    model = four_bars(1, speed=0.0, angle=-UPRIGHT, turned=UPRIGHT)
    result = model.simulate(until=0.1, accuracy=1e-6, signals=signals(1))
    assert not singular_findings(result)

"""What a run finds at its start: timers whose time has passed, and start values that constraints move."""

import math

import pytest

import cosim
from cosim_mechanics import Constraint, Multibody, coordinate
from cosim_workbench.summary import summary


class Bell(cosim.Component):
    """Rings once, at 1 s."""

    n = cosim.discrete()
    again = cosim.timer(start=1.0)

    @cosim.on(again, does="discrete")
    def ring(n, n_next):
        n_next[0] = n + 1


@pytest.mark.parametrize(
    ("start", "rings"),
    [(0.0, 1), (math.nextafter(1.0, 0.0), 1), (1.0, 1), (math.nextafter(1.0, 2.0), 0), (2.0, 0)],
)
def test_a_timer_before_the_start_does_not_ring_and_is_a_finding(start, rings):
    model = cosim.Model("m")
    model.add(Bell, "p")
    system = model.build()
    state = system.default_state()
    state.set_time(start)
    simulator = cosim.Simulator(system, state)
    simulator.advance_to(3.0)
    assert simulator.state["p.n"] == rings
    findings = [(f.kind, f.witness, f.time) for f in simulator.findings]
    assert findings == ([] if rings else [("passed timer", "p.again", start)])
    if not rings:
        assert "1 s, before" in simulator.findings[0].message


class Same(Constraint):
    """Two coordinates are equal."""

    coordinate1 = coordinate()
    coordinate2 = coordinate()

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate1) - s.acceleration(self.coordinate2)]

    @cosim.kernel
    def position_error(q1, q2, position_error):
        position_error[0] = q1 - q2


def pair(first, second):
    """Two masses on sliders whose coordinates are constrained to be equal, with these start values."""
    model = Multibody("m", gravity=(0, 0, 0))
    for name, q in (("a", first), ("b", second)):
        model.joint("slider", name=name, child=model.body(f"{name}_body", mass=1.0, inertia=(1, 1, 1)), q=q)
    model.add(Same, "same", coordinate1="a", coordinate2="b")
    return model


def test_a_start_that_constraints_move_is_a_finding_with_both_values():
    result = pair(0.25, 0.75).simulate(until=0.1)
    messages = {f.witness: f.message for f in result.findings if f.kind == "moved start"}
    assert messages["a.q"].startswith("starts at 0.5 m, not at 0.25 m: constraints move it there")
    assert messages["b.q"].startswith("starts at 0.5 m, not at 0.75 m")
    assert "a.q starts at 0.5 m" in summary("m", result)


@pytest.mark.parametrize(("first", "second"), [(0.0, 0.0), (0.5, 0.5), (0.5, 0.5 + 1e-9)])
def test_a_start_that_meets_the_constraints_has_no_finding(first, second):
    assert [f.kind for f in pair(first, second).simulate(until=0.1).findings] == []

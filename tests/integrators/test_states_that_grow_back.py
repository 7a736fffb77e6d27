"""A run reports a state that grows again after it was far below its tolerance."""

from __future__ import annotations

import pytest
from error_problems import Decay
from small_states import (
    ACCURACY,
    Epidemic,
    Oscillator,
)

import cosim


class Pushed(cosim.Component):
    """A mass that comes to rest; a force moves it again from 60 s on."""

    q = cosim.position(unit="m", start=1.0)
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(t, q, u, q_dot, u_dot):
        force = 0.0
        if t > 60.0:
            force = (t - 60.0) * (t - 60.0)
        q_dot[0] = u
        u_dot[0] = force - q - u


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "tsitouras", "radau5", "esdirk43"])
def test_a_state_that_grows_back_from_below_its_tolerance_is_reported(integrator: str) -> None:
    model = cosim.Model("epidemic")
    model.add(Epidemic, "town")
    result = model.simulate(until=385.0, integrator=integrator, accuracy=ACCURACY)
    findings = [finding for finding in result.findings if finding.kind == "grew back"]
    assert [finding.witness for finding in findings] == ["town.infected"]
    assert 150.0 < findings[0].time < 450.0


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "tsitouras", "radau5", "bdf"])
@pytest.mark.parametrize(("part", "until"), [(Pushed, 70.0), (Decay, 100.0), (Oscillator, 100.0)])
def test_states_that_decay_or_are_driven_again_are_not_reported(
    integrator: str, part: type[cosim.Component], until: float
) -> None:
    model = cosim.Model("pushed")
    model.add(part, "part")
    assert not model.simulate(until=until, integrator=integrator, accuracy=ACCURACY).findings

"""The contract kit on the damper, and a motion that can be written down."""

import math

import pytest
from acme_dampers import QuadraticDamper

import cosim
from cosim_mechanics import Multibody
from cosim_mechanics.testing import ForceElementContract


class TestQuadraticDamper(ForceElementContract):
    """The contract of force elements."""

    make = staticmethod(
        lambda: QuadraticDamper(
            station_on_body1=(0.1, 0.0, 0.3), station_on_body2=(0.0, -0.2, 0.0), damping=40.0
        )
    )


def sliding_mass(mass: float, damping: float, speed: float) -> Multibody:
    """A mass that slides along x, away from Ground, with nothing but the damper in its way."""
    model = Multibody("sliding_mass", gravity=(0.0, 0.0, 0.0))
    cart = model.body("cart", mass=mass, inertia=(0.0, 0.0, 0.0))
    model.joint("slider", child=cart, name="rail", q=1.0, u=speed)
    model.add("acme.quadratic_damper", "damper", body1="ground", body2=cart, damping=damping)
    return model


def test_slows_down_as_one_over_time() -> None:
    """From m v' = -c v^2: v = v0 / (1 + k t), x = x0 + (v0 / k) ln(1 + k t), with k = c v0 / m."""
    mass, damping, speed, until = 2.0, 5.0, 3.0, 1.5
    result = sliding_mass(mass, damping, speed).simulate(until=until, accuracy=1e-10)
    k = damping * speed / mass
    final = speed / (1.0 + k * until)
    assert result["rail.speed"][-1] == pytest.approx(final, rel=1e-8)
    assert result["rail.position"][-1] == pytest.approx(1.0 + speed / k * math.log(1.0 + k * until), rel=1e-8)
    lost = 0.5 * mass * (speed**2 - final**2)
    assert result["damper.dissipated_energy"][-1] == pytest.approx(lost, rel=1e-8)


def test_stations_that_coincide_are_an_error() -> None:
    """The error names the damper and the reason."""
    model = sliding_mass(2.0, 5.0, 3.0)
    state = model.build().default_state()
    state["rail.q"] = [0.0]
    with pytest.raises(cosim.SimulationError, match=r"damper.*coincide"):
        state.realize(cosim.Stage.DYNAMICS)


def test_a_negative_damping_is_refused() -> None:
    """With the value, its unit and the bound."""
    with pytest.raises(cosim.ModelError, match=r"damping is -1 N.s2/m2, needs at least 0"):
        QuadraticDamper(damping=-1.0)

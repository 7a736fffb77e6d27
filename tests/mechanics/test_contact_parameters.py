"""Parameters of a contact: one friction counts for both, and values that are refused."""

from __future__ import annotations

import pytest
from contact_models import RADIUS, ball_on_floor, rest_depth

import cosim
from cosim_mechanics import SphereContact


@pytest.mark.parametrize(("restitution", "is_refused"), [(1e-12, True), (9.9e-5, True), (1e-4, False)])
def test_restitutions_below_1e_4_are_refused(restitution: float, is_refused: bool) -> None:
    model = ball_on_floor(1e7, 0.11, restitution=restitution)
    if is_refused:
        with pytest.raises(cosim.SimulationError, match="restitution.*below.*rest"):
            model.simulate(until=0.2)
    else:
        assert 0.0 < RADIUS - model.simulate(until=0.2)["ball.z"][-1] < rest_depth(1e7)


def test_friction_at_rest_below_friction_in_motion_is_refused() -> None:
    with pytest.raises(cosim.SimulationError, match="static friction"):
        ball_on_floor(1e7, static_friction=0.2, dynamic_friction=0.3).simulate(until=0.1, accuracy=1e-6)


@pytest.mark.parametrize(
    ("values", "frictions"),
    [
        ({}, (0.0, 0.0)),
        ({"static_friction": 0.5}, (0.5, 0.5)),
        ({"dynamic_friction": 0.4}, (0.4, 0.4)),
        ({"static_friction": 0.5, "dynamic_friction": 0.0}, (0.5, 0.0)),
    ],
)
def test_one_friction_counts_for_both(values: dict[str, float], frictions: tuple[float, float]) -> None:
    contact = ball_on_floor(1e7, **values)["floor"]
    assert (contact.static_friction, contact.dynamic_friction) == frictions


def test_a_friction_that_is_set_later_counts_for_both() -> None:
    contact = ball_on_floor(1e7)["floor"]
    contact.static_friction = 0.7
    assert (contact.static_friction, contact.dynamic_friction) == (0.7, 0.7)


def test_a_contact_needs_a_radius_of_its_own() -> None:
    with pytest.raises(cosim.ModelError, match="radius"):
        SphereContact(stiffness=1e5)

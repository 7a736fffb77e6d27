"""What every force element has to keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cosim
from cosim.testing.described import check_bounds, check_docstring
from cosim.testing.other_mode import results_in_other_mode
from cosim.testing.two_bodies import Pose, TwoBodies, about_ground, random_pose

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
CHECKED = settings(max_examples=15, deadline=None, database=None, derandomize=True)
STENCIL = ((-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))


class ForceElementContract:
    """Checks of a force element between two free bodies at random poses and velocities.

    Attributes
    ----------
    make : callable
        Makes the element, without ``body1`` and ``body2``.
    angle, distance, speed : float
        Ranges of the random motion: largest rotation of each body (rad), largest coordinate of its
        origin (m), largest component of velocities (m/s, rad/s). Narrow them for an element that has
        a singular pose.
    tolerance : float
        Relative, for the balance of forces and of power.
    step : float
        Of the difference quotient of the potential energy, s.

    Examples
    --------
    >>> from cosim.testing import ForceElementContract
    >>> class TestMyDamper(ForceElementContract):
    ...     make = staticmethod(lambda: MyDamper(damping=40.0))
    """

    make: ClassVar[Callable[..., Any]]
    angle: ClassVar[float] = 1.0
    distance: ClassVar[float] = 0.5
    speed: ClassVar[float] = 2.0
    tolerance: ClassVar[float] = 1e-7
    step: ClassVar[float] = 1e-3

    @classmethod
    def bodies(cls, number: int = 1) -> TwoBodies:
        """A system with as many elements, each between two bodies of its own."""
        return TwoBodies([cls.make() for _ in range(number)])

    @classmethod
    def pose(cls, seed: int) -> Pose:
        """Random poses and velocities."""
        return random_pose(seed, cls.angle, cls.distance, cls.speed)

    def test_has_a_docstring_with_its_law(self) -> None:
        """The class says what it computes."""
        check_docstring(self.make())

    def test_refuses_parameters_out_of_bounds(self) -> None:
        """Bounds that are declared are kept."""
        check_bounds(self.make())

    def test_forces_are_finite(self) -> None:
        """Six finite numbers on each body, in motion and at rest."""
        bodies = self.bodies()
        for seed in range(5):
            (q1, u1), (q2, u2) = self.pose(seed)
            for factor in (1.0, 0.0):
                state = bodies.state(((q1, factor * u1), (q2, factor * u2)))
                for name, force in zip(("F_GB1", "F_GB2"), bodies.forces(state), strict=True):
                    assert force.shape == (6,)
                    assert np.all(np.isfinite(force)), (
                        f"{name} = {force} {'in motion' if factor else 'at rest'}"
                    )

    def test_forces_follow_from_the_state_alone(self) -> None:
        """No memory outside the State, and nothing of the State is changed by computing forces."""
        bodies = self.bodies()
        state = bodies.state(self.pose(1))
        first = np.concatenate(bodies.forces(state))
        for seed in (2, 3):
            bodies.place(state, self.pose(seed))
            before = state.to_bytes()
            bodies.forces(state)
            assert state.to_bytes() == before, "computing the forces changed a variable of the State"
        bodies.place(state, self.pose(1))
        again = np.concatenate(bodies.forces(state))
        assert first.tobytes() == again.tobytes(), (
            f"other forces at the same State: {first}, then {again}; memory belongs into the State"
        )

    def test_two_elements_are_independent(self) -> None:
        """Two of a kind in one system act as if each were alone."""
        (a, b), (_, c) = self.pose(20), self.pose(21)
        both = self.bodies(2)
        state = both.state((a, b), (a, c))
        for pair, pose in enumerate(((a, b), (a, c))):
            alone = self.bodies()
            expected = np.concatenate(alone.forces(alone.state(pose)))
            found = np.concatenate(both.forces(state, pair))
            assert found.tobytes() == expected.tobytes(), (
                f"element {pair + 1} of two: {found}, alone: {expected}; instances share something"
            )

    def test_action_is_reaction(self) -> None:
        """The forces on the two bodies are equal and opposite about any common point."""
        bodies = self.bodies()

        @CHECKED
        @given(SEEDS)
        def check(seed: int) -> None:
            state = bodies.state(self.pose(seed))
            on1, on2 = bodies.forces(state)
            total = about_ground(on1, state["a0.X_GB"][9:]) + about_ground(on2, state["b0.X_GB"][9:])
            size = max(float(np.abs(on1).max()), float(np.abs(on2).max()), 1e-300)
            assert np.abs(total).max() <= self.tolerance * size, (
                f"about Ground's origin both together give {total}, not zero; forces {on1} and {on2}"
            )

        check()

    def test_power_is_the_loss_of_energy(self) -> None:
        """What the forces do to the bodies is taken from the potential energy or dissipated."""
        declared = type(self.make()).declarations
        stores, loses = "potential_energy" in declared, "dissipated_energy" in declared
        if not (stores or loses):
            pytest.skip("the element has neither potential_energy nor dissipated_energy")
        bodies = self.bodies()

        @CHECKED
        @given(SEEDS)
        def check(seed: int) -> None:
            state = bodies.state(self.pose(seed))
            on1, on2 = bodies.forces(state)
            power = float(on1 @ state["a0.V_GB"] + on2 @ state["b0.V_GB"])
            size = float(np.abs(on1) @ np.abs(state["a0.V_GB"]) + np.abs(on2) @ np.abs(state["b0.V_GB"]))
            loss = state["element0.dissipated_energy_dot"] if loses else 0.0
            assert loss >= -self.tolerance * size, f"dissipated_energy falls: {loss} W"
            stored = self._rate_of_potential_energy(state) if stores else 0.0
            assert abs(power + stored + loss) <= 10.0 * self.tolerance * max(size, 1e-300), (
                f"the forces do {power} W, the potential energy grows by {stored} W, {loss} W are dissipated"
            )

        check()

    def test_compiled_is_plain_python(self) -> None:
        """The same bytes with and without compilation."""
        mine, theirs = self.results(), results_in_other_mode(type(self), "results")
        different = [a.split(":")[0] for a, b in zip(mine, theirs, strict=True) if a != b]
        assert not different, f"compiled and plain Python differ in {', '.join(dict.fromkeys(different))}"

    def test_restored_state_gives_the_same_forces(self) -> None:
        """Saved to bytes and read again, a State says everything."""
        bodies = self.bodies()
        for seed in (6, 7):
            state = bodies.state(self.pose(seed))
            expected = np.concatenate(bodies.forces(state))
            restored = bodies.system.state_from_bytes(state.to_bytes())
            found = np.concatenate(bodies.forces(restored))
            assert found.tobytes() == expected.tobytes(), f"{found} in the restored State, not {expected}"

    @classmethod
    def results(cls) -> list[str]:
        """All that the element computes at a few poses, to the last bit."""
        bodies = cls.bodies()
        return [text for seed in range(8, 16) for text in bodies.computed(bodies.state(cls.pose(seed)))]

    def _rate_of_potential_energy(self, state: cosim.State) -> float:
        """By central differences of fourth order along the motion, W."""
        y, y_dot, moved, rate = state.y.copy(), state.y_dot.copy(), state.copy(), 0.0
        for place, weight in STENCIL:
            moved.set_y(y + place * self.step * y_dot)
            moved.realize(cosim.Stage.ACCELERATION)
            rate += weight * moved["element0.potential_energy"] / self.step
        return rate

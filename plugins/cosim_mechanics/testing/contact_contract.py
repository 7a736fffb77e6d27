"""The contract kit of contacts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

import cosim
from cosim.testing.one_sided_rates import is_possible_rate
from cosim_mechanics.testing.force_bench import NoExampleError, Scene, realized
from cosim_mechanics.testing.force_element_contract import ForceElementContract


class ContactContract(ForceElementContract):
    """Checks of a contact besides those of a force element: of its surfaces, and forces that only push.

    The attributes are those of `ForceElementContract`. Narrow `distance` so that the surfaces meet in some of
    the random poses and are apart in others.

    Examples
    --------
    >>> from cosim_mechanics.testing import ContactContract
    >>> class TestMyContact(ContactContract):
    ...     make = staticmethod(lambda: MyContact(radius=0.1, stiffness=1e5))
    """

    def test_normal_is_a_unit_vector(self) -> None:
        """The normal has length 1, and nothing slips along it."""
        for scene, state in self._moments():
            normal, slip = np.array(state["element0.normal"]), np.array(state["element0.slip_velocity"])
            description = self.bench().scene_text(scene)
            assert abs(normal @ normal - 1.0) <= 1e-12, (
                f"the normal is {normal}, no unit vector; {description}"
            )
            assert abs(normal @ slip) <= 1e-9 * (1.0 + np.abs(slip).max()), (
                f"the slip velocity {slip} has a part along the normal {normal}; {description}"
            )

    def test_depth_changes_at_its_rate(self) -> None:
        """The depth grows as fast as the bodies approach at the point along the normal.

        Where that is wrong, so is depth, normal or point, and the contact makes energy.
        """
        for scene, state in self._moments():
            rate = float(state["element0.depth_rate"])
            y, y_dot, moved = state.y.copy(), state.y_dot.copy(), state.copy()

            begin = state.time

            def depth(time: float, begin=begin, y=y, y_dot=y_dot, moved=moved) -> float:  # type: ignore[no-untyped-def]
                moved.set_time(begin + time)
                moved.set_y(y + time * y_dot)
                return float(realized(moved, cosim.Stage.POSITION)["element0.depth"])

            size = 1.0 + abs(rate)
            assert is_possible_rate(rate, depth, self.step, 10.0 * self.tolerance * size), (
                f"depth_rate is {rate:.9g} m/s, but the depth does not change so; "
                f"{self.bench().scene_text(scene)}"
            )

    def test_surfaces_only_push(self) -> None:
        """Surfaces that are apart exert no force; surfaces that touch do not pull."""
        touching = separate = 0
        for scene, state in self._moments():
            depth, force = float(state["element0.depth"]), float(state["element0.normal_force"])
            description = self.bench().scene_text(scene)
            assert force >= 0.0, f"the normal force is {force} N: surfaces do not pull; {description}"
            assert depth > 0.0 or force == 0.0, f"force {force} N at depth {depth} m: apart; {description}"
            touching, separate = touching + (depth > 0.0), separate + (depth <= 0.0)
        assert touching and separate, (
            f"the surfaces touch in {touching} of {touching + separate} random poses: choose `distance` so "
            "that they touch in some"
        )

    def _moments(self) -> Iterator[tuple[Scene, cosim.State]]:
        """Random scenes in which the contact can be computed, each with its realized State."""
        for seed in range(40, 76):
            scene = self.scene(seed)
            with suppress(NoExampleError):
                state = realized(self.bench().state(scene))
                if state["element0.enabled"]:
                    yield scene, state

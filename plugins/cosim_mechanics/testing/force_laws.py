"""The laws that a force element may claim, proven or refuted with a smallest counterexample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import cosim
from cosim.testing.part_contract import PartContract
from cosim_mechanics import contracts
from cosim_mechanics.testing.force_bench import (
    STENCIL,
    ForceBench,
    Placed,
    Scene,
    about_ground,
    realized,
    scenes,
)

CHECKED = settings(
    max_examples=20,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)
ROUNDING = 4e-15
FINER = (1.0, 0.25, 1.0 / 16.0)


class ForceLaws(PartContract):
    """Checks of the laws that the class of an element claims in its attribute `laws`.

    `ForceElementContract` is one: see there for the attributes.
    """

    angle: ClassVar[float] = 1.0
    distance: ClassVar[float] = 0.5
    speed: ClassVar[float] = 2.0
    tolerance: ClassVar[float] = 1e-7
    step: ClassVar[float] = 1e-3
    _benches: ClassVar[dict[type, ForceBench]] = {}

    @classmethod
    def bench(cls) -> ForceBench:
        """A system with one element between two bodies; the same for all checks."""
        if cls not in ForceLaws._benches:
            ForceLaws._benches[cls] = ForceBench([cls.make()])
        return ForceLaws._benches[cls]

    @classmethod
    def scenes(cls) -> st.SearchStrategy[Scene]:
        """Where the bodies may be, and how they may move."""
        return scenes(cls.angle, cls.distance, cls.speed)

    def _claimed(self, law: contracts.Law) -> None:
        if law not in type(self.make()).laws:
            pytest.skip(f"{type(self.make()).__name__} does not claim Law.{law.name}")

    def test_internal(self) -> None:
        """Law.INTERNAL: the forces on the two bodies are equal and opposite about any common point."""
        self._claimed(contracts.Law.INTERNAL)
        bench = self.bench()

        @CHECKED
        @given(self.scenes())
        def check(scene: Scene) -> None:
            state = realized(bench.state(scene))
            forces = bench.forces(state)
            total = sum(about_ground(forces[end], state[f"{end}0.X_GB"][9:]) for end in "ab")
            size = max(float(np.abs(force).max()) for force in forces.values())
            assert set(forces) == {"a", "b"}, f"it acts on more than two bodies: {sorted(forces)}"
            assert np.abs(total).max() <= self.tolerance * max(size, 1e-300), (
                f"about Ground's origin both forces together give {total}, not zero; on body 1 "
                f"{forces['a']}, on body 2 {forces['b']}; {scene}"
            )

        check()

    def test_frame_indifferent(self) -> None:
        """Law.FRAME_INDIFFERENT: the forces turn with everything, whatever motion all bodies share."""
        self._claimed(contracts.Law.FRAME_INDIFFERENT)
        bench = self.bench()

        @CHECKED
        @given(self.scenes(), scenes(3.0, 10.0, 5.0))
        def check(scene: Scene, moved: Scene) -> None:
            state, together = realized(bench.state(scene)), moved.body1
            other = realized(bench.state(carried(scene, together)))
            turned, expected, found = together.rotation, bench.forces(state), bench.forces(other)
            for end in "ab":
                force = turned.apply(expected[end].reshape(2, 3)).ravel()
                error = np.abs(found[end] - force).max()
                assert error <= self.tolerance * max(float(np.abs(force).max()), 1e-9), (
                    f"on body {'ab'.index(end) + 1} {found[end]} where everything moves as {together}, "
                    f"{force} expected; {scene}"
                )

        check()

    def test_passive(self) -> None:
        """Law.PASSIVE: it never does more than its potential energy falls."""
        self._claimed(contracts.Law.PASSIVE)
        bench = self.bench()

        @CHECKED
        @given(self.scenes())
        def check(scene: Scene) -> None:
            state = realized(bench.state(scene))
            power, size = bench.power(state)
            for stored, noise in self._rates_of_potential_energy(state):
                gained = power + stored
                if gained <= 10.0 * self.tolerance * size + noise:
                    return
            pytest.fail(f"it does {power:.6g} W and stores {stored:.6g} W besides, out of nothing; {scene}")

        check()

    def test_zero_at_rest_pose(self) -> None:
        """Law.ZERO_AT_REST_POSE: at rest in the pose of `rest_pose` there is no force."""
        self._claimed(contracts.Law.ZERO_AT_REST_POSE)
        bench, X_12 = self.bench(), np.array(self.make().rest_pose())

        @CHECKED
        @given(self.scenes())
        def check(scene: Scene) -> None:
            size = max(np.abs(f).max() for f in bench.forces(realized(bench.state(scene))).values())
            rest = scene.at_rest()
            R = rest.body1.rotation
            at = np.array(rest.body1.at) + R.apply(X_12[9:])
            turned = R * Rotation.from_matrix(X_12[:9].reshape(3, 3))
            placed = Placed(triple(turned.as_rotvec()), triple(at))
            forces = bench.forces(realized(bench.state(Scene(rest.body1, placed, 0.0, 0.0))))
            for end in "ab":
                assert np.abs(forces[end]).max() <= self.tolerance * max(float(size), 1e-6), (
                    f"on body {'ab'.index(end) + 1} {forces[end]} at rest in the rest pose; {rest.body1}"
                )

        check()

    def test_symmetric(self) -> None:
        """Law.SYMMETRIC: exchanging the bodies, and what is fixed on them, exchanges the forces."""
        self._claimed(contracts.Law.SYMMETRIC)
        bench = self.bench()
        made = self.make()
        swapped = {exchanged(name): value for name, value in made.values.given.items()}
        other = ForceBench([type(made)(**swapped)])

        @CHECKED
        @given(self.scenes())
        def check(scene: Scene) -> None:
            forces = bench.forces(realized(bench.state(scene)))
            state = realized(other.state(Scene(scene.body2, scene.body1, scene.q, scene.u)))
            found = other.forces(state)
            for here, there in ("ab", "ba"):
                size = max(float(np.abs(forces[here]).max()), 1e-9)
                assert np.abs(found[there] - forces[here]).max() <= self.tolerance * size, (
                    f"on body {'ab'.index(here) + 1} {forces[here]}, but {found[there]} when it is "
                    f"body {'ab'.index(there) + 1}; {scene}"
                )

        check()

    def _rates_of_potential_energy(self, state: cosim.State) -> Iterator[tuple[float, float]]:
        """By central differences of fourth order along the motion, and their rounding, W.

        At finer and finer steps: at a kink of the law the coarse ones are wrong; of a wrong energy all are.
        """
        if "potential_energy" not in type(self.make()).declarations:
            yield 0.0, 0.0
            return
        y, y_dot, moved = state.y.copy(), state.y_dot.copy(), state.copy()
        for factor in FINER:
            step, rate, largest = factor * self.step, 0.0, 0.0
            for place, weight in STENCIL:
                moved.set_y(y + place * step * y_dot)
                energy = realized(moved, cosim.Stage.REPORT)["element0.potential_energy"]
                rate += weight * energy / step
                largest = max(largest, abs(energy))
            yield rate, ROUNDING * largest / step


def exchanged(name: str) -> str:
    """The name of the same thing on the other body.

    >>> exchanged("frame_on_body1"), exchanged("stiffness")
    ('frame_on_body2', 'stiffness')
    """
    return {"1": name[:-1] + "2", "2": name[:-1] + "1"}.get(name[-1], name)


def triple(values: Any) -> tuple[float, float, float]:
    """Three numbers as a tuple."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def carried(scene: Scene, by: Placed) -> Scene:
    """The same scene seen where everything is carried along by a rigid motion."""
    Q, w0, v0 = by.rotation, np.array(by.w), np.array(by.v)

    def moved(body: Placed) -> Placed:
        at = Q.apply(body.at) + by.at
        return Placed(
            triple((Q * body.rotation).as_rotvec()),
            triple(at),
            triple(Q.apply(body.w) + w0),
            triple(Q.apply(body.v) + v0 + np.cross(w0, at)),
        )

    return Scene(moved(scene.body1), moved(scene.body2), scene.q, scene.u)

"""The laws that a force element may claim, proven or refuted with a smallest counterexample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import cosim
from cosim.testing.one_sided_rates import possible_rates
from cosim.testing.part_contract import PartContract
from cosim_mechanics import contracts
from cosim_mechanics.testing.force_bench import (
    ForceBench,
    NoExampleError,
    Placed,
    Scene,
    about_ground,
    no_example_is_skipped,
    random_scene,
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
ROUNDING = 1e-13
SCENE_SEEDS = range(100, 112)
"""Seeds of further scenes, besides those of Hypothesis, which often resemble each other."""


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
    _least_powers: ClassVar[dict[type, float]] = {}

    @classmethod
    def bench(cls) -> ForceBench:
        """A system with one element between two bodies; the same for all checks."""
        if cls not in ForceLaws._benches:
            ForceLaws._benches[cls] = ForceBench([cls.make()])
        return ForceLaws._benches[cls]

    @classmethod
    def scenes(cls) -> st.SearchStrategy[Scene]:
        """Poses and velocities at which the bodies are tested."""
        return scenes(cls.angle, cls.distance, cls.speed)

    def check_scenes(self, check: Callable[[Scene], None]) -> None:
        """Check scenes of Hypothesis, which reduces one that fails, then scenes of a random generator."""

        @CHECKED
        @given(self.scenes())
        def try_scene(scene: Scene) -> None:
            with no_example_is_skipped():
                check(scene)

        try_scene()
        for seed in SCENE_SEEDS:
            with suppress(NoExampleError):
                check(random_scene(seed, self.angle, self.distance, self.speed))

    def _claimed(self, law: contracts.Law) -> None:
        if law not in type(self.make()).laws:
            pytest.skip(f"{type(self.make()).__name__} does not claim Law.{law.name}")

    def test_internal(self) -> None:
        """Law.INTERNAL: the forces on the two bodies are equal and opposite about any common point."""
        self._claimed(contracts.Law.INTERNAL)
        bench = self.bench()

        def check(scene: Scene) -> None:
            state = realized(bench.state(scene))
            forces = bench.forces(state)
            total = sum(about_ground(forces[end], state[f"{end}0.X_GB"][9:]) for end in "ab")
            size = max(float(np.abs(force).max()) for force in forces.values())
            assert set(forces) == {"a", "b"}, f"it acts on more than two bodies: {sorted(forces)}"
            assert np.abs(total).max() <= self.tolerance * max(size, 1e-300), (
                f"about Ground's origin both forces together give {total}, not zero; on body 1 "
                f"{forces['a']}, on body 2 {forces['b']}; {bench.scene_text(scene)}"
            )

        self.check_scenes(check)

    def test_frame_indifferent(self) -> None:
        """Law.FRAME_INDIFFERENT: the forces turn with everything, whatever motion all bodies share."""
        self._claimed(contracts.Law.FRAME_INDIFFERENT)
        bench = self.bench()

        def check(scene: Scene, moved: Scene) -> None:
            state, together = realized(bench.state(scene)), moved.body1
            other = realized(bench.state(carried(scene, together)))
            turned, expected, forces = together.rotation, bench.forces(state), bench.forces(other)
            for end in "ab":
                force = turned.apply(expected[end].reshape(2, 3)).ravel()
                error = np.abs(forces[end] - force).max()
                assert error <= self.tolerance * max(float(np.abs(force).max()), 1e-6), (
                    f"on body {'ab'.index(end) + 1} {forces[end]} where everything moves as {together}, "
                    f"{force} expected; {bench.scene_text(scene)}"
                )

        @CHECKED
        @given(self.scenes(), scenes(3.0, 10.0, 5.0))
        def try_scene(scene: Scene, moved: Scene) -> None:
            with no_example_is_skipped():
                check(scene, moved)

        try_scene()
        for seed in SCENE_SEEDS:
            moved = random_scene(seed + 1000, 3.0, 10.0, 5.0)
            with suppress(NoExampleError):
                check(random_scene(seed, self.angle, self.distance, self.speed), moved)

    def test_passive(self) -> None:
        """Law.PASSIVE: it never does more than its potential energy falls."""
        self._claimed(contracts.Law.PASSIVE)
        bench = self.bench()

        def check(scene: Scene) -> None:
            state = realized(bench.state(scene))
            power, size = bench.power(state)
            stored = math.nan
            for stored, _, noise in self._rates_of_potential_energy(state):
                if power + stored <= 10.0 * self.tolerance * size + noise + self.least_power():
                    return
            if math.isnan(stored):
                raise NoExampleError
            pytest.fail(
                f"energy grows by {power + stored:.6g} W although no power is supplied: the forces do "
                f"{power:.6g} W, the potential energy grows by {stored:.6g} W; {bench.scene_text(scene)}"
            )

        self.check_scenes(check)

    def test_zero_at_rest_pose(self) -> None:
        """Law.ZERO_AT_REST_POSE: at rest in the pose of `rest_pose` there is no force."""
        self._claimed(contracts.Law.ZERO_AT_REST_POSE)
        bench = self.bench()

        def check(scene: Scene) -> None:
            size = max(np.abs(f).max() for f in bench.forces(realized(bench.state(scene))).values())
            resting, X_12 = scene.at_rest(), self._rest_pose(bench.values(scene))
            R = resting.body1.rotation
            at = np.array(resting.body1.at) + R.apply(X_12[9:])
            turned = R * Rotation.from_matrix(X_12[:9].reshape(3, 3))
            placed = Placed(triple(turned.as_rotvec()), triple(at))
            forces = bench.forces(realized(bench.state(replace(resting, body2=placed, q=0.0))))
            for end in "ab":
                assert np.abs(forces[end]).max() <= self.tolerance * max(float(size), 1e-6), (
                    f"on body {'ab'.index(end) + 1} {forces[end]} at rest in the rest pose; {resting.body1}"
                )

        self.check_scenes(check)

    def _rest_pose(self, values: Mapping[str, Any]) -> NDArray[np.float64]:
        """The rest pose of an element with these values."""
        element = self.make()
        parameters = {n: v for n, v in values.items() if type(element).declarations[n].kind == "parameter"}
        return np.array(type(element)(**{**element.values.given, **parameters}).rest_pose())

    def test_symmetric(self) -> None:
        """Law.SYMMETRIC: exchanging the bodies, and what is fixed on them, exchanges the forces."""
        self._claimed(contracts.Law.SYMMETRIC)
        bench = self.bench()
        element = self.make()
        swapped = {exchanged(name): value for name, value in element.values.given.items()}
        other = ForceBench([type(element)(**swapped)])

        def check(scene: Scene) -> None:
            forces = bench.forces(realized(bench.state(scene)))
            state = other.state(replace(scene, body1=scene.body2, body2=scene.body1, values=0))
            other.put_values(state, {exchanged(name): v for name, v in bench.values(scene).items()})
            swapped_forces = other.forces(realized(state))
            for end, opposite in ("ab", "ba"):
                size = max(float(np.abs(forces[end]).max()), 1e-6)
                assert np.abs(swapped_forces[opposite] - forces[end]).max() <= self.tolerance * size, (
                    f"on body {'ab'.index(end) + 1} {forces[end]}, but {swapped_forces[opposite]} when it is "
                    f"body {'ab'.index(opposite) + 1}; {bench.scene_text(scene)}"
                )

        self.check_scenes(check)

    @classmethod
    def least_power(cls) -> float:
        """The power that counts as none, W: rounding of the power elsewhere, as the element declares it."""
        if cls not in ForceLaws._least_powers:
            bench, usual = cls.bench(), 0.0
            for seed in range(0, 18, 3):
                with suppress(NoExampleError):
                    scene = random_scene(seed, cls.angle, cls.distance, cls.speed)
                    usual = max(usual, bench.power(realized(bench.state(scene)))[1])
            ForceLaws._least_powers[cls] = ROUNDING * usual
        return ForceLaws._least_powers[cls]

    def _rates_of_potential_energy(self, state: cosim.State) -> Iterator[tuple[float, float, float]]:
        """Bounds of the growth of the potential energy along the motion, W, and their rounding.

        See `possible_rates`.
        """
        if "potential_energy" not in type(self.make()).declarations:
            yield 0.0, 0.0, 0.0
            return
        y, y_dot, moved = state.y.copy(), state.y_dot.copy(), state.copy()

        def energy(time: float) -> float:
            moved.set_time(state.time + time)
            moved.set_y(y + time * y_dot)
            return float(realized(moved, cosim.Stage.REPORT)["element0.potential_energy"])

        yield from possible_rates(energy, self.step)


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
    """A scene whose bodies are moved together by a rigid motion."""
    Q, w0, v0 = by.rotation, np.array(by.w), np.array(by.v)

    def moved(body: Placed) -> Placed:
        at = Q.apply(body.at) + by.at
        return Placed(
            triple((Q * body.rotation).as_rotvec()),
            triple(at),
            triple(Q.apply(body.w) + w0),
            triple(Q.apply(body.v) + v0 + np.cross(w0, at)),
        )

    return replace(scene, body1=moved(scene.body1), body2=moved(scene.body2))

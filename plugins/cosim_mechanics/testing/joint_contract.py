"""The contract kit of joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import cosim
from cosim.testing.described import check_docstring
from cosim.testing.drawn_values import Values, drawn_values, write_values
from cosim.testing.one_sided_rates import is_possible_rate
from cosim.testing.part_contract import PartContract
from cosim_mechanics.testing.force_bench import STENCIL

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
CHECKED = settings(max_examples=15, deadline=None, database=None, derandomize=True)
SLOTS = ("X_FM", "H_FM", "HDotU_FM")


class JointContract(PartContract):
    """Checks of a joint between Ground and a body, at random coordinates and speeds.

    Attributes
    ----------
    make : callable
        Makes the joint, without ``parent`` and ``child``.
    reach : float
        Coordinates lie within this distance of their start values, rad or m. Narrow it for a joint
        with a singular pose.
    step : float
        Of the difference quotients, s.
    tolerance : float
        Relative to the speeds.

    Examples
    --------
    >>> from cosim_mechanics.testing import JointContract
    >>> class TestLift(JointContract):
    ...     make = staticmethod(lambda: Lift())
    """

    beside: ClassVar[str] = "mechanics.ball"
    reach: ClassVar[float] = 0.6
    step: ClassVar[float] = 1e-3
    tolerance: ClassVar[float] = 1e-8

    @classmethod
    def system(cls) -> cosim.System:
        """Ground, the joint as part ``joint``, a body."""
        joint, model = cls.make(), cosim.Model("one_joint")
        model.add("mechanics.ground", "ground")
        inertia: Any = (0.2, 0.3, 0.25)
        model.add("mechanics.rigid_body", "body", mass=1.3, inertia=inertia)
        model.add(type(joint), "joint", **{**joint.values.given, "parent": "ground", "child": "body"})
        return model.build()

    @classmethod
    def example(cls) -> tuple[cosim.State, str]:
        """The joint between Ground and a body, in motion."""
        return cls.state(cls.system(), 1), "joint"

    @classmethod
    def state(cls, system: cosim.System, seed: int) -> cosim.State:
        """Random coordinates, speeds, time and, but for each third seed, own values; to Acceleration."""
        random, state = np.random.default_rng(seed), system.default_state()
        if seed % 3:
            write_values(state, "joint", cls.values(state, seed))
        q = state.q + random.uniform(-cls.reach, cls.reach, system.nq)
        for first in getattr(system.parts["joint"], "quaternions", ()):
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
        state.set_q(q)
        state.set_u(random.uniform(-2.0, 2.0, system.nu))
        state.set_time(float(random.uniform(0.0, 10.0)))
        return state.realize(cosim.Stage.ACCELERATION)

    @classmethod
    def values(cls, state: cosim.State, seed: int) -> Values:
        """The joint's own `drawn_values`, without coordinates and speeds."""
        moving = ("position", "speed")
        declarations = state.system.parts["joint"].declarations
        drawn = drawn_values(state, "joint", seed)
        return {name: value for name, value in drawn.items() if declarations[name].kind not in moving}

    @classmethod
    def results(cls) -> list[str]:
        """The results of the joint at a few poses, to the last bit."""
        system, lines = cls.system(), []
        for seed in range(8):
            state = cls.state(system, seed)
            lines += [f"{n}: {np.asarray(state[f'joint.{n}']).tobytes().hex()}" for n in cls.slots()]
            if system.nq:
                lines.append(f"q_dot: {np.asarray(state['joint.q_dot']).tobytes().hex()}")
        return lines

    @classmethod
    def slots(cls) -> tuple[str, ...]:
        """Names of the cache slots that it writes."""
        return SLOTS if type(cls.make()).nu else SLOTS[:1]

    def test_has_a_docstring_with_its_law(self) -> None:
        """The class says which motion it leaves."""
        check_docstring(self.make())

    def test_pose_is_a_rotation_and_a_position(self) -> None:
        """The first nine reals of X_FM are orthonormal and right-handed, all are finite."""
        system = self.system()
        for seed in range(10):
            X = self.state(system, seed)["joint.X_FM"]
            R = X[:9].reshape(3, 3)
            assert np.all(np.isfinite(X)), f"X_FM = {X}"
            assert np.allclose(R @ R.T, np.eye(3), atol=1e-12) and np.linalg.det(R) > 0.0, (
                f"the rotation in X_FM is none:\n{R}"
            )

    def test_velocity_is_that_of_the_pose(self) -> None:
        """``H_FM u`` against differences of X_FM along ``q_dot``."""
        system = self.moving()

        @CHECKED
        @given(SEEDS)
        def check(seed: int) -> None:
            state = self.state(system, seed)
            X, V = state["joint.X_FM"], velocity(state)
            X_dot = self._rate(state, lambda s: s["joint.X_FM"])
            spin = X_dot[:9].reshape(3, 3) @ X[:9].reshape(3, 3).T
            expected = np.array([spin[2, 1], spin[0, 2], spin[1, 0], *X_dot[9:]])
            tolerance = self.tolerance * self._size(state)
            assert np.allclose(V, expected, atol=tolerance) or self._moves_with(state, V, tolerance), (
                f"H_FM u = {V}, the pose moves with {expected} at q = {state.q}, u = {state.u}"
            )

        check()

    def test_axes_are_those_of_the_map(self) -> None:
        """Where the class names `axes`, H_FM is ones at them and HDotU_FM is zero, at random poses."""
        axes = type(self.make()).axes
        if not axes:
            pytest.skip("the joint names no axes")
        system, expected = self.moving(), np.eye(6)[list(axes)].reshape(-1)
        for seed in range(10):
            state = self.state(system, seed)
            H, terms = np.asarray(state["joint.H_FM"]), np.asarray(state["joint.HDotU_FM"])
            assert np.array_equal(H, expected) and not terms.any(), (
                f"axes = {axes}, but H_FM = {H}, HDotU_FM = {terms} at q = {state.q}, u = {state.u}"
            )

    def test_velocity_terms_are_those_of_the_map(self) -> None:
        """``HDotU_FM`` against differences of ``H_FM u`` along ``q_dot``, u held."""
        system = self.moving()

        @CHECKED
        @given(SEEDS)
        def check(seed: int) -> None:
            state = self.state(system, seed)
            expected, terms = self._rate(state, velocity), state["joint.HDotU_FM"]
            tolerance = self.tolerance * self._size(state) ** 2
            assert np.allclose(terms, expected, atol=tolerance) or all(
                is_possible_rate(float(terms[i]), self._along(state, velocity, i), self.step, tolerance)
                for i in range(6)
            ), f"HDotU_FM = {terms}, H_FM u changes at {expected} at q = {state.q}, u = {state.u}"

        check()

    def test_follows_from_the_state_alone(self) -> None:
        """No memory outside the State, and nothing of the State is changed."""
        system = self.system()
        state = self.state(system, 1)
        saved, first = state.to_bytes(), [state[f"joint.{name}"].tobytes() for name in self.slots()]
        self.state(system, 2)
        state.invalidate(cosim.Stage.INSTANCE, "the contract kit")
        state.realize(cosim.Stage.ACCELERATION)
        again = [state[f"joint.{name}"].tobytes() for name in self.slots()]
        assert first == again, "other results at the same State; memory belongs into the State"
        assert state.to_bytes() == saved, "computing the joint changed a variable of the State"

    def moving(self) -> cosim.System:
        """The system, unless the joint leaves no motion."""
        if not type(self.make()).nu:
            pytest.skip("the joint leaves no motion")
        return self.system()

    def _rate(
        self, state: cosim.State, quantity: Callable[[cosim.State], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        q, q_dot, moved = state.q.copy(), state["joint.q_dot"], state.copy()
        rate = np.zeros_like(quantity(state))
        for place, weight in STENCIL:
            moved.set_time(state.time + place * self.step)
            moved.set_q(q + place * self.step * q_dot)
            moved.realize(cosim.Stage.ACCELERATION)
            rate += weight * quantity(moved) / self.step
        return rate

    def _along(
        self, state: cosim.State, quantity: Callable[[cosim.State], NDArray[np.float64]], i: int
    ) -> Callable[[float], float]:
        """An element of a quantity at times along ``q_dot``."""
        q, q_dot, moved = state.q.copy(), state["joint.q_dot"].copy(), state.copy()

        def at(time: float) -> float:
            moved.set_time(state.time + time)
            moved.set_q(q + time * q_dot)
            return float(quantity(moved.realize(cosim.Stage.ACCELERATION))[i])

        return at

    def _moves_with(self, state: cosim.State, V: NDArray[np.float64], tolerance: float) -> bool:
        """Whether each element of the pose changes as this velocity has it, at a kink on one of its sides."""
        R, (x, y, z) = np.asarray(state["joint.X_FM"])[:9].reshape(3, 3), V[:3]
        spin = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        claimed = [*(spin @ R).ravel(), *V[3:]]

        def pose(shifted: cosim.State) -> NDArray[np.float64]:
            return np.asarray(shifted["joint.X_FM"])

        return all(
            is_possible_rate(float(rate), self._along(state, pose, i), self.step, tolerance)
            for i, rate in enumerate(claimed)
        )

    @staticmethod
    def _size(state: cosim.State) -> float:
        return 1.0 + float(np.abs(state.u).max()) + float(np.abs(velocity(state)).max())


def velocity(state: cosim.State) -> NDArray[np.float64]:
    """``H_FM u``: the velocity of M in F."""
    H = np.asarray(state["joint.H_FM"]).reshape(-1, 6).T
    V: NDArray[np.float64] = H @ state.u
    return V

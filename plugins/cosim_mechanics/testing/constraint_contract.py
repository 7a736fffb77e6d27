"""The contract kit of constraints."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import cosim
from cosim import assemble
from cosim.testing.described import check_docstring
from cosim.testing.drawn_values import write_values
from cosim.testing.one_sided_rates import is_possible_rate
from cosim.testing.part_contract import PartContract, different_names
from cosim_mechanics.testing.constraint_bench import ConstraintBench
from cosim_mechanics.testing.exported import check_fmu, differences_in_fmu
from cosim_mechanics.testing.force_bench import STENCIL

Vector = NDArray[np.float64]


class ConstraintContract(PartContract):
    """Checks of a constraint on free bodies, or on the coordinates of a hinge and a slide.

    Attributes
    ----------
    make : callable
        Makes the constraint, without what it acts on.
    angle, distance, speed : float
        Ranges of the random motion: largest rotation of each body (rad), largest coordinate of its origin
        (m), largest component of velocities. Narrow them for a constraint with a singular pose.
    does_work : bool, optional
        Whether it does work; what the class says (`Constraint.drives`) unless given.
    frame_indifferent : bool
        False for a constraint between bodies that holds directions of Ground besides.
    step : float
        Of the difference quotients, s.
    tolerance : float
        Relative.

    Examples
    --------
    >>> from cosim_mechanics.testing import ConstraintContract
    >>> class TestCam(ConstraintContract):
    ...     make = staticmethod(lambda: Cam(gain=0.3))
    """

    beside: ClassVar[str] = "mechanics.rod"
    angle: ClassVar[float] = 0.8
    distance: ClassVar[float] = 1.0
    speed: ClassVar[float] = 1.5
    does_work: ClassVar[bool | None] = None
    frame_indifferent: ClassVar[bool] = True
    step: ClassVar[float] = 1e-3
    tolerance: ClassVar[float] = 1e-7
    seeds: ClassVar[range] = range(3)

    @classmethod
    def bench(cls, copies: int = 1) -> ConstraintBench:
        """The test bench of the constraint, without corrections: at poses that do not meet it."""
        return ConstraintBench(cls.make(), copies, projected=False)

    @classmethod
    def state(cls, bench: ConstraintBench, seed: int) -> cosim.State:
        """A random motion and, but for the first, random values of its own; realized to Acceleration."""
        state = bench.state(seed, cls.angle, cls.distance, cls.speed, seed)
        return state.realize(cosim.Stage.ACCELERATION)

    @classmethod
    def example(cls) -> tuple[cosim.State, str]:
        """One constraint on moving bodies."""
        return cls.state(cls.bench(), 1), "constraint0"

    @classmethod
    def results(cls) -> list[str]:
        """The results of the constraint at a few poses, to the last bit."""
        bench = cls.bench()
        return [text for seed in range(6) for text in bench.computed(cls.state(bench, seed))]

    @classmethod
    def levels(cls) -> tuple[str, ...]:
        """The level of each equation."""
        levels: tuple[str, ...] = type(cls.make()).levels()
        return levels

    def test_has_a_docstring_with_its_law(self) -> None:
        """The class says what it holds."""
        check_docstring(self.make())

    def test_velocity_error_is_the_rate_of_the_position_error(self) -> None:
        """For equations that hold positions: along q_dot and time."""
        equations = self._held("position", "velocity")
        if not equations or not type(self.make()).writes("position_error"):
            pytest.skip("no equation has a position_error")
        bench = self.bench()
        for seed in self.seeds:
            state = self.state(bench, seed)
            errors = bench.errors(state, "velocity_error")
            expected, size = self._rate(bench, state, "position_error")
            for i in self._held("position"):
                assert self._is_rate(bench, state, "position_error", i, errors[i], expected[i], size), (
                    f"equation {i}: velocity_error is {errors[i]:.9g}, position_error changes at "
                    f"{expected[i]:.9g} /s; where the condition depends on time, write velocity_error too"
                )

    def test_jacobian_is_that_of_the_velocity_error(self) -> None:
        """Each coefficient of the s-val equation against a difference of the velocity error in one speed."""
        equations = self._held("position", "velocity")
        if not equations:
            pytest.skip("no equation holds speeds")
        bench = self.bench()
        for seed in self.seeds:
            state = self.state(bench, seed)
            G, _ = bench.jacobian(state)
            moved, u, size = state.copy(), state.u.copy(), 1.0 + float(np.abs(G).max())
            for k in range(u.size):
                column = np.zeros(G.shape[0])
                for place, weight in STENCIL:
                    shifted = u.copy()
                    shifted[k] += place * self.step
                    moved.set_u(shifted)
                    column += weight * bench.errors(moved, "velocity_error") / self.step
                for i in equations:
                    assert abs(G[i, k] - column[i]) <= self.tolerance * size, (
                        f"equation {i}: the coefficient of u_dot[{k}] is {G[i, k]:.9g}, velocity_error "
                        f"changes with u[{k}] by {column[i]:.9g}"
                    )

    def test_bias_is_the_rate_of_the_velocity_error(self) -> None:
        """The constant of the s-val equation against a difference along q_dot and time, at u_dot = 0."""
        equations = self._held("position", "velocity")
        if not equations:
            pytest.skip("no equation holds speeds")
        bench = self.bench()
        for seed in self.seeds:
            state = self.state(bench, seed)
            bias = bench.jacobian(state)[1]
            expected, size = self._rate(bench, state, "velocity_error")
            for i in equations:
                assert self._is_rate(bench, state, "velocity_error", i, bias[i], expected[i], size), (
                    f"equation {i}: its bias is {bias[i]:.9g}, velocity_error changes at "
                    f"{expected[i]:.9g} /s while u_dot is 0: a velocity term is missing or wrong"
                )

    def test_accelerations_meet_the_equation(self) -> None:
        """The compiled solution meets `calc_equations`, evaluated with numbers."""
        bench = self.bench()
        nq, nu = bench.system.nq, bench.system.nu
        for seed in self.seeds:
            state = self.state(bench, seed)
            G, b = bench.jacobian(state)
            udot = state.y_dot[nq : nq + nu]
            size = 1.0 + np.abs(G) @ np.abs(udot) + np.abs(b)
            assert np.all(np.abs(G @ udot + b) <= self.tolerance * size), (
                f"G u_dot + b is {G @ udot + b}, needs 0: equations that contradict each other?"
            )

    def test_forces_do_no_work(self) -> None:
        """At speeds that meet the constraint its forces take nothing out of the motion and bring nothing."""
        drives = type(self.make()).drives if self.does_work is None else self.does_work
        if drives:
            pytest.skip("the constraint drives")
        bench = self.bench()
        for seed in self.seeds:
            state = self.state(bench, seed)
            for _ in range(3):
                G, _ = bench.jacobian(state)
                missed = bench.errors(state, "velocity_error")
                if self._held("acceleration"):
                    missed = G @ state.u
                state.set_u(state.u - np.linalg.pinv(G, rcond=1e-10) @ missed)
            power, size = bench.power(state)
            assert abs(power) <= self.tolerance * max(size, 1.0), (
                f"the forces do {power:.9g} W at speeds that meet the constraint; for one that drives "
                "say drives = True in the class"
            )

    def test_frame_indifferent(self) -> None:
        """Turned and shifted with its bodies, it exerts the same; in a common motion it asks for nothing."""
        bench = ConstraintBench(self.make())
        if not bench.between_bodies() or not self.frame_indifferent:
            pytest.skip("the constraint is not one between bodies alone")
        met = [state for seed in self.seeds if (state := self._met(bench, seed)) is not None]
        assert met, "no State that meets it is found from poses within the ranges"
        for state in met:
            forces = bench.forces(state)
            moved, R = bench.moved(state, (0.7, -0.4, 0.9), (1.0, -2.0, 0.5))
            for name, force in bench.forces(moved).items():
                expected = np.concatenate([R @ forces[name][:3], R @ forces[name][3:]])
                assert np.allclose(force, expected, atol=self.tolerance * (1.0 + np.abs(force).max())), (
                    f"on {name} {force} after a rotation of everything, needs {expected}"
                )
            about = np.zeros(6)
            for name, force in forces.items():
                body = bench.place(name)
                about[:3] += force[:3] + np.cross(state[f"{body}.X_GB"][9:], force[3:])
                about[3:] += force[3:]
            size = 1.0 + max(float(np.abs(force).max()) for force in forces.values())
            assert np.all(np.abs(about) <= self.tolerance * size), (
                f"the forces together give {about} about Ground's origin, needs 0"
            )

    def test_is_met_and_stays_met(self) -> None:
        """The assembler meets it from nearby, and corrections after the steps hold it."""
        equations, levels = self._held("position", "velocity"), self.levels()
        if not equations:
            pytest.skip("no equation holds speeds")
        bench = ConstraintBench(self.make())
        assert not bench.system.default_state().realize(cosim.Stage.ACCELERATION)["constraint0.drifts"], (
            "an equation of level 'position' has no position_error, so positions drift: write it"
        )
        state = bench.state(5, self.angle, self.distance, self.speed)
        write_values(state, "constraint0", bench.values(state, 5, parameters=False))
        try:
            assemble(bench.system, state)
        except cosim.CosimError as error:
            pytest.fail(f"no State that meets it is found from a pose within the ranges: {error}")
        simulator = cosim.Simulator(bench.system, state, accuracy=1e-6)
        for end in (0.0, 0.02, 0.2):
            simulator.advance_to(state.time + end)
            reached = simulator.state
            for i in equations:
                for quantity in ("position_error", "velocity_error")[levels[i] != "position" :]:
                    missed = abs(bench.errors(reached, quantity)[i])
                    assert missed <= 1e-8, (
                        f"equation {i}: {quantity} is {missed:.3g} at t = {reached.time:g} s"
                    )

    def test_redundant_copies_are_found(self) -> None:
        """Two of the same: one is named, and together they do what one does."""
        single, double = self.bench(), self.bench(copies=2)
        for seed in self.seeds:
            alone, doubled = self.state(single, seed), self.state(double, seed)
            expected, motion = _motion(alone), _motion(doubled)
            size = 1.0 + float(np.abs(expected).max())
            assert np.allclose(motion, expected, atol=self.tolerance * size), (
                "two copies of the constraint move the bodies otherwise than one: its equations contradict "
                "themselves"
            )
            named = sum(float(doubled[f"constraint{i}.redundant"]) for i in range(2))
            before = float(alone["constraint0.redundant"])
            assert named > 0.0 and not before, (
                "its own equations repeat each other: leave out what follows from the rest"
                if before
                else "none of two copies is found to be redundant"
            )

    def test_switched_off_it_lets_go(self) -> None:
        """With ``enabled`` 0 it exerts nothing, and everything moves as without it."""
        bench, without = self.bench(), self.bench(copies=0)
        for seed in self.seeds:
            state = self.state(bench, seed)
            state["constraint0.enabled"] = 0
            assert all(not np.any(force) for force in bench.forces(state).values()), "it exerts forces"
            assert not np.any(state["constraint0.multipliers"])
            expected, motion = _motion(self.state(without, seed)), _motion(state)
            assert np.allclose(motion, expected, atol=self.tolerance * (1.0 + np.abs(expected).max())), (
                f"switched off the bodies accelerate with {motion}, without it with {expected}"
            )

    def test_follows_from_the_state_alone(self) -> None:
        """No memory outside the State, nothing of the State is changed, a stage reads nothing later."""
        bench = self.bench()
        state = self.state(bench, 1)
        saved, first = state.to_bytes(), bench.computed(state)
        bench.computed(self.state(bench, 2))
        state.invalidate(cosim.Stage.INSTANCE, "the contract kit")
        again = bench.computed(state)
        different = different_names(first, again)
        assert first == again, f"other results at the same State ({different}); memory belongs into the State"
        assert state.to_bytes() == saved, "computing the constraint changed a variable of the State"
        restored = bench.system.state_from_bytes(saved)
        assert bench.computed(restored) == first, "other results in the restored State"

    def test_runs_in_an_fmu(self) -> None:
        """Exported, it moves what it acts on as it does here."""
        check_fmu(type(self), "differences_in_fmu")

    @classmethod
    def differences_in_fmu(cls) -> list[str]:
        """The differences of a run as an FMU, in sentences."""
        bench = ConstraintBench(cls.make())
        for parameters in (True, False):  # with drawn ones it may be out of reach
            state = bench.state(5, cls.angle, cls.distance, cls.speed)
            state.set_time(0.0)
            values = bench.values(state, 5, parameters)
            write_values(state, "constraint0", values)
            with suppress(cosim.CosimError):
                assemble(bench.system, state)
                break
        for name, value in values.items():
            bench.model.set_start(f"constraint0.{name}", value)
        for joint in ("joint_a", "joint_b", "joint_c", "joint_d"):
            for name in ("q", "u"):
                bench.model.set_start(f"{joint}.{name}", state[f"{joint}.{name}"])
        return differences_in_fmu(bench.model, type(cls.make()), ["a.x", "b.y", "c.wz", "d.x"], 1e-8, 1e-10)

    def _met(self, bench: ConstraintBench, seed: int) -> cosim.State | None:
        """A State that meets the constraint, with values of its own drawn, else without parameters; or none.

        From a random pose assembly may run into one that is singular, or need more than the ranges.
        """
        for parameters in (True, False):
            state = bench.state(seed, self.angle, self.distance, self.speed)
            if seed:
                write_values(state, "constraint0", bench.values(state, seed, parameters))
            try:
                assemble(bench.system, state)
                return state.realize(cosim.Stage.ACCELERATION)
            except cosim.CosimError:
                continue
        return None

    def _held(self, *levels: str) -> list[int]:
        """The equations that are of one of these levels."""
        return [i for i, level in enumerate(self.levels()) if level in levels]

    def _is_rate(
        self,
        bench: ConstraintBench,
        state: cosim.State,
        quantity: str,
        i: int,
        rate: float,
        expected: float,
        size: float,
    ) -> bool:
        """Whether an error changes as it is said, at a kink on one of its sides."""
        tolerance = self.tolerance * (size + abs(rate))
        if abs(rate - expected) <= tolerance:
            return True
        nq, moved = bench.system.nq, state.copy()
        direction = np.concatenate([state.y_dot[:nq], np.zeros(state.y.size - nq)])
        y, t = state.y.copy(), state.time

        def error(time: float) -> float:
            moved.set_time(t + time)
            moved.set_y(y + time * direction)
            return float(bench.errors(moved, quantity)[i])

        return is_possible_rate(float(rate), error, self.step, tolerance)

    def _rate(self, bench: ConstraintBench, state: cosim.State, quantity: str) -> tuple[Vector, float]:
        """The rate of an error along q_dot and time, and the size of its terms."""
        nq, moved = bench.system.nq, state.copy()
        direction = np.concatenate([state.y_dot[:nq], np.zeros(state.y.size - nq)])
        y, t = state.y.copy(), state.time
        rate, size = np.zeros(len(self.levels())), 1.0
        for place, weight in STENCIL:
            moved.set_time(t + place * self.step)
            moved.set_y(y + place * self.step * direction)
            errors = bench.errors(moved, quantity)
            rate += weight * errors / self.step
            size = max(size, float(np.abs(errors).max()), float(np.abs(direction).max()))
        return rate, size


def _motion(state: cosim.State) -> Vector:
    """The rates of coordinates and speeds, without those of states that a constraint has for itself."""
    rates: Vector = state.y_dot[: state.system.nq + state.system.nu]
    return rates

"""The contract kit of integrators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim.testing.known_solution import (
    AMPLITUDES,
    PERIOD,
    exact,
    known_system,
    oscillators,
    power_system,
    powers,
    swing_energy,
    swing_system,
)
from cosim.testing.rod_pendulum import rod_errors, rod_system

MANY = 100_000


class IntegratorContract:
    """Checks of an integrator on equations with a closed form.

    Attributes
    ----------
    make : callable
        Makes the integrator; takes its options: usually the class itself.
    order_tolerance : float
        How far the observed order may be from the declared one.
    rounding : float
        Errors below it do not count.
    numbers : sequence of int
        Into how many steps 2 s are divided to see the order.
    dense_gap : int
        By how many orders the dense output may stay behind the solution; 1 spoils nothing.
    periods : int
        For how many periods symplectic methods have to keep the energy.

    Examples
    --------
    >>> import cosim
    >>> from cosim.testing import IntegratorContract
    >>> class TestMerson(IntegratorContract):
    ...     make = cosim.registry().get("integrator", "integrators.runge_kutta_merson")
    """

    make: ClassVar[Callable[..., Any]]
    order_tolerance: ClassVar[float] = 0.35
    rounding: ClassVar[float] = 1e-12
    numbers: ClassVar[Sequence[int]] = (4, 6, 9, 13, 20, 30, 45, 68, 101, 152, 228, 342, 513)
    dense_gap: ClassVar[int] = 1
    periods: ClassVar[int] = 200

    def started(self, system: cosim.System, **options: Any) -> tuple[Any, cosim.State]:
        """An integrator and a State, ready for the first step."""
        state = system.default_state()
        state.realize(cosim.Stage.ACCELERATION)
        integrator = self.make(**options)
        integrator.initialize(system, state)
        return integrator, state

    def ways(self) -> list[dict[str, Any]]:
        """Options of all ways to run it: fixed steps, and error control if it has that."""
        controlled = [{"accuracy": 1e-6}] if self.capabilities.adaptive else []
        return [{"fixed_step": 0.07}, *controlled]

    @property
    def capabilities(self) -> kit.Capabilities:
        """The declared capabilities of the class."""
        declared: kit.Capabilities = self.make(fixed_step=0.1).capabilities
        return declared

    def test_has_a_docstring(self) -> None:
        """The class says which method it is."""
        integrator = self.make(fixed_step=0.1)
        docstring = vars(type(integrator)).get("__doc__") or ""
        assert docstring.strip(), f"{type(integrator).__name__} has no docstring"

    def test_capabilities_are_true(self) -> None:
        """The declared capabilities agree with the calls that work."""
        declared = self.capabilities
        assert isinstance(declared, kit.Capabilities), f"capabilities is {declared!r}"
        order = self.make(fixed_step=0.1).order
        assert declared.dense_order >= order - self.dense_gap, (
            f"dense output of order {declared.dense_order} spoils a solution of order {order}"
        )
        if declared.adaptive:
            self.make(accuracy=1e-6)
        else:
            with pytest.raises(cosim.ModelError):
                self.make(accuracy=1e-6)

    def test_observed_order_is_the_declared_one(self) -> None:
        """The slope of the error over the length of the step."""
        order = self.make(fixed_step=0.1).order
        system, errors = known_system(), []
        for number in self.numbers:
            integrator, state = self.started(system, fixed_step=2.0 / number)
            while state.time < 2.0 and self._converges(integrator, system, state):
                pass
            errors.append(float(np.abs(state.y - exact(2.0)).max()) if state.time >= 2.0 else 0.0)
        slope = self._slope(errors, [2.0 / number for number in self.numbers])
        assert -self.order_tolerance <= slope - order <= 2.0 * self.order_tolerance, (
            f"order {order} is declared, {slope:.2f} is observed; errors {errors} with {self.numbers} steps"
        )

    def test_polynomials_are_exact(self) -> None:
        """Solutions that are polynomials in time, of degrees up to the order, have no error but rounding."""
        if not self.capabilities.restarts_cheaply:
            pytest.skip("the method begins at a lower order")
        for degree in range(1, self.make(fixed_step=0.1).order + 1):
            system = power_system(degree)
            integrator, state = self.started(system, fixed_step=0.3)
            step_until(integrator, system, state, 1.0)
            error = float(np.abs(state.y - powers(1.0, degree)).max())
            assert error <= max(1e-12, self.rounding), f"error {error} for powers of degree {degree}"

    def test_elsewhere_it_is_as_accurate(self) -> None:
        """Neither the time of the start nor the size, the sign and the number of states matter."""
        slack = 1e-4 if self.capabilities.implicit else 1e-9  # equations are solved to a tolerance
        system, errors = known_system(), []
        for turns in (0, -6, 160):
            start = 2.0 * math.pi * turns
            state = system.default_state()
            state.set_time(start)
            state.set_y(exact(start))
            state.realize(cosim.Stage.ACCELERATION)
            integrator = self.make(fixed_step=0.07)
            integrator.initialize(system, state)
            step_until(integrator, system, state, start + 6.0)
            errors.append(float(np.abs(state.y - exact(start + 6.0)).max()))
            assert errors[-1] <= 1.5 * errors[0] + slack, (
                f"error {errors[-1]} after a start at {start:g} s, {errors[0]} after one at 0 s"
            )
        system, relative = oscillators(), []
        integrator, state = self.started(system, fixed_step=0.07)
        step_until(integrator, system, state, 2.0)
        for i, amplitude in enumerate(AMPLITUDES):
            found = np.array([state[f"part{i}.x"], state[f"part{i}.v"]]) / amplitude
            relative.append(float(np.abs(found - exact(2.0)[:2]).max()))
            assert relative[-1] <= 1.5 * relative[0] + slack, (
                f"relative error {relative[-1]} of an oscillator of amplitude {amplitude:g} among "
                f"{len(AMPLITUDES)}, {relative[0]} of one of amplitude 1"
            )

    def test_error_follows_the_accuracy(self) -> None:
        """Ten thousand times the accuracy, at least a hundred times smaller an error."""
        if not self.capabilities.adaptive:
            pytest.skip("the method has no error estimate")
        # The errors of the steps add up: of many short ones, with order 1, to the root of the accuracy.
        power = 1.0 if self.make(fixed_step=0.1).order > 1 else 0.5
        errors = []
        for accuracy in (1e-4, 1e-8):
            system = known_system()
            integrator, state = self.started(system, accuracy=accuracy)
            step_until(integrator, system, state, 2.0)
            errors.append(float(np.abs(state.y - exact(2.0)).max()))
            assert errors[-1] <= 100.0 * accuracy**power, f"error {errors[-1]} at accuracy {accuracy}"
        assert errors[1] <= 0.01 * errors[0], f"errors {errors} at accuracies 1e-4 and 1e-8"

    def test_steps_land_exactly_on_the_target(self) -> None:
        """No step goes past a target, and the last one ends on it to the last bit."""
        for options in self.ways():
            system = known_system()
            integrator, state = self.started(system, **options)
            for target in (0.1, 1.0 / 3.0, 0.1 + 0.7, math.nextafter(0.8, 1.0) + 0.5, 2.0):
                step_until(integrator, system, state, target)
                assert state.time == target, f"{state.time!r} reached instead of {target!r} with {options}"

    def test_fixed_steps_end_on_the_target(self) -> None:
        """A run takes as many steps as fit, and none for a rest of rounding."""
        system = known_system()
        for step, target, number in ((0.1, 1.0, 10), (0.1, 0.3, 3), (1 / 30, 1 / 3, 10), (1e-3, 1.0, 1000)):
            integrator, state = self.started(system, fixed_step=step)
            step_until(integrator, system, state, target)
            assert state.time == target, f"{state.time!r} reached instead of {target!r}"
            steps = integrator.statistics.steps
            assert steps == number, f"{steps} steps of {step} s to {target} s, must be {number}"

    def test_limits_are_kept(self) -> None:
        """No step is longer than the limit of this step, or than the largest one."""
        system = known_system()
        for options in self.ways():
            integrator, state = self.started(system, **options)
            assert integrator.step(system, state, 1.0, 0.01) == kit.StepCode.DONE
            assert 0.0 < state.time <= 0.01 * (1.0 + 1e-3), f"{state.time} s with a limit of 0.01 s"
            largest = {
                **options,
                "maximum_step": 0.05,
                **({"fixed_step": 0.04} if "fixed_step" in options else {}),
            }
            integrator, state = self.started(system, **largest)
            while state.time < 1.0:
                before = state.time
                assert integrator.step(system, state, 1.0) == kit.StepCode.DONE
                assert state.time - before <= 0.05 * 1.02, (
                    f"a step of {state.time - before} s, at most 0.05 s"
                )
            assert integrator.reason is kit.StepReason.TARGET, f"{integrator.reason!r} at the target"

    def test_minimum_step_is_reported(self) -> None:
        """If the accuracy needs steps below the minimum, the code says so and the State is unchanged."""
        if not self.capabilities.adaptive:
            pytest.skip("the method has no error estimate")
        system = known_system()
        integrator, state = self.started(system, accuracy=1e-13, minimum_step=0.9, initial_step=0.9)
        before, rates = state.to_bytes(), state.y_dot.copy()
        code = integrator.step(system, state, 10.0)
        codes = [kit.StepCode.MINIMUM_STEP]
        if self.capabilities.implicit:
            codes.append(kit.StepCode.NO_CONVERGENCE)
        assert code in codes, f"{code!r} after a step that cannot be accurate"
        assert state.to_bytes() == before, "a step that was rejected changed the State"
        assert np.array_equal(state.y_dot, rates), "a step that was rejected changed the derivative"

    def test_interpolation_keeps_to_the_last_step(self) -> None:
        """Joined to both ends of the step to the last bit, and refused outside."""
        system = known_system()
        integrator, state = self.started(system, fixed_step=0.1)
        out = np.zeros(system.ny)
        for _ in range(4):
            start = state.y.copy()
            assert integrator.step(system, state, 2.0) == kit.StepCode.DONE
            integrator.interpolate(state.time, out)
            assert out.tobytes() == state.y.tobytes(), f"at the end of the step {out}, not {state.y}"
            integrator.interpolate(integrator.previous_time, out)
            assert np.allclose(out, start, rtol=1e-13, atol=1e-13), f"at its start {out}, not {start}"
        for outside in (integrator.previous_time - 1e-3, state.time + 1e-3):
            with pytest.raises(ValueError, match=r"."):
                integrator.interpolate(outside, out)

    def test_dense_output_has_its_order(self) -> None:
        """The slope of the error inside one step over its length, at the start of a run.

        A method that begins at a lower order reaches that of its dense output later.
        """
        system, errors, lengths = known_system(), [], []
        values, begin = np.zeros(system.ny), 0.3
        order = min(self.make(fixed_step=0.1).order, self.capabilities.dense_order)
        order += 1 if self.capabilities.restarts_cheaply else 0
        for number in range(12):
            lengths.append(0.6 * 0.75**number)
            state = system.default_state()
            state.set_time(begin)
            state.set_y(exact(begin))
            state.realize(cosim.Stage.ACCELERATION)
            integrator = self.make(fixed_step=lengths[-1])
            integrator.initialize(system, state)
            if not self._converges(integrator, system, state):
                errors.append(0.0)
                continue
            worst = 0.0
            for share in (0.2, 0.4, 0.6, 0.8):
                t = begin + share * (state.time - begin)
                integrator.interpolate(t, values)
                worst = max(worst, float(np.abs(values - exact(t)).max()))
            errors.append(worst)
        slope = self._slope(errors, lengths, 0.05 * self.rounding)
        assert slope >= order - self.order_tolerance, (
            f"the error inside steps is of order {slope:.2f}, must be {order}; {errors} for {lengths} s"
        )

    def test_redo_ends_at_the_event(self) -> None:
        """The last step taken again ends exactly at the wanted time, as accurate as any step."""
        for options in self.ways():
            system = known_system()
            integrator, state = self.started(system, **options)
            for _ in range(3):
                assert integrator.step(system, state, 2.0) == kit.StepCode.DONE
            error = float(np.abs(state.y - exact(state.time)).max())
            event = 0.3 * integrator.previous_time + 0.7 * state.time
            assert integrator.redo(system, state, event) == kit.StepCode.DONE
            assert state.time == event, f"{state.time!r} instead of {event!r} with {options}"
            redone = float(np.abs(state.y - exact(event)).max())
            assert redone <= 2.0 * error + 1e-9, (
                f"error {redone} at the event, {error} at the end of the step"
            )
            out, middle = np.zeros(system.ny), 0.5 * (integrator.previous_time + event)
            integrator.interpolate(middle, out)
            inside = float(np.abs(out - exact(middle)).max())
            integrator.interpolate(event, out)
            assert out.tobytes() == state.y.tobytes(), f"interpolated at the event {out}, not {state.y}"
            earlier = 0.5 * (integrator.previous_time + event)
            assert integrator.redo(system, state, earlier) == kit.StepCode.DONE
            again = float(np.abs(state.y - exact(earlier)).max())
            assert again <= 2.0 * error + 1e-9, f"error {again} at an earlier event of the same step"
            assert inside <= 20.0 * error + 1e-4, f"error {inside} inside a step that was taken again"

    def test_failed_step_leaves_the_state(self) -> None:
        """A step that cannot be taken answers a code and changes nothing."""
        for options in self.ways():
            system = known_system(end_of_law=0.5)
            integrator, state = self.started(system, **options)
            before, code = state.to_bytes(), kit.StepCode.DONE
            while code == kit.StepCode.DONE and state.time < 0.6:
                before = state.to_bytes()
                code = integrator.step(system, state, 1.0)
            assert code != kit.StepCode.DONE, f"a step over the end of the law was taken with {options}"
            assert state.to_bytes() == before, f"a step that failed ({code.name}) changed the State"

    def test_restart_changes_nothing_that_matters(self) -> None:
        """Restarted where nothing has happened, a run is as accurate as one that goes on."""
        system = known_system()
        for options in self.ways():
            ends = []
            for restarts in (False, True):
                integrator, state = self.started(system, **options)
                for part in range(1, 5):
                    step_until(integrator, system, state, 0.5 * part)
                    if restarts:
                        integrator.restart(system, state)
                ends.append(state.y.copy())
            errors = [float(np.abs(end - exact(2.0)).max()) for end in ends]
            assert errors[1] <= 10.0 * errors[0] + 1e-5, f"errors {errors} without and with restarts"
            declared = self.capabilities
            if "fixed_step" in options and declared.restarts_cheaply and not declared.implicit:
                assert ends[0].tobytes() == ends[1].tobytes(), f"restarted {ends[1]}, uninterrupted {ends[0]}"

    def test_continues_from_saved_bytes(self) -> None:
        """Saved and restored in the middle of a run, it goes on to the same bytes."""
        if not self.capabilities.resumes_exactly:
            pytest.skip("the method begins anew from a restored State")
        for options in self.ways():
            system = known_system()
            integrator, state = self.started(system, **options)
            for _ in range(5):
                assert integrator.step(system, state, 3.0) == kit.StepCode.DONE
            restored = system.state_from_bytes(state.to_bytes()).realize(cosim.Stage.ACCELERATION)
            other = self.make(**options)
            for _ in range(5):
                assert integrator.step(system, state, 3.0) == kit.StepCode.DONE
                assert other.step(system, restored, 3.0) == kit.StepCode.DONE
            assert restored.to_bytes() == state.to_bytes(), (
                f"with {options} the restored run is at t = {restored.time!r}, y = {restored.y}, the other "
                f"at t = {state.time!r}, y = {state.y}; what lasts belongs into state.integrator_memory"
            )

    def test_constraints_are_kept(self) -> None:
        """A point stays on its rod, and its speed across it, also at the end of a step taken again."""
        if not self.capabilities.supports_constraints:
            pytest.skip("the method does not keep constraints")
        try:
            system = rod_system()
        except cosim.CosimError as missing:
            pytest.skip(f"no bodies and constraints here: {missing}")
        for options in self.ways():
            state = system.default_state()
            cosim.assemble(system, state)
            integrator = self.make(**options)
            integrator.initialize(system, state)
            for number in range(10):
                code = integrator.step(system, state, 2.0)
                assert code == kit.StepCode.DONE, f"{code.name} at t = {state.time} s: {code.sentence}"
                if number == 5:
                    event = 0.5 * (integrator.previous_time + state.time)
                    assert integrator.redo(system, state, event) == kit.StepCode.DONE
                error = rod_errors(state)
                assert error <= 1e-7, (
                    f"error {error} of a constraint at t = {state.time} s with {options}: a step and a step "
                    "taken again end with cosim.contracts.constraints.project_end"
                )

    def test_symmetric_methods_go_back(self) -> None:
        """Forward, the speeds turned round, and forward again: where it began."""
        if not self.capabilities.symmetric:
            pytest.skip("the method is not symmetric")
        system = swing_system()
        integrator, state = self.started(system, fixed_step=0.2)
        start = state.y.copy()
        for _ in range(2):
            step_until(integrator, system, state, state.time + 6.0)
            state.set_u(-state.u)
            state.realize(cosim.Stage.ACCELERATION)
            integrator.restart(system, state)
        error = float(np.abs(state.y - start).max())
        assert error <= max(1e-10, self.rounding), f"{error} away from the start after going back"

    def test_symplectic_methods_keep_the_energy(self) -> None:
        """A pendulum's energy swings within bounds that do not widen, for many periods."""
        if not self.capabilities.symplectic:
            pytest.skip("the method is not symplectic")
        system = swing_system()
        integrator, state = self.started(system, fixed_step=PERIOD / 40)
        start_energy, worst = swing_energy(state), []
        for part in range(1, 21):
            stop = part * self.periods * PERIOD / 20
            assert integrator.advance(system, state, stop - PERIOD) == kit.StepCode.DONE
            errors = []
            while state.time < stop:
                assert integrator.step(system, state, stop) == kit.StepCode.DONE
                errors.append(abs(swing_energy(state) - start_energy) / start_energy)
            worst.append(max(errors))
        assert max(worst) <= 0.2, f"relative errors of the energy up to {max(worst)}"
        assert max(worst[10:]) <= 1.1 * max(worst[:10]), f"the errors of the energy grow: {worst}"

    def _converges(self, integrator: Any, system: cosim.System, state: cosim.State) -> bool:
        """Take a step; False where the step is too long for the equations of an implicit method."""
        code = integrator.step(system, state, 2.0)
        if code == kit.StepCode.NO_CONVERGENCE and self.capabilities.implicit:
            return False
        assert code == kit.StepCode.DONE, f"{code.name} at t = {state.time} s: {code.sentence}"
        return True

    def _slope(self, errors: list[float], lengths: list[float], rounding: float | None = None) -> float:
        """The order that the smallest errors show that are not rounding."""
        limit = self.rounding if rounding is None else rounding
        measured = [(h, e) for h, e in zip(lengths, errors, strict=True) if e > limit][-4:]
        assert len(measured) > 2, f"too few errors above rounding: {errors}"
        return float(np.polyfit(np.log([h for h, _ in measured]), np.log([e for _, e in measured]), 1)[0])


def step_until(integrator: Any, system: cosim.System, state: cosim.State, target: float) -> None:
    """Step until a time is reached."""
    for _ in range(MANY):
        if not state.time < target:
            return
        code = integrator.step(system, state, target)
        assert code == kit.StepCode.DONE, f"{code.name} at t = {state.time} s: {code.sentence}"
    raise AssertionError(f"{MANY} steps and still at t = {state.time} s")

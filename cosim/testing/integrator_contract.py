"""What every integrator has to keep."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest

import cosim
from cosim.testing.known_solution import exact, known_system

MANY = 100_000


class IntegratorContract:
    """Checks of an integrator on equations with a closed form.

    Attributes
    ----------
    make : callable
        Makes the integrator; takes its options: usually the class itself.
    order_tolerance : float
        How far the observed order may be from the declared one.

    Examples
    --------
    >>> import cosim
    >>> from cosim.testing import IntegratorContract
    >>> class TestMerson(IntegratorContract):
    ...     make = cosim.registry().get("integrator", "integrators.runge_kutta_merson")
    """

    make: ClassVar[Callable[..., Any]]
    order_tolerance: ClassVar[float] = 0.35

    def started(self, system: cosim.System, **options: Any) -> tuple[Any, cosim.State]:
        """An integrator and a State, ready for the first step."""
        state = system.default_state()
        state.realize(cosim.Stage.ACCELERATION)
        integrator = self.make(**options)
        integrator.initialize(system, state)
        return integrator, state

    def ways(self) -> list[dict[str, Any]]:
        """Options of all ways to run it: fixed steps, and error control if it has that."""
        controlled = [{"accuracy": 1e-6}] if self.make(fixed_step=0.1).capabilities.adaptive else []
        return [{"fixed_step": 0.07}, *controlled]

    def test_has_a_docstring(self) -> None:
        """The class says which method it is."""
        integrator = self.make(fixed_step=0.1)
        own = vars(type(integrator)).get("__doc__") or ""
        assert own.strip(), f"{type(integrator).__name__} has no docstring"

    def test_observed_order_is_the_declared_one(self) -> None:
        """The slope of the error over the length of the step."""
        order = self.make(fixed_step=0.1).order
        numbers = (10, 20, 40) if order > 3 else (40, 80, 160)
        errors = []
        for number in numbers:
            system = known_system()
            integrator, state = self.started(system, fixed_step=2.0 / number)
            go_to(integrator, system, state, 2.0)
            errors.append(float(np.abs(state.y - exact(2.0)).max()))
        slope = -float(np.polyfit(np.log(numbers), np.log(errors), 1)[0])
        assert abs(slope - order) <= self.order_tolerance, (
            f"order {order} is declared, {slope:.2f} is observed; errors {errors} with {numbers} steps"
        )

    def test_error_follows_the_accuracy(self) -> None:
        """Ten thousand times the accuracy, at least a hundred times smaller an error."""
        if not self.make(fixed_step=0.1).capabilities.adaptive:
            pytest.skip("the method has no error estimate")
        errors = []
        for accuracy in (1e-4, 1e-8):
            system = known_system()
            integrator, state = self.started(system, accuracy=accuracy)
            go_to(integrator, system, state, 2.0)
            errors.append(float(np.abs(state.y - exact(2.0)).max()))
            assert errors[-1] <= 100.0 * accuracy, f"error {errors[-1]} at accuracy {accuracy}"
        assert errors[1] <= 0.01 * errors[0], f"errors {errors} at accuracies 1e-4 and 1e-8"

    def test_steps_land_exactly_on_the_target(self) -> None:
        """No step goes past a target, and the last one ends on it to the last bit."""
        for options in self.ways():
            system = known_system()
            integrator, state = self.started(system, **options)
            for target in (0.1, 1.0 / 3.0, 0.1 + 0.7, math.nextafter(0.8, 1.0) + 0.5, 2.0):
                go_to(integrator, system, state, target)
                assert state.time == target, f"{state.time!r} reached instead of {target!r} with {options}"

    def test_dense_output_is_accurate(self) -> None:
        """Inside a step at least of third order, and joined to both ends of it."""
        step = 0.1
        system = known_system()
        integrator, state = self.started(system, fixed_step=step)
        out, inside, ends = np.zeros(system.ny), 0.0, 0.0
        while state.time < 1.95:
            start = state.y.copy()
            assert integrator.step(system, state, 2.0) == cosim.StepCode.DONE
            began, length = integrator.previous_time, state.time - integrator.previous_time
            integrator.interpolate(state.time, out)
            assert out.tobytes() == state.y.tobytes(), f"at the end of the step {out}, not {state.y}"
            integrator.interpolate(began, out)
            assert np.allclose(out, start, rtol=1e-13, atol=1e-13), (
                f"at the start of the step {out}, not {start}"
            )
            for part in (0.25, 0.5, 0.75):
                integrator.interpolate(began + part * length, out)
                inside = max(inside, float(np.abs(out - exact(began + part * length)).max()))
            ends = max(ends, float(np.abs(state.y - exact(state.time)).max()))
        assert inside <= 3.0 * ends + step**4, f"error {inside} inside the steps, {ends} at their ends"

    def test_redo_ends_at_the_event(self) -> None:
        """The last step taken again ends exactly at the wanted time, as accurate as any step."""
        for options in self.ways():
            system = known_system()
            integrator, state = self.started(system, **options)
            for _ in range(3):
                assert integrator.step(system, state, 2.0) == cosim.StepCode.DONE
            error = float(np.abs(state.y - exact(state.time)).max())
            event = 0.3 * integrator.previous_time + 0.7 * state.time
            assert integrator.redo(system, state, event) == cosim.StepCode.DONE
            assert state.time == event, f"{state.time!r} instead of {event!r} with {options}"
            redone = float(np.abs(state.y - exact(event)).max())
            assert redone <= 2.0 * error + 1e-9, (
                f"error {redone} at the event, {error} at the end of the step"
            )

    def test_failed_step_leaves_the_state(self) -> None:
        """A step that cannot be taken answers a code and changes nothing."""
        for options in self.ways():
            system = known_system(end_of_law=0.5)
            integrator, state = self.started(system, **options)
            before, code = state.to_bytes(), cosim.StepCode.DONE
            while code == cosim.StepCode.DONE and state.time < 0.6:
                before = state.to_bytes()
                code = integrator.step(system, state, 1.0)
            assert code != cosim.StepCode.DONE, f"a step over the end of the law was taken with {options}"
            assert state.to_bytes() == before, f"a step that failed ({code.name}) changed the State"

    def test_continues_from_saved_bytes(self) -> None:
        """Saved and restored in the middle of a run, it goes on to the same bytes."""
        for options in self.ways():
            system = known_system()
            integrator, state = self.started(system, **options)
            for _ in range(5):
                assert integrator.step(system, state, 3.0) == cosim.StepCode.DONE
            restored = system.state_from_bytes(state.to_bytes()).realize(cosim.Stage.ACCELERATION)
            other = self.make(**options)
            for _ in range(5):
                assert integrator.step(system, state, 3.0) == cosim.StepCode.DONE
                assert other.step(system, restored, 3.0) == cosim.StepCode.DONE
            assert restored.to_bytes() == state.to_bytes(), (
                f"with {options} the restored run is at t = {restored.time!r}, y = {restored.y}, the other "
                f"at t = {state.time!r}, y = {state.y}; what lasts belongs into state.integrator_memory"
            )


def go_to(integrator: Any, system: cosim.System, state: cosim.State, target: float) -> None:
    """Step until a time is reached."""
    for _ in range(MANY):
        if not state.time < target:
            return
        code = integrator.step(system, state, target)
        assert code == cosim.StepCode.DONE, f"{code.name} at t = {state.time} s: {code.sentence}"
    raise AssertionError(f"{MANY} steps and still at t = {state.time} s")

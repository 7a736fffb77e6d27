"""The contract kit of measures."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import cosim
from cosim.testing.described import check_docstring
from cosim.testing.drawn_values import drawn_values, values_text, write_values
from cosim.testing.moving_signals import forget_system, system_of
from cosim.testing.one_sided_rates import is_possible_rate
from cosim.testing.part_contract import PartContract
from cosim.testing.usable_draws import first_that_runs, usable_draws, with_drawn_values

WIDEST = 5
"""Steps before the time where a derivative is checked at which a run can begin anew."""
WEIGHTS = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / 12.0


STARTS = ((-1.2, -0.3), (-2.0, 6.0), (1.5, -8.0))
"""Starts of the pendulum (rad, rad/s): mirrored, and over the top both ways."""


class MeasureContract(PartContract):
    """Checks of a measure along a simulated motion.

    Sources, bodies and coordinates that `make` leaves open are attached to a pendulum and a free body.

    Attributes
    ----------
    make : callable
        Makes the measure.
    times : tuple of float
        Where the measure is evaluated, s.
    step : float
        Of the difference quotient of the value, s.
    tolerance : float
        Relative, for the derivative.
    accuracy : float
        Of the simulation.

    Examples
    --------
    >>> from cosim.testing import MeasureContract
    >>> class TestAverage(MeasureContract):
    ...     make = staticmethod(lambda: Average())
    """

    beside: ClassVar[str] = "measures.delay"
    times: ClassVar[tuple[float, ...]] = (0.21, 0.46, 0.83)
    step: ClassVar[float] = 1e-3
    tolerance: ClassVar[float] = 1e-5
    accuracy: ClassVar[float] = 1e-9

    @classmethod
    def simulator(cls) -> cosim.Simulator:
        """A system with the measure, initialized."""
        simulator = cosim.Simulator(system_of(cls), accuracy=cls.accuracy)
        simulator.initialize()
        return simulator

    @classmethod
    def example(cls) -> tuple[cosim.State, str]:
        """The measure in its system, initialized."""
        return cls.simulator().state, "measure"

    @classmethod
    def drawn(cls, values: int) -> cosim.Simulator:
        """A simulator with drawn values of the measure's own, `drawn_values`; 0: those of `simulator`."""
        return (
            with_drawn_values(system_of(cls), cls.accuracy, "measure", values) if values else cls.simulator()
        )

    @classmethod
    def draws(cls) -> tuple[int, ...]:
        """Which values of its own the measure is run with: the declared ones, and others."""
        return usable_draws(cls, cls.drawn, cls.times[-1])

    @classmethod
    def has_derivative(cls, simulator: cosim.Simulator) -> bool:
        """Whether the derivative is known with the sources that the measure has here."""
        measure: Any = simulator.system.parts["measure"]
        return bool(measure.derivatives_in(simulator.system))

    @classmethod
    def results(cls) -> list[str]:
        """Value and derivative at a few times, with the declared values and with others, to the last bit."""
        return [*cls.results_with(0), *first_that_runs(cls.results_with)]

    @classmethod
    def results_with(cls, values: int) -> list[str]:
        """The results of one run."""
        simulator, texts = cls.drawn(values), []
        for time in cls.times:
            simulator.advance_to(time)
            state = simulator.state.realize(cosim.Stage.REPORT)
            texts += _hex(state["measure.value"])
            if cls.has_derivative(simulator):
                texts += _hex(state["measure.value_dot"])
        return texts

    def values_text(self, draw: int) -> str:
        """The values that a message is about; empty for those of a fresh State."""
        if draw == 0:
            return ""
        start = system_of(type(self)).default_state()
        return f" with {values_text(drawn_values(start, 'measure', draw))}"

    def test_has_a_docstring_with_its_law(self) -> None:
        """The class says what it computes."""
        check_docstring(self.make())

    def test_value_is_finite(self) -> None:
        """A finite number from the start on."""
        for values in self.draws():
            simulator = self.drawn(values)
            for time in (0.0, *self.times):
                simulator.advance_to(time)
                value = simulator.state.realize(cosim.Stage.REPORT)["measure"]
                assert np.all(np.isfinite(value)), (
                    f"the value is {value} at t = {time} s{self.values_text(values)}"
                )

    def test_two_runs_give_the_same(self) -> None:
        """Repeating the motion gives the same bytes."""
        first = self.results()
        forget_system(type(self))
        again = self.results()
        assert first == again, f"{first} in the first run, {again} in the second"

    def test_computing_changes_nothing(self) -> None:
        """The value follows from the State alone, and computing it leaves the State as it was."""
        for values in self.draws():
            self._check_purity(self.drawn(values))

    def _check_purity(self, simulator: cosim.Simulator) -> None:
        simulator.advance_to(self.times[0])
        early = simulator.state.copy().realize(cosim.Stage.REPORT)
        value, saved = early["measure"], early.to_bytes()
        simulator.advance_to(self.times[1])
        simulator.state.realize(cosim.Stage.REPORT)
        early.invalidate(cosim.Stage.INSTANCE, "the contract kit")
        again = early.realize(cosim.Stage.REPORT)["measure"]
        assert _hex(again) == _hex(value), f"{value}, then {again} at the same State"
        assert early.to_bytes() == saved, "computing the value changed a variable of the State"

    def test_derivative_is_that_of_the_value(self) -> None:
        """``value_dot``, where there is one, against differences of the value along the motion."""
        if not self.has_derivative(self.simulator()):
            pytest.skip("the measure has no derivative")
        for draw in self.draws():
            simulator = self.drawn(draw)
            for time in self.times:
                self._check_derivative(simulator, time, self.values_text(draw))
        for angle, rate in self.moved_sources():
            simulator = self.from_other_sources(angle, rate)
            for time in self.times:
                if self._is_defined(simulator, time):
                    words = f" where swing.angle begins at {angle} and swing.rate at {rate}"
                    self._check_derivative(simulator, time, words)

    def moved_sources(self) -> tuple[tuple[float, float], ...]:
        """Other starts of the pendulum whose angle and rate are the sources; none without it."""
        return STARTS if "swing" in system_of(type(self)).parts else ()

    @classmethod
    def from_other_sources(cls, angle: float, rate: float) -> cosim.Simulator:
        """A simulator in which the pendulum begins elsewhere, initialized."""
        system = system_of(cls)
        start = system.default_state()
        start["swing.angle"], start["swing.rate"] = angle, rate
        simulator = cosim.Simulator(system, start, accuracy=cls.accuracy)
        simulator.initialize()
        return simulator

    def _is_defined(self, simulator: cosim.Simulator, time: float) -> bool:
        """Whether the measure has a value where its sources then are: a root has none of what is negative."""
        try:
            ahead = cosim.Simulator(simulator.system, simulator.state.copy(), accuracy=self.accuracy)
            ahead.advance_to(time + WIDEST * self.step)
            return bool(np.all(np.isfinite(ahead.state.realize(cosim.Stage.REPORT)["measure"])))
        except cosim.SimulationError:
            return False

    def _check_derivative(self, simulator: cosim.Simulator, time: float, words: str) -> None:
        """At one time, which the simulator comes to; at a kink by differences on its sides."""
        simulator.advance_to(time - WIDEST * self.step)
        start, values, derivative = simulator.state.copy(), [], np.nan
        for place in (-2, -1, 0, 1, 2):
            simulator.advance_to(time + place * self.step)
            state = simulator.state.realize(cosim.Stage.REPORT)
            values.append(state["measure"])
            if place == 0:
                derivative = state["measure.value_dot"]
        expected = float(WEIGHTS @ values) / self.step
        size = max(1e-3, abs(expected), float(np.abs(values).max()))
        if abs(derivative - expected) <= self.tolerance * size:
            return

        def value(offset: float) -> float:
            again = cosim.Simulator(start.system, start.copy(), accuracy=self.accuracy)
            again.advance_to(time + offset)
            return float(again.state.realize(cosim.Stage.REPORT)["measure"])

        assert is_possible_rate(float(derivative), value, self.step, self.tolerance * size), (
            f"value_dot is {derivative} at t = {time} s, the value changes at {expected}{words}"
        )

    def test_restored_state_gives_the_same_value(self) -> None:
        """Saved to bytes and read again, a State says everything."""
        for values in self.draws():
            self._check_restored(self.drawn(values))

    def _check_restored(self, simulator: cosim.Simulator) -> None:
        for time in self.times:
            simulator.advance_to(time)
            state = simulator.state.realize(cosim.Stage.REPORT)
            restored = simulator.system.state_from_bytes(state.to_bytes()).realize(cosim.Stage.REPORT)
            assert _hex(restored["measure"]) == _hex(state["measure"]), (
                f"{restored['measure']} in the restored State, not {state['measure']}, at t = {time} s"
            )

    def test_is_known_at_the_stage_that_it_says(self) -> None:
        """Value and derivatives are there as soon as ``depends_on_stage`` says, and the same later."""
        for values in self.draws():
            self._check_stages(self.drawn(values))

    def _check_stages(self, simulator: cosim.Simulator) -> None:
        simulator.advance_to(self.times[0])
        system = simulator.system
        measure: Any = system.parts["measure"]
        complete = simulator.state.copy().realize(cosim.Stage.REPORT)
        for order in range(1 + int(min(3, measure.derivatives_in(system)))):
            stage = measure.depends_on_stage(system, order)
            early = simulator.state.copy().realize(max(stage, cosim.Stage.MODEL))
            try:
                value = measure.read(early, order)
            except cosim.StageError as error:
                raise AssertionError(
                    f"derivative {order} is not known at stage {stage.name}: {error}"
                ) from None
            expected = measure.read(complete, order)
            assert _hex(value) == _hex(expected), (
                f"derivative {order} is {value} at stage {stage.name}, {expected} when all is known"
            )

    def test_has_a_value_before_there_is_a_past(self) -> None:
        """A State that no simulation has touched has a finite value too."""
        start = self.simulator().system.default_state()
        for values in self.draws():
            state = start.copy()
            write_values(state, "measure", drawn_values(start, "measure", values))
            value = state.realize(cosim.Stage.REPORT)["measure"]
            assert np.all(np.isfinite(value)), (
                f"the value is {value} in a State that nothing has initialized{self.values_text(values)}"
            )

    def test_going_back_and_on_again_gives_the_same(self) -> None:
        """A State that was kept, and went on twice, ends with the same value: all memory is in the State."""
        for values in self.draws():
            self._check_going_back(self.drawn(values))

    def _check_going_back(self, simulator: cosim.Simulator) -> None:
        simulator.advance_to(self.times[0])
        saved = simulator.state.copy()
        ends = []
        for state in (saved.copy(), saved):
            again = cosim.Simulator(simulator.system, state, accuracy=self.accuracy)
            again.advance_to(self.times[-1])
            ends.append(again.state.realize(cosim.Stage.REPORT)["measure"])
        assert _hex(ends[0]) == _hex(ends[1]), (
            f"{ends[0]} the first time, {ends[1]} from the same State again"
        )

    def test_can_be_an_output_of_an_fmu(self) -> None:
        """The measure is listed as an output, with dependencies."""
        system = self.simulator().system
        assert "measure" in system.outputs, "the measure is not among the outputs of the system"
        system.dependencies("measure")


def _hex(value: Any) -> list[str]:
    """Numbers to the last bit."""
    return [float.hex(float(number)) for number in np.atleast_1d(value)]

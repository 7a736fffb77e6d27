"""The contract kit of components, with their events and handlers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import cosim
from cosim.testing.described import check_docstring
from cosim.testing.drawn_values import drawn_values, values_text
from cosim.testing.moving_signals import forget_system, system_of
from cosim.testing.part_contract import PartContract, different_names
from cosim.testing.usable_draws import first_that_runs, usable_draws, with_drawn_values

PART = "measure"  # its name in the system that it is tried in
CHANGING = ("position", "speed", "auxiliary", "discrete", "integer", "output", "cache")


class ComponentContract(PartContract):
    """Checks of a component along a run: its equations, events and handlers.

    Sources, bodies and coordinates that `make` leaves open are attached to a pendulum and a free body; inputs
    move as the class attribute `inputs` says.

    Attributes
    ----------
    make : callable
        Makes the component.
    until : float
        How long it is run, s.
    accuracy : float
        Of the simulation.
    inputs : dict of str to float
        Values of input ports during the run; those that are not named keep their start values.

    Examples
    --------
    >>> from cosim.testing import ComponentContract
    >>> class TestTank(ComponentContract):
    ...     make = staticmethod(lambda: Tank(area="2 m2"))
    """

    beside: ClassVar[str] = "signals.pid"
    until: ClassVar[float] = 1.0
    accuracy: ClassVar[float] = 1e-8
    inputs: ClassVar[dict[str, float]] = {}

    @classmethod
    def simulator(cls, state: cosim.State | None = None) -> cosim.Simulator:
        """A system with the component, initialized; or going on from a State."""
        if state is not None:
            return cosim.Simulator(state.system, state, accuracy=cls.accuracy)
        system = system_of(cls)
        start = system.default_state()
        for name, value in cls.inputs.items():
            start[f"{PART}.{name}"] = value
        simulator = cosim.Simulator(system, start, accuracy=cls.accuracy)
        simulator.initialize()
        return simulator

    @classmethod
    def example(cls) -> tuple[cosim.State, str]:
        """The component in its system, initialized."""
        return cls.simulator().state, PART

    @classmethod
    def drawn(cls, values: int) -> cosim.Simulator:
        """A simulator with drawn values of the component's own, `drawn_values`; 0: those of `simulator`."""
        if values == 0:
            return cls.simulator()
        return with_drawn_values(system_of(cls), cls.accuracy, PART, values, cls.inputs)

    @classmethod
    def draws(cls) -> tuple[int, ...]:
        """Which values of its own the component is run with: the declared ones, and others."""
        return usable_draws(cls, cls.drawn, cls.until)

    @classmethod
    def paths(cls, system: cosim.System) -> list[str]:
        """The paths of what the component computes and remembers."""
        variables = [v for p, v in system.variables.items() if p.startswith(f"{PART}.") and v.slot.size]
        return [v.path for v in variables if v.kind in CHANGING]

    @classmethod
    def values(cls, simulator: cosim.Simulator) -> list[str]:
        """All of it in the State of a simulator, to the last bit."""
        state = simulator.state.copy().realize(cosim.Stage.REPORT)
        return [
            f"{path}: {np.asarray(state[path], float).tobytes().hex()}" for path in cls.paths(state.system)
        ]

    @classmethod
    def results(cls) -> list[str]:
        """The results of two runs, with the declared values and with others, to the last bit."""
        return [*cls.results_with(0), *first_that_runs(cls.results_with)]

    @classmethod
    def results_with(cls, values: int) -> list[str]:
        """The results of one run."""
        simulator = cls.drawn(values)
        values_shown = cls.values(simulator)
        for time in (0.37 * cls.until, cls.until):
            simulator.advance_to(time)
            values_shown += cls.values(simulator)
        return [*values_shown, *(f"event: {event.name} at {event.time.hex()}" for event in simulator.events)]

    def test_has_a_docstring_with_its_law(self) -> None:
        """The class says what it computes; what is missing is a warning."""
        check_docstring(self.make())

    def test_runs_with_finite_numbers(self) -> None:
        """From the start to the end all that it computes is a finite number, or not known at all (timers)."""
        for values in self.draws():
            simulator = self.drawn(values)
            for time in np.linspace(0.0, self.until, 6)[1:]:
                simulator.advance_to(float(time))
                state = simulator.state.copy().realize(cosim.Stage.REPORT)
                for path in self.paths(state.system):
                    kind = state.system.variables[path].kind
                    if kind in ("position", "speed", "auxiliary", "output"):
                        value = np.asarray(state[path], float)
                        assert np.all(np.isfinite(value)), (
                            f"{path} is {value} at t = {time:g} s{self.values_text(values)}"
                        )

    def test_has_an_effect(self) -> None:
        """Something that it computes is not zero, or changes, or one of its events happens."""
        cls = type(self.make())
        if not cls.kernels and not cls.handlers:
            pytest.skip(f"{cls.__name__} computes nothing")
        assert any(self._acts(values) for values in self.draws()), (
            f"in {self.until:g} s nothing that it computes changes or differs from 0, and it has no event: "
            "give `inputs` or parameters with which it acts, or a longer `until`"
        )

    def _acts(self, values: int) -> bool:
        simulator = self.drawn(values)
        values_before = self.values(simulator)
        start = simulator.state.copy().realize(cosim.Stage.REPORT)
        computed = [
            p for p in self.paths(start.system) if start.system.variables[p].kind in ("output", "cache")
        ]
        acts = any(np.any(np.asarray(start[path], float) != 0.0) for path in computed)
        simulator.advance_to(self.until)
        happened = [e for e in simulator.events if str(e.name).startswith(PART)]
        return acts or self.values(simulator) != values_before or bool(happened)

    def values_text(self, draw: int) -> str:
        """The values that a message is about; empty for those of a fresh State."""
        if draw == 0:
            return ""
        start = system_of(type(self)).default_state()
        return f" with {values_text(drawn_values(start, PART, draw))}"

    def test_two_runs_give_the_same(self) -> None:
        """Repeating the run gives the same bytes: all memory is in the State."""
        first = self.results()
        forget_system(type(self))
        again = self.results()
        assert first == again, f"{different_names(first, again)} differ in a second run"

    def test_computing_changes_nothing(self) -> None:
        """Computing the outputs leaves the State as it was."""
        for values in self.draws():
            simulator = self.drawn(values)
            simulator.advance_to(0.37 * self.until)
            state = simulator.state.copy()
            saved = state.to_bytes()
            state.realize(cosim.Stage.REPORT)
            assert state.to_bytes() == saved, "computing changed a variable of the State"

    def test_saved_and_restored_it_goes_on_the_same(self) -> None:
        """Saved to bytes in the middle of a run, and read again, it ends with the same bytes."""
        for values in self.draws():
            simulator = self.drawn(values)
            simulator.advance_to(0.37 * self.until)
            restored = self.simulator(simulator.system.state_from_bytes(simulator.state.to_bytes()))
            simulator.advance_to(self.until)
            restored.advance_to(self.until)
            first, other = self.values(simulator), self.values(restored)
            assert first == other, (
                f"{different_names(first, other)} differ after going on from saved bytes"
                f"{self.values_text(values)}"
            )

    def test_handlers_run_to_the_end(self) -> None:
        """No handler fails along the run, nor when it is finished: Termination has handlers, too."""
        if not type(self.make()).handlers:
            pytest.skip(f"{type(self.make()).__name__} has no handlers")
        for values in self.draws():
            simulator = self.drawn(values)
            simulator.advance_to(self.until)
            status = simulator.finish()
            assert status.reason is not cosim.Reason.EVENT_HANDLER_FAILED, status.format_message()

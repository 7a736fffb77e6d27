"""What every participant of a co-simulation has to keep."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import PythonCalls
from cosim_master.abilities import (
    ExportsFmu,
    HasFile,
    InitializationMode,
    RecordsEvents,
    Resizes,
    StepsNatively,
    TellsInside,
    Ticks,
    Watches,
    WritesLog,
)
from cosim_master.coupling.wiring import check_values
from cosim_master.participants.create_participants import description_faults

ABILITIES: tuple[Any, ...] = (
    *(InitializationMode, TellsInside, Watches, RecordsEvents, Resizes, Ticks),
    *(WritesLog, HasFile, ExportsFmu, StepsNatively),
)
SHARED = {"path"}
"""Members of protocols that may be there for another reason."""


class ParticipantContract:
    """Checks of a participant: alone, saved and restored, in a co-simulation.

    Attributes
    ----------
    make : callable
        Makes a new participant each time.
    starts : dict of str to object
        Start values that it needs.
    step : float
        A communication step that it can make, s.
    steps : int
        How many are made.
    changes : dict of str to object
        Inputs and the values to which they are changed; without it real inputs are changed by a thousandth.

    Examples
    --------
    >>> from cosim_fmu.testing import LinearParticipant, ParticipantContract
    >>> class TestLag(ParticipantContract):
    ...     matrices = [[-1.0]], [[1.0]], [[1.0]], [[0.0]]  # x' = u - x, y = x
    ...     make = staticmethod(lambda: LinearParticipant(TestLag.matrices, ["u"], ["y"], [0.0]))
    """

    make: ClassVar[Callable[..., Any]]
    starts: ClassVar[Mapping[str, Any]] = {}
    step: ClassVar[float] = 0.01
    steps: ClassVar[int] = 10
    changes: ClassVar[Mapping[str, Any]] = {}

    def test_describes_itself(self) -> None:
        """`describe` can be used before anything else, twice, and says nothing wrong."""
        made = self.make()
        missing = [n for n in cosim.Participant.__abstractmethods__ if not callable(getattr(made, n, None))]
        assert not missing, f"a participant needs the methods {', '.join(missing)}"
        faults = description_faults(made.describe())
        assert not faults, "; ".join(faults)
        assert list(made.describe().variables) == list(made.describe().variables)
        made.close()

    def test_abilities_are_whole(self) -> None:
        """An ability needs all members of its protocol: with some of them alone it is not seen."""
        made = self.make()
        for ability in ABILITIES:
            members = [n for n in vars(ability) if not n.startswith("_")]
            has = [n for n in members if n not in SHARED and hasattr(type(made), n)]
            if has and not isinstance(made, ability):
                missing = ", ".join(n for n in members if not hasattr(made, n))
                pytest.fail(f"{', '.join(has)} without {missing}: {ability.__name__} needs all of them")

    def test_values_have_their_types(self) -> None:
        """`get` answers one value of the declared type for each name, at the start and after a step."""
        made, outputs = self._begun()
        description = made.describe()
        for _ in range(2):
            values = list(made.get(outputs))
            assert len(values) == len(outputs), f"get returned {len(values)} values for {len(outputs)} names"
            check_values(description, outputs, values)
            made.step(0.0, self.step)
        made.close()

    def test_steps_to_the_time_that_it_is_told(self) -> None:
        """`step` answers the time that was reached: not beyond the end of the step, and it gets there."""
        made, _ = self._begun()
        time = 0.0
        for i in range(self.steps):
            end = (i + 1) * self.step
            while time < end * (1.0 - 1e-12):
                reached = made.step(time, end - time)
                assert isinstance(reached, (int, float)), f"step answered {reached!r}, not the time reached"
                assert time < reached <= end + 4.0 * math.ulp(end), (
                    f"step({time:g}, {end - time:g}) answered {reached:g}, needs a time up to {end:g}"
                )
                time = float(reached)
        made.close()

    def test_a_second_run_gives_the_same(self) -> None:
        """After `close` it can be initialized again, and remembers nothing."""
        made = self.make()
        first = self._run(made)
        made.close()
        assert _same(self._run(made), first), "the second run of one participant differs from the first"
        made.close()

    def test_two_do_not_disturb_each_other(self) -> None:
        """A second one beside it, with other inputs, changes nothing."""
        if self.make().describe().only_once:
            pytest.skip("only one in a process")
        alone = self._run(self.make())
        made, outputs = self._begun()
        other, _ = self._begun()
        rows = []
        for i in range(self.steps):
            self._change(other)
            other.step(i * self.step, self.step)
            made.step(i * self.step, self.step)
            rows.append(list(made.get(outputs)))
        assert _same(rows, alone), "it gives other values beside a second one"
        made.close()
        other.close()

    def test_reading_changes_nothing(self) -> None:
        """What is read, and how often, has no influence."""
        made, outputs = self._begun()
        rows = []
        for i in range(self.steps):
            for name in outputs:
                made.get([name])
            made.step(i * self.step, self.step)
            made.get(outputs)
            rows.append(list(made.get(outputs)))
        assert _same(rows, self._run(self.make())), "reading it changes the results"
        made.close()

    def test_can_be_closed_at_any_time(self) -> None:
        """`close` never raises: before `initialize`, after it, twice."""
        for begun in (False, True):
            made = self._begun(ready=False)[0] if begun else self.make()
            for time in ("the first", "the second"):
                try:
                    made.close()
                except Exception as error:
                    pytest.fail(f"close raises {type(error).__name__} for {time} time: {error}")

    def test_refuses_names_that_it_does_not_have(self) -> None:
        """A name that is not there is an error, no value."""
        made, _ = self._begun()
        with pytest.raises(Exception):  # noqa: B017 - which one is its own affair
            made.get(["no such variable"])
        made.close()

    def test_goes_back(self) -> None:
        """From a restored state the same comes, bit for bit, as often as it is restored."""
        made, outputs = self._begun()
        if not made.describe().can_restore:
            pytest.skip("it cannot restore its state")
        made.step(0.0, self.step)
        token, before = made.save(), list(made.get(outputs))
        expected = self._go_on(made)
        for _ in range(2):
            self._change(made)
            made.step((self.steps + 1) * self.step, self.step)
            made.restore(token)
            assert _same([before], [list(made.get(outputs))]), "restored values differ from the saved ones"
            assert _same(self._go_on(made), expected), "what follows a restored state differs"
        made.close()

    def test_goes_back_from_bytes(self) -> None:
        """A state goes through bytes, also to another participant of the same make."""
        made, _ = self._begun()
        if not made.describe().can_serialize:
            pytest.skip("it cannot serialize its state")
        made.step(0.0, self.step)
        data = made.serialize(made.save())
        assert isinstance(data, bytes), f"serialize answered {type(data).__name__}, needs bytes"
        expected = self._go_on(made)
        made.restore(made.deserialize(data))
        assert _same(self._go_on(made), expected), "a state restored from bytes continues differently"
        made.close()
        other, _ = self._begun()
        other.restore(other.deserialize(data))
        assert _same(self._go_on(other), expected), "in another participant it continues differently"
        other.close()

    def test_feedthrough_is_what_it_says(self) -> None:
        """An output that is said not to depend directly on an input does not change with it."""
        made, _ = self._begun()
        description = made.describe()
        known = dict(description.feedthrough or {})
        outputs = [n for n in known if n not in description.assumed_feedthrough]
        for name, value in self._changes(made).items():
            free = [output for output in outputs if name not in known[output]]
            before = list(made.get(free))
            made.set([name], [value])
            after = list(made.get(free))
            for output, one, other in zip(free, before, after, strict=True):
                assert _same([[one]], [[other]]), (
                    f"{output} depends on {name}, which its feedthrough does not say"
                )
        made.close()

    def test_derivatives_are_those_of_the_outputs(self) -> None:
        """Directional derivatives agree with differences."""
        made, outputs = self._begun()
        description = made.describe()
        if not description.has_derivatives:
            pytest.skip("it has no directional derivatives")
        real = [n for n in outputs if description.variables[n].type == "real"]
        inputs = [n for n, value in self._changes(made).items() if description.variables[n].type == "real"]
        for name in inputs:
            here = float(made.get([name])[0]) if name in outputs else self._start(made, name)
            answered = list(made.directional_derivative(real, [name], [1.0]))
            sides = []
            for change in (1e-4, -1e-4):
                made.set([name], [here + change])
                sides.append(np.array(made.get(real), dtype=float))
            made.set([name], [here])
            slope = (sides[0] - sides[1]) / 2e-4
            np.testing.assert_allclose(answered, slope, rtol=1e-4, atol=1e-6, err_msg=f"by {name}")
        made.close()

    def test_slopes_are_followed(self) -> None:
        """A slope of zero is a held input, and one that is not zero makes a difference."""
        made, _ = self._begun()
        if not made.describe().follows_slopes:
            pytest.skip("it holds its inputs")
        inputs = [n for n in self._changes(made) if made.describe().variables[n].type == "real"]
        held = self._sloped(inputs, None)
        assert _close(self._sloped(inputs, 0.0), held), "with slopes of zero it differs from held inputs"
        if not _same(self._run(self.make(), change=True), held):
            assert not _close(self._sloped(inputs, 10.0), held), "slopes have no influence"
        made.close()

    def test_tells_what_happens_inside_its_steps(self) -> None:
        """Points lie in the step that has ended, in order, with what is watched."""
        made: Any = self.make()
        tells = isinstance(made, TellsInside)
        if not tells:
            pytest.skip("it tells nothing")
        outputs = _outputs(made)
        if isinstance(made, Watches):
            made.watch(outputs, "steps")
        self._initialize(made)
        list(made.inside())
        for i in range(self.steps):
            begin = i * self.step
            end = made.step(begin, self.step)
            points = list(made.inside())
            times = [point.time for point in points]
            assert times == sorted(times), f"the times {times} of inside are not in order"
            assert all(begin - 1e-12 <= t <= end + 1e-12 for t in times), f"{times} is not in the step"
            for point in points:
                assert len(point.names) == len(point.values), f"{point} has not one value for each name"
        assert not list(made.inside()), "inside returns the same rows again"
        made.close()

    def test_runs_in_a_co_simulation(self) -> None:
        """Alone, twice: rows for all its outputs, the same ones."""
        until = self.steps * self.step
        one, other = (self._simulated("jacobi", until) for _ in range(2))
        assert one.time[-1] == pytest.approx(until), one.message
        _assert_same(one, other)

    def test_native_steps_are_those_of_python(self) -> None:
        """Its functions of C give the same bytes as its methods of Python."""
        made = self.make()
        if not isinstance(made, StepsNatively) or kit.is_plain():
            pytest.skip("it does not step natively, or nothing is compiled here")
        count = max(self.steps, made.least_native_steps)
        until = count * self.step
        one, other = (self._simulated("jacobi", until, part) for part in (made, PythonCalls(self.make())))
        if why := one.statistics["in_python"]:
            pytest.skip(f"it is called in Python: {why['it']}")
        _assert_same(one, other)

    def _simulated(self, algorithm: Any, until: float, made: Any = None) -> cosim.Result:
        starts = {f"it.{name}": value for name, value in self.starts.items()}
        loop = CoSimulation(
            {"it": self.make() if made is None else made}, [], algorithm, self.step, start=0.0, starts=starts
        )
        return loop.simulate(until)

    def _begun(self, *, ready: bool = True) -> tuple[Any, list[str]]:
        made = self.make()
        outputs = _outputs(made)
        self._initialize(made, ready=ready)
        return made, outputs

    def _initialize(self, made: Any, *, ready: bool = True) -> None:
        made.initialize(0.0, (self.steps + 2) * self.step, dict(self.starts), None)
        if ready and isinstance(made, InitializationMode):
            made.exit_initialization()

    def _run(self, made: Any, *, change: bool = False) -> list[list[Any]]:
        self._initialize(made)
        return self._rows(made, before=partial(self._change, made) if change else None)

    def _go_on(self, made: Any) -> list[list[Any]]:
        return self._rows(made, first=1)

    def _rows(self, made: Any, first: int = 0, before: Callable[[], None] | None = None) -> list[list[Any]]:
        """What it gives after each of some steps."""
        outputs, rows = _outputs(made), []
        for i in range(first, first + self.steps):
            if before is not None:
                before()
            made.step(i * self.step, self.step)
            rows.append(list(made.get(outputs)))
        return rows

    def _sloped(self, inputs: Sequence[str], slope: float | None) -> list[list[Any]]:
        made, _ = self._begun()

        def drive() -> None:
            made.set(inputs, [self._start(made, name) for name in inputs])
            if slope is not None:
                made.set_slopes(inputs, [slope] * len(inputs))

        rows = self._rows(made, before=drive)
        made.close()
        return rows

    def _changes(self, made: Any) -> dict[str, Any]:
        """Other values of inputs."""
        if self.changes:
            return dict(self.changes)
        variables = made.describe().variables
        real = [v.name for v in variables.values() if v.causality == "input" and v.type == "real"]
        return {
            name: self._start(made, name) + 1e-3 * max(1.0, abs(self._start(made, name))) for name in real
        }

    def _start(self, made: Any, name: str) -> float:
        return float(self.starts.get(name, made.describe().variables[name].start or 0.0))

    def _change(self, made: Any) -> None:
        changes = self._changes(made)
        if changes:
            made.set(list(changes), list(changes.values()))


def _outputs(made: Any) -> list[str]:
    return [v.name for v in made.describe().variables.values() if v.causality == "output"]


def _assert_same(one: cosim.Result, other: cosim.Result) -> None:
    for name in one.names:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def _same(one: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> bool:
    """Whether all values are equal, NaN with NaN."""
    if len(one) != len(other):
        return False
    return all(
        a == b or (isinstance(a, float) and isinstance(b, float) and a != a and b != b)
        for row, second in zip(one, other, strict=True)
        for a, b in zip(row, second, strict=True)
    )


def _close(one: Sequence[Sequence[Any]], other: Sequence[Sequence[Any]]) -> bool:
    """Whether all numbers agree but for rounding."""
    numbers = [
        (float(a), float(b))
        for row, second in zip(one, other, strict=True)
        for a, b in zip(row, second, strict=True)
        if isinstance(a, (int, float, np.floating))
    ]
    return all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) for a, b in numbers)

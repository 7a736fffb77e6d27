"""The contract of participants."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim.testing.one_sided_rates import is_possible_rate
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import PythonCalls
from cosim_master.abilities import (
    ExportsFmu,
    HasFile,
    InitializationMode,
    RecordsEvents,
    Resizes,
    TellsInside,
    Ticks,
    Watches,
    WritesLog,
)
from cosim_master.coupling.check_participants import check_values
from cosim_master.native_calls import StepsNatively
from cosim_master.participants.create_participants import description_faults

ABILITIES: tuple[Any, ...] = (
    *(InitializationMode, TellsInside, Watches, RecordsEvents, Resizes, Ticks),
    *(WritesLog, HasFile, ExportsFmu, StepsNatively),
)
SHARED = {"path"}
"""Members of protocols that may be there for another reason."""
SMALL_CHANGE = 1e-4
"""A small change of an input, for differences."""
DRAWS = 6
"""Sets of values to which inputs are changed: the first is near their start values."""


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
        How many are participant.
    changes : dict of str to object
        Inputs and the values to which they are changed. Without it real inputs are changed by a thousandth,
        and to values on both sides of their start, up to three times their size away.

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
        participant = self.make()
        missing = [
            n for n in cosim.Participant.__abstractmethods__ if not callable(getattr(participant, n, None))
        ]
        assert not missing, f"a participant needs the methods {', '.join(missing)}"
        faults = description_faults(participant.describe())
        assert not faults, "; ".join(faults)
        assert list(participant.describe().variables) == list(participant.describe().variables)
        participant.close()

    def test_abilities_are_whole(self) -> None:
        """An ability needs all members of its protocol: with some of them alone it is not seen."""
        participant = self.make()
        for ability in ABILITIES:
            members = [n for n in vars(ability) if not n.startswith("_")]
            has = [n for n in members if n not in SHARED and hasattr(type(participant), n)]
            if has and not isinstance(participant, ability):
                missing = ", ".join(n for n in members if not hasattr(participant, n))
                pytest.fail(f"{', '.join(has)} without {missing}: {ability.__name__} needs all of them")

    def test_values_have_their_types(self) -> None:
        """`get` answers one value of the declared type for each name, at the start and after a step."""
        participant, outputs = self._initialized()
        description = participant.describe()
        for _ in range(2):
            values = list(participant.get(outputs))
            assert len(values) == len(outputs), f"get returned {len(values)} values for {len(outputs)} names"
            check_values(description, outputs, values)
            participant.step(0.0, self.step)
        participant.close()

    def test_steps_to_the_time_that_it_is_told(self) -> None:
        """`step` answers the time that was reached: not beyond the end of the step, and it gets there."""
        participant, _ = self._initialized()
        time = 0.0
        for i in range(self.steps):
            end = (i + 1) * self.step
            while time < end * (1.0 - 1e-12):
                reached = participant.step(time, end - time)
                assert isinstance(reached, (int, float)), f"step answered {reached!r}, not the time reached"
                assert time < reached <= end + 4.0 * math.ulp(end), (
                    f"step({time:g}, {end - time:g}) answered {reached:g}, needs a time up to {end:g}"
                )
                time = float(reached)
        participant.close()

    def test_a_second_run_gives_the_same(self) -> None:
        """A participant can be initialized again after `close`, without memory; also of its inputs."""
        participant = self.make()
        first = self._run(participant)
        participant.close()
        assert _same(self._run(participant), first), (
            "the second run of one participant differs from the first"
        )
        participant.close()
        self._run(participant, change=True)
        participant.close()
        assert _same(self._run(participant), first), "it remembers the inputs of an earlier run"
        participant.close()

    def test_two_do_not_disturb_each_other(self) -> None:
        """A second instance with other inputs has no influence."""
        if self.make().describe().only_once:
            pytest.skip("only one in a process")
        alone = self._run(self.make())
        participant, outputs = self._initialized()
        other, _ = self._initialized()
        rows = []
        for i in range(self.steps):
            self._change(other, i)
            other.step(i * self.step, self.step)
            participant.step(i * self.step, self.step)
            rows.append(list(participant.get(outputs)))
        assert _same(rows, alone), "it gives other values beside a second one"
        participant.close()
        other.close()

    def test_reading_changes_nothing(self) -> None:
        """Reading has no influence, however often variables are read."""
        participant, outputs = self._initialized()
        rows = []
        for i in range(self.steps):
            for name in outputs:
                participant.get([name])
            participant.step(i * self.step, self.step)
            participant.get(outputs)
            rows.append(list(participant.get(outputs)))
        assert _same(rows, self._run(self.make())), "reading it changes the results"
        participant.close()

    def test_can_be_closed_at_any_time(self) -> None:
        """`close` never raises: before `initialize`, after it, twice."""
        for is_initialized in (False, True):
            participant = self._initialized(ready=False)[0] if is_initialized else self.make()
            for time in ("the first", "the second"):
                try:
                    participant.close()
                except Exception as error:
                    pytest.fail(f"close raises {type(error).__name__} for {time} time: {error}")

    def test_refuses_names_that_it_does_not_have(self) -> None:
        """An unknown name is an error: `get` returns no value."""
        participant, _ = self._initialized()
        with pytest.raises(Exception):  # noqa: B017 - which one is its own affair
            participant.get(["no such variable"])
        participant.close()

    def test_goes_back(self) -> None:
        """A restored state gives the same results, bit for bit, as often as it is restored."""
        participant, outputs = self._initialized()
        if not participant.describe().can_restore:
            pytest.skip("it cannot restore its state")
        participant.step(0.0, self.step)
        for draw in range(DRAWS):
            token, before = participant.save(), list(participant.get(outputs))
            expected = self._step_on(participant)
            for other in (draw, draw + 1):
                self._change(participant, other)
                participant.step((self.steps + 1) * self.step, self.step)
                participant.restore(token)
                assert _same([before], [list(participant.get(outputs))]), (
                    "restored values differ from the saved ones"
                )
                assert _same(self._step_on(participant), expected), "what follows a restored state differs"
            participant.restore(token)
            self._change(participant, draw)
        participant.close()

    def test_goes_back_from_bytes(self) -> None:
        """A state goes through bytes, also to another participant of the same make."""
        participant, _ = self._initialized()
        if not participant.describe().can_serialize:
            pytest.skip("it cannot serialize its state")
        participant.step(0.0, self.step)
        data = participant.serialize(participant.save())
        assert isinstance(data, bytes), f"serialize answered {type(data).__name__}, needs bytes"
        expected = self._step_on(participant)
        participant.restore(participant.deserialize(data))
        assert _same(self._step_on(participant), expected), (
            "a state restored from bytes continues differently"
        )
        participant.close()
        other, _ = self._initialized()
        other.restore(other.deserialize(data))
        assert _same(self._step_on(other), expected), "in another participant it continues differently"
        other.close()

    def test_feedthrough_is_what_it_says(self) -> None:
        """An output that is said not to depend directly on an input does not change with it."""
        participant, _ = self._initialized()
        description = participant.describe()
        feedthrough = dict(description.feedthrough or {})
        outputs = [n for n in feedthrough if n not in description.assumed_feedthrough]
        for draw in range(min(DRAWS, self.steps)):
            for name, value in self._changes(participant, draw).items():
                free = [output for output in outputs if name not in feedthrough[output]]
                before = list(participant.get(free))
                participant.set([name], [value])
                after = list(participant.get(free))
                for output, one, other in zip(free, before, after, strict=True):
                    assert _same([[one]], [[other]]), (
                        f"{output} depends on {name}, which its feedthrough does not say"
                    )
            participant.step(draw * self.step, self.step)
        participant.close()

    def test_derivatives_are_those_of_the_outputs(self) -> None:
        """Directional derivatives agree with differences, at a kink with those on one of its sides."""
        participant, outputs = self._initialized()
        description = participant.describe()
        if not description.has_derivatives:
            pytest.skip("it has no directional derivatives")
        real = [n for n in outputs if description.variables[n].type == "real"]
        inputs = [
            n for n, value in self._changes(participant).items() if description.variables[n].type == "real"
        ]
        known = {name: self._start(participant, name) for name in inputs}
        for draw in range(min(DRAWS, self.steps)):
            if draw:
                known |= {n: float(v) for n, v in self._changes(participant, draw).items() if n in inputs}
            participant.set(list(known), list(known.values()))
            for name in inputs:
                self._check_derivatives(participant, real, name, known[name])
            participant.step(draw * self.step, self.step)
        participant.close()

    def _check_derivatives(self, participant: Any, outputs: Sequence[str], name: str, value: float) -> None:
        """The derivatives by one input, at its present value."""
        derivatives = list(participant.directional_derivative(outputs, [name], [1.0]))

        def output(change: float, i: int) -> float:
            participant.set([name], [value + change])
            return float(participant.get([outputs[i]])[0])

        for i, derivative in enumerate(derivatives):
            slope = (output(SMALL_CHANGE, i) - output(-SMALL_CHANGE, i)) / (2.0 * SMALL_CHANGE)
            tolerance = 1e-6 + 1e-4 * abs(slope)
            assert abs(derivative - slope) <= tolerance or is_possible_rate(
                float(derivative), partial(output, i=i), SMALL_CHANGE, tolerance
            ), f"by {name} = {value:g}: d({outputs[i]}) is {derivative}, it changes at {slope}"
        participant.set([name], [value])

    def test_slopes_are_followed(self) -> None:
        """A slope of zero is a held input, and one that is not zero makes a difference."""
        participant, _ = self._initialized()
        if not participant.describe().follows_slopes:
            pytest.skip("it holds its inputs")
        inputs = [n for n in self._changes(participant) if participant.describe().variables[n].type == "real"]
        held = self._rows_with_slopes(inputs, None)
        assert _close(self._rows_with_slopes(inputs, 0.0), held), (
            "with slopes of zero it differs from held inputs"
        )
        if not _same(self._run(self.make(), change=True), held):
            assert not _close(self._rows_with_slopes(inputs, 10.0), held), "slopes have no influence"
        participant.close()

    def test_tells_what_happens_inside_its_steps(self) -> None:
        """Reported instants lie in the last step, in order, with the watched variables."""
        participant: Any = self.make()
        tells = isinstance(participant, TellsInside)
        if not tells:
            pytest.skip("it tells nothing")
        outputs = _outputs(participant)
        if isinstance(participant, Watches):
            participant.watch(outputs, "steps")
        self._initialize(participant)
        list(participant.inside())
        for i in range(self.steps):
            begin = i * self.step
            end = participant.step(begin, self.step)
            points = list(participant.inside())
            times = [point.time for point in points]
            assert times == sorted(times), f"the times {times} of inside are not in order"
            assert all(begin - 1e-12 <= t <= end + 1e-12 for t in times), f"{times} is not in the step"
            for point in points:
                assert len(point.names) == len(point.values), f"{point} has not one value for each name"
        assert not list(participant.inside()), "inside returns the same rows again"
        participant.close()

    def test_runs_in_a_co_simulation(self) -> None:
        """Alone, twice: rows for all its outputs, the same ones."""
        until = self.steps * self.step
        one, other = (self._simulated("jacobi", until) for _ in range(2))
        assert one.time[-1] == pytest.approx(until), one.message
        _assert_same(one, other)

    def test_native_steps_are_those_of_python(self) -> None:
        """The functions of C give the same bytes as the methods of Python."""
        participant = self.make()
        if not isinstance(participant, StepsNatively) or kit.is_plain():
            pytest.skip("it does not step natively, or nothing is compiled here")
        count = max(self.steps, participant.least_native_steps)
        until = count * self.step
        one, other = (
            self._simulated("jacobi", until, part) for part in (participant, PythonCalls(self.make()))
        )
        if why := one.statistics["in_python"]:
            pytest.skip(f"it is called in Python: {why['it']}")
        _assert_same(one, other)

    def _simulated(self, algorithm: Any, until: float, participant: Any = None) -> cosim.Result:
        """A run of it alone."""
        starts = {f"it.{name}": value for name, value in self.starts.items()}
        loop = CoSimulation(
            {"it": self.make() if participant is None else participant},
            [],
            algorithm,
            self.step,
            start=0.0,
            starts=starts,
        )
        return loop.simulate(until)

    def _initialized(self, *, ready: bool = True) -> tuple[Any, list[str]]:
        """A new one, initialized, and its outputs; unless it is `ready`, still in initialization mode."""
        participant = self.make()
        outputs = _outputs(participant)
        self._initialize(participant, ready=ready)
        return participant, outputs

    def _initialize(self, participant: Any, *, ready: bool = True) -> None:
        participant.initialize(0.0, (self.steps + 2) * self.step, dict(self.starts), None)
        if ready and isinstance(participant, InitializationMode):
            participant.exit_initialization()

    def _run(self, participant: Any, *, change: bool = False) -> list[list[Any]]:
        self._initialize(participant)
        draws = iter(range(self.steps))
        return self._rows(
            participant, before=(lambda: self._change(participant, next(draws))) if change else None
        )

    def _step_on(self, participant: Any) -> list[list[Any]]:
        """The outputs after each of several steps that follow the first one."""
        return self._rows(participant, first=1)

    def _rows(
        self, participant: Any, first: int = 0, before: Callable[[], None] | None = None
    ) -> list[list[Any]]:
        """The outputs after each of several steps."""
        outputs, rows = _outputs(participant), []
        for i in range(first, first + self.steps):
            if before is not None:
                before()
            participant.step(i * self.step, self.step)
            rows.append(list(participant.get(outputs)))
        return rows

    def _rows_with_slopes(self, inputs: Sequence[str], slope: float | None) -> list[list[Any]]:
        """The outputs of a new participant after each step, with sloping inputs; held without a slope."""
        participant, _ = self._initialized()

        def drive() -> None:
            participant.set(inputs, [self._start(participant, name) for name in inputs])
            if slope is not None:
                participant.set_slopes(inputs, [slope] * len(inputs))

        rows = self._rows(participant, before=drive)
        participant.close()
        return rows

    def _changes(self, participant: Any, draw: int = 0) -> dict[str, Any]:
        """Other values of inputs; of the draws 1 and 2 (3 and 4, …) one on each side of the start."""
        if self.changes:
            return dict(self.changes)
        variables = participant.describe().variables
        real = [v.name for v in variables.values() if v.causality == "input" and v.type == "real"]
        starts = {name: self._start(participant, name) for name in real}
        if draw == 0:
            return {name: start + 1e-3 * max(1.0, abs(start)) for name, start in starts.items()}
        random = np.random.default_rng(draw)
        sides = np.random.default_rng(-(-draw // 2)).choice((-1.0, 1.0), len(real)) * (-1.0) ** draw
        return {
            name: float(start + side * (abs(start) or 1.0) * 10.0 ** random.uniform(-2.0, 0.5))
            for (name, start), side in zip(starts.items(), sides, strict=True)
        }

    def _start(self, participant: Any, name: str) -> float:
        return float(self.starts.get(name, participant.describe().variables[name].start or 0.0))

    def _change(self, participant: Any, draw: int = 0) -> None:
        changes = self._changes(participant, draw)
        if changes:
            participant.set(list(changes), list(changes.values()))


def _outputs(participant: Any) -> list[str]:
    return [v.name for v in participant.describe().variables.values() if v.causality == "output"]


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

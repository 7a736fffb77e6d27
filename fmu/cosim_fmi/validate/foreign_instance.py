"""An instance of an FMU that is inspected."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Self

from cosim_fmi.binding import fmu_output
from cosim_fmi.binding.fmu_instance import SavedState
from cosim_fmi.binding.fmu_library import FmiError, new_instance, open_library
from cosim_fmi.binding.statuses import OK
from cosim_fmi.validate.compare_experiment import at_time
from cosim_fmi.validate.experiments import value_of
from cosim_fmi.validate.finding import FailedCallError

NUMBERS = ("Real", "Integer", "Enumeration", "Boolean")
STEPS = 20
"""Communication steps of a run."""


class ForeignFmu:
    """The library of an FMU, and what its model description says.

    Parameters
    ----------
    job : dict
        As `FmuProbe` writes it: paths, capabilities, the variables as dictionaries of text.

    Raises
    ------
    FmiError
        The library cannot be loaded, or lacks functions of an FMU.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.is_co_simulation = job, job["interface"] == "CoSimulation"
        fmu_output.format_with(job["log_helper"])
        self.library = open_library(Path(job["library"]), job["version"], job["identifier"], job["interface"])
        self.variables: list[dict[str, Any]] = job["variables"]
        self.start, self.step = job["start"], job["step"]
        self.stop = self.start + STEPS * self.step

    def has(self, function: str) -> bool:
        """Whether the library exports a function, named without its prefix."""
        return self.library.has(function)

    def of(self, *causalities: str, kind: str = "") -> list[dict[str, Any]]:
        """The variables of some causalities, and of one type."""
        chosen = [v for v in self.variables if v["causality"] in causalities]
        return [v for v in chosen if v["type"] == kind] if kind else chosen

    @property
    def driven(self) -> list[dict[str, Any]]:
        """The inputs that are changed from step to step: real ones that need no event mode."""
        free = self.job["version"] != "3.0" and self.is_co_simulation
        inputs = [v for v in self.of("input", kind="Real") if v["size"] == 1]
        return [v for v in inputs if free or v["variability"] != "discrete"]

    @functools.cached_property
    def compared(self) -> list[dict[str, Any]]:
        """The compared variables in the order in which they are read: by type; arrays by element."""
        shown = [v for v in self.of("output", "local") if v["type"] in NUMBERS][:2000]
        return [
            {**v, "name": f"{v['name']}[{i}]" if v["size"] > 1 else v["name"]}
            for v in sorted(shown, key=lambda v: (NUMBERS.index(v["type"]), v["access"]))
            for i in range(v["size"])
        ]


MOST_EVENT_ITERATIONS = 100
EULER_STEPS = 20
"""Euler steps in a communication step of Model Exchange: runs are compared for equality, not accuracy."""
Row = list[float]
"""Values of variables at one point."""


class ForeignInstance:
    """An instance, stepped from one communication point to the next.

    Model Exchange is integrated by Euler's method, with events of all three kinds: of indicators, of time and
    of steps. Early returns are not allowed.

    Parameters
    ----------
    fmu : ForeignFmu
    name : str

    Raises
    ------
    FailedCallError
        From all methods: a call that failed, and what the FMU logged about it.
    """

    def __init__(self, fmu: ForeignFmu, name: str = "instance") -> None:
        self.fmu, self.messages = fmu, list[str]()
        self.time, self.stopped, self._next_event = fmu.start, False, math.inf
        self.instance = new_instance(fmu.library, self._log)
        identity = name, fmu.job["guid"], Path(fmu.job["unpacked"])
        options = {"event_mode": fmu.job["event_mode"], "early_return": False}
        self._call_checked(partial(self.instance.instantiate, *identity, **options))

    def start(self) -> Self:
        """Initialize the FMU, up to its first step."""
        instance, job = self.instance, self.fmu.job
        self._call_checked(instance.setup, self.fmu.start, None, job["tolerance"])
        self._call_checked(instance.enter_initialization_mode)
        self._call_checked(instance.exit_initialization_mode)
        self.time, self.stopped, self._next_event = self.fmu.start, False, math.inf
        if not self.fmu.is_co_simulation or job["event_mode"]:
            self._leave_event_mode()
        return self

    def run_experiment(self, described: dict[str, Any]) -> dict[str, Row]:
        """The values of the variables in an experiment's references at its communication points.

        Parameters
        ----------
        described : dict
            As `read_experiments` gives it; names that the FMU does not have are an error.
        """
        scalars = {v["name"]: v for v in self.fmu.variables if v["size"] == 1}
        shown = [self._known(scalars, name) for name in described["references"] if name != "time"]
        stimuli = [self._known(scalars, name) for name in described["stimuli"] if name != "time"]
        start, stop, step = described["start"], described["stop"], described["step"]
        self._call_checked(self.instance.setup, start, stop, described["tolerance"])
        for name, text in described["parameters"].items():
            variable = self._known(scalars, name)
            self.set([variable], [_as_type(variable, value_of(text, name))])
        self._stimulate(described, stimuli, start)
        self._call_checked(self.instance.enter_initialization_mode)
        self._call_checked(self.instance.exit_initialization_mode)
        self.time, self.stopped, self._next_event = start, False, math.inf
        if self.fmu.job["event_mode"]:
            self._leave_event_mode()
        values: dict[str, Row] = {"time": [start], **{v["name"]: self.get([v]) for v in shown}}
        count = math.ceil((stop - start) / step - 1e-9)
        for i in range(count):
            begin, end = start + i * step, stop if i == count - 1 else start + (i + 1) * step
            self._stimulate(described, stimuli, begin)
            self.do_step(begin, end - begin)
            values["time"].append(end)
            for variable in shown:
                values[variable["name"]] += self.get([variable])
        self.terminate()
        return values

    def _known(self, variables: dict[str, Any], name: str) -> dict[str, Any]:
        if name not in variables or variables[name]["type"] not in NUMBERS:
            raise FailedCallError(f"the experiment names {name}, which is not a numeric variable of this FMU")
        return dict(variables[name])

    def _stimulate(self, described: dict[str, Any], stimuli: list[dict[str, Any]], time: float) -> None:
        for variable in stimuli:
            is_linear = variable["type"] == "Real" and variable["variability"] != "discrete"
            value = at_time(described["stimuli"], variable["name"], time, is_linear=is_linear)
            self.set([variable], [_as_type(variable, value)])

    def steps(self, first: int, last: int, parts: int = 1, drive: bool = True) -> list[Row]:
        """Communication steps from point `first` to `last`, each in `parts`; the values at each point."""
        rows = []
        for i in range(first, last):
            if drive:
                self.drive(i)
            for k in range(parts):
                begin = self.fmu.start + (i + k / parts) * self.fmu.step
                end = self.fmu.start + (i + (k + 1) / parts) * self.fmu.step
                self.do_step(begin, end - begin)
            rows.append(self.read())
        return rows

    def do_step(self, time: float, size: float) -> None:
        """A communication step."""
        if not self.fmu.is_co_simulation:
            for k in range(EULER_STEPS):
                begin, end = time + size * k / EULER_STEPS, time + size * (k + 1) / EULER_STEPS
                if not self.stopped:
                    self._euler(begin, end)
            self.time = time + size
            return
        where = f" at t = {time:.9g}"
        answer = self._call_checked(self.instance.do_step, time, size, where=where)
        if answer.discarded:
            raise FailedCallError(f"{self.instance.name_of('DoStep')}{where}: discarded{self.last_message()}")
        if answer.event and not answer.terminate and self.fmu.job["event_mode"]:
            self._call_checked(self.instance.enter_event_mode)
            self._leave_event_mode()

    def drive(self, i: int) -> None:
        """Inputs that change a little from step to step, inside their bounds."""
        for variable in self.fmu.driven:
            start = float(variable["start"] or 0.0)
            value = start * (1.0 + 0.01 * (i % 3)) if start else 1e-3 * (i % 3)
            if _inside(variable, value):
                self.set([variable], [value])

    def set(self, variables: list[dict[str, Any]], values: list[Any]) -> None:
        """Write variables of one type."""
        kind = variables[0]["access"]
        data = (self.instance.c_types[kind] * len(values))(*values)
        names = ", ".join(f"{v['name']} = {x!r}" for v, x in zip(variables, values, strict=True))
        references = _references([v["reference"] for v in variables])
        self._call_checked(self.instance.set, kind, references, data, where=f"({names})")

    def get(self, variables: list[dict[str, Any]]) -> Row:
        """Read variables of one type; all elements of an array or none."""
        if not variables:
            return []
        kind = variables[0]["access"]
        references = list(dict.fromkeys(v["reference"] for v in variables))
        if len(references) < len(variables) and not any(v["size"] > 1 for v in variables):
            references = [v["reference"] for v in variables]  # two of them are aliases
        data = (self.instance.c_types[kind] * len(variables))()
        where = f" of {variables[0]['name']} …"
        self._call_checked(self.instance.get, kind, _references(references), data, where=where)
        return list(data)

    def read(self) -> Row:
        """All readable numbers, in the order of `compared`."""
        groups = groupby(self.fmu.compared, key=lambda v: (v["access"], v["size"] > 1 and v["reference"]))
        return [x for _, group in groups for x in self.get(list(group))]

    def set_time(self, time: float) -> None:
        """Set the time of a Model Exchange FMU, s."""
        self._call_checked(self.instance.set_time, time)

    def states(self) -> Row:
        """The continuous states."""
        return self._vector(self.instance.get_continuous_states, self.fmu.job["states"])

    def rates(self) -> Row:
        """The derivatives of the states."""
        return self._vector(self.instance.get_derivatives, self.fmu.job["states"])

    def indicators(self) -> Row:
        """The event indicators."""
        return self._vector(self.instance.get_event_indicators, self.fmu.job["indicators"])

    def put_states(self, values: Row) -> None:
        """Write the continuous states."""
        if values:
            self._call_checked(self.instance.set_continuous_states, (ctypes.c_double * len(values))(*values))

    def save(self) -> tuple[SavedState, list[Any]]:
        """A saved state, and what is kept outside the FMU: mode, time, next event, whether it has stopped."""
        state = self._call_checked(self.instance.save)
        return state, [state.mode, self.time, self._next_event, self.stopped]

    def restore(self, state: tuple[SavedState, list[Any]]) -> None:
        """Restore a saved state."""
        saved, (_, self.time, self._next_event, self.stopped) = state
        self._call_checked(self.instance.restore, saved)

    def free_state(self, state: tuple[SavedState, list[Any]]) -> None:
        """Free a saved state."""
        self._call_checked(self.instance.free_state, state[0])

    def to_bytes(self, state: tuple[SavedState, list[Any]]) -> bytes:
        """A saved state, serialized."""
        data: bytes = self._call_checked(self.instance.serialize, state[0])
        return data

    def from_bytes(self, data: bytes, memory: Sequence[Any]) -> tuple[SavedState, list[Any]]:
        """A saved state from serialized bytes, and what is kept outside the FMU."""
        return self._call_checked(self.instance.deserialize, data, memory[0]), list(memory)

    def terminate(self) -> None:
        """End the simulation."""
        self._call_checked(self.instance.terminate)

    def reset(self) -> None:
        """Reset the instance to its state after instantiation."""
        self._call_checked(self.instance.reset)

    def free(self) -> None:
        """Free the instance."""
        self.instance.free()

    def last_message(self) -> str:
        """The last message that the FMU logged, as the end of a sentence."""
        lines = [line for message in self.messages[-1:] for line in message.splitlines()]
        return f'. It logged: "{" ".join(lines)[:300]}"' if lines else ""

    def _log(self, status: int, message: str) -> None:
        if status != OK:
            self.messages.append(message.strip())

    def _call_checked(self, action: Any, *arguments: Any, where: str = "") -> Any:
        """Call a function of the instance; a failure ends the check."""
        self.messages.clear()
        try:
            return action(*arguments)
        except FmiError as error:
            raise FailedCallError(f"{error.function}{where}: {error}{self.last_message()}") from None

    def _euler(self, begin: float, end: float) -> None:
        """A step of Euler's method, and the event at its end, if any."""
        states, rates = self.states(), self.rates()
        indicators = self.indicators()
        self.set_time(end)
        self.put_states([x + (end - begin) * rate for x, rate in zip(states, rates, strict=True)])
        crossed = any((a > 0.0) != (b > 0.0) for a, b in zip(indicators, self.indicators(), strict=True))
        asks_for_event = self.fmu.job["wants_steps"] and self._call_checked(self.instance.completed_step)[0]
        if crossed or asks_for_event or end >= self._next_event:
            self._call_checked(self.instance.enter_event_mode)
            self._leave_event_mode()

    def _leave_event_mode(self) -> None:
        """Update the discrete states until they no longer change, then leave event mode."""
        for _ in range(MOST_EVENT_ITERATIONS):
            update = self._call_checked(self.instance.update_discrete_states)
            self._next_event = math.inf if update.next_event is None else update.next_event
            if update.terminate:
                self.stopped = True
                return
            if not update.again:
                instance = self.instance
                leave = (
                    instance.enter_step_mode
                    if self.fmu.is_co_simulation
                    else instance.enter_continuous_time_mode
                )
                self._call_checked(leave)
                return
        raise FailedCallError(f"discrete states still change after {MOST_EVENT_ITERATIONS} updates")

    def _vector(self, function: Any, count: int) -> Row:
        data = (ctypes.c_double * count)()
        if count:
            self._call_checked(function, data)
        return list(data)


def _as_type(variable: dict[str, Any], value: float) -> Any:
    """A number in the Python type of a variable."""
    kind = variable["type"]
    return value if kind == "Real" else value != 0.0 if kind == "Boolean" else int(value)


def _references(numbers: Sequence[int]) -> Any:
    return (ctypes.c_uint32 * len(numbers))(*numbers)


def _inside(variable: dict[str, Any], value: float) -> bool:
    """Whether a value is in the range of a variable."""
    low, high = variable["min"], variable["max"]
    return (low is None or value >= float(low)) and (high is None or value <= float(high))

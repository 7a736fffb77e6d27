"""The loop over communication steps in plain Python: a second implementation, to compare the first with."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

from cosim_master.algorithms.joint import Joint
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.participant_steps import record_step, take_step
from cosim_master.run.simulation_run import SimulationRun


class PythonExchange:
    """An `Exchange` that calls the methods of the participants and collects the samples of the coupling."""

    def __init__(self, coupled: CoupledParticipants) -> None:
        self.coupled, interface = coupled, coupled.interface
        self.interface_names, self.interface_owners = interface.names, interface.owners
        self.interface_held, self.bonds = interface.held, interface.bonds
        self._samples_of: dict[str, list[tuple[int, int]]] = {}  # number of the sample, place of the input
        for i, sampled in enumerate(coupled.samples.inputs):
            self._samples_of.setdefault(sampled.target, []).append((i, sampled.place))
        self._since = coupled.samples.since
        self._steps: dict[str, tuple[float, float]] = {}
        self._means = [np.zeros(len(coupled.samples.inputs)) for _ in range(3)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.coupled, name)

    def interface(self) -> Any:
        return np.array(self.coupled.values())

    def put(self, values: Any) -> None:
        for (name, place), value in zip(self.coupled.interface.places, values.tolist(), strict=True):
            self.coupled.board[name][place] = value

    def save(self, names: Any = None) -> Any:
        coupled = self.coupled
        coupled.collect()
        units = coupled.order if names is None else names
        members = [member for unit in units for member in coupled.units[unit]]
        states = {n: coupled.guarded(n, p.save) for n, p in coupled.participants.items() if n in members}
        return states, {name: list(coupled.board[name]) for name in states}, coupled.marks()

    def restore(self, token: Any) -> None:
        states, board, marks = token
        self.coupled.collect()
        for name, state in states.items():
            self.coupled.guarded(name, self.coupled.participants[name].restore, state)
        self.coupled.board.update({name: list(values) for name, values in board.items()})
        self.coupled.revert_to(marks)

    def advance(self, name: str, time: float, size: float) -> None:
        coupled = self.coupled
        if not coupled.rests(name):
            self._begin(time)
            size = coupled.length(name, time, size)
            self._record_step(name, take_step(coupled, name, time, size), size)

    def advance_all(self, time: float, size: float) -> None:
        coupled = self.coupled
        stepping = [name for name in coupled.order if not coupled.rests(name)]
        in_threads = [name for name in stepping if coupled.descriptions[name].steps_in_threads]
        if coupled.threads is None or not in_threads or len(stepping) < 2:
            for name in stepping:
                self.advance(name, time, size)
            return
        self._begin(time)
        steps: dict[str, Any] = {}

        def take(name: str) -> None:
            steps[name] = take_step(coupled, name, time, coupled.length(name, time, size))

        tasks = {name: partial(take, name) for name in stepping}
        others = [tasks[name] for name in stepping if name not in in_threads]
        coupled.threads.call([tasks[name] for name in in_threads], others)
        for name in stepping:
            self._record_step(name, steps[name], coupled.length(name, time, size))

    def _record_step(self, name: str, step: Any, size: float) -> None:
        try:
            record_step(self.coupled, name, step)
        finally:
            for member in self.coupled.units[name]:
                self._add_to_means(member, size)

    def _begin(self, time: float) -> None:
        if time > self._since:
            small = 1e-9 * (time - self._since)
            if all(end >= time - small for _, end in self._steps.values()):
                self._close(time)

    def _add_to_means(self, name: str, size: float) -> None:
        course = self.coupled.courses[name]
        start, before = course.time, self._steps.get(name)
        continues = (
            before is not None and start > before[0] and start >= self._since and before[0] >= self._since
        )
        since = before[0] if continues and before is not None else start
        self._steps[name] = since, start + size
        part = size / (start + size - since) if continues else 1.0
        means, slopes, ends = self._means
        for i, place in self._samples_of.get(name, ()):
            slope = 0.0 if course.slopes is None else float(course.slopes[place])
            ends[i] = float(course.values[place]) + size * slope
            mean = float(course.values[place]) + 0.5 * size * slope
            means[i] = mean if part == 1.0 else (1.0 - part) * means[i] + part * mean
            slopes[i] = slope if part == 1.0 else 0.0

    def read_outputs(self, name: str, end: Any = None) -> None:
        before = dict(self.coupled.held)
        self.coupled.read_outputs(name, end)
        for member in self.coupled.units[name]:
            held = self.coupled.held[member]
            if held is not before[member] and self.coupled.rereads_inputs[member]:
                for i, place in self._samples_of.get(member, ()):
                    self._means[2][i] = held[place]

    def _close(self, time: float) -> None:
        rows = [np.array([row]) for row in (self.coupled.sampled_values(), *self._means)]
        self.coupled.samples.extend(np.array([time]), *rows)
        self._since = time

    def finish_step(self, time: float) -> None:
        if time > self._since:
            self._close(time)


def steps_in_python(run: SimulationRun, check: Callable[[], None]) -> Callable[[int], int]:
    """A replacement of `SimulationRun._steps`."""
    coupled, recorder, points = run.coupled, run.recorder, run._points
    exchange, algorithm = PythonExchange(coupled), run.algorithm
    if isinstance(algorithm, Joint):
        algorithm = algorithm.others
    run.statistics.loop = "Python"

    def take_step_number(i: int) -> int:
        time, following = points.time(i), points.time(i + 1)
        coupled.start_step(i)
        while time < following:
            end = coupled.next_tick(time, following)
            coupled.guarded_algorithm(algorithm, algorithm.step, exchange, time, end - time)
            coupled.time = time = end
            coupled.collect()
            if coupled.inside:
                recorder.inside(coupled.pop_inner_values())
            if end == following or recorder.records_between_points:
                recorder.record(end, coupled.board, coupled.held, coupled.courses)
        exchange.finish_step(following)
        run.statistics.steps += 1
        return i + 1

    return take_step_number


@contextmanager
def loop_in_python() -> Iterator[None]:
    """A context in which runs take their steps in Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SimulationRun, "_steps", steps_in_python)
        yield

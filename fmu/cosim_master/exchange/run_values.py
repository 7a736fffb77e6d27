"""The values of a run: numbers in the arrays of the interpreter, and as Python has them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from cosim_master.abilities import StepsNatively
from cosim_master.exchange.called_in_python import types_of
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import BEGAN, COURSES, ENDS, HELD, MEAN_SLOPES, MEANS
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.value_numbers import TABLED, ValueNumbers


class RunValues:
    """What was read of each participant, and what its inputs are.

    Between its calls of Python the interpreter has both in arrays; `CoupledParticipants` sees views of these.

    Parameters
    ----------
    coupled : CoupledParticipants
    machine : ExchangeMachine
    numbers : ValueNumbers
    in_python : container of str
        Participants that are called in Python.
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        machine: ExchangeMachine,
        numbers: ValueNumbers,
        in_python: Container[str],
    ) -> None:
        self._coupled, self._machine, self._numbers = coupled, machine, numbers
        self._in_python = in_python
        self._types = {name: types_of(coupled, name) for name in machine.names}
        self._resume_samples()
        self.take_over()

    def read(self, name: str) -> list[Any]:
        """What was read of a participant, as Python has it."""
        return self._numbers.values(self._types[name][1], self._machine.outputs_of(name))

    def put(self, name: str, values: Iterable[Any]) -> None:
        """Write what was read of a participant, as Python has it."""
        self._machine.outputs_of(name)[:] = self._numbers.all_of(self._types[name][1], values)

    def held(self, name: str, region: int = HELD) -> list[Any]:
        """The inputs of a participant, as Python has them."""
        return self._numbers.values(self._types[name][0], self._machine.inputs_of(name, region))

    def lines(self, name: str) -> list[float] | None:
        """Slopes of the inputs of a participant in its last step, per s; None where they are held."""
        machine = self._machine
        return machine.inputs_of(name, COURSES).tolist() if machine.follows(name) else None

    def began(self, name: str) -> list[Any]:
        """The inputs of a participant as its last step began."""
        return self.held(name, BEGAN)

    def take_over(self, names: Iterable[str] | None = None) -> None:
        """Copy values of Python into the arrays, and let Python see these."""
        coupled, machine = self._coupled, self._machine
        for name in machine.names if names is None else names:
            both = machine.inputs_of(name), machine.outputs_of(name)
            for values, array, types in zip(
                (coupled.held, coupled.board), both, self._types[name], strict=True
            ):
                if values[name] is not array:
                    array[:] = self._numbers.all_of(types, values[name])
                    values[name] = array

    def resume(self, names: Iterable[str]) -> None:
        """Participants were used from Python: functions of C go on from there."""
        for name in names:
            participant = self._coupled.participants[name]
            if name not in self._in_python and isinstance(participant, StepsNatively):
                self._coupled.guarded(name, participant.resume_native)

    @contextmanager
    def of_python(self) -> Iterator[None]:
        """Let Python have the values as its own; what is changed is taken over."""
        for name in self._machine.names:
            self._coupled.board[name], self._coupled.held[name] = self.read(name), self.held(name)
        try:
            yield
        finally:
            self.take_over()

    def show(self) -> None:
        """Let others see the values as Python has them, until they are taken over again."""
        machine, samples = self._machine, self._coupled.samples
        for name in machine.names:
            self._coupled.board[name], self._coupled.held[name] = self.read(name), self.held(name)
        samples.since = machine.clock.sampled
        step_times = zip(machine.names, machine.step_times, strict=True)
        samples.steps = {n: (d.since, d.reached) for n, d in step_times if np.isfinite(d.since)}
        slots = [machine.input_slot(each.target, each.place) for each in samples.inputs]
        samples.means = tuple(machine.inputs[of, slots].tolist() for of in (MEANS, MEAN_SLOPES, ENDS))

    def _resume_samples(self) -> None:
        """Samples of the coupling go on from where they are."""
        samples, machine = self._coupled.samples, self._machine
        machine.clock.sampled = samples.since
        for name, (since, reached) in samples.steps.items():
            times = machine.step_times[machine.number[name]]
            times.since = times.began = since
            times.reached = reached
        for each, mean, slope, end in zip(samples.inputs, *samples.means, strict=True):
            slot = machine.input_slot(each.target, each.place)
            machine.inputs[[MEANS, MEAN_SLOPES, ENDS], slot] = mean, slope, end

    def forget_texts(self) -> None:
        """Of the table of texts and binary data what no variable has any more."""
        kept: list[float] = []
        machine = self._machine
        for name, (inputs, outputs) in self._types.items():
            for kinds, numbers in (
                (inputs, machine.inputs_of(name)),
                (inputs, machine.inputs_of(name, BEGAN)),
                (outputs, machine.outputs_of(name)),
            ):
                kept += [n for kind, n in zip(kinds, numbers.tolist(), strict=True) if kind in TABLED]
        for algorithm in self._machine.algorithms:
            kept += algorithm.arrays.saved.tolist()
        self._numbers.keep(kept)

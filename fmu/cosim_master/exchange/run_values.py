"""RunValues: the values of participants, as numbers for the interpreter and as Python has them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from cosim_master.abilities import StepsNatively
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import BEGAN, COURSES, ENDS, HELD, MEAN_SLOPES, MEANS
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.value_numbers import ValueNumbers
from cosim_master.recording.coupling_samples import InputLines
from cosim_master.recording.text_numbers import TABLED


def types_of(coupled: CoupledParticipants, name: str) -> tuple[Sequence[str], Sequence[str]]:
    """The types of a participant's connected inputs, and of the values that are read of it."""
    variables = coupled.descriptions[name].variables
    return (
        [variables[input].type for input in coupled.interface.input_names[name]],
        [variables[output].type for output in coupled.reads[name]],
    )


class RunValues:
    """The values that were read of each participant, and the values of its inputs.

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
        self.copy_from_python()

    def read(self, name: str) -> list[Any]:
        """The values that were read of a participant, as Python has them."""
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

    def copy_from_python(self, names: Iterable[str] | None = None) -> None:
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

    def resume_from_python(self) -> None:
        """Continue after Python has used participants, and after `show`."""
        self.copy_from_python()
        self.resume(self._machine.names)

    def resume(self, names: Iterable[str]) -> None:
        """Let functions of C continue after participants were used from Python."""
        for name in names:
            participant = self._coupled.participants[name]
            if name not in self._in_python and isinstance(participant, StepsNatively):
                self._coupled.guarded(name, participant.resume_native)

    @contextmanager
    def of_python(self) -> Iterator[None]:
        """Copy the values to Python, and the changed ones back at the end."""
        for name in self._machine.names:
            self._coupled.board[name], self._coupled.held[name] = self.read(name), self.held(name)
        try:
            yield
        finally:
            self.copy_from_python()

    def show(self) -> None:
        """Copy the values to Python for other readers, until they are copied back."""
        machine, samples = self._machine, self._coupled.samples
        for name in machine.names:
            self._coupled.board[name], self._coupled.held[name] = self.read(name), self.held(name)
        samples.since = machine.clock.sampled
        step_times = zip(machine.names, machine.step_times, strict=True)
        samples.steps = {n: (d.since, d.reached) for n, d in step_times if np.isfinite(d.since)}
        slots = [machine.input_slot(each.target, each.place) for each in samples.inputs]
        regions = (MEANS, MEAN_SLOPES, ENDS)
        samples.lines = InputLines(*(machine.inputs[region, slots].tolist() for region in regions))

    def _resume_samples(self) -> None:
        """Continue the samples of the coupling."""
        samples, machine = self._coupled.samples, self._machine
        machine.clock.sampled = samples.since
        for name, (since, reached) in samples.steps.items():
            times = machine.step_times[machine.number[name]]
            times.since = times.began = since
            times.reached = reached
        for each, mean, slope, end in zip(samples.inputs, *samples.lines, strict=True):
            slot = machine.input_slot(each.target, each.place)
            machine.inputs[[MEANS, MEAN_SLOPES, ENDS], slot] = mean, slope, end

    def forget_texts(self) -> None:
        """Remove texts and binary data that no variable has any more."""
        numbers_in_use: list[float] = []
        machine = self._machine
        for name, (inputs, outputs) in self._types.items():
            for kinds, numbers in (
                (inputs, machine.inputs_of(name)),
                (inputs, machine.inputs_of(name, BEGAN)),
                (outputs, machine.outputs_of(name)),
            ):
                numbers_in_use += [
                    n for kind, n in zip(kinds, numbers.tolist(), strict=True) if kind in TABLED
                ]
        for algorithm in self._machine.algorithms:
            numbers_in_use += algorithm.arrays.saved.tolist()
        self._numbers.retain(numbers_in_use)

"""The contract of master algorithms."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, StopRequested
from cosim_fmu.testing.linear_participant import LinearParticipant

UNTIL = 1.0
WIRES = ["spring.f -> mass.f", "mass.x -> spring.x", "mass.v -> spring.v"]
LOOP = ["b.y -> a.u", "a.y -> b.u"]


class MasterAlgorithmContract:
    """Checks of a master algorithm: on a mass with a damped spring, whose parts step exactly.

    Attributes
    ----------
    make : callable
        Makes a new algorithm each time.
    steps : (float, float)
        Two communication steps, s: the error has to be smaller at the second.
    order : float
        The least order of the error; 0 for an algorithm whose error does not depend on the step.
    order_tolerance : float
        How far the observed order may be from the one that the algorithm declares.
    largest_error : float
        The largest error of the displacement (starting with 1 m) at the second step, m.

    Examples
    --------
    >>> from cosim_fmu.testing import MasterAlgorithmContract
    >>> class TestParallel(MasterAlgorithmContract):
    ...     make = staticmethod(lambda: Parallel())
    """

    make: ClassVar[Callable[..., Any]]
    steps: ClassVar[tuple[float, float]] = (0.02, 0.005)
    order: ClassVar[float] = 0.8
    order_tolerance: ClassVar[float] = 0.35
    largest_error: ClassVar[float] = 0.02

    def test_is_an_algorithm(self) -> None:
        """It derives from the contract, its marks are bools, and it describes itself."""
        algorithm = self.make()
        assert isinstance(algorithm, cosim.MasterAlgorithm), (
            f"{type(algorithm).__name__} is not a cosim.MasterAlgorithm"
        )
        marks = ("exchanges_within_step", "solves_loops", "restores", "varies_step", "fixed_sequence")
        for mark in marks:
            assert isinstance(getattr(algorithm, mark), bool), (
                f"{mark} is {getattr(algorithm, mark)!r}, needs a bool"
            )
        assert (type(algorithm).__doc__ or "").strip(), f"{type(algorithm).__name__} has no docstring"
        assert isinstance(algorithm.about, str), f"about is {algorithm.about!r}, needs text"

    def test_error_falls_with_the_step(self) -> None:
        """The error of the coupling against the exact solution of the whole; with the declared power."""
        errors = [self._error(step) for step in self.steps]
        assert errors[1] <= self.largest_error, (
            f"at a step of {self.steps[1]:g} s the error is {errors[1]:.3g}"
        )
        if errors[1] > 1e-9 and self.order > 0.0:
            power = np.log(errors[0] / errors[1]) / np.log(self.steps[0] / self.steps[1])
            assert power >= self.order, f"the error falls with the power {power:.2f} of the step only"
            order = self.make().order
            assert -self.order_tolerance <= power - order <= 2.0 * self.order_tolerance, (
                f"order {order} is declared, {power:.2f} is observed; errors {errors} for {self.steps} s"
            )

    def test_elsewhere_it_is_as_accurate(self) -> None:
        """Neither the time of the start nor the size, the sign and the number of values matter."""
        (least,) = self._relative_errors((1.0,))
        most = 1.5 * least + 1e-6 if not self.make().varies_step else max(3.0 * least, self.largest_error)
        for start in (-50.0, 1e3):
            (error,) = self._relative_errors((1.0,), start)
            assert error <= most, f"error {error:.3g} after a start at {start:g} s, {least:.3g} from 0 s"
        for amplitudes in ((-1.0,), (1e3,), (1e-6,), (1.0, -2.0, 3.0)):
            for amplitude, error in zip(amplitudes, self._relative_errors(amplitudes), strict=True):
                assert error <= most, (
                    f"relative error {error:.3g} of a mass that starts with {amplitude:g} m among "
                    f"{len(amplitudes)}, {least:.3g} of one that starts with 1 m alone"
                )

    def test_everyone_steps_through_the_whole_time(self) -> None:
        """Every participant reaches each communication point once, without gaps and repetitions."""
        for start in (0.0, 100.0):
            parts = _mass_and_spring(_Watched)
            self._loop(parts, self.steps[0], start).simulate(start + UNTIL)
            for name, part in parts.items():
                taken = part.taken
                assert taken, f"{name} was never stepped"
                first, last = taken[0][0], sum(taken[-1])
                assert abs(first - start) < 1e-9 and abs(last - start - UNTIL) < 1e-9, (
                    f"{name} stepped from {first:g} s to {last:g} s, needs {start:g} s to {start + UNTIL:g} s"
                )
                for one, following in pairwise(taken):
                    assert abs(sum(one) - following[0]) < 1e-9, (
                        f"{name} steps from {following[0]:g} after {one}"
                    )

    def test_steps_are_those_that_it_promises(self) -> None:
        """Without `varies_step` participants step by the communication step alone."""
        algorithm = self.make()
        if algorithm.varies_step:
            pytest.skip("it varies the step")
        parts = _mass_and_spring(_Watched)
        self._loop(parts, self.steps[0]).simulate(UNTIL)
        odd = {size for part in parts.values() for _, size in part.taken if abs(size - self.steps[0]) > 1e-9}
        assert not odd, f"steps of {sorted(odd)} s without varies_step"

    def test_goes_back_only_if_it_says_so(self) -> None:
        """Without `restores` a state is saved only where `Exchange.can_restore`: any participant will do."""
        algorithm = self.make()
        if algorithm.restores:
            pytest.skip("it goes back")
        parts = _mass_and_spring(_Forward)
        try:
            self._loop(parts, self.steps[0]).simulate(0.2)
        except cosim.SimulationError as error:
            pytest.fail(f"it needs saved states without saying that it restores: {error}")

    def test_a_second_run_gives_the_same(self) -> None:
        """A second run of one object gives the same: `initialize` forgets the first run."""
        loop = self._loop(_mass_and_spring(), self.steps[0])
        first, second = (loop.simulate(UNTIL)["mass.x"] for _ in range(2))
        np.testing.assert_array_equal(first, second, err_msg="the second run of one algorithm differs")

    def test_fixed_sequence_is_fixed(self) -> None:
        """The calls of all steps are the same with `fixed_sequence`: a compiled loop repeats them."""
        algorithm = self.make()
        if not algorithm.fixed_sequence:
            pytest.skip("its calls may depend on the values")
        recorded = []
        for values in (0.0, 1.0, 1e6):
            exchange = _Recording(values)
            algorithm.initialize(exchange, 0.0)
            for i in range(3):
                exchange.calls.clear()
                algorithm.step(exchange, 0.1 * i, 0.1)
                recorded.append(list(exchange.calls))
        assert all(calls == recorded[0] for calls in recorded), f"the calls differ: {recorded}"
        steps = [name for call, name in recorded[0] if call == "advance"]
        assert sorted(steps) == sorted(_Recording.order), f"{steps} are stepped, needs each one once"

    def test_loops_are_solved_if_it_says_so(self) -> None:
        """Outputs of a loop of direct feedthrough are consistent at each point with `solves_loops`."""
        if not self.make().solves_loops:
            pytest.skip("it solves no loops")
        gains = {"a": -3.0, "b": 0.5}
        parts = {
            name: LinearParticipant(([[-1.0]], [[0.0]], [[1.0]], [[gain]]), ["u"], ["y"], [1.0])
            for name, gain in gains.items()
        }
        result = CoSimulation(parts, LOOP, self.make(), self.steps[0]).simulate(0.2)
        fits = result["a.y"] - (np.exp(-result.time) + gains["a"] * result["b.y"])
        assert np.max(np.abs(fits)) < 1e-6, (
            f"the outputs of the loop miss each other by {np.max(np.abs(fits)):.3g}"
        )

    def test_an_early_return_is_continued(self) -> None:
        """A participant that returns early gets to the communication point like all others."""
        parts = {**_mass_and_spring(), "spring": _spring(_Early)}
        result = self._loop(parts, self.steps[0]).simulate(0.2)
        assert result.time[-1] == pytest.approx(0.2), result.message
        assert result.statistics["retries"] > 0

    def test_a_request_to_stop_ends_the_run(self) -> None:
        """The run ends when a participant asks for it: the algorithm lets its exception through."""
        parts = {**_mass_and_spring(), "spring": _spring(_Stops)}
        result = self._loop(parts, self.steps[0]).simulate(UNTIL)
        assert 0.4 < result.time[-1] < 0.6 and "enough" in result.message, result.message

    def test_it_can_be_explained(self) -> None:
        """`--explain` has a sentence about each connection."""
        try:
            text = self._loop(_mass_and_spring(), self.steps[0]).explain()
        except Exception as error:
            pytest.fail(f"to explain it fails: {type(error).__name__}: {error}")
        for link in ("spring.f → mass.f", "mass.x → spring.x"):
            assert link in text, f"{link} is not explained: {text}"

    def _loop(self, parts: Any, step: float, start: float = 0.0) -> CoSimulation:
        return CoSimulation(parts, WIRES, self.make(), step, start=start)

    def _error(self, step: float) -> float:
        result = self._loop(_mass_and_spring(), step).simulate(UNTIL)
        return float(np.max(np.abs(result["mass.x"] - _exact(result.time))))

    def _relative_errors(self, amplitudes: Sequence[float], start: float = 0.0) -> list[float]:
        """Of masses that start with these displacements (m), each with a spring of its own, at a time (s)."""
        parts: dict[str, Any] = {}
        wires: list[str] = []
        for i, amplitude in enumerate(amplitudes):
            parts |= {f"{name}{i}": part for name, part in _mass_and_spring(amplitude=amplitude).items()}
            wires += [wire.replace("spring.", f"spring{i}.").replace("mass.", f"mass{i}.") for wire in WIRES]
        loop = CoSimulation(parts, wires, self.make(), self.steps[1], start=start)
        result = loop.simulate(start + UNTIL)
        exact = _exact(result.time - start)
        return [
            float(np.max(np.abs(result[f"mass{i}.x"] / amplitude - exact)))
            for i, amplitude in enumerate(amplitudes)
        ]


def _exact(t: Any) -> Any:
    """The displacement of the mass that starts with 1 m: x'' = -4 x - 0.4 x'."""
    decay, turn = 0.2, np.sqrt(4.0 - 0.04)
    return np.exp(-decay * t) * (np.cos(turn * t) + decay / turn * np.sin(turn * t))


def _mass_and_spring(
    kind: type[LinearParticipant] = LinearParticipant, amplitude: float = 1.0
) -> dict[str, Any]:
    matrices = [[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], np.eye(2), np.zeros((2, 1))
    mass = kind(matrices, ["f"], ["x", "v"], [amplitude, 0.0])
    return {"mass": mass, "spring": _spring(kind)}


def _spring(kind: type[LinearParticipant]) -> LinearParticipant:
    nothing = np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0))
    return kind((*nothing, [[-4.0, -0.4]]), ["x", "v"], ["f"], [])


class _Watched(LinearParticipant):
    """Records the steps that are valid: those after a restored state replace earlier ones."""

    def initialize(self, *given: Any) -> None:
        self.taken: list[tuple[float, float]] = []
        super().initialize(*given)

    def step(self, time: float, size: float) -> float:
        self.taken.append((time, size))
        return super().step(time, size)

    def save(self) -> Any:
        return super().save(), len(self.taken)

    def restore(self, token: Any) -> None:
        super().restore(token[0])
        del self.taken[token[1] :]


class _Forward(LinearParticipant):
    def describe(self) -> kit.ParticipantDescription:
        return dataclasses.replace(super().describe(), can_restore=False)

    def save(self) -> Any:
        raise NotImplementedError("this participant cannot save its state")


class _Early(LinearParticipant):
    def step(self, time: float, size: float) -> float:
        part = 0.5 * size if size > 1e-3 else size
        return super().step(time, part)


class _Stops(LinearParticipant):
    def step(self, time: float, size: float) -> float:
        reached = super().step(time, size)
        if reached > 0.5:
            raise StopRequested(reached, "enough")
        return reached


class _Recording:
    """An exchange that keeps what is called."""

    order: Sequence[str] = ("one", "two", "three")
    interface_names: Sequence[str] = ("one.y", "two.y", "three.y")
    interface_owners: Sequence[str] = ("one", "two", "three")
    interface_held: Sequence[bool] = (True, True, True)
    bonds: Sequence[tuple[int, int]] = ()
    loops: Sequence[kit.FeedthroughLoop] = ()
    can_restore = True

    def __init__(self, value: float) -> None:
        self.calls: list[tuple[str, str]] = []
        self._values = np.full(3, value)

    def set_inputs(self, name: str, course: Any = None) -> None:
        self.calls.append(("set_inputs", name))

    def advance(self, name: str, time: float, size: float) -> None:
        self.calls.append(("advance", name))

    def advance_all(self, time: float, size: float) -> None:
        for name in self.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str, end: Any = None) -> None:
        self.calls.append(("read_outputs", name))
        self._values[self.order.index(name)] += 1.0

    def interface(self) -> Any:
        return self._values.copy()

    def put(self, values: Any) -> None:
        self._values = np.array(values)

    def derivatives(self) -> None:
        return None

    def save(self, names: Sequence[str] | None = None) -> Any:
        return self._values.copy()

    def restore(self, token: Any) -> None:
        self._values = token.copy()

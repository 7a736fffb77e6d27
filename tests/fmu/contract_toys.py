"""Toy participants: a correct one, and for each check of the contract one that fails it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cosim import kit
from cosim_fmu.abilities import InnerPoint
from cosim_fmu.testing import LinearParticipant, ParticipantContract

MATRICES = ([[-1.0]], [[1.0]], [[1.0], [0.5]], [[0.0], [2.0]])


class CorrectToy(LinearParticipant):
    """A correct participant with all abilities: x' = u - x; y = x, z = x / 2 + 2 u."""

    def __init__(self) -> None:
        super().__init__(MATRICES, ["u"], ["y", "z"], [0.5], follows=True)
        self.time = 0.0

    def describe(self) -> kit.ParticipantDescription:
        return replace(super().describe(), can_serialize=True, has_derivatives=True)

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        self.points: list[InnerPoint] = []
        super().initialize(start, stop, values, tolerance)

    def step(self, time: float, size: float) -> float:
        self.points.append(InnerPoint(time + 0.5 * size, ["y"], [float(self.x[0])]))
        return super().step(time, size)

    def inside(self) -> Sequence[InnerPoint]:
        points, self.points = self.points, []
        return points

    def serialize(self, token: Any) -> bytes:
        return b"".join(each.tobytes() for each in token)

    def deserialize(self, data: bytes) -> Any:
        return tuple(np.frombuffer(data[8 * i : 8 * i + 8]).copy() for i in range(3))

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        return [{"y": 0.0, "z": 2.0}.get(name, 0.0) * seed[0] for name in outputs]


class UnknownDiscrete(CorrectToy):
    """Declares a discrete variable that it does not have."""

    def describe(self) -> Any:
        description = super().describe()
        return replace(description, discrete=frozenset(["w"]))


class PartialAbilities(CorrectToy):
    """Has the attribute of an ability, without the methods of it."""

    ticks_by_time = False


class WrongType(CorrectToy):
    """Returns 1.5 for an integer."""

    def describe(self) -> Any:
        description = super().describe()
        return replace(
            description,
            variables={**description.variables, "n": kit.ParticipantVariable("n", "output", "integer")},
        )

    def get(self, names: Sequence[str]) -> list[Any]:
        other_values = iter(super().get([name for name in names if name != "n"]))
        return [1.5 if name == "n" else next(other_values) for name in names]


class WrongTime(CorrectToy):
    """Returns a wrong time from `step`."""

    def step(self, time: float, size: float) -> float:
        super().step(time, size)
        return time + 1.5 * size


class KeepsState(CorrectToy):
    """Starts each run from another state."""

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        runs = getattr(self, "runs", 0)
        super().initialize(start, stop, values, tolerance)
        self.x += runs
        self.runs = runs + 1


class SharesInputs(CorrectToy):
    """An input of one moves the others of its class."""

    common: list[float] = []

    def set(self, names: Sequence[str], values: Any) -> None:
        super().set(names, values)
        SharesInputs.common[:] = [1.0] if names and values[0] else []

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        SharesInputs.common.clear()
        super().initialize(start, stop, values, tolerance)

    def step(self, time: float, size: float) -> float:
        if SharesInputs.common and not self.u[0]:
            self.x += 1.0
        return super().step(time, size)


class ChangesWhenRead(CorrectToy):
    """Reading y changes its state."""

    def get(self, names: Sequence[str]) -> list[Any]:
        if list(names) == ["y"]:
            self.x += 1e-6
        return super().get(names)


class ClosesOnce(CorrectToy):
    """Cannot be closed twice."""

    is_closed = False

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        self.is_closed = False
        super().initialize(start, stop, values, tolerance)

    def close(self) -> None:
        if self.is_closed:
            raise ValueError("it is closed")
        self.is_closed = True


class AcceptsAnyName(CorrectToy):
    """Returns 0 for unknown names."""

    def get(self, names: Sequence[str]) -> list[Any]:
        return [0.0 if n not in ("y", "z", "x0") else super(AcceptsAnyName, self).get([n])[0] for n in names]


class ForgetsInputs(CorrectToy):
    """Does not restore its inputs."""

    def restore(self, token: Any) -> None:
        self.x = token[0].copy()


class LosesBytes(CorrectToy):
    """Restores a slightly different state from bytes."""

    def deserialize(self, data: bytes) -> Any:
        state = super().deserialize(data)
        state[0][:] += 1e-9
        return state


class WrongFeedthrough(CorrectToy):
    """Does not declare that z depends on the input directly."""

    def describe(self) -> Any:
        description = super().describe()
        return replace(description, feedthrough={**(description.feedthrough or {}), "z": frozenset()})


class WrongDerivatives(CorrectToy):
    """Its directional derivatives are wrong."""

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        return [3.0 * seed[0] for _ in outputs]


class IgnoresSlopes(CorrectToy):
    """Ignores the slopes of its inputs."""

    def set_slopes(self, names: Sequence[str], slopes: Any) -> None:
        pass


class LateInnerPoints(CorrectToy):
    """Its inner points lie after its step."""

    def inside(self) -> Sequence[InnerPoint]:
        return [point._replace(time=point.time + 1.0) for point in super().inside()]


class RefusesShortRuns(CorrectToy):
    """Refuses to run for less than 0.105 s, as the check of a co-simulation does."""

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        if stop is not None and stop < 0.105:
            raise ValueError("too short")
        super().initialize(start, stop, values, tolerance)


class WrongFeedthroughAbove(WrongFeedthrough):
    """z depends on the input where that is above 1."""

    def get(self, names: Sequence[str]) -> list[Any]:
        values = dict(zip(["y", "z", "x0"], super().get(["y", "z", "x0"]), strict=True))
        return [values[n] - (2.0 * min(self.u[0], 1.0) if n == "z" else 0.0) for n in names]


class WrongFeedthroughLater(WrongFeedthrough):
    """z depends on the input where the state is below 0.49."""

    def get(self, names: Sequence[str]) -> list[Any]:
        values = dict(zip(["y", "z", "x0"], super().get(["y", "z", "x0"]), strict=True))
        return [values[n] - (2.0 * self.u[0] if n == "z" and self.x[0] > 0.49 else 0.0) for n in names]


class WrongDerivativesBelow(CorrectToy):
    """Its derivative is wrong where the input is below 0."""

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        factor = 1.0 if self.u[0] >= 0.0 else 1.1
        return [factor * derivative for derivative in super().directional_derivative(outputs, inputs, seed)]


class WrongDerivativesLater(CorrectToy):
    """Its derivative is wrong where the state is below 0.49."""

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        factor = 1.0 if self.x[0] >= 0.49 else 1.1
        return [factor * derivative for derivative in super().directional_derivative(outputs, inputs, seed)]


class KeepsInputs(CorrectToy):
    """A new run begins with the inputs of the last one."""

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        inputs = self.u.copy()
        super().initialize(start, stop, values, tolerance)
        self.u = inputs


class ForgetsMode(CorrectToy):
    """An input above 1 switches a mode, which is not restored."""

    mode = 0.0

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        self.mode = 0.0
        super().initialize(start, stop, values, tolerance)

    def set(self, names: Sequence[str], values: Any) -> None:
        super().set(names, values)
        self.mode = 1.0 if self.u[0] > 1.0 else self.mode

    def step(self, time: float, size: float) -> float:
        reached = super().step(time, size)
        self.x = self.x + self.mode * size
        return reached


class SharesInputsAbove(CorrectToy):
    """An input above 1 moves the others of its class."""

    common: list[float] = []

    def set(self, names: Sequence[str], values: Any) -> None:
        super().set(names, values)
        if self.u[0] > 1.0:
            SharesInputsAbove.common[:] = [1.0]

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        SharesInputsAbove.common.clear()
        super().initialize(start, stop, values, tolerance)

    def step(self, time: float, size: float) -> float:
        if SharesInputsAbove.common and not self.u[0]:
            self.x += 1.0
        return super().step(time, size)


class Kinked(CorrectToy):
    """Correct: z has a kink where the input is 0, as at its start."""

    side = 0.0

    def get(self, names: Sequence[str]) -> list[Any]:
        values = dict(zip(["y", "z", "x0"], super().get(["y", "z", "x0"]), strict=True))
        return [values[n] + (abs(self.u[0]) if n == "z" else 0.0) for n in names]

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        slope = 3.0 if self.u[0] > self.side or self.u[0] == 0.0 == self.side else 1.0
        return [{"z": slope}.get(name, 0.0) * seed[0] for name in outputs]


class WrongDerivativesAtKink(Kinked):
    """Its derivative is neither that on the left nor that on the right, nor between them."""

    def directional_derivative(self, outputs: Sequence[str], inputs: Sequence[str], seed: Any) -> list[float]:
        derivatives = super().directional_derivative(outputs, inputs, seed)
        return [
            derivative + 0.5 * seed[0] if name == "z" else derivative
            for name, derivative in zip(outputs, derivatives, strict=True)
        ]


def case(kind: Any) -> type:
    return type("Case", (ParticipantContract,), {"make": staticmethod(kind)})

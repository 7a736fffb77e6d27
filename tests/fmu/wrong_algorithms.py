"""Master algorithms as a third party writes them: one that is right, and each other with one fault."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
import cosim  # noqa: E402
from cosim_master.algorithms.jacobi import Jacobi  # noqa: E402


class Parallel(cosim.MasterAlgorithm):
    """All participants step from the same values; this algorithm is right."""

    fixed_sequence = True

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)


class ReadsValues(Parallel):
    """Reads values, on which its calls could depend, although its sequence of calls is fixed."""

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, size)
        exchange.interface()


class ReadsAtTheEnd(Parallel):
    """Reads outputs for other inputs than those of the step, although its sequence of calls is fixed."""

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, size)
        exchange.read_outputs(exchange.order[0], [0.0])


class WrongAttribute(Parallel):
    """Has an attribute of a wrong type."""

    exchanges_within_step: Any = "yes"


class IgnoresInputs(Parallel):
    """Sets inputs at the start only."""

    def step(self, exchange: Any, time: float, size: float) -> None:
        if time == 0.0:
            for name in exchange.order:
                exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)

    fixed_sequence = False


class SkipsSteps(Parallel):
    """Leaves out every tenth step of the first participant."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
            if name != exchange.order[0] or int(time / size + 0.5) % 10 != 5:
                exchange.advance(name, time, size)
            exchange.read_outputs(name)


class HalfSteps(Parallel):
    """Takes half steps, without declaring that it varies them."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, 0.5 * size)
        super().step(exchange, time + 0.5 * size, 0.5 * size)


class SavesStates(Parallel):
    """Saves and restores states, without declaring it."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        exchange.restore(exchange.save())
        super().step(exchange, time, size)


class DependsOnRuns(Parallel):
    """Changes values by an amount that depends on earlier runs."""

    fixed_sequence = False
    steps = 0

    def step(self, exchange: Any, time: float, size: float) -> None:
        self.steps += 1
        exchange.put(exchange.interface() * (1.0 + 1e-9 * self.steps))
        super().step(exchange, time, size)


class ChangesOrder(Parallel):
    """Changes the order in every other step, although its sequence of calls is fixed."""

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order[:: 1 if int(time / size + 0.5) % 2 else -1]:
            exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)


class FalseClaim(Parallel):
    """Declares that it solves loops, and does not."""

    exchanges_within_step = True
    solves_loops = True

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
            exchange.advance(name, time, size)
            exchange.read_outputs(name)


class IgnoresStop(Parallel):
    """Continues after a request to stop."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, size)
        exchange._coupled.stop_reason = ""  # no public method allows this


class FailsToExplain(Parallel):
    """Raises an error in place of a text for the explanation."""

    fixed_sequence = False

    def course_of_inputs(self, stepped: bool) -> str:
        raise ValueError("nothing")


class IgnoresEarlyReturn(Parallel):
    """Ignores early returns."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
        for name in exchange.order:
            exchange._coupled.participants[name].step(time, size)  # no public method allows this
        for name in exchange.order:
            exchange.read_outputs(name)


class ChangedValues(Parallel):
    """Puts changed values; a subclass says which."""

    fixed_sequence = False

    def change(self, values: Any) -> Any:
        return values

    def step(self, exchange: Any, time: float, size: float) -> None:
        exchange.put(self.change(exchange.interface().copy()))
        super().step(exchange, time, size)


class ClipsValues(ChangedValues):
    """Limits values to ±10."""

    def change(self, values: Any) -> Any:
        return np.clip(values, -10.0, 10.0)


class DropsSmallValues(ChangedValues):
    """Replaces values below 1e-6 by 0."""

    def change(self, values: Any) -> Any:
        return np.where(np.abs(values) < 1e-6, 0.0, values)


class DropsLaterValues(ChangedValues):
    """Replaces all values but the first three by 0."""

    def change(self, values: Any) -> Any:
        return np.where(np.arange(values.size) < 3, values, 0.0)


class StopsSettingInputs(Parallel):
    """Sets inputs during the first second only."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        if time < 1.0:
            return super().step(exchange, time, size)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)


class CountsTimeFromZero(Parallel):
    """Counts time from 0 instead of the start time."""

    fixed_sequence = False

    def initialize(self, exchange: Any, time: float) -> None:
        super().initialize(exchange, time)
        self.start = time

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time - self.start, size)


class FirstOrderAs2(Parallel):
    """Of first order, declared as 2."""

    order = 2


class FirstOrderAs0(Parallel):
    """Of first order, declared as 0."""

    order = 0


class SecondOrderAs1(Jacobi):
    """Of second order, declared as 1."""

    def __init__(self) -> None:
        super().__init__(1)
        self.order = 1

"""The kit for master algorithms: ours pass it, and each check finds its own deliberately wrong toy."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from failing_checks import checks, failing_checks, fails  # noqa: E402

import cosim  # noqa: E402
from cosim_fmu.testing import MasterAlgorithmContract  # noqa: E402
from cosim_master.algorithms.adaptive import Adaptive  # noqa: E402
from cosim_master.algorithms.gauss_seidel import GaussSeidel  # noqa: E402
from cosim_master.algorithms.interface_newton import InterfaceNewton  # noqa: E402
from cosim_master.algorithms.jacobi import Jacobi  # noqa: E402
from cosim_master.algorithms.programmed_algorithm import operations_of  # noqa: E402
from cosim_master.algorithms.waveform_iteration import WaveformIteration  # noqa: E402


def case(make: Any, **more: Any) -> type:
    return type("Case", (MasterAlgorithmContract,), {"make": staticmethod(make), **more})


class Parallel(cosim.MasterAlgorithm):
    """All step from the same values."""

    fixed_sequence = True

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)


class Asks(Parallel):
    """It asks for values, on which its calls could depend."""

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, size)
        exchange.interface()


class ReadsAtTheEnd(Parallel):
    """It reads outputs for inputs that are not those of the step."""

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, size)
        exchange.read_outputs(exchange.order[0], [0.0])


@pytest.mark.parametrize(
    ("kind", "member"), [(Asks, "interface"), (ReadsAtTheEnd, r"read_outputs\(name, end\)")]
)
def test_a_fixed_sequence_that_asks_for_values_is_a_sentence(kind: type, member: str) -> None:
    with pytest.raises(cosim.ContractError, match=rf"exchange\.{member}: with fixed_sequence = True, step "):
        operations_of(kind(), ["a", "b"])


class Marked(Parallel):
    """A mark that is not a bool."""

    exchanges_within_step: Any = "yes"


class Deaf(Parallel):
    """Inputs are set at the start alone."""

    def step(self, exchange: Any, time: float, size: float) -> None:
        if time == 0.0:
            for name in exchange.order:
                exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)

    fixed_sequence = False


class Skips(Parallel):
    """The first one is left out now and then."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
            if name != exchange.order[0] or int(time / size + 0.5) % 10 != 5:
                exchange.advance(name, time, size)
            exchange.read_outputs(name)


class Halves(Parallel):
    """Half steps, without saying that it varies them."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, 0.5 * size)
        super().step(exchange, time + 0.5 * size, 0.5 * size)


class Saves(Parallel):
    """Saves states, without saying that it goes back."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        exchange.restore(exchange.save())
        super().step(exchange, time, size)


class Remembers(Parallel):
    """Better in its second run."""

    fixed_sequence = False
    seen = 0

    def step(self, exchange: Any, time: float, size: float) -> None:
        self.seen += 1
        exchange.put(exchange.interface() * (1.0 + 1e-9 * self.seen))
        super().step(exchange, time, size)


class Turns(Parallel):
    """Another order in every other step, with a fixed sequence."""

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order[:: 1 if int(time / size + 0.5) % 2 else -1]:
            exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)


class Claims(Parallel):
    """Says that it solves loops."""

    exchanges_within_step = True
    solves_loops = True

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
            exchange.advance(name, time, size)
            exchange.read_outputs(name)


class Swallows(Parallel):
    """Goes on after a request to stop."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, size)
        exchange._coupled.stop_reason = ""  # by no way that it is offered


class Silent(Parallel):
    """It gives away what it should say."""

    fixed_sequence = False

    def course_of_inputs(self, stepped: bool) -> str:
        raise ValueError("nothing")


class Hasty(Parallel):
    """Does not take early returns."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
        for name in exchange.order:
            exchange._coupled.participants[name].step(time, size)  # by no way that it is offered
        for name in exchange.order:
            exchange.read_outputs(name)


class Elsewhere(Parallel):
    """Sees other values than there are; a subclass says which."""

    fixed_sequence = False

    def seen(self, values: Any) -> Any:
        return values

    def step(self, exchange: Any, time: float, size: float) -> None:
        exchange.put(self.seen(exchange.interface().copy()))
        super().step(exchange, time, size)


class Bounded(Elsewhere):
    """Values within bounds."""

    def seen(self, values: Any) -> Any:
        return np.clip(values, -10.0, 10.0)


class Forgetful(Elsewhere):
    """What is small is nothing."""

    def seen(self, values: Any) -> Any:
        return np.where(np.abs(values) < 1e-6, 0.0, values)


class Few(Elsewhere):
    """From the fourth value on all are zero."""

    def seen(self, values: Any) -> Any:
        return np.where(np.arange(values.size) < 3, values, 0.0)


class Tires(Parallel):
    """Sets inputs for a second only."""

    fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        if time < 1.0:
            return super().step(exchange, time, size)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)


class FromZero(Parallel):
    """Counts time from 0."""

    fixed_sequence = False

    def initialize(self, exchange: Any, time: float) -> None:
        super().initialize(exchange, time)
        self.start = time

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time - self.start, size)


WRONG: dict[str, type] = {
    "test_is_an_algorithm": Marked,
    "test_error_falls_with_the_step": Deaf,
    "test_elsewhere_it_is_as_accurate": Bounded,
    "test_everyone_steps_through_the_whole_time": Skips,
    "test_steps_are_those_that_it_promises": Halves,
    "test_goes_back_only_if_it_says_so": Saves,
    "test_a_second_run_gives_the_same": Remembers,
    "test_fixed_sequence_is_fixed": Turns,
    "test_loops_are_solved_if_it_says_so": Claims,
    "test_a_request_to_stop_ends_the_run": Swallows,
    "test_it_can_be_explained": Silent,
    "test_an_early_return_is_continued": Hasty,
}
ALSO = {  # what is wrong there shows elsewhere, too
    "test_error_falls_with_the_step": {"test_elsewhere_it_is_as_accurate"},
    "test_everyone_steps_through_the_whole_time": {
        "test_error_falls_with_the_step",
        "test_elsewhere_it_is_as_accurate",
    },
    "test_an_early_return_is_continued": {"test_a_request_to_stop_ends_the_run"},
}


def test_each_check_has_a_toy() -> None:
    assert {*WRONG} == {*checks(case(Parallel))}


@pytest.mark.parametrize("check", WRONG)
def test_a_wrong_toy_fails_its_check(check: str) -> None:
    assert fails(case(WRONG[check]), check)


@pytest.mark.thorough
@pytest.mark.parametrize("check", WRONG)
def test_a_wrong_toy_fails_no_other_check(check: str) -> None:
    failing = {*failing_checks(case(WRONG[check]))}
    assert check in failing and failing - {check} <= ALSO.get(check, set())


OTHER_TIMES_AND_SIZES = [Bounded, Forgetful, Few, Tires]


@pytest.mark.parametrize("toy", OTHER_TIMES_AND_SIZES)
def test_errors_at_other_times_and_sizes_are_found(toy: type) -> None:
    assert fails(case(toy), "test_elsewhere_it_is_as_accurate")


@pytest.mark.thorough
@pytest.mark.parametrize("toy", OTHER_TIMES_AND_SIZES)
def test_errors_at_other_times_and_sizes_are_found_there_alone(toy: type) -> None:
    assert failing_checks(case(toy)) == ["test_elsewhere_it_is_as_accurate"]


def test_an_algorithm_that_counts_time_from_zero_is_found() -> None:
    assert fails(case(FromZero), "test_everyone_steps_through_the_whole_time")


def test_the_right_one_passes() -> None:
    assert failing_checks(case(Parallel)) == []


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("make", "more"),
    [
        (Jacobi, {}),
        (lambda: GaussSeidel(2), {"order": 1.7}),
        (lambda: Jacobi(1), {"order": 1.8}),
        (InterfaceNewton, {"order": 1.8}),
        (WaveformIteration, {"order": 1.8}),
        (lambda: Adaptive(iterations=1), {"order": 0.0}),
        (GaussSeidel, {}),
        (Adaptive, {"order": 0.0}),
    ],
)
def test_ours_pass(make: Any, more: Any) -> None:
    assert failing_checks(case(make, **more)) == []


@pytest.mark.parametrize(
    "make",
    [
        *[lambda: Jacobi(2), lambda: GaussSeidel(1)],
        *[lambda: WaveformIteration(hold="end"), lambda: InterfaceNewton(hold="end")],
    ],
    ids=["jacobi, quadratic", "gauss_seidel, linear", "waveform_iteration, end", "interface_newton, end"],
)
def test_ours_are_of_the_order_that_they_declare(make: Any) -> None:
    case(make)().test_error_falls_with_the_step()


class Says2(Parallel):
    """Of first order."""

    order = 2


class Says0(Parallel):
    """Of first order."""

    order = 0


class Says1(Jacobi):
    """Of second order."""

    def __init__(self) -> None:
        super().__init__(1)
        self.order = 1


@pytest.mark.parametrize("kind", [Says2, Says0, Says1])
def test_another_order_than_the_declared_one_is_found_on_both_sides(kind: type) -> None:
    with pytest.raises(AssertionError, match=rf"order {kind().order} is declared, [12]\.0. is observed"):
        case(kind)().test_error_falls_with_the_step()


def test_a_mistake_in_an_algorithm_is_named() -> None:
    class Wrong(Parallel):
        """Knows other names."""

        fixed_sequence = False

        def step(self, exchange: Any, time: float, size: float) -> None:
            exchange.set_inputs("left")

    from cosim_fmu import CoSimulation
    from cosim_fmu.testing.master_algorithm_contract import WIRES, _mass_and_spring

    loop = CoSimulation(_mass_and_spring(), WIRES, Wrong(), 0.1)
    text = r"the master algorithm Wrong failed: KeyError: 'left' \(participants: mass, spring\)"
    with pytest.raises(cosim.SimulationError, match=text):
        loop.simulate(1.0)

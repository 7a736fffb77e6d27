"""The contract kit passes the master algorithms of cosim, and each check fails for a wrong algorithm."""

import sys
from pathlib import Path
from typing import Any

import pytest
from wrong_algorithms import (
    ChangesOrder,
    ClipsValues,
    CountsTimeFromZero,
    DependsOnRuns,
    DropsLaterValues,
    DropsSmallValues,
    FailsToExplain,
    FalseClaim,
    FirstOrderAs0,
    FirstOrderAs2,
    HalfSteps,
    IgnoresEarlyReturn,
    IgnoresInputs,
    IgnoresStop,
    Parallel,
    ReadsAtTheEnd,
    ReadsValues,
    SavesStates,
    SecondOrderAs1,
    SkipsSteps,
    StopsSettingInputs,
    WrongAttribute,
)

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

WRONG_ALGORITHMS: dict[str, type] = {
    "test_is_an_algorithm": WrongAttribute,
    "test_error_falls_with_the_step": IgnoresInputs,
    "test_elsewhere_it_is_as_accurate": ClipsValues,
    "test_everyone_steps_through_the_whole_time": SkipsSteps,
    "test_steps_are_those_that_it_promises": HalfSteps,
    "test_goes_back_only_if_it_says_so": SavesStates,
    "test_a_second_run_gives_the_same": DependsOnRuns,
    "test_fixed_sequence_is_fixed": ChangesOrder,
    "test_loops_are_solved_if_it_says_so": FalseClaim,
    "test_a_request_to_stop_ends_the_run": IgnoresStop,
    "test_it_can_be_explained": FailsToExplain,
    "test_an_early_return_is_continued": IgnoresEarlyReturn,
}
"""The algorithm with the fault that each check of the kit has to find."""
FURTHER_FAILURES = {
    "test_error_falls_with_the_step": {"test_elsewhere_it_is_as_accurate"},
    "test_everyone_steps_through_the_whole_time": {
        "test_error_falls_with_the_step",
        "test_elsewhere_it_is_as_accurate",
    },
    "test_an_early_return_is_continued": {"test_a_request_to_stop_ends_the_run"},
}
"""Other checks that the algorithm of a check may fail too."""
WRONG_LATER_OR_FOR_OTHER_SIZES = [ClipsValues, DropsSmallValues, DropsLaterValues, StopsSettingInputs]


def case(make: Any, **attributes: Any) -> type:
    """The kit for an algorithm."""
    return type("Case", (MasterAlgorithmContract,), {"make": staticmethod(make), **attributes})


@pytest.mark.parametrize(
    ("kind", "member"), [(ReadsValues, "interface"), (ReadsAtTheEnd, r"read_outputs\(name, end\)")]
)
def test_a_fixed_sequence_that_reads_values_is_refused_with_a_message(kind: type, member: str) -> None:
    with pytest.raises(cosim.ContractError, match=rf"exchange\.{member}: with fixed_sequence = True, step "):
        operations_of(kind(), ["a", "b"])


def test_each_check_has_a_wrong_algorithm() -> None:
    assert {*WRONG_ALGORITHMS} == {*checks(case(Parallel))}


@pytest.mark.parametrize("check", WRONG_ALGORITHMS)
def test_a_wrong_algorithm_fails_its_check(check: str) -> None:
    assert fails(case(WRONG_ALGORITHMS[check]), check)


@pytest.mark.thorough
@pytest.mark.parametrize("check", WRONG_ALGORITHMS)
def test_a_wrong_algorithm_fails_no_other_check(check: str) -> None:
    failing = {*failing_checks(case(WRONG_ALGORITHMS[check]))}
    assert check in failing and failing - {check} <= FURTHER_FAILURES.get(check, set())


@pytest.mark.parametrize("kind", WRONG_LATER_OR_FOR_OTHER_SIZES)
def test_errors_at_later_times_and_for_other_sizes_are_found(kind: type) -> None:
    assert fails(case(kind), "test_elsewhere_it_is_as_accurate")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", WRONG_LATER_OR_FOR_OTHER_SIZES)
def test_errors_at_later_times_and_for_other_sizes_fail_no_other_check(kind: type) -> None:
    assert failing_checks(case(kind)) == ["test_elsewhere_it_is_as_accurate"]


def test_an_algorithm_that_counts_time_from_zero_fails() -> None:
    assert fails(case(CountsTimeFromZero), "test_everyone_steps_through_the_whole_time")


def test_a_right_algorithm_passes() -> None:
    assert failing_checks(case(Parallel)) == []


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("make", "attributes"),
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
def test_the_algorithms_of_cosim_pass(make: Any, attributes: Any) -> None:
    assert failing_checks(case(make, **attributes)) == []


@pytest.mark.parametrize(
    "make",
    [
        *[lambda: Jacobi(2), lambda: GaussSeidel(1)],
        *[lambda: WaveformIteration(hold="end"), lambda: InterfaceNewton(hold="end")],
    ],
    ids=["jacobi, quadratic", "gauss_seidel, linear", "waveform_iteration, end", "interface_newton, end"],
)
def test_the_algorithms_of_cosim_have_the_order_that_they_declare(make: Any) -> None:
    case(make)().test_error_falls_with_the_step()


@pytest.mark.parametrize("kind", [FirstOrderAs2, FirstOrderAs0, SecondOrderAs1])
def test_a_declared_order_that_is_too_high_or_too_low_fails(kind: type) -> None:
    with pytest.raises(AssertionError, match=rf"order {kind().order} is declared, [12]\.0. is observed"):
        case(kind)().test_error_falls_with_the_step()


def test_an_exception_in_an_algorithm_is_reported_with_its_name() -> None:
    class Wrong(Parallel):
        """Uses the name of a participant that does not exist."""

        fixed_sequence = False

        def step(self, exchange: Any, time: float, size: float) -> None:
            exchange.set_inputs("left")

    from cosim_fmu import CoSimulation
    from cosim_fmu.testing.master_algorithm_contract import WIRES, _mass_and_spring

    loop = CoSimulation(_mass_and_spring(), WIRES, Wrong(), 0.1)
    text = r"the master algorithm Wrong failed: KeyError: 'left' \(participants: mass, spring\)"
    with pytest.raises(cosim.SimulationError, match=text):
        loop.simulate(1.0)

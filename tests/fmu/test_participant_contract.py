"""The contract of participants: cosim's own pass it, and each check fails for a deliberately wrong toy."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import contract_toys as toys
import pytest
from contract_toys import CorrectToy, case

import cosim
from cosim_fmu import CoSimulation, FmuParticipant, ProcessParticipant, TimedInputs
from cosim_fmu.testing import ParticipantContract
from cosim_master.participants.create_participants import description_faults

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from failing_checks import checks, failing_checks  # noqa: E402

WRONG_TOYS: dict[str, type] = {
    "test_describes_itself": toys.UnknownDiscrete,
    "test_abilities_are_whole": toys.PartialAbilities,
    "test_values_have_their_types": toys.WrongType,
    "test_steps_to_the_time_that_it_is_told": toys.WrongTime,
    "test_a_second_run_gives_the_same": toys.KeepsState,
    "test_two_do_not_disturb_each_other": toys.SharesInputs,
    "test_reading_changes_nothing": toys.ChangesWhenRead,
    "test_can_be_closed_at_any_time": toys.ClosesOnce,
    "test_refuses_names_that_it_does_not_have": toys.AcceptsAnyName,
    "test_goes_back": toys.ForgetsInputs,
    "test_goes_back_from_bytes": toys.LosesBytes,
    "test_feedthrough_is_what_it_says": toys.WrongFeedthrough,
    "test_derivatives_are_those_of_the_outputs": toys.WrongDerivatives,
    "test_slopes_are_followed": toys.IgnoresSlopes,
    "test_tells_what_happens_inside_its_steps": toys.LateInnerPoints,
    "test_runs_in_a_co_simulation": toys.RefusesShortRuns,
}
ALSO_FAILING = {
    "test_two_do_not_disturb_each_other": {"test_goes_back"},
    "test_describes_itself": {"test_runs_in_a_co_simulation"},
    "test_values_have_their_types": {"test_runs_in_a_co_simulation"},
    "test_steps_to_the_time_that_it_is_told": {"test_runs_in_a_co_simulation"},
    "test_tells_what_happens_inside_its_steps": {"test_runs_in_a_co_simulation"},
}
WRONG_FOR_SOME_VALUES = [
    ("test_feedthrough_is_what_it_says", toys.WrongFeedthroughAbove),
    ("test_feedthrough_is_what_it_says", toys.WrongFeedthroughLater),
    ("test_derivatives_are_those_of_the_outputs", toys.WrongDerivativesBelow),
    ("test_derivatives_are_those_of_the_outputs", toys.WrongDerivativesLater),
    ("test_derivatives_are_those_of_the_outputs", toys.WrongDerivativesAtKink),
    ("test_a_second_run_gives_the_same", toys.KeepsInputs),
    ("test_goes_back", toys.ForgetsMode),
    ("test_two_do_not_disturb_each_other", toys.SharesInputsAbove),
]


def test_each_check_has_a_toy() -> None:
    tested_with_fmus = {"test_native_steps_are_those_of_python"}  # a toy has no C code
    assert {*WRONG_TOYS} | tested_with_fmus == {*checks(case(CorrectToy))}


@pytest.mark.parametrize("check", WRONG_TOYS)
def test_a_wrong_toy_fails_its_check(check: str) -> None:
    failing = {*failing_checks(case(WRONG_TOYS[check]))}
    assert check in failing and failing - {check} <= ALSO_FAILING.get(check, set())


@pytest.mark.parametrize(("check", "kind"), WRONG_FOR_SOME_VALUES)
def test_a_fault_that_only_some_values_show_fails_the_check(check: str, kind: type) -> None:
    assert check in failing_checks(case(kind))


@pytest.mark.parametrize("kind", [CorrectToy, toys.Kinked])
def test_correct_participants_pass(kind: type) -> None:
    assert failing_checks(case(kind)) == []


class TestTimedInputs(ParticipantContract):
    make = staticmethod(lambda: TimedInputs({"u": [[0.0, 0.0], [1.0, 2.0]]}, "linear"))


@pytest.mark.parametrize("kind", ["gain", "mass", "types"])
def test_fmus_pass_the_contract(make_fmu: Any, kind: str) -> None:
    path = make_fmu(kind)
    assert failing_checks(case(lambda: FmuParticipant(path))) == []


@pytest.mark.thorough
def test_an_fmu_in_a_process_passes_the_contract(make_fmu: Any) -> None:
    """Each check starts processes, so short runs only compare results, in `test_processes`."""
    path = make_fmu("mass")
    assert failing_checks(case(lambda: ProcessParticipant(path))) == []


def test_faults_of_a_description_are_named() -> None:
    correct = CorrectToy().describe()
    y = correct.variables["y"]
    cases: list[tuple[Any, str]] = [
        ({"y": "output"}, "describe returned {'y': 'output'}, needs a cosim.kit.ParticipantDescription"),
        (replace(correct, variables=[y]), "variables is [ParticipantVariable("),
        (
            replace(correct, variables={"y": "output"}),
            "variables: 'y' is 'output', needs a cosim.kit.Participant",
        ),
        (replace(correct, variables={"z": y}), "variables: 'z' has the name 'y'"),
        (replace(correct, variables={"y": replace(y, causality="out")}), "y: no causality 'out'"),
        (replace(correct, variables={"y": replace(y, type="float")}), "y: no type 'float'"),
        (replace(correct, variables={"y": replace(y, unit=None)}), "y: unit is None"),
        (
            replace(correct, variables={"y": replace(y, start="1")}),
            "y: start is '1', needs a value of type real",
        ),
        (
            replace(correct, variables={"y": replace(y, start=True)}),
            "y: start is True, needs a value of type real",
        ),
        (replace(correct, feedthrough=["y"]), "feedthrough is ['y'], needs a dict"),
        (replace(correct, feedthrough={"y": "u"}), "feedthrough of y is 'u', needs a set of inputs"),
        (replace(correct, feedthrough={"w": frozenset()}), "feedthrough: no variable 'w'"),
        (replace(correct, feedthrough={"y": {"y"}}), "feedthrough of y: no input 'y'"),
        (replace(correct, can_restore="yes"), "can_restore is 'yes', needs True or False"),
        (replace(correct, tunable="u"), "tunable is 'u', needs a set of names"),
        (
            replace(correct, default_experiment=(0, 1)),
            "default_experiment is (0, 1), needs a DefaultExperiment",
        ),
    ]
    assert description_faults(correct) == []
    for wrong, message in cases:
        participant = CorrectToy()
        participant.describe = lambda wrong=wrong: wrong  # type: ignore[method-assign]
        with pytest.raises(cosim.ModelError) as caught:
            CoSimulation({"a": participant}, step=0.1)
        assert f"participants.a: {message}" in str(caught.value)


def test_missing_methods_of_a_participant_are_named() -> None:
    class IncompleteParticipant:
        def describe(self) -> None: ...
        def step(self) -> None: ...

    with pytest.raises(cosim.ModelError, match="close, get, initialize"):
        CoSimulation({"a": IncompleteParticipant()}, step=0.1)


def test_a_value_of_the_wrong_type_is_named_in_a_co_simulation() -> None:
    with pytest.raises(cosim.SimulationError, match="1.5.*declared as integer"):
        CoSimulation({"a": toys.WrongType()}, step=0.1).simulate(0.1)

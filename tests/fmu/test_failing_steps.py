"""Steps of FMUs that fail or are discarded end the run with a message, or are repeated in smaller ones."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from model3_fmu import make_model3

import cosim
from cosim_fmi.binding.fmu_instance import StepAnswer
from cosim_fmi.binding.statuses import DISCARD
from cosim_fmu import CoSimulation, CoSimulationError
from cosim_master.participants.fmu_participant import FmuParticipant

Compiled = Callable[..., Path]
FAILING = """<ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="fail_at" valueReference="1" causality="parameter"><Real start="0"/></ScalarVariable>
<ScalarVariable name="reached" valueReference="2" causality="parameter"><Real start="0"/></ScalarVariable>
<ScalarVariable name="size" valueReference="3" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="status" valueReference="0" causality="parameter" variability="fixed">
<Integer start="0"/></ScalarVariable>"""
"""Variables of ``c/failing.c``: steps that end after `fail_at` return `status`.

A discarded step ends at the time `reached`.
"""


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (2, r"the step from t = 0\.2 s by 0\.1 s was discarded"),
        (3, "failed with status error"),
        (4, "failed with status fatal"),
        (5, "returned pending, but asynchronous steps are not supported"),
        (9, "failed with status 9"),
        (-1, "failed with status -1"),
    ],
)
@pytest.mark.parametrize("record", [["m.y"], None, ["m.y", "m.status"]], ids=["compiled", "all", "python"])
def test_a_step_that_fails_names_the_participant_and_keeps_the_results(
    make_odd_fmu: Any, status: int, message: str, record: Any
) -> None:
    starts = {"m.fail_at": 0.25, "m.status": status, "m.reached": 0.0}
    loop = CoSimulation({"m": make_odd_fmu("failing", FAILING)}, [], "jacobi", 0.1, starts=starts)
    with pytest.raises(CoSimulationError, match=f"m: .*{message}.*pump ran dry at 0.200") as caught:
        loop.simulate(1.0, record=record)
    assert caught.value.result.time == pytest.approx([0.0, 0.1, 0.2])
    assert caught.value.result["m.y"] == pytest.approx([0.0, 0.1, 0.2])


@pytest.mark.by_turns
@pytest.mark.parametrize("status", ["Discard", "Error", "Fatal"])
@pytest.mark.parametrize("record", [["m.x"], None], ids=["compiled", "python"])
def test_a_failed_step_of_fmi_3_keeps_the_results(
    tmp_path: Path, compiled: Compiled, status: str, record: Any
) -> None:
    path = make_box3(tmp_path, compiled, f"FAIL_STATUS={status}")
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.fail_at": 0.25})
    with pytest.raises(CoSimulationError, match=f"fmi3DoStep: .*{status.lower()}.*ran dry"):
        loop.simulate(1.0, record=record)
    assert loop.result is not None and loop.result.time == pytest.approx([0.0, 0.1, 0.2])


PARTIAL_STEPS = "FAIL_STATUS=Discard", "FAIL_SIZE=0.06"
"""Macros of ``box3.c``: steps to times after 0.25 s that are longer than 0.06 s are discarded."""


@pytest.mark.parametrize(
    ("share", "reached"),
    [
        (0.0, 0.25),
        (0.5, 0.5),
        (1.0, 0.75),
        pytest.param(-1e-9, 0.25, id="before the step"),
        pytest.param(1.0 + 1e-9, 0.25, id="after the step"),
        pytest.param(math.nan, 0.25, id="not a number"),
    ],
)
def test_a_discarded_step_of_fmi_3_ends_at_the_time_that_the_fmu_returns(
    tmp_path: Path, compiled: Compiled, share: float, reached: float
) -> None:
    """A time outside the step is ignored: the step then ends at its start."""
    # C has no literal for NaN
    number = "(1e999-1e999)" if math.isnan(share) else f"({share!r})"
    part = FmuParticipant(make_box3(tmp_path, compiled, "FAIL_STATUS=Discard", f"REACHED={number}"))
    part.initialize(0.0, 1.0, {"fail_at": 0.25})
    part.exit_initialization()
    try:
        answer = part._instance.do_step(0.25, 0.5)
        assert answer == StepAnswer(reached, discarded=True)
        # compiled code returns the time as it is, and Python checks it
        answer_of_compiled_code = StepAnswer(0.25 + share * 0.5)
        assert part._instance.after_step(DISCARD, 0.25, 0.5, answer_of_compiled_code) == answer
    finally:
        part.close()


@pytest.fixture
def partial_loop(tmp_path: Path, compiled: Compiled) -> Callable[[float], CoSimulation]:
    """Makes a loop whose FMU discards steps of `PARTIAL_STEPS` after this share of them."""

    def make(share: float) -> CoSimulation:
        path = make_box3(tmp_path, compiled, *PARTIAL_STEPS, f"REACHED={share}")
        return CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.fail_at": 0.25})

    return make


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["no progress", "the whole step"])
@pytest.mark.parametrize("record", [["m.x"], None], ids=["compiled", "python"])
def test_a_discarded_step_of_fmi_3_without_an_end_inside_it_ends_the_run(
    partial_loop: Callable[[float], CoSimulation], share: float, record: Any
) -> None:
    loop = partial_loop(share)
    with pytest.raises(CoSimulationError, match=r"the step from t = 0\.2 s by 0\.1 s was discarded"):
        loop.simulate(0.4, record=record)
    assert loop.result is not None and loop.result.time.tolist() == [0.0, 0.1, 0.2]


@pytest.mark.parametrize("record", [["m.x"], None], ids=["compiled", "python"])
def test_a_run_continues_from_the_end_of_a_discarded_step_of_fmi_3(
    partial_loop: Callable[[float], CoSimulation], record: Any
) -> None:
    loop = partial_loop(0.5)
    result = loop.simulate(0.4, record=record)
    assert result.time == pytest.approx([0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4], rel=1e-15)
    steps_of_euler = np.cumprod([1.0, 0.9, 0.9, 0.95, 0.95, 0.95, 0.95])  # x' = -x
    assert result["m.x"] == pytest.approx(steps_of_euler, rel=1e-14)


@pytest.mark.parametrize("status", ["Error", "Fatal"])
def test_failing_derivatives_of_model_exchange_keep_the_results(
    tmp_path: Path, compiled: Compiled, status: str
) -> None:
    path = make_model3(tmp_path, compiled, "VDP", f"FAIL_STATUS={status}")
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1)
    message = f"m: .*GetContinuousStateDerivatives: failed with status {status.lower()}.*na.ve"
    with pytest.raises(CoSimulationError, match=message):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time == pytest.approx([0.0, 0.1, 0.2])


def test_a_run_continues_after_a_warning(make_odd_fmu: Any) -> None:
    path = make_odd_fmu("failing", FAILING)
    loop = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.fail_at": 0.15, "m.status": 1})
    assert loop.simulate(0.3).time.size == 4


def test_an_fmu_without_variable_steps_refuses_a_shorter_last_step(make_odd_fmu: Any) -> None:
    path = make_odd_fmu("failing", FAILING)
    with pytest.raises(cosim.CosimError, match=r"vary its communication step.*0\.25"):
        CoSimulation({"m": path}, [], "jacobi", 0.1).simulate(0.25)


def test_an_fmu_without_variable_steps_refuses_an_adaptive_algorithm(make_odd_fmu: Any) -> None:
    path = make_odd_fmu("failing", FAILING)
    with pytest.raises(cosim.ModelError, match="communication step"):
        CoSimulation({"m": path}, [], "adaptive", 0.1).simulate(0.3)


def test_an_fmu_with_variable_steps_makes_a_shorter_last_step(make_odd_fmu: Any) -> None:
    able = make_odd_fmu(
        "failing", FAILING, abilities='canHandleVariableCommunicationStepSize="true"', name="able"
    )
    result = CoSimulation({"m": able}, [], "jacobi", 0.1).simulate(0.25)
    assert result["m.size"][1:] == pytest.approx([0.1, 0.1, 0.05])


@pytest.mark.parametrize("version", [2, 3])
def test_adaptive_repeats_a_discarded_step_with_a_shorter_size(
    tmp_path: Path, compiled: Compiled, make_fmu: Any, version: int
) -> None:
    """Beyond 0.25 s steps that are longer than 0.03 s are discarded."""
    if version == 3:
        path = make_box3(tmp_path, compiled, "FAIL_STATUS=Discard", "FAIL_SIZE=0.03")
    else:
        path = make_fmu("failing", macros=("FAIL_SIZE=0.03",))
    starts_by_version: dict[int, dict[str, Any]] = {
        2: {"m.fail_at": 0.25, "m.fail_status": 2},
        3: {"m.fail_at": 0.25},
    }
    starts = starts_by_version[version]
    with pytest.raises(CoSimulationError, match='was discarded.*"adaptive".*ran dry'):
        CoSimulation({"m": path}, [], "jacobi", 0.1, starts=starts).simulate(0.5)
    result = CoSimulation({"m": path}, [], "adaptive", 0.1, starts=starts).simulate(0.5)
    assert result.time[-1] == 0.5
    # more than one repetition, and about one for each of the at least 9 steps after 0.25 s at most
    assert 2 <= result.statistics["algorithm"]["rejected"] <= 12


def test_adaptive_fails_if_all_steps_are_discarded(tmp_path: Path, compiled: Compiled) -> None:
    path = make_box3(tmp_path, compiled, "FAIL_STATUS=Discard")
    loop = CoSimulation({"m": path}, [], "adaptive", 0.1, starts={"m.fail_at": 0.25})
    with pytest.raises(CoSimulationError, match="was discarded.*ran dry"):
        loop.simulate(0.5)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)

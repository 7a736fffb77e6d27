"""A run with a fault in any function of FMI ends with one message, and keeps the rows before the fault."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty_fmu import faulty_library
from faulty_runs import CASES, LOOP, SUBJECTS, Clean, Server, Subject, clean_run, rows_of, which_calls
from loop_fmus import make_loop

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, signals and the GNU C library")
WITHOUT_STATUS = ("FreeSlaveInstance", "FreeModelInstance", "FreeInstance")
ALL_FAULTS = ["exit", "_exit", "crash", "abort", "error", "fatal", "loop"]
WITH_ERRORS = (
    *("1.0 Model Exchange", "2.0 Model Exchange", "3.0 Co-Simulation", "3.0 Co-Simulation that goes back"),
    *("3.0 Co-Simulation that is saved", "3.0 Co-Simulation that goes on"),
)
"""In a short run, functions of these return errors, and those of the others call exit()."""
SHORT_RUN = [
    *(
        ("exit", name, function)
        for name, function in CASES
        if name not in WITH_ERRORS and not name.startswith("2.0 Co-Simulation that")
    ),
    *(
        ("error" if function not in WITHOUT_STATUS else "exit", name, function)
        for name, function in CASES
        if name in WITH_ERRORS
    ),
    ("fatal", "2.0 Model Exchange", "GetNominalsOfContinuousStates"),
]
PROBED_LOOP = Subject(
    lambda folder: make_loop(folder, faulty_library, "3.0"), "u = 1.0", "", "fmi3", connection='"m.y -> m.u"'
)
"""The user does not confirm the feedthrough that the FMU declares, so it is probed before the run."""
ALSO_ISOLATED = ["", pytest.param("process = true", marks=pytest.mark.thorough)]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.commands.close()


def check_rows(clean: Clean, symbol: str, number: int) -> None:
    """The rows of a run with a fault are the first ones of the clean run, up to the fault.

    About as many rows have been written before the fault as outputs have been read; 3 rows may be missing.
    """
    rows = rows_of(clean.folder)
    assert rows == clean.rows[: len(rows)]
    fault = place_of(clean, symbol, number)
    end = next(i for i, call in enumerate(clean.calls) if "Terminate" in call)
    reads = [
        i for i, call in enumerate(clean.calls) if call.endswith(("fmiGetReal", "2GetReal", "GetFloat64"))
    ]
    share = sum(i < fault for i in reads) / len(reads)
    assert len(rows) >= (len(clean.rows) if fault >= end else share * len(clean.rows) - 3)


def check_messages(messages: str, clean: Clean, symbol: str, number: int) -> None:
    """At most one line is an error, without a traceback, and no row is lost."""
    assert "Traceback" not in messages and messages.count("error:") <= 1, messages
    check_rows(clean, symbol, number)


def place_of(clean: Clean, symbol: str, number: int) -> int:
    """The place of a call of a function among all calls."""
    return [i for i, call in enumerate(clean.calls) if call == symbol][number - 1]


def standard_name(name: str, function: str) -> str:
    """The name of a function in the standard, without the model identifier of FMI 1.0."""
    return "fmi" + SUBJECTS[name].prefix.partition("fmi")[2] + function


def is_at_end(clean: Clean, symbol: str, number: int) -> bool:
    """Whether no step follows a call, so that the results are complete."""
    place = place_of(clean, symbol, number)
    return "Terminate" in symbol or ("FreeFMU" in symbol and f"{symbol[:4]}DoStep" not in clean.calls[place:])


def check_fault(server: Server, clean: Clean, name: str, function: str, fault: str, number: int) -> None:
    """A fault of an FMU in the process of the master is reported with its function."""
    symbol, standard = SUBJECTS[name].prefix + function, standard_name(name, function)
    status, messages, calls = server.run(
        clean.folder, f"{symbol} {number} {fault}", words=SUBJECTS[name].words
    )
    check_messages(messages, clean, symbol, number)
    assert calls.count(symbol) >= number
    if fault == "exit":
        assert f"m: {standard}: the FMU called exit(), which would have ended this program" in messages
    elif "Instantiate" in function:
        assert f"{standard}: the FMU refused to be instantiated" in messages
    else:
        # compiled code that saves a state also frees the one before, and does not know which call failed
        assert re.search(rf"{standard}( or fmi\dFreeFMU\w+)?: failed with status {fault}", messages) or (
            "FreeFMU" in function and f" or {standard}: failed with status {fault}" in messages
        ), messages
        # an instance is freed after an error, and not called again after a fatal one
        assert sum("Free" in call and "Instance" in call for call in calls) == (fault == "error"), calls[-5:]
        assert fault == "error" or calls[-1] == symbol, calls[-5:]
    is_warning = is_at_end(clean, symbol, number) and fault != "exit"
    if is_warning and "--checkpoint" in SUBJECTS[name].words and status == 1:
        return  # the last checkpoint could not be written: an error, although the results are complete
    assert (status, "warning: m" in messages) == ((0, True) if is_warning else (1, False)), messages


def check_isolated(server: Server, clean: Clean, name: str, function: str, fault: str, folder: Path) -> None:
    """A fault of an FMU in a process of its own is reported with the participant and the call."""
    symbol, standard = SUBJECTS[name].prefix + function, standard_name(name, function)
    numbers = which_calls(clean, symbol)
    number = numbers[len(numbers) // 2]
    fmu = next(clean.folder.glob("*.fmu"))
    (folder / fmu.name).write_bytes(fmu.read_bytes())
    more = "process = true" + '\ntimeout = "1 s"' * (fault == "loop")
    (folder / "s.toml").write_text(SUBJECTS[name].scenario(fmu.name, more))
    if "half" in SUBJECTS[name].words:  # the checkpoint has to be one of a participant in a process
        assert server.run(folder, words="--checkpoint half --until 0.5").status == 0
    status, messages, _ = server.run(folder, f"{symbol} {number} {fault}", words=SUBJECTS[name].words)
    check_messages(messages, clean._replace(folder=folder), symbol, number)
    is_warning = is_at_end(clean, symbol, number) or function in WITHOUT_STATUS
    assert (status, "warning: m" in messages) == ((0, True) if is_warning else (1, False)), messages
    if fault == "exit":
        assert f"m: {standard}: the FMU called exit(), which would have ended this program" in messages or (
            f"{fmu.stem}: {standard}: the FMU called exit()" in messages and "m: " in messages
        )
    elif fault in ("error", "fatal"):
        refused = f"{standard}: the FMU refused to be instantiated"
        failed = f"{standard}: failed with status {fault}"
        assert "m: " in messages and (failed in messages or refused in messages)
    else:
        ends = {
            "crash": "was killed by SIGSEGV",
            "abort": "was killed by SIGABRT",
            "_exit": "ended by itself with exit code 0",
            "loop": "did not return",
        }
        assert re.search(rf"m: (.*: )?its process {ends[fault]}.* (in|from) \w+", messages), messages


@pytest.mark.parametrize(
    "name", [name for name, subject in SUBJECTS.items() if "Instantiate" in subject.functions]
)
def test_the_list_of_functions_has_each_function_that_a_run_calls(
    name: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    subject = SUBJECTS[name]
    clean = clean_run(server, name, tmp_path_factory)
    called_by_source = {subject.prefix + "Reset"}  # other functions of the C sources call it
    assert {*clean.calls} - called_by_source == {
        subject.prefix + function for function in subject.functions.split()
    }


@pytest.mark.few(30)
@pytest.mark.parametrize(("fault", "name", "function"), SHORT_RUN)
def test_a_fault_in_this_process(
    fault: str, name: str, function: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    clean = clean_run(server, name, tmp_path_factory)
    numbers = which_calls(clean, SUBJECTS[name].prefix + function)
    check_fault(server, clean, name, function, fault, numbers[len(numbers) // 2])


@pytest.mark.thorough
@pytest.mark.parametrize("fault", ["exit", "error", "fatal"])
@pytest.mark.parametrize(("name", "function"), CASES)
def test_a_fault_in_this_process_in_the_first_a_middle_and_the_last_call(
    name: str, function: str, fault: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    clean = clean_run(server, name, tmp_path_factory)
    for number in which_calls(clean, SUBJECTS[name].prefix + function):
        if function not in WITHOUT_STATUS or fault == "exit":
            check_fault(server, clean, name, function, fault, number)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", ALL_FAULTS)
@pytest.mark.parametrize(("name", "function"), CASES)
def test_a_fault_in_another_process(
    name: str, function: str, fault: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if function in WITHOUT_STATUS and fault in ("error", "fatal"):
        return
    clean = clean_run(server, name, tmp_path_factory)
    check_isolated(server, clean, name, function, fault, tmp_path_factory.mktemp("isolated"))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("1.0 Model Exchange", "GetDerivatives"),
        ("3.0 Co-Simulation", "DoStep"),
        ("2.0 Model Exchange", "Terminate"),
    ],
)
def test_a_crash_in_another_process(
    name: str, function: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    clean = clean_run(server, name, tmp_path_factory)
    check_isolated(server, clean, name, function, "crash", tmp_path_factory.mktemp("isolated"))


@pytest.mark.parametrize("more", ALSO_ISOLATED)
@pytest.mark.parametrize("fault", ["error", "fatal"])
def test_after_a_failure_in_a_probe_the_run_continues_with_a_warning(
    fault: str, more: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The feedthrough of the FMU is probed before the run, which uses a new instance.

    After a fatal error in this process, no other instance can be trusted: that is an error.
    """
    folder = tmp_path_factory.mktemp("look")
    fmu = PROBED_LOOP.make(folder)
    text = PROBED_LOOP.scenario(fmu.name, more).replace("waveform_iteration", "gauss_seidel")
    (folder / "s.toml").write_text(text)
    assert server.run(folder, forks=False).status == 0
    expected_rows = rows_of(folder)
    status, messages, calls = server.run(folder, f"fmi3SetFMUState 12 {fault}")
    sentence = f"loop3.fmu: fmi3SetFMUState: failed with status {fault}"
    if fault == "fatal" and not more:
        assert (status, rows_of(folder)) == (2, []) or status == 1, messages
        assert f"m: {sentence}" in messages and calls[-1] == "fmi3SetFMUState"
    else:
        assert status == 0 and rows_of(folder) == expected_rows
        assert messages.count("warning: m failed before the run") == 1 and sentence in messages


@pytest.mark.parametrize("fault", ["error", "fatal"])
def test_after_an_error_of_a_derivative_the_run_continues_with_differences(
    fault: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A saved state is restored first; a fatal error ends the run."""
    folder = tmp_path_factory.mktemp("derivative")
    subject = PROBED_LOOP._replace(more=LOOP[0])
    text = subject.scenario(subject.make(folder).name).replace("waveform_iteration", "interface_newton")
    (folder / "s.toml").write_text(text)
    status, messages, calls = server.run(folder, forks=False)
    assert status == 0 and "fmi3GetDirectionalDerivative" in calls, messages
    expected_rows = rows_of(folder)
    status, messages, calls = server.run(folder, f"fmi3GetDirectionalDerivative 1 {fault}")
    if fault == "fatal":
        assert status == 1 and "loop3.fmu: fmi3GetDirectionalDerivative: failed with status" in messages
        assert calls[-1] == "fmi3GetDirectionalDerivative"
    else:
        assert status == 0 and calls[calls.index("fmi3GetDirectionalDerivative") + 1] == "fmi3SetFMUState"
        values = [[float(x) for x in row] for row in rows_of(folder)[1:]]
        assert values == [pytest.approx([float(x) for x in row], rel=1e-5) for row in expected_rows[1:]]


@pytest.mark.parametrize("more", ALSO_ISOLATED)
def test_an_fmu_that_refuses_its_declared_event_mode_runs_without_it(
    more: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("refused")
    fmu = make_loop(folder, faulty_library, "3.0", 'hasEventMode="true"')
    (folder / "s.toml").write_text(PROBED_LOOP._replace(connection="").scenario(fmu.name, more))
    status, messages, calls = server.run(folder, forks=False)
    assert status == 0 and calls.count("fmi3InstantiateCoSimulation") == 2
    assert messages.count("warning: m: it declares an event mode and refuses to be instantiated with it") == 1

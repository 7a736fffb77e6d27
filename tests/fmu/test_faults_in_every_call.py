"""A fault in every function of FMI that a run calls: each ends with a sentence, and loses nothing."""

import csv
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from box3_fmu import make_box3
from clocks3_fmu import make_clocks3
from faulty_fmu import faulty_library
from fmi1_fmu import make_fmi1
from forked_commands import ForkedCommands
from loop_fmus import make_loop
from model3_fmu import make_model3
from part_fmu import make_part
from small_fmus import model_description

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, signals and the GNU C library")


def make_types(folder: Path, compiled: Callable[..., Path]) -> Path:
    from fmpy import platform

    path = folder / "types.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", model_description("types"))
        archive.write(compiled("types"), f"binaries/{platform}/types.so")
    return path


class Subject(NamedTuple):
    """An FMU: how it is made, what it is given, and the functions that are called, but for loading.

    `more` stands in its table, `words` on the command line; `connection` with an algorithm that iterates.
    """

    make: Callable[[Path], Path]
    given: str
    functions: str
    prefix: str
    more: str = ""
    connection: str = ""
    words: str = ""

    def scenario(self, fmu: str, more: str = "") -> str:
        """The file."""
        return SCENARIO.format(
            fmu=fmu,
            given=self.given,
            more=f"{self.more}\n{more}",
            connection=self.connection,
            algorithm="waveform_iteration" if self.connection else "jacobi",
        )


LOOP = 'feedthrough = { y = ["u"] }', '"m.y -> m.u"'
SUBJECTS = {
    "1.0 Co-Simulation": Subject(
        lambda folder: make_fmi1(folder, faulty_library),
        'u = 1.0, count = 2, flag = true, text = "a"',
        "InstantiateSlave SetReal SetInteger SetBoolean SetString InitializeSlave GetReal GetInteger "
        "GetBoolean DoStep TerminateSlave FreeSlaveInstance",
        "slave1_fmi",
    ),
    "1.0 Model Exchange": Subject(
        lambda folder: make_fmi1(folder, faulty_library, "ModelExchange"),
        'kick_at = 0.35, count = 1, flag = true, text = "a"',
        "InstantiateModel SetReal SetInteger SetBoolean SetString SetTime Initialize "
        "GetContinuousStates GetNominalContinuousStates SetContinuousStates GetDerivatives "
        "GetEventIndicators GetReal GetInteger GetBoolean EventUpdate Terminate FreeModelInstance",
        "ball1_fmi",
    ),
    "2.0 Co-Simulation": Subject(
        lambda folder: make_types(folder, faulty_library),
        'real_in = 1.0, integer_in = 1, boolean_in = true, string_in = "a"',
        "Instantiate SetupExperiment SetReal SetInteger SetBoolean SetString EnterInitializationMode "
        "ExitInitializationMode GetReal GetInteger GetBoolean GetString DoStep Terminate FreeInstance",
        "fmi2",
    ),
    "2.0 Model Exchange": Subject(
        lambda folder: make_part(folder, faulty_library),
        "limit = 1.1, force = 1.0, held = false",
        "Instantiate SetDebugLogging SetupExperiment SetReal SetBoolean EnterInitializationMode "
        "ExitInitializationMode NewDiscreteStates EnterContinuousTimeMode GetContinuousStates "
        "GetNominalsOfContinuousStates SetTime SetContinuousStates GetDerivatives GetEventIndicators "
        "GetReal GetBoolean GetInteger EnterEventMode Terminate FreeInstance",
        "fmi2",
    ),
    "3.0 Co-Simulation": Subject(
        lambda folder: make_box3(folder, faulty_library),
        'u = 1.0, ring_at = 0.35, small_in = 1.0, byte_in = 1, big_in = 3, flag_in = true, text_in = "x", '
        "mode_in = 1",
        "InstantiateCoSimulation SetFloat64 SetFloat32 SetInt8 SetUInt64 SetBoolean SetString "
        "SetInt64 EnterInitializationMode ExitInitializationMode UpdateDiscreteStates EnterStepMode "
        "GetFloat64 GetFloat32 GetInt8 GetUInt64 GetBoolean GetString GetBinary GetInt64 GetInt32 DoStep "
        "EnterEventMode Terminate FreeInstance",
        "fmi3",
    ),
    "3.0 Co-Simulation with clocks": Subject(
        lambda folder: make_clocks3(folder, faulty_library),
        "u = 1.0, n = 3",
        "InstantiateCoSimulation EnterConfigurationMode SetInt32 ExitConfigurationMode SetFloat64 "
        "EnterInitializationMode ExitInitializationMode GetIntervalDecimal GetClock "
        "UpdateDiscreteStates EnterStepMode GetFloat64 GetInt32 DoStep EnterEventMode SetClock "
        "Terminate FreeInstance",
        "fmi3",
    ),
    "3.0 Model Exchange": Subject(
        lambda folder: make_model3(folder, faulty_library, "BALL"),
        "push = 0.1, gear = 5",
        "InstantiateModelExchange SetFloat64 SetInt32 EnterInitializationMode ExitInitializationMode "
        "GetNumberOfContinuousStates GetNumberOfEventIndicators UpdateDiscreteStates "
        "EnterContinuousTimeMode GetContinuousStates GetNominalsOfContinuousStates SetTime "
        "SetContinuousStates GetContinuousStateDerivatives GetEventIndicators GetFloat64 GetInt32 "
        "EnterEventMode Terminate FreeInstance",
        "fmi3",
    ),
    "3.0 Model Exchange with integrator steps": Subject(
        lambda folder: make_model3(folder, faulty_library, "TURN"),
        "nominal = 0.3, parameter = 1.0",
        "CompletedIntegratorStep",
        "fmi3",
    ),
    "2.0 Co-Simulation that goes back": Subject(
        lambda folder: make_loop(folder, faulty_library, "2.0"),
        "u = 1.0",
        "GetFMUstate SetFMUstate FreeFMUstate",
        "fmi2",
        *LOOP,
    ),
    "3.0 Co-Simulation that goes back": Subject(
        lambda folder: make_loop(folder, faulty_library, "3.0"),
        "u = 1.0",
        "GetFMUState SetFMUState FreeFMUState",
        "fmi3",
        *LOOP,
    ),
    "2.0 Co-Simulation that is saved": Subject(
        lambda folder: make_loop(folder, faulty_library, "2.0"),
        "u = 1.0",
        "GetFMUstate SerializedFMUstateSize SerializeFMUstate FreeFMUstate",
        "fmi2",
        words="--checkpoint kept",
    ),
    "3.0 Co-Simulation that is saved": Subject(
        lambda folder: make_loop(folder, faulty_library, "3.0"),
        "u = 1.0",
        "GetFMUState SerializedFMUStateSize SerializeFMUState FreeFMUState",
        "fmi3",
        words="--checkpoint kept",
    ),
    "2.0 Co-Simulation that goes on": Subject(
        lambda folder: make_loop(folder, faulty_library, "2.0"),
        "u = 1.0",
        "DeSerializeFMUstate SetFMUstate FreeFMUstate",
        "fmi2",
        words="--resume half",
    ),
    "3.0 Co-Simulation that goes on": Subject(
        lambda folder: make_loop(folder, faulty_library, "3.0"),
        "u = 1.0",
        "DeserializeFMUState SetFMUState FreeFMUState",
        "fmi3",
        words="--resume half",
    ),
    "3.0 Model Exchange with a clock": Subject(
        lambda folder: make_model3(folder, faulty_library, "TICK"), "push = 0.1", "SetClock", "fmi3"
    ),
}
CASES = [(subject, function) for subject, given in SUBJECTS.items() for function in given.functions.split()]
SCENARIO = """connections = [{connection}]
[participants.m]
fmu = "{fmu}"
parameters = {{ {given} }}
{more}
[master]
algorithm = "{algorithm}"
step = "0.1 s"
until = "1 s"
"""


class Clean(NamedTuple):
    """A run without a fault: its folder, all calls in their order, and the rows of the result."""

    folder: Path
    calls: list[str]
    rows: list[list[str]]


class Server:
    """Runs of the scenarios, in forks of one process."""

    def __init__(self) -> None:
        self.commands = ForkedCommands()
        self.clean: dict[str, Clean] = {}

    def run(
        self, folder: Path, fault: str = "", forks: bool = True, more: str = ""
    ) -> tuple[int, str, list[str]]:
        """Exit status, what was said, and the calls, of a command with `more` words."""
        for name in ("out.csv", "calls"):
            (folder / name).unlink(missing_ok=True)
        given = {"FMU_FAULT": fault, "FMU_CALLS": str(folder / "calls")}
        words = ["cosimulate", "s.toml", "-o", "out.csv", *more.split()]
        done = self.commands.run(folder, words, given, forks)
        calls = (folder / "calls").read_text().split() if (folder / "calls").exists() else []
        return done.returncode, done.stderr, calls


def rows_of(folder: Path) -> list[list[str]]:
    path = folder / "out.csv"
    lines = path.read_text().splitlines() if path.exists() else []
    return list(csv.reader(line for line in lines if not line.startswith("# not whole: ")))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.commands.close()


def clean_run(server: Server, name: str, folders: pytest.TempPathFactory) -> Clean:
    if name not in server.clean:
        folder, subject = folders.mktemp("fmu"), SUBJECTS[name]
        fmu = subject.make(folder)
        (folder / "s.toml").write_text(subject.scenario(fmu.name))
        if "half" in subject.words:
            assert server.run(folder, forks=False, more="--checkpoint half --until 0.5")[0] == 0
        status, said, calls = server.run(folder, forks=False, more=subject.words)
        assert status == 0, said
        server.clean[name] = Clean(folder, calls, rows_of(folder))
    return server.clean[name]


def which_calls(clean: Clean, symbol: str) -> tuple[int, ...]:
    """The first call of a function, one in the middle, and the last."""
    count = clean.calls.count(symbol)
    return tuple(sorted({1, (count + 1) // 2, count}))


def check_rows(name: str, clean: Clean, symbol: str, number: int) -> None:
    """Those that are there are right, and those that were there before the fault are there."""
    found = rows_of(clean.folder)
    assert found == clean.rows[: len(found)]
    before = [i for i, each in enumerate(clean.calls) if each == symbol][number - 1]
    last = next(i for i, each in enumerate(clean.calls) if "Terminate" in each)
    reads = [
        i for i, each in enumerate(clean.calls) if each.endswith(("fmiGetReal", "2GetReal", "GetFloat64"))
    ]
    share = sum(i < before for i in reads) / len(reads)
    assert len(found) >= (len(clean.rows) if before >= last else share * len(clean.rows) - 3)


def check_said(said: str, name: str, clean: Clean, symbol: str, number: int) -> None:
    """One line of error, without a traceback."""
    assert "Traceback" not in said and said.count("error:") <= 1, said
    check_rows(name, clean, symbol, number)


def standard_name(name: str, function: str) -> str:
    """As the standard calls it: without the model identifier of FMI 1.0."""
    return "fmi" + SUBJECTS[name].prefix.partition("fmi")[2] + function


def is_at_end(clean: Clean, symbol: str, number: int) -> bool:
    """Whether no step follows on a call: then the results are whole."""
    place = [i for i, each in enumerate(clean.calls) if each == symbol][number - 1]
    return "Terminate" in symbol or ("FreeFMU" in symbol and f"{symbol[:4]}DoStep" not in clean.calls[place:])


def check_fault(server: Server, clean: Clean, name: str, function: str, fault: str, number: int) -> None:
    """In the process of the master."""
    symbol, standard = SUBJECTS[name].prefix + function, standard_name(name, function)
    status, said, calls = server.run(clean.folder, f"{symbol} {number} {fault}", more=SUBJECTS[name].words)
    check_said(said, name, clean, symbol, number)
    assert calls.count(symbol) >= number
    if fault == "exit":
        assert f"m: {standard}: the FMU called exit(), which would have ended this program" in said
    elif "Instantiate" in function:
        assert f"{standard}: the FMU refused to be instantiated" in said
    else:
        # compiled code frees the state before when it saves one, and does not tell which of both it was
        assert re.search(rf"{standard}( or fmi\dFreeFMU\w+)?: failed with status {fault}", said) or (
            "FreeFMU" in function and f" or {standard}: failed with status {fault}" in said
        ), said
        # an instance is freed after an error, and nothing of it is called after a fatal one
        assert sum("Free" in each and "Instance" in each for each in calls) == (fault == "error"), calls[-5:]
        assert fault == "error" or calls[-1] == symbol, calls[-5:]
    ends = is_at_end(clean, symbol, number) and fault != "exit"  # the results are whole: a warning
    if ends and "--checkpoint" in SUBJECTS[name].words and status == 1:
        return  # the last checkpoint is not written: an error, whose results are whole as well
    assert (status, "warning: m" in said) == ((0, True) if ends else (1, False)), said


def check_isolated(server: Server, clean: Clean, name: str, function: str, fault: str, folder: Path) -> None:
    """In a process of its own: one line names the participant, and the call that the master waits for."""
    symbol, standard = SUBJECTS[name].prefix + function, standard_name(name, function)
    numbers = which_calls(clean, symbol)
    number = numbers[len(numbers) // 2]
    fmu = next(clean.folder.glob("*.fmu"))
    (folder / fmu.name).write_bytes(fmu.read_bytes())
    more = "process = true" + '\ntimeout = "1 s"' * (fault == "loop")
    (folder / "s.toml").write_text(SUBJECTS[name].scenario(fmu.name, more))
    if "half" in SUBJECTS[name].words:  # a checkpoint is of a participant in a process of its own, too
        assert server.run(folder, more="--checkpoint half --until 0.5")[0] == 0
    status, said, _ = server.run(folder, f"{symbol} {number} {fault}", more=SUBJECTS[name].words)
    check_said(said, name, clean._replace(folder=folder), symbol, number)
    ends = is_at_end(clean, symbol, number) or function in WITHOUT_STATUS
    assert (status, "warning: m" in said) == ((0, True) if ends else (1, False)), said
    if fault == "exit":
        assert f"m: {standard}: the FMU called exit(), which would have ended this program" in said or (
            f"{fmu.stem}: {standard}: the FMU called exit()" in said and "m: " in said
        )
    elif fault in ("error", "fatal"):
        refused = f"{standard}: the FMU refused to be instantiated"
        assert "m: " in said and (f"{standard}: failed with status {fault}" in said or refused in said)
    else:
        how = {
            "crash": "was killed by SIGSEGV",
            "abort": "was killed by SIGABRT",
            "_exit": "ended by itself with exit code 0",
            "loop": "did not return",
        }
        assert re.search(rf"m: (.*: )?its process {how[fault]}.* (in|from) \w+", said), said


@pytest.mark.parametrize(
    "name", [name for name, subject in SUBJECTS.items() if "Instantiate" in subject.functions]
)
def test_every_call_is_among_them(
    name: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    subject = SUBJECTS[name]
    clean = clean_run(server, name, tmp_path_factory)
    inner = (
        {subject.prefix + "Reset"} if "Reset" not in subject.functions else set()
    )  # called by its own source
    assert {*clean.calls} - inner == {subject.prefix + function for function in subject.functions.split()}


OF_STATES = tuple(f"3.0 Co-Simulation that {does}" for does in ("goes back", "is saved", "goes on"))
FEW = ("1.0 Model Exchange", "2.0 Model Exchange", "3.0 Co-Simulation", *OF_STATES)
WITHOUT_STATUS = ("FreeSlaveInstance", "FreeModelInstance", "FreeInstance")
IN_SHORT = [
    ("exit", *case)
    for case in CASES
    if case[0] not in FEW and not case[0].startswith("2.0 Co-Simulation that")
] + [("error" if case[1] not in WITHOUT_STATUS else "exit", *case) for case in CASES if case[0] in FEW]
IN_SHORT.append(("fatal", "2.0 Model Exchange", "GetNominalsOfContinuousStates"))


@pytest.mark.few(30)
@pytest.mark.parametrize(("fault", "name", "function"), IN_SHORT)
def test_in_this_process(
    fault: str, name: str, function: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    clean = clean_run(server, name, tmp_path_factory)
    numbers = which_calls(clean, SUBJECTS[name].prefix + function)
    check_fault(server, clean, name, function, fault, numbers[len(numbers) // 2])


@pytest.mark.thorough
@pytest.mark.parametrize("fault", ["exit", "error", "fatal"])
@pytest.mark.parametrize(("name", "function"), CASES)
def test_in_this_process_whenever(
    name: str, function: str, fault: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    clean = clean_run(server, name, tmp_path_factory)
    for number in which_calls(clean, SUBJECTS[name].prefix + function):
        if function not in WITHOUT_STATUS or fault == "exit":
            check_fault(server, clean, name, function, fault, number)


ALL_FAULTS = ["exit", "_exit", "crash", "abort", "error", "fatal", "loop"]


@pytest.mark.thorough
@pytest.mark.parametrize("fault", ALL_FAULTS)
@pytest.mark.parametrize(("name", "function"), CASES)
def test_in_another_process(
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


OPEN = Subject(
    lambda folder: make_loop(folder, faulty_library, "3.0"), "u = 1.0", "", "fmi3", connection='"m.y -> m.u"'
)
"""Whose declared loop is looked into before the run."""


ALSO_ISOLATED = ["", pytest.param("process = true", marks=pytest.mark.thorough)]


@pytest.mark.parametrize("more", ALSO_ISOLATED)
@pytest.mark.parametrize("fault", ["error", "fatal"])
def test_a_failure_before_the_run(
    fault: str, more: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """When its feedthrough is looked into: the run, with a new instance, is right, and has a warning.

    After a fatal error no other instance in this process is to be trusted: that is an error.
    """
    folder = tmp_path_factory.mktemp("look")
    fmu = OPEN.make(folder)
    text = OPEN.scenario(fmu.name, more).replace("waveform_iteration", "gauss_seidel")
    (folder / "s.toml").write_text(text)
    assert server.run(folder, forks=False)[0] == 0
    wanted = rows_of(folder)
    status, said, calls = server.run(folder, f"fmi3SetFMUState 12 {fault}")
    sentence = f"loop3.fmu: fmi3SetFMUState: failed with status {fault}"
    if fault == "fatal" and not more:
        assert (status, rows_of(folder)) == (2, []) or status == 1, said
        assert f"m: {sentence}" in said and calls[-1] == "fmi3SetFMUState"
    else:
        assert status == 0 and rows_of(folder) == wanted
        assert said.count("warning: m failed before the run") == 1 and sentence in said


@pytest.mark.parametrize("fault", ["error", "fatal"])
def test_a_failing_derivative(fault: str, server: Server, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An error is got over, from a saved state, with differences in place of derivatives."""
    folder = tmp_path_factory.mktemp("derivative")
    subject = OPEN._replace(more=LOOP[0])
    text = subject.scenario(subject.make(folder).name).replace("waveform_iteration", "interface_newton")
    (folder / "s.toml").write_text(text)
    status, said, calls = server.run(folder, forks=False)
    assert status == 0 and "fmi3GetDirectionalDerivative" in calls, said
    wanted = rows_of(folder)
    status, said, calls = server.run(folder, f"fmi3GetDirectionalDerivative 1 {fault}")
    if fault == "fatal":
        assert status == 1 and "loop3.fmu: fmi3GetDirectionalDerivative: failed with status" in said
        assert calls[-1] == "fmi3GetDirectionalDerivative"
    else:
        assert status == 0 and calls[calls.index("fmi3GetDirectionalDerivative") + 1] == "fmi3SetFMUState"
        numbers = [[float(x) for x in row] for row in rows_of(folder)[1:]]
        assert numbers == [pytest.approx([float(x) for x in row], rel=1e-5) for row in wanted[1:]]


@pytest.mark.parametrize("more", ALSO_ISOLATED)
def test_an_event_mode_that_is_declared_and_refused(
    more: str, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("refused")
    fmu = make_loop(folder, faulty_library, "3.0", 'hasEventMode="true"')
    (folder / "s.toml").write_text(OPEN._replace(connection="").scenario(fmu.name, more))
    status, said, calls = server.run(folder, forks=False)
    assert status == 0 and calls.count("fmi3InstantiateCoSimulation") == 2
    assert said.count("warning: m: it declares an event mode and refuses to be instantiated with it") == 1

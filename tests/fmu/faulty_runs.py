"""Runs of FMUs in which one call of a function of FMI has a fault, and the same runs without a fault."""

import csv
from collections.abc import Callable
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
from small_fmus import write_fmu


def make_types(folder: Path, compiled: Callable[..., Path]) -> Path:
    """``types.fmu`` in `folder`."""
    return write_fmu(folder / "types.fmu", "types", compiled("types"))


class Subject(NamedTuple):
    """A scenario with an FMU, and the functions of FMI that its run calls.

    Parameters
    ----------
    make : function
        Makes the FMU in a folder.
    values : str
        Values of variables, as in a scenario.
    functions : str
        Without their common `prefix`, which begins with the model identifier in FMI 1.0.
    prefix : str
    more : str
        Further lines of the participant's table.
    connection : str
        A connection of the FMU to itself; the algorithm then iterates.
    words : str
        Further words of the command.
    """

    make: Callable[[Path], Path]
    values: str
    functions: str
    prefix: str
    more: str = ""
    connection: str = ""
    words: str = ""

    def scenario(self, fmu: str, more: str = "") -> str:
        """The text of the scenario; `more` are further lines of the participant's table."""
        return SCENARIO.format(
            fmu=fmu,
            values=self.values,
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
CASES = [(name, function) for name, subject in SUBJECTS.items() for function in subject.functions.split()]
SCENARIO = """connections = [{connection}]
[participants.m]
fmu = "{fmu}"
parameters = {{ {values} }}
{more}
[master]
algorithm = "{algorithm}"
step = "0.1 s"
until = "1 s"
"""


class Clean(NamedTuple):
    """A run without a fault: its folder, all calls in order, and the rows of the result."""

    folder: Path
    calls: list[str]
    rows: list[list[str]]


class FaultyRun(NamedTuple):
    """The exit status of a run, its messages, and the calls of the FMU in order."""

    status: int
    messages: str
    calls: list[str]


class Server:
    """Runs the scenarios in forks of one process, and keeps the runs without a fault."""

    def __init__(self) -> None:
        self.commands = ForkedCommands()
        self.clean: dict[str, Clean] = {}

    def run(self, folder: Path, fault: str = "", forks: bool = True, words: str = "") -> FaultyRun:
        """Run the scenario of a folder; `fault` is a function, the number of a call, and a kind of fault."""
        for name in ("out.csv", "calls"):
            (folder / name).unlink(missing_ok=True)
        environment = {"FMU_FAULT": fault, "FMU_CALLS": str(folder / "calls")}
        command = ["cosimulate", "s.toml", "-o", "out.csv", *words.split()]
        done = self.commands.run(folder, command, environment, forks)
        calls = (folder / "calls").read_text().split() if (folder / "calls").exists() else []
        return FaultyRun(done.returncode, done.stderr, calls)


def rows_of(folder: Path) -> list[list[str]]:
    """The rows of ``out.csv``, without the remark that a result is not complete."""
    path = folder / "out.csv"
    lines = path.read_text().splitlines() if path.exists() else []
    return list(csv.reader(line for line in lines if not line.startswith("# not whole: ")))


def clean_run(server: Server, name: str, folders: pytest.TempPathFactory) -> Clean:
    """The run of a subject without a fault, which is made once."""
    if name not in server.clean:
        folder, subject = folders.mktemp("fmu"), SUBJECTS[name]
        fmu = subject.make(folder)
        (folder / "s.toml").write_text(subject.scenario(fmu.name))
        if "half" in subject.words:
            assert server.run(folder, forks=False, words="--checkpoint half --until 0.5").status == 0
        run = server.run(folder, forks=False, words=subject.words)
        assert run.status == 0, run.messages
        server.clean[name] = Clean(folder, run.calls, rows_of(folder))
    return server.clean[name]


def which_calls(clean: Clean, symbol: str) -> tuple[int, ...]:
    """Numbers of the first call of a function, one in the middle, and the last."""
    count = clean.calls.count(symbol)
    return tuple(sorted({1, (count + 1) // 2, count}))

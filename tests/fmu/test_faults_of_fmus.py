"""Faults in C code, in each call: every one ends as it should, in this process and in another."""

import csv
import ctypes
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from forked_commands import Done, ForkedCommands

import cosim
from cosim_fmu import CoSimulation, CoSimulationError, FmuParticipant, ProcessParticipant

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, /proc and the GNU C library")

Compiled = Callable[..., Path]
CALLS = (
    *("LOAD", "Instantiate", "SetupExperiment", "SetReal", "EnterInitializationMode"),
    *("ExitInitializationMode", "GetReal", "DoStep", "Terminate", "FreeInstance"),
    "UNLOAD",
)
DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="faults" guid="f">
<CoSimulation modelIdentifier="faults" canHandleVariableCommunicationStepSize="true"/><ModelVariables>
<ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="u" valueReference="1" causality="input"><Real start="0"/></ScalarVariable>
</ModelVariables><ModelStructure><Outputs><Unknown index="1" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>"""
SCENARIO = """[participants.m]
fmu = "{fmu}"
parameters = {{ u = 1.0 }}
{more}
[master]
algorithm = "jacobi"
step = "0.1 s"
until = "1 s"
{limit}
"""


NAME = b"the name of the call that goes wrong"
"""What stands in the library in its place."""
NEVER_ENDS, RESTS = "for (;;) { }", "for (;;) sleep(1)"
"""The second takes no processor from the other tests."""


def make(folder: Path, compiled: Compiled, where: str, fault: str, abilities: str = "") -> Path:
    from fmpy import platform, sharedLibraryExtension

    path = folder / "faults.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION.replace("/><ModelV", f" {abilities}/><ModelV"))
        library = compiled("faults", f"FAULT={fault}").read_bytes()
        assert library.count(NAME) == 1
        library = library.replace(NAME, where.encode().ljust(len(NAME), b"\0"))
        archive.writestr(f"binaries/{platform}/faults{sharedLibraryExtension}", library)
    return path


def command(folder: Path, fmu: Path, more: str = "", limit: str = "", algorithm: str = "jacobi") -> list[str]:
    scenario = SCENARIO.format(fmu=fmu.name, more=more, limit=limit)
    (folder / "s.toml").write_text(scenario.replace("jacobi", algorithm))
    return ["cosimulate", "s.toml", "-o", "out.csv"]


def begin(folder: Path, fmu: Path, more: str = "", **options: Any) -> subprocess.Popen[str]:
    """A process of its own."""
    words = [sys.executable, "-m", "cosim", *command(folder, fmu, more)]
    return subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


Cosimulate = Callable[..., Done]


@pytest.fixture(scope="module")
def commands(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedCommands]:
    """A process that has loaded what scenarios need, and runs each in a fork."""
    made, folder = ForkedCommands(), tmp_path_factory.mktemp("first")
    first = command(folder, make(folder, compiled, "NOWHERE", ""))
    assert made.run(folder, first, forks=False).returncode == 0
    yield made
    made.close()


@pytest.fixture(scope="module")
def cosimulate(commands: ForkedCommands) -> Cosimulate:
    """Run a scenario to its end."""
    return lambda folder, *given, **options: commands.run(folder, command(folder, *given, **options))


def last_time(folder: Path) -> float:
    with (folder / "out.csv").open() as file:
        return float([row for row in csv.reader(file) if not row[0].startswith("# not whole: ")][-1][0])


LIMITS = [
    ('process = true\ntimeout = "1 s"', "", 1, "did not return from step within 1 s and was killed"),
    ("process = true", 'time_limit = "6 s"', 1, "the time limit of 6 s has passed"),
    ("", "time_limit = 6.0", 1, "the time limit of 6 s has passed, and a step of a participant"),
    ('timeout = "1 s"', "", 2, "m.timeout: needs process = true"),
    ("process = true\ntimeout = -1.0", "", 2, "m.timeout: is -1.0, needs a number of seconds"),
    ("", "time_limit = 0.0", 2, "master.time_limit: is 0 s, needs more than 0"),
]


@pytest.fixture(scope="module", autouse=True)
def limited(
    commands: ForkedCommands, compiled: Compiled, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[Path, Callable[[], Done]]]:
    """Runs that wait for their limits, begun before the other tests: these go on meanwhile."""
    folders = [tmp_path_factory.mktemp("limited") for _ in LIMITS]
    return [
        (folder, commands.begin(folder, command(folder, make(folder, compiled, "DoStep", RESTS), *given[:2])))
        for folder, given in zip(folders, LIMITS, strict=True)
    ]


@pytest.mark.few(4)
@pytest.mark.parametrize("where", CALLS)
def test_exit_in_this_process_is_an_error(
    where: str, tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    status, _, said = cosimulate(tmp_path, make(tmp_path, compiled, where, "exit(0)"))
    assert status == 1, said
    assert "called exit()" in said and "Traceback" not in said
    if where in ("DoStep", "Terminate", "FreeInstance", "UNLOAD"):
        assert last_time(tmp_path) == pytest.approx(0.4 if where == "DoStep" else 1.0)
        assert "results up to t = " in said


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["LOAD", "SetReal", "DoStep"])
def test_exit_in_another_process_is_an_error_of_the_call(
    where: str, tmp_path: Path, compiled: Compiled
) -> None:
    part = ProcessParticipant(make(tmp_path, compiled, where, "exit(0)"))
    loop = CoSimulation({"m": part}, [], "jacobi", 0.1, starts={"m.u": 1.0})
    with pytest.raises(CoSimulationError, match=r"m: .*called exit\(\)"):
        loop.simulate(1.0)
    part = ProcessParticipant(make(tmp_path, compiled, where, "_exit(0)"))
    loop = CoSimulation({"m": part}, [], "jacobi", 0.1, starts={"m.u": 1.0})
    with pytest.raises(CoSimulationError, match="process ended.*0"):
        loop.simulate(1.0)


ABLE = " ".join(
    f'{ability}="true"'
    for ability in ("canGetAndSetFMUstate", "canSerializeFMUstate", "providesDirectionalDerivative")
)
QUICK = ("GetFMUstate", "DeSerializeFMUstate", "FreeFMUstate")
"""Of the calls for states and derivatives, those of a short run."""
OF_STATES: dict[str, Callable[[Any], Any]] = {
    "GetFMUstate": lambda part: part.save(),
    "SetFMUstate": lambda part: part.restore(part.save()),
    "SerializedFMUstateSize": lambda part: part.serialize(part.save()),
    "SerializeFMUstate": lambda part: part.serialize(part.save()),
    "DeSerializeFMUstate": lambda part: part.deserialize(part.serialize(part.save())),
    "GetDirectionalDerivative": lambda part: part.directional_derivative(["y"], ["u"], [1.0]),
}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "where",
    [
        *QUICK,
        *(pytest.param(where, marks=pytest.mark.thorough) for where in OF_STATES if where not in QUICK),
    ],
)
def test_faults_in_calls_for_states_and_derivatives(where: str, tmp_path: Path, compiled: Compiled) -> None:
    """A crash, an exit and an error in another process, and an error in this one, are errors of the call."""
    call = OF_STATES.get(where, OF_STATES["SetFMUstate"])
    for fault, said in (
        ("raise(SIGSEGV)", "SIGSEGV"),
        ("exit(0)", "called exit"),
        ("status = 3", "failed with status error"),
    ):
        fmu = make(tmp_path, compiled, where, fault, ABLE)
        parts = [ProcessParticipant(fmu)] + ([FmuParticipant(fmu)] if fault == "status = 3" else [])
        for part in parts:
            part.initialize(0.0, 1.0, {"u": 1.0})
            part.exit_initialization()
            part.step(0.0, 0.1)
            if where == "FreeFMUstate":  # when the state is held no more; the end closes it
                call(part)
            else:
                with pytest.raises(cosim.CosimError, match=said):
                    call(part)
            part.close()


def test_directional_derivatives_pass_to_another_process(tmp_path: Path, compiled: Compiled) -> None:
    part = ProcessParticipant(make(tmp_path, compiled, "NOWHERE", "", ABLE))
    assert part.describe().has_derivatives
    part.initialize(0.0, 1.0, {})
    part.exit_initialization()
    assert list(part.directional_derivative(["y"], ["u"], [2.0])) == [6.0]
    part.close()


@pytest.mark.parametrize("where", ["GetFMUstate", "FreeFMUstate"])
def test_exit_in_calls_for_states_in_this_process(
    where: str, tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    fmu = make(tmp_path, compiled, where, "exit(0)", ABLE)
    status, _, said = cosimulate(tmp_path, fmu, algorithm="adaptive")
    assert status == 1, said
    # the compiled loop saves states: which function it was is known where Python calls it
    assert "FMU called exit()" in said and "Traceback" not in said


def test_exit_in_a_probe_is_a_finding(tmp_path: Path, compiled: Compiled) -> None:
    from cosim_fmi.validate.validate_command import check_run

    found = list(check_run(make(tmp_path, compiled, "SetupExperiment", "exit(0)"), 60.0))
    said = "fmi2SetupExperiment: the FMU called exit()"
    assert any(f.severity == "error" and said in f.text for f in found)


def settings() -> tuple[Any, ...]:
    names = ("SIGINT", "SIGTERM", "SIGFPE", "SIGSEGV")
    libc, action = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    found = []
    for name in names:
        libc.sigaction(int(getattr(signal, name)), None, action)
        found.append(action.raw[:8])  # the handler
    return ctypes.CDLL("libm.so.6").fegetround(), Path.cwd(), *found


@pytest.mark.few(5)
@pytest.mark.parametrize("fault", ["disturb()", "(disturb(), status = 3)", "(disturb(), status = 4)"])
@pytest.mark.parametrize("where", CALLS)
def test_what_an_fmu_changes_is_set_back(
    where: str, fault: str, tmp_path: Path, compiled: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    part = FmuParticipant(make(tmp_path, compiled, where, fault))
    before = settings()
    late = where in ("DoStep", "GetReal", "Terminate", "FreeInstance")
    try:
        part.initialize(0.0, 1.0, {"u": 1.0})
        part.exit_initialization()
        if not late:
            assert settings() == before
        part.step(0.4, 0.1)
        part.get(["y"])
    except cosim.FmuError:
        assert settings()[:1] == before[:1] and settings()[2:] == before[2:]
    finally:
        part.close()
        os.chdir(tmp_path)
    assert settings() == before


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.thorough)],
)
def test_ctrl_c_and_sigterm_end_an_isolated_fmu_that_loops(
    tmp_path: Path, compiled: Compiled, number: int, status: int
) -> None:
    loops = tmp_path / "it_loops"
    fault = f'fclose(fopen("{loops.name}", "w")); {RESTS if number == signal.SIGINT else NEVER_ENDS}'
    process = begin(tmp_path, make(tmp_path, compiled, "DoStep", fault), "process = true")
    until = time.monotonic() + 60.0
    while not loops.exists():
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.05)
    (child,) = map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
    process.send_signal(number)
    begun = time.monotonic()
    _, said = process.communicate(timeout=30.0)
    assert time.monotonic() - begun < 15.0
    assert process.returncode == status and "terminated" * (status == 143) in said
    assert last_time(tmp_path) == pytest.approx(0.4)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_time_limit_between_steps(make_fmu: Any) -> None:
    loop = CoSimulation({"m": make_fmu("heavy")}, [], "jacobi", 0.1, starts={"m.pause": 0.01})
    with pytest.raises(cosim.SimulationError, match=r"time limit.*0\.5"):
        loop.simulate(1e3, time_limit=0.5)
    assert loop.result is not None and 0.0 < loop.result.time[-1] < 100.0
    assert loop.simulate(0.2, time_limit=60.0).time[-1] == pytest.approx(0.2)
    with pytest.raises(cosim.ModelError, match="time_limit.*greater than 0"):
        loop.simulate(0.2, time_limit=0.0)


@pytest.mark.thorough
def test_folders_of_killed_processes_are_removed(tmp_path: Path, compiled: Compiled) -> None:
    """Those of a process that still runs stay."""
    fmu = make(tmp_path, compiled, "DoStep", RESTS)
    place = tmp_path / "temporary"
    place.mkdir()
    environment = {**os.environ, "TMPDIR": str(place)}
    running = [begin(tmp_path, fmu, more, env=environment) for more in ("process = true", "")]
    try:
        until = time.monotonic() + 30.0
        while len(list(place.glob("cosim-run-*"))) < 2:  # the isolated one unpacks in its own
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(1.0)
        assert len(list(place.iterdir())) == 2
        running[0].kill()
        running[0].wait()
        time.sleep(1.0)
        code = "from cosim.kit import *; private_folder('x')"
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        assert len(list(place.iterdir())) == 2  # the last one has just been left, too
    finally:
        for process in running:
            process.kill()
            process.communicate()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert len(list(place.iterdir())) == 1


PRINTS = 'printf("hello from C\\n")'


@pytest.mark.by_turns
@pytest.mark.parametrize("more", ["", "process = true"])
@pytest.mark.parametrize("where", ["LOAD", "Instantiate", "ExitInitializationMode", "Terminate"])
def test_what_an_fmu_prints_goes_to_its_log(
    where: str, more: str, tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    fmu = make(tmp_path, compiled, where, PRINTS)
    status, printed, said = cosimulate(tmp_path, fmu, f'{more}\nlog = "m.log"\nlog_level = "all"')
    assert status == 0, said
    assert "hello" not in printed + said and "results → out.csv" in printed
    assert "ok: printed: hello" in (tmp_path / "m.log").read_text()


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["DoStep", "GetReal"])
def test_what_is_printed_in_steps_goes_to_the_log_too(where: str, tmp_path: Path, compiled: Compiled) -> None:
    """By the FMU; what Python prints meanwhile goes to where it went, also from a thread."""
    fmu = make(tmp_path, compiled, where, PRINTS)
    code = f"""
import sys, threading
from pathlib import Path
from cosim_fmu import CoSimulation, FmuParticipant
part = FmuParticipant({str(fmu)!r})
part.write_log(Path("m.log"), "all")
others = threading.Thread(target=lambda: print("from a thread"))
def observe(time, values):
    print(f"observed {{time:g}}")
    if time == 0.5:
        others.start()
        others.join()
CoSimulation({{"m": part}}, [], "jacobi", 0.1).simulate(1.0, observe=observe)
print("at the end")
sys.stdout.flush()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "hello" not in done.stdout and done.stdout.count("observed") == 11
    assert done.stdout.splitlines()[-2:] == ["observed 1", "at the end"] and "from a thread" in done.stdout
    assert (tmp_path / "m.log").read_text().count("ok: printed: hello from C") >= 6


def test_what_several_print_in_steps_goes_to_each_log(
    tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    """Also what was printed before one of them calls exit()."""
    fmu = make(tmp_path, compiled, "DoStep", f"({PRINTS}, time > 0.75 ? exit(0) : (void)0)")
    other = '\n[participants.n]\nfmu = "faults.fmu"\nlog = "n.log"\nlog_level = "all"\n'
    status, printed, said = cosimulate(tmp_path, fmu, f'log = "m.log"\nlog_level = "all"{other}')
    assert status == 1 and "called exit()" in said and "hello" not in printed + said
    for name in ("m", "n"):
        assert "ok: printed by m or n: hello from C\n" in (tmp_path / f"{name}.log").read_text()


@pytest.mark.thorough
def test_many_megabytes_that_are_printed_take_no_memory(tmp_path: Path, compiled: Compiled) -> None:
    fault = 'for (int i = 0; i < 20000; i++) puts("0123456789012345678901234567890123456789")'
    fmu = make(tmp_path, compiled, "GetReal", fault)
    code = f"""
import resource
from cosim_fmu import CoSimulation
loop = CoSimulation({{"m": {str(fmu)!r}}}, [], "jacobi", 0.001)
loop.simulate(0.001)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
loop.simulate(0.1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 50_000, done.stdout  # kB; 80 MB are printed


def test_what_is_printed_in_steps_of_an_isolated_fmu(
    tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    fmu = make(tmp_path, compiled, "DoStep", PRINTS)
    status, printed, said = cosimulate(tmp_path, fmu, 'process = true\nlog = "m.log"\nlog_level = "all"')
    assert status == 0 and "hello" not in printed + said
    assert (tmp_path / "m.log").read_text().count("printed: hello from C") == 6
    fmu = make(tmp_path, compiled, "DoStep", '(fputs("assertion failed\\n", stderr), abort())')
    status, printed, said = cosimulate(tmp_path, fmu, "process = true")
    assert status == 1
    assert "killed by SIGABRT" in said


def test_rows_are_saved_while_a_run_goes_on(
    make_fmu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends without a word leaves what was saved last."""
    from cosim.cli import main
    from cosim_fmu.command import saved_rows

    monkeypatch.setattr(saved_rows, "SECONDS", 0.0)
    monkeypatch.setattr(saved_rows, "SHARE", 1e9)
    monkeypatch.chdir(tmp_path)
    seen = []
    save = cosim.save_result

    def look(sink: Any, result: cosim.Result, target: Path, rows: int = 0) -> None:
        save(sink, result, target, rows)
        seen.append(last_time(tmp_path))

    monkeypatch.setattr(cosim, "save_result", look)
    text = SCENARIO.replace("u = 1.0", "pause = 0.03")
    (tmp_path / "s.toml").write_text(text.format(fmu=make_fmu("heavy").name, more="", limit=""))
    assert main(["cosimulate", "s.toml", "-o", "out.csv", "--quiet"]) == 0
    assert len(seen) >= 3 and seen == sorted(seen) and seen[0] < 1.0 and seen[-1] == 1.0


@pytest.mark.few(3)
@pytest.mark.parametrize(("number", "status", "text"), [(n, *case[2:]) for n, case in enumerate(LIMITS)])
def test_limits(number: int, status: int, text: str, limited: list[tuple[Path, Callable[[], Done]]]) -> None:
    folder, wait = limited[number]
    ended, _, said = wait()
    assert ended == status and text in said, said
    if status == 1:
        assert last_time(folder) == pytest.approx(0.4)

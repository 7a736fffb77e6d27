"""What FMUs print goes to their logs, not to the output of the program."""

import subprocess
import sys
from pathlib import Path

import pytest
from faults_fmu import Compiled, Cosimulate, make_faulty

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, /proc and the GNU C library")
PRINTS = 'printf("hello from C\\n")'


@pytest.mark.by_turns
@pytest.mark.parametrize("more", ["", "process = true"])
@pytest.mark.parametrize("where", ["LOAD", "Instantiate", "ExitInitializationMode", "Terminate"])
def test_the_output_of_an_fmu_goes_to_its_log(
    where: str, more: str, tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    fmu = make_faulty(tmp_path, compiled, where, PRINTS)
    status, output, messages = cosimulate(tmp_path, fmu, f'{more}\nlog = "m.log"\nlog_level = "all"')
    assert status == 0, messages
    assert "hello" not in output + messages and "results → out.csv" in output
    assert "ok: printed: hello" in (tmp_path / "m.log").read_text()


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["DoStep", "GetReal"])
def test_during_steps_only_the_output_of_the_fmu_goes_to_the_log(
    where: str, tmp_path: Path, compiled: Compiled
) -> None:
    """The output of Python, also of a thread, goes to the standard output as before."""
    fmu = make_faulty(tmp_path, compiled, where, PRINTS)
    code = f"""
import sys, threading
from pathlib import Path
from cosim_fmu import CoSimulation, FmuParticipant
part = FmuParticipant({str(fmu)!r})
part.write_log(Path("m.log"), "all")
thread = threading.Thread(target=lambda: print("from a thread"))
def observe(time, values):
    print(f"observed {{time:g}}")
    if time == 0.5:
        thread.start()
        thread.join()
CoSimulation({{"m": part}}, [], "jacobi", 0.1).simulate(1.0, observe=observe)
print("at the end")
sys.stdout.flush()
"""
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr
    assert "hello" not in process.stdout and process.stdout.count("observed") == 11
    assert (
        process.stdout.splitlines()[-2:] == ["observed 1", "at the end"] and "from a thread" in process.stdout
    )
    assert (tmp_path / "m.log").read_text().count("ok: printed: hello from C") >= 6


def test_the_output_of_several_fmus_in_steps_goes_to_each_log(
    tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    """This includes the output before one of them calls exit()."""
    fmu = make_faulty(tmp_path, compiled, "DoStep", f"({PRINTS}, time > 0.75 ? exit(0) : (void)0)")
    second = '\n[participants.n]\nfmu = "faults.fmu"\nlog = "n.log"\nlog_level = "all"\n'
    status, output, messages = cosimulate(tmp_path, fmu, f'log = "m.log"\nlog_level = "all"{second}')
    assert status == 1 and "called exit()" in messages and "hello" not in output + messages
    for name in ("m", "n"):
        assert "ok: printed by m or n: hello from C\n" in (tmp_path / f"{name}.log").read_text()


@pytest.mark.thorough
def test_the_output_of_many_megabytes_takes_no_memory(tmp_path: Path, compiled: Compiled) -> None:
    fault = 'for (int i = 0; i < 20000; i++) puts("0123456789012345678901234567890123456789")'
    fmu = make_faulty(tmp_path, compiled, "GetReal", fault)
    code = f"""
import resource
from cosim_fmu import CoSimulation
loop = CoSimulation({{"m": {str(fmu)!r}}}, [], "jacobi", 0.001)
loop.simulate(0.001)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
loop.simulate(0.1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr
    assert int(process.stdout) < 50_000, process.stdout  # kB; 80 MB are printed


def test_the_output_of_an_isolated_fmu_goes_to_its_log(
    tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    fmu = make_faulty(tmp_path, compiled, "DoStep", PRINTS)
    status, output, messages = cosimulate(tmp_path, fmu, 'process = true\nlog = "m.log"\nlog_level = "all"')
    assert status == 0 and "hello" not in output + messages
    assert (tmp_path / "m.log").read_text().count("printed: hello from C") == 6


def test_an_isolated_fmu_that_prints_and_aborts_is_reported(
    tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    fmu = make_faulty(tmp_path, compiled, "DoStep", '(fputs("assertion failed\\n", stderr), abort())')
    status, _, messages = cosimulate(tmp_path, fmu, "process = true")
    assert status == 1
    assert "killed by SIGABRT" in messages

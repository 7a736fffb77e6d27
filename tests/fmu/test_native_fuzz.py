"""Calls at random under AddressSanitizer and UBSan: native FMUs answer everything and never crash."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from c_programs import SOURCES
from c_programs import build as built
from export_tools import limited
from how_many import many
from native_tools import InProcess, needs_compiler, oscillator, write_sources

import cosim
from cosim_export.native.fmu_array import arrays_of
from cosim_export.native.native_sources import SHELL, NativeChoices, NativeSources

pytestmark = needs_compiler
MERSON = "integrators.runge_kutta_merson"
SANITIZERS = [
    "-O1",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
]


def build(sources: NativeSources, folder: Path, name: str, *flags: str, driver: str = "fuzz2") -> Path:
    """The C files, the lowered functions and a driver as one program."""
    program = folder / name
    files = [SOURCES / f"{driver}.c", *write_sources(sources, folder)]
    try:
        return built(program, ["-std=c11", *flags, "-lm"], files, [SHELL])
    except subprocess.CalledProcessError as error:
        if "san" in error.stderr:
            pytest.skip(f"no sanitizers here: {error.stderr[-200:]}")
        raise AssertionError(error.stderr) from error


def arguments(sources: NativeSources, seed: int, calls: int) -> list[str]:
    states = sum(bool(v.derivative_of) for v in sources.interface.variables)
    indicators = len(sources.indicators)
    numbers = (len(sources.interface.variables), states, indicators, seed, calls)
    sizes = {a.reference: len(a.elements) for a in arrays_of(sources.interface.variables)}
    listed = ",".join(str(sizes.get(i, 0)) for i in range(numbers[0]))
    return [sources.token, *map(str, numbers), *([listed] if sources.version == 3 else [])]


@pytest.mark.parametrize("model", [oscillator, pytest.param(limited, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("version", [2, 3])
def test_random_calls_are_answered_and_refused_values_leave_no_trace(
    version: int, model: Callable[[], cosim.Model], tmp_path: Path
) -> None:
    sources = NativeSources(
        model(), NativeChoices(version=version, selections={"parameters": ["*"], "all": True})
    )
    program = build(sources, tmp_path, "fuzz", *SANITIZERS, driver=f"fuzz{version}")
    for seed in range(many(2)):
        done = subprocess.run(
            [str(program), *arguments(sources, seed, 20000)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (seed, done.stderr[-3000:])
        fine, _, _, errors, fatal, *rest = done.stdout.split()
        assert int(fine) > 1000 and int(errors) > 1000 and int(fatal) == 0
        assert int(rest[3]) > 100  # refused values
        assert version == 2 or int(rest[-1]) > 50  # intermediate updates


@pytest.mark.thorough
def test_memory_stays_and_threads_give_the_same_bits(tmp_path: Path) -> None:
    sources = NativeSources(oscillator())
    (shown,) = (i for i, v in enumerate(sources.interface.variables) if v.name == "osc.position")

    def lives(program: Path, *last: str) -> int:
        command = [str(program), sources.token, str(shown), *last]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        return int(done.stdout)

    plain = build(sources, tmp_path, "lives", "-O2", "-pthread", driver="lives")
    assert lives(plain, "cycles", "1000") == 0
    assert lives(plain, "steps", "100000") == 0
    assert lives(plain, "threads", "8") == 0
    watched = build(sources, tmp_path, "races", "-O1", "-g", "-fsanitize=thread", "-pthread", driver="lives")
    assert lives(watched, "threads", "4") == 0


@pytest.mark.thorough
@pytest.mark.parametrize("model", [oscillator, pytest.param(limited, marks=pytest.mark.thorough)])
def test_a_step_that_takes_long_says_how_far_it_is(model: Callable[[], cosim.Model], tmp_path: Path) -> None:
    """As after every 4096 steps of the integrator here; the calls between do not change a bit."""
    settings = {"integrator": MERSON, "integrator_options": {"fixed_step": 1e-3}, "accuracy": 1e-6}
    sources = NativeSources(model(), NativeChoices(settings=settings))
    often = "-DSECONDS_BETWEEN_REPORTS=0"
    program = build(sources, tmp_path, "long", *SANITIZERS, often, driver="long_step")
    shown = next(i for i, v in enumerate(sources.interface.variables) if v.array == "y")
    command = [str(program), sources.token, "20.0", str(shown)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *messages, (kind, value) = (line.split(" ", 1) for line in done.stdout.splitlines())
    told = [text for category, text in messages if category == "logProgress"]
    times = [float(text.partition("at t = ")[2].partition(" s")[0]) for text in told]
    assert times == pytest.approx([4.096 * i for i in range(1, 5)], abs=0.02)
    assert all("fmi2DoStep: at t = " in text and "way to 20 s" in text for text in told)
    here = InProcess(model(), MERSON, 1e-6, fixed_step=1e-3).start()
    here.advance(20.0)
    assert (kind, float(value)) == ("value", here[sources.interface.variables[shown].name])

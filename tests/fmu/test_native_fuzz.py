"""Random calls, long runs and threads under sanitizers: native FMUs answer every call and never crash."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from export_tools import limited
from how_many import many
from native_fuzz import SANITIZERS, arguments, build
from native_tools import InProcess, needs_compiler, oscillator

import cosim
from cosim_export.native.native_sources import NativeChoices, NativeSources

pytestmark = needs_compiler
MERSON = "integrators.runge_kutta_merson"


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
        # how many calls returned each status (ok, warning, discard, error, fatal); other counts by name
        words = done.stdout.split()
        ok, _, _, errors, fatal = map(int, words[:5])
        counts = dict(zip(words[5::2], map(int, words[6::2]), strict=True))
        assert ok > 1000 and errors > 1000 and fatal == 0
        assert counts["untouched"] > 100  # calls with a refused value, after which nothing had changed
        assert version == 2 or counts["updates"] > 50


@pytest.mark.thorough
def test_instances_leak_no_memory_and_threads_give_the_same_bits(tmp_path: Path) -> None:
    sources = NativeSources(oscillator())
    (position,) = (i for i, v in enumerate(sources.interface.variables) if v.name == "osc.position")

    def run_program(program: Path, *arguments: str) -> int:
        command = [str(program), sources.token, str(position), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        return int(done.stdout)

    optimized = build(sources, tmp_path, "lives", "-O2", "-pthread", driver="lives")
    assert run_program(optimized, "cycles", "1000") == 0
    assert run_program(optimized, "steps", "100000") == 0
    assert run_program(optimized, "threads", "8") == 0
    with_thread_checks = build(
        sources, tmp_path, "races", "-O1", "-g", "-fsanitize=thread", "-pthread", driver="lives"
    )
    assert run_program(with_thread_checks, "threads", "4") == 0


@pytest.mark.thorough
@pytest.mark.parametrize("model", [oscillator, pytest.param(limited, marks=pytest.mark.thorough)])
def test_a_long_step_reports_its_progress(model: Callable[[], cosim.Model], tmp_path: Path) -> None:
    """Here after every 4096 integrator steps; the reports do not change a bit of the result."""
    settings = {"integrator": MERSON, "integrator_options": {"fixed_step": 1e-3}, "accuracy": 1e-6}
    sources = NativeSources(model(), NativeChoices(settings=settings))
    report_always = "-DSECONDS_BETWEEN_REPORTS=0"
    program = build(sources, tmp_path, "long", *SANITIZERS, report_always, driver="long_step")
    index = next(i for i, v in enumerate(sources.interface.variables) if v.array == "y")
    command = [str(program), sources.token, "20.0", str(index)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *messages, (kind, value) = (line.split(" ", 1) for line in done.stdout.splitlines())
    reports = [text for category, text in messages if category == "logProgress"]
    times = [float(text.partition("at t = ")[2].partition(" s")[0]) for text in reports]
    assert times == pytest.approx([4.096 * i for i in range(1, 5)], abs=0.02)
    assert all("fmi2DoStep: at t = " in text and "way to 20 s" in text for text in reports)
    in_python = InProcess(model(), MERSON, 1e-6, fixed_step=1e-3).start()
    in_python.advance(20.0)
    assert (kind, float(value)) == ("value", in_python[sources.interface.variables[index].name])

"""Runs that would practically never end."""

from __future__ import annotations

from lowered_run import LoweredRun
from test_continuous import oscillator

from cosim.step import failures


def test_a_system_that_is_extremely_stiff_is_told_with_the_state() -> None:
    run = LoweredRun(oscillator(), "integrators.dormand_prince_853", accuracy=1e-6)
    run.write("spring.stiffness", 1e24)
    assert run.call("initialize") == failures.REACHED
    assert run.call("advance", 1.0) == failures.Stalled.number
    assert 0.0 < run.time < 1e-5
    assert run.program.states[run.memory.failure.fastest].startswith("spring.")

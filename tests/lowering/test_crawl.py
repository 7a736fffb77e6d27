"""A run whose steps would be so short that it would practically never end is stopped."""

from __future__ import annotations

from lowered_parts import oscillator
from lowered_run import LoweredRun

from cosim.step import failures


def test_an_extremely_stiff_system_stops_with_the_name_of_the_fastest_state() -> None:
    run = LoweredRun(oscillator(), "integrators.dormand_prince_853", accuracy=1e-6)
    run.write("spring.stiffness", 1e24)
    assert run.call("initialize") == failures.REACHED
    assert run.call("advance", 1.0) == failures.Stalled.number
    assert 0.0 < run.time < 1e-5
    assert run.program.states[run.memory.failure.fastest].startswith("spring.")

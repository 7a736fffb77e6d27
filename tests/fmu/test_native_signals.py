"""Signal blocks in native FMUs: every value equals the run in Python to the last bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from export_tools import running
from native_tools import InProcess, export_native, needs_compiler

import cosim

pytestmark = needs_compiler


def diagram(all_blocks: bool) -> cosim.Model:
    """A diagram of one block of each kind, with simultaneous breaks, or of those with memory or switches."""
    model = cosim.Model("diagram")
    model.add("measures.sinusoid", "wave", amplitude="4 V", frequency=25.0)
    source = "wave"
    if all_blocks:
        model.add("signals.pulse", "pulse", amplitude="5 V", period="30 ms", width="30 %", start_time="10 ms")
        model.add("measures.plus", "sum", first="wave", second="pulse")
        source = "sum"
    model.add("measures.first_order_filter", "smooth", source=source, time_constant="5 ms")
    model.add("signals.limiter", "limited", source="smooth", lower="-2 V", upper="3 V")
    model.add("signals.hysteresis", "relay", source="smooth", lower="-1 V", upper="1 V", on_value=2.0)
    model.add("signals.unit_delay", "delayed", source="limited", period="7 ms", value="1 V")
    second = "delayed"
    if all_blocks:
        table = {"times": [0.0, 0.04, 0.04, 0.11, 0.13], "samples": ["0 V", "2 V", "-1 V", "1 V", "0 V"]}
        model.add("signals.time_table", "table", **table, interpolation="cubic", extrapolation="periodic")
        second = "table"
    model.add("signals.comparison", "higher", first="smooth", second=second)
    model.add("signals.logic", "either", first="higher", second="relay", operator="xor")
    if not all_blocks:
        return model
    model.add("signals.noise", "noise", standard_deviation="0.5 V", bandwidth="60 Hz", seed=3)
    model.add("signals.random_road", "road", roughness="D", speed="20 m/s", seed=5)
    model.add("measures.plus", "rough", first="smooth", second="noise")
    model.add("signals.quantizer", "steps", source="rough", interval="0.4 V")
    model.add("signals.switch", "chosen", condition="either", first="steps", second="table")
    model.add("signals.state_space", "filter", source="chosen", A=[[0, 1], [-900, -40]], B=[0, 900], C=[1, 0])
    bounds = {"lower": -2.0, "upper": 2.0}
    model.add("signals.pid", "control", setpoint="table", measurement="plant", gain=3.0, **bounds)
    plant = {"numerator": [1.0], "denominator": [1e-3, 0.1, 1.0]}
    model.add("signals.transfer_function", "plant", source="control", **plant)
    return model


@pytest.mark.parametrize("all_blocks", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_every_variable_equals_the_run_in_python_to_the_last_bit(all_blocks: bool, tmp_path: Path) -> None:
    path = export_native(diagram(all_blocks), tmp_path / "diagram.fmu", step_size=0.005)
    in_python = InProcess(diagram(all_blocks), "integrators.runge_kutta_merson", 1e-6).start()
    names = [v.name for v in in_python.variables.values() if v.type == "Real"]  # the FMU also has der(…)
    with running(path) as fmu:
        fmu.start()
        for i in range(80):
            fmu.steps(i, i + 1, 0.005)
            in_python.advance(i * 0.005 + 0.005)
            assert [fmu[n] for n in names] == in_python.all(), i
        assert not fmu.messages
    # the limiter and the controller reach their bounds
    assert in_python["limited.kinks"] > 4.0
    assert not all_blocks or in_python["control.kinks"] > 2.0

"""FMUs that change the rounding mode of the processor do not change the numbers of other participants."""

import ctypes
import platform
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from faults_fmu import make_faulty
from native_tools import COMPILER, needs_compiler

import cosim
from cosim_export.native.native_exporter import NativeFmuOptions
from cosim_fmi.binding import rounding
from cosim_fmi.binding.process_guard import round_as_before, rounds_as_before
from cosim_fmu import CoSimulation, SystemParticipant
from cosim_fmu.container.container_interface import container_interface
from cosim_fmu.container.write_container import write_native_container

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fesetround of the GNU C library")
Compiled = Callable[..., Path]
ROUNDING_MODES = {"x86_64": range(0, 0x1000, 0x400), "aarch64": range(0, 0x1000000, 0x400000)}
"""Modes of ``fesetround``; the first is the default."""
FLUSH_TO_ZERO = (
    # of the register MXCSR, denormal operands and results
    'unsigned c; __asm__ volatile("stmxcsr %0" : "=m"(c)); c |= 0x8040; '
    '__asm__ volatile("ldmxcsr %0" : : "m"(c))'
)


class Decay(cosim.Component):
    """Two decaying numbers; the small one becomes denormal."""

    level = cosim.auxiliary_state(start=1.0)
    small = cosim.auxiliary_state(start=3e-308)
    shown = cosim.output()
    shown_small = cosim.output()

    @cosim.kernel
    def derivatives(level, small, level_dot, small_dot):
        level_dot[0] = -level / 3.0
        small_dot[0] = -small

    @cosim.kernel
    def show(level, small, shown, shown_small):
        shown[0] = level / 7.0
        shown_small[0] = small / 3.0


def decay_and_fmu(fmu: Path) -> CoSimulation:
    """A system w whose output feeds an FMU m."""
    model = cosim.Model("decay")
    model.add(Decay, "d")
    participants = {"m": fmu, "w": SystemParticipant(model)}
    return CoSimulation(participants, [("w.d.shown", "m.u")], "gauss_seidel", 0.01)


def outputs_of_decay(fmu: Path, steps: int) -> Mapping[str, Any]:
    result = decay_and_fmu(fmu).simulate(0.01 * steps)
    return {name: np.asarray(result[name]).copy() for name in ("w.d.shown", "w.d.shown_small")}


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("where", "steps"), [("DoStep", 60), ("DoStep", 2000), ("GetReal", 60), ("SetReal", 2000)]
)
@pytest.mark.parametrize(
    "fault", ["fesetround(FE_UPWARD)", "fesetround(FE_DOWNWARD)", FLUSH_TO_ZERO], ids=["up", "down", "flush"]
)
def test_a_changed_rounding_mode_does_not_change_other_participants(
    fault: str, where: str, steps: int, tmp_path: Path, compiled: Compiled
) -> None:
    if fault == FLUSH_TO_ZERO and platform.machine() != "x86_64":
        pytest.skip("an instruction of x86-64")
    outputs = []
    for name, code in (("disturbed", fault), ("undisturbed", "")):
        folder = tmp_path / name
        folder.mkdir()
        outputs.append(outputs_of_decay(make_faulty(folder, compiled, where, code), steps))
    for name, values in outputs[0].items():
        assert values.tobytes() == outputs[1][name].tobytes(), name
    assert 0.0 < outputs[1]["w.d.shown_small"][-1] < sys.float_info.min


@pytest.mark.few(3)
@needs_compiler
@pytest.mark.parametrize(
    "where", ["DoStep", "LOAD", "Instantiate", "GetReal", "SetReal", "Terminate", "UNLOAD"]
)
@pytest.mark.parametrize(
    "fault", ["fesetround(FE_UPWARD)", "fesetround(FE_DOWNWARD)", FLUSH_TO_ZERO], ids=["up", "down", "flush"]
)
def test_a_changed_rounding_mode_inside_an_fmu_without_python(
    fault: str, where: str, tmp_path: Path, compiled: Compiled
) -> None:
    """The scenario is exported as an FMU, whose C code calls the FMU inside."""
    if fault == FLUSH_TO_ZERO and platform.machine() != "x86_64":
        pytest.skip("an instruction of x86-64")
    loop = decay_and_fmu(make_faulty(tmp_path, compiled, where, fault))
    interface, _ = container_interface(loop, tmp_path / "whole.toml")
    options = NativeFmuOptions.of({"compiler": COMPILER})
    write_native_container(loop, interface, tmp_path / "whole.fmu", options)
    (tmp_path / "undisturbed").mkdir()
    expected = outputs_of_decay(make_faulty(tmp_path / "undisturbed", compiled, "NOWHERE", ""), 60)
    settings = {"stop_time": 0.6, "output_interval": 0.01, "output": list(expected)}
    result = fmpy.simulate_fmu(str(tmp_path / "whole.fmu"), fmi_type="CoSimulation", **settings)
    assert rounds_as_before()
    for name, values in expected.items():
        assert result[name].tobytes() == values.tobytes(), name


@pytest.mark.skipif(platform.machine() not in ROUNDING_MODES, reason="numbers of fenv.h")
@pytest.mark.parametrize(
    "restore",
    [
        round_as_before,
        lambda: rounding.restore_rounding(rounding.ROUNDING_AT),
        lambda: rounding.round_as_before(rounding.ROUNDING_AT),
    ],
)
def test_a_changed_rounding_mode_is_detected_and_restored(restore: Callable[[], None]) -> None:
    libm, modes = ctypes.CDLL("libm.so.6"), ROUNDING_MODES[platform.machine()]
    try:
        for mode in modes:
            libm.fesetround(mode)
            is_default = rounds_as_before()
            restore()
            assert is_default == (mode == 0) and libm.fegetround() == 0 and rounds_as_before()
    finally:
        libm.fesetround(0)
    rounding.restore_rounding(0)  # without an address it does nothing

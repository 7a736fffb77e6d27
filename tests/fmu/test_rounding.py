"""FMUs that change how the processor rounds: the numbers of others stay as they are."""

import ctypes
import platform
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from faults_fmu import make_faulty as make
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
MODES = {"x86_64": range(0, 0x1000, 0x400), "aarch64": range(0, 0x1000000, 0x400000)}
"""Of ``fesetround``; the first is the usual one."""
FLUSH = (
    'unsigned c; __asm__ volatile("stmxcsr %0" : "=m"(c)); c |= 0x8040; '
    '__asm__ volatile("ldmxcsr %0" : : "m"(c))'
)


class Decay(cosim.Component):
    """Decays; another number falls below the least normal one."""

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


def beside_decay(fmu: Path) -> CoSimulation:
    model = cosim.Model("decay")
    model.add(Decay, "d")
    participants = {"m": fmu, "w": SystemParticipant(model)}
    return CoSimulation(participants, [("w.d.shown", "m.u")], "gauss_seidel", 0.01)


def rows(fmu: Path, steps: int, record: list[str] | None) -> Mapping[str, Any]:
    result = beside_decay(fmu).simulate(0.01 * steps, record=record)
    return {name: np.asarray(result[name]).copy() for name in ("w.d.shown", "w.d.shown_small")}


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("where", "steps"), [("DoStep", 60), ("DoStep", 2000), ("GetReal", 60), ("SetReal", 2000)]
)
@pytest.mark.parametrize(
    "fault", ["fesetround(FE_UPWARD)", "fesetround(FE_DOWNWARD)", FLUSH], ids=["up", "down", "flush"]
)
def test_numbers_of_others_are_the_same(
    fault: str, where: str, steps: int, tmp_path: Path, compiled: Compiled
) -> None:
    if fault == FLUSH and platform.machine() != "x86_64":
        pytest.skip("an instruction of x86-64")
    found = []
    for name, kind in (("disturbed", fault), ("calm", "")):
        folder = tmp_path / name
        folder.mkdir()
        found.append(rows(make(folder, compiled, where, kind), steps, None))
    for name, values in found[0].items():
        assert values.tobytes() == found[1][name].tobytes(), name
    assert 0.0 < found[1]["w.d.shown_small"][-1] < sys.float_info.min


@pytest.mark.few(3)
@needs_compiler
@pytest.mark.parametrize(
    "where", ["DoStep", "LOAD", "Instantiate", "GetReal", "SetReal", "Terminate", "UNLOAD"]
)
@pytest.mark.parametrize(
    "fault", ["fesetround(FE_UPWARD)", "fesetround(FE_DOWNWARD)", FLUSH], ids=["up", "down", "flush"]
)
def test_numbers_of_others_inside_an_fmu_without_python_are_the_same(
    fault: str, where: str, tmp_path: Path, compiled: Compiled
) -> None:
    """The scenario is an FMU itself, which calls the FMU inside by its own code in C."""
    if fault == FLUSH and platform.machine() != "x86_64":
        pytest.skip("an instruction of x86-64")
    loop = beside_decay(make(tmp_path, compiled, where, fault))
    interface, _ = container_interface(loop, tmp_path / "whole.toml")
    options = NativeFmuOptions.of({"compiler": COMPILER})
    write_native_container(loop, interface, tmp_path / "whole.fmu", options)
    (tmp_path / "calm").mkdir()
    calm = rows(make(tmp_path / "calm", compiled, "NOWHERE", ""), 60, None)
    until = {"stop_time": 0.6, "output_interval": 0.01, "output": list(calm)}
    found = fmpy.simulate_fmu(str(tmp_path / "whole.fmu"), fmi_type="CoSimulation", **until)
    assert rounds_as_before()
    for name, values in calm.items():
        assert found[name].tobytes() == values.tobytes(), name


@pytest.mark.skipif(platform.machine() not in MODES, reason="numbers of fenv.h")
@pytest.mark.parametrize(
    "restore",
    [
        round_as_before,
        lambda: rounding.restore_rounding(rounding.ROUNDING_AT),
        lambda: rounding.round_as_before(rounding.ROUNDING_AT),
    ],
)
def test_what_has_been_changed_is_seen_and_set_back(restore: Callable[[], None]) -> None:
    math, modes = ctypes.CDLL("libm.so.6"), MODES[platform.machine()]
    try:
        for mode in modes:
            math.fesetround(mode)
            seen = rounds_as_before()
            restore()
            assert seen == (mode == 0) and math.fegetround() == 0 and rounds_as_before()
    finally:
        math.fesetround(0)
    rounding.restore_rounding(0)  # where nothing can be done

"""How many files and functions of cosim's FMI packages run between an FMU's path and its result.

The limits keep the way that a reader has to follow short: raise them only for a reason.
"""

from __future__ import annotations

import shutil
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import cosim_fmi
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
HOME = Path(cosim_fmi.__file__).parent.parent
PACKAGES = ("cosim_fmi", "cosim_master", "cosim_export", "cosim_ssp", "cosim_fmu")


def walk(call: Callable[[], object]) -> dict[str, set[str]]:
    """The files of `PACKAGES` that run during a call, and the functions in each of them."""
    functions: dict[str, set[str]] = defaultdict(set)

    def record_function(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and not code.co_name.startswith("<"):
            path = Path(code.co_filename)
            relative_path = path.relative_to(HOME) if HOME in path.parents else Path()
            if relative_path.parts[:1] and relative_path.parts[0] in PACKAGES:
                functions[str(relative_path)].add(code.co_qualname)

    sys.setprofile(record_function)
    try:
        call()
    finally:
        sys.setprofile(None)
    return dict(functions)


def test_functions_are_counted_once_and_by_file() -> None:
    from cosim_master.coupling.run_settings import CommunicationPoints

    def call() -> None:
        points = CommunicationPoints(0.0, 1.0, 0.5)
        assert [points.time(i) for i in range(3)] == [0.0, 0.5, 1.0]

    functions = walk(call)
    assert list(functions) == ["cosim_master/coupling/run_settings.py"]
    assert {"CommunicationPoints.time", "CommunicationPoints.count"} <= functions.popitem()[1]


def test_the_walk_of_one_fmu_is_short(make_fmu: MakeFmu, tmp_path: Path) -> None:
    fmu = make_fmu("gain")
    other_fmu = tmp_path / "second.fmu"
    shutil.copy(fmu, other_fmu)
    CoSimulation({"gain": fmu}).simulate(0.1)  # loads modules and compiled code

    def run() -> None:
        assert CoSimulation({"gain": other_fmu}).simulate(0.1)["gain.y"][-1] == 0.0

    functions = walk(run)
    assert {"cosim_fmu/co_simulation.py", "cosim_master/run/simulation_run.py"} <= set(functions)
    assert len(functions) <= 30, sorted(functions)
    assert sum(map(len, functions.values())) < 360


def test_two_connected_fmus_run_few_more_files(make_fmu: MakeFmu) -> None:
    parts = {"one": make_fmu("gain", name="one"), "two": make_fmu("mass", name="two")}
    links = ["two.x -> one.u"]
    CoSimulation(parts, links).simulate(0.1)
    functions = walk(lambda: CoSimulation(parts, links).simulate(0.1))
    assert len(functions) <= 39, sorted(functions)

"""How many files and functions of ours one FMU passes from its path to its result."""

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

Made = Callable[..., Path]
HOME = Path(cosim_fmi.__file__).parent.parent
PACKAGES = ("cosim_fmi", "cosim_master", "cosim_export", "cosim_ssp", "cosim_fmu")


def walk(call: Callable[[], object]) -> dict[str, set[str]]:
    """The files of our packages for FMI that a call passes, and the functions in each of them."""
    passed: dict[str, set[str]] = defaultdict(set)

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and not code.co_name.startswith("<"):
            place = Path(code.co_filename)
            inside = place.relative_to(HOME) if HOME in place.parents else Path()
            if inside.parts[:1] and inside.parts[0] in PACKAGES:
                passed[str(inside)].add(code.co_qualname)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return dict(passed)


def test_functions_are_counted_once_and_by_file() -> None:
    from cosim_master.coupling.run_settings import CommunicationPoints

    def call() -> None:
        points = CommunicationPoints(0.0, 1.0, 0.5)
        assert [points.time(i) for i in range(3)] == [0.0, 0.5, 1.0]

    found = walk(call)
    assert list(found) == ["cosim_master/coupling/run_settings.py"]
    assert {"CommunicationPoints.time", "CommunicationPoints.count"} <= found.popitem()[1]


def test_the_walk_of_one_fmu_is_short(make_fmu: Made, tmp_path: Path) -> None:
    first = make_fmu("gain")
    second = tmp_path / "second.fmu"
    shutil.copy(first, second)
    CoSimulation({"gain": first}).simulate(0.1)  # modules and compiled code are loaded

    def run() -> None:
        assert CoSimulation({"gain": second}).simulate(0.1)["gain.y"][-1] == 0.0

    found = walk(run)
    assert {"cosim_fmu/co_simulation.py", "cosim_master/run/simulation_run.py"} <= set(found)
    assert len(found) <= 30, sorted(found)
    assert sum(map(len, found.values())) < 360


def test_two_connected_fmus_pass_few_files_more(make_fmu: Made) -> None:
    parts = {"one": make_fmu("gain", name="one"), "two": make_fmu("mass", name="two")}
    links = ["two.x -> one.u"]
    CoSimulation(parts, links).simulate(0.1)
    found = walk(lambda: CoSimulation(parts, links).simulate(0.1))
    assert len(found) <= 39, sorted(found)

"""A run does not depend on the working folder that participants change or that has been removed."""

import os
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim import kit
from cosim_fmu import CoSimulation


class FolderChanger(cosim.Participant):
    """A participant that changes the working folder of the process in each call."""

    def describe(self) -> kit.ParticipantDescription:
        return kit.ParticipantDescription(kind="toy", variables={}, feedthrough=None, can_restore=False)

    def initialize(self, start: float, stop: Any, values: Any, tolerance: float | None = None) -> None:
        os.chdir("/")

    def set(self, names: Any, values: Any) -> None: ...

    def get(self, names: Any) -> list[Any]:
        return []

    def step(self, time: float, size: float) -> float:
        os.chdir("/")
        return time + size

    def save(self) -> object:
        return None

    def restore(self, token: object) -> None: ...

    def close(self) -> None: ...


def test_the_folder_is_set_back_after_each_call(make_odd_fmu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_odd_fmu("gain")
    monkeypatch.chdir(path.parent)
    loop = CoSimulation({"w": FolderChanger(), "m": path.name}, [], "jacobi", 0.1, starts={"m.u": 1.0})
    assert loop.simulate(0.2)["m.y"].tolist() == [1.0] * 3
    assert Path.cwd() == path.parent


def test_a_run_works_in_a_folder_that_has_been_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert CoSimulation({"w": FolderChanger()}, [], "jacobi", 0.1).simulate(0.2).time[-1] == pytest.approx(
        0.2
    )

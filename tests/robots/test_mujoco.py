"""Public models against MuJoCo, where it and packages that bring models are installed."""

from __future__ import annotations

import importlib.util
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from mujoco_cases import case_of, differences

DATA = Path(__file__).parent.parent / "data" / "robots"
KINOVA = "dm_control/third_party/kinova"
SUITE, GYM = "dm_control/suite", "gymnasium/envs/mujoco/assets"
HANDS = "gymnasium_robotics/envs/assets"
SOME = (
    *(f"{SUITE}/{name}.xml" for name in ("acrobot", "cartpole", "cheetah", "fish", "hopper", "humanoid")),
    *(f"{SUITE}/{name}.xml" for name in ("humanoid_CMU", "manipulator", "pendulum", "quadruped", "walker")),
    *("dm_control/locomotion/walkers/assets/rodent.xml", f"{KINOVA}/jaco_arm.xml"),
    *(f"{GYM}/{name}.xml" for name in ("ant", "half_cheetah", "humanoid", "inverted_double_pendulum")),
    *(f"{GYM}/{name}.xml" for name in ("pusher", "swimmer", "walker2d_v5")),
    *(f"{HANDS}/{name}.xml" for name in ("hand/reach", "fetch/reach", "adroit_hand/adroit_pen")),
)


def made_by_mujoco(path: Path) -> Any:
    mujoco = pytest.importorskip("mujoco")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case_of(path, mujoco)


def found(file: str) -> Path:
    package, _, rest = file.partition("/")
    place = importlib.util.find_spec(package)
    if place is None or not place.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return Path(next(iter(place.submodule_search_locations))) / rest


@pytest.mark.parametrize("file", SOME)
def test_public_models(file: str) -> None:
    path = found(file)
    if "kinova" in file:
        pytest.importorskip("trimesh")  # its masses follow from surfaces
    wrong, off, apart = differences(path, made_by_mujoco(path))
    assert wrong < 1e-10
    assert off < 1e-10
    assert apart < 1e-12


def test_the_recorded_case_is_what_mujoco_says() -> None:
    recorded = json.loads((DATA / "crane.json").read_text("utf-8"))
    made = made_by_mujoco(DATA / "crane.xml")
    assert made["values"].keys() == recorded["values"].keys()
    for key in ("accelerations", "mass matrix"):
        assert made[key] == [pytest.approx(row, rel=1e-9, abs=1e-12) for row in recorded[key]]

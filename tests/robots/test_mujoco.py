"""Public models against MuJoCo, if it and packages with models are installed."""

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
FILES = (
    *(f"{SUITE}/{name}.xml" for name in ("acrobot", "cartpole", "cheetah", "fish", "hopper", "humanoid")),
    *(f"{SUITE}/{name}.xml" for name in ("humanoid_CMU", "manipulator", "pendulum", "quadruped", "walker")),
    *("dm_control/locomotion/walkers/assets/rodent.xml", f"{KINOVA}/jaco_arm.xml"),
    *(f"{GYM}/{name}.xml" for name in ("ant", "half_cheetah", "humanoid", "inverted_double_pendulum")),
    *(f"{GYM}/{name}.xml" for name in ("pusher", "swimmer", "walker2d_v5")),
    *(f"{HANDS}/{name}.xml" for name in ("hand/reach", "fetch/reach", "adroit_hand/adroit_pen")),
)


def mujoco_case(path: Path) -> Any:
    """Return a case that MuJoCo computes; skip the test without MuJoCo."""
    mujoco = pytest.importorskip("mujoco")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case_of(path, mujoco)


def path_of(file: str) -> Path:
    """Return the path of a file of a package; skip the test without the package."""
    package, _, rest = file.partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / rest


@pytest.mark.parametrize("file", FILES)
def test_public_models(file: str) -> None:
    path = path_of(file)
    if "kinova" in file:
        pytest.importorskip("trimesh")  # its masses follow from surfaces
    largest = differences(path, mujoco_case(path))
    assert largest.accelerations < 1e-10
    assert largest.mass_matrix < 1e-10
    assert largest.poses < 1e-12


def test_the_recorded_case_is_that_of_mujoco() -> None:
    recorded = json.loads((DATA / "crane.json").read_text("utf-8"))
    case = mujoco_case(DATA / "crane.xml")
    assert case["values"].keys() == recorded["values"].keys()
    for key in ("accelerations", "mass matrix"):
        assert case[key] == [pytest.approx(row, rel=1e-9, abs=1e-12) for row in recorded[key]]

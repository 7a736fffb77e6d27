"""Public robots against Pinocchio, where it and example-robot-data are installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody

ROOT = Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "cmeel.prefix"
ROBOTS = ROOT / "share" / "example-robot-data" / "robots"
SOME = (
    "panda_description/urdf/panda.urdf",
    "laikago_description/urdf/laikago.urdf",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "so_arm_description/urdf/so101.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
)


def compare(path: Path, base: str) -> tuple[float, float]:
    """Largest difference of accelerations, relative to the largest acceleration; that of poses."""
    pinocchio = pytest.importorskip("pinocchio")
    peer = pinocchio.buildModelFromUrdf(
        str(path), *([pinocchio.JointModelFreeFlyer()] if base == "free" else [])
    )
    robot = Multibody.from_urdf(path, base=base)
    ignored = ("CoordinateStop", "CoordinateDamper", "CoordinateFriction", "CoordinateCoupler")
    for name in [name for name, part in robot.parts.items() if type(part).__name__ in ignored]:
        del robot.parts[name]  # Pinocchio's forward dynamics have none of these
    names = {old: new for new, old in renamed(robot).items()}
    random, state, data = np.random.default_rng(3), robot.build().default_state(), peer.createData()
    q, v, tau, places = pinocchio.neutral(peer), np.zeros(peer.nv), np.zeros(peer.nv), []
    for number in range(1, peer.njoints):
        joint, old = peer.joints[number], peer.names[number]
        name = "base_joint" if old == "root_joint" else names.get(old, old)
        if name not in robot.parts:
            continue  # it moves no mass
        i, j = joint.idx_q, joint.idx_v
        if joint.nv == 1:
            x, v[j], effort = random.uniform(-1, 1, 3)
            q[i : i + joint.nq] = [x] if joint.nq == 1 else [np.cos(x), np.sin(x)]
            state[f"{name}.q"], state[f"{name}.u"] = [x], [v[j]]
            if f"{name}_motor" in robot.parts:
                state[f"{name}_motor.effort"] = tau[j] = effort
            places.append((name, j, np.eye(1), np.zeros(1)))
        else:
            turn, v[j : j + 6] = (
                pinocchio.Quaternion(*random.uniform(0.1, 1, 4)).normalized(),
                random.uniform(-1, 1, 6),
            )
            q[i : i + 7] = [0.1, 0.2, 0.3, turn.x, turn.y, turn.z, turn.w]
            R, zero, w = turn.toRotationMatrix(), np.zeros((3, 3)), v[j + 3 : j + 6]
            swap = np.block([[zero, R], [R, zero]])
            state[f"{name}.q"] = [turn.w, turn.x, turn.y, turn.z, 0.1, 0.2, 0.3]
            state[f"{name}.u"] = swap @ v[j : j + 6]
            places.append((name, j, swap, np.append(np.zeros(3), R @ np.cross(w, v[j : j + 3]))))
    state.realize(cosim.Stage.ACCELERATION)
    expected = pinocchio.aba(peer, data, q, v, tau)
    wrong = 0.0
    for name, j, turned, more in places:
        there = turned @ expected[j : j + len(more)] + more
        wrong = max(wrong, float(np.abs(np.ravel(state[f"{name}.u_dot"]) - there).max()))
    pinocchio.framesForwardKinematics(peer, data, q)
    apart = 0.0
    for frame, pose in zip(peer.frames, data.oMf, strict=True):
        name = names.get(frame.name, frame.name)
        if frame.type == pinocchio.FrameType.BODY and "mass" in getattr(
            robot.parts.get(name), "declarations", ()
        ):
            there = np.append(pose.rotation.ravel(), pose.translation)
            apart = max(apart, float(np.abs(np.ravel(state[f"{name}.X_GB"]) - there).max()))
    return wrong / float(np.abs(expected).max()), apart


def renamed(robot: Any) -> dict[str, str]:
    """Old names by new ones, from the remarks."""
    told = [remark.split("' is called ") for remark in robot.remarks if "' is called " in remark]
    return {new: old[1:] for old, new in told}


@pytest.mark.by_turns
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("file", SOME)
def test_forward_dynamics(file: str, base: str) -> None:
    path = ROBOTS / file
    if not path.is_file():
        pytest.skip("example-robot-data is not installed")
    wrong, apart = compare(path, base)
    assert wrong < 1e-10
    assert apart < 1e-12

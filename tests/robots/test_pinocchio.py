"""Public robots against Pinocchio, if it and example-robot-data are installed."""

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
FILES = (
    "panda_description/urdf/panda.urdf",
    "laikago_description/urdf/laikago.urdf",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "so_arm_description/urdf/so101.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
)


def new_names(robot: Any) -> dict[str, str]:
    """Return the names of parts by those of the file, where the remarks say that they differ."""
    remarks = [remark.split("' is called ") for remark in robot.remarks if "' is called " in remark]
    return {old[1:]: new for old, new in remarks}


def compare(path: Path, base: str) -> tuple[float, float]:
    """Return the largest difference of accelerations, relative to the largest one, and that of poses."""
    pinocchio = pytest.importorskip("pinocchio")
    peer = pinocchio.buildModelFromUrdf(
        str(path), *([pinocchio.JointModelFreeFlyer()] if base == "free" else [])
    )
    robot = Multibody.from_urdf(path, base=base)
    ignored = ("CoordinateStop", "CoordinateDamper", "CoordinateFriction", "CoordinateCoupler")
    for name in [name for name, part in robot.parts.items() if type(part).__name__ in ignored]:
        del robot.parts[name]  # Pinocchio's forward dynamics have none of these
    names = new_names(robot)
    random, state, data = np.random.default_rng(3), robot.build().default_state(), peer.createData()
    q, v, tau = pinocchio.neutral(peer), np.zeros(peer.nv), np.zeros(peer.nv)
    # for each joint its name, its place in v, and how our accelerations follow: matrix and bias
    joints = []
    for number in range(1, peer.njoints):
        joint, peer_name = peer.joints[number], peer.names[number]
        name = "base_joint" if peer_name == "root_joint" else names.get(peer_name, peer_name)
        if name not in robot.parts:
            continue  # a joint that moves no mass is fixed
        i, j = joint.idx_q, joint.idx_v
        if joint.nv == 1:
            x, v[j], effort = random.uniform(-1, 1, 3)
            q[i : i + joint.nq] = [x] if joint.nq == 1 else [np.cos(x), np.sin(x)]
            state[f"{name}.q"], state[f"{name}.u"] = [x], [v[j]]
            if f"{name}_motor" in robot.parts:
                state[f"{name}_motor.effort"] = tau[j] = effort
            joints.append((name, j, np.eye(1), np.zeros(1)))
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
            joints.append((name, j, swap, np.append(np.zeros(3), R @ np.cross(w, v[j : j + 3]))))
    state.realize(cosim.Stage.ACCELERATION)
    expected = pinocchio.aba(peer, data, q, v, tau)
    acceleration_error = 0.0
    for name, j, matrix, bias in joints:
        u_dot = matrix @ expected[j : j + len(bias)] + bias
        difference = np.abs(np.ravel(state[f"{name}.u_dot"]) - u_dot).max()
        acceleration_error = max(acceleration_error, float(difference))
    pinocchio.framesForwardKinematics(peer, data, q)
    pose_error = 0.0
    for frame, pose in zip(peer.frames, data.oMf, strict=True):
        name = names.get(frame.name, frame.name)
        if frame.type == pinocchio.FrameType.BODY and "mass" in getattr(
            robot.parts.get(name), "declarations", ()
        ):
            X_GB = np.append(pose.rotation.ravel(), pose.translation)
            pose_error = max(pose_error, float(np.abs(np.ravel(state[f"{name}.X_GB"]) - X_GB).max()))
    return acceleration_error / float(np.abs(expected).max()), pose_error


@pytest.mark.by_turns
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("file", FILES)
def test_forward_dynamics(file: str, base: str) -> None:
    path = ROBOTS / file
    if not path.is_file():
        pytest.skip("example-robot-data is not installed")
    acceleration_error, pose_error = compare(path, base)
    assert acceleration_error < 1e-10
    assert pose_error < 1e-12

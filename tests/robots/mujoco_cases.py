"""Cases that MuJoCo computes: a random state of a model, its accelerations, its mass matrix and its poses.

`python tests/robots/mujoco_cases.py MODEL.xml CASE.json` writes one, where MuJoCo is installed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cosim
from cosim_dynamics import mass_matrix
from cosim_mechanics import Multibody

CONSTRAINTS_OF_MUJOCO = ("CoordinateStop", "CoordinateFriction", "CoordinateCoupler")
"""Elements of ours that are constraints in MuJoCo, which `qacc_smooth` leaves out."""
FREE, BALL, SLIDE, HINGE = range(4)
"""MuJoCo's numbers of kinds of joints."""
WIDTHS = {FREE: 6, BALL: 3, SLIDE: 1, HINGE: 1}
Case = dict[str, Any]


class Differences(NamedTuple):
    """Largest differences of a case; accelerations and mass matrix relative to their largest elements."""

    accelerations: float
    mass_matrix: float
    poses: float


def case_of(path: Path, mujoco: Any) -> Case:
    """Return values of paths at a random state, and MuJoCo's accelerations, mass matrix and poses.

    Accelerations and the mass matrix are those of our speeds, which are T times those of MuJoCo; poses are by
    the names of bodies. Coordinates differ, too: MuJoCo's free joints have the pose and the linear velocity
    in the world and the angular velocity in the body, ours are in the frame on the parent.
    """
    peer = mujoco.MjModel.from_xml_path(str(path))
    robot = Multibody.from_mjcf(path)
    remove_unsupported(mujoco, peer)
    data, random, system = mujoco.MjData(peer), np.random.default_rng(3), robot.build()
    values: dict[str, Any] = {}
    T = np.zeros((system.nu, peer.nv))
    for number in range(peer.njnt):
        name = part_of(robot, peer.joint(number).name or unnamed(peer, number), "X_FM")
        i, j, kind = peer.jnt_qposadr[number], peer.jnt_dofadr[number], peer.jnt_type[number]
        row = system.variables[f"{name}.u"].slot.offset - system.nq
        width = WIDTHS[kind]
        v = data.qvel[j : j + width] = random.uniform(-1, 1, width)
        X_GF = np.array(robot[name].frame_on_parent)
        R_GF, block = X_GF[:9].reshape(3, 3), np.eye(1)
        if kind in (SLIDE, HINGE):
            q = [random.uniform(-1, 1)]
            data.qpos[i] = q[0]
        else:
            turn = random.uniform(0.1, 1, 4)
            turn /= np.linalg.norm(turn)
            q, block = [*turn], rotation(turn)
            if kind == FREE:
                position = random.uniform(-1, 1, 3)
                q = [*turn, *position]
                data.qpos[i : i + 3] = X_GF[9:] + R_GF @ position
                data.qpos[i + 3 : i + 7] = product(quaternion(mujoco, R_GF), turn)
                block = np.block([[np.zeros((3, 3)), block], [R_GF.T, np.zeros((3, 3))]])
            else:
                data.qpos[i : i + 4] = turn
        values[f"{name}.q"], values[f"{name}.u"] = q, [*(block @ v)]
        T[row : row + width, j : j + width] = block
    assert peer.nv == system.nu
    drive(peer, data, robot, values, random)
    mujoco.mj_forward(peer, data)
    M = np.zeros((peer.nv, peer.nv))
    mujoco.mj_fullM(peer, data, M)
    inverse = np.linalg.inv(T)
    poses = {}
    for number in range(1, peer.nbody):
        name = part_of(robot, peer.body(number).name or f"body{number}", "mass")
        if name is not None:
            poses[name] = [*data.xmat[number], *data.xpos[number]]
    return {
        "values": values,
        "accelerations": (T @ data.qacc_smooth).tolist(),
        "mass matrix": (inverse.T @ M @ inverse).tolist(),
        "poses": poses,
    }


def differences(path: Path, case: Case) -> Differences:
    """Compare our model of a file with a case."""
    robot = Multibody.from_mjcf(path)
    for name in [n for n, part in robot.parts.items() if type(part).__name__ in CONSTRAINTS_OF_MUJOCO]:
        del robot.parts[name]
    system = robot.build()
    state = system.default_state()
    for name, value in case["values"].items():
        state[name] = value
    state.realize(cosim.Stage.ACCELERATION)
    u_dot = state.y_dot[system.nq : system.nq + system.nu]
    expected, M = np.array(case["accelerations"]), np.array(case["mass matrix"])
    return Differences(
        float(np.abs(u_dot - expected).max() / np.abs(expected).max()),
        float(np.abs(mass_matrix(system, state) - M).max() / np.abs(M).max()),
        float(max(np.abs(np.ravel(state[f"{name}.X_GB"]) - X).max() for name, X in case["poses"].items())),
    )


def remove_unsupported(mujoco: Any, peer: Any) -> None:
    """Remove from MuJoCo's model its constraints and what the import lists as not taken over."""
    flags = mujoco.mjtDisableBit
    peer.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CLAMPCTRL
    peer.opt.density = peer.opt.viscosity = 0.0
    peer.tendon_stiffness[:] = 0.0
    peer.tendon_damping[:] = 0.0
    peer.body_gravcomp[:] = 0.0
    peer.dof_dampingpoly[:] = 0.0
    peer.jnt_stiffness[peer.jnt_type < 2] = 0.0


def drive(peer: Any, data: Any, robot: Any, values: dict[str, Any], random: Any) -> None:
    """Set random controls, and the efforts and targets of our motors that are equal to them."""
    for number in range(peer.nu):
        joint, gear = peer.actuator_trnid[number, 0], peer.actuator_gear[number, 0]
        gain, bias = peer.actuator_gainprm[number, 0], peer.actuator_biasprm[number, :3]
        name = None if peer.actuator_trntype[number] else part_of(robot, peer.joint(joint).name, "X_FM")
        motor = robot.parts.get(f"{name}_motor")
        if motor is None:
            peer.actuator_gainprm[number], peer.actuator_biasprm[number] = 0.0, 0.0
            continue
        control = data.ctrl[number] = 0.01 * random.uniform(-1, 1)
        if type(motor).__name__ == "Actuator":
            path = f"{name}_motor.effort"
            values[path] = values.get(path, 0.0) + gear * gain * control
        else:
            values[f"{name}_motor.{'target' if bias[1] else 'target_rate'}"] = control / gear


def part_of(robot: Any, name: str, quantity: str) -> str | None:
    """Return the part that has a quantity, for the name of a joint or a body in the file."""
    identifier = re.sub(r"\W", "_", name)
    for part in (identifier, f"{identifier}_joint", f"{identifier}_joint_"):
        if quantity in getattr(robot.parts.get(part), "declarations", ()):
            return part
    return None


def unnamed(peer: Any, number: int) -> str:
    """Return the name that the import gives to a joint without one."""
    body = peer.jnt_bodyid[number]
    return f"{peer.body(body).name or f'body{body}'}_joint{number - peer.body_jntadr[body] + 1}"


def rotation(turn: Any) -> Any:
    """Return the matrix of a unit quaternion."""
    w, v = turn[0], turn[1:]
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * skew + 2 * skew @ skew


def quaternion(mujoco: Any, R: Any) -> Any:
    """Return the quaternion of a matrix, by MuJoCo."""
    turn = np.zeros(4)
    mujoco.mju_mat2Quat(turn, np.ascontiguousarray(R).ravel())
    return turn


def product(a: Any, b: Any) -> Any:
    """Return the product of two quaternions."""
    return np.append(a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))


if __name__ == "__main__":
    import mujoco

    Path(sys.argv[2]).write_text(json.dumps(case_of(Path(sys.argv[1]), mujoco), indent=1) + "\n", "utf-8")

"""A place, speeds and controls of a model of MuJoCo, and what MuJoCo makes of them, in words of this project.

`python tests/robots/mujoco_cases.py MODEL.xml CASE.json` writes one, where MuJoCo is installed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim_dynamics import mass_matrix
from cosim_mechanics import Multibody

LEFT_ASIDE = ("CoordinateStop", "CoordinateFriction", "CoordinateCoupler")
"""What MuJoCo's accelerations without constraints have none of."""
Case = dict[str, Any]


def case_of(path: Path, mujoco: Any) -> Case:
    """Values of paths, then accelerations (by speed), the mass matrix and poses (by body) of MuJoCo."""
    peer = mujoco.MjModel.from_xml_path(str(path))
    robot = Multibody.from_mjcf(path)
    leave_out(mujoco, peer)
    data, random, system = mujoco.MjData(peer), np.random.default_rng(3), robot.build()
    values: dict[str, Any] = {}
    T = np.zeros((system.nu, peer.nv))
    for number in range(peer.njnt):
        name = part_of(robot, peer.joint(number).name or unnamed(peer, number), "X_FM")
        i, j, kind = peer.jnt_qposadr[number], peer.jnt_dofadr[number], peer.jnt_type[number]
        at = system.variables[f"{name}.u"].slot.offset - system.nq
        width = (6, 3, 1, 1)[kind]
        v = data.qvel[j : j + width] = random.uniform(-1, 1, width)
        X_GF = np.array(robot[name].frame_on_parent)
        R_GF, block = X_GF[:9].reshape(3, 3), np.eye(1)
        if kind in (2, 3):
            q = [random.uniform(-1, 1)]
            data.qpos[i] = q[0]
        else:
            turn = random.uniform(0.1, 1, 4)
            turn /= np.linalg.norm(turn)
            q, block = [*turn], rotation(turn)
            if (
                kind == 0
            ):  # MuJoCo: the pose and the linear velocity in the world, the angular one in the body
                place = random.uniform(-1, 1, 3)
                q = [*turn, *place]
                data.qpos[i : i + 3] = X_GF[9:] + R_GF @ place
                data.qpos[i + 3 : i + 7] = product(quaternion(mujoco, R_GF), turn)
                block = np.block([[np.zeros((3, 3)), block], [R_GF.T, np.zeros((3, 3))]])
            else:
                data.qpos[i : i + 4] = turn
        values[f"{name}.q"], values[f"{name}.u"] = q, [*(block @ v)]
        T[at : at + width, j : j + width] = block
    assert peer.nv == system.nu
    drive(peer, data, robot, values, random)
    mujoco.mj_forward(peer, data)
    M = np.zeros((peer.nv, peer.nv))
    mujoco.mj_fullM(peer, data, M)
    back = np.linalg.inv(T)
    poses = {}
    for number in range(1, peer.nbody):
        name = part_of(robot, peer.body(number).name or f"body{number}", "mass")
        if name is not None:
            poses[name] = [*data.xmat[number], *data.xpos[number]]
    return {
        "values": values,
        "accelerations": (T @ data.qacc_smooth).tolist(),
        "mass matrix": (back.T @ M @ back).tolist(),
        "poses": poses,
    }


def differences(path: Path, case: Case) -> tuple[float, float, float]:
    """Of accelerations and of the mass matrix, relative to their largest; of poses."""
    robot = Multibody.from_mjcf(path)
    for name in [n for n, part in robot.parts.items() if type(part).__name__ in LEFT_ASIDE]:
        del robot.parts[name]
    system = robot.build()
    state = system.default_state()
    for name, value in case["values"].items():
        state[name] = value
    state.realize(cosim.Stage.ACCELERATION)
    u_dot = state.y_dot[system.nq : system.nq + system.nu]
    expected, M = np.array(case["accelerations"]), np.array(case["mass matrix"])
    apart = [np.abs(np.ravel(state[f"{name}.X_GB"]) - X).max() for name, X in case["poses"].items()]
    return (
        float(np.abs(u_dot - expected).max() / np.abs(expected).max()),
        float(np.abs(mass_matrix(system, state) - M).max() / np.abs(M).max()),
        float(max(apart)),
    )


def leave_out(mujoco: Any, peer: Any) -> None:
    """Take out of MuJoCo's model what the import lists as not taken over, and what it calls constraints."""
    flags = mujoco.mjtDisableBit
    peer.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CLAMPCTRL
    peer.opt.density = peer.opt.viscosity = 0.0
    peer.tendon_stiffness[:] = 0.0
    peer.tendon_damping[:] = 0.0
    peer.body_gravcomp[:] = 0.0
    peer.dof_dampingpoly[:] = 0.0
    peer.jnt_stiffness[peer.jnt_type < 2] = 0.0


def drive(peer: Any, data: Any, robot: Any, values: dict[str, Any], random: Any) -> None:
    """Random controls, and the efforts and targets that they stand for."""
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
    """The part for a joint or a body of the file."""
    word = re.sub(r"\W", "_", name)
    for made in (word, f"{word}_joint", f"{word}_joint_"):
        if quantity in getattr(robot.parts.get(made), "declarations", ()):
            return made
    return None


def unnamed(peer: Any, number: int) -> str:
    body = peer.jnt_bodyid[number]
    return f"{peer.body(body).name or f'body{body}'}_joint{number - peer.body_jntadr[body] + 1}"


def rotation(turn: Any) -> Any:
    w, v = turn[0], turn[1:]
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * skew + 2 * skew @ skew


def quaternion(mujoco: Any, R: Any) -> Any:
    turn = np.zeros(4)
    mujoco.mju_mat2Quat(turn, np.ascontiguousarray(R).ravel())
    return turn


def product(a: Any, b: Any) -> Any:
    return np.append(a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))


if __name__ == "__main__":
    import mujoco

    Path(sys.argv[2]).write_text(json.dumps(case_of(Path(sys.argv[1]), mujoco), indent=1) + "\n", "utf-8")

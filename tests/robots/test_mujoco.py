"""Public models against MuJoCo, where it and packages that bring models are installed."""

from __future__ import annotations

import importlib.util
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_dynamics import mass_matrix
from cosim_mechanics import Multibody

SUITE, GYM, KINOVA = "dm_control/suite", "gymnasium/envs/mujoco/assets", "dm_control/third_party/kinova"
HANDS = "gymnasium_robotics/envs/assets"
SOME = (
    *(f"{SUITE}/{name}.xml" for name in ("acrobot", "cartpole", "cheetah", "fish", "hopper", "humanoid")),
    *(f"{SUITE}/{name}.xml" for name in ("humanoid_CMU", "pendulum", "quadruped", "walker")),
    *(f"{GYM}/{name}.xml" for name in ("ant", "half_cheetah", "humanoid", "swimmer", "inverted_double_pendulum")),
    *(f"{HANDS}/{name}.xml" for name in ("hand/reach", "fetch/reach", "adroit_hand/adroit_pen")),
)
LEFT_ASIDE = ("CoordinateStop", "CoordinateFriction", "CoordinateCoupler")


def compare(path: Path) -> tuple[float, float, float]:
    """Largest differences: of accelerations and of the mass matrix, relative to the largest; of poses."""
    mujoco = pytest.importorskip("mujoco")
    peer = mujoco.MjModel.from_xml_path(str(path))
    robot = Multibody.from_mjcf(path)
    for name in [n for n, part in robot.parts.items() if type(part).__name__ in LEFT_ASIDE]:
        del robot.parts[name]  # what MuJoCo's accelerations without constraints have none of
    leave_out(mujoco, peer)
    data, random, system = mujoco.MjData(peer), np.random.default_rng(3), robot.build()
    state = system.default_state()
    T, more, moving = np.zeros((system.nu, peer.nv)), np.zeros(system.nu), 0
    for number in range(peer.njnt):
        name = part_of(robot, peer.joint(number).name or unnamed(peer, number), "X_FM")
        i, j, kind = peer.jnt_qposadr[number], peer.jnt_dofadr[number], peer.jnt_type[number]
        at = system.variables[f"{name}.u"].slot.offset - system.nq
        width = (6, 3, 1, 1)[kind]
        v = data.qvel[j : j + width] = random.uniform(-1, 1, width)
        R_GF = np.array(robot[name].frame_on_parent)[:9].reshape(3, 3)
        if kind in (2, 3):
            x = data.qpos[i] = random.uniform(-1, 1)
            state[f"{name}.q"], state[f"{name}.u"] = [x], v
            T[at, j] = 1.0
        else:
            turn = random.uniform(0.1, 1, 4)
            turn /= np.linalg.norm(turn)
            R_FM = rotation(turn)
            if kind == 0:  # of MuJoCo the pose and the linear velocity are those in the world
                place = random.uniform(-1, 1, 3)
                start = np.array(robot[name].frame_on_parent)[9:]
                data.qpos[i : i + 3] = start + R_GF @ place
                data.qpos[i + 3 : i + 7] = product(quaternion(mujoco, R_GF), turn)
                state[f"{name}.q"] = [*turn, *place]
                block = np.block([[np.zeros((3, 3)), R_FM], [R_GF.T, np.zeros((3, 3))]])
            else:
                data.qpos[i : i + 4] = turn
                state[f"{name}.q"], block = turn, R_FM
            state[f"{name}.u"] = block @ v
            T[at : at + width, j : j + width] = block
        moving += width
    assert moving == peer.nv == system.nu
    drive(peer, data, robot, state, random)
    mujoco.mj_forward(peer, data)
    state.realize(cosim.Stage.ACCELERATION)
    expected = T @ data.qacc_smooth + more
    u_dot = state.y_dot[system.nq : system.nq + system.nu]
    M = np.zeros((peer.nv, peer.nv))
    mujoco.mj_fullM(peer, data, M)
    off = np.abs(T.T @ mass_matrix(system, state) @ T - M).max() / np.abs(M).max()
    apart = 0.0
    for number in range(1, peer.nbody):
        name = part_of(robot, peer.body(number).name or f"body{number}", "mass")
        if name is not None:
            there = np.append(data.xmat[number], data.xpos[number])
            apart = max(apart, float(np.abs(np.ravel(state[f"{name}.X_GB"]) - there).max()))
    return float(np.abs(u_dot - expected).max() / np.abs(expected).max()), float(off), apart


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


def drive(peer: Any, data: Any, robot: Any, state: Any, random: Any) -> None:
    """Random controls; for the model the efforts and targets that they stand for."""
    efforts: dict[str, float] = {}
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
            efforts[name] = efforts.get(name, 0.0) + gear * gain * control
            state[f"{name}_motor.effort"] = efforts[name]
        elif bias[1]:
            state[f"{name}_motor.target"] = control / gear
        else:
            state[f"{name}_motor.target_rate"] = control / gear


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
    return np.append(
        a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    )


def found(file: str) -> Path:
    package, _, rest = file.partition("/")
    try:
        place = importlib.util.find_spec(package)
    except ImportError:
        place = None
    if place is None or not place.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    return Path(next(iter(place.submodule_search_locations))) / rest


@pytest.mark.parametrize("file", SOME)
def test_forward_dynamics(file: str) -> None:
    path = found(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong, off, apart = compare(path)
    assert wrong < 1e-10
    assert off < 1e-10
    assert apart < 1e-12
